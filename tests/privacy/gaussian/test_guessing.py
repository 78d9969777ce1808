"""How often the best guess is right, against integration, brute force and simulated attacks."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.privacy import CuriousNodes, attack, audit
from sottovoce.privacy.gaussian.guessing import best_estimate_std, right_guess


def integrated(precision, candidates, weights):
    """∫ max_k p_k density(s − v_k) ds on a fine grid."""
    grid = np.linspace(-25.0, 25.0, 400_001)
    share = np.array(weights) / np.sum(weights)
    density = [p * np.exp(-0.5 * precision * (grid - v) ** 2) for p, v in zip(share, candidates, strict=True)]
    return float(np.max(density, axis=0).sum() * (grid[1] - grid[0]) * math.sqrt(precision / (2 * math.pi)))


@pytest.mark.parametrize(
    ("candidates", "weights"),
    [([0, 1], [1, 1]), ([0, 1], [9, 1]), ([0, 1, 3], [1, 1, 1]), ([0, 1, 2], [5, 0.1, 5]), ([2, 0, 1], [1, 2, 3])],
)
@pytest.mark.parametrize("precision", [0.3, 4.0, 30.0])
def test_right_guesses_are_the_integral_of_the_largest_density(candidates, weights, precision):
    """Also with weights so unequal that some candidate is never guessed."""
    assert right_guess(precision, candidates, weights) == pytest.approx(
        integrated(precision, candidates, weights), abs=1e-7
    )


def test_extremes():
    """Nothing heard: the likeliest candidate. Everything heard: always right."""
    assert right_guess(0.0, [0, 1, 2], [1, 2, 1]) == 0.5
    assert right_guess(math.inf, [0, 1]) == 1.0
    assert best_estimate_std(math.inf, [0, 1]) == 0.0
    assert best_estimate_std(0.0, [0, 1]) == pytest.approx(0.5)


def test_a_bit_under_a_quarter():
    """The issue that deviations hide: ± 0.224 for a normal value, but a bit is known to ± 0.131 and named in 97.7 %."""
    report = audit(sv.graphs.path(2), sv.NoiseInsertion(0.25, 0.5), [0], CuriousNodes([0]), 0.5, candidates=[0, 1])
    assert report.posterior_std[1] == pytest.approx(0.223607, abs=1e-6)
    assert report.best_estimate_std()[1] == pytest.approx(0.130956, abs=1e-6)
    assert report.guess_probability()[1] == pytest.approx(0.977250, abs=1e-6)
    assert "names the right one of 2 candidates for the private value of node 1 in 97.7 %" in report.sentence()


def test_simulated_attackers_are_right_as_often_as_said():
    """Bits of 20 000 coordinates on a path, others normal as believed: the best guess has the stated chance."""
    graph, method, rng = sv.graphs.path(3), sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9), np.random.default_rng(1)
    values = rng.normal(0.5, 0.5, size=(3, 20_000))
    values[1] = rng.integers(0, 2, 20_000)
    run = sv.simulate(graph, values, method, num_steps=6, seed=5)
    report = audit(graph, method, run.fired_edges(), CuriousNodes([0]), 0.5)
    guess = attack(run, CuriousNodes([0]), 0.5, prior_mean=0.5)
    # The estimate shrinks what was heard towards the prior mean: undone, the midpoint decides between equal bits.
    share = 1.0 - (report.posterior_std[1] / 0.5) ** 2
    heard = 0.5 + (guess.estimate[1] - 0.5) / share
    right = float(((heard > 0.5) == (values[1] > 0.5)).mean())
    said = float(report.guess_probability([0, 1])[1])
    assert right == pytest.approx(said, abs=4 * math.sqrt(said * (1 - said) / 20_000))
    rms = math.sqrt(np.mean((1 / (1 + np.exp(-(heard - 0.5) * report.evidence[1])) - values[1]) ** 2))
    assert rms == pytest.approx(float(report.best_estimate_std([0, 1])[1]), rel=0.03)


def test_knowing_the_others_helps():
    """With the others known the guess is right at least as often."""
    graph, method = sv.graphs.cycle(5), sv.NoiseInsertion(noise_std=0.5, noise_decay=0.8)
    edges = np.random.default_rng(2).integers(0, 5, 60)
    report = audit(graph, method, edges, CuriousNodes([0]), 0.5)
    assert (report.guess_probability([0, 1], others="known") >= report.guess_probability([0, 1]) - 1e-12).all()


@pytest.mark.parametrize("bad", [[1.0], [1.0, 1.0], [0.0, math.nan]])
def test_candidates_are_checked(bad):
    """Two or more different finite numbers."""
    with pytest.raises(InvalidParameter, match="candidates must be two or more different finite numbers"):
        right_guess(1.0, bad)
