"""What is known of the structured families without computing."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce import graphs

from .strategies import without_family

FAMILIES = st.one_of(
    st.builds(graphs.cycle, st.integers(3, 40)),
    st.builds(graphs.path, st.integers(2, 40)),
    st.builds(graphs.complete, st.integers(2, 20)),
    st.builds(graphs.star, st.integers(2, 20)),
    st.builds(graphs.grid, st.integers(1, 6), st.integers(2, 6)),
    st.builds(graphs.torus, st.integers(3, 6), st.integers(3, 6)),
    st.builds(graphs.hypercube, st.integers(1, 5)),
)


@given(FAMILIES)
def test_closed_forms_equal_what_is_computed(graph):
    """α against the eigenvalues of the matrix and the diameter against a search, also where n = 2."""
    found = graphs.connectivity(graph)
    assert found.solver == "closed form"
    spectrum = np.linalg.eigvalsh(graphs.laplacian(without_family(graph)).toarray())
    assert found.value == pytest.approx(spectrum[1], rel=1e-11)
    assert graphs.diameter(graph) == nx.diameter(graph.to_networkx())


def test_closed_forms_do_not_lose_digits_on_long_rings():
    """2(1 − cos x) would be wrong in the seventh digit at n = 10⁶; the series gives the value."""
    x = 2 * math.pi / 10**6
    assert sv.algebraic_connectivity(graphs.cycle(10**6)) == pytest.approx(x**2 - x**4 / 12, rel=1e-14)
