from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods.state_decomposition import decomposition_factor
from sottovoce.methods.weights import extreme_eigenvalues

from .equations import assert_equation
from .settings import GRAPH, VALUES


def rounds(method, replay):
    """(α, β) before and after every round, as Wang writes them, and the secret weights of the first."""
    W, n = method.mixing(replay.graph).toarray(), replay.graph.num_nodes
    secret = method.coupling + method.secret_weight_std * replay.draws(method, 0)
    alpha = method.noise_std * replay.own()
    beta = 2 * replay.values - alpha
    yield alpha, beta, secret
    for k in replay.steps():
        w = secret if k == 0 else np.full(n, method.coupling)
        spread = W * (alpha[None, :] - alpha[:, None])
        alpha, beta = alpha + spread.sum(axis=1) + w * (beta - alpha), beta + w * (alpha - beta)
        yield alpha, beta, secret


def equation(method, replay):
    """(α + β)/2 of the rule above."""
    for alpha, beta, _ in rounds(method, replay):
        yield (alpha + beta) / 2


@pytest.mark.parametrize(
    "method",
    [
        sv.StateDecomposition(noise_std=1.0, secret_weight_std=0.7),
        sv.StateDecomposition(noise_std=3.0, coupling=0.1, secret_weight_std=0.0, weights="max-degree"),
    ],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation, with secret weights and without."""
    assert_equation(method, equation)


def test_both_halves_reach_the_average():
    """20 runs each end at the average, whatever α(0) and the secret weights were."""
    method = sv.StateDecomposition(noise_std=10.0, coupling=0.2, secret_weight_std=2.0)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=2500, seed=1, replicas=20, record=1)
    np.testing.assert_allclose(run.values, VALUES.mean(), atol=1e-10)
    np.testing.assert_allclose(run.tables[:, 0, :, 1], VALUES.mean(), atol=1e-10)


@pytest.mark.parametrize("coupling", [0.05, 0.2, 0.45])
def test_factor_is_the_spectral_radius(coupling):
    """The closed form equals the second largest modulus of the 2n × 2n matrix of one round."""
    method = sv.StateDecomposition(noise_std=1.0, coupling=coupling, secret_weight_std=0.0)
    matrix = method.releases(GRAPH).rounds(5).moved.toarray()
    moduli = np.sort(np.abs(np.linalg.eigvals(matrix)))
    assert decomposition_factor(method.mixing(GRAPH), coupling) == pytest.approx(moduli[-2], abs=1e-12)


def test_too_much_coupling_is_outside_the_guarantee_and_diverges():
    """Just above 2(1 + λ)/(3 + λ) there is a caveat, no factor, and a run that blows up; just below there is none."""
    graph = sv.graphs.hypercube(4)
    least = extreme_eigenvalues(sv.SynchronousAveraging().mixing(graph))[1]
    limit = 2 * (1 + least) / (3 + least)
    above, below = (sv.StateDecomposition(noise_std=1.0, coupling=limit * share) for share in (1.05, 0.95))
    values = np.random.default_rng(1).random(16)
    assert len(above.caveats(graph)) == 1
    assert above.guarantee(graph).factor is None
    assert sv.simulate(graph, values, above, num_steps=2000, seed=1).relative_error[-1] > 1e3
    assert below.caveats(graph) == ()
    assert sv.simulate(graph, values, below, num_steps=2000, seed=1).relative_error[-1] < 1e-3


def test_secret_weights_do_not_hide_a_node_whose_neighbours_are_all_heard():
    """From α of a node and of all its neighbours its value follows in closed form, secret weight or not.

    From round 1 on weights are public, so α(1), α(2) give β(1); Σ of the halves changes only by what neighbours move.
    """
    graph, kappa, seed = sv.graphs.star(5), 0.1, 4
    method = sv.StateDecomposition(noise_std=3.0, coupling=kappa, secret_weight_std=5.0)
    values = np.random.default_rng(2).random(5)
    runs = [sv.simulate(graph, values, method, num_steps=k, seed=seed) for k in (1, 2)]
    W = method.mixing(graph).toarray()
    first, second = (run.tables[0, 0, :, 1] for run in runs)  # α(1), α(2)
    from sottovoce.simulation.edge_noise import own_draw
    from sottovoce.simulation.random.streams import Stream

    start = np.array([3.0 * own_draw(Stream(seed), i) for i in range(5)])  # α(0), which every neighbour heard
    beta = first + (second - W @ first) / kappa
    found = 0.5 * (first + beta - (W @ start - start))
    np.testing.assert_allclose(found[1:], values[1:], atol=1e-9)  # the hub hears each leaf and its only neighbour


def test_what_can_be_audited():
    """Public weights are audited and hide a node that is not wholly heard; secret ones are called not analysed."""
    view, graph = sv.privacy.CuriousNodes([0]), sv.graphs.cycle(8)
    public = sv.StateDecomposition(noise_std=1.0, secret_weight_std=0.0)
    assert sv.privacy.audit(graph, public, 1, view).posterior_std[1] == 1.0
    assert 0.0 < sv.privacy.audit(graph, public, 5, view).posterior_std[1] < 1.0
    secret = sv.StateDecomposition(noise_std=1.0)
    with pytest.raises(errors.Unsupported, match="not analysed: values under secret weights"):
        sv.privacy.audit_rounds(graph, secret, view, num_rounds=5)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"noise_std": -1.0}, "noise_std"),
        ({"coupling": 0.0}, "coupling"),
        ({"coupling": 1.0}, "coupling"),
        ({"secret_weight_std": -1.0}, "secret_weight_std"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, named):
    """The error names the parameter."""
    with pytest.raises(errors.InvalidParameter, match=named):
        sv.StateDecomposition(**{"noise_std": 1.0, **parameters})
