"""Parties that run a study as processes of their own, over real TLS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.peer.membership.founding import found_network
from sottovoce.statistics import run_together
from sottovoce.testing.stage import free_addresses

from ..statistics import made

STATISTICS = '[statistics.pay]\nkind = "variance"\ncolumn = "salary"\nby = ["gender"]\n'


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_processes_write_the_same_report(tmp_path: Path) -> None:
    """What each of them writes is, byte by byte, the report of plain sums over all files."""
    declared = made.study(STATISTICS)
    rows = made.tables(declared, tmp_path)
    (tmp_path / "pay.toml").write_text(made.HEAD.format(smallest=1) + STATISTICS)
    addresses = dict(zip(made.PARTIES, free_addresses(len(made.PARTIES)), strict=True))
    configs = found_network(
        "study", addresses, graphs.complete(len(addresses)), tmp_path / "network", noise_std=1e4, noise_decay=0.7,
        smallest_std=None, seal_std=1e5, tolerance=0.02, unit="0.0001", low=0.0, high=2.0**20, timeout=5.0, grace=1.0,
    )  # fmt: skip
    running = []
    for name, config in configs.items():
        words = ["study", "run", "pay.toml", f"{name}.csv", "--peer", str(config), "--topic", "e2e"]
        command = [sys.executable, "-m", "sottovoce", *words, "--timeout", "300", "--out", f"{name}.json"]
        with (tmp_path / f"{name}.err").open("wb") as said:
            running.append(subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=said))
    try:
        codes = [process.wait(350) for process in running]
    finally:
        for process in running:
            process.kill()
    assert codes == [0] * len(codes), [(tmp_path / f"{name}.err").read_text(encoding="utf-8") for name in configs]
    reports = {(tmp_path / f"{name}.json").read_text(encoding="utf-8") for name in configs}
    assert reports == {run_together(declared, rows).to_json()}
