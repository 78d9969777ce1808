"""What we are compared with computes the same thing."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.rivals import c_loop, compiler, numba_loop, tuple_loop

GRAPH = sv.graphs.random_geometric(30, seed=1)
VALUES = np.random.default_rng(3).random(30)
RIVALS = {"tuples": tuple_loop, "numba": numba_loop, "c": c_loop}


@pytest.mark.parametrize("noise_std", [0.0, 1.0])
@pytest.mark.parametrize("rival", RIVALS)
def test_every_rival_finds_the_average(rival, noise_std):
    """After many steps all nodes hold the mean, also where noise was inserted and withdrawn."""
    if rival == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    found = RIVALS[rival](GRAPH, VALUES, noise_std, 0.9)(60_000)
    np.testing.assert_allclose(found, VALUES.mean(), atol=1e-9)


@pytest.mark.parametrize("rival", RIVALS)
def test_every_rival_really_inserts_noise(rival):
    """After few steps the values are spread by the noise, about as much as ours are."""
    if rival == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    graph = sv.graphs.complete(600)
    run = RIVALS[rival](graph, np.zeros(600), 1.0, 0.9)
    ours = sv.simulate(graph, np.zeros(600), sv.NoiseInsertion(1.0, 0.9), num_steps=600, seed=1)
    assert np.std(run(600)) == pytest.approx(np.std(ours.values), rel=0.15)
