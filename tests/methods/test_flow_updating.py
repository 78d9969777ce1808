from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.simulation.kinds.neighbour import reversed_arcs

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """Flows and last estimates by pair of nodes; the estimate is c less all flows, added up anew each time."""
    c, near = replay.values, [replay.graph.neighbours_of(i).tolist() for i in range(replay.graph.num_nodes)]
    f = dict.fromkeys(replay.arcs(), 0.0)
    e = {(i, j): c[i] for i, j in replay.arcs()}

    def estimates():
        return np.array([c[i] - sum(f[i, j] for j in near[i]) for i in range(len(c))])

    yield estimates()
    for i in replay.acting():
        a = (estimates()[i] + sum(e[i, j] for j in near[i])) / (len(near[i]) + 1)
        for j in near[i]:
            f[i, j] += a - e[i, j]
            e[i, j] = e[j, i] = a
            f[j, i] = -f[i, j]
        yield estimates()


def test_equation():
    """Compiled runs follow the equation."""
    assert_equation(sv.FlowUpdating(), equation)


@pytest.mark.parametrize("graph", [sv.graphs.star(6), sv.graphs.path(7), sv.graphs.complete(5)], ids=lambda g: g.name)
def test_every_run_ends_at_the_average(graph):
    """20 runs each end at the average, and the sum is right at every step."""
    values = np.random.default_rng(1).random(graph.num_nodes)
    run = sv.simulate(graph, values, sv.FlowUpdating(), num_steps=4000, seed=2, replicas=20)
    np.testing.assert_allclose(run.values, values.mean(), atol=1e-11)
    assert run.mass_error.max() < 1e-12


def test_lost_and_repeated_messages_heal():
    """With 30 % of messages lost and 20 % heard twice the estimates still end at the exact average.

    The method's own functions are driven here, because no message of a simulation is lost.
    """
    method, chance, n = sv.FlowUpdating(), np.random.default_rng(7), GRAPH.num_nodes
    nodes, back = method.initial(GRAPH, VALUES), reversed_arcs(GRAPH)
    off = []
    for step in range(6000):
        i = int(chance.integers(n))
        first, last = int(GRAPH.indptr[i]), int(GRAPH.indptr[i + 1])
        method.speak(nodes, i, n + first, n + last, np.zeros(len(nodes)), step, np.zeros(1))
        for k in range(first, last):
            for _ in range(int(chance.choice([0, 1, 2], p=[0.3, 0.5, 0.2]))):
                nodes[n + back[k], 2:4] = nodes[n + k, :2]
                method.hear(nodes, int(GRAPH.neighbours[k]), n + int(back[k]), step, np.zeros(1))
        off.append(abs(nodes[:n, 0].mean() - VALUES.mean()))
    assert max(off) > 1e-3  # on the way mass is missing …
    np.testing.assert_allclose(nodes[:n, 0], VALUES.mean(), atol=1e-10)  # … and in the end none is


def test_one_node_acts_in_a_step():
    """The acting nodes are recomputed from the seed, count as activations, and are equally likely."""
    run = sv.simulate(GRAPH, VALUES, sv.FlowUpdating(), num_steps=8000, seed=3)
    acted = run.fired_edges()
    assert acted.shape == (8000,)
    assert run.activations.tolist() == np.bincount(acted, minlength=8).tolist()
    assert (np.abs(run.activations - 1000) < 5 * np.sqrt(1000)).all()
    with pytest.raises(errors.Unsupported, match="values in the clear"):
        sv.privacy.audit(GRAPH, sv.FlowUpdating(), acted, sv.privacy.CuriousNodes([0]))
