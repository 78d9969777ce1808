"""Methods in somebody's own file, named on the command line, in sweeps and in the studio, in real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

LAZY = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import sottovoce as sv
from sottovoce.methods import VALUE, PairMethod


def update(nodes, i, j, draw_i, draw_j, step, parameters):
    move = 0.5 * parameters[0] * (nodes[j, VALUE] - nodes[i, VALUE])
    nodes[i, VALUE] += move
    nodes[j, VALUE] -= move


@sv.methods.register
@dataclass(frozen=True)
class LazyGossip(PairMethod):
    theta: float

    name: ClassVar[str] = "lazy"
    num_fields: ClassVar[int] = 1
    update = staticmethod(update)

    def parameters(self, graph):
        return np.array([self.theta])
"""
STILL = LAZY.replace("0.5 * parameters[0]", "0.0 * parameters[0]")
SWEEP = 'load = ["lazy_methods.py"]\nnum_steps = 50\n[axes]\nmethod = ["lazy"]\ntheta = [0.5]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lazy_methods.py").write_text(LAZY, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, started in ``folder``."""
    known = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)} | environment
    command = [sys.executable, *(arguments if arguments[0] == "-c" else ("-m", "sottovoce", *arguments))]
    return subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True, check=False)


def test_a_method_of_ones_own_is_named_on_the_command_line(folder: Path) -> None:
    """With --load or SOTTOVOCE_LOAD; θ = 1 is standard gossip."""
    asked = ("--graph", "cycle:6", "--steps", "60", "--json")
    own = run(folder, "simulate", "--load", "lazy_methods.py", "--method", "lazy:theta=1", *asked)
    assert own.returncode == 0, own.stderr
    standard = run(folder, "simulate", "--method", "standard", *asked)
    assert json.loads(own.stdout)["relative_error"] == pytest.approx(json.loads(standard.stdout)["relative_error"])
    again = run(folder, "simulate", "--method", "lazy:theta=1", *asked, SOTTOVOCE_LOAD="lazy_methods.py")
    assert json.loads(again.stdout)["relative_error"] == json.loads(own.stdout)["relative_error"]


def test_a_file_of_methods_may_be_renamed(folder: Path) -> None:
    """The kernel that was kept on disk under the old name is used, or made again; it does not ask for the old file."""
    asked = ("--method", "lazy:theta=0.7", "--steps", "20", "--json")
    before = run(folder, "simulate", "--load", "lazy_methods.py", *asked)
    (folder / "lazy_methods.py").rename(folder / "calm_methods.py")
    after = run(folder, "simulate", "--load", "calm_methods.py", *asked)
    assert after.returncode == 0, after.stderr
    assert json.loads(after.stdout)["relative_error"] == json.loads(before.stdout)["relative_error"]


def test_a_sweep_loads_it_in_its_workers_and_notices_a_change(folder: Path) -> None:
    """The file is part of what determines a run: when it changes, the run is done again, with the new rule."""
    (folder / "s.toml").write_text(SWEEP, encoding="utf-8")
    for rule in (LAZY, STILL):
        (folder / "lazy_methods.py").write_text(rule, encoding="utf-8")
        done = run(folder, "sweep", "s.toml", "--out", "o", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"store": "o", "finished": 1, "skipped": 0, "failed": 0, "reasons": {}}
    moved, still = sorted(pd.read_parquet(folder / "o").groupby("run").relative_error.min())
    assert moved < 0.9
    assert still == pytest.approx(1.0)


STUDIO = """
import asyncio
from pathlib import Path
import sottovoce as sv
from sottovoce.scenario.loading import load_methods
from sottovoce.studio.catalogue import method_entry
from sottovoce.studio.limits import Limits
from sottovoce.studio.reading import read_scenario
from sottovoce.studio.thinking import Thinkers

async def label(method):
    thinkers = Thinkers(1)
    try:
        return await thinkers.think(type(method).label, method)
    finally:
        thinkers.close()

if __name__ == "__main__":
    load_methods("lazy_methods.py")
    asked = read_scenario({"methods": ["lazy:theta=0.25"]}, Limits())
    print(method_entry("lazy")["parameters"], asyncio.run(label(asked.methods[0])))
    exec(asked.to_python(record=5))
    Path("lazy_methods.py").unlink()
    print(asyncio.run(label(sv.StandardGossip())))
"""


def test_the_studio_offers_it_and_its_processes_know_it(folder: Path) -> None:
    """A form, an answer from another process, a copied program; and without its file, answers about other methods."""
    (folder / "ask.py").write_text(STUDIO, encoding="utf-8")
    answer = run(folder, "-c", "import runpy; runpy.run_path('ask.py', run_name='__main__')")
    assert "{'name': 'theta', 'start': 0.5, 'about': ''}] lazy, theta = 0.25\n" in answer.stdout, answer.stderr
    assert "<Solution" in answer.stdout
    assert answer.stdout.endswith("standard gossip\n"), answer.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.py", None, "missing.py does not exist"),
        ("broken.py", "import nonsense_of_mine", "broken.py cannot be loaded: ModuleNotFoundError"),
        ("own/json.py", "", "another module is called json; rename the file"),
        ("bare.py", LAZY.replace("(frozen=True)", ""), "LazyGossip must be a frozen dataclass"),
    ],
)
def test_what_cannot_be_loaded_is_one_sentence(folder: Path, name: str, content: str | None, words: str) -> None:
    """Exit code 2, and no traceback."""
    if content is not None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    answer = run(folder, "simulate", "--load", name)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1


OTHER = """
from pathlib import Path
import lazy_methods
from sottovoce.errors import InvalidFile
from sottovoce.scenario.loading import Origin, origin_of

origin = origin_of(lazy_methods.LazyGossip)
origin.load()
try:
    Origin(origin.module, origin.folder, "of another content").load()
except InvalidFile as error:
    print(error)
"""


def test_a_worker_with_another_file_of_that_name_refuses(folder: Path) -> None:
    """Rather than give the numbers of another rule."""
    answer = run(folder, "-c", OTHER)
    assert "differs from the file where the work was given out" in answer.stdout, answer.stderr
