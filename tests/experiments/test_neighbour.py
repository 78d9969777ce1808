"""What a curious neighbour learns, as one cell of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.compare import customary_methods
from sottovoce.experiments.neighbour import Neighbour, curious_neighbour
from sottovoce.methods import VALUE, PairMethod
from sottovoce.methods.released import InTheClear, Released, WithdrawnNoise

GRAPH = sv.graphs.cycle(6)
VALUES = np.arange(6.0)


def loud(nodes, i, j, draw_i, draw_j, step, parameters):
    """Both ends take the average of what they show: their values under N(0, 1000²)."""
    average = 0.5 * (nodes[i, VALUE] + 1000.0 * draw_i + nodes[j, VALUE] + 1000.0 * draw_j)
    nodes[i, VALUE] = average
    nodes[j, VALUE] = average


@dataclass(frozen=True)
class Loud(PairMethod):
    """A user's method, not registered, that hides everything and states nothing unless told to."""

    says: Released | None = None

    name = "loud"
    num_fields = 1
    uses_noise = True
    update = staticmethod(loud)

    def releases(self, graph: sv.Graph) -> Released:
        return super().releases(graph) if self.says is None else self.says


def cell(method: sv.Method) -> Neighbour:
    return curious_neighbour(sv.simulate(GRAPH, VALUES, method, num_steps=40, seed=1), 0, 2.0, 30)


def test_a_method_that_states_nothing_is_not_analysed() -> None:
    """Not *in the clear* and not *private*, whatever it does: here, and in the table of a comparison."""
    assert cell(Loud()) == (None, None, "not analysed")
    row = sv.compare(GRAPH, VALUES, [Loud()], num_steps=20, seed=1, replicas=2).rows[0]
    assert (row.prior_left, row.epsilon, row.neighbour) == (None, None, "not analysed")


def test_a_method_that_states_what_it_releases_is_analysed_by_it() -> None:
    """The same class with a statement gets that statement's audit, or its words."""
    stated = Loud(WithdrawnNoise(np.full(6, 1000.0), np.full(6, 0.5)))
    assert cell(stated).left == cell(sv.NoiseInsertion(noise_std=1000.0, noise_decay=0.5)).left
    assert cell(Loud(InTheClear())).words == "values in the clear"


@pytest.mark.parametrize("method", customary_methods(GRAPH), ids=lambda method: method.label())
def test_only_who_states_it_is_in_the_clear(method: sv.Method) -> None:
    """No cell says *values in the clear* of a method whose own description does not."""
    assert (cell(method).words == "values in the clear") == isinstance(method.releases(GRAPH), InTheClear)


def test_the_cell_is_the_audit() -> None:
    """The best known neighbour's share of the prior, after the asked steps of the run."""
    run = sv.simulate(GRAPH, VALUES, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9), num_steps=40, seed=1)
    report = sv.privacy.audit(GRAPH, run.method, run.fired_edges(0, 30), sv.privacy.CuriousNodes([0]), 2.0)
    assert curious_neighbour(run, 0, 2.0, 30).left == report.posterior_std[[1, 5]].min() / 2.0


@pytest.mark.parametrize(("share", "words"), [(3e-6, "no value exactly"), (3e-7, "1 of 1 values exactly")])
def test_exactly_is_a_millionth_of_the_prior(share: float, words: str) -> None:
    """One message under noise of this share of the prior; what counts as exact is the audit's tolerance."""
    method = sv.NoiseInsertion(noise_std=2.0 * share, noise_decay=0.5)
    run = sv.simulate(sv.graphs.complete(2), [0.0, 1.0], method, num_steps=1, seed=1)
    assert curious_neighbour(run, 0, 2.0, 1).words == words


def test_epsilon_is_for_values_one_prior_deviation_apart() -> None:
    """Proved differential privacy is told instead of a deviation, in proportion to the prior."""
    found = cell(sv.Nozari(noise_scale=4.0, noise_decay=0.5))
    assert found == (None, 0.5, "ε = 0.5 from all messages")
