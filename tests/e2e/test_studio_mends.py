"""What went wrong for people who used the page, one test each, so that it stays mended."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from .browsers import Visit, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, WebSocketRoute

    from ..studio.helpers import Studio

DECAY = "[aria-label='noise decay φ, as a number']"


def test_the_tooltip_follows_the_run(visit: Visit) -> None:
    """A pointer that rests on a node reads its value as it is now."""
    visit.open("#graph=cycle:10&steps=5000&speed=30")
    visit.wait("studio.lanes[0].network.places?.length === 10")
    x, y = visit.page.evaluate("studio.lanes[0].network.places[0]")
    visit.page.locator("[data-lane='0'] canvas").hover(position={"x": x, "y": y})
    tip = visit.page.locator("[data-lane='0'] .tip")
    before = tip.inner_text()
    visit.page.evaluate("studio.transport.toggle()")
    visit.wait("text => document.querySelector('[data-lane=\"0\"] .tip').textContent !== text", before)
    visit.page.evaluate("studio.transport.toggle()")
    visit.wait("!studio.playing && !studio.pausing")
    visit.wait(  # it is written when the browser draws next
        """() => document.querySelector("[data-lane='0'] .tip").textContent
        === studio.pictures.describeNode(studio.lanes[0], 0)"""
    )


def test_after_bad_input_run_says_why_and_is_not_stuck(visit: Visit) -> None:
    """Refused parameters: the button stays Run, the sentence stays, and good ones run again."""
    visit.open("#graph=cycle:10&steps=400&speed=max")
    visit.page.fill(DECAY, "7")
    visit.wait("document.querySelector('#stage').classList.contains('stale')")
    sentence = visit.page.inner_text("#notice span")
    visit.page.click("#notice button")
    visit.page.click("#run")
    assert visit.page.inner_text("#run").strip() == "Run"
    assert visit.page.inner_text("#notice span") == sentence
    visit.page.fill(DECAY, "0.5")
    visit.wait("!document.querySelector('#stage').classList.contains('stale')")
    visit.page.click("#run")
    visit.settle(400)


def test_keys_work_after_a_click(visit: Visit) -> None:
    """Whatever was clicked last, → is one step, Home goes to the start and Space runs and pauses."""
    visit.open("#graph=cycle:10&steps=5000&speed=200")
    for clicked in ("#one-step", "[data-lane='0'] canvas", "#show-printed", "#timeline"):
        visit.page.click(clicked, position={"x": 5, "y": 5})
        visit.page.wait_for_timeout(200)
        visit.page.keyboard.press("Home")
        visit.settle(0)
        visit.page.keyboard.press("ArrowRight")
        visit.settle(1)
        visit.page.keyboard.press("Space")
        visit.wait("studio.playing && studio.step > 1")
        visit.page.keyboard.press("Space")
        visit.wait("!studio.playing && !studio.pausing")


def test_a_key_does_what_the_focused_control_says(visit: Visit) -> None:
    """Who comes with Tab keeps the focus: Space presses the button that has it, and types in a field."""
    visit.open("#graph=cycle:10&steps=5000")
    visit.page.locator("#one-step").focus()
    visit.page.keyboard.press("Space")
    visit.settle(1)
    assert visit.page.evaluate("document.activeElement.id") == "one-step"
    visit.page.locator("#seed").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_timeout(300)
    assert visit.page.evaluate("studio.step") == 1


def test_a_state_too_long_for_an_address_survives_a_reload(visit_each: Visit) -> None:
    """Above two million characters the address does not claim to be the old one, and graph and step are there again."""
    visit = visit_each
    visit.open()
    visit.page.evaluate(
        """() => {
            const nodes = Array.from({length: 20000}, (_, node) => node);
            const edges = nodes.slice(1).map((node) => [node - 1, node]);
            const labels = nodes.map((node) => `${node} ${"long name ".repeat(10)}`);
            studio.change({graph: {edges, labels, name: "a long path"}});
        }"""
    )
    visit.wait("studio.problemShown.graph.numNodes === 20000")
    visit.page.evaluate("studio.seek(77)")
    visit.settle(77)
    visit.wait("history.state?.text?.includes('at=77') && history.state.text.length > 2_000_000")
    assert "cycle" not in visit.page.evaluate("location.hash")
    visit.page.reload()
    visit.wait("window.studio?.problemShown?.graph.numNodes === 20000")
    visit.settle(77)
    visit.page.goto("about:blank")
    visit.page.goto(f"http://{visit.server.address}/#kept=here")
    visit.wait("document.querySelector('#notice span').textContent.includes('load its file again')")


def test_back_returns_to_what_was_shown_before(visit: Visit) -> None:
    """A changed graph and a changed view are entries of the history; steps of a run are not."""
    visit.open("#graph=cycle:10&steps=300")
    visit.page.select_option("#family", "star")
    visit.wait("studio.problemShown.graph.name === 'star(24)'")
    visit.run_to_end()
    visit.wait("location.hash.includes('at=300')")
    visit.page.get_by_role("tab", name="Live network").click()
    visit.page.go_back()
    visit.wait("studio.state.tab === 'playground' && studio.problemShown.graph.name === 'star(24)'")
    visit.settle(300)
    visit.page.go_back()
    visit.wait("studio.problemShown.graph.name === 'cycle(10)'")
    assert visit.page.input_value("#family") == "cycle"
    visit.page.go_forward()
    visit.wait("studio.problemShown.graph.name === 'star(24)'")


def test_light_or_dark_is_remembered(visit: Visit) -> None:
    """The choice outlives a reload."""
    visit.open()
    before = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.page.click("#theme")
    chosen = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert chosen != before
    visit.page.reload()
    visit.wait("window.studio?.problemShown")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == chosen


def test_the_drawing_board_fits_a_phone(server: Studio, browser: Browser) -> None:
    """All of it is inside the screen, and a tap makes a node where it was tapped."""
    context = new_context(browser, viewport={"width": 390, "height": 844}, has_touch=True)
    visit = Visit(server, context.new_page()).open()
    visit.page.select_option("#family", "draw")
    board = visit.page.locator("#board-canvas")
    box = board.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    for button in ("#board-use", "#board-cancel"):
        place = visit.page.locator(button).bounding_box()
        assert place is not None
        assert place["x"] + place["width"] <= 390
    right, bottom = box["width"] - 20, box["height"] - 20
    for x, y in ((20, 20), (right, 20), (right, bottom), (20, 20)):
        board.tap(position={"x": x, "y": y})
    visit.page.click("#board-use")
    visit.wait("studio.problemShown.graph.edges.length === 3 && studio.problemShown.graph.numNodes === 3")
    context.close()


def test_a_server_that_hangs_up_is_not_asked_for_ever(visit: Visit) -> None:
    """After the same set-up ended the talk twice, the page says so and asks again only for another one."""
    asked: list[str] = []

    def talk(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if '"setup"' in str(message):
                asked.append(str(message))
            if '"setup"' in str(message) and "bad" in str(message):
                route.close()
            else:
                server.send(message)

        route.on_message(pass_on)

    visit.page.route_web_socket("**/stream", talk)
    visit.page.goto(f"http://{visit.server.address}/#graph=bad")
    visit.wait("document.querySelector('#notice span').textContent.includes('cannot take this set-up')")
    count = len(asked)
    visit.page.wait_for_timeout(1500)
    assert len(asked) == count == 2
    visit.page.select_option("#family", "star")
    visit.wait("studio.problemShown?.graph.name === 'star(24)'")
    assert visit.page.is_hidden("#notice")


def test_a_thousand_nodes_are_drawn_without_asking_the_style_sheet_for_each(visit: Visit) -> None:
    """Colours are read once for a picture; all nodes are drawn, and a node is found under the pointer by its place."""
    visit.open("#graph=rgg:1000:seed=1&steps=2000")
    visit.wait("studio.lanes[0].network.places?.length === 1000")
    asked = visit.page.evaluate(
        """() => {
        const own = window.getComputedStyle;
        let count = 0;
        window.getComputedStyle = (...given) => { count += 1; return own(...given); };
        studio.lanes[0].network.draw();
        window.getComputedStyle = own;
        return count;
    }"""
    )
    assert 0 < asked <= 10
    visit.click_node(123)
    visit.wait("JSON.stringify(studio.state.watch).includes('123')")


def test_halos_are_spoken_of_only_where_noise_is_taken_back(visit: Visit) -> None:
    """Standard gossip has none: no halo in the legend, none in the narration, no noise in the numbers."""
    visit.open("#graph=cycle:10&steps=300&speed=200&method=standard")
    visit.page.click("#run")
    visit.wait("studio.step > 20")
    words = visit.page.inner_text("#narrator") + visit.page.inner_text("#legend") + visit.page.inner_text(".stats")
    assert "halo" not in words
    assert "noise" not in words
    visit.open("#graph=cycle:10&steps=300&speed=200&seed=2")
    visit.wait("document.querySelector('#legend').innerText.includes('noise still outstanding')")


def test_refusals_speak_in_peoples_words(visit: Visit) -> None:
    """No name of the code is in the sentence about a parameter that is out of range."""
    visit.open("#graph=cycle:10&steps=300")
    visit.page.fill(DECAY, "7")
    visit.wait("!document.querySelector('#notice').hidden")
    assert "_" not in visit.page.inner_text("#notice span")


def test_a_bad_link_leaves_the_page_usable(visit: Visit) -> None:
    """Seeds, nodes and names beyond all bounds: a run or one sentence, the socket stays, and another graph runs."""
    for address, words in (
        ("#graph=rgg:20:seed=99999999999999999999999", ""),
        (f"#seed={10**22}", "seed = “10000000000000000000000”, which is not understood"),
        (f"#edges=0-1{'0' * 400}", "not understood"),
        (f"#edges=0-1{'0' * 300}", "pairs of whole numbers"),
        (f"#graph=cycle:4&numbers=1_2_3_1{'0' * 400}", "numbers = "),
        ("#edges=0-1&names=%25ED%25A0%2580_b", "names = "),
        ("#graph=grid:rows=4000:cols=4000", "at most 100,000 nodes"),
    ):
        visit.page.goto("about:blank")
        visit.page.goto(f"http://{visit.server.address}/{address}")
        visit.wait(
            """words => document.querySelector('#notice span').textContent.includes(words)
            && (words || window.studio?.problemShown?.graph.numNodes === 20)""",
            words,
        )
        visit.wait("window.studio?.connection.socket.readyState === 1")
        visit.page.select_option("#family", "star")
        visit.wait("studio.problemShown?.graph.name === 'star(24)'")
        assert visit.page.is_hidden("#notice")


def test_whatever_fails_becomes_a_sentence(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the server, too large numbers, too little memory: each is said, the socket stays, and it goes on."""
    import sottovoce.studio.stream

    visit.open()
    visit.page.evaluate("studio.connection.socket.mine = true")
    for fault, words in (
        (RuntimeError("a fault"), "something went wrong here"),
        (OverflowError("too large"), "grow beyond what a computer can hold"),
        (MemoryError(), "more memory than there is"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(sottovoce.studio.stream, "opening", Mock(side_effect=fault))
            visit.page.click("#another")
            visit.wait("words => document.querySelector('#notice span').textContent.includes(words)", words)
    visit.page.click("#another")
    visit.wait("!document.querySelector('#stage').classList.contains('stale')")
    assert visit.page.is_hidden("#notice")
    assert visit.page.evaluate("studio.connection.socket.mine && studio.connection.socket.readyState === 1")


def test_what_takes_too_long_is_given_up_with_a_sentence(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its deadline a question ends; the page says so and what to ask for instead, and answers the next one."""
    import sottovoce.studio.app

    from ..studio.helpers import Studio

    impatient = partial(sottovoce.studio.app.Thinkers, deadline=0.01)
    monkeypatch.setattr(sottovoce.studio.app, "Thinkers", impatient)
    context = new_context(browser)
    with Studio(sottovoce.studio.app.create_app()) as studio:
        visit = Visit(studio, context.new_page())
        visit.page.goto(f"http://{studio.address}/#graph=rgg:100000:seed=1")
        visit.wait("document.querySelector('#notice span').textContent.includes('and was given up; ask for a smaller')")
        visit.page.select_option("#family", "star")
        visit.wait("studio.problemShown?.graph.name === 'star(24)'")
        context.close()


def test_far_positions_and_half_characters_get_a_sentence(visit: Visit) -> None:
    """A picture cannot be drawn with a node at 1e308, nor a name be half of a character; both are said."""
    visit.open("#graph=cycle:10&steps=20")
    visit.wait("studio.positions")
    visit.page.evaluate("studio.positions = studio.positions.map(() => [1e308, 0])")
    visit.page.get_by_role("button", name="PNG").click()
    visit.wait("document.querySelector('#notice span').textContent.includes('must be')")
    visit.page.evaluate("studio.change({graph: {edges: [[0, 1]], name: '\\ud800'}})")
    visit.wait("document.querySelector('#notice span').textContent.includes('half of a character')")
    visit.page.select_option("#family", "star")
    visit.wait("studio.problemShown?.graph.name === 'star(24)'")


def test_a_run_too_short_for_its_graph_is_said_to_be(visit: Visit) -> None:
    """A thousand nodes and 600 steps: the page says that these are too few, and one click takes enough."""
    visit.open("#graph=rgg:1000:seed=1&steps=600")
    assert "too few" in visit.page.inner_text("#advice")
    visit.page.click("#take-advice")
    visit.wait("studio.problemShown.numSteps === 30000")
    assert visit.page.is_hidden("#advice")


def test_long_work_is_said_to_be_under_way(visit: Visit) -> None:
    """What the server is busy with stands below the run until it is over."""
    visit.open("#graph=cycle:10&steps=600")
    said = visit.page.evaluate(
        """() => [false, true].map((over) => {
            studio.receive({type: 'working', run: studio.run, about: 'privacy', share: 0.4, over});
            return document.querySelector('#working').textContent;
        })"""
    )
    assert said == ["working: what can be inferred, 40 % …", ""]


def test_a_tooltip_has_the_digits_that_tell_values_apart(visit: Visit) -> None:
    """Values near 293 that differ by a tenth are not all 293."""
    visit.open("#graph=cycle:4&steps=50&numbers=293.11_293.26_293.38_293.45")
    texts = visit.page.evaluate("[0, 1, 2, 3].map((node) => studio.pictures.describeNode(studio.lanes[0], node))")
    assert len({text.split("private ")[1] for text in texts}) == 4
    assert len({text.split("value ")[1].split(",")[0] for text in texts}) == 4
