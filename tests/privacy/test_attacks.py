"""The optimal estimator: its error is what the audit predicts."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, EveryoneBut, Pooled, WireTap, attack, audit
from sottovoce.privacy.analysers.model import exchange_model
from sottovoce.privacy.analysers.transcripts import estimates, transcript

VIEWS = [
    CuriousNodes([0]),
    CuriousNodes([0, 2]),
    WireTap([(1, 2)]),
    EveryoneBut(3),
    Pooled(CuriousNodes([0]), WireTap([2])),
]
NUM_TRANSCRIPTS = 20_000


@pytest.mark.parametrize("prior", [1.5, None])
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.describe())
def test_error_equals_prediction(view: sv.privacy.View, prior: float | None) -> None:
    """Over 20 000 transcripts the attack's mean square error is the posterior variance, within sampling error."""
    graph = sv.graphs.cycle(6)
    method = sv.NoiseInsertion(noise_std=np.linspace(0.5, 2, 6), noise_decay=np.linspace(0.3, 0.9, 6))
    rng = np.random.default_rng(7)
    edges = rng.integers(0, graph.num_edges, 40)
    values = rng.normal(0.0, 1.5, (6, NUM_TRANSCRIPTS))
    released = method.releases(graph)
    shown = transcript(graph, released, edges, rng.standard_normal((40, 2, NUM_TRANSCRIPTS)), values)
    belief = None if prior is None else np.full(6, prior)
    estimate, std = estimates(exchange_model(graph, released, view), edges, shown, belief, np.zeros(6))
    predicted = audit(graph, method, edges, view, prior).posterior_std
    assert std == pytest.approx(predicted, rel=1e-9)
    tested = np.isfinite(predicted) & (predicted > 0)
    assert tested.any()
    square = np.mean((estimate - values)[tested] ** 2, axis=1) / predicted[tested] ** 2
    # A mean of N squares of standard normals deviates by √(2/N); five of those is far in the tail.
    assert np.abs(square - 1).max() < 5 * np.sqrt(2 / NUM_TRANSCRIPTS)
    mean = np.mean((estimate - values)[tested], axis=1) / predicted[tested]
    assert np.abs(mean).max() < 5 / np.sqrt(NUM_TRANSCRIPTS)


def test_attack_on_simulated_runs() -> None:
    """On runs of ``simulate``, each with its own edges, scores are standard normal."""
    graph = sv.graphs.random_regular(8, 3, seed=1)
    rng = np.random.default_rng(3)
    values = rng.normal(size=(8, 40))
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
    run = sv.simulate(graph, values, method, num_steps=60, seed=11, replicas=12)
    result = attack(run, CuriousNodes([0]))
    assert result.estimate.shape == (12, 8, 40)
    assert result.std.shape == (12, 8)
    assert np.array_equal(result.estimate[:, 0], np.broadcast_to(values[0], (12, 40)))
    score = result.standard_score[:, 1:]
    # The 12 replicas share the private values, so fewer than all of the 3 360 scores are independent.
    assert np.mean(score**2) == pytest.approx(1.0, abs=5 * np.sqrt(2 / (7 * 40)))


def test_transcript_is_the_simulation() -> None:
    """Replaying the messages of a run and averaging them gives the values of the run."""
    graph = sv.graphs.cycle(5)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.6)
    values = np.arange(5.0)
    run = sv.simulate(graph, values, method, num_steps=50, seed=2)
    edges = run.fired_edges()
    shown = transcript(graph, method.releases(graph), edges, run.draws()[..., None], values[:, None])
    final = values.copy()
    for edge, pair in zip(edges, shown[..., 0], strict=True):
        final[graph.edges[edge]] = pair.mean()
    assert final == pytest.approx(run.values, rel=1e-12)


def test_the_attack_reads_only_what_the_view_heard() -> None:
    """Replacing every unheard message by NaN changes nothing."""
    graph = sv.graphs.cycle(5)
    released = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.6).releases(graph)
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 5, 40)
    shown = transcript(graph, released, edges, rng.standard_normal((40, 2, 1)), rng.normal(size=(5, 1)))
    view = CuriousNodes([0])
    model = exchange_model(graph, released, view)
    whole, _ = estimates(model, edges, shown, np.ones(5), np.zeros(5))
    shown[~view.heard_edges(graph)[edges]] = np.nan
    part, _ = estimates(model, edges, shown, np.ones(5), np.zeros(5))
    assert np.array_equal(whole[1:], part[1:])


def test_prior_mean_is_believed() -> None:
    """A value the view has heard nothing of is estimated by its prior mean; with a flat prior by nothing."""
    run = sv.simulate(
        sv.graphs.path(3), [0.0, 1.0, 2.0], sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5), num_steps=1, seed=2
    )
    assert run.fired_edges().tolist() == [0]
    assert attack(run, CuriousNodes([0]), prior_mean=7.0).estimate[2] == 7.0
    assert np.isnan(attack(run, CuriousNodes([0]), prior_std=None).estimate[2])
    with pytest.raises(InvalidParameter, match="prior_mean must be"):
        attack(run, CuriousNodes([0]), prior_mean=[1.0])


def test_estimates_are_not_printed() -> None:
    """An attack knows private values; its repr does not show them."""
    run = sv.simulate(sv.graphs.path(3), [12345.0, 12345.0, 12345.0], sv.StandardGossip(), num_steps=9, seed=2)
    assert "12345" not in repr(attack(run, CuriousNodes([0])))
