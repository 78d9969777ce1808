"""What an edge may move follows from what all members declare, and no honest network comes near it (R47)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import ConfigError
from sottovoce.graphs.distances import distances_from
from sottovoce.peer.protocol.limits import check_resolution, limits
from sottovoce.testing import SimulatedNetwork
from sottovoce.testing.settings import some_settings

DECLARED = {
    "unit": "0.001", "low": 0.0, "high": 100.0, "members": 10, "max_degree": 4, "seal_std": 50.0, "noise_std": 10.0,
    "noise_decay": 0.6,
}  # fmt: skip


def test_the_limit_is_the_formula() -> None:
    """L = ½nR + 10 s√d + 10 σ/√(1 − φ²); R in place of ½nR at a leaf; and the value limit follows."""
    found = limits(**DECLARED)  # type: ignore[arg-type]
    spread = 10 * 50 * 2 + 10 * 10 / 0.8
    assert (found.edge, found.leaf) == (round((500 + spread) * 1000), round((100 + spread) * 1000))
    assert found.value == pytest.approx((100 + 8 * (500 + spread) + 100) * 1000)
    assert (found.low, found.high) == (0, 100_000)


def test_the_edge_of_a_leaf_has_its_own_limit() -> None:
    """Whichever end the leaf is."""
    settings = some_settings("ada", leaves=frozenset({"bob"}))
    assert settings.edge_limit("bob") == settings.limits.leaf < settings.edge_limit("cyd") == settings.limits.edge
    assert some_settings("bob", leaves=frozenset({"bob"})).edge_limit("ada") == settings.limits.leaf


@pytest.mark.parametrize(
    "change",
    [{"unit": "1e-15"}, {"members": 10**16}, {"high": 1e300}, {"high": -1.0}, {"low": 1e17, "high": 2e17}],
    ids=str,
)
def test_what_could_overflow_is_refused(change: dict[str, object]) -> None:
    """A range, a number of members or a unit for which a sum might leave 64 bits never starts."""
    with pytest.raises(ConfigError):
        limits(**(DECLARED | change))  # type: ignore[arg-type]


@pytest.mark.parametrize("large", ["noise_std", "seal_std"])
def test_too_small_a_unit_beside_the_noise_is_refused(large: str) -> None:
    """unit ≥ 2⁻³² max(noise_std, seal_std), with the number that would do; at the limit it is accepted (R45)."""
    numbers = {"noise_std": 1.0, "seal_std": 1.0, large: 2.0**32 * 0.001}
    check_resolution(unit="0.001", **numbers)
    with pytest.raises(ConfigError, match=r"2\*\*-32 times"):
        check_resolution(unit="0.000999", **numbers)
    with pytest.raises(ConfigError, match=r"2\*\*-32 times"):
        some_settings(unit="0.000001", **{large: 5000.0})


def test_a_tolerance_that_cannot_be_reached_is_refused() -> None:
    """Values end a unit apart, and every neighbour may owe one more: at least 2 d + 2 units."""
    some_settings(max_degree=4, tolerance=10e-6)
    with pytest.raises(ConfigError, match="2 max_degree"):
        some_settings(max_degree=4, tolerance=9e-6)


GRAPHS = {
    "cycle": sv.graphs.cycle(12), "path": sv.graphs.path(10), "star": sv.graphs.star(10),
    "barbell": sv.graphs.barbell(5, 2), "complete": sv.graphs.complete(8),
    "geometric": sv.graphs.random_geometric(14, seed=2),
}  # fmt: skip


def largest_share(graph: sv.Graph, seed: int, seconds: float) -> float:
    """Largest |flow|/L on any edge, at any time, of an honest network in its worst mode: values at the two ends."""
    names = [f"p{k:02d}" for k in range(graph.num_nodes)]
    order = np.argsort(distances_from(graph, 0), kind="stable")
    values = {names[node]: 100.0 * (rank >= len(names) / 2) for rank, node in enumerate(order.tolist())}
    leaves = frozenset(name for name, degree in zip(names, graph.degrees, strict=True) if degree == 1)
    net = SimulatedNetwork(
        [(names[i], names[j]) for i, j in graph.edges.tolist()], values, noise_std=20.0, noise_decay=0.8, seed=seed,
        seal_std=100.0, low=0.0, high=100.0, members=graph.num_nodes, max_degree=int(graph.degrees.max()), rate=5.0,
        leaves=leaves,
    )  # fmt: skip
    worst = 0.0

    def watch() -> bool:
        nonlocal worst
        for peer in net.peers.values():
            assert peer.protocol is not None
            for other, edge in peer.protocol.state.edges.items():
                worst = max(worst, abs(float(np.max(edge.flow))) / peer.settings.edge_limit(other))
        return False

    net.run(seconds, until=watch)
    return worst


@pytest.mark.parametrize("name", ["cycle", "path", "star", "barbell"])
def test_honest_networks_stay_well_within_the_limit(name: str) -> None:
    """From the worst start, with noise and seals, no flow reaches half of L; two denser graphs are tried below."""
    assert 0.01 < largest_share(GRAPHS[name], seed=1, seconds=4.0) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), list(itertools.product(GRAPHS, range(2, 22))))
def test_honest_networks_stay_within_the_limit_often(name: str, seed: int) -> None:
    """Twenty longer runs of each graph."""
    assert largest_share(GRAPHS[name], seed=seed, seconds=30.0) < 0.6


def test_the_integers_end_a_unit_apart() -> None:
    """With a fair coin every peer ends within one unit of every other, and of the mean (R44)."""
    names = [f"p{k}" for k in range(8)]
    net = SimulatedNetwork(
        itertools.pairwise(names), {name: float(k) for k, name in enumerate(names)}, noise_std=0.5, noise_decay=0.5,
        seed=1, unit="1", tolerance=40.0, seal_std=20.0, rate=20.0, bucket_burst=1e9, bucket_refill=1e9,
    )  # fmt: skip
    assert net.run(2000.0, until=lambda: net.now > 100 and net.spread() <= 1 and net.mass_error() == 0)
    assert net.largest_error() < 1.0
    assert math.floor(net.true_mean()[0]) in {int(x[0]) for x in net.estimates().values()}
