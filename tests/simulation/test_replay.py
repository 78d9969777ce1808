"""What a run did is recomputed from its seed, without the run."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.simulation import fired_edges

GRAPH = sv.graphs.random_geometric(20, seed=1)
VALUES = np.random.default_rng(0).random(20)
WEIGHTS = np.arange(1.0, GRAPH.num_edges + 1)
CHANCES = WEIGHTS / WEIGHTS.sum()


@pytest.mark.parametrize("method", [sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.9), sv.GapOracle(gap=0.1)])
@pytest.mark.parametrize("edge_probabilities", [None, CHANCES])
def test_edges_are_those_of_every_run_with_that_seed(method, edge_probabilities):
    """Whatever the method, the edges of replica 1 from step 30 on are known without running it."""
    run = sv.simulate(
        GRAPH, VALUES, method, num_steps=100, seed=2**63, replicas=2, edge_probabilities=edge_probabilities
    )
    alone = fired_edges(GRAPH, num_steps=70, seed=2**63, replica=1, start=30, edge_probabilities=edge_probabilities)
    np.testing.assert_array_equal(alone, run.fired_edges(30, replica=1))


@pytest.mark.parametrize("wrong", [{"num_steps": -1}, {"seed": -1}, {"replica": 2**32}, {"start": 0.5}])
def test_a_wrong_address_is_named(wrong):
    """The error names the argument that is out of range."""
    with pytest.raises(errors.InvalidParameter, match=next(iter(wrong))):
        fired_edges(GRAPH, **({"num_steps": 3, "seed": 1} | wrong))
