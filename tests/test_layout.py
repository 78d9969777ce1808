"""The shape of the project: its rooms as drawn, what is imported when, what is pinned, what the metadata says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sottovoce

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
USERS_EXTRAS = ("simulate", "amg", "cluster", "peer", "studio")
HEAVY = ["scipy", "numba", "networkx", "matplotlib", "rich", "grpc", "pandas", "pyarrow", "distributed"]


def first_sentence(package: Path) -> str:
    """The first sentence of a package's docstring, without markup; empty if it has none."""
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8"))) or ""
    plain = re.sub(r":\w+:`\.?([^`]+)`", r"\1", " ".join(text.split("\n\n")[0].split())).replace("``", "")
    return re.split(r"\.(?:\s|$)", plain)[0]


def packages(folder: str) -> dict[str, str]:
    """Packages at and below ``folder``: path → first sentence."""
    found = sorted(path.parent for path in (ROOT / folder).rglob("__init__.py"))
    return {path.relative_to(ROOT).as_posix(): first_sentence(path) for path in found}


def drawn() -> dict[str, str]:
    """Folders as the page for contributors draws them: path → description."""
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    drawing = page.partition("```text\n")[2].partition("```")[0]
    found, above = {}, [""]
    for line in drawing.splitlines():
        name, words = re.split(r"/ +", line, maxsplit=1)
        depth = (len(name) - len(name.lstrip())) // 2
        above[depth:] = [*above[depth : depth + 1], f"{above[depth]}{name.strip()}/"]
        found[above[-1].rstrip("/")] = words
    return found


def test_the_rooms_are_drawn_as_they_are() -> None:
    """The page for contributors draws every room of the package, says what its docstring says, and draws no other."""
    assert {path: words for path, words in drawn().items() if path.startswith("src")} == packages("src")


def test_the_tests_mirror_the_rooms() -> None:
    """A folder of tests is named after a room, or says in a docstring what it is for and is drawn."""
    special = {path: words for path, words in packages("tests").items() if words}
    assert {path: words for path, words in drawn().items() if path.startswith("tests")} == special
    others = [path.replace("tests", "src/sottovoce", 1) for path in packages("tests") if path not in special]
    assert [path for path in others if path not in packages("src")] == []


def test_every_folder_drawn_is_there() -> None:
    """Also those that are no packages."""
    assert [path for path in drawn() if not (ROOT / path).is_dir()] == []


def test_the_order_of_rooms_is_the_one_that_is_checked() -> None:
    """Who may import whom, as CONTRIBUTING has it, is import-linter's contract."""
    layers = PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split())
    assert f"`{' → '.join(layers)}`" in text


def test_every_attempt_to_break_a_promise_is_listed() -> None:
    """The docstring of ``tests/attacks`` names every file there, and no other."""
    folder = ROOT / "tests" / "attacks"
    listed = re.findall(r"^(test_\w+)", (folder / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in folder.glob("test_*.py"))


def loaded_after(statement: str) -> set[str]:
    """Top-level modules in a fresh interpreter after ``statement``."""
    program = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    paths = [p for p in sys.path if p]
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}\n{program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.split())


def test_import_is_light() -> None:
    """``import sottovoce`` loads NumPy and nothing heavier."""
    loaded = loaded_after("import sottovoce")
    assert "numpy" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_is_light() -> None:
    """The overview of commands loads no command and nothing heavy."""
    loaded = loaded_after("from sottovoce.cli.main import cli; cli.main(['--help'], standalone_mode=False)")
    assert loaded.isdisjoint(HEAVY)


def test_a_peer_starts_light() -> None:
    """A process that imports the networked node loads no compiler, solver or plotting library."""
    assert loaded_after("import sottovoce.peer").isdisjoint({"numba", "scipy", "networkx", "matplotlib"})


def test_statistics_start_light() -> None:
    """They are for the processes of peers."""
    assert loaded_after("import sottovoce.statistics").isdisjoint({"numba", "scipy", "networkx", "matplotlib"})


@pytest.mark.parametrize("name", sottovoce.__all__)
def test_public_names_exist(name: str) -> None:
    """Every public name can be reached."""
    assert getattr(sottovoce, name) is not None


def test_unknown_names_are_attribute_errors() -> None:
    """A misspelt name is an ``AttributeError``, also through the lazy loader."""
    with pytest.raises(AttributeError, match="no_such_name"):
        sottovoce.no_such_name  # noqa: B018


def test_a_missing_extra_is_named() -> None:
    """On a core install a command that needs more says which extra to install, in one line."""
    program = "import sys; sys.modules['cryptography'] = None; from sottovoce.cli.main import main; main(sys.argv[1:])"
    arguments = ["network", "up", "--peers", "3"]
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.splitlines() == ["error: this needs cryptography: pip install 'sottovoce[peer]'"]


def pins(name: str) -> dict[str, str]:
    """Package → exact version of a constraints file."""
    lines = (ROOT / "constraints" / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pairs), "every line is name==version, without an address"
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in pairs}


def declared(extra: str) -> set[str]:
    """Names that the project needs, with an extra and the extras that it refers to."""
    names = set()
    for requirement in [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"][extra]]:
        if requirement.startswith("sottovoce["):
            further = re.split(r"[\[\],]", requirement)[1:-1]
            names |= {name for other in further for name in declared(other)}
        else:
            names.add(re.split(r"[<>=;\[ ]", requirement)[0].lower())
    return names


def test_development_is_pinned() -> None:
    """Everything that development installs has an exact version."""
    assert declared("dev") <= set(pins("dev.txt"))


def test_the_lowest_versions_are_those_declared() -> None:
    """What pyproject.toml calls the lowest version is the one that `make lowest` tests."""
    extras = PROJECT["project"]["optional-dependencies"]
    asked = (*PROJECT["project"]["dependencies"], *(each for extra in USERS_EXTRAS for each in extras[extra]))
    lowest = pins("lowest.txt")
    for requirement in asked:
        if requirement.startswith("sottovoce["):
            continue
        name, version = re.split(r">=|;", requirement)[:2]
        got = lowest[name.lower()].split(".")
        wanted = version.strip().split(".")
        assert got[: len(wanted)] == wanted, f"{name}: {version} is declared, {lowest[name.lower()]} is tested"


def test_the_version_is_stated_once() -> None:
    """The citation names the version of the package."""
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {sottovoce.__version__}\n" in citation


def test_the_package_is_typed_and_licensed() -> None:
    """Types and licence travel with the package."""
    assert (ROOT / "src" / "sottovoce" / "py.typed").is_file()
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")
