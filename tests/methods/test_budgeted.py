from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods.budgeted import affordable_draws
from sottovoce.methods.noise_insertion import information
from sottovoce.methods.released import FrozenNoise
from sottovoce.simulation.random.streams import normals_of

from ..agreement.exact_gaussian import Transcript
from .equations import assert_equation
from .settings import GRAPH, VALUES


def equation(method, replay):
    """Algorithm 1; a node whose next message would exceed the budget keeps the noise it has."""
    n = replay.graph.num_nodes
    std, decay = np.broadcast_to(method.noise_std, n), np.broadcast_to(method.noise_decay, n)
    x, u, t = replay.values, np.zeros(n), np.zeros(n)
    yield x
    for step, row in enumerate(replay.edges()):
        for node, draw in zip((row.argmax(), row.argmin()), normals_of(replay.stream.words(step)), strict=True):
            sizes = std[node] * decay[node] ** np.arange(t[node] + 1)
            if sizes.all() and (sizes**-2.0).sum() <= method.hidden_std**-2.0 * (1 + 1e-9):
                x = x + (sizes[-1] * draw - u[node]) * np.eye(n)[node]
                u[node] = sizes[-1] * draw
                t[node] += 1
        x = x - 0.5 * (row @ x) * row
        yield x


@pytest.mark.parametrize(
    "method",
    [
        sv.BudgetedNoiseInsertion.with_draws(1, hidden_std=0.5),
        sv.BudgetedNoiseInsertion.with_draws(3, hidden_std=0.5, noise_decay=0.5),
        sv.BudgetedNoiseInsertion(np.linspace(0.1, 2.0, 8), np.linspace(0.0, 0.9, 8), hidden_std=0.1),
    ],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow the equation, with one draw, with several, and with σ and φ per node."""
    assert_equation(method, equation)


def test_draws_are_what_an_account_affords():
    """For random σ, φ (zero too) and h the number of draws is that of the account which peers keep."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        std, hidden = 10.0 ** rng.uniform(-2, 2, 2)
        decay = float(rng.choice([0.0, 1e-3, *rng.uniform(0, 0.999, 4)]))
        account = sv.privacy.Account(std, decay, budget=hidden**-2.0)
        assert affordable_draws(std, decay, hidden) == account.remaining()


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_a_budget_made_for_some_draws_allows_just_these(count):
    """σ for T draws spends the budget on the T-th, to the last digit, and not on an earlier or later one."""
    method = sv.BudgetedNoiseInsertion.with_draws(count, hidden_std=0.3, noise_decay=0.8)
    assert method.draws(GRAPH).tolist() == [count] * 8
    assert information(method.noise_std, 0.8, count) == pytest.approx(0.3**-2)


def test_noise_stays_once_the_budget_is_spent():
    """After T activations a node's outstanding noise never changes; before, it is that of Algorithm 1."""
    method = sv.BudgetedNoiseInsertion.with_draws(3, hidden_std=0.5, noise_decay=0.5)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=40, seed=1)
    plain = sv.simulate(GRAPH, VALUES, method.before, num_steps=40, seed=1)
    early = run.activations <= 3
    np.testing.assert_array_equal(run.outstanding_noise[early], plain.outstanding_noise[early])
    later = run.resume(200)
    assert (later.activations > 3).all()
    late = run.activations >= 3
    assert late.any()
    np.testing.assert_array_equal(run.outstanding_noise[late], later.outstanding_noise[late])


def test_what_remains_is_what_is_said():
    """The error ends at (1/n) Σ (σφ^{T−1})² on average: within five standard errors of 4 000 runs; the mean is off
    by exactly the mean of the noise in place.
    """
    std, decay = np.linspace(0.5, 3.0, 8), np.linspace(0.0, 0.9, 8)
    method = sv.BudgetedNoiseInsertion(noise_std=std, noise_decay=decay, hidden_std=0.4)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=3000, seed=2, replicas=4000, record=[3000])
    squared = run.squared_error[:, -1]
    remaining = method.guarantee(GRAPH).remaining
    assert abs(squared.mean() - remaining) < 5 * squared.std() / np.sqrt(4000)
    np.testing.assert_allclose(run.mean_offset, run.outstanding_noise.mean(axis=1), atol=1e-12)
    assert remaining >= 0.4**2


def test_one_draw_that_stays_is_the_cheapest():
    """T = 1 leaves h² for ever, the least there is; more draws leave up to 1/(1 − φ²) times as much."""
    one = sv.BudgetedNoiseInsertion.with_draws(1, hidden_std=0.3).guarantee(GRAPH).remaining
    assert one == pytest.approx(0.09)
    for count in (2, 5, 30):
        more = sv.BudgetedNoiseInsertion.with_draws(count, hidden_std=0.3, noise_decay=0.5).guarantee(GRAPH).remaining
        assert more == pytest.approx(0.09 * (1 - 0.25**count) / 0.75)


@pytest.mark.parametrize("seed", range(8))
def test_everyone_else_never_knows_more_than_promised(seed):
    """Exact inference on random runs: the best unbiased estimate that all others can make is never closer than h."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.path(3), sv.graphs.complete(3), sv.graphs.star(4)][seed % 3]
    n, hidden = graph.num_nodes, Fraction(1, 2)
    std = [Fraction(int(k), 2) for k in rng.integers(1, 7, n)]
    decay = [Fraction(int(k), 8) for k in rng.integers(0, 7, n)]
    method = sv.BudgetedNoiseInsertion(np.array(std, float), np.array(decay, float), float(hidden))
    fired = rng.integers(0, graph.num_edges, 9)
    exchanges = [tuple(graph.edges[k].tolist()) for k in fired]
    for node in range(n):
        others = set(range(n)) - {node}
        run = Transcript(n, exchanges, std, decay, others, draws=method.draws(graph).astype(int).tolist())
        acted = int(np.sum(graph.edges[fired] == node))
        if acted:
            (left,) = run.known_others_std()
            drawn = min(acted, int(method.draws(graph)[node]))
            assert left == pytest.approx(float(information(float(std[node]), float(decay[node]), drawn)) ** -0.5)
            assert left >= float(hidden) * (1 - 1e-9)


def test_what_it_releases():
    """The description says after how many draws the noise stays."""
    shown = sv.BudgetedNoiseInsertion(1.0, 0.5, 0.1).releases(GRAPH)
    assert isinstance(shown, FrozenNoise)
    assert shown.draws.tolist() == [4.0] * 8


def test_parameters_out_of_range_are_refused():
    """A first noise smaller than what is to be kept cannot be shown once; the error says so."""
    with pytest.raises(errors.InvalidParameter, match="at least hidden_std = 2"):
        sv.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.5, hidden_std=2.0)
    with pytest.raises(errors.InvalidParameter, match="hidden_std"):
        sv.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.5, hidden_std=0.0)
    with pytest.raises(errors.InvalidParameter, match="2 draws"):
        sv.BudgetedNoiseInsertion.with_draws(2, hidden_std=1.0)
    with pytest.raises(errors.InvalidParameter, match="noise_decay"):
        sv.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=1.0, hidden_std=0.5)
