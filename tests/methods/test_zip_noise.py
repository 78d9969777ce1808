from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.simulation.kinds.neighbour import row_draws

from .equations import Replay, assert_equation
from .settings import GRAPH, VALUES

SMALL = sv.Graph.from_edges([(0, 1), (1, 2), (2, 3), (0, 3), (2, 4)])


def messages(W, x, Y, arcs):
    """(a, v) → x_a + Y_av − Σ_j W_aj Y_aj/(D_a W_av), a's own included; Y by pair, (a, a) for its own."""
    near = {a: [a, *(j for i, j in arcs if i == a)] for a in range(len(x))}
    share = {a: sum(W[a, j] * Y[a, j] for j in near[a]) / len(near[a]) for a in near}
    return {(a, v): x[a] + Y[a, v] - share[a] / W[a, v] for a in near for v in near[a]}


def draws_by_pair(draws, n, arcs):
    return {(i, i): draws[i] for i in range(n)} | {arc: draws[n + k] for k, arc in enumerate(arcs)}


def equation(method, replay):
    """x_v ← Σ_a W_va (what a told v), with the noise written out pair by pair."""
    W, arcs, x = sv.SynchronousAveraging(method.weights).mixing(replay.graph).toarray(), replay.arcs(), replay.values
    yield x
    for k in replay.steps():
        draws = method.noise_std * method.noise_decay**k * row_draws(method, replay.graph, replay.stream, k)
        said = messages(W, x, draws_by_pair(draws, len(x), arcs), arcs)
        x = np.array([sum(W[v, a] * number for (a, to), number in said.items() if to == v) for v in range(len(x))])
        yield x


@pytest.mark.parametrize(
    "method",
    [sv.ZipNoise(1.0, 0.9), sv.ZipNoise(0.5, 1.0, weights="max-degree"), sv.ZipNoise(2.0, 0.0), sv.ZipNoise(0.0, 0.5)],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation."""
    assert_equation(method, equation)


def test_what_a_node_adds_cancels_at_once():
    """With noise of deviation 100 that never fades the mean is right after every round, in 20 runs."""
    run = sv.simulate(GRAPH, VALUES, sv.ZipNoise(100.0, 1.0), num_steps=50, seed=1, replicas=20, record=50)
    assert run.mass_error.max() < 1e-10
    assert run.relative_error[:, 1:].min() > 10


def test_noise_that_stays_leaves_the_stated_error():
    """σ constant, as published: E‖x − c̄‖² settles at what the guarantee says, within 5 % over 4 000 runs."""
    method = sv.ZipNoise(0.7, 1.0)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=300, seed=2, replicas=4000, record=[300])
    found = run.squared_error[:, -1]
    assert abs(found.mean() - method.guarantee(GRAPH).remaining) < 5 * found.std() / np.sqrt(4000)


def test_fading_noise_ends_at_the_average():
    """With φ < 1 every run ends at the average; the guarantee says at which rate."""
    run = sv.simulate(GRAPH, VALUES, sv.ZipNoise(3.0, 0.9), num_steps=900, seed=1, replicas=20, record=1)
    np.testing.assert_allclose(run.values, VALUES.mean(), atol=1e-12)
    slow = sv.ZipNoise(3.0, 0.999).guarantee(GRAPH)
    assert slow.factor == pytest.approx(0.999**2)
    assert slow.remaining == 0.0


@pytest.mark.parametrize("decay", [1.0, 0.6])
@pytest.mark.parametrize("curious", [0, 2])
def test_audit_equals_dense_conditioning(curious, decay):
    """Posterior deviations equal those of the joint Gaussian law of what the printed rule tells the curious node."""
    method, prior, rounds, n = sv.ZipNoise(0.8, decay), 1.3, 4, 5
    arcs = Replay(graph=SMALL).arcs()
    W = sv.SynchronousAveraging().mixing(SMALL).toarray()
    width, columns = n + len(arcs), []
    for unit in np.eye(n + rounds * width):
        x, rest, heard = unit[:n], unit[n:].reshape(rounds, width), []
        for k in range(rounds):
            said = messages(W, x, draws_by_pair(0.8 * decay**k * rest[k], n, arcs), arcs)
            heard += [said[a, curious] for a in SMALL.neighbours_of(curious).tolist()]
            x = np.array([sum(W[v, a] * number for (a, to), number in said.items() if to == v) for v in range(n)])
        columns.append(heard)
    owners = [*range(n), *(i for i, _ in arcs)]
    own = [curious, *(n + k * width + row for k in range(rounds) for row in range(width) if owners[row] == curious)]
    rows = np.delete(np.array(columns).T, own, axis=1)
    rows[:, : n - 1] *= prior
    posterior = np.eye(rows.shape[1]) - np.linalg.pinv(rows, rcond=1e-10) @ rows
    expected = prior * np.sqrt(np.diag(posterior)[: n - 1].clip(0))
    report = sv.privacy.audit(SMALL, method, rounds, sv.privacy.CuriousNodes([curious]), prior)
    assert np.delete(report.posterior_std, curious) == pytest.approx(expected, abs=1e-6)


def test_pooling_removes_noise_and_an_exact_average_tells_the_last_value():
    """Two curious neighbours know more than one; all others together know the value when the noise has faded."""
    graph, method = sv.graphs.cycle(6), sv.ZipNoise(1.0, 0.5)
    one, both = (sv.privacy.audit(graph, method, 3, sv.privacy.CuriousNodes(n)).posterior_std[0] for n in ([1], [1, 5]))
    assert both < 0.95 * one
    report = sv.privacy.audit(graph, method, 3, sv.privacy.CuriousNodes([1]))
    assert any("is told something else" in line for line in report.assumptions)
    assert sv.privacy.audit(graph, method, 100, sv.privacy.EveryoneBut(0)).posterior_std[0] < 1e-3


def test_weights_of_zero_are_refused():
    """Noise is divided by weights: none may be zero on an edge or at a node."""
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(errors.InvalidParameter, match="above 0 on every edge"):
        sv.simulate(sv.graphs.complete(2), [0.0, 1.0], sv.ZipNoise(1.0, 0.5, weights=swap), num_steps=1)


@pytest.mark.parametrize(("parameters", "named"), [((-1.0, 0.5), "noise_std"), ((1.0, 1.1), "noise_decay")])
def test_parameters_out_of_range_are_refused(parameters, named):
    """The error names the parameter."""
    with pytest.raises(errors.InvalidParameter, match=named):
        sv.ZipNoise(*parameters)
