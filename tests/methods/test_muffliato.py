from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.theory import muffliato_acceleration, muffliato_loss, muffliato_summed_loss

from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """x(0) = c + noise, x(t+1) = γ W x(t) + (1 − γ) x(t−1), γ from the gap as it is printed."""
    W = method.mixing(replay.graph).toarray()
    gap = 1 - np.linalg.eigvalsh(W)[-2]
    gamma = method.acceleration or 2 * (1 - np.sqrt(gap * (1 - gap / 4))) / (1 - gap / 2) ** 2
    yield replay.values
    now = before = replay.values + method.noise_std * replay.draws(method, 0)
    for _ in replay.steps():
        before, now = now, gamma * W @ now + (1 - gamma) * before
        yield now


@pytest.mark.parametrize(
    "method",
    [sv.Muffliato(1.0), sv.Muffliato(0.5, acceleration=1.0), sv.Muffliato(0.5, acceleration=1.6, weights="max-degree")],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation."""
    assert_equation(method, equation)


def test_the_limit_has_the_published_variance():
    """Every node of a run ends at c̄ + mean(draws), whose variance is σ²/n."""
    run = sv.simulate(GRAPH, VALUES, sv.Muffliato(2.0), num_steps=400, seed=2, replicas=4000, record=1)
    off = run.values - VALUES.mean()
    assert np.ptp(off, axis=1).max() < 1e-11
    assert off[:, 0].var() == pytest.approx(4.0 / 8, rel=0.12)
    assert sv.Muffliato(2.0).guarantee(GRAPH).remaining == 4.0


@pytest.mark.parametrize("graph", [sv.graphs.cycle(30), sv.graphs.grid(5, 6)], ids=lambda g: g.name)
def test_acceleration_reaches_its_factor(graph):
    """Without noise the error falls at the factor of the guarantee, and that is far below the plain one."""
    values = np.random.default_rng(3).random(graph.num_nodes)
    fast, plain = sv.Muffliato(0.0), sv.Muffliato(0.0, acceleration=1.0)
    factor = fast.guarantee(graph).factor
    assert factor < plain.guarantee(graph).factor ** 2
    # Up to here errors are far above rounding; the double root of the recursion adds a power of the step.
    steps = int(np.log(1e-18) / np.log(factor))
    run = sv.simulate(graph, values, fast, num_steps=steps, seed=1, record=[steps // 2, steps])
    found = (run.relative_error[-1] / run.relative_error[-2]) ** (1 / (steps - steps // 2))
    assert found == pytest.approx(factor, rel=0.05)


def test_acceleration_is_the_printed_formula():
    """2/(1 + √(λ(1 − λ/4))) is what is printed, and is finite where the printed form is 0/0."""
    for gap in (1e-4, 0.1, 0.9, 1.7):
        printed = 2 * (1 - np.sqrt(gap * (1 - gap / 4))) / (1 - gap / 2) ** 2
        assert muffliato_acceleration(gap) == pytest.approx(printed)
    assert muffliato_acceleration(2.0) == 1.0


@pytest.mark.parametrize("rounds", [1, 2, 3, 6])
def test_loss_is_what_the_audit_finds(rounds):
    """Priors N(0, τ²) leave τ² − τ⁴/(τ² + σ²) · share; the loss is Δ²/(2σ²) times the same share."""
    W, tau, sigma = sv.SynchronousAveraging().mixing(GRAPH).toarray(), 1.5, 0.7
    known = sv.privacy.audit(GRAPH, sv.Muffliato(sigma), rounds, sv.privacy.CuriousNodes([2]), tau).posterior_std
    share = (1.0 - (known / tau) ** 2) * (tau**2 + sigma**2) / tau**2
    loss = muffliato_loss(W, 2, noise_std=sigma, num_rounds=rounds, sensitivity=2.0)
    others = np.arange(8) != 2
    np.testing.assert_allclose(loss[others], 2.0 / sigma**2 * share[others], atol=1e-6)
    assert loss[2] == np.inf


def test_acceleration_shows_the_same():
    """Audits with and without acceleration agree after every round: the same polynomials of W are heard."""
    view = sv.privacy.CuriousNodes([0])
    audits = [sv.privacy.audit_rounds(GRAPH, sv.Muffliato(1.0, gamma), view, num_rounds=6) for gamma in (None, 1.0)]
    np.testing.assert_allclose(audits[0].history, audits[1].history, atol=1e-6)


def test_adding_up_messages_is_no_upper_bound():
    """Path 0–1–2, W = I − L/3, messages of three rounds: the sum is 1/3, the truth 1/2, per order, at σ = Δ = 1."""
    W = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
    assert muffliato_summed_loss(W, 0, noise_std=1.0, num_rounds=3)[2] == pytest.approx(1 / 3)
    assert muffliato_loss(W, 0, noise_std=1.0, num_rounds=3)[2] == pytest.approx(1 / 2)
    report = sv.privacy.audit(sv.graphs.path(3), sv.Muffliato(1.0, 1.0, W), 3, sv.privacy.CuriousNodes([0]), 1.0)
    assert report.posterior_std[2] == pytest.approx(np.sqrt(1 / 2))  # all of node 2's noisy value: 1/(1 + 1)


def test_parameters_out_of_range_are_refused():
    """The error names the parameter."""
    with pytest.raises(errors.InvalidParameter, match="noise_std"):
        sv.Muffliato(-1.0)
    for gamma in (0.9, 2.0):
        with pytest.raises(errors.InvalidParameter, match="acceleration"):
            sv.Muffliato(1.0, acceleration=gamma)
