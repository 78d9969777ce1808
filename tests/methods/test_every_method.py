"""What is asked of every registered method: that it is complete, and that all ways of running it agree."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods.registry import our_methods
from sottovoce.methods.released import NotStated
from sottovoce.testing.reference import run_plainly

from .settings import GRAPH, SETTINGS, VALUES

ROOT = Path(__file__).parents[2]
OURS = our_methods()
STEPS, SEED = 60, 2


@pytest.fixture(params=SETTINGS, ids=lambda m: m.label())
def method(request):
    return request.param


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


def test_it_is_a_value_with_words(method):
    """It has a label and a repr, equality and a hash, also after a round trip through its own parameters."""
    again = type(method)(**method._given())
    assert method.label()
    assert type(method).__name__ in repr(method)
    assert method == again
    assert len({method, again}) == 1
    assert method != sv.GapOracle(gap=123.0)


def test_what_is_proved_is_a_number_in_range(method):
    """A factor is in (0, 1) and what remains is not negative; outside its proof a method promises no rate."""
    known = method.guarantee(GRAPH)
    assert known.factor is None or 0.0 < known.factor < 1.0
    assert known.remaining is None or known.remaining >= 0.0
    assert known.factor is None or not method.caveats(GRAPH)


def test_compiled_equals_the_interpreter_field_by_field(method):
    """The same functions give the same node table, compiled or not; vector data have noise of their own."""
    data = np.stack([VALUES, VALUES**2], axis=1)
    run = sv.simulate(GRAPH, data, method, num_steps=STEPS, seed=SEED)
    *_, nodes = run_plainly(GRAPH, data[:, 1], method, STEPS, SEED, coordinate=1)
    np.testing.assert_allclose(run._settled()[0, 1], nodes, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.values[:, 1], run._settled()[0, 1, :, 0])


def test_resuming_recording_and_threads_change_nothing(method):
    """Stopping, saving, recording often and using one thread give the very same bits as one long run."""
    once = sv.simulate(GRAPH, VALUES, method, num_steps=STEPS, seed=SEED, replicas=2, record=1, threads=2)
    pieces = sv.simulate(GRAPH, VALUES, method, num_steps=17, seed=SEED, replicas=2, threads=1)
    pieces = pieces.resume(STEPS - 17, record=list(range(18, STEPS)), threads=1)
    np.testing.assert_array_equal(once.values, pieces.values)
    np.testing.assert_array_equal(once.tables, pieces.tables)


def test_saved_and_loaded_runs_go_on_the_same(method, tmp_path):
    """A file brings back the method itself and everything needed to continue."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=20, seed=SEED, replicas=2)
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    assert loaded.method == method
    assert (loaded.status, loaded.notes) == (run.status, run.notes)
    np.testing.assert_array_equal(loaded.resume(20).values, run.resume(20).values)


def test_what_is_conserved_is_conserved(method):
    """Σ values (push-sum: Σ s) less the outstanding noise is Σ private values, to rounding, at every record."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=2000, seed=SEED, replicas=4, record=50)
    assert run.mass_error.max() < 1e-12
