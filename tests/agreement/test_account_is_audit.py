"""What a node computes alone equals the audit in which everyone else colludes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.privacy import Account, EveryoneBut, audit


@given(seed=st.integers(0, 999), decay=st.floats(0.05, 0.98), std=st.floats(0.1, 10), node=st.integers(0, 5))
def test_closed_form_equals_worst_coalition(seed: int, decay: float, std: float, node: int) -> None:
    """Information, deviation and μ of the account are those of the audit with ``EveryoneBut``, on any graph."""
    graph = sv.graphs.random_regular(6, 3, seed=seed)
    edges = np.random.default_rng(seed).integers(0, graph.num_edges, 40)
    report = audit(graph, sv.NoiseInsertion(noise_std=std, noise_decay=decay), edges, EveryoneBut(node), None)
    messages = int((graph.edges[edges] == node).sum())
    account = Account(noise_std=std, noise_decay=decay).spend(messages)
    assert report.posterior_std[node] == pytest.approx(account.std, rel=1e-9)
    assert report.fisher_information[node] == pytest.approx(account.information, rel=1e-9)
    assert report.mu(0.7)[node] == pytest.approx(account.mu(0.7), rel=1e-9)


def test_five_thousand_exchanges() -> None:
    """They agree as long as anything is left of the noise."""
    graph = sv.graphs.cycle(5)
    edges = np.random.default_rng(1).integers(0, 5, 5_000)
    report = audit(graph, sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9), edges, EveryoneBut(2))
    messages = int((graph.edges[edges] == 2).sum())
    account = Account(noise_std=1.0, noise_decay=0.9).spend(messages)
    assert account.std < 1e-80
    assert report.flat_std[2] == pytest.approx(account.std, rel=1e-9)
    assert report.disclosed[2]
