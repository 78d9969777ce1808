"""What the two methods with Laplace noise share."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter, Unsupported
from sottovoce.methods.released import LinearRounds

from .settings import GRAPH

NOZARI = sv.Nozari(noise_scale=0.5, noise_decay=0.7, noise_share=0.8)
HUANG = sv.Huang(noise_scale=0.5, noise_decay=0.8)


def test_laplace_schemes_add_up():
    """ε adds (difference that is left)/(noise scale), the variance 2(s b q^k)²/n."""
    k = np.arange(3000)
    epsilon = np.sum(0.5 * (0.2 / 0.9) ** k / 2.0)
    assert sv.theory.nozari_epsilon(2.0, 0.9, 0.8, sensitivity=0.5) == pytest.approx(epsilon)
    assert sv.theory.huang_epsilon(2.0, 0.9, 0.8, sensitivity=0.5) == pytest.approx(epsilon)
    variance = np.sum(2 * 0.64 * 4.0 * 0.81**k) / 7
    assert sv.theory.nozari_variance(2.0, 0.9, 0.8, 7) == pytest.approx(variance)
    assert sv.theory.huang_variance(2.0, 0.9, 0.8, 7) == pytest.approx(variance)


def test_epsilon_at_the_ends():
    """One draw costs as little as any sequence; the node protected least counts; no noise is no privacy."""
    assert sv.theory.nozari_epsilon(2.0, 0.3) == sv.theory.nozari_epsilon(2.0, 0.0) == pytest.approx(0.5)
    assert sv.theory.nozari_epsilon([1.0, 4.0], 0.8, [0.6, 1.0]) == pytest.approx(2.0)
    assert sv.theory.nozari_epsilon(0.0, 0.5) == np.inf


@pytest.mark.parametrize("function", [sv.theory.nozari_epsilon, sv.theory.huang_epsilon])
def test_bad_input_is_named(function):
    """A decay faster than the values' own, and negative sizes, are refused with the range."""
    with pytest.raises(InvalidParameter, match=r"noise_decay must be in .* = \(0.4, 1\) .*, got 0.3"):
        function(1.0, 0.3, 0.6)
    with pytest.raises(InvalidParameter, match="noise_scale"):
        function(-1.0, 0.9, 0.6)
    with pytest.raises(InvalidParameter, match="sensitivity"):
        function(1.0, 0.9, 0.6, sensitivity=-1.0)


@pytest.mark.parametrize("method", [NOZARI, HUANG, sv.Nozari(np.linspace(0.1, 0.8, 8), 0.0)], ids=lambda m: m.label())
def test_the_description_is_the_run(method):
    """Its linear rounds, fed with the draws of a run, give the values of that run; ε is for values one apart."""
    run = sv.simulate(GRAPH, np.arange(8.0), method, num_steps=5, seed=3)
    shown = method.releases(GRAPH)
    assert isinstance(shown, LinearRounds)
    assert shown.noise.law == "laplace"
    z = np.arange(8.0)
    for k, draws in enumerate(run.draws()):
        said = z + shown.noise.in_round(k) * draws / np.sqrt(2.0)
        z = shown.kept * z + shown.moved @ said
    np.testing.assert_allclose(z, run.values, atol=1e-13)
    share = method.noise_share if isinstance(method, sv.Nozari) else method.mixing_share
    assert shown.epsilon == sv.theory.nozari_epsilon(method.noise_scale, method.noise_decay, share)


@pytest.mark.parametrize("method", [NOZARI, HUANG], ids=lambda m: m.name)
def test_ensembles_have_the_error_of_the_theory(method):
    """4 000 runs from equal values have the mean-square error of theory.laplace_error in every round."""
    run = sv.simulate(GRAPH, np.zeros(8), method, num_steps=12, seed=5, replicas=4000, record=list(range(13)))
    expected = sv.theory.laplace_error(GRAPH, method, 12, value_std=0.0)
    squares = run.squared_error / 8
    assert (np.abs(squares.mean(axis=0) - expected) <= 5 * squares.std(axis=0) / np.sqrt(4000) + 1e-12).all()
    # Values of unit variance add what W leaves of them: the mean of a_λ^{2k} over all but the first eigenvalue.
    extra = sv.theory.laplace_error(GRAPH, method, 3) - expected[:4]
    assert extra[0] == pytest.approx(7 / 8)
    assert (np.diff(extra) < 0).all()


@pytest.mark.parametrize("graph", [GRAPH, sv.graphs.cycle(5), sv.graphs.star(6)], ids=lambda g: g.name)
@pytest.mark.parametrize("method", [NOZARI, HUANG], ids=lambda m: m.name)
def test_what_remains_is_where_the_error_ends(graph, method):
    """On every graph n times the variance of the limit is left, from the exact error after many rounds."""
    last = sv.theory.laplace_error(graph, method, 400)[-1]
    assert method.guarantee(graph).remaining == pytest.approx(graph.num_nodes * last, rel=1e-9)


def test_noise_that_differs_between_nodes_has_no_closed_error():
    """laplace_error says that it does not cover one scale per node."""
    with pytest.raises(Unsupported, match="the same noise at all nodes"):
        sv.theory.laplace_error(GRAPH, sv.Nozari(np.ones(8), 0.5), 3)
