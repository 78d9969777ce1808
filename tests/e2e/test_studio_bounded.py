"""Real pages that ask for far too much, and a real server at every address that it prints."""

from __future__ import annotations

import json
import signal
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from .browsers import Visit, engine, new_context

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from playwright.sync_api import Browser


GREEDY = "#graph=torus:150x150&steps=100000000&method=synchronous&method=synchronous&method=synchronous"
"""10⁸ rounds of 22 500 nodes, three times: days."""


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the graphs of all slices that were begun."""
    from sottovoce.studio.playing import Playback

    begun: list[int] = []
    original = Playback.advance

    def counted(self: Playback, target: int) -> None:
        begun.append(self.problem.graph.num_nodes)
        original(self, target)

    monkeypatch.setattr(Playback, "advance", counted)
    return begun


@pytest.fixture
def waits(slices: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For every piece of work, how many slices were begun between its being asked for and its beginning."""
    from sottovoce.studio.turns import Threads

    counted: list[int] = []
    original = Threads.compute

    async def noted(self: Threads, work: Callable[[], Any], *, page: Hashable) -> Any:
        asked = len(slices)

        def begin() -> Any:
            counted.append(len(slices) - asked)
            return work()

        return await original(self, begin, page=page)

    monkeypatch.setattr(Threads, "compute", noted)
    return counted


def be_greedy(visit: Visit) -> Visit:
    """Ask for the end of a run that takes days."""
    visit.open(GREEDY)
    visit.page.click("#end")
    return visit


def wait_for_more(slices: list[int], visit: Visit, count: int) -> None:
    """Until so many more slices were begun; the page is used for waiting, so that its events are heard."""
    enough, deadline = len(slices) + count, time.monotonic() + 60
    while len(slices) < enough:
        assert time.monotonic() < deadline, "nothing is computed"
        visit.page.wait_for_timeout(30)


def assert_nothing_is_computed(slices: list[int]) -> None:
    """For half a second no slice is begun: a page that still ran would begin ten."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        before = len(slices)
        time.sleep(0.5)
        if len(slices) == before:
            return
    pytest.fail("closed pages are still computed for")


def test_a_page_that_is_closed_or_left_stops_a_method_in_rounds(visit_each: Visit, slices: list[int]) -> None:
    """Nothing is computed for a page that went elsewhere, nor for one that was closed."""
    be_greedy(visit_each)
    wait_for_more(slices, visit_each, 3)
    visit_each.page.goto("about:blank")
    assert_nothing_is_computed(slices)
    be_greedy(visit_each)
    wait_for_more(slices, visit_each, 3)
    visit_each.page.close()
    assert_nothing_is_computed(slices)


def test_four_greedy_pages_and_a_fifth_that_still_answers(
    visit_each: Visit, browser: Browser, slices: list[int], waits: list[int]
) -> None:
    """A fifth page is set up, runs to its end and marks its threshold while four others run.

    It is counted, not timed: whoever asks for a slice waits for no more than one of every other page. The greedy pages
    say that they are working, and all computing ends with them.
    """
    context, fifth = new_context(browser), visit_each
    greedy = [be_greedy(Visit(fifth.server, context.new_page())) for _ in range(4)]
    wait_for_more(slices, greedy[0], 8)
    waits.clear()
    fifth.open("#graph=cycle:10&steps=200")
    fifth.run_to_end()
    fifth.page.locator(".threshold").wait_for(state="visible")
    assert fifth.error() == engine(200).relative_error[-1]
    fifth.page.close()
    assert max(waits) <= 2 * len(greedy)
    for page in greedy:
        page.wait("document.querySelector('#working').textContent.startsWith('working: running')")
    context.close()
    assert_nothing_is_computed(slices)


@pytest.mark.parametrize("name", ["chromium", pytest.param("firefox", marks=pytest.mark.slow)])
def test_every_printed_address_opens_in_a_browser(name: str, browsers: Callable[[str], Browser]) -> None:
    """Listening everywhere: at each address that the command prints, the page runs to its end."""
    from ..studio.test_command import start

    process = start("--json", "--port", "0", "--host", "0.0.0.0")
    assert process.stdout is not None
    try:
        text = ""
        while not text.strip().endswith("}"):
            text += process.stdout.readline()
        urls = json.loads(text)["urls"]
        for url in urls:
            context = new_context(browsers(name))
            at: Any = SimpleNamespace(address=url.removeprefix("http://").rstrip("/"))
            visit = Visit(at, context.new_page()).open("#graph=cycle:10&steps=200")
            visit.run_to_end()
            assert visit.error() == engine(200).relative_error[-1]
            assert visit.page.url.startswith(url)
            visit.page.get_by_role("button", name="Link").click()
            assert visit.page.input_value("#text-body").startswith(url)
            others = [text for text in visit.complaints if "Cross-Origin-Opener-Policy" not in text]
            assert others == []  # without https, browsers say that they ignore that header
            context.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
