"""Registering: what is refused, what replaces what, and what installed packages offer."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidParameter
from sottovoce.methods import METHODS, PairMethod, register, registry
from sottovoce.methods.registry import find_method, our_methods

from .settings import GRAPH, VALUES


def halfway(nodes, i, j, draw_i, draw_j, step, parameters):
    """Both ends go a share of the way to their average."""
    move = 0.5 * parameters[0] * (nodes[j, 0] - nodes[i, 0])
    nodes[i, 0] += move
    nodes[j, 0] -= move


class Halfway(PairMethod):
    """A method of a user's, not registered yet."""

    name: ClassVar[str] = "halfway"
    num_fields: ClassVar[int] = 1
    update = staticmethod(halfway)

    def parameters(self, graph):
        return np.array([0.5])


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """The registry as it was before each test."""
    monkeypatch.setattr(registry, "_REGISTERED", dict(registry._REGISTERED))


def frozen(label="Own", base=Halfway, **namespace):
    """A frozen dataclass with these attributes."""
    return dataclass(frozen=True)(type(label, (base,), {"__annotations__": {}} | namespace))


def test_a_registered_method_can_be_named():
    """The decorator returns the class itself, which is then found by name and runs."""
    own = frozen()
    assert register(own) is own
    assert METHODS["halfway"] is find_method("halfway") is own
    assert list(METHODS)[-1] == "halfway"
    assert len(METHODS) == len(list(METHODS))
    run = sv.simulate(GRAPH, VALUES, own(), num_steps=50, seed=1)
    assert run.relative_error[-1] < 1
    assert sv.methods.register is register


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: 5, "must be a class derived from PairMethod.*got 5"),
        (lambda: int, "must be a class derived from PairMethod.*got 'int'"),
        (lambda: sv.StandardGossip(), "must be a class derived from"),  # noqa: PLW0108  (an instance)
        (lambda: Halfway, r"must be a frozen dataclass: @dataclass\(frozen=True\) under @register"),
        (lambda: dataclass(type("Own", (Halfway,), {})), "must be a frozen dataclass"),
        (lambda: frozen("Empty", PairMethod), "Empty must define update, name, num_fields"),
        (
            lambda: frozen(update=staticmethod(lambda nodes: None)),
            r"Own must define update\(nodes, .*, got update\(nodes\)",
        ),
        (lambda: frozen(name="Halfway!"), "lower-case letters, digits and hyphens, got 'Halfway!'"),
        (lambda: frozen(name=""), "lower-case letters"),
        (lambda: frozen(name="standard"), "belongs to sottovoce.methods.standard.StandardGossip already"),
        (lambda: frozen(__annotations__={"name": str}, name="own"), "Own.name must be a ClassVar"),
        (lambda: frozen(__annotations__={"num_fields": int}, num_fields=1), "Own.num_fields must be a ClassVar"),
    ],
)
def test_what_cannot_be_registered_is_refused_with_the_reason(make, says):
    """Nothing incomplete, mutable, badly named or ambiguous gets a name."""
    before = dict(METHODS)
    with pytest.raises(InvalidParameter, match=says):
        register(make())
    assert dict(METHODS) == before


def test_defining_it_again_replaces_it():
    """A notebook cell that is run twice gives the second class; one from elsewhere with that name is refused."""
    first, second = register(frozen()), register(frozen())
    assert METHODS["halfway"] is second is not first
    elsewhere = frozen(__module__="other.place")
    with pytest.raises(InvalidParameter, match=r"belongs to .*Own already"):
        register(elsewhere)


def test_an_unknown_name_lists_those_known():
    """The error says what there is, and what to do about a method of one's own."""
    with pytest.raises(InvalidParameter, match=r"one of standard, .*got 'gosip' .one of your own: import it"):
        find_method("gosip")


def test_ours_are_those_of_this_package():
    """A user's method is not an attribute of the package."""
    register(frozen("Elsewhere"))
    assert "Elsewhere" not in our_methods()
    assert not hasattr(sv, "Elsewhere")
    assert our_methods()["StandardGossip"] is sv.StandardGossip


MODULE = """
from dataclasses import dataclass
from typing import ClassVar
from sottovoce.methods import PairMethod

def update(nodes, i, j, draw_i, draw_j, step, parameters):
    pass

@dataclass(frozen=True)
class Offered(PairMethod):
    name: ClassVar[str] = "offered"
    num_fields: ClassVar[int] = 1
    update = staticmethod(update)
"""


def install(folder, *entries):
    """A package as pip leaves it: a module beside its metadata with entry points."""
    (folder / "offering.py").write_text(MODULE)
    info = folder / "offering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(["[sottovoce.methods]", *entries, ""]))


def asked(folder, expression):
    """What a fresh process with that package answers, and its warnings."""
    program = f"import json, sottovoce as sv; from sottovoce.methods import METHODS; print(json.dumps({expression}))"
    paths = [str(folder), *(p for p in sys.path if p)]
    start = f"import sys; sys.path[:0] = {paths!r}"
    found = subprocess.run([sys.executable, "-c", f"{start}\n{program}"], capture_output=True, text=True, check=True)
    return json.loads(found.stdout), found.stderr


def test_an_installed_package_offers_its_methods(tmp_path):
    """An entry point makes a method known by name, after ours, without importing its module by hand."""
    install(tmp_path, "offered = offering:Offered")
    assert asked(tmp_path, "list(METHODS)[-1]") == ("offered", "")
    assert asked(tmp_path, "METHODS['offered'].__module__") == ("offering", "")
    (found, errors) = asked(tmp_path, "repr(sv.methods.registry.find_method('offered')())")
    assert (found, errors) == ("Offered()", "")


def test_a_broken_package_stops_nobody_else(tmp_path):
    """Entry points that cannot be loaded or registered are named in a warning, and the others are there."""
    install(tmp_path, "gone = nowhere:Gone", "clash = sottovoce:Graph", "offered = offering:Offered")
    found, warnings = asked(tmp_path, "[len(METHODS), 'offered' in METHODS, 'gone' in METHODS]")
    assert found == [len(our_methods()) + 1, True, False]
    assert "method 'gone' of offering cannot be used: ModuleNotFoundError" in warnings
    assert "method 'clash' of offering cannot be used: InvalidParameter: a method must be a class" in warnings
