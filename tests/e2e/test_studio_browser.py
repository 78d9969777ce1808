"""The studio in a real browser: what a person does, and that the numbers on the page are the engine's.

Driven by Playwright on an installed Chromium (``make test`` installs it where it can).
"""

from __future__ import annotations

import csv
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.values import uniform

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from ..studio.helpers import Studio

BROWSER = next(
    (
        found
        for name in (os.environ.get("SOTTOVOCE_BROWSER", ""), "chromium", "chromium-browser", "google-chrome")
        if name and (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine: `make browser` installs one")

NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
METHOD = "method=noise-insertion:noise_std~1,noise_decay~0.9"


@pytest.fixture(scope="module")
def server() -> Iterator[Studio]:
    pytest.importorskip("uvicorn", reason="the studio needs the extra `studio`")
    from sottovoce.studio.app import create_app

    from ..studio.helpers import Studio

    with Studio(create_app()) as studio:
        yield studio


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


class Visit:
    """A page in the browser, with everything that went wrong on it and everywhere it went."""

    def __init__(self, server: Studio, page: Page) -> None:
        self.server, self.page = server, page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.set_default_timeout(30_000)

    def open(self, address: str = "") -> Visit:
        self.page.goto(f"http://{self.server.address}/{address}")
        self.wait("window.studio?.problemShown && studio.lanes[0]?.picture")
        return self

    def wait(self, expression: str, argument: Any = None) -> None:
        """Until this is true on the page. (Playwright's own way evaluates text there, which the policy forbids.)"""
        deadline = time.monotonic() + 30
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < deadline, f"never true: {expression}; complaints: {self.complaints}"
            self.page.wait_for_timeout(40)

    def settle(self, step: int) -> None:
        """Until this step is shown."""
        self.wait("step => studio.step === step && Number(document.querySelector('#timeline').value) === step", step)

    def run_to_end(self) -> None:
        self.page.click("#end")
        self.settle(self.page.evaluate("studio.problemShown.numSteps"))

    def error(self, lane: int = 0) -> float:
        """The relative error that the page shows, in full."""
        shown = self.page.locator(f"[data-lane='{lane}'] .error").get_attribute("data-value")
        assert shown is not None
        return float(shown)

    def values(self) -> list[float]:
        found: list[float] = self.page.evaluate("Array.from(studio.lanes[0].picture.values)")
        return found

    def click_node(self, node: int) -> None:
        """A real click on the drawing, where the node is."""
        self.wait("studio.lanes[0].network.places?.length === studio.problemShown.graph.numNodes")
        x, y = self.page.evaluate("node => studio.lanes[0].network.places[node]", node)
        self.page.locator("[data-lane='0'] canvas").click(position={"x": x, "y": y})


@pytest.fixture
def visit(server: Studio, browser: Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1300, "height": 900}, accept_downloads=True)
    yield Visit(server, context.new_page())
    context.close()


def engine(num_steps: int, *, graph: sv.Graph | None = None, method: sv.Method = NOISY, seed: int = 1) -> sv.Solution:
    graph = graph or sv.graphs.cycle(10)
    values = uniform(graph.num_nodes, seed)
    return sv.simulate(graph, values, method, num_steps=num_steps, seed=seed, record=400)


def test_a_newcomer_opens_the_page_and_watches_a_run_to_its_end(visit: Visit) -> None:
    """Open, press Run, see it finish with the engine's numbers; nothing is loaded from elsewhere, nothing complains."""
    visit.open()
    visit.page.select_option("#speed", "max")
    visit.page.get_by_role("button", name="Run").click()
    visit.settle(600)
    run = engine(600)
    assert visit.error() == run.relative_error[-1]
    assert visit.values() == run.values.tolist()
    assert "After 600 steps" in visit.page.inner_text("#narrator")
    assert all(url.startswith(f"http://{visit.server.address}/") for url in visit.requests)
    assert visit.complaints == []


def test_run_pause_step_and_back_to_the_start(visit: Visit) -> None:
    """The buttons do what they say."""
    visit.open("#graph=cycle:10&steps=100000&speed=30")
    run = visit.page.locator("#run")
    run.click()
    visit.wait("studio.step > 2")
    assert run.inner_text().strip() == "Pause"
    run.click()
    visit.wait("!studio.playing && !studio.pausing")
    at = visit.page.evaluate("studio.step")
    visit.page.click("#one-step")
    visit.settle(at + 1)
    assert visit.values() == engine(at + 1).values.tolist()
    visit.page.click("#back")
    visit.settle(0)
    assert visit.values() == uniform(10, 1).tolist()


def test_the_threshold_of_this_very_graph_is_marked_on_the_slider(visit: Visit) -> None:
    """It moves with the graph; which rate is kept up to it, and from where a run really slows, is said in words."""
    visit.open()
    mark = visit.page.locator(".threshold")
    mark.wait_for(state="visible")
    assert float(mark.get_attribute("data-threshold") or 0) == sv.theory.threshold_decay(sv.graphs.cycle(10)).min()
    caption = visit.page.locator(".decay-field .caption")
    assert "The proved rate is kept up to φ = 0.951 (at or below" in caption.inner_text()
    assert f"{sv.theory.threshold_decay(sv.graphs.cycle(10), form='resolvent').min():.3f}" in caption.inner_text()
    visit.page.fill("[aria-label='noise decay φ, as a number']", "0.98")
    assert "above" in caption.inner_text()
    visit.page.select_option("#family", "star")
    expected = sv.theory.threshold_decay(sv.graphs.star(24)).min()
    visit.wait("wanted => document.querySelector('.threshold').dataset.threshold == wanted", expected)
    place, width = visit.page.evaluate(
        "[document.querySelector('.threshold').offsetLeft, document.querySelector('.rail').offsetWidth]"
    )
    assert 0 <= place <= width


def test_the_privacy_meter_is_the_audit(visit: Visit) -> None:
    """Click a node: every ± on the page is ``sv.privacy.audit``'s, for the method and for standard gossip."""
    visit.open("#graph=cycle:8&steps=120&prior=0.5")
    visit.click_node(3)
    cards = visit.page.locator("#privacy-cards article")
    cards.nth(1).wait_for()
    visit.run_to_end()
    visit.wait("studio.meter.at === 120")
    run = engine(120, graph=sv.graphs.cycle(8))
    for card, method in ((cards.nth(0), NOISY), (cards.nth(1), sv.StandardGossip())):
        report = sv.privacy.audit(run.graph, method, run.fired_edges(), sv.privacy.CuriousNodes([3]), prior_std=0.5)
        shown = card.locator("li").evaluate_all(
            "rows => rows.map(r => [Number(r.dataset.node), Number(r.dataset.std)])"
        )
        assert dict(shown) == {node: report.posterior_std[node] for node in range(8) if node != 3}
    visit.wait("studio.meter.guesses?.step === 120")
    exactly = visit.page.locator("#privacy-cards article").nth(1).locator("li.known .what").all_inner_texts()
    assert exactly
    assert set(exactly) == {"known exactly"}
    guessed = visit.page.locator("#privacy-cards article").nth(0).locator("li.partly .what").all_inner_texts()
    assert all("±" in text for text in guessed)
    assert "normal with standard deviation 0.5" in visit.page.locator("#assumptions").text_content()  # type: ignore[operator]


def test_what_is_known_grows_as_the_run_proceeds(visit: Visit) -> None:
    """Before the first exchange of the curious node nothing is known, under either method."""
    visit.open("#graph=cycle:8&steps=120&watch=3")
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    texts = visit.page.locator("#privacy-cards li .what").all_inner_texts()
    assert set(texts) == {"nothing learned"}
    visit.run_to_end()
    visit.wait("document.querySelectorAll('#privacy-cards li.known').length > 0")


def test_copied_python_gives_the_numbers_of_the_page(visit: Visit) -> None:
    """The program in the dialog, executed, ends with the error that the page shows."""
    visit.open(
        "#graph=rgg:20:seed=5&steps=300&seed=7&values=normal&method=noise-insertion:noise_std~0.7,noise_decay~free&method=standard"
    )
    visit.run_to_end()
    visit.page.get_by_role("button", name="Copy as Python").click()
    visit.wait("document.querySelector('#text-body').value.includes('simulate')")
    namespace: dict[str, Any] = {"print": lambda *_: None}
    exec(visit.page.input_value("#text-body"), namespace)
    runs = namespace["runs"]
    assert [run.relative_error[-1] for run in runs] == [visit.error(0), visit.error(1)]
    assert visit.values() == runs[0].values.tolist()


def test_an_uploaded_graph_is_run(visit: Visit, tmp_path: Path) -> None:
    """An edge list from a file, with its own values pasted."""
    file = tmp_path / "mine.txt"
    file.write_text("# a kite\n0 1\n1 2\n2 0\n2 3\n", encoding="utf-8")
    visit.open()
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", file)
    visit.wait("studio.problemShown.graph.numNodes === 4")
    visit.page.select_option("#values-kind", "own")
    visit.page.fill("#values-text", "node,value\n0,1\n1,2\n2,4\n3,8\n")
    visit.page.click("#values-use")
    visit.wait("studio.problemShown.trueMean === 3.75")
    visit.run_to_end()
    graph = sv.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)])
    run = sv.simulate(graph, [1.0, 2.0, 4.0, 8.0], NOISY, num_steps=600, seed=1)
    assert visit.values() == run.values.tolist()


def test_a_bad_upload_is_explained_and_changes_nothing(visit: Visit, tmp_path: Path) -> None:
    """The sentence names the line; the old graph stays."""
    visit.open()
    visit.page.select_option("#family", "upload")
    for text, words in (
        ("0 1\n1 x\n", "line 2: expected two whole numbers"),
        ("0 1\n2 3\n", "not connected"),
        ("", "no edges"),
    ):
        file = tmp_path / "bad.txt"
        file.write_text(text, encoding="utf-8")
        visit.page.set_input_files("#edges-file", file)
        visit.wait("words => document.querySelector('#notice span').textContent.includes(words)", words)
    assert visit.page.evaluate("studio.problemShown.graph.numNodes") == 10


def test_a_graph_is_drawn_by_clicking(visit: Visit) -> None:
    """Three clicks make a path; joining its ends makes a triangle."""
    visit.open()
    visit.page.select_option("#family", "draw")
    board = visit.page.locator("#board-canvas")
    for x, y in ((100, 100), (300, 100), (200, 250), (100, 100)):
        board.click(position={"x": x, "y": y})
    visit.page.click("#board-use")
    visit.wait("studio.problemShown.graph.numNodes === 3")
    assert visit.page.evaluate("studio.problemShown.graph.edges.length") == 3


def test_the_address_brings_everything_back(visit: Visit) -> None:
    """Reloading gives the same graph, method, step, curious node and numbers."""
    visit.open(f"#graph=grid:3x4&{METHOD}&method=standard&seed=5&steps=400")
    visit.page.evaluate("studio.seek(150)")
    visit.settle(150)
    visit.click_node(5)
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    visit.wait("location.hash.includes('at=150') && location.hash.includes('watch=5')")
    values, error = visit.values(), visit.error(1)
    visit.page.reload()
    visit.wait("window.studio?.problemShown")
    visit.settle(150)
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    assert visit.values() == values
    assert visit.error(1) == error
    assert values == engine(150, graph=sv.graphs.grid(3, 4), seed=5).values.tolist()
    assert visit.page.input_value("#watch-node") == "5"
    assert visit.page.locator("#methods .method").count() == 2


BAD_ADDRESSES = {
    "#graph=cycle:10&steps=many": "not understood",
    "#graph=cycle:1000000": "at most 100,000 nodes",
    "#graph=/etc/passwd": "graph must be one of",
    "#method=noise-insertion:noise_std~1,noise_decay~7": "noise_decay must be",
    "#edges=0-1_2-3": "not connected",
    "#graph=%E0%A4%A": "not readable",
    "#tab=kitchen": "not understood",
}


def test_a_bad_address_is_explained(visit: Visit) -> None:
    """One sentence each, and the page still works."""
    for address, words in BAD_ADDRESSES.items():
        visit.page.goto(f"http://{visit.server.address}/{address}")
        visit.wait("words => document.querySelector('#notice span').textContent.includes(words)", words)
        assert visit.page.is_visible("#notice")
    visit.page.select_option("#family", "star")
    visit.wait("studio.problemShown?.graph.name === 'star(24)'")
    assert not visit.page.is_visible("#notice")


def test_the_keyboard_is_enough(visit: Visit) -> None:
    """From the top: Tab to Run, Enter, then by arrow keys to a node, and Enter makes it curious."""
    visit.open("#graph=cycle:10&steps=200&speed=max")
    keyboard = visit.page.keyboard

    def tab_to(selector: str) -> None:
        for _ in range(60):
            keyboard.press("Tab")
            if visit.page.evaluate("s => document.activeElement.matches(s)", selector):
                return
        pytest.fail(f"{selector} cannot be reached with Tab")

    tab_to("#run")
    keyboard.press("Enter")
    visit.settle(200)
    tab_to("[data-lane='0'] canvas")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowLeft")
    focus = visit.page.evaluate("studio.lanes[0].network.focus")
    assert focus >= 0
    keyboard.press("Enter")
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    assert visit.page.evaluate("studio.state.watch") == focus


def test_every_control_has_a_name(visit: Visit) -> None:
    """A screen reader can say what each field, button and drawing is."""
    visit.open(f"#graph=rgg:20:seed=1&{METHOD}&method=standard&watch=0")
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    nameless = visit.page.evaluate(
        """Array.from(document.querySelectorAll('button, input, select, textarea, canvas:not([hidden])'))
        .filter(e => !e.closest('.u-wrap'))
        .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim()
            || e.labels?.[0]?.textContent.trim()))
        .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []


def test_methods_are_compared_in_step(visit: Visit) -> None:
    """A second method sees the same edges fire; both are at the same step with the engine's numbers."""
    visit.open("#graph=cycle:10&steps=300")
    visit.page.click("#add-method")
    visit.wait("studio.lanes.length === 2 && studio.lanes[1].picture")
    visit.run_to_end()
    assert visit.error(0) == engine(300).relative_error[-1]
    assert visit.error(1) == engine(300, method=sv.StandardGossip()).relative_error[-1]


def test_data_and_figures_can_be_taken_away(visit: Visit) -> None:
    """CSV has the engine's digits; PNG and SVG are pictures."""
    visit.open("#graph=cycle:10&steps=300")
    visit.run_to_end()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="CSV").click()
    with Path(download.value.path()).open(newline="", encoding="utf-8") as file:
        errors = [float(row["relative_error"]) for row in csv.DictReader(file)]
    assert errors == engine(300).relative_error.tolist()
    for name, opening in (("PNG", b"\x89PNG"), ("SVG", b"<?xml")):
        with visit.page.expect_download() as download:
            visit.page.get_by_role("button", name=name).click()
        assert Path(download.value.path()).read_bytes().startswith(opening)


def test_large_graphs_are_shown_as_distributions(visit: Visit) -> None:
    """A graph that cannot be drawn is run all the same, and says how its values are distributed."""
    visit.open("#graph=torus:60x50&steps=30000&speed=max")
    assert visit.page.evaluate("studio.problemShown.drawn") is False
    visit.run_to_end()
    run = engine(30000, graph=sv.graphs.torus(60, 50))
    assert visit.error() == run.relative_error[-1]
    assert visit.page.evaluate("studio.lanes[0].picture.valueBins.counts.reduce((a, b) => a + b)") == 3000


def test_a_phone_shows_everything_without_scrolling_sideways(server: Studio, browser: Browser) -> None:
    """At 390 points, in light and dark, nothing is wider than the screen."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="light", has_touch=True)
    visit = Visit(server, context.new_page()).open(f"#graph=rgg:30:seed=2&{METHOD}&method=standard&watch=1&at=50")
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390

    def brightness() -> float:
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return float(np.mean([int(part) for part in paper.strip("rgb()").split(",")[:3]]))

    assert brightness() > 200
    visit.page.emulate_media(color_scheme="dark")
    assert brightness() < 60
    context.close()


def test_the_live_view_watches_a_running_network(browser: Browser, tmp_path: Path) -> None:
    """Real peers: their estimates settle on the page, one is lost and comes back, and no private value is sent."""
    pytest.importorskip("sottovoce.peer.runtime.node", reason="peers need the extra `peer`")
    from sottovoce.studio.app import create_app
    from sottovoce.studio.live import Watcher
    from sottovoce.testing.stage import Stage

    from ..studio.helpers import Studio

    secrets = np.array([10.123457, 20.765432, 33.141593])
    settings = {"noise_std": 5.0, "noise_decay": 0.8, "smallest_std": None, "tolerance": 0.5, "rate": 20.0}
    with Stage(tmp_path / "net", sv.graphs.complete(3), secrets, **settings) as stage:
        stage.start()
        with Studio(create_app(watcher=Watcher(stage.folder))) as studio:
            visit = Visit(studio, browser.new_context().new_page())
            heard: list[str] = []
            visit.page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: heard.append(str(frame))))
            visit.open("#tab=live")
            visit.wait("document.querySelectorAll('#live-peers tr:not(.down)').length === 3")
            visit.wait("document.querySelector('#live-says').textContent.includes('3 settled')")
            estimates = visit.page.locator("#live-peers tr td:nth-child(2)").all_inner_texts()
            assert [float(text) for text in estimates] == pytest.approx([secrets.mean()] * 3, abs=0.5)
            stage.kill(stage.names[1])
            visit.page.get_by_text(f"{stage.names[1]} is lost").first.wait_for(state="attached")
            stage.start(stage.names[1])
            visit.page.get_by_text(f"{stage.names[1]} is back").first.wait_for(state="attached")
            assert heard
            assert not any(repr(secret) in message for secret in secrets.tolist() for message in heard)
            visit.page.context.close()


def test_without_a_network_the_live_view_says_how_to_get_one(visit: Visit) -> None:
    """It is a sentence, not an empty page."""
    visit.open()
    visit.page.get_by_role("tab", name="Live network").click()
    visit.wait("document.querySelector('#live-says').textContent.includes('--network')")
    assert not visit.page.is_visible("#playground")
