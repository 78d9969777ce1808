from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods.seen import one_draw_information
from sottovoce.methods.weights import mixing_matrix

from .equations import assert_equation
from .settings import GRAPH

PATH = np.eye(3) - np.array([[1, -1, 0], [-1, 2, -1], [0, -1, 1]]) / 3
"""W = I − L/3 of a path of three."""
GIVEN = 0.5 * np.eye(8) + 0.5 * mixing_matrix("metropolis", GRAPH).toarray()


def equation(method, replay):
    """x ← W x."""
    x, W = replay.values, method.mixing(replay.graph).toarray()
    yield x
    for _ in replay.steps():
        x = W @ x
        yield x


@pytest.mark.parametrize("weights", ["metropolis", "max-degree", GIVEN], ids=["metropolis", "max-degree", "given"])
def test_equation(weights):
    """Compiled runs follow the equation, for named and given weights."""
    assert_equation(sv.SynchronousAveraging(weights), equation)


def test_guarantee_is_the_square_of_the_consensus_factor():
    """‖x − c̄‖² shrinks by the square of the factor of W."""
    method = sv.SynchronousAveraging()
    mixing = method.mixing(GRAPH).toarray()
    assert method.guarantee(GRAPH).factor == pytest.approx(sv.theory.consensus_factor(mixing) ** 2, rel=1e-12)


def test_seen_share_is_not_the_sum_of_messages():
    """Path of three: message by message node 2 shows ⅓ of its value to node 0, together all of it."""
    messages = [np.eye(3)[1], PATH[1]]
    assert sum(row[2] ** 2 / (row @ row) for row in messages) == pytest.approx(1 / 3)
    assert sv.theory.seen_share(PATH, [0], 2)[2] == pytest.approx(1.0)
    long = sv.theory.seen_share(sv.SynchronousAveraging().mixing(GRAPH).toarray(), [3], 50)
    assert long[3] == pytest.approx(1.0)
    assert ((long > -1e-12) & (long < 1 + 1e-9)).all()


def test_one_draw_then_averaging():
    """Information is the seen share over σ²: after two rounds all of node 2's noisy value, after one nothing."""
    assert one_draw_information(PATH, 0, noise_std=1.0, num_rounds=2)[1:] == pytest.approx([1.0, 1.0])
    assert one_draw_information(PATH, 0, noise_std=2.0, num_rounds=1)[1:] == pytest.approx([0.25, 0.0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sv.theory.seen_share(PATH, [3], 1), r"observers must be in 0\.\.2, got 3"),
        (lambda: one_draw_information(PATH, 7, noise_std=1.0, num_rounds=1), "observers"),
        (lambda: one_draw_information(PATH, 0, noise_std=0.0, num_rounds=1), "noise_std"),
    ],
)
def test_bad_input_is_named(call, says):
    """Nodes that are not there and noise of no size are refused."""
    with pytest.raises(InvalidParameter, match=says):
        call()
