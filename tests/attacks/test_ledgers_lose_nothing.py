"""Promise: however a network changes, the mass of a run is accounted for, and a method with ledgers loses none of it.

Attempts: random graphs, random stages with losses, nodes that stand still, leave and return, links and values that
change, for every method that can be run on them. The compiled run is the plain one; what it records is what the plain
tables hold; and once everybody is back and nothing is lost any more, flow updating has its mass together again, to
rounding, and ends at the exact average of the values there are then. Averaging in place must be seen to fail the last,
or the attempt would prove nothing.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.simulation.changing.timetable import Timetable
from sottovoce.testing.reference import run_plainly

METHODS = {
    "standard": sv.StandardGossip(),
    "noise": sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7),
    "push-sum": sv.PushSum(),
    "flow": sv.FlowUpdating(),
    "synchronous": sv.SynchronousAveraging(),
}
STEPS = 60


@st.composite
def changing_networks(draw):
    """A connected graph, private values, and stages in which anything may fail."""
    n = draw(st.integers(3, 8))
    tree = {(draw(st.integers(0, i - 1)), i) for i in range(1, n)}
    extra = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=8))
    graph = sv.Graph.from_edges(sorted(tree | {(min(e), max(e)) for e in extra if e[0] != e[1]}))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    starts = [0, *sorted(draw(st.sets(st.integers(1, STEPS - 1), max_size=4)))]
    return (
        graph,
        rng.normal(size=n),
        [stage(draw, rng, graph, start) for start in starts],
        draw(st.integers(0, 2**64 - 1)),
    )


def stage(draw, rng, graph, start):
    n, m = graph.num_nodes, graph.num_edges
    some = st.lists(st.integers(0, n - 1), max_size=n - 1)
    return sv.Stage(
        start,
        loss=draw(st.sampled_from([0.0, 0.1, 0.6])),
        down=draw(some),
        gone=draw(some),
        edges=draw(st.sampled_from([None, graph.edges[rng.permutation(m)[: rng.integers(1, m + 1)]]])),
        values=draw(st.sampled_from([None, rng.normal(size=n)])) if start else None,
    )


@pytest.mark.parametrize("name", METHODS)
@given(given_network=changing_networks())
@settings(max_examples=6)
def test_every_record_is_what_the_nodes_hold(name, given_network):
    """Values, mass and error of the compiled run are those of the plain tables, at every step."""
    graph, values, stages, seed = given_network
    method = METHODS[name]
    run = sv.simulate(graph, values, method, num_steps=STEPS, seed=seed, stages=stages, record=STEPS)
    table = Timetable.of(stages, graph, values, None)
    outstanding = method.outstanding_field
    for step, nodes in enumerate(run_plainly(graph, values, method, STEPS, seed, stages=stages), start=1):
        period = table.seen_at(step)
        held = nodes[: graph.num_nodes][period.counted]
        mass = math.fsum(held[:, method.mass_field]) - (0.0 if outstanding is None else math.fsum(held[:, outstanding]))
        off = math.fsum(((held[:, 0] - period.mean[0]) ** 2).tolist())
        assert run.mass_error[step] == pytest.approx(abs(mass - period.total[0]), rel=1e-9, abs=1e-11)
        assert run.squared_error[step] == pytest.approx(off, rel=1e-8, abs=1e-11)
    np.testing.assert_allclose(run.tables[0, 0], nodes, rtol=1e-9, atol=1e-11)


def after_peace(method, given_network):
    """The mass and the error after a long time in which nothing fails, following all that did."""
    graph, values, stages, seed = given_network
    run = sv.simulate(graph, values, method, num_steps=20_000, seed=seed, stages=[*stages, sv.Stage(STEPS)], record=1)
    return run.mass_error[-1], np.abs(run.values - run.true_mean).max()


@given(given_network=changing_networks())
@settings(max_examples=40)
def test_ledgers_have_all_their_mass_again(given_network):
    """Flow updating, whatever happened: the exact average of the values there are in the end."""
    mass, error = after_peace(METHODS["flow"], given_network)
    assert mass < 1e-9
    assert error < 1e-7


def test_averaging_in_place_does_not():
    """The same attempt shows that standard gossip and noise insertion end elsewhere."""
    graph, values = sv.graphs.cycle(6), np.arange(6.0)
    network = graph, values, [sv.Stage(loss=0.4), sv.Stage(40, gone=[2])], 3
    for name in ("standard", "noise"):
        mass, error = after_peace(METHODS[name], network)
        assert mass > 0.1
        assert error > 0.01
