"""The optimal estimator: its error is what the audit predicts."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.privacy import CuriousNodes, EveryoneBut, Pooled, WireTap, attack, audit
from sottovoce.privacy.analysers.model import exchange_model
from sottovoce.privacy.analysers.round_transcripts import estimates as round_estimates
from sottovoce.privacy.analysers.round_transcripts import messages
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


ROUNDS = [
    sv.SynchronousAveraging(),
    sv.MoMurray(noise_std=1.0, noise_decay=0.8),
    sv.ManitaraHadjicostis(noise_std=[0.5, 1.0, 1.5, 2.0, 1.0, 0.5], num_rounds=[3, 5, 4, 6, 2, 3]),
    sv.PairwiseCancelling(pair_noise_std=1.0, own_noise_std=0.3),
    sv.IncrementalAveraging(noise_std=1.0, num_parts=4, own_noise_std=0.2),
    sv.StateDecomposition(noise_std=1.0, secret_weight_std=0.0),
    sv.Muffliato(noise_std=1.0, acceleration=1.0),
]
VECTORS = 400


@pytest.mark.parametrize("view", [CuriousNodes([0]), CuriousNodes([1, 4]), EveryoneBut(3)], ids=lambda v: v.describe())
@pytest.mark.parametrize("method", ROUNDS, ids=lambda method: method.label())
def test_attack_on_rounds(method: sv.Method, view: sv.privacy.View) -> None:
    """On messages of simulated rounds errors are as large as the audit says; what is called disclosed is found out."""
    graph = sv.graphs.cycle(6)
    values = np.random.default_rng(5).normal(0.5, 2.0, (6, VECTORS))
    run = sv.simulate(graph, values, method, num_steps=9, seed=8)
    found = attack(run, view, prior_std=2.0, prior_mean=0.5)
    report = audit(graph, method, 9, view, prior_std=2.0)
    decided = ~report.undecided
    assert found.std[decided] == pytest.approx(report.posterior_std[decided], abs=1e-7)
    known = found.std < 1e-6
    assert np.abs(found.error[known]).max(initial=0.0) < 1e-4
    square = np.mean(found.standard_score[~known] ** 2, axis=-1)
    assert np.abs(square - 1.0).max(initial=0.0) < 5 * np.sqrt(2 / VECTORS)


def test_attack_on_rounds_with_a_flat_prior() -> None:
    """Without any belief averaging without noise gives every value away, and noise leaves what nobody heard unknown."""
    graph, values = sv.graphs.path(4), [3.0, -1.0, 7.0, 2.0]
    plain = sv.simulate(graph, values, sv.SynchronousAveraging(), num_steps=12, seed=1)
    assert attack(plain, CuriousNodes([0]), prior_std=None).estimate == pytest.approx(np.array(values), abs=1e-6)
    hidden = sv.simulate(graph, values, sv.MoMurray(noise_std=1.0, noise_decay=0.5), num_steps=1, seed=1)
    found = attack(hidden, CuriousNodes([0]), prior_std=None)
    assert np.isnan(found.estimate).tolist() == [False, False, True, True]
    assert found.std[1] == pytest.approx(1.0)


def test_the_attack_on_rounds_reads_only_what_the_view_heard() -> None:
    """Replacing what is said by nodes that are no neighbours by NaN changes nothing."""
    graph, view = sv.graphs.path(5), CuriousNodes([1])
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    run = sv.simulate(graph, np.arange(5.0), method, num_steps=6, seed=2)
    heard = messages(run, view.observers(graph), 0)
    asked = {"prior": np.ones(5), "believed": np.zeros((5, 1))}
    whole, _ = round_estimates(graph, method.releases(graph), view, heard, **asked)
    heard[:, 3:] = np.nan
    part, _ = round_estimates(graph, method.releases(graph), view, heard, **asked)
    np.testing.assert_array_equal(whole, part)


def test_attacks_differ_between_replicas() -> None:
    """Every replica is attacked by its own messages."""
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    run = sv.simulate(sv.graphs.cycle(5), np.arange(5.0), method, num_steps=6, seed=2, replicas=3)
    found = attack(run, CuriousNodes([0]))
    assert found.estimate.shape == (3, 5)
    assert len(np.unique(found.estimate[:, 1])) == 3
    alone = sv.simulate(sv.graphs.cycle(5), np.arange(5.0), method, num_steps=6, seed=2)
    np.testing.assert_array_equal(found.estimate[0], attack(alone, CuriousNodes([0])).estimate)


@pytest.mark.parametrize(
    ("method", "why"),
    [
        (sv.Muffliato(noise_std=1.0), "muffliato: it states what its messages tell, not the messages; audit it"),
        (sv.Pdmm(1.0), "pdmm, seen by curious node 0: linear in the values and noise"),
        (sv.AsynchronousPdmm(1.0), "pdmm-asynchronous, seen by curious node 0: linear"),
        (sv.ZipNoise(1.0, 0.5), "zip, seen by curious node 0: linear"),
        (sv.ModularMasks(), "modular-masks, seen by curious node 0: sums modulo p only"),
        (sv.FlowUpdating(), "flow-updating, seen by curious node 0: values in the clear"),
        (sv.Nozari(1.0, 0.5), "nozari, seen by curious node 0: linear"),
        (sv.GapOracle(0.1), "gap-oracle, seen by curious node 0: comparisons only"),
    ],
    ids=lambda given: given.name if isinstance(given, sv.Method) else "",
)
def test_what_is_not_attacked_says_so_in_one_sentence(method: sv.Method, why: str) -> None:
    """The method, what it shows, and what is covered instead."""
    run = sv.simulate(sv.graphs.cycle(5), np.arange(5.0), method, num_steps=3, seed=1)
    with pytest.raises(Unsupported, match=f"the attack does not analyse {why}") as said:
        attack(run, CuriousNodes([0]))
    assert "\n" not in str(said.value)


def test_a_wire_tap_hears_no_broadcast() -> None:
    """Views that are not nodes are refused for rounds."""
    run = sv.simulate(sv.graphs.cycle(5), np.arange(5.0), sv.SynchronousAveraging(), num_steps=3, seed=1)
    with pytest.raises(Unsupported, match="does not analyse synchronous"):
        attack(run, WireTap([0]))
