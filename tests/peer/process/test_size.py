"""A peer's process is small: what it loads, and the memory that is its own once its network has settled."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sottovoce
from sottovoce import graphs
from sottovoce.testing.stage import Stage

HEAVY = {
    "numba", "scipy", "networkx", "matplotlib", "pandas", "pyarrow", "distributed", "starlette", "uvicorn", "PIL",
    "rich", "pygments", "tomlkit",
}  # fmt: skip
OURS = {"simulation", "theory", "plotting", "experiments", "studio", "testing", "scenario"}
MOST_BYTES = 45 * 10**6

# What the command `sottovoce` runs; at its end it writes down which modules it has loaded.
WITNESS = """
import atexit, pathlib, sys
atexit.register(lambda: pathlib.Path(sys.argv[1]).write_text("\\n".join(sys.modules)))
from sottovoce.cli.main import main
main(sys.argv[2:])
"""


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Four peers, each with three neighbours; the first one says at its end what it has loaded."""
    with Stage(
        tmp_path / "net", graphs.complete(4), np.arange(4.0), noise_std=1.0, noise_decay=0.8, smallest_std=None
    ) as made:
        made.start("p02", "p03", "p04")
        value = made.folder / "p01" / "value.txt"
        command = [str(tmp_path / "modules"), "peer", "start", str(made.configs["p01"]), "--value-from", str(value)]
        source = Path(sottovoce.__file__).parents[1]
        with made.log_file("p01").open("wb") as log:
            made.processes["p01"] = subprocess.Popen(
                [sys.executable, "-c", WITNESS, *command], env=os.environ | {"PYTHONPATH": str(source)}, stderr=log
            )
        yield made


def private_bytes(process: int) -> int:
    """Memory that a process shares with nobody: what one more peer costs. Pages of libraries are shared."""
    rows = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return sum(int(row.split()[1]) * 1024 for row in rows if row.startswith(("Private_Clean:", "Private_Dirty:")))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux 4.14")
def test_a_settled_peer_takes_less_than_forty_five_megabytes(stage: Stage, tmp_path: Path) -> None:
    """With three neighbours, after settling and a status, it has loaded nothing heavy and holds little of its own."""
    stage.wait_until(lambda status: status["settled"], seconds=150)
    own = private_bytes(stage.processes["p01"].pid)
    assert stage.stop("p01") == {"p01": 0}
    loaded = (tmp_path / "modules").read_text().splitlines()
    assert HEAVY.isdisjoint(name.partition(".")[0] for name in loaded)
    assert OURS.isdisjoint(name.split(".")[1] for name in loaded if name.startswith("sottovoce."))
    assert own < MOST_BYTES
