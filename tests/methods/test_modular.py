from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sottovoce as sv
from sottovoce import errors
from sottovoce.simulation.edge_noise import edge_draw
from sottovoce.simulation.random.streams import Stream

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """s = (c + Σ ± masks) mod p, s ← W s; a node's value is n·s taken modulo p around 0, over n."""
    W, n, c = method.mixing(replay.graph).toarray(), replay.graph.num_nodes, replay.values
    p = 4 * n * (method.largest or np.abs(c).max())
    yield c
    s = np.mod(c + 2 * p * replay.shared(), p)
    for _ in replay.steps():
        s = W @ s
        yield (np.mod(n * s + p / 2, p) - p / 2) / n


@pytest.mark.parametrize("method", [sv.ModularMasks(), sv.ModularMasks(2.0, weights="max-degree")], ids=repr)
def test_equation(method):
    """Compiled runs follow the equation."""
    assert_equation(method, equation)


@pytest.mark.parametrize("shift", [0.0, -40.0])
def test_every_run_ends_at_the_average(shift):
    """Sums of either sign come back out of the modulus, in 50 runs, to the digits that p leaves."""
    run = sv.simulate(GRAPH, VALUES + shift, sv.ModularMasks(50.0), num_steps=900, seed=1, replicas=50, record=1)
    np.testing.assert_allclose(run.values, VALUES.mean() + shift, atol=1e-11)


def test_what_is_said_first_is_uniform_whatever_the_value():
    """Masked values of 4 000 runs are uniform in [0, p), for values at both ends of the range, and not correlated."""
    graph, p = sv.graphs.path(4), 16.0
    for value in (-1.0, 1.0):
        run = sv.simulate(graph, [value] * 4, sv.ModularMasks(1.0, np.eye(4)), num_steps=1, seed=3, replicas=4000)
        masked = run.tables[:, 0, :, 1]
        assert ((masked >= 0) & (masked < p)).all()
        for node in range(4):
            assert stats.kstest(masked[:, node] / p, "uniform").pvalue > 1e-4
        # Nodes 1 and 2 share a mask, but each has another one: together they are uniform on the square.
        wrapped = np.exp(2j * np.pi * masked[:, 1:3] / p)
        assert abs((wrapped[:, 0] * wrapped[:, 1]).mean()) < 5 / np.sqrt(4000)


def test_a_node_without_an_honest_neighbour_is_read():
    """The hub of a star knows every mask: value = what it hears − mask, modulo p. That is the known limit."""
    graph, seed = sv.graphs.star(5), 6
    method = sv.ModularMasks(1.0, np.eye(5))
    values = np.random.default_rng(1).uniform(-1, 1, 5)
    run = sv.simulate(graph, values, method, num_steps=1, seed=seed)
    heard, p = run.tables[0, 0, :, 1], 20.0
    masks = np.zeros(5)
    for edge, (i, j) in enumerate(graph.edges):
        masks[i] += 2 * p * edge_draw(Stream(seed), edge)
        masks[j] -= 2 * p * edge_draw(Stream(seed), edge)
    found = np.mod(heard - masks + p / 2, p) - p / 2
    np.testing.assert_allclose(found[1:], values[1:], atol=1e-11)


def test_values_beyond_the_bound_are_refused_without_showing_them():
    """A value larger than what was agreed on would come back as another: refused, and not printed."""
    with pytest.raises(errors.InvalidValues, match="largest = 1 in size") as caught:
        sv.simulate(sv.graphs.path(3), [0.1, -1.2345, 0.3], sv.ModularMasks(1.0), num_steps=1)
    assert "1.2345" not in str(caught.value)
    with pytest.raises(errors.InvalidParameter, match="largest"):
        sv.ModularMasks(0.0)


def test_what_is_said_of_it():
    """It is not audited, and needs the number of nodes and a bound, which comparisons mark."""
    assert "number of nodes" in sv.ModularMasks().needs()
    with pytest.raises(errors.Unsupported, match="sums modulo p only"):
        sv.privacy.audit(GRAPH, sv.ModularMasks(), 3, sv.privacy.CuriousNodes([0]))
