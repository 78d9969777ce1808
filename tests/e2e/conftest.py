"""A studio and the browsers that visit it, shared by the tests of one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from .browsers import Visit, launch, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from ..studio.helpers import Studio


@pytest.fixture(scope="module")
def server() -> Iterator[Studio]:
    """A studio with the usual limits, as a real server."""
    pytest.importorskip("uvicorn", reason="the studio needs the extra `studio`")
    from sottovoce.studio.app import create_app

    from ..studio.helpers import Studio

    with Studio(create_app()) as studio:
        yield studio


@pytest.fixture(scope="module")
def browsers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Browser]]:
    """A browser by its name, started when it is first asked for.

    Closed at the end of the file: while Playwright is there, its event loop counts as running, and other tests of
    this process could not start one.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    started: dict[str, Browser] = {}
    with playwright.sync_playwright() as driver:

        def browser(name: str) -> Browser:
            if name not in started:
                started[name] = launch(driver, name, tmp_path_factory.mktemp("browser"))
            return started[name]

        yield browser
        for each in started.values():
            each.close()


@pytest.fixture
def browser(browsers: Callable[[str], Browser]) -> Browser:
    """Chromium."""
    return browsers("chromium")


@pytest.fixture
def visit(server: Studio, browser: Browser) -> Iterator[Visit]:
    """A page in Chromium."""
    context = new_context(browser)
    yield Visit(server, context.new_page())
    context.close()


@pytest.fixture(params=["chromium", "firefox"])
def visit_both(request: pytest.FixtureRequest, server: Studio, browsers: Callable[[str], Browser]) -> Iterator[Visit]:
    """A page in Chromium, and the same test again in Firefox."""
    context = new_context(browsers(request.param))
    yield Visit(server, context.new_page())
    context.close()


@pytest.fixture(params=["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def visit_each(request: pytest.FixtureRequest, server: Studio, browsers: Callable[[str], Browser]) -> Iterator[Visit]:
    """The same, with Firefox among the slow tests: it takes some seconds to start, once for each file."""
    context = new_context(browsers(request.param))
    yield Visit(server, context.new_page())
    context.close()
