from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods.released import WithdrawnNoise
from sottovoce.testing.reference import algorithm_1

from .equations import assert_equation
from .settings import GRAPH

CYCLE = sv.graphs.cycle(10)
RHO = sv.theory.contraction_factor(CYCLE)


def equation(method, replay):
    """Algorithm 1 line by line."""
    yield replay.values
    steps = algorithm_1(replay.graph, replay.values, method, replay.num_steps, replay.seed, replica=replay.replica)
    for x, _ in steps:
        yield x


@pytest.mark.parametrize(
    "method",
    [
        sv.NoiseInsertion(noise_std=1.0, noise_decay=0.8),
        sv.NoiseInsertion(noise_std=np.linspace(0, 2, 8), noise_decay=np.linspace(0, 0.9, 8)),
        sv.NoiseInsertion.largest_free(GRAPH, noise_std=3.0),
    ],
    ids=lambda m: m.label(),
)
def test_equation(method):
    """Compiled runs follow Algorithm 1, with one σ and φ or one per node."""
    assert_equation(method, equation)


@pytest.mark.parametrize(
    ("std", "decay", "factor"),
    [
        (1.0, 0.99, 1 - 0.2 * (1 - 0.99**2)),  # the noise sets the pace: r = 1 − (d/m)(1 − φ²) > ρ
        (1.0, 0.9, RHO),  # gossip does
        (0.0, 0.99, RHO),  # no noise, no matter how slowly it would fade
        ([1.0] + [0.0] * 9, [0.5] + [0.99] * 9, RHO),  # only nodes that have noise count
        ([1.0] + [0.0] * 9, [0.99] + [0.5] * 9, 1 - 0.2 * (1 - 0.99**2)),
    ],
)
def test_guaranteed_factor_is_the_slower_of_gossip_and_noise(std, decay, factor):
    """The guarantee knows the noise, node by node; the limit is exact."""
    known = sv.NoiseInsertion(noise_std=std, noise_decay=decay).guarantee(CYCLE)
    assert known.factor == pytest.approx(factor, rel=1e-12)
    assert known.remaining == 0.0


def test_guaranteed_factor_is_the_rate_of_the_bound():
    """Where noise is slower than gossip, the proved bound falls by that factor in the long run."""
    method = sv.NoiseInsertion(noise_std=1.0, noise_decay=np.linspace(0.9, 0.995, 8))
    late = sv.theory.error_bound(GRAPH, np.arange(8.0), method, at=[20_000, 20_001])
    assert late[1] / late[0] == pytest.approx(method.guarantee(GRAPH).factor, rel=1e-9)


def test_what_it_releases():
    """Values under noise of σ_i φ_i^t, one number per node."""
    shown = sv.NoiseInsertion(noise_std=2.0, noise_decay=np.linspace(0, 0.7, 8)).releases(GRAPH)
    assert isinstance(shown, WithdrawnNoise)
    assert shown.noise_std.tolist() == [2.0] * 8
    assert shown.noise_decay.tolist() == np.linspace(0, 0.7, 8).tolist()


def test_vectors_are_part_of_its_value():
    """Equality and hash see every entry; one number is not a vector of it."""
    one, same, other = (sv.NoiseInsertion([1.0, 2.0], decay) for decay in (0.5, 0.5, 0.6))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert sv.NoiseInsertion(1.0, 0.5) != sv.NoiseInsertion([1.0, 1.0], 0.5)
    assert repr(one) == "NoiseInsertion(noise_std=1…2, noise_decay=0.5)"
