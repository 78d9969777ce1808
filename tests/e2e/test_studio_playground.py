"""The playground in a real browser: what a person does, and that the numbers on the page are the engine's."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.values import uniform

from .browsers import METHOD, engine

if TYPE_CHECKING:
    from .browsers import Visit


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


def test_both_thresholds_of_this_very_graph_are_marked_on_the_slider(visit: Visit) -> None:
    """Up to where no run is slower in the long run, and up to where the proved rate is kept; they follow the graph."""

    def marks() -> list[float]:
        found: list[float] = visit.page.evaluate(
            "['.fast-mark', '.threshold'].map((mark) => Number(document.querySelector(mark).dataset.threshold))"
        )
        return found

    def thresholds(graph: sv.Graph) -> list[float]:
        decays = sv.theory.threshold_decay(graph, form="resolvent"), sv.theory.threshold_decay(graph)
        return [float(each.min()) for each in decays]

    visit.open()
    visit.page.locator(".threshold").wait_for(state="visible")
    assert marks() == pytest.approx(thresholds(sv.graphs.cycle(10)), rel=1e-9)  # it comes with the package
    said = visit.page.locator("ul.marks li").all_inner_texts()
    assert said == [
        "up to φ = 0.904 no run is slower in the long run",
        "up to φ = 0.951 the proved rate is kept",
    ]
    visit.page.select_option("#family", "star")
    proved = thresholds(sv.graphs.star(24))[1]
    visit.wait("wanted => document.querySelector('.threshold').dataset.threshold == wanted", proved)
    place, width = visit.page.evaluate(
        "[document.querySelector('.threshold').offsetLeft, document.querySelector('.rail').offsetWidth]"
    )
    assert 0 <= place <= width


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
    "#method=noise-insertion:noise_std~1,noise_decay~7": "decay φ must be",
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


def test_methods_are_compared_in_step(visit: Visit) -> None:
    """A second method sees the same edges fire; both are at the same step with the engine's numbers."""
    visit.open("#graph=cycle:10&steps=300")
    visit.page.click("#add-method")
    visit.wait("studio.lanes.length === 2 && studio.lanes[1].picture")
    visit.run_to_end()
    assert visit.error(0) == engine(300).relative_error[-1]
    assert visit.error(1) == engine(300, method=sv.StandardGossip()).relative_error[-1]


def test_methods_are_compared_by_messages(visit: Visit) -> None:
    """Each spends the same number, with the engine's errors; pairs and rounds share both axes."""
    visit.open("#graph=cycle:10&steps=300&method=standard&method=synchronous")
    visit.page.get_by_label("by messages").check(force=True)
    visit.wait("studio.comparison.data?.lanes && studio.comparison.chart.plot")
    data = visit.page.evaluate("studio.comparison.data")
    for lane, method in zip(data["lanes"], (sv.StandardGossip(), sv.SynchronousAveraging()), strict=True):
        steps = lane["steps"][-1]
        run = sv.simulate(sv.graphs.cycle(10), uniform(10, 1), method, num_steps=steps, seed=1, record=lane["steps"])
        assert lane["errors"] == run.relative_error.tolist()
        assert lane["messages"] == run.transmissions.tolist()
        assert data["messages"] * 0.8 < lane["messages"][-1] <= data["messages"]
    assert visit.page.evaluate("studio.comparison.chart.plot.scales.x.max") == data["messages"]
    assert visit.page.is_visible("#messages-chart")
    visit.page.get_by_label("by steps").check(force=True)
    assert visit.page.is_visible("#error-chart")
    assert not visit.page.is_visible("#messages-chart")


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


def test_the_slider_says_what_a_decay_costs(visit: Visit) -> None:
    """Expected steps beside those of standard gossip, as computed here; beyond both marks it is many times as many."""
    visit.open("#graph=cycle:10&steps=200")
    values = uniform(10, 1)
    scale = ((values - values.mean()) ** 2).sum() / 2
    methods = sv.NoiseInsertion(1.0, 0.9), sv.StandardGossip()
    steps = [
        int(np.flatnonzero(sv.theory.expected_error(sv.graphs.cycle(10), values, method, 3000) / scale <= 1e-6)[0])
        for method in methods
    ]
    visit.wait("document.querySelector('.cost').textContent.includes('millionth')")
    said = [float(number.replace(",", "")) for number in re.findall(r"[\d,.]+\d", visit.page.inner_text(".cost"))]
    assert said[:2] == pytest.approx(steps, rel=0.06)
    assert said[2] == pytest.approx(steps[0] / steps[1], rel=0.06)
    visit.page.fill("[aria-label='noise decay φ, as a number']", "0.98")
    ratio = float(visit.page.get_attribute(".cost", "data-ratio") or 0)
    gossip = np.log(sv.theory.second_moment_rate(sv.graphs.cycle(10)))
    assert ratio == pytest.approx(gossip / np.log1p(-0.2 * (1 - 0.98**2)), rel=1e-6)
    visit.wait("document.querySelector('.cost.above').textContent.includes('times as many')")
