"""Machine code is kept between processes and never goes stale."""

from __future__ import annotations

import os
import subprocess
import sys

from sottovoce.simulation import compiling

SCRIPT = """
import sottovoce as sv
from sottovoce.simulation.kinds import kind_of
run = sv.simulate(sv.graphs.cycle(5), [1.0, 2.0, 3.0, 4.0, 5.0], sv.StandardGossip(), num_steps=10, seed=1)
kernel, _ = kind_of(run.method).driver(run.method, run.graph, run.aliases)
print(sum(kernel.run.stats.cache_hits.values()), sum(kernel.run.stats.cache_misses.values()))
"""


def test_kernels_are_compiled_once_and_the_first_run_says_so(tmp_path):
    """A fresh cache: the first process compiles and says so, the second loads silently."""
    environment = os.environ | {"SOTTOVOCE_CACHE_DIR": str(tmp_path)}
    outcomes = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
        )
        outcomes.append((done.stdout.split(), "compiling the kernel for standard" in done.stderr))
    assert outcomes == [(["0", "1"], True), (["1", "0"], False)]


def test_an_unwritable_cache_is_no_obstacle(tmp_path, monkeypatch):
    """When the cache cannot be written a temporary directory takes its place."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("SOTTOVOCE_CACHE_DIR", str(blocked))
    fallback = compiling.cache_directory.__wrapped__()
    assert fallback.is_dir()
    assert blocked not in fallback.parents
    fallback.rmdir()


def test_a_changed_source_has_a_cache_of_its_own(tmp_path, monkeypatch):
    """The directory is named after the sources that end up in kernels: change one and another directory is used."""
    monkeypatch.setenv("SOTTOVOCE_CACHE_DIR", str(tmp_path / "cache"))
    package = tmp_path / "sottovoce"
    for folder in ("methods", "simulation"):
        (package / folder).mkdir(parents=True)
        (package / folder / "file.py").write_text("x = 1")
    monkeypatch.setattr(compiling, "__file__", str(package / "simulation" / "compiling.py"))
    before = compiling.cache_directory.__wrapped__()
    (package / "methods" / "file.py").write_text("x = 2")
    assert compiling.cache_directory.__wrapped__() != before
