"""A method that is edited while a program runs, or between two: no run of a sweep is credited to another rule."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .test_loading import LAZY

TOOLS = """
import importlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
import sottovoce as sv
from sottovoce.experiments.spec import read_spec, spec_from

AXES = {"graph": ["path:2"], "method": ["lazy"], "theta": [1.0]}

def edit(before, after, name="lazy_methods.py"):
    Path(name).write_text(Path(name).read_text().replace(before, after))

def swept(store, spec=None, *, pool=None):
    spec = spec or spec_from({"axes": AXES, "num_steps": 1, "record": 1})
    result = sv.sweep(spec, store=store, executor=pool, progress=False)
    errors = result.table().to_pandas().groupby("run").relative_error.min()
    print(result.finished, result.failures, sorted(round(error, 4) for error in errors))
"""
"""One step on two nodes: a weight of 0.5 leaves no error, one of 0.25 a quarter of it."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lazy_methods.py").write_text(LAZY, encoding="utf-8")
    return tmp_path


def said(folder: Path, script: str, *, how: str = "file") -> list[str]:
    """What a program of the user's prints: started as a file, given as text, or read from standard input."""
    body = "".join(f"    {line}\n" for line in script.strip().splitlines())
    whole = f'{TOOLS}\nif __name__ == "__main__":\n{body}'
    (folder / "program.py").write_text(whole, encoding="utf-8")
    arguments = {"file": ["program.py"], "text": ["-c", f"{TOOLS}\n{script}"], "stdin": ["-"]}[how]
    answer = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        input=f"{TOOLS}\n{script}" if how == "stdin" else "",
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


@pytest.mark.parametrize("pool", ["ThreadPoolExecutor(1)", "None"], ids=["threads", "processes"])
def test_a_module_that_is_loaded_again_is_another_method(folder: Path, pool: str) -> None:
    """Its runs are done again, here and in worker processes."""
    script = f"""
import copy, lazy_methods
swept("o", pool={pool})
copy.copy(lazy_methods.LazyGossip(1.0))  # Python notes something in the class
swept("o", pool={pool})
edit("0.5 *", "0.25 *")
importlib.reload(lazy_methods)
swept("o", pool={pool})
"""
    assert said(folder, script) == ["1 0 [0.0]", "0 0 [0.0]", "1 0 [0.0, 0.25]"]


def test_a_result_is_kept_under_the_code_that_made_it(folder: Path) -> None:
    """An edited rule fills a folder; with the file as it was before, in another process, the run is done again."""
    script = """
import lazy_methods
swept("first", pool=ThreadPoolExecutor(1))
edit("0.5 *", "0.25 *")
importlib.reload(lazy_methods)
swept("second", pool=ThreadPoolExecutor(1))
edit("0.25 *", "0.5 *")
"""
    assert said(folder, script) == ["1 0 [0.0]", "1 0 [0.25]"]
    assert said(folder, 'import lazy_methods\nswept("second")') == ["1 0 [0.0, 0.25]"]


def test_a_file_that_a_sweep_loads_is_loaded_as_it_is_now(folder: Path) -> None:
    """Twice in one process, with an edit in between: of the file, and of one that it uses."""
    (folder / "rule.py").write_text("def weight(theta):\n    return 0.50 * theta\n", encoding="utf-8")
    text = LAZY.replace("0.5 * parameters[0]", "rule.weight(parameters[0])").replace(
        "import numpy", "import rule\nimport numpy"
    )
    (folder / "lazy_methods.py").write_text(text, encoding="utf-8")
    (folder / "s.toml").write_text(
        'load = ["lazy_methods.py"]\nnum_steps = 1\nrecord = 1\n'
        '[axes]\ngraph = ["path:2"]\nmethod = ["lazy"]\ntheta = [1.0]\n',
        encoding="utf-8",
    )
    script = """
swept("o", read_spec("s.toml"), pool=ThreadPoolExecutor(1))
for before, after, name in (("0.50", "0.25", "rule.py"), ("rule.w", "0.5 * rule.w", "lazy_methods.py")):
    edit(before, after, name)
    swept("o", read_spec("s.toml"), pool=ThreadPoolExecutor(1))
"""
    assert said(folder, script) == ["1 0 [0.0]", "1 0 [0.0, 0.25]", "1 0 [0.0, 0.25, 0.5625]"]
    assert said(folder, 'swept("o", read_spec("s.toml"))') == ["0 0 [0.0, 0.25, 0.5625]"]
    assert said(folder, 'edit("0.25", "0.50", "rule.py")\nswept("o", read_spec("s.toml"))') == [
        "1 0 [0.0, 0.25, 0.25, 0.5625]"
    ]


@pytest.mark.parametrize("how", ["text", "stdin"])
def test_a_class_without_a_file_is_known_by_its_code(folder: Path, how: str) -> None:
    """As in a notebook: defined again with another number, or with another number outside of it, it is another one."""
    lazy = LAZY.replace("0.5 * parameters[0]", "WEIGHT * parameters[0]")
    script = f"""
WEIGHT = 0.5
{lazy}
swept("o", pool=ThreadPoolExecutor(1))
swept("o", pool=ThreadPoolExecutor(1))
WEIGHT = 0.25
swept("o", pool=ThreadPoolExecutor(1))
{lazy.replace("WEIGHT *", "0.125 *")}
swept("o", pool=ThreadPoolExecutor(1))
"""
    found = ["1 0 [0.0]", "0 0 [0.0]", "1 0 [0.0, 0.25]", "1 0 [0.0, 0.25, 0.5625]"]
    assert said(folder, script, how=how) == found
    assert said(folder, script, how=how) == ["0 0 [0.0, 0.25, 0.5625]"] * 4  # in another process


def test_words_in_a_set_are_the_same_in_all_processes(folder: Path) -> None:
    """Python writes them in another order in each."""
    text = LAZY.replace(
        "        return np.array", '        assert graph.name not in {"a", "b", "c", "d", "e"}\n        return np.array'
    )
    (folder / "lazy_methods.py").write_text(text, encoding="utf-8")
    for found in ("1 0 [0.0]", "0 0 [0.0]", "0 0 [0.0]"):
        assert said(folder, 'import lazy_methods\nswept("o")') == [found]


def test_workers_do_not_take_the_file_for_what_a_program_made_of_it(folder: Path) -> None:
    """A number that the program sets is not in the file that workers read: they refuse, and a thread does not."""
    text = LAZY.replace("0.5 *", "WEIGHT *").replace("\n\ndef update", "\n\nWEIGHT = 0.5\ndef update")
    (folder / "lazy_methods.py").write_text(text, encoding="utf-8")
    script = """
import lazy_methods
lazy_methods.WEIGHT = 0.25
swept("o", pool=ThreadPoolExecutor(1))
result = sv.sweep(spec_from({"axes": AXES, "num_steps": 1, "record": 1}), store="p", progress=False)
print(result.failures, *result.reasons)
"""
    first, second = said(folder, script)
    assert first == "1 0 [0.25]"
    assert second.startswith("1 InvalidFile: method 'lazy' is another one here")


def test_a_saved_run_does_not_go_on_with_another_rule(folder: Path) -> None:
    """It can be looked at, and goes on where the method is as it was, also in another process."""
    script = """
import lazy_methods
run = sv.simulate(sv.graphs.path(3), [1.0, 2.0, 4.0], lazy_methods.LazyGossip(1.0), num_steps=5, seed=1)
run.save("run.npz")
whole = run.resume(5)
print((sv.Solution.load("run.npz").resume(5).values == whole.values).all())
edit("0.5 *", "0.25 *")
importlib.reload(lazy_methods)
again = sv.Solution.load("run.npz")
print(again.num_steps)
again.save("copy.npz")
for name in ("run.npz", "copy.npz"):
    try:
        sv.Solution.load(name).resume(5)
    except sv.errors.InvalidParameter as error:
        print(error)
"""
    refused = "method 'lazy' has changed since this run was saved: a run cannot go on with another rule"
    assert said(folder, script) == ["True", "5", refused, refused]
    back = 'edit("0.25 *", "0.5 *")\nimport lazy_methods\nprint(sv.Solution.load("run.npz").resume(5).num_steps)'
    assert said(folder, back) == ["10"]
