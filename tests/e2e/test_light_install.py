"""A real environment with nothing but the wheel and its extra ``peer``: peers work, and the rest says what it needs.

The environment is made with pip, as an operator makes it, or with the uv that ``UV`` names: what the metadata of the
wheel asks for cannot be seen in the environment of these tests, which has everything. ``SOTTOVOCE_WHEEL`` names a wheel
that is there already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ..statistics import made

ROOT = Path(__file__).parents[2]
HEAVY = ["llvmlite", "matplotlib", "networkx", "numba", "scipy"]

# Runs each command in one process, and prints for each: the command, its exit code, what it said.
COMMANDS = """
import contextlib, io, json, sys
from sottovoce.cli.main import main
for command in json.load(sys.stdin):
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            main(command)
    except SystemExit as end:
        print(json.dumps([command[0], end.code, said.getvalue()]))
"""

# Evaluates each expression, and prints for each: the expression, the class of the error, its text.
NAMES = """
import json, sys
import sottovoce as sv
graph = sv.graphs.random_geometric(30, seed=1)
for expression in json.load(sys.stdin):
    try:
        eval(expression)
        print(json.dumps([expression, None, None]))
    except Exception as error:
        print(json.dumps([expression, type(error).__name__, str(error)]))
"""


def pip(*arguments: str, python: Path) -> str:
    command = [sys.executable, "-m", "pip", "--python", str(python), *arguments, "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel and its extra ``peer``."""
    folder = tmp_path_factory.mktemp("light")
    wheel = os.environ.get("SOTTOVOCE_WHEEL") or built(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    interpreter = folder / "venv" / "bin" / "python"
    asked = ["install", "--quiet", "--constraint", str(ROOT / "constraints" / "dev.txt"), f"{wheel}[peer]"]
    if os.environ.get("UV"):
        subprocess.run([os.environ["UV"], "pip", *asked, "--python", interpreter], check=True, capture_output=True)
    else:
        pip(*asked, "--no-compile", python=interpreter)
    return interpreter


def built(folder: Path) -> str:
    """A wheel of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return str(next(folder.glob("*.whl")))


def run(python: Path, *arguments: object, given: object = None) -> subprocess.CompletedProcess[str]:
    """Away from the checkout, so that only the environment is seen."""
    command = [str(python), "-I", *map(str, arguments)]
    return subprocess.run(
        command, cwd=python.parent, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=240
    )


def sottovoce(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run(python, "-m", "sottovoce", *arguments)


def test_nothing_for_simulation_is_installed(python: Path) -> None:
    """No compiler, solver or plotting library came with the extra ``peer``."""
    packages = next(python.parent.parent.glob("lib/python*/site-packages"))
    assert [name for name in HEAVY if (packages / name).exists()] == []
    assert (packages / "sottovoce").is_dir()


def test_two_peers_settle(python: Path) -> None:
    """A network of two real processes agrees on the exact mean; founding, TLS and databases included."""
    done = sottovoce(python, "network", "up", "--peers", "2", "--graph", "path", "--seconds", "120", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["settled"] is True
    assert report["proof"]["exact"] is True
    assert report["proof"]["mass_error"] == 0


def test_a_study_runs_and_is_drawn(python: Path, tmp_path: Path) -> None:
    """Statistics of four parties' tables, with a page that has its figures."""
    declared = made.study()
    made.tables(declared, tmp_path)
    (tmp_path / "pay.toml").write_text(made.HEAD.format(smallest=5) + made.EVERYTHING, encoding="utf-8")
    files = [tmp_path / f"{name}.csv" for name in made.PARTIES]
    page = tmp_path / "report.html"
    done = sottovoce(python, "study", "run", tmp_path / "pay.toml", *files, "--trial", "--html", page)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("160 rows of 4 contributors")
    assert "<svg" in page.read_text(encoding="utf-8")


def test_every_other_command_says_what_it_needs(python: Path, tmp_path: Path) -> None:
    """One sentence on standard error that names the extra, and exit code 2; help works everywhere."""
    needed = {
        **dict.fromkeys(["demo", "simulate", "reproduce", "compare", "ensemble", "frontier"], "simulate"),
        **dict.fromkeys(["bound", "plan", "bench", "audit"], "simulate"),
        **dict.fromkeys(["sweep", "plot"], "cluster"),
        "studio": "studio",
    }
    arguments = {"sweep": ["x.toml", "--out", "y"], "plot": ["x"], "reproduce": ["figure-1"]}
    asked = [[name, *arguments.get(name, [])] for name in needed]
    helps = [[name, "--help"] for name in (*needed, "study", "network", "peer")]
    done = run(python, "-c", COMMANDS, given=[*asked, *helps])
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer[1:] for answer in answers[len(asked) :]] == [[0, ""]] * len(helps)
    for name, code, said in answers[: len(asked)]:
        assert code == 2, (name, code, said)
        assert said.startswith("error: "), (name, said)
        assert said.count("\n") == 1, (name, said)
        assert said.endswith(f"pip install 'sottovoce[{needed[name]}]'\n"), (name, said)


def test_every_name_works_or_says_what_it_needs(python: Path) -> None:
    """From Python: simulation, theory, audits and figures name their extra; graphs, methods and accounts are there."""
    needs = [
        "sv.simulate(sv.graphs.cycle(5), [1, 2, 3, 4, 5], sv.StandardGossip(), num_steps=10)",
        "sv.compare", "sv.ensemble", "sv.Solution", "sv.theory.plan", "sv.plotting.plot_run", "sv.privacy.audit",
        "sv.testing.check_method", "graph.to_networkx()", "graph.to_scipy()", "sv.algebraic_connectivity(graph)",
        "sv.NoiseInsertion.largest_free(graph, noise_std=1.0)", "sv.graphs.watts_strogatz(20, 4, 0.1, seed=1)",
    ]  # fmt: skip
    works = [
        "sv.algebraic_connectivity(sv.graphs.cycle(10))", "sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)",
        "sv.privacy.delta(0.5, 1.0)", "sv.privacy.Account", "sv.privacy.CuriousNodes([0])", "sv.peer.Peer",
        "sv.statistics.Study", "sv.testing.LocalNetwork", "sv.graphs.random_regular(3000, 8, seed=1).neighbours_of(0)",
        "sv.graphs.distances.diameter(sv.graphs.random_regular(2100, 3, seed=1))",
    ]  # fmt: skip
    done = run(python, "-c", NAMES, given=[*needs, *works])
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for expression, kind, text in answers[: len(needs)]:
        assert kind == "MissingDependency", (expression, kind, text)
        assert text.endswith("pip install 'sottovoce[simulate]'"), (expression, text)
    assert [answer for answer in answers[len(needs) :] if answer[1] is not None] == []


def test_the_command_that_is_named_takes_what_is_installed(python: Path, tmp_path: Path) -> None:
    """``pip install 'sottovoce[simulate]'`` keeps this sottovoce, even where a later one is offered."""
    other = "sottovoce-999.0"
    with zipfile.ZipFile(tmp_path / f"{other}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{other}.dist-info/METADATA", "Metadata-Version: 2.1\nName: sottovoce\nVersion: 999.0\n")
        wheel.writestr(f"{other}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{other}.dist-info/RECORD", "")
    offered = ("--no-index", "--find-links", str(tmp_path))
    said = pip("install", "--dry-run", "--no-deps", *offered, "sottovoce[simulate]", python=python)
    assert "Requirement already satisfied: sottovoce[simulate]" in said
    assert "999" not in said
    assert "999" in pip("install", "--dry-run", "--no-deps", *offered, "--upgrade", "sottovoce", python=python)
