"""Promise: an audit calls a value disclosed only if it is, and a flat-prior deviation is never below one with a prior.

The attempts are runs in which noise falls over dozens of orders of magnitude while weights of far values do too: with
sixteen digits both questions were once answered wrongly.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.privacy import CuriousNodes, audit
from sottovoce.privacy.auditing import simulated_run
from tests.agreement.exact_gaussian import Transcript


def audited(graph, decay, observer, steps, *, seed=1, prior=1.0, **options):
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=decay)
    run = simulated_run(graph, method, num_steps=steps, seed=seed)
    return audit(graph, method, run, CuriousNodes([observer]), prior, steps=[steps], progress=False, **options)


def high_precision(graph, edges, decay, observer, prior, digits=600):
    """Posterior deviations by a plain Kalman filter on (c, value less outstanding noise) with mpmath."""
    n = graph.num_nodes
    with mpmath.workdps(digits):
        tau, phi = mpmath.mpf(prior) ** 2, mpmath.mpf(decay)
        cov = mpmath.zeros(2 * n)
        for i in range(n):
            if i != observer:
                cov[i, i] = cov[i, n + i] = cov[n + i, i] = cov[n + i, n + i] = tau
        size = [mpmath.mpf(int(i != observer)) for i in range(n)]
        for edge in edges:
            i, j = (int(k) for k in graph.edges[edge])
            if observer in (i, j):
                p = n + (j if i == observer else i)
                seen = cov[p, p] + size[p - n] ** 2
                row = [cov[p, k] for k in range(2 * n)]
                for a in range(2 * n):
                    if row[a] != 0:
                        for b in range(2 * n):
                            cov[a, b] -= row[a] * row[b] / seen
            else:
                a, b = n + i, n + j
                mean = [(cov[a, k] + cov[b, k]) / 2 for k in range(2 * n)]
                mean[a] = mean[b] = (mean[a] + mean[b]) / 2
                for k in range(2 * n):
                    cov[a, k] = cov[b, k] = cov[k, a] = cov[k, b] = mean[k]
                extra = (size[i] ** 2 + size[j] ** 2) / 4
                for x, y, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
                    cov[x, y] += sign * extra
            size[i] *= phi
            size[j] *= phi
        return np.array([float(mpmath.sqrt(abs(cov[i, i]))) for i in range(n)])


def test_thirty_nodes_whose_noise_falls_fast():
    """Two values that doubles called disclosed (± 0) are known to ± 2.9 and ± 5.2 at best, and to ± 0.79, ± 0.76 with
    a prior of 1.
    """
    report = audited(sv.graphs.random_geometric(30, seed=3), 0.1, 2, 1000)
    assert not report.disclosed[~report.observers].any()
    assert not report.undecided.any()
    assert report.flat_std[[19, 26]] == pytest.approx([2.92207649, 5.21217444], rel=1e-7)
    assert report.posterior_std[[19, 26]] == pytest.approx([0.7940041, 0.75841331], rel=1e-6)
    assert (report.flat_std >= report.posterior_std).all()


@pytest.mark.slow
def test_les_miserables():
    """Of 76 others the best connected character knows two exactly, its leaves called most often, and nobody else."""
    import networkx

    graph = sv.Graph.from_networkx(networkx.convert_node_labels_to_integers(networkx.les_miserables_graph()))
    hub = int(np.argmax(graph.degrees))
    report = audited(graph, 0.1, hub, 2000, patience=600.0)
    named = np.flatnonzero(report.disclosed & ~report.observers)
    assert (graph.degrees[named] == 1).all()
    assert not report.undecided.any()


@pytest.mark.parametrize("decay", [0.1, 0.3])
def test_deviations_are_those_of_six_hundred_digits(decay):
    """A path seen from its end: with a prior, and with a flat one as the limit of ever wider priors."""
    graph, steps = sv.graphs.path(6), 120
    report = audited(graph, decay, 0, steps)
    edges = simulated_run(graph, report.method, num_steps=steps, seed=1)
    assert report.posterior_std == pytest.approx(high_precision(graph, edges, decay, 0, 1), rel=1e-8, abs=1e-12)
    limit = high_precision(graph, edges, decay, 0, mpmath.mpf(10) ** 60)
    known = np.isfinite(report.flat_std)
    assert report.flat_std[known] == pytest.approx(limit[known], rel=1e-7, abs=1e-9)
    assert (limit[~known] > 1e50).all()


@pytest.mark.parametrize("seed", range(6))
def test_small_runs_equal_exact_fractions(seed):
    """Four nodes and φ = 1/64: flat-prior deviations are those of rational arithmetic, infinities included."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.path(4), sv.graphs.cycle(4), sv.graphs.star(4)][seed % 3]
    fired = rng.integers(0, graph.num_edges, 12)
    exact = Transcript(
        4, [tuple(graph.edges[k]) for k in fired], [Fraction(1)] * 4, [Fraction(1, 64)] * 4, observers={0}
    )
    report = audit(graph, sv.NoiseInsertion(1.0, 1 / 64), fired, CuriousNodes([0]))
    assert report.flat_std[1:] == pytest.approx(exact.flat_std(), rel=1e-8, abs=1e-9)
    assert report.posterior_std[1:] == pytest.approx(exact.posterior_std(Fraction(1)), rel=1e-8, abs=1e-9)


def test_without_patience_nobody_is_accused():
    """Where digits do not suffice and no time is given for more, the answer is *cannot decide*, never *disclosed*."""
    report = audited(sv.graphs.random_geometric(30, seed=3), 0.1, 2, 1000, patience=0.0)
    assert report.undecided.any()
    assert not report.disclosed[report.undecided].any()
    assert np.isnan(report.flat_std[report.undecided]).all()
    assert "cannot decide" in report.criterion


@pytest.mark.parametrize("seed", range(8))
def test_flat_is_never_below_a_prior_on_random_problems(seed):
    """Graph, φ and length at random, histories included: the report itself refuses to say otherwise."""
    rng = np.random.default_rng(seed)
    graph = sv.graphs.erdos_renyi(int(rng.integers(4, 12)), 0.5, seed=seed)
    report = audited(graph, float(rng.uniform(0.0, 0.6)), 0, int(rng.integers(50, 400)), seed=seed)
    assert (report.flat_history >= report.history * (1 - 1e-6)).all()
    known = report.disclosed & ~report.observers
    assert (report.posterior_std[known] <= report.tolerance).all()
