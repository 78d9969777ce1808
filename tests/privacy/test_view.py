"""Views: frozen descriptions of who sees what."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.privacy import CuriousNodes, EveryoneBut, Pooled, WireTap, audit

PATH = sv.graphs.path(4)
NOISE = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.5)


def test_curious_nodes_hear_their_own_edges() -> None:
    """A curious node hears exactly the edges it is an end of."""
    assert CuriousNodes([1]).heard_edges(PATH).tolist() == [True, True, False]
    assert CuriousNodes([1]).observers(PATH).tolist() == [False, True, False, False]


def test_a_tap_may_be_named_by_pair_or_index() -> None:
    """Pairs in either order and edge indices name the same edges."""
    for edges in ([(2, 1)], [(1, 2)], [1], [np.int64(1)]):
        assert WireTap(edges).heard_edges(PATH).tolist() == [False, True, False]
        assert not WireTap(edges).observers(PATH).any()


def test_a_bare_pair_is_not_guessed_at() -> None:
    """``WireTap((0, 1))`` could be one edge or two indices: it is refused, and the sentence shows how to say either."""
    with pytest.raises(InvalidParameter, match=r"\[\(0, 1\)\] taps the edge .* \[0, 1\] the edges with the indices"):
        WireTap((0, 1))
    assert WireTap([(0, 1)]).heard_edges(PATH).tolist() == [True, False, False]
    assert WireTap([0, 1]).heard_edges(PATH).tolist() == [True, True, False]
    assert WireTap(((0, 1), (2, 3))).heard_edges(PATH).tolist() == [True, False, True]
    assert WireTap(PATH.edges[:2]).heard_edges(PATH).tolist() == [True, True, False]
    for unclear in ([0.5], ["01"], [(0, 1, 2)], 3):
        with pytest.raises(InvalidParameter, match="edges must be"):
            WireTap(unclear)  # type: ignore[arg-type]


def test_everyone_but_one_hears_everything() -> None:
    """The worst coalition owns all nodes but one and hears all edges."""
    view = EveryoneBut(2)
    assert view.observers(PATH).tolist() == [True, True, False, True]
    assert view.heard_edges(PATH).all()


def test_pooling_is_union() -> None:
    """Pooled views own and hear what any of them does."""
    view = Pooled(CuriousNodes([0]), WireTap([(2, 3)]))
    assert view.observers(PATH).tolist() == [True, False, False, False]
    assert view.heard_edges(PATH).tolist() == [True, False, True]


def test_views_are_values() -> None:
    """Views are frozen, comparable and hashable; order and repetition of nodes do not matter."""
    assert CuriousNodes([2, 0, 2]) == CuriousNodes([0, 2])
    assert len({CuriousNodes([0]), CuriousNodes([0]), EveryoneBut(0)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        EveryoneBut(1).node = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    "view", [CuriousNodes([0]), WireTap([0]), EveryoneBut(1), Pooled(CuriousNodes([0]), WireTap([2]))]
)
def test_every_view_states_its_assumptions(view: sv.privacy.View) -> None:
    """Every view says what the observer is taken to see and to know."""
    text = " ".join(view.assumptions())
    assert view.describe().split(" with ")[0] in text
    assert "noise_std" in text
    assert "fired" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CuriousNodes([]), "at least one node"),
        (lambda: CuriousNodes(0), "sequence of node numbers"),  # type: ignore[arg-type]
        (lambda: CuriousNodes([1.5]), "numbers or names, got list of float"),  # type: ignore[list-item]
        (lambda: CuriousNodes([True]), "numbers or names, got list of bool"),
        (lambda: audit(PATH, NOISE, [0], CuriousNodes(["alice"])), r"number in 0\.\.3, got 'alice'; .* have no names"),
        (lambda: WireTap([]), "at least one edge"),
        (Pooled, "at least one view"),
        (lambda: audit(PATH, NOISE, [0], CuriousNodes([4])), r"node must be in 0\.\.3, got 4"),
        (lambda: audit(PATH, NOISE, [0], EveryoneBut(9)), r"node must be in 0\.\.3, got 9"),
        (lambda: audit(PATH, NOISE, [0], WireTap([(0, 2)])), r"\(0, 2\) is not one"),
        (lambda: audit(PATH, NOISE, [0], WireTap([3])), r"edges must be in 0\.\.2, got 3"),
        (lambda: audit(PATH, NOISE, [0], CuriousNodes(range(4))), "at least one honest node"),
    ],
)
def test_impossible_views_are_refused(call: object, message: str) -> None:
    """A view that names nothing, or something the graph does not have, is refused by name."""
    with pytest.raises(InvalidParameter, match=message):
        call()  # type: ignore[operator]


def test_what_is_no_view_is_refused() -> None:
    """An object that is not a view gets a clear refusal, not a wrong number."""
    with pytest.raises(Unsupported, match="view must be CuriousNodes"):
        audit(PATH, NOISE, [0], [0])  # type: ignore[arg-type]
