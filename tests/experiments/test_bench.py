"""Measuring speed: in turns, in processor time; and the page that shows it is what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.experiments.bench import Measurement, Way, in_turns

ROOT = Path(__file__).parents[2]


def test_ways_are_timed_in_turns():
    """Round after round, each once: what slows the machine for a while slows all of them."""
    order = []
    ways = {name: Way(lambda name=name: order.append(name), 10) for name in "abc"}
    found = in_turns(ways, rounds=4)
    assert order == list("abc") * 4
    assert all(best <= worst for best, worst in found.values())


def test_the_best_and_the_worst_round_are_reported():
    """A clock of our own: rounds of 3 s and 5 s, two steps each."""
    now = iter([0.0, 3.0, 10.0, 15.0])
    assert in_turns({"a": Way(lambda: None, 2)}, rounds=2, clock=lambda: next(now)) == {"a": (1.5e9, 2.5e9)}


def test_a_measurement_is_a_row_for_a_file():
    """Also without anything to compare it with."""
    row = Measurement("x", 1.0, 2.0).as_dict()
    assert json.loads(json.dumps(row))["ratio"] is None


@pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="only where the sources are")
def test_the_page_on_speed_is_made_from_the_numbers():
    """What the documentation says is what is in the file of the last run."""
    code = (
        "import json, sys; sys.path.insert(0, 'benchmarks'); import page; "
        "numbers = json.load(open('benchmarks/results/cpu.json', encoding='utf-8')); "
        "sys.exit(page.render(numbers) != page.PAGE.read_text(encoding='utf-8'))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.mark.skipif(not (ROOT / "benchmarks" / "rows.py").is_file() or sys.platform != "linux", reason="sources, Linux")
def test_the_peak_memory_of_a_part_is_its_own():
    """A large process starts a small one: what the small one measures is not the size of the large one."""
    small = "from rows import peak_bytes; print(peak_bytes())"
    large = f"import subprocess, sys; held = bytearray(400_000_000); subprocess.run([sys.executable, '-c', {small!r}])"
    done = subprocess.run(
        [sys.executable, "-c", large], cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True
    )
    assert 1e6 < int(done.stdout) < 200e6
