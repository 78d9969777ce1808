"""Parties that run a study as processes of their own, over real TLS."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.peer.membership.founding import found_network
from sottovoce.statistics import run_together
from sottovoce.testing.stage import free_addresses

from ..statistics import made

STATISTICS = '[statistics.pay]\nkind = "variance"\ncolumn = "salary"\nby = ["gender"]\n'
TEXT = made.HEAD.format(smallest=1) + STATISTICS
RELEASE = "[release]\nepsilon = 3.0\ndelta = 1e-6\nhonest = 3\nruns = 1\nprotects = 'row'\n"


@pytest.fixture
def configs(tmp_path: Path) -> Mapping[str, Path]:
    """A network of the four parties, and their files."""
    made.tables(made.study(STATISTICS), tmp_path)
    addresses = dict(zip(made.PARTIES, free_addresses(len(made.PARTIES)), strict=True))
    return found_network(
        "study", addresses, graphs.complete(len(addresses)), tmp_path / "network", noise_std=1e4, noise_decay=0.7,
        smallest_std=None, seal_std=1e5, tolerance=0.02, unit="0.0001", low=0.0, high=2.0**20, timeout=5.0, grace=1.0,
    )  # fmt: skip


def run(folder: Path, configs: Mapping[str, Path], studies: Mapping[str, str], topic: str = "e2e") -> dict[str, int]:
    """Every party runs its study; exit codes. What each said is in its ``.err``."""
    running = {}
    for name, config in configs.items():
        (folder / f"{name}.toml").write_text(studies[name])
        words = ["study", "run", f"{name}.toml", f"{name}.csv", "--peer", str(config), "--topic", topic]
        command = [sys.executable, "-m", "sottovoce", *words, "--timeout", "300", "--out", f"{name}.json"]
        with (folder / f"{name}.err").open("wb") as said:
            running[name] = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=said)
    try:
        return {name: process.wait(350) for name, process in running.items()}
    finally:
        for process in running.values():
            process.kill()


def said(folder: Path) -> dict[str, str]:
    return {name: (folder / f"{name}.err").read_text(encoding="utf-8") for name in made.PARTIES}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_processes_write_the_same_report(tmp_path: Path, configs: Mapping[str, Path]) -> None:
    """What each of them writes is, byte by byte, the report of plain sums over all files."""
    codes = run(tmp_path, configs, dict.fromkeys(configs, TEXT))
    assert set(codes.values()) == {0}, said(tmp_path)
    reports = {(tmp_path / f"{name}.json").read_text(encoding="utf-8") for name in configs}
    declared = made.study(STATISTICS)
    rows = {name: declared.read(tmp_path / f"{name}.csv") for name in configs}
    assert reports == {run_together(declared, rows).to_json()}


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_processes_with_different_studies_say_what_differs(tmp_path: Path, configs: Mapping[str, Path]) -> None:
    """Each ends with code 2 and one sentence that names the key and both sides."""
    other = TEXT.replace("high = 80", "high = 81")
    codes = run(tmp_path, configs, {**dict.fromkeys(configs, TEXT), "cyd": other})
    assert set(codes.values()) == {2}
    sentence = "error: the parties have different studies: columns.age.high is 80 at ada, bob, dan and 81 at cyd\n"
    assert set(said(tmp_path).values()) == {sentence}


@pytest.mark.slow
@pytest.mark.timeout(800)
def test_processes_release_once(tmp_path: Path, configs: Mapping[str, Path]) -> None:
    """One report with noise at all of them; a second run is refused, because one was agreed."""
    codes = run(tmp_path, configs, dict.fromkeys(configs, TEXT + RELEASE))
    assert set(codes.values()) == {0}, said(tmp_path)
    (report,) = {(tmp_path / f"{name}.json").read_text(encoding="utf-8") for name in configs}
    assert json.loads(report)["release"]["epsilon"] == pytest.approx(3.0, rel=0.05)
    codes = run(tmp_path, configs, dict.fromkeys(configs, TEXT + RELEASE), topic="again")
    assert set(codes.values()) == {2}
    assert all("has been run here once" in text for text in said(tmp_path).values())
