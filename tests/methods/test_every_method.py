"""What is asked of every method of ours beside the rules of its kind (``sottovoce.testing.check_method``)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sottovoce as sv
from sottovoce.methods.registry import our_methods
from sottovoce.methods.released import NotStated

from .settings import GRAPH, SETTINGS

ROOT = Path(__file__).parents[2]
OURS = our_methods()


@pytest.mark.parametrize("cls", OURS.values(), ids=OURS)
class TestComplete:
    """A method of ours is its file, one equation test and one page."""

    def test_it_has_an_equation_test(self, cls):
        """tests/methods/test_<file>.py has a test_equation."""
        path = Path(__file__).with_name(f"test_{cls.__module__.rpartition('.')[2]}.py")
        tests = {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if hasattr(node, "name")}
        assert "test_equation" in tests

    def test_it_has_a_page(self, cls):
        """docs/reference/methods/<name>.md names the class, what it hides, and what it needs if it needs anything."""
        page = (ROOT / "docs" / "reference" / "methods" / f"{cls.name}.md").read_text(encoding="utf-8")
        assert f"**Name** `{cls.name}`, {{class}}`sottovoce.{cls.__name__}`" in page
        assert "**Privacy.**" in page
        assert ("**Needs.**" in page) == any(method.needs() for method in cls.customary(GRAPH))

    def test_it_can_be_reached(self, cls):
        """It is an attribute of the package and of its methods, and listed there."""
        assert getattr(sv, cls.__name__) is getattr(sv.methods, cls.__name__) is cls
        assert cls.__name__ in sv.__all__
        assert cls.__name__ in sv.methods.__all__

    def test_it_says_what_it_releases(self, cls):
        """There is a customary setting on every graph, and what it shows is stated."""
        for graph in (GRAPH, sv.graphs.complete(2), sv.graphs.star(5)):
            assert cls.customary(graph)
            for method in cls.customary(graph):
                method.validate(graph)
                assert not isinstance(method.releases(graph), NotStated)


@pytest.mark.parametrize("method", SETTINGS.values(), ids=SETTINGS)
def test_what_is_proved_is_a_number_in_range(method):
    """A factor is in (0, 1) and what remains is not negative; outside its proof a method promises no rate."""
    known = method.guarantee(GRAPH)
    assert known.factor is None or 0.0 < known.factor < 1.0
    assert known.remaining is None or known.remaining >= 0.0
    assert known.factor is None or not method.caveats(GRAPH)
