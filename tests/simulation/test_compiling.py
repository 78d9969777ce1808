"""Machine code is kept between processes and never goes stale: neither ours nor a user's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods import VALUE, PairMethod
from sottovoce.simulation import compiling

SCRIPT = """
import sottovoce as sv
from sottovoce.simulation.kinds import kind_of
run = sv.simulate(sv.graphs.cycle(5), [1.0, 2.0, 3.0, 4.0, 5.0], sv.StandardGossip(), num_steps=10, seed=1)
kernel, _ = kind_of(run.method).driver(run.method, run.graph, run.aliases)
print(sum(kernel.run.stats.cache_hits.values()), sum(kernel.run.stats.cache_misses.values()))
"""


LIGHT = """
import sys
import numpy as np
import sottovoce as sv
sv.simulate(sv.graphs.random_geometric(100, seed=1), range(100), sv.StandardGossip(), num_steps=10, seed=1)
print(*(name for name in ("scipy.linalg", "scipy.sparse", "scipy.spatial", "networkx") if name in sys.modules))
import numba
print(numba.njit(lambda a: a @ a)(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist())
"""


INTERPRETED = """
import numpy as np
import sottovoce as sv
values = np.random.default_rng(1).random(1500)
run = sv.simulate(sv.graphs.cycle(1500), values, sv.NoiseInsertion(1.0, 0.9), num_steps=70, seed=1, record=[69, 70])
print(*(number.hex() for number in [*run.values, *run.squared_error]))
"""


def python(
    *arguments: str, cache: Path, folder: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Another process, with this cache and these variables."""
    environment = os.environ | {"SOTTOVOCE_CACHE_DIR": str(cache)} | variables
    return subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=folder, capture_output=True, text=True, check=True
    )


def test_kernels_are_compiled_once_and_the_first_run_says_so(tmp_path):
    """A fresh cache: the first process compiles and says so, the second loads silently."""
    outcomes = []
    for _ in range(2):
        done = python("-c", SCRIPT, cache=tmp_path)
        outcomes.append((done.stdout.split(), "compiling the kernel for standard" in done.stderr))
    assert outcomes == [(["0", "1"], True), (["1", "0"], False)]


def test_the_first_run_loads_nothing_that_it_does_not_need():
    """Making a graph and running on it takes no part of SciPy; matrix products of the user's own functions still do."""
    done = python("-c", LIGHT, cache=compiling.cache_directory().parent)
    assert done.stdout.splitlines() == ["", "[[7.0, 10.0], [15.0, 22.0]]"]


def test_without_compiling_the_interpreter_runs_the_same():
    """``NUMBA_DISABLE_JIT=1``, for a debugger: also in networks whose nodes are brought near, to the last bit."""
    cache = compiling.cache_directory().parent
    ways = [python("-c", INTERPRETED, cache=cache, NUMBA_DISABLE_JIT=switch) for switch in "01"]
    assert len(ways[0].stdout.split()) == 1502
    assert ways[0].stdout == ways[1].stdout


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


# -- a user's method, edited -------------------------------------------------------------------------

HELPERS = """
import numba

LEVEL = {level}

def inner():
    return {level}

def outer():
    return inner()

@numba.njit
def jitted():
    return {level}
"""

RULES = """
from sottovoce.methods import PairMethod
import helpers
from helpers import jitted, outer

CONSTANT = {level}

def update(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = {level}

def helper(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = outer()

def jitted_helper(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = jitted()

def attribute(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = helpers.LEVEL

def constant(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = CONSTANT

def default(nodes, i, j, draw_i, draw_j, step, parameters, to={level}):
    nodes[i, 0] = nodes[j, 0] = to

def make(to):
    def closure(nodes, i, j, draw_i, draw_j, step, parameters):
        nodes[i, 0] = nodes[j, 0] = to
    return closure

def untouched(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, 0] = nodes[j, 0] = 7.0

closure = make({level})
"""

DRIVER = """
def drive(nodes):
    rule(nodes, 0, 1, 0.0, 0.0, 1, nodes)
"""

# A driver of one line takes a tenth of the time to compile; it is kept, and found again, as those of simulations are.
RUN = """
import sys
import numpy as np
import sottovoce as sv
import rules
from driver import drive
from sottovoce.simulation.compiling import specialised

def simulated(name):
    cls = type(name, (rules.PairMethod,), dict(name=name, num_fields=1, update=staticmethod(getattr(rules, name))))
    return sv.simulate(sv.graphs.complete(2), [0.0, 1.0], cls(), num_steps=1, seed=1).values[0]

def driven(name):
    nodes = np.zeros((2, 1))
    specialised(drive, rule=getattr(rules, name)).run(nodes)
    return nodes[0, 0]

for name in sys.argv[1:]:
    print(name, (simulated if name in ("update", "untouched") else driven)(name))
"""

EDITED = ["update", "helper", "jitted_helper", "attribute", "constant", "default", "closure"]


def run_project(folder: Path, level: float, *names: str) -> tuple[dict[str, float], set[str]]:
    """Write a project of two files, or edit it, and run some of its rules; also say what was compiled."""
    root = folder.parent
    folder.mkdir(exist_ok=True)
    (folder / "helpers.py").write_text(HELPERS.format(level=level))
    (folder / "rules.py").write_text(RULES.format(level=level))
    (folder / "run.py").write_text(RUN)
    done = python("-c", "import sys; sys.path[1:1] = ['..']; import run", *names, cache=root / "cache", folder=folder)
    values = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    return values, {line.split()[5] for line in done.stderr.splitlines() if "compiling" in line}


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """A project, the same edited, and another one with the same names."""
    root = tmp_path_factory.mktemp("projects")
    (root / "driver.py").write_text(DRIVER)
    return [
        run_project(root / "one", 1.0, *EDITED, "untouched"),
        run_project(root / "one", 2.0, *EDITED, "untouched"),
        run_project(root / "two", 3.0, "update", "constant", "untouched"),
    ]


@pytest.mark.parametrize("part", EDITED)
def test_an_edited_method_runs_as_edited(part, projects):
    """Whatever an update computes with is edited, the next process runs the new rule."""
    assert [values[part] for values, _ in projects[:2]] == [1.0, 2.0]


def test_two_projects_with_the_same_names_have_their_own_methods(projects):
    """A second project runs its own rule on its first run."""
    assert projects[2][0] == {"update": 3.0, "constant": 3.0, "untouched": 7.0}


def test_what_was_not_edited_is_not_compiled_again(projects):
    """A user's method is kept on disk too, and found again from another place."""
    assert [compiled & {"untouched"} for _, compiled in projects] == [{"untouched"}, set(), set()]


LEVEL = 1.0


def to_the_level(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = nodes[j, VALUE] = LEVEL


def by_a_helper(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = nodes[j, VALUE] = level_now()


def level_now():
    return LEVEL


@pytest.mark.parametrize("rule", [to_the_level, by_a_helper])
def test_a_constant_that_changes_between_two_calls_counts(rule, monkeypatch):
    """In one process, as in a notebook: the second call computes with the new value, also inside a helper."""
    cls = type("Levelling", (PairMethod,), {"name": "levelling", "num_fields": 1, "update": staticmethod(rule)})
    for level in (1.0, 2.0, 1.0):
        monkeypatch.setitem(globals(), "LEVEL", level)
        run = sv.simulate(sv.graphs.complete(2), [0.0, 1.0], cls(), num_steps=1, seed=1)
        np.testing.assert_array_equal(run.values, level)


def unknown_name(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = there_is_no_such_name  # noqa: F821


def unknown_attribute(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = 1.0
    nodes[i].frobnicate()


def wrong_call(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = np.quantile(nodes[:, VALUE], 0.5, method="weibull")


def unsupported_syntax(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = len(f"{draw_i:.3f}")


def by_a_broken_helper(nodes, i, j, draw_i, draw_j, step, parameters):
    nodes[i, VALUE] = broken_helper(1.0)


def broken_helper(x):
    return x.frobnicate


@pytest.mark.parametrize(
    ("rule", "reason", "place"),
    [
        (unknown_name, "name 'there_is_no_such_name' is not defined", (unknown_name, 0)),
        (unknown_attribute, "Unknown attribute 'frobnicate' of type array", (unknown_attribute, 2)),
        (wrong_call, "No implementation of function quantile .*argument 'method'", (wrong_call, 1)),
        (unsupported_syntax, "f-strings not supported", (unsupported_syntax, 1)),
        (by_a_broken_helper, "Unknown attribute 'frobnicate'", (broken_helper, 1)),
    ],
)
def test_what_does_not_compile_is_explained_in_one_sentence(rule, reason, place):
    """The message is one line: method, the core of Numba's reason, file and line. The report of Numba is its cause."""
    cls = type("Broken", (PairMethod,), {"name": "broken", "num_fields": 1, "update": staticmethod(rule)})
    with pytest.raises(errors.InvalidParameter, match=reason) as caught:
        sv.simulate(sv.graphs.complete(2), [0.0, 1.0], cls(), num_steps=1, seed=1)
    message, line = str(caught.value), place[0].__code__.co_firstlineno + place[1]
    assert message.startswith("method broken does not compile: ")
    assert f"test_compiling.py, line {line})" in message.replace("in the function at line", "line")
    assert "\n" not in message
    assert type(caught.value.__cause__).__module__.startswith("numba")
