"""The fixed public names, called as users call them, with the shapes they are promised."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import sottovoce as sv

NODES, STEPS, REPLICAS = 10, 60, 3
VALUES = np.random.default_rng(1).normal(size=NODES)


@pytest.fixture(scope="module")
def graph() -> sv.Graph:
    return sv.graphs.cycle(NODES)


@pytest.fixture(scope="module")
def method() -> sv.NoiseInsertion:
    return sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)


@pytest.fixture(scope="module")
def run(graph: sv.Graph, method: sv.NoiseInsertion) -> sv.Solution:
    return sv.simulate(graph, VALUES, method, num_steps=STEPS, seed=1, replicas=1, record=None, edge_probabilities=None)


@pytest.mark.parametrize(
    ("make", "num_nodes"),
    [
        (lambda: sv.graphs.cycle(10), 10),
        (lambda: sv.graphs.complete(5), 5),
        (lambda: sv.graphs.path(4), 4),
        (lambda: sv.graphs.star(6), 6),
        (lambda: sv.graphs.grid(2, 3), 6),
        (lambda: sv.graphs.torus(3, 4), 12),
        (lambda: sv.graphs.hypercube(3), 8),
        (lambda: sv.graphs.random_geometric(12, radius=None, seed=1), 12),
        (lambda: sv.graphs.random_geometric(12, radius=0.9, seed=1), 12),
        (lambda: sv.graphs.random_regular(8, 3, seed=1), 8),
        (lambda: sv.graphs.erdos_renyi(8, 0.7, seed=1), 8),
        (lambda: sv.graphs.watts_strogatz(8, 4, 0.1, seed=1), 8),
        (lambda: sv.graphs.barabasi_albert(8, 2, seed=1), 8),
        (lambda: sv.graphs.barbell(4), 8),
        (lambda: sv.Graph.from_edges([(0, 1), (1, 2)], num_nodes=None), 3),
        (lambda: sv.Graph.from_edges([(0, 1), (1, 2)], num_nodes=3), 3),
        (lambda: sv.Graph.from_networkx(nx.cycle_graph(5)), 5),
        (lambda: sv.Graph.from_scipy(nx.to_scipy_sparse_array(nx.path_graph(4))), 4),
    ],
)
def test_graphs(make: Callable[[], sv.Graph], num_nodes: int) -> None:
    """Every way to a graph gives n nodes, each edge once, degrees that add up, and a way back to networkx."""
    graph = make()
    assert graph.num_nodes == num_nodes
    assert graph.edges.shape == (graph.num_edges, 2)
    assert np.issubdtype(graph.edges.dtype, np.integer)
    assert len({frozenset(edge) for edge in graph.edges.tolist()}) == graph.num_edges
    assert graph.degrees.shape == (num_nodes,)
    assert graph.degrees.sum() == 2 * graph.num_edges
    assert graph.to_networkx().number_of_edges() == graph.num_edges
    assert sv.algebraic_connectivity(graph) > 0


@pytest.mark.parametrize(
    "make",
    [
        lambda graph: sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9),
        lambda graph: sv.NoiseInsertion(noise_std=np.ones(NODES), noise_decay=np.full(NODES, 0.9)),
        lambda graph: sv.NoiseInsertion.largest_free(graph, noise_std=1.0),
        lambda graph: sv.StandardGossip(),
        *(lambda graph, size=size: sv.BinaryOracle(step_size=size) for size in (0.01, "adaptive", "1/t", "1/sqrt(t)")),
        lambda graph: sv.BudgetedNoiseInsertion(noise_std=1.0, noise_decay=0.5, hidden_std=0.1),
        lambda graph: sv.SealedGossip(seal_std=10.0, noise_std=0.0, noise_decay=0.0),
        lambda graph: sv.GapOracle(gap=0.02),
        lambda graph: sv.HeavyBallGossip(momentum=0.4, relaxation=1.0),
        lambda graph: sv.AcceleratedGossip(),
        lambda graph: sv.BlockGossip(block_size=5),
        lambda graph: sv.PushSum(),
        *(
            lambda graph, weights=weights: sv.SynchronousAveraging(weights=weights)
            for weights in (
                "metropolis",
                "max-degree",
                sv.SynchronousAveraging().mixing(sv.graphs.cycle(NODES)).toarray(),
            )
        ),
        *(
            lambda graph, weights=weights: sv.MoMurray(noise_std=1.0, noise_decay=0.9, weights=weights)
            for weights in ("metropolis", "max-degree")
        ),
        lambda graph: sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=10, weights="max-degree"),
        lambda graph: sv.Nozari(noise_scale=1.0, noise_decay=0.5, weights="metropolis"),
        lambda graph: sv.Huang(noise_scale=1.0, noise_decay=0.8, weights="max-degree"),
        lambda graph: sv.PairwiseCancelling(pair_noise_std=1.0, weights="metropolis"),
    ],
)
def test_methods(graph: sv.Graph, make: Callable[[sv.Graph], sv.Method]) -> None:
    """Every method can be made with its documented parameters, fits the graph, and has a name and a label."""
    method = make(graph)
    method.validate(graph)
    assert isinstance(method, sv.Method)
    assert method.name
    assert method.label()


def test_simulate(run: sv.Solution) -> None:
    """One replica: values per node, one error per recorded step, and the fired edges recomputed."""
    assert run.values.shape == run.outstanding_noise.shape == run.activations.shape == (NODES,)
    assert run.activations.sum() == 2 * STEPS
    assert run.seed == 1
    assert str(run.status)
    assert run.relative_error.shape == run.steps.shape
    assert run.steps[0] == 0
    assert run.steps[-1] == STEPS
    assert run.relative_error[0] == pytest.approx(1.0)
    fired = run.fired_edges()
    assert fired.shape == (STEPS,)
    assert fired.min() >= 0
    assert fired.max() < NODES
    assert run.plot().axes


def test_simulate_with_replicas_vectors_and_probabilities(graph: sv.Graph, method: sv.NoiseInsertion) -> None:
    """Replicas add an axis in front, vector data one at the end, and edges may have chances of their own."""
    chances = np.linspace(1, 2, graph.num_edges)
    chances /= chances.sum()
    data = np.stack([VALUES, -VALUES], axis=1)
    many = sv.simulate(
        graph, data, method, num_steps=STEPS, seed=1, replicas=REPLICAS, record=[0, 30], edge_probabilities=chances
    )
    assert many.values.shape == (REPLICAS, NODES, 2)
    assert many.relative_error.shape == (REPLICAS, len(many.steps))
    assert sv.simulate(graph, VALUES, method, num_steps=5, replicas=2).values.shape == (2, NODES)


def test_theory(graph: sv.Graph, method: sv.NoiseInsertion) -> None:
    """Bounds and the expectation have one entry for every k = 0..num_steps, and the bounds lie above."""
    exact = sv.theory.expected_error(graph, VALUES, method, STEPS)
    assert exact.shape == (STEPS + 1,)
    assert exact[0] == pytest.approx(0.5 * np.sum((VALUES - VALUES.mean()) ** 2))
    for form in ("corrected", "printed", "sharpened"):
        bound = sv.theory.error_bound(graph, VALUES, method, STEPS, form=form)
        assert bound.shape == (STEPS + 1,)
        if form != "printed":  # which is off by one
            assert (bound >= exact * (1 - 1e-12)).all()
    assert 0 < sv.theory.contraction_factor(graph) < 1
    assert sv.theory.threshold_decay(graph).shape == (NODES,)
    found = sv.theory.plan(graph, relative_error=1e-3, noise_std=1.0)
    assert found.feasible
    assert found.num_steps > 0
    assert found.noise_std.shape == found.noise_decay.shape == (NODES,)


@pytest.mark.parametrize(
    "view",
    [sv.privacy.CuriousNodes([0]), sv.privacy.WireTap([(0, 1)]), sv.privacy.EveryoneBut(3)],
    ids=lambda view: view.describe(),
)
@pytest.mark.parametrize("prior_std", [1.0, None])
def test_privacy(
    graph: sv.Graph, method: sv.NoiseInsertion, run: sv.Solution, view: sv.privacy.View, prior_std: float | None
) -> None:
    """An audit and an attack have an entry for every node, and predict and attain the same deviation."""
    report = sv.privacy.audit(graph, method, run.fired_edges(), view, prior_std=prior_std)
    assert report.posterior_std.shape == report.disclosed.shape == (NODES,)
    assert report.disclosed.dtype == np.bool_
    assert report.history.shape == (len(report.steps), NODES)
    assert np.array_equal(report.history[-1], report.posterior_std)
    attacked = sv.privacy.attack(run, view, prior_std=prior_std)
    assert attacked.estimate.shape == (NODES,)
    np.testing.assert_allclose(attacked.std, report.posterior_std, rtol=1e-9)


def test_gdp_and_account() -> None:
    """δ and ε convert into each other, and a node can keep an account."""
    assert sv.privacy.delta(1.0, sv.privacy.epsilon(1.0, 1e-5)) == pytest.approx(1e-5)
    account = sv.privacy.Account(noise_std=1.0, noise_decay=0.5, budget=100.0)
    assert account.spend(1).remaining() == account.remaining() - 1


def test_compare(graph: sv.Graph, method: sv.NoiseInsertion) -> None:
    """A comparison prints itself, plots and exports, with a row per method."""
    found = sv.compare(graph, VALUES, [sv.StandardGossip(), method], num_steps=STEPS, seed=1, replicas=REPLICAS)
    assert [row.method for row in found.rows] == ["standard gossip", method.label()]
    assert all(row.method in str(found) for row in found.rows)
    assert len(found.to_csv().splitlines()) == 3
    assert found.plot().axes


def test_sweep(tmp_path: Path) -> None:
    """A sweep runs on any executor of concurrent.futures and finds what it stored."""
    spec = {"axes": {"graph": ["cycle:6"], "method": ["standard"], "seed": [1, 2]}, "num_steps": 20, "replicas": 1}
    with ThreadPoolExecutor(1) as executor:
        found = sv.sweep(spec, store=tmp_path / "runs", executor=executor)
    assert set(found.table()["seed"].to_pylist()) == {1, 2}


def test_peer_is_there() -> None:
    """The networked node is reached as ``sv.peer.Peer``; tests/peer run it."""
    assert callable(sv.peer.Peer)
    for name in ("settled", "estimate", "status"):
        assert hasattr(sv.peer.Peer, name)
