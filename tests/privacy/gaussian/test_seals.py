from __future__ import annotations

import itertools
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import errors
from sottovoce.privacy.gaussian.seals import sealed_covariance, sealed_std, worst_coalition
from sottovoce.simulation import fired_edges

from ...agreement.exact_gaussian import Transcript, solve

TRIANGLE = [(0, 1), (0, 2), (1, 2)]


def random_problem(seed: int) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, list[int]]:
    """A random graph, connected or not, seals (some zero) and priors of very different sizes, and a coalition."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    edges = pairs[rng.random(len(pairs)) < 0.6]
    seals = np.where(rng.random(len(edges)) < 0.2, 0.0, 10.0 ** rng.uniform(-3, 3, len(edges)))
    prior = 10.0 ** rng.uniform(-2, 2, n)
    coalition = rng.choice(n, size=int(rng.integers(0, n)), replace=False).tolist()
    return n, edges, seals, prior, coalition


def conditioned(n: int, edges: np.ndarray, seals: np.ndarray, prior: np.ndarray, coalition: list[int]) -> np.ndarray:
    """Cov(c | c + Bm, c_A, seals of A's edges) from the joint law of (c, m), by least squares."""
    known = [*np.eye(n + len(edges))[coalition]]
    sealed = np.hstack([np.eye(n), np.zeros((n, len(edges)))])
    for e, (i, j) in enumerate(edges):
        sealed[i, n + e], sealed[j, n + e] = 1.0, -1.0
        if i in coalition or j in coalition:
            known.append(np.eye(n + len(edges))[n + e])
    seen = np.vstack([sealed, *known]) * np.concatenate([prior, seals])
    scaled = seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-300)
    _, sizes, directions = np.linalg.svd(scaled)
    hidden = directions[np.sum(sizes > 1e-12) :, :n] * prior
    return hidden.T @ hidden


@pytest.mark.parametrize("seed", range(60))
def test_covariance_is_conditioning_on_what_is_sealed(seed):
    """On random graphs, seals (zero too) and priors the formula is the conditional covariance of the joint law."""
    n, edges, seals, prior, coalition = random_problem(seed)
    found = sealed_covariance(edges, n, coalition, seal_std=seals, prior_std=prior)
    expected = conditioned(n, edges, seals, prior, coalition)
    np.testing.assert_allclose(found / np.outer(prior, prior), expected / np.outer(prior, prior), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_flat_prior_is_the_limit_of_wide_ones(seed):
    """Without a prior the deviation is s·√(honest neighbours), and wide priors come up to it."""
    n, edges, seals, _, coalition = random_problem(seed)
    flat = sealed_std(edges, n, coalition, seal_std=seals)
    honest = [
        np.sqrt(sum(s**2 for s, e in zip(seals, edges, strict=True) if i in e and not {*e.tolist()} & {*coalition}))
        for i in range(n)
    ]
    assert flat == pytest.approx([0.0 if i in coalition else honest[i] for i in range(n)])
    wide = sealed_std(edges, n, coalition, seal_std=seals, prior_std=1e7)
    assert wide == pytest.approx(flat, rel=1e-6)
    assert (wide <= flat * (1 + 1e-9)).all()


@st.composite
def sealed_runs(draw: st.DrawFn) -> dict[str, object]:
    """A connected graph of 3–5 nodes, up to 8 exchanges, σ and φ per node (zero included), seals, a coalition."""
    n = draw(st.integers(3, 5))
    edges = {(draw(st.integers(0, k - 1)), k) for k in range(1, n)}
    edges |= draw(st.sets(st.sampled_from(list(itertools.combinations(range(n), 2))), max_size=4))
    graph = sv.Graph.from_edges(sorted(edges), num_nodes=n)
    std = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(3)])) for _ in range(n)]
    decay = [draw(st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(7, 8)])) for _ in range(n)]
    seals = [draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1), Fraction(8)])) for _ in edges]
    observers = draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1))
    fired = draw(st.lists(st.integers(0, graph.num_edges - 1), min_size=1, max_size=8))
    everything = draw(st.booleans())
    return {"graph": graph, "noise": (std, decay), "seals": seals, "A": observers, "fired": fired, "taps": everything}


@given(case=sealed_runs())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_schedule_shows_more_than_the_bound(case):
    """The exact posterior of any run is never below the guarantee, also if the coalition hears every message."""
    graph, seals = case["graph"], case["seals"]
    pairs = [tuple(edge) for edge in graph.edges.tolist()]
    tapped = set(pairs) if case["taps"] else set()
    run = Transcript(
        graph.num_nodes,
        [pairs[k] for k in case["fired"]],
        *case["noise"],
        case["A"],
        tapped,
        dict(zip(pairs, seals, strict=True)),
    )
    numbers = np.array(seals, dtype=float)
    least = sealed_std(graph.edges, graph.num_nodes, case["A"], seal_std=numbers, prior_std=1.0)[run.honest]
    assert (np.array(run.posterior_std(Fraction(1))) >= least * (1 - 1e-9) - 1e-12).all()
    flat = sealed_std(graph.edges, graph.num_nodes, case["A"], seal_std=numbers)[run.honest]
    assert (np.array(run.flat_std()) >= flat * (1 - 1e-9) - 1e-12).all()


def test_the_bound_is_attained():
    """Without noise, once the observer has heard everybody, nothing more than the bound is left: equality."""
    edges, fired = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    zero = [Fraction(0)] * 4
    run = Transcript(4, fired, zero, zero, {0}, seals={edge: Fraction(3) for edge in edges})
    least = sealed_std(edges, 4, [0], seal_std=3.0, prior_std=2.0)
    assert run.posterior_std(Fraction(4)) == pytest.approx(least[1:], rel=1e-12)
    assert run.flat_std() == pytest.approx(sealed_std(edges, 4, [0], seal_std=3.0)[1:], rel=1e-12)


def test_published_figures():
    """Triangle, prior ± 10, s = 100: ± 7.05 of 7.07. RGG(100), values in [0, 1], the worst neighbour of node 0: a run
    with s = 1 and s = 10 leaves 0.990 and 0.9999 of its prior deviation, and any run 0.981 and 0.995.
    """
    assert sealed_std(TRIANGLE, 3, [0], seal_std=100.0, prior_std=10.0)[1].round(2) == 7.05
    graph, prior = sv.graphs.random_geometric(100, seed=26), 12**-0.5
    near, fired = graph.neighbours_of(0), fired_edges(graph, num_steps=2000, seed=1)
    for seal, audited, least in ((1.0, 0.990, 0.981), (10.0, 0.9999, 0.995)):
        view, method = sv.privacy.CuriousNodes([0]), sv.SealedGossip(seal)
        left = sv.privacy.audit(graph, method, fired, view, prior, steps=[2000]).posterior_std[near] / prior
        assert left.min() == pytest.approx(audited, abs=5e-4)
        promised = sealed_std(graph.edges, 100, [0], seal_std=seal, prior_std=prior)[near] / prior
        assert promised.min() == pytest.approx(least, abs=5e-4)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("flat", [True, False])
def test_the_worst_coalition_is_the_worst_of_all(seed, flat):
    """Trying every coalition by hand finds the same deviation, and the named coalition attains it."""
    n, edges, seals, prior, _ = random_problem(seed)
    options = {"seal_std": seals, "prior_std": None if flat else prior}
    for size in range(1, n):
        found = worst_coalition(edges, n, size=size, **options)
        for i in range(n):
            others = [k for k in range(n) if k != i]
            least = min(sealed_std(edges, n, c, **options)[i] for c in itertools.combinations(others, size))
            assert found.std[i] == pytest.approx(least, rel=1e-9, abs=1e-12)
            assert i not in found.members[i]
            assert sealed_std(edges, n, found.members[i], **options)[i] == pytest.approx(least, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(15))
def test_a_larger_coalition_knows_more(seed):
    """Adding a member never raises what is left of anybody's value."""
    n, edges, seals, prior, coalition = random_problem(seed)
    for cut in range(len(coalition)):
        fewer = sealed_std(edges, n, coalition[:cut], seal_std=seals, prior_std=prior)
        more = sealed_std(edges, n, coalition[: cut + 1], seal_std=seals, prior_std=prior)
        assert (more <= fewer * (1 + 1e-9) + 1e-12).all()


def test_huge_seals_leave_what_the_sum_leaves():
    """With seals 10¹² times the prior exactly the sum of the component is known: τ √(1 − 1/h)."""
    graph = sv.graphs.grid(4, 5)
    left = sealed_std(graph.edges, 20, [0], seal_std=1e12, prior_std=1.0)
    assert left[1:] == pytest.approx(np.sqrt(1 - 1 / 19), rel=1e-9)


def test_no_digit_is_lost_between_very_different_scales():
    """Seals and priors up to 10¹² apart: every entry of P − P(P + S)⁻¹P agrees with exact fractions to 13 digits."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    seals, prior = [10**6, Fraction(1, 10**6), 3, Fraction(1, 1000), 10**3], [1, Fraction(1, 10**4), 10**6, 7]
    S = [[Fraction(0)] * 4 for _ in range(4)]
    for (i, j), s in zip(edges, seals, strict=True):
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            S[a][b] += sign * Fraction(s) ** 2
    total = [[S[a][b] + (Fraction(prior[a]) ** 2 if a == b else 0) for b in range(4)] for a in range(4)]
    exact = np.empty((4, 4))
    for b in range(4):
        column = solve(total, [S[a][b] for a in range(4)])
        exact[:, b] = [float(Fraction(prior[a]) ** 2 * column[a]) for a in range(4)]
    found = sealed_covariance(edges, 4, [], seal_std=np.array(seals, float), prior_std=np.array(prior, float))
    np.testing.assert_allclose(found, exact, rtol=1e-13)


def test_what_cannot_be_answered_is_refused():
    """Too many coalitions, a node that does not exist, a negative seal: each error names what is wrong."""
    ring = sv.graphs.cycle(200)
    with pytest.raises(errors.Unsupported, match="1,313,400 coalitions of 3"):
        worst_coalition(ring.edges, 200, size=3, seal_std=1.0, prior_std=1.0)
    with pytest.raises(errors.InvalidParameter, match="coalition"):
        sealed_std(TRIANGLE, 3, [3], seal_std=1.0)
    with pytest.raises(errors.InvalidParameter, match="seal_std"):
        sealed_std(TRIANGLE, 3, [0], seal_std=[1.0, -1.0, 1.0])
    with pytest.raises(errors.InvalidParameter, match="prior_std"):
        sealed_std(TRIANGLE, 3, [0], seal_std=1.0, prior_std=0.0)
    with pytest.raises(errors.InvalidParameter, match="different nodes"):
        sealed_std([(0, 3)], 3, [0], seal_std=1.0)


def test_a_peer_can_import_it():
    """Nothing heavier than NumPy is loaded."""
    code = (
        "import sys, sottovoce.privacy.gaussian.seals\n"
        "print([m for m in ('scipy', 'numba', 'networkx', 'matplotlib') if m in sys.modules])"
    )
    path = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)
    assert out.stdout.strip() == "[]"
