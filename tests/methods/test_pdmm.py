from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors

from .equations import Replay, assert_equation
from .settings import GRAPH, VALUES

SMALL = sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])


class Duals:
    """The rule as it is printed, on dictionaries: z[i, j] is z_{i|j}."""

    def __init__(self, graph, c, z, rho):
        self.near = [graph.neighbours_of(i).tolist() for i in range(graph.num_nodes)]
        self.c, self.z, self.rho = c, dict(z), rho

    def primal(self, i):
        sums = sum((1 if i < j else -1) * self.z[i, j] for j in self.near[i])
        return (self.c[i] - sums) / (1 + self.rho * len(self.near[i]))

    def act(self, nodes):
        """All of ``nodes`` at once; what each found."""
        found = {i: self.primal(i) for i in nodes}
        said = {
            (j, i): self.z[i, j] + 2 * self.rho * (1 if i < j else -1) * found[i] for i in nodes for j in self.near[i]
        }
        self.z |= said
        return found


def equation(method, replay):
    """x of all nodes where they last found it."""
    z = {arc: method.dual_noise_std * draw for arc, draw in replay.own_of_arcs().items()}
    rule = Duals(replay.graph, replay.values, z, method.penalty)
    x = replay.values
    yield x
    everyone = range(replay.graph.num_nodes)
    for nodes in ([i] for i in replay.acting()) if not method.in_rounds else (everyone for _ in replay.steps()):
        for i, value in rule.act(nodes).items():
            x[i] = value
        yield x


@pytest.mark.parametrize(
    "method",
    [sv.Pdmm(2.0), sv.Pdmm(0.0, penalty=0.05), sv.AsynchronousPdmm(2.0), sv.AsynchronousPdmm(0.5, penalty=0.1)],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation, in rounds and node by node."""
    assert_equation(method, equation)


@pytest.mark.parametrize(("cls", "steps"), [(sv.Pdmm, 400), (sv.AsynchronousPdmm, 20_000)], ids=["rounds", "nodes"])
def test_huge_random_duals_do_not_change_the_limit(cls, steps):
    """ρ = 0.4 and P = 1000 on 20 nodes: at c̄ after 400 rounds, or 20 000 steps of one node, as has been reported."""
    graph = sv.graphs.random_geometric(20, seed=1)
    values = np.random.default_rng(4).random(20)
    run = sv.simulate(graph, values, cls(1000.0), num_steps=steps, seed=5, replicas=5, record=1)
    np.testing.assert_allclose(run.values, values.mean(), atol=1e-8)


def heard(method, graph, curious, moves):
    """Rows of all that a curious node hears over (private values, duals at the start), from the printed rule.

    The curious node knows its own value and the duals on its edges, so their columns are left out.
    """
    arcs = Replay(graph=graph).arcs()
    n, columns = graph.num_nodes, []
    for unit in np.eye(n + len(arcs)):
        z = {arc: method.dual_noise_std * unit[n + k] for k, arc in enumerate(arcs)}
        rule, messages = Duals(graph, unit[:n], z, method.penalty), []
        for nodes in moves:
            found = rule.act(nodes)
            messages += [found.get(j, 0.0) for j in rule.near[curious]]
        columns.append(messages)
    own = [curious, *(n + k for k, arc in enumerate(arcs) if curious in arc)]
    return np.delete(np.array(columns).T, own, axis=1)


@pytest.mark.parametrize("curious", [0, 2])
@pytest.mark.parametrize("cls", [sv.Pdmm, sv.AsynchronousPdmm])
def test_audit_equals_dense_conditioning(cls, curious):
    """Posterior deviations equal those of the joint Gaussian law of what the printed rule sends."""
    method, prior = cls(1.5, penalty=0.7), 1.3
    acting = np.random.default_rng(1).integers(5, size=14)
    moves = [range(5)] * 4 if method.in_rounds else [[int(i)] for i in acting]
    rows = heard(method, SMALL, curious, moves)
    rows[:, :4] *= prior
    posterior = np.eye(rows.shape[1]) - np.linalg.pinv(rows, rcond=1e-10) @ rows
    expected = prior * np.sqrt(np.diag(posterior)[:4].clip(0))
    view = sv.privacy.CuriousNodes([curious])
    report = sv.privacy.audit(SMALL, method, 4 if method.in_rounds else acting, view, prior)
    assert np.delete(report.posterior_std, curious) == pytest.approx(expected, abs=1e-6)
    assert report.unit == ("round" if method.in_rounds else "step")


def test_larger_duals_hide_more_until_neighbours_all_collude():
    """More P leaves more of the prior; against all other nodes together no P leaves anything."""
    graph, view = sv.graphs.cycle(6), sv.privacy.CuriousNodes([0])
    left = [sv.privacy.audit(graph, sv.Pdmm(std), 12, view).posterior_std[1] for std in (0.3, 3.0, 30.0)]
    assert left[0] < left[1] < left[2]
    assert left[2] == pytest.approx(np.sqrt(4 / 5), abs=0.01)  # what the sum of five values leaves
    alone = sv.privacy.audit(graph, sv.Pdmm(30.0), 3, sv.privacy.EveryoneBut(1))
    assert alone.disclosed[1]


def test_where_digits_end_the_audit_says_so():
    """Long after all is learned what is new in a message is rounding: the answer is then *cannot decide*."""
    graph, view = sv.graphs.random_geometric(40, seed=1), sv.privacy.CuriousNodes([0])
    report = sv.privacy.audit(graph, sv.Pdmm(10.0), 200, view, steps=[3, 200])
    assert not np.isnan(report.history[0]).any()
    assert report.undecided.any()
    assert np.isnan(report.posterior_std[report.undecided]).all()
    assert "cannot decide" in report.criterion


def test_wrong_runs_are_refused():
    """A run is a list of nodes, and rounds are a number."""
    method, view = sv.AsynchronousPdmm(1.0), sv.privacy.CuriousNodes([0])
    with pytest.raises(errors.InvalidParameter, match=r"nodes in 0..7"):
        sv.privacy.audit(GRAPH, method, [8], view)
    with pytest.raises(errors.InvalidParameter, match="the nodes that acted"):
        sv.privacy.audit(GRAPH, method, [0.5], view)
    with pytest.raises(errors.Unsupported, match="got WireTap"):
        sv.privacy.audit(GRAPH, method, [0], sv.privacy.WireTap([0]))
    with pytest.raises(errors.Unsupported, match="node by node and has no schedule"):
        sv.privacy.exposure_quantile(GRAPH, method, num_steps=3, coalitions=[[0]])
    assert (sv.privacy.audit(GRAPH, method, [], view).posterior_std[1:] == 1.0).all()


@pytest.mark.parametrize("cls", [sv.Pdmm, sv.AsynchronousPdmm])
def test_parameters_out_of_range_are_refused(cls):
    """The error names the parameter."""
    with pytest.raises(errors.InvalidParameter, match="dual_noise_std"):
        cls(-1.0)
    with pytest.raises(errors.InvalidParameter, match="penalty"):
        cls(1.0, penalty=0.0)
    assert sv.simulate(GRAPH, VALUES, cls(1.0), num_steps=1, seed=1).transmissions[-1] > 2 * GRAPH.num_edges
