"""One threat model for all methods: who listens, for how long, and that what they are left with is what audits say."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.experiments.compare import customary_methods
from sottovoce.experiments.observers import Observers

RING = sv.graphs.cycle(6)


def observers(graph=RING, nodes=None, **change):
    how = {"schedules": 3, "heard": 5, "prior_std": 2.0, "seed": 4} | change
    return Observers.chosen(graph, nodes, **how)


def test_never_silently_node_0():
    """Small graphs: every node. Larger ones: some, drawn, which change with the seed. Beyond 200 nodes: nobody."""
    assert observers().nodes == tuple(range(6))
    middle = sv.graphs.cycle(40)
    drawn = observers(middle)
    assert len(set(drawn.nodes)) == 6
    assert drawn.nodes == observers(middle).nodes
    assert len({observers(middle, seed=seed).nodes for seed in range(8)}) == 8
    assert len(observers(sv.graphs.cycle(100)).nodes) == 3
    assert observers(sv.graphs.cycle(201)).nodes == ()
    assert "drawn from the seed" in drawn.words
    assert observers(nodes=[5, 2, 5]).words.startswith("node 5, node 2 alone listens for 5 messages")


def test_all_methods_are_heard_for_the_same_messages():
    """The steps that are listened to send 2m × heard messages, whatever a step is, or all that the run has."""
    seen = observers()
    for method in customary_methods(RING):
        each = method.messages_per_step(RING)
        assert 0 <= 60 - seen.length(method, 10**6) * each < each, method.name
        assert seen.length(method, 2) <= 2


@pytest.mark.parametrize("method", customary_methods(RING), ids=lambda method: method.label())
def test_what_is_left_is_what_the_audit_says(method):
    """For every observer, neighbour and schedule: the posterior deviation of ``privacy.audit`` over the prior one."""
    seen = observers(nodes=[0, 3])
    released = method.releases(RING)
    length = seen.length(method, 10**6)
    run = sv.simulate(RING, np.arange(6.0), method, num_steps=length, seed=4, replicas=3)
    try:
        left = seen.left(method, 10**6, careful=True)
    except errors.Unsupported:
        assert seen.leak(method, 10**6).words == released.words
        return
    assert left.shape == (1 if released.in_rounds else 3, 4)
    for replica in range(len(left)):
        fired = length if released.in_rounds else run.fired_edges(replica=replica)
        expected = [
            sv.privacy.audit(RING, method, fired, sv.privacy.CuriousNodes([node]), 2.0).posterior_std[near] / 2.0
            for node in (0, 3)
            for near in RING.neighbours_of(node).tolist()
        ]
        np.testing.assert_allclose(left[replica], expected, rtol=1e-9, atol=1e-12)


def test_median_and_worst_are_over_pairs_and_then_over_schedules():
    """The value is the median over schedules, the interval their smallest and largest."""
    seen, method = observers(), sv.NoiseInsertion(1.0, 0.8)
    left, leak = seen.left(method, 100), seen.leak(method, 100)
    assert leak.median == (np.median(np.median(left, axis=1)), *np.quantile(np.median(left, axis=1), [0, 1]))
    assert leak.worst == (np.median(left.min(axis=1)), *np.quantile(left.min(axis=1), [0, 1]))
    assert leak.worst.value < leak.median.value
    assert (leak.known, leak.exact, leak.epsilon) == (0.0, True, None)


def test_laplace_noise_has_an_epsilon_and_a_linear_estimate():
    """ε for values one prior deviation apart; what is left is marked as no exact posterior."""
    leak = observers().leak(sv.Nozari(noise_scale=1.0, noise_decay=0.0), 100)
    assert leak.epsilon == pytest.approx(2.0)
    assert not leak.exact
    assert leak.median.value == pytest.approx((1 / 4 + 1 / 2) ** -0.5 / 2.0)


def test_where_digits_do_not_suffice_there_is_no_number(monkeypatch):
    """Systems with memory go through the audit that checks its rounding; what it leaves open is said, not shown."""
    open_question = SimpleNamespace(posterior_std=np.full(6, np.nan))
    monkeypatch.setattr("sottovoce.experiments.observers.audit", lambda *_, **__: open_question)
    leak = observers().leak(sv.StateDecomposition(noise_std=1.0, secret_weight_std=0.0), 50)
    assert leak.median is None
    assert leak.words == "digits did not suffice"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schedules": 0}, "schedules"),
        ({"heard": 0}, "heard"),
        ({"prior_std": 0.0}, "prior_std"),
        ({"nodes": [9]}, "9"),
    ],
)
def test_bad_input_is_named(change, says):
    """What is wrong is said with what is allowed."""
    with pytest.raises(errors.InvalidParameter, match=says):
        observers(**change)
