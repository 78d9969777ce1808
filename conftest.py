"""For all of pytest: hypothesis profiles, plots without a display, and the examples in Markdown pages.

Examples in ``README.md`` and ``docs/`` are run by Sybil: a fenced block marked ``python`` is a doctest
if it has prompts and a program otherwise, and a ``{code-block} py`` is a file named by its caption. The
blocks of a page share one namespace and run in a temporary directory, in order, and can import files
from there. ``<!-- skip: next -->`` before a block leaves it out; say why.

``--part 2/40`` runs one of 40 parts of what is chosen, about as long as the others (``tests/parts.py``); after
``--at-most`` seconds the rest is skipped, and says so.
"""

from __future__ import annotations

import doctest
import gc
import os
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from sybil import Example, Sybil
from sybil.parsers.myst import CodeBlockParser, PythonCodeBlockParser, SkipParser

sys.path.insert(0, str(Path(__file__).parent))  # for what tests share
from tests.environment import put_back
from tests.parts import measured, part_of, write

# Sphinx's configuration is no test module, and would write pages when imported.
collect_ignore_glob = ["docs/*.py"]

os.environ.setdefault("MPLBACKEND", "Agg")
# Tests that start processes run the sources beside them, installed or not.
_SOURCES = str(Path(__file__).parent / "src")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_SOURCES, os.environ.get("PYTHONPATH")]))

# A shell starts programs in the background with Ctrl-C ignored, and they hand that on: tests of it need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `ci` finds the same examples on every machine, so that a red build can be repeated.
hypothesis.settings.register_profile("ci", max_examples=40, derandomize=True, deadline=None)
hypothesis.settings.register_profile("dev", max_examples=40, deadline=None)
hypothesis.settings.register_profile("thorough", max_examples=1000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", help="run the k-th of N parts of the chosen tests: k/N")
    parser.addoption("--at-most", type=float, help="skip what has not begun after so many seconds")
    parser.addoption("--measure", action="store_true", help="write processor times to tests/seconds.json")


# They run code again and again that the tests of its room cover; tracing it would double their time.
REPEATING = ("tests/agreement/", "tests/attacks/", "tests/e2e/", "tests/paper/", "tests/peer/test_endurance.py")


# They wait for processes or compile; begun last, one of them would keep a single worker busy at the end.
LONG = ("tests/e2e/", "tests/attacks/", "tests/experiments/", "tests/simulation/", "tests/scenario/", "tests/studio/")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
    for item in items:
        if item.nodeid.startswith(REPEATING):
            item.add_marker("no_cover")
    asked = config.getoption("--part")
    if asked:
        chosen = part_of([item.nodeid for item in items], asked)
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: to look for garbage in it again and again took a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


_BEGAN = time.monotonic()
_SPENT: dict[str, list[float]] = {}


def pytest_runtest_setup(item: pytest.Item) -> None:
    limit = item.config.getoption("--at-most")
    if limit is not None and time.monotonic() - _BEGAN > limit:
        pytest.skip(f"{limit:g} s are over; another part, or the whole, runs this")


_ENVIRONMENT: dict[str, str] = {}
"""As it was before the first test."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    if not _ENVIRONMENT:
        _ENVIRONMENT.update(os.environ)
    with measured(item.nodeid, _SPENT):
        result = yield
    if nextitem is None or nextitem.path != item.path:
        put_back(_ENVIRONMENT)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--measure"):
        write(_SPENT)


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Pyplot keeps every figure until it is closed, and warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def _enter(namespace: dict[str, Any]) -> None:
    namespace["_home"] = Path.cwd()
    namespace["_scratch"] = tempfile.TemporaryDirectory(prefix="sottovoce-docs-")
    os.chdir(namespace["_scratch"].name)
    sys.path.insert(0, "")


def _leave(namespace: dict[str, Any]) -> None:
    sys.path.remove("")
    os.chdir(namespace["_home"])
    namespace["_scratch"].cleanup()


def _write_file(example: Example) -> None:
    Path(example.region.lexemes["options"]["caption"]).write_text(example.parsed, encoding="utf-8")


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE),
        CodeBlockParser("py", _write_file),
        SkipParser(),
    ],
    patterns=["*.md"],
    setup=_enter,
    teardown=_leave,
).pytest()
