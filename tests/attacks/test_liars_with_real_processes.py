"""Every liar of the library as a real process over real TLS: once it is dropped, nothing of it is left."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.testing.liars import LIARS
from sottovoce.testing.proof import prove
from sottovoce.testing.stage import Stage

VALUES = np.array([10.0, 20.0, 60.0, 90.0])
HONEST, LIAR = ["p01", "p02", "p03"], "p04"
MEAN, TOLERANCE = 30.0, 0.01
# The stated time: a minute, and as much again for a machine that is busy with something else.
WAIT = 120.0
SETTINGS: dict[str, Any] = {
    "noise_std": 1.0, "noise_decay": 0.8, "smallest_std": None, "low": 0.0, "high": 100.0, "tolerance": TOLERANCE,
    "rate": 8.0, "timeout": 0.3, "backoff_max": 0.5, "sync_interval": 0.5, "grace": 1.0,
}  # fmt: skip
QUICK = ("a register of minus a million millions",)
ALL = [pytest.param(what, marks=() if what in QUICK else pytest.mark.slow) for what in (*LIARS, "fuzzer:1", "fuzzer:2")]


def noticed(stage: Stage) -> bool:
    """Whether an honest peer has refused a message."""
    return any("message refused" in stage.log_file(name).read_text() for name in HONEST)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("what", ALL)
def test_after_the_drop_honest_peers_return_to_their_own_mean(tmp_path: Path, what: str) -> None:
    """It lies for some seconds and goes on while it is dropped; the others settle on 30, exactly balanced."""
    with Stage(tmp_path / "net", graphs.complete(4), VALUES, liars={LIAR: what}, **SETTINGS) as stage:
        stage.start()
        stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
        stage.let_lie(LIAR)
        began = time.monotonic()
        while time.monotonic() < began + 5.0 or (what in QUICK and not noticed(stage)):  # it really lies
            assert time.monotonic() < began + WAIT, "nobody noticed"
            stage.check_alive()
            assert None not in stage.statuses(HONEST).values()
            time.sleep(0.2)
        for name in HONEST:
            stage.ask(name, "drop", neighbour=LIAR)
        stage.wait_until(
            lambda status: status["settled"] and abs(status["estimate"][0] - MEAN) < TOLERANCE,
            seconds=WAIT,
            names=HONEST,
        )
        assert set(stage.stop(*HONEST).values()) == {0}
        proof = prove({name: stage.data_dir(name) for name in HONEST})
    assert proof.exact
    assert proof.largest_error < TOLERANCE
