"""Attacks on what ``plan`` promises: run the plan thousands of times, and count how often the promise was kept.

A share of runs is compared with the promise by an exact binomial test: the promise is broken if a share this low has a
chance below 10⁻⁴ under it. In the other direction, what is kept more often than needed must say that it is cautious.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import sottovoce as sv
from sottovoce.methods.noise_insertion import information

RUNS = 4000


def a_graph(rng: np.random.Generator) -> sv.Graph:
    """Small, of many kinds."""
    size, seed = int(rng.integers(3, 13)), int(rng.integers(1000))
    kinds = [
        lambda: sv.graphs.cycle(size),
        lambda: sv.graphs.complete(size),
        lambda: sv.graphs.star(size),
        lambda: sv.graphs.path(min(size, 6)),
        lambda: sv.graphs.random_geometric(size + 3, seed=seed),
        lambda: sv.graphs.complete(2),
    ]
    return kinds[int(rng.integers(len(kinds)))]()


def assert_kept(kept: int, runs: int, probability: float) -> None:
    """So few would be a broken promise."""
    assert scipy.stats.binom.cdf(kept, runs, probability) > 1e-4, f"{kept}/{runs} against {probability}"


def relative_errors(found: sv.theory.Plan, runs: int, seed: int, batches: int) -> np.ndarray:
    """‖x − c̄‖²/‖c − c̄‖² of runs with normal values, new ones in every batch."""
    rng = np.random.default_rng(seed)
    errors = []
    for batch in range(batches):
        values = found.value_std * rng.normal(size=found.graph.num_nodes)
        run = sv.simulate(
            found.graph, values, found.method, num_steps=found.num_steps, seed=seed + 7 * batch,
            replicas=runs // batches, record=[found.num_steps], threads=1, progress=False,
        )  # fmt: skip
        errors.append(np.atleast_2d(run.relative_error)[:, -1])
    return np.concatenate(errors)


def try_accuracy(seed: int, batches: int) -> None:
    """σ or φ or the steps are open; the wanted error is met as often as promised."""
    rng = np.random.default_rng(seed)
    graph, probability = a_graph(rng), float(rng.choice([0.5, 0.8, 0.95]))
    wishes = {"relative_error": float(10 ** rng.uniform(-4, -1)), "value_std": float(rng.uniform(0.3, 3.0))}
    if seed % 3 == 0:
        wishes |= {"noise_std": float(rng.uniform(0.1, 3.0)), "noise_decay": float(rng.uniform(0.2, 0.95))}
    else:
        quiet = sv.theory.plan(graph, relative_error=0.02 * wishes["relative_error"], noise_std=0.0)
        wishes |= {"num_steps": 20 + 3 * quiet.num_steps}
        if seed % 3 == 1:
            wishes |= {"noise_std": float(rng.uniform(0.1, 2.0))}
    found = sv.theory.plan(graph, probability=probability, **wishes)  # type: ignore[arg-type]
    assert found.feasible, found
    met = int(np.sum(relative_errors(found, RUNS, seed, batches) <= wishes["relative_error"]))
    assert_kept(met, RUNS, probability)
    if found.error_from == "markov":
        assert any("cautious" in reason for reason in found.reasons)
    else:  # bisection of the expected error stops at some percent, and 2 000 runs leave two more
        assert met / RUNS <= probability + 0.5 * (1 - probability) + 0.05, f"{met}/{RUNS} against {probability}"


@pytest.mark.parametrize("seed", range(3))
def test_wanted_error_is_met_as_often_as_promised_on_a_sample(seed: int) -> None:
    """Three of the problems that the slow test tries: steps, φ, or σ and φ were open."""
    try_accuracy(seed, batches=400)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(3, 60))
def test_wanted_error_is_met_as_often_as_promised(seed: int) -> None:
    """4 000 fresh runs with normal values of their own meet the wanted error in the promised share at the least."""
    try_accuracy(seed, batches=4000)


def try_hiding(seed: int) -> None:
    """σ and φ are given; everyone else together stays as ignorant at all nodes as promised."""
    rng = np.random.default_rng(seed)
    graph, probability = a_graph(rng), float(rng.choice([0.5, 0.8, 0.95]))
    std, decay = float(rng.uniform(0.5, 3.0)), float(rng.uniform(0.3, 0.97))
    wish = std * float(rng.uniform(0.02, 0.5))
    found = sv.theory.plan(graph, noise_std=std, noise_decay=decay, hidden_std=wish, probability=probability)
    assert found.hidden_probability == probability
    run = sv.simulate(
        graph, np.zeros(graph.num_nodes), found.method, num_steps=found.num_steps, seed=seed, replicas=RUNS,
        record=[found.num_steps], threads=1, progress=False,
    )  # fmt: skip
    with np.errstate(divide="ignore"):
        left = np.min(1 / np.sqrt(information(std, decay, run.activations)), axis=1)
    assert_kept(int(np.sum(left >= wish * (1 - 1e-9))), RUNS, probability)
    assert_kept(int(np.sum(left >= found.hidden_std * (1 - 1e-9))), RUNS, probability)


@pytest.mark.parametrize("seed", range(8))
def test_every_value_stays_hidden_as_often_as_promised_on_a_sample(seed: int) -> None:
    """Eight of the problems that the slow test tries."""
    try_hiding(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8, 80))
def test_every_value_stays_hidden_as_often_as_promised(seed: int) -> None:
    """In 4 000 runs the counts of all nodes at once leave the promised deviation in the promised share."""
    try_hiding(seed)


def test_the_published_counterexamples() -> None:
    """Star of 20, σ = 1, ± 0.05 with 95 %: kept in 95 % of runs at all nodes, where single quantiles kept 35 %."""
    graph = sv.graphs.star(20)
    found = sv.theory.plan(graph, noise_std=1.0, hidden_std=0.05, probability=0.95)
    run = sv.simulate(
        graph, np.zeros(20), found.method, num_steps=found.num_steps, seed=5, replicas=RUNS, record=[found.num_steps],
        threads=1, progress=False,
    )  # fmt: skip
    known = np.max(information(1.0, found.noise_decay, run.activations), axis=1)
    assert_kept(int(np.sum(known <= 0.05**-2)), RUNS, 0.95)
    longer = sv.theory.count_probability(
        graph, found.num_steps + 1, sv.methods.budgeted.affordable_draws(1.0, found.noise_decay, 0.05)
    )
    assert longer.high < 0.95


def try_neighbours(seed: int, schedules: int) -> None:
    """A wish against neighbours: exact audits of random schedules keep it as often as promised."""
    rng = np.random.default_rng(seed)
    graph = [sv.graphs.complete(3), sv.graphs.complete(4), sv.graphs.cycle(5), sv.graphs.star(4)][seed % 4]
    probability, wish = float(rng.choice([0.5, 0.8])), float(rng.uniform(0.1, 0.5))
    wish = min(wish, 0.15) if graph.degrees.min() == 1 else wish  # a leaf hides from its neighbour at a price
    found = sv.theory.plan(graph, relative_error=0.05, neighbour_std=wish, probability=probability, runs=1000)
    assert found.feasible, found
    assert found.neighbour_std is not None
    assert found.neighbour_std >= 0.995 * wish
    exposed = sv.privacy.exposure_quantile(
        graph,
        found.method,
        num_steps=min(found.num_steps, 150),
        probability=probability,
        schedules=schedules,
        seed=seed,
    )
    kept = int(np.sum(exposed.left.min(axis=1) >= 0.99 * wish))
    assert_kept(kept, schedules, probability)


@pytest.mark.parametrize("seed", range(2, 4))
def test_neighbours_are_left_with_what_was_promised_on_a_sample(seed: int) -> None:
    """Two of the problems that the slow test tries, forty schedules each."""
    try_neighbours(seed, 40)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [0, 1, *range(4, 54)])
def test_neighbours_are_left_with_what_was_promised(seed: int) -> None:
    """300 random schedules, every neighbour of every node audited exactly."""
    try_neighbours(seed, 300)
