"""For tests that look at all that a command says."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def compiled() -> None:
    """The kernels of the usual methods are there: compiling one says so on standard error, where errors are read.

    Whether they are would otherwise depend on what has run on this machine before.
    """
    import sottovoce as sv

    for method in (sv.StandardGossip(), sv.NoiseInsertion(1.0, 0.9)):
        sv.simulate(sv.graphs.cycle(4), range(4), method, num_steps=4, seed=1)
