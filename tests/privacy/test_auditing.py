"""The audit: small answers by hand, exact zeros, long runs, monotonicity, and whom it covers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.methods import PairMethod
from sottovoce.methods.released import Comparisons, FadingNoise, InTheClear, LinearRounds, Released, WithdrawnNoise
from sottovoce.privacy import CuriousNodes, EveryoneBut, Pooled, WireTap, attack, audit, audit_rounds, reconstruct
from sottovoce.privacy.auditing import simulated_run

PATH = sv.graphs.path(3)
HALF = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)
FIRED = [0, 1, 0]


def test_path_with_prior() -> None:
    """Posterior deviations on the path 0–1–2 after each of three exchanges, prior deviation 1."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.history[:, 1] == pytest.approx([0.707107, 0.707107, 0.645497], abs=5e-7)
    assert report.history[:, 2] == pytest.approx([1, 1, 0.816497], abs=5e-7)


def test_path_with_flat_prior() -> None:
    """The same with a flat prior; node 2 is out of reach until step 3."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), None, steps=[1, 2, 3])
    assert report.history[:, 1] == pytest.approx([1, 1, 1])
    assert report.history[:, 2] == pytest.approx([math.inf, math.inf, 1.581139], abs=5e-7)


def test_path_with_other_value_known() -> None:
    """Fisher information about node 1 when node 2 is known: one over the square of the tabulated deviation."""
    report = audit(PATH, HALF, FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.information_history[:, 1] ** -0.5 == pytest.approx([1, 1, 0.774597], abs=5e-7)
    assert report.mu(2.0)[1] == pytest.approx(2.0 / 0.774597, abs=1e-5)


def test_standard_gossip_hides_nothing_from_the_first_caller() -> None:
    """Without noise the deviation is exactly zero from the first exchange on."""
    report = audit(PATH, sv.StandardGossip(), FIRED, CuriousNodes([0]), steps=[1, 2, 3])
    assert report.history[:, 1].tolist() == [0, 0, 0]
    assert report.disclosed.tolist() == [True, True, True]
    assert report.fisher_information[1] == math.inf
    assert report.variance_leaked[1] == 1.0
    assert report.mutual_information[1] == math.inf


def test_standard_gossip_is_the_case_without_noise() -> None:
    """σ = 0 and standard gossip give the same report."""
    graph = sv.graphs.random_regular(8, 3, seed=2)
    edges = np.random.default_rng(5).integers(0, graph.num_edges, 120)
    silent = audit(graph, sv.NoiseInsertion(noise_std=0.0, noise_decay=0.9), edges, CuriousNodes([0]))
    plain = audit(graph, sv.StandardGossip(), edges, CuriousNodes([0]))
    assert np.array_equal(silent.posterior_std, plain.posterior_std)


@pytest.mark.parametrize("decay", [0.3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("count", [1, 2, 20, 400, 3000])
def test_two_nodes_to_any_depth(decay: float, count: int) -> None:
    """On K₂ the flat-prior deviation is (Σ φ^{−2t})^{−1/2}, to full relative precision however small."""
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    report = audit(sv.graphs.complete(2), method, [0] * count, CuriousNodes([0]), None)
    account = sv.privacy.Account(1.0, decay).spend(count)
    expected = account.std if account.std > 1e-140 else 0.0
    found = report.posterior_std[1] if report.posterior_std[1] > 1e-140 else 0.0
    assert found == pytest.approx(expected, rel=1e-10)


def test_no_exchanges_reveal_nothing() -> None:
    """Before the first exchange everything is as believed beforehand."""
    report = audit(PATH, HALF, [], CuriousNodes([0]), prior_std=[3.0, 2.0, 1.0])
    assert report.posterior_std.tolist() == [0.0, 2.0, 1.0]
    assert report.variance_leaked[1:].tolist() == [0.0, 0.0]
    assert report.mu(1.0)[1:].tolist() == [0.0, 0.0]


def test_units_do_not_matter() -> None:
    """Scaling σ and the prior together scales every deviation."""
    edges = np.random.default_rng(0).integers(0, 6, 80)
    graph = sv.graphs.cycle(6)
    small = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7), edges, CuriousNodes([0]), 1.0)
    large = audit(graph, sv.NoiseInsertion(noise_std=1e6, noise_decay=0.7), edges, CuriousNodes([0]), 1e6)
    assert large.posterior_std == pytest.approx(1e6 * small.posterior_std, rel=1e-9)


def test_long_run_ends_with_the_sum_of_each_group() -> None:
    """After 8 000 exchanges the observers know each group's sum to nothing and no more about its members."""
    graph = sv.graphs.cycle(8)
    edges = np.random.default_rng(3).integers(0, 8, 8_000)
    report = audit(
        graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8), edges, CuriousNodes([0, 2]), steps=[1_500, 8_000]
    )
    assert report.disclosed.tolist() == [True, True, True] + [False] * 5
    assert report.history[1, 3:] == pytest.approx(report.history[0, 3:], rel=1e-6)
    assert (report.history[1, 3:] > 0.2).all()
    # Knowing all others, the sum gives a value away.
    assert (report.fisher_information > 1e20).all()


def test_reports_do_not_depend_on_what_is_recorded() -> None:
    """The final state is the same whichever steps are requested."""
    edges = np.random.default_rng(1).integers(0, 2, 40)
    every = audit(PATH, HALF, edges, CuriousNodes([0]))
    few = audit(PATH, HALF, edges, CuriousNodes([0]), steps=[7, 3])
    assert np.array_equal(every.posterior_std, few.posterior_std)
    assert few.steps.tolist() == [3, 7]
    assert np.array_equal(few.history, every.history[[3, 7]])
    assert len(audit(PATH, HALF, np.zeros(2000, int), CuriousNodes([0])).steps) == 251


graphs = st.sampled_from([sv.graphs.cycle(5), sv.graphs.path(5), sv.graphs.complete(4), sv.graphs.star(5)])


@given(graph=graphs, seed=st.integers(0, 999), decay=st.floats(0, 0.95), prior=st.sampled_from([None, 1.0]))
def test_another_observer_never_increases_uncertainty(
    graph: sv.Graph, seed: int, decay: float, prior: float | None
) -> None:
    """A coalition with one more member knows every value at least as well, at every step."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    alone = audit(graph, method, edges, CuriousNodes([0]), prior)
    both = audit(graph, method, edges, CuriousNodes([0, 2]), prior)
    assert (both.history <= alone.history * (1 + 1e-9) + 1e-12).all()
    # Beyond 10²⁴ rounding limits the information that is reported.
    assert (both.information_history >= np.minimum(alone.information_history, 1e24) * (1 - 1e-9)).all()


@given(graph=graphs, seed=st.integers(0, 999), share=st.floats(0, 1), prior=st.sampled_from([None, 1.0]))
def test_less_noise_never_increases_uncertainty(graph: sv.Graph, seed: int, share: float, prior: float | None) -> None:
    """Scaling every node's noise down leaves every value at least as well known."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    loud = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.7), edges, CuriousNodes([0]), prior)
    low = audit(graph, sv.NoiseInsertion(noise_std=share, noise_decay=0.7), edges, CuriousNodes([0]), prior)
    assert (low.history <= loud.history * (1 + 1e-9) + 1e-12).all()


@given(graph=graphs, seed=st.integers(0, 999), decay=st.floats(0, 0.95))
def test_time_never_increases_uncertainty(graph: sv.Graph, seed: int, decay: float) -> None:
    """What was learned is not forgotten: deviations fall and information grows step by step."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 40)
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=decay), edges, WireTap([0]))
    assert (np.diff(report.history, axis=0) <= 1e-12).all()
    with np.errstate(invalid="ignore"):
        assert not (np.diff(report.information_history, axis=0) < -1e-9).any()


@given(graph=graphs, seed=st.integers(0, 999), node=st.integers(0, 3))
def test_everyone_but_one_is_the_worst_case(graph: sv.Graph, seed: int, node: int) -> None:
    """No view of others learns more about a node than everyone else together."""
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 30)
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)
    worst = audit(graph, method, edges, EveryoneBut(node)).posterior_std[node]
    for observer in set(range(graph.num_nodes)) - {node}:
        assert worst <= audit(graph, method, edges, CuriousNodes([observer])).posterior_std[node] + 1e-12


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"prior_std": 0.0}, "prior_std must be finite and in"),
        ({"prior_std": [1.0, 1.0]}, r"one per node \(3\)"),
        ({"prior_std": "a"}, "prior_std must be numbers above 0 .* got 'a'"),
        ({"steps": [4]}, r"steps must be whole numbers in 0\.\.3, got \[4\]"),
        ({"steps": [0.5]}, r"steps must be whole numbers in 0\.\.3, got \[0\.5\]"),
        ({"steps": ["a"]}, "steps must be whole numbers"),
        ({"tolerance": 2.0}, r"tolerance must be in \[0, 1\)"),
        ({"fired_edges": [5]}, r"fired_edges must be edge indices in 0\.\.1"),
        ({"fired_edges": [0.5]}, "fired_edges must be a sequence of edge indices"),
        ({"fired_edges": 3}, "fired_edges must be a sequence of edge indices"),
    ],
)
def test_bad_input_is_named(keywords: dict[str, object], message: str) -> None:
    """Parameters outside their range are refused by name, not rounded and not as a NumPy error."""
    arguments: dict[str, object] = {"fired_edges": FIRED} | keywords
    with pytest.raises(InvalidParameter, match=message):
        audit(PATH, HALF, view=CuriousNodes([0]), **arguments)  # type: ignore[arg-type]


# -- when a value counts as disclosed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "std", "disclosed"), [(1.0, 0.9e-6, True), (1.0, 1.1e-6, False), (2.0, 1.9e-6, True)]
)
def test_disclosed_is_a_millionth_of_the_prior(prior: float, std: float, disclosed: bool) -> None:
    """After one message under noise σ the flat-prior deviation is σ: disclosed up to 10⁻⁶ τ and not beyond."""
    method = sv.NoiseInsertion(noise_std=std, noise_decay=0.5)
    report = audit(sv.graphs.complete(2), method, [0], CuriousNodes([0]), prior)
    assert report.flat_std[1] == pytest.approx(std)
    assert bool(report.disclosed[1]) is disclosed


@pytest.mark.parametrize(("decay", "disclosed"), [(0.9e-6, True), (1.1e-6, False)])
def test_under_a_flat_prior_disclosed_is_a_millionth_of_the_noise(decay: float, disclosed: bool) -> None:
    """After two messages, under σ and σφ, the deviation is σφ: disclosed up to φ = 10⁻⁶, whatever σ."""
    method = sv.NoiseInsertion(noise_std=50.0, noise_decay=decay)
    assert bool(audit(sv.graphs.complete(2), method, [0, 0], CuriousNodes([0]), None).disclosed[1]) is disclosed


@pytest.mark.parametrize("tolerance", [1e-3, 0.8])
def test_tolerance_moves_the_threshold(tolerance: float) -> None:
    """Rounds and exchanges, just below the asked share of the prior and just above it."""
    pair, view = sv.graphs.complete(2), CuriousNodes([0])
    for share, disclosed in ((0.97, True), (1.03, False)):
        exchange = sv.NoiseInsertion(noise_std=3.0 * share * tolerance, noise_decay=0.5)
        assert bool(audit(pair, exchange, [0], view, 3.0, tolerance=tolerance).disclosed[1]) is disclosed
        # One broadcast under noise s leaves τs/√(τ² + s²).
        left = share * tolerance
        broadcast = sv.MoMurray(noise_std=3.0 * left / math.sqrt(1.0 - left**2), noise_decay=0.5)
        assert bool(audit(pair, broadcast, 1, view, 3.0, tolerance=tolerance).disclosed[1]) is disclosed


# -- whom the audit covers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own(PairMethod):
    """A user's method: Algorithm 1 under another name, saying of itself whatever a test wants."""

    says: Released | None = None

    name = "own"
    num_fields = sv.NoiseInsertion.num_fields
    uses_noise = True
    update = staticmethod(sv.NoiseInsertion.update)

    def initial(self, graph: sv.Graph, private_values: np.ndarray) -> np.ndarray:
        return HALF.initial(graph, private_values)

    def releases(self, graph: sv.Graph) -> Released:
        return super().releases(graph) if self.says is None else self.says


def test_a_method_of_ones_own_is_audited_by_what_it_states() -> None:
    """Exchanges under withdrawn noise get the audit, the attack and the exposure that noise insertion gets."""
    view, own = Pooled(CuriousNodes([0]), WireTap([1])), Own(WithdrawnNoise(np.ones(3), np.full(3, 0.5)))
    mine, ours = (audit(PATH, method, FIRED, view) for method in (own, HALF))
    assert np.array_equal(mine.history, ours.history)
    assert np.array_equal(mine.fisher_information, ours.fisher_information)
    guesses = [attack(sv.simulate(PATH, [1.0, 2.0, 3.0], m, num_steps=9, seed=1), view) for m in (own, HALF)]
    assert np.array_equal(guesses[0].estimate, guesses[1].estimate)
    who = [sv.privacy.exposure(PATH, method, num_steps=9, seed=1) for method in (own, HALF)]
    assert np.array_equal(who[0].posterior_std, who[1].posterior_std)


class OwnRounds(sv.SynchronousAveraging):
    """A user's synchronous method: only what it states is asked for."""

    name = "own-rounds"

    def releases(self, graph: sv.Graph) -> Released:
        weights = sv.SynchronousAveraging().mixing(graph)
        noise = FadingNoise.equal(graph.num_nodes, std=0.7, rounds=2)
        return LinearRounds(np.zeros(graph.num_nodes), weights, noise, taken_back=np.full(graph.num_nodes, 2.0))


def test_a_round_method_of_ones_own_is_audited_by_what_it_states() -> None:
    """Linear rounds get the audit of the method of ours that states the same."""
    ours = sv.ManitaraHadjicostis(noise_std=0.7, num_rounds=2)
    found, expected = (audit(sv.graphs.cycle(5), m, 6, CuriousNodes([0]), None) for m in (OwnRounds(), ours))
    assert np.array_equal(found.history, expected.history)
    assert found.unit == "round"


@pytest.mark.parametrize(
    ("says", "words"),
    [
        (None, "own is not analysed: it does not state what it releases"),
        (Comparisons(), "own is not analysed: comparisons only"),
        (InTheClear(), "own is not analysed: values in the clear"),
    ],
)
def test_what_is_not_analysed_is_refused(says: Released | None, words: str) -> None:
    """Nothing stated, or nothing that an analyser understands: a sentence, and no number; likewise for attacks."""
    run = sv.simulate(PATH, np.zeros(3), Own(says), num_steps=2, seed=1)
    with pytest.raises(Unsupported, match=words):
        audit(PATH, Own(says), FIRED, CuriousNodes([0]))
    with pytest.raises(Unsupported, match=r"the attack does not analyse own"):
        attack(run, CuriousNodes([0]))
    with pytest.raises(Unsupported, match="noise-free gossip"):
        reconstruct(run, CuriousNodes([0]))


@pytest.mark.parametrize(
    ("says", "message"),
    [
        (WithdrawnNoise(np.ones(2), np.zeros(3)), r"noise_std must be one number or one per node \(3\), got 2"),
        (WithdrawnNoise(-np.ones(3), np.zeros(3)), "noise_std must be finite and in"),
        (WithdrawnNoise(np.ones(3), np.ones(3)), "noise_decay must be finite and in"),
    ],
)
def test_a_statement_that_cannot_be_true_is_refused(says: Released, message: str) -> None:
    """A user's description is checked like any other input."""
    with pytest.raises(InvalidParameter, match=message):
        audit(PATH, Own(says), FIRED, CuriousNodes([0]))


def test_rounds_are_audited_at_the_same_entry() -> None:
    """``audit`` with a number of rounds is ``audit_rounds``; the history has the rounds asked for."""
    method, graph, view = sv.MoMurray(noise_std=1.0, noise_decay=0.8), sv.graphs.cycle(5), CuriousNodes([0])
    every, few = audit_rounds(graph, method, view, num_rounds=7), audit(graph, method, 7, view, steps=[6, 2])
    assert np.array_equal(audit(graph, method, 7, view).history, every.history)
    assert np.array_equal(few.history, every.history[[2, 6]])
    assert np.array_equal(few.posterior_std, every.posterior_std)
    assert few.steps.tolist() == [2, 6]


@pytest.mark.parametrize("rounds", [-1, 1.5, [0, 1], "a"])
def test_rounds_are_counted_by_a_whole_number(rounds: object) -> None:
    """For a method in rounds fired edges make no sense."""
    with pytest.raises(InvalidParameter, match=r"fired_edges .* num_rounds\) must be a whole number"):
        audit(PATH, sv.SynchronousAveraging(), rounds, CuriousNodes([0]))  # type: ignore[arg-type]


@pytest.mark.parametrize("prior", [1.0, None])
def test_without_noise_is_the_plain_method(prior: float | None) -> None:
    """Leaving out the noise gives standard gossip, and for rounds plain averaging with the same weights."""
    graph, view = sv.graphs.cycle(5), CuriousNodes([0])
    fired = simulated_run(graph, HALF, num_steps=30, seed=3)
    for method, run, plain in (
        (HALF, fired, sv.StandardGossip()),
        (sv.MoMurray(noise_std=1.0, noise_decay=0.8), 2, sv.SynchronousAveraging()),
        (sv.Nozari(noise_scale=1.0, noise_decay=0.8, weights="metropolis"), 2, sv.SynchronousAveraging()),
        (sv.PairwiseCancelling(pair_noise_std=1.0, own_noise_std=0.5), 2, sv.SynchronousAveraging()),
    ):
        silent = audit(graph, method, run, view, prior, without_noise=True)
        expected = audit(graph, plain, run, view, prior)
        assert silent.posterior_std == pytest.approx(expected.posterior_std, rel=1e-12)
        assert silent.disclosed.tolist() == expected.disclosed.tolist()


def test_simulated_runs_are_known_without_simulating() -> None:
    """The edges are those of ``simulate``; a method in rounds needs only their number."""
    run = sv.simulate(PATH, np.zeros(3), HALF, num_steps=40, seed=5)
    assert np.array_equal(simulated_run(PATH, HALF, num_steps=40, seed=5), run.fired_edges())
    assert simulated_run(PATH, sv.SynchronousAveraging(), num_steps=40, seed=5) == 40


def test_progress_is_reported() -> None:
    """A function given as ``progress`` hears how far the audit has come."""
    heard: list[tuple[int, int]] = []
    audit(PATH, HALF, [0, 1] * 100, CuriousNodes([0]), progress=lambda done, total: heard.append((done, total)))
    assert heard == [(64, 200), (128, 200), (192, 200)]
