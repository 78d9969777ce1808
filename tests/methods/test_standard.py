from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter

from .equations import assert_equation
from .settings import GRAPH


def equation(method, replay):
    """x − ½(x_i − x_j)(e_i − e_j)."""
    x = replay.values
    yield x
    for row in replay.edges():
        x = x - 0.5 * (row @ x) * row
        yield x


def test_equation():
    """Compiled runs follow the equation on whole vectors."""
    assert_equation(sv.StandardGossip(), equation)


@pytest.mark.parametrize("graph", [GRAPH, sv.graphs.cycle(10), sv.graphs.complete(2)], ids=lambda g: g.name)
def test_guarantee_is_the_contraction_factor(graph):
    """The guaranteed factor is ρ of the theory, and the limit is exact."""
    known = sv.StandardGossip().guarantee(graph)
    assert (known.factor, known.remaining) == (sv.theory.contraction_factor(graph), 0.0)


def test_averaging_time_brackets_what_happens():
    """On C₁₀, ε = 0.1: the empirical ε-averaging time of one start lies between the bounds."""
    graph, values = sv.graphs.cycle(10), np.cos(2 * np.pi * np.arange(10) / 10)
    low, high = sv.theory.averaging_time(graph, 0.1)
    run = sv.simulate(
        graph, values, sv.StandardGossip(), num_steps=round(high), seed=1, replicas=2000,
        record=range(round(high) + 1), threads=1, progress=False,
    )  # fmt: skip
    share = (np.sqrt(run.squared_error) >= 0.1 * np.linalg.norm(values)).mean(axis=0)
    first = int(np.argmax(share <= 0.1))
    assert 0 < low < first < high
    assert sv.theory.averaging_time(sv.graphs.complete(2), 0.1) == (1.0, 1.0)
    assert sv.theory.averaging_time(sv.graphs.complete(3), 0.9) == (1.0, 1.0)


def test_high_probability_by_markov():
    """After the promised steps the relative error is met in more than the promised share of runs."""
    graph, values = sv.graphs.cycle(6), np.arange(6.0)
    steps = sv.theory.high_probability_steps(graph, 0.05, 0.8)
    run = sv.simulate(
        graph, values, sv.StandardGossip(), num_steps=steps, seed=2, replicas=1000, threads=1, progress=False
    )
    assert (run.relative_error[:, -1] <= 0.05).mean() >= 0.8
    assert sv.theory.high_probability_steps(graph, 10.0, 0.8) == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda g: sv.theory.high_probability_steps(g, 0.1, 1.0), r"probability .* \(0, 1\)"),
        (lambda g: sv.theory.high_probability_steps(g, 0.0, 0.5), "relative_error"),
        (lambda g: sv.theory.averaging_time(g, 1.0), r"accuracy .* \(0, 1\)"),
        (lambda g: sv.theory.averaging_time(g, 0.1, edge_probabilities=[1.0, 0.0]), "edge_probabilities .* connect"),
    ],
)
def test_bad_input_is_named(call, says):
    """Shares outside (0, 1), and chances with which some nodes never meet, are refused."""
    with pytest.raises(InvalidParameter, match=says):
        call(sv.graphs.path(3))
