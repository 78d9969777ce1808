from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods.noise_insertion import information
from sottovoce.privacy.firewall import expected_information, firewall_law, firewall_std, price_of_hiding
from sottovoce.simulation import fired_edges

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8)


def random_problem(seed: int) -> tuple[sv.Graph, sv.NoiseInsertion, np.ndarray, np.ndarray]:
    """A graph with a cycle, σ and φ per node (zero too), priors, and chances of the edges."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.complete(4), sv.graphs.cycle(5), sv.graphs.barbell(3), sv.graphs.grid(2, 3)][seed % 4]
    n = graph.num_nodes
    method = sv.NoiseInsertion(rng.choice([0.0, 0.5, 1.0, 2.0], n), rng.choice([0.0, 0.5, 0.8, 0.9], n))
    return graph, method, rng.uniform(0.5, 3.0, n), rng.dirichlet(2.0 * np.ones(graph.num_edges))


def first_meeting(graph: sv.Graph, fired: np.ndarray, i: int, j: int) -> tuple[int, int, int] | None:
    """Step of the first firing of edge (i, j), and how often i and j had acted before it."""
    pairs = [set(edge) for edge in graph.edges[fired].tolist()]
    if {i, j} not in pairs:
        return None
    step = pairs.index({i, j})
    return step, sum(i in pair for pair in pairs[:step]), sum(j in pair for pair in pairs[:step])


@pytest.mark.parametrize("seed", range(24))
def test_what_two_keep_is_kept_for_ever(seed):
    """On random runs nobody ever knows one of two who met unheard better than the bound; everybody but them gets there
    in the end.
    """
    graph, method, prior, chances = random_problem(seed)
    fired = fired_edges(graph, num_steps=300, seed=seed, edge_probabilities=chances)
    i, j = graph.edges[int(np.random.default_rng(seed).integers(graph.num_edges))].tolist()
    met = first_meeting(graph, fired, i, j)
    assert met is not None
    std, decay = np.asarray(method.noise_std)[[i, j]], np.asarray(method.noise_decay)[[i, j]]
    bound = firewall_std(std, decay, met[1:], prior_std=prior[[i, j]])
    others = [node for node in range(graph.num_nodes) if node not in (i, j)]
    report = sv.privacy.audit(graph, method, fired, sv.privacy.CuriousNodes(others), prior)
    assert (report.history[:, [i, j]] >= bound * (1 - 1e-7) - 1e-12).all()
    assert report.posterior_std[[i, j]] == pytest.approx([bound, bound], rel=2e-3, abs=1e-6)
    fewer = sv.privacy.audit(graph, method, fired, sv.privacy.CuriousNodes(others[:1]), prior)
    assert (fewer.posterior_std[[i, j]] >= bound * (1 - 1e-7) - 1e-12).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_law_is_that_of_schedules(seed):
    """The law of the bound is what 2 000 random schedules show, and true deviations are above it."""
    graph, method, prior, chances = random_problem(seed)
    node, curious = 0, [int(graph.neighbours_of(0)[0])]
    law = firewall_law(graph, method, node, curious, prior_std=prior, edge_probabilities=chances)
    assert law.chances.sum() == pytest.approx(1.0)
    std, decay = np.asarray(method.noise_std), np.asarray(method.noise_decay)
    found, replicas = np.zeros(2000), 2000
    for replica in range(replicas):
        fired = fired_edges(graph, num_steps=150, seed=seed, replica=replica, edge_probabilities=chances)
        ends = graph.edges[fired]
        unheard = (ends == node).any(axis=1) & ~np.isin(ends, curious).any(axis=1)
        if unheard.any():
            step = int(np.argmax(unheard))
            partner = int(ends[step].sum()) - node
            shown = np.array([np.sum(ends[:step] == node), np.sum(ends[:step] == partner)])
            pair = [node, partner]
            known = information(std[pair], decay[pair], shown).sum() + (prior[pair] ** -2.0).sum()
            found[replica] = known**-0.5
    for std_kept in np.quantile(found, [0.1, 0.3, 0.6, 0.9]) * 0.999:
        share = law.kept(std_kept)
        assert abs((found >= std_kept).mean() - share) < 5 * math.sqrt(max(share * (1 - share), 1e-3) / replicas)
    assert abs(found.mean() - law.mean) < 5 * found.std() / math.sqrt(replicas) + 1e-9


@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_quantiles_of_the_law_are_promises(probability):
    """In at least that share of runs the exact posterior keeps the quantile; on a triangle, in hardly more."""
    graph = sv.graphs.complete(3)
    promised = firewall_law(graph, NOISY, 1, [0], prior_std=10.0).quantile(probability)
    found = sv.privacy.exposure_quantile(
        graph, NOISY, num_steps=60, coalitions=[[0]], nodes=[1], prior_std=10.0, schedules=400, seed=2
    )
    low, high = found.kept(promised * (1 - 1e-6))
    assert high >= probability
    assert low <= probability + 0.15  # the law has atoms


def test_waits_are_geometric_on_a_star_of_edges():
    """With a heard and an unheard edge of equal chance, and a partner with no other edge, T is geometric with s = ½."""
    graph = sv.graphs.path(3)
    law = firewall_law(graph, sv.NoiseInsertion(1.0, 0.5), 1, [0], prior_std=1.0)
    for t in range(6):
        std = float((2.0 + information(1.0, 0.5, t)) ** -0.5)
        assert law.chances[np.isclose(law.std, std, rtol=1e-12)].sum() == pytest.approx(0.5 ** (t + 1))


def test_expected_information_is_the_sum_over_waits():
    """The closed form equals the series, and its reciprocal bounds the expected variance from below."""
    for std, decay, share in ((1.0, 0.9, 0.3), (2.0, 0.5, 0.2), (0.5, 0.95, 0.89), (1.0, 0.7, 0.0)):
        t = np.arange(4000)
        waits = (1 - share) * share**t
        with np.errstate(invalid="ignore"):
            terms = np.where(waits > 0, waits * np.minimum(information(std, decay, t), 1e300), 0.0)
        assert expected_information(std, decay, share) == pytest.approx(terms.sum(), rel=1e-6)
        variance = (waits / (2.0 + information(std, decay, t))).sum()
        assert variance >= 1 / (2.0 + expected_information(std, decay, share)) * (1 - 1e-12)
    assert expected_information(1.0, 0.5, 0.3) == math.inf
    assert expected_information(0.0, 0.5, 0.1) == math.inf
    assert expected_information(1.0, 0.0, [0.0, 0.1]).tolist() == [0.0, math.inf]


def test_without_an_honest_neighbour_nothing_is_promised():
    """A leaf whose only neighbour is curious: the law is zero."""
    law = firewall_law(sv.graphs.star(4), NOISY, 2, [0])
    assert law.std.tolist() == [0.0]
    assert law.quantile(0.5) == law.mean == law.kept(1e-9) == 0.0


@pytest.mark.parametrize("seed", range(10))
def test_the_price_is_paid_in_every_run(seed):
    """On random runs with random σ_i, φ_i the expected error is at least the price of what each node still hides."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.cycle(5), sv.graphs.star(5), sv.graphs.complete(4)][seed % 3]
    n = graph.num_nodes
    method = sv.NoiseInsertion(rng.uniform(0.1, 2.0, n), rng.uniform(0.3, 0.99, n))
    columns = 1000  # every column has noise of its own on the same schedule
    run = sv.simulate(graph, np.zeros((n, columns)), method, num_steps=12 + 4 * seed, seed=seed, record=1)
    counts = run.activations
    hidden = np.where(counts > 0, information(method.noise_std, method.noise_decay, np.maximum(counts, 1)) ** -0.5, 0.0)
    error = 0.5 * run.squared_error[-1] / columns
    assert error >= price_of_hiding(hidden, n) * (1 - 5 * math.sqrt(2 * n / columns))


def test_one_draw_that_stays_attains_the_price():
    """Its error ends at h²/2 on average, on an irregular graph as well: within five standard errors."""
    graph, hidden = sv.graphs.star(6), 0.3
    method = sv.BudgetedNoiseInsertion.with_draws(1, hidden_std=hidden)
    run = sv.simulate(graph, np.zeros((6, 4000)), method, num_steps=2000, seed=1, record=1)
    error = 0.5 * run.squared_error[-1] / 4000
    price = price_of_hiding(hidden, 6)
    assert price == pytest.approx(hidden**2 / 2)
    assert abs(error - price) < 5 * price * math.sqrt(2 / 4000)
    assert method.guarantee(graph).remaining / 2 == pytest.approx(price)


def test_what_cannot_be_answered_is_refused():
    """Each error names what is wrong."""
    with pytest.raises(errors.InvalidParameter, match="coalition"):
        firewall_law(sv.graphs.cycle(4), NOISY, 1, [1])
    with pytest.raises(errors.Unsupported, match="seals"):
        firewall_law(sv.graphs.cycle(4), sv.SealedGossip(1.0), 1, [0])
    with pytest.raises(errors.InvalidParameter, match="messages"):
        firewall_std(1.0, 0.5, (-1, 0))
    with pytest.raises(errors.InvalidParameter, match="hidden_std"):
        price_of_hiding(-1.0, 3)
    assert firewall_std(1.0, 0.5, (0, 0)) == math.inf
    assert firewall_std(0.0, 0.5, (0, 1), prior_std=1.0) == 0.0
