"""What is not always installed: the table of extras is that of the project, and the sentence names the right one."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from sottovoce.errors import MissingDependency
from sottovoce.foundation.extras import EXTRAS, installed, missing, require

DECLARED = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
IMPORTED_AS = {"cupy-cuda13x": "cupy", "grpcio": "grpc", "prometheus-client": "prometheus_client", "protobuf": "google"}


def test_every_declared_package_is_in_the_table() -> None:
    """Each package of an extra for users is found under the name by which it is imported, and no other is there."""
    expected = {}
    for extra in ("simulate", "amg", "cluster", "peer", "studio", "gpu"):
        for requirement in DECLARED["optional-dependencies"][extra]:
            name = re.split(r"[\[>=;]", requirement)[0]
            if name != "sottovoce":
                expected[IMPORTED_AS.get(name, name)] = extra
    assert expected == EXTRAS


def test_a_peer_installs_nothing_for_simulation() -> None:
    """Neither the core nor the extra ``peer`` asks for a compiler, a solver or a plotting library."""
    needed = [*DECLARED["dependencies"], *DECLARED["optional-dependencies"]["peer"]]
    names = {re.split(r"[\[>=;]", requirement)[0] for requirement in needed}
    assert names.isdisjoint({"sottovoce", *DECLARED["optional-dependencies"]["simulate"]})
    assert names.isdisjoint(package for package, extra in EXTRAS.items() if extra == "simulate")


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who needs what, and the command that brings it; the first that is missing is named."""
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingDependency) as caught:
        require("numpy", "numba", "scipy", by="simulation")
    assert str(caught.value) == "simulation needs numba: pip install 'sottovoce[simulate]'"
    assert isinstance(caught.value, ImportError)


def test_what_is_installed_is_not_imported() -> None:
    """Asking is cheap: nothing is loaded by it."""
    name = next(module for module in ("antigravity", "this") if module not in sys.modules)
    assert installed(name)
    assert name not in sys.modules
    assert not installed("no_such_package")


def test_a_package_that_no_extra_brings_is_our_own_mistake() -> None:
    """The table is complete or the mistake is loud."""
    with pytest.raises(KeyError):
        missing("no_such_package")
