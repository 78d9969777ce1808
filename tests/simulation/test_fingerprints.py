"""A fingerprint sees everything a function computes with, and nothing else."""

from __future__ import annotations

import math
from types import ModuleType

import numba
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.simulation.fingerprints import LARGEST_ARRAY, Fingerprint, compilable


def digest(*values: object) -> str:
    fingerprint = Fingerprint()
    for value in values:
        fingerprint.add(value)
    return fingerprint.digest


def function(source: str, **known: object):
    """The function ``f`` that a source defines."""
    exec(source, known)
    return known["f"]


def test_where_a_function_is_written_does_not_count():
    """The same rule in another file, further down, with other globals around it, has the same fingerprint."""
    one = function("def f(x):\n    return a * x", a=2.0)
    other = function("\n\n# elsewhere\ndef f(x):\n    return a * x", a=2.0, b=3)
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("source", "known"),
    [
        ("def f(x):\n    return 2 * a * x", {"a": 2.0}),
        ("def f(x):\n    return a * x", {"a": 2}),
        ("def f(x):\n    return a * x", {"a": -2.0}),
        ("def f(x):\n    return a * x", {"a": np.float32(2.0)}),
        ("def f(x):\n    return a * x", {"a": math.nan}),
        ("def f(x):\n    return a + x", {"a": 2.0}),
        ("def f(x, y=1):\n    return a * x", {"a": 2.0}),
        ("def f(x, *, y=1):\n    return a * x", {"a": 2.0}),
        ("def f(x):\n    return a * x", {}),
        ("def f(x):\n    return [a * y for y in (x,)][0]", {"a": 2.0}),
    ],
)
def test_what_a_function_computes_with_counts(source, known):
    """Another operation, constant, type, sign, default or a missing name: another fingerprint."""
    assert digest(function(source, **known)) != digest(function("def f(x):\n    return a * x", a=2.0))


def test_names_inside_inner_functions_count():
    """A constant that only a function inside the function uses is seen."""
    source = "def f(x):\n    def g():\n        return a\n    return g()"
    assert digest(function(source, a=1)) != digest(function(source, a=2))


def test_an_array_is_known_by_its_numbers():
    """Changing an entry in place is seen; a large array is told apart, but not for another process."""
    source, table = "def f(x):\n    return table[0] + x", np.zeros(3)
    rule = function(source, table=table)
    before = digest(rule)
    table[1] = 1.0
    assert digest(rule) != before
    fingerprint = Fingerprint()
    fingerprint.add(np.zeros(LARGEST_ARRAY))
    assert not fingerprint.durable


def test_functions_that_call_each_other_in_circles_have_a_fingerprint():
    """It ends, it sees the constant at the far end, and the copy computes the same."""
    source = """
def f(n):
    return g(n - 1) if n > 0 else base
def g(n):
    return f(n - 1) if n > 0 else base
"""
    one, other = function(source, base=1.0), function(source, base=2.0)
    assert digest(one) == digest(function(source, base=1.0)) != digest(other)


def test_a_module_is_known_by_what_is_used_of_it():
    """An attribute that the function reads counts, also through a package; another one does not."""

    def package(level: float, other: float) -> ModuleType:
        outer, inner = ModuleType("outer"), ModuleType("outer.inner")
        outer.inner, inner.level, inner.other = inner, level, other
        return outer

    source = "def f(x):\n    return outer.inner.level"
    one = digest(function(source, outer=package(1.0, 1.0)))
    assert one == digest(function(source, outer=package(1.0, 2.0)))
    assert one != digest(function(source, outer=package(2.0, 1.0)))


def test_what_cannot_be_described_is_known_by_itself_in_this_process_only():
    """An object of some class: the same one gives the same digest, another one another, and nothing is kept on disk."""
    one, other = object(), object()
    assert digest(one) == digest(one) != digest(other)
    fingerprint = Fingerprint()
    fingerprint.add(function("def f(x):\n    return thing", thing=one))
    assert not fingerprint.durable


@pytest.mark.parametrize("thing", [np, math, np.sqrt, math.sin, len, np.linalg.norm, np.float64, numba.int64, (1, 2.0)])
def test_libraries_are_known_by_their_versions(thing):
    """NumPy, math, Numba and the builtins keep a kernel on disk."""
    fingerprint = Fingerprint()
    fingerprint.add(function("def f(x):\n    return thing", thing=thing))
    assert fingerprint.durable


def test_a_copy_is_not_reached_by_later_changes():
    """What was copied computes with the values of that moment, in the function and in the helpers it calls."""
    known: dict[str, object] = {"level": 1.0}
    exec("def h():\n    return level\ndef f():\n    return level + h()", known)
    copied = compilable(known["f"])
    known["level"] = 5.0
    assert copied() == 2.0
    assert compilable(known["f"])() == 10.0


def test_what_several_kernels_call_is_compiled_once():
    """The same function with the same surroundings has one copy; with others, or what has no fingerprint, its own."""
    text = "def f(x):\n    return thing"
    assert compilable(function(text, thing=1.0)) is compilable(function(text, thing=1.0))
    assert compilable(function(text, thing=1.0)) is not compilable(function(text, thing=2.0))
    unknown = object()
    assert compilable(function(text, thing=unknown)) is not compilable(function(text, thing=unknown))


@pytest.mark.parametrize("options", [{"inline": "always"}, {"fastmath": True}, {"error_model": "python"}])
def test_a_helper_keeps_the_options_it_was_compiled_with(options):
    """What a user decorated is compiled again with the same options."""
    helper = numba.njit(**options)(function("def f(x):\n    return 2.0 * x"))
    copied = compilable(function("def f(x):\n    return helper(x)", helper=helper))
    assert copied(1.5) == 3.0
    used = copied.py_func.__globals__["helper"].targetoptions
    assert used.items() >= options.items()
    assert digest(helper) != digest(helper.py_func)


def test_what_was_made_with_a_library_is_not_the_librarys():
    """A ufunc that a user made with Numba or NumPy is known by itself only, so nothing of it is kept on disk."""
    for thing in (numba.vectorize(function("def f(x):\n    return x")), np.frompyfunc(len, 1, 1)):
        fingerprint = Fingerprint()
        fingerprint.add(thing)
        assert not fingerprint.durable


def test_copies_are_named_after_what_they_compute():
    """Machine code on disk is found by name: functions of one name that compute other things have other names there."""
    methods = (sv.MoMurray, sv.Muffliato, sv.ManitaraHadjicostis, sv.MoMurray)
    names = [compilable(method.send).py_func.__qualname__ for method in methods]
    assert all(name.startswith("send_") for name in names)
    assert len(set(names)) == 3
    assert names[0] == names[3]
