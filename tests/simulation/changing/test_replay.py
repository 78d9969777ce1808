"""What happened is recomputed from the seed, and nothing is handed to an audit that does not describe the run."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import Unsupported

GRAPH = sv.graphs.random_geometric(12, seed=1)
VALUES = np.random.default_rng(0).normal(size=12)


def simulated(stages, method=None, **how):
    how = {"num_steps": 400, "seed": 7} | how
    return sv.simulate(GRAPH, VALUES, method or sv.StandardGossip(), stages=stages, **how)


def test_losing_messages_changes_neither_edges_nor_draws():
    """What is lost is drawn from addresses of its own."""
    clear, lossy = simulated(None), simulated(sv.Stage(loss=0.3))
    np.testing.assert_array_equal(clear.fired_edges(), lossy.exchanges().edges)
    assert np.all(clear.exchanges()[1:])
    assert not lossy.exchanges().first_acted.all()


def test_replicas_and_parts_have_exchanges_of_their_own():
    """Any part of any replica is the same as that part of the whole."""
    run = simulated([sv.Stage(loss=0.3), sv.Stage(100, down=[2])], replicas=2)
    for replica in (0, 1):
        whole, part = run.exchanges(replica=replica), run.exchanges(90, 130, replica=replica)
        for a, b in zip(whole, part, strict=True):
            np.testing.assert_array_equal(a[90:130], b)
    assert (run.exchanges(replica=0).edges != run.exchanges(replica=1).edges).any()


def test_how_often_messages_are_lost():
    """Calls are lost with probability p, answers with p of the rest, and half of those leave the first end alone."""
    run = simulated(sv.Stage(loss=0.3), num_steps=200_000, record=[])
    some = run.exchanges()
    nobody = ~some.first_acted & ~some.second_acted
    alone = some.first_acted & ~some.second_acted
    assert nobody.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 2e5))
    assert alone.mean() == pytest.approx(0.7 * 0.3 / 2, abs=4 * np.sqrt(0.1 / 2e5))
    assert (some.first_acted & some.second_acted).mean() == pytest.approx(0.49, abs=4 * np.sqrt(0.25 / 2e5))


def test_nobody_acts_with_a_node_that_is_down_or_gone():
    """Activations of such a node stay where they were; all others count the ends that acted."""
    run = simulated([sv.Stage(loss=0.1), sv.Stage(200, down=[2], gone=[5])])
    before = simulated([sv.Stage(loss=0.1)], num_steps=200)
    assert run.activations[2] == before.activations[2]
    assert run.activations[5] == before.activations[5]
    some = run.exchanges()
    assert run.activations.sum() == some.first_acted.sum() + some.second_acted.sum()


def test_clocks_of_stages_decide_what_fires():
    """Edges, their probabilities and clocks of nodes hold from their stage on; such edges can be audited."""
    chances = np.zeros(GRAPH.num_edges)
    chances[3] = 1.0
    run = simulated([sv.Stage(), sv.Stage(100, edges=GRAPH.edges[5:8]), sv.Stage(250, edge_probabilities=chances)])
    fired = run.fired_edges()
    np.testing.assert_array_equal(fired[:100], simulated(None).fired_edges()[:100])
    assert set(fired[100:250].tolist()) == {5, 6, 7}
    assert set(fired[250:].tolist()) == {3}
    view = sv.privacy.CuriousNodes([0])
    report = sv.privacy.audit(GRAPH, run.method, fired, view)
    attack = sv.privacy.attack(run, view)
    np.testing.assert_allclose(attack.std, report.posterior_std, atol=1e-9)


@pytest.mark.parametrize(
    "stage", [sv.Stage(loss=0.1), sv.Stage(down=[1]), sv.Stage(gone=[1]), sv.Stage(50, values={1: 3.0})]
)
@pytest.mark.parametrize("method", [sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.9)], ids=["standard", "noise"])
def test_no_audit_is_given_what_did_not_happen(stage, method):
    """Where edges do not say what happened, they, the attack and the reconstruction are refused: not analysed."""
    stages = [sv.Stage(), stage] if stage.start else stage
    run, view = simulated(stages, method), sv.privacy.CuriousNodes([0])
    with pytest.raises(Unsupported, match="not analysed"):
        run.fired_edges()
    with pytest.raises(Unsupported, match="not analysed"):
        sv.privacy.attack(run, view)
    if method.name == "standard":
        with pytest.raises(Unsupported, match="not analysed"):
            sv.privacy.reconstruct(run, view)


def test_exchanges_are_those_of_pairs():
    """A method in rounds has none."""
    run = sv.simulate(GRAPH, VALUES, sv.PushSum(), num_steps=5, seed=1, stages=sv.Stage(loss=0.1))
    with pytest.raises(Unsupported, match="one edge fires at a time, got push-sum"):
        run.exchanges()
