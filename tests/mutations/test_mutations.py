"""The table of mutants leads somewhere, and the program tells a good test from a poor one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .__main__ import ROOT
from .kinds import Named, Target
from .mutants import Mutant, named, usual
from .operators import mistakes
from .running import Workshop, try_all
from .table import HARMLESS, NAMED, TARGETS

EXAMPLE = '''
def gate(a: int, b: int = 3) -> bool:
    """Not to be touched: 1."""
    if a < b and not b == 0:
        raise ValueError("also not: 2")
    return a + b > 10.0
'''


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.code)
def test_every_target_exists(target: Target) -> None:
    """Code named in the table is in the package, allows mistakes that are still Python, and its tests exist."""
    made = list(usual(ROOT, target))
    assert made
    for mutant in made:
        ast.parse(mutant.source)
    assert [test for test in target.tests if not (ROOT / test.partition("::")[0]).exists()] == []


@pytest.mark.parametrize("entry", NAMED, ids=lambda entry: entry.title)
def test_every_named_mistake_can_be_made(entry: Named) -> None:
    """The old text of a mistake with a name stands in its code exactly once, and its tests exist."""
    mutant = named(ROOT, entry)
    ast.parse(mutant.source)
    assert mutant.source != (ROOT / mutant.path).read_text(encoding="utf-8")
    assert [test for test in entry.tests if not (ROOT / test.partition("::")[0]).exists()] == []


def test_mutants_called_harmless_exist() -> None:
    """No excuse outlives the code that it was for."""
    names = {mutant.name for target in TARGETS for mutant in usual(ROOT, target)}
    assert sorted(set(HARMLESS) - names) == []


def test_the_usual_mistakes() -> None:
    """Conditions are negated, clauses dropped, comparisons and signs swapped, constants changed, errors not raised."""
    made = {(mistake.old, mistake.new) for mistake in mistakes(EXAMPLE, ["gate"])}
    assert made == {
        ("3", "4"),
        ("a < b and (not b == 0)", "(not (a < b and (not b == 0)))"),
        ("a < b and (not b == 0)", "(a < b)"),
        ("a < b and (not b == 0)", "(not b == 0)"),
        ("a < b", "(a <= b)"),
        ("not b == 0", "(b == 0)"),
        ("b == 0", "(b != 0)"),
        ("0", "1"),
        ("raise ValueError('also not: 2')", "pass"),
        ("return a + b > 10.0", "return None"),
        ("a + b > 10.0", "(a + b >= 10.0)"),
        ("a + b", "(a - b)"),
        ("10.0", "10000.0"),
        ("10.0", "0.01"),
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package with one function, a test that looks at it closely and one that does not."""
    (tmp_path / "src" / "small").mkdir(parents=True)
    (tmp_path / "src" / "small" / "__init__.py").write_text("def half(x):\n    return x / 2\n")
    (tmp_path / "test_good.py").write_text("import small\n\ndef test_half():\n    assert small.half(4) == 2\n")
    (tmp_path / "test_poor.py").write_text("import small\n\ndef test_half():\n    small.half(4)\n")
    (tmp_path / "test_stuck.py").write_text("import small\n\ndef test_half():\n    while small.half(4) != 2: pass\n")
    return tmp_path


def test_a_good_test_kills_and_a_poor_one_does_not(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same mistake is killed by the one, survives the other, and leaves neither project nor copy changed."""
    path, wrong = Path("src/small/__init__.py"), "def half(x):\n    return x * 2\n"
    before = (project / path).read_text()
    workshop = Workshop(project, tmp_path_factory.mktemp("copies") / "copy", limits={("test_stuck.py",): 3.0})
    mutants = [Mutant(test, path, wrong, (test,)) for test in ("test_good.py", "test_poor.py", "test_stuck.py")]
    verdicts = try_all(mutants, [workshop], seconds=1e9)
    assert [verdict.how for verdict in verdicts] == ["killed", "survived", "timeout"]
    assert (project / path).read_text() == (workshop.folder / path).read_text() == before


def test_tests_that_fail_by_themselves_prove_nothing(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A mutant is not called killed by a test that fails without it, or by no test at all."""
    (project / "test_broken.py").write_text("def test_no():\n    assert False\n")
    (project / "test_empty.py").write_text("")
    workshop = Workshop(project, tmp_path_factory.mktemp("copies") / "copy")
    for tests in (("test_broken.py",), ("test_empty.py",)):
        with pytest.raises(RuntimeError, match=tests[0]):
            workshop.attempt(Mutant("any", Path("src/small/__init__.py"), "", tests))


def test_no_time_means_no_mutants(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """When the time is over nothing more is tried."""
    workshop = Workshop(project, tmp_path_factory.mktemp("copies") / "copy")
    mutant = Mutant("any", Path("src/small/__init__.py"), "", ("test_good.py",))
    assert list(try_all([mutant], [workshop], seconds=-1.0)) == []
