"""Keyboard, screen reader, phone: the page is for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from .browsers import METHOD, Visit, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from ..studio.helpers import Studio


def test_the_keyboard_is_enough(visit_each: Visit) -> None:
    """From the top: Tab to Run, Enter, then by arrow keys to a node, and Enter makes it curious."""
    visit = visit_each
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
    assert visit.page.evaluate("studio.state.watch") == str(focus)


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


def test_a_phone_shows_everything_without_scrolling_sideways(server: Studio, browser: Browser) -> None:
    """At 390 points, in light and dark, nothing is wider than the screen, and a refusal is seen where it was caused."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="light", has_touch=True)
    visit = Visit(server, context.new_page()).open(f"#graph=rgg:30:seed=2&{METHOD}&method=standard&watch=1&at=50")
    visit.page.locator("#privacy-cards article").nth(1).wait_for()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390

    def brightness() -> float:
        paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return float(np.mean([int(part) for part in paper.strip("rgb()").split(",")[:3]]))

    assert brightness() > 200
    visit.page.fill("[aria-label='noise decay φ, as a number']", "7")  # far below the top
    visit.wait("!document.querySelector('#notice').hidden")
    said = visit.page.locator("#notice").bounding_box()
    assert said is not None
    assert 0 <= said["y"] <= 844 - said["height"]
    visit.page.emulate_media(color_scheme="dark")
    assert brightness() < 60
    context.close()


def test_axe_finds_nothing_wrong(visit_each: Visit) -> None:
    """Roles, landmarks, headings, names and contrast: the playground with a meter and an error, and the live view."""
    visit_each.open(f"#graph=rgg:20:seed=1&{METHOD}&method=standard&watch=0&steps=many")
    visit_each.page.locator("#privacy-cards article").nth(1).wait_for()
    assert visit_each.page.is_visible("#notice")
    assert visit_each.violations() == []
    visit_each.page.get_by_role("tab", name="Live network").click()
    visit_each.wait("document.querySelector('#live-says').textContent.includes('--network')")
    assert visit_each.violations() == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing_wrong_in_the_guide(
    server: Studio, browser: Browser, colours: Literal["light", "dark"]
) -> None:
    """Every step, some in dark colours too, with the playground below them; also while a set-up is refused."""
    context = new_context(browser, color_scheme=colours, reduced_motion="reduce")
    visit = Visit(server, context.new_page())
    visit.page.goto(f"http://{server.address}/")
    visit.wait("window.studio?.views.guide.scenes && studio.problemShown")
    steps = visit.page.evaluate("Object.keys(studio.views.guide.scenes)")
    for step in steps if colours == "light" else ("exchange", "answer"):
        visit.page.evaluate("step => studio.views.guide.jump(step)", step)
        assert visit.violations() == []
    visit.open("#graph=cycle:10&seed=2")
    visit.page.fill("[aria-label='noise decay φ, as a number']", "7")
    visit.wait("document.querySelector('#stage').classList.contains('stale')")
    assert visit.violations() == []
    context.close()


def test_tabs_are_changed_with_arrow_keys(visit: Visit) -> None:
    """One of them is in the order of Tab; arrows, Home and End choose, and the focus goes along."""
    visit.open()
    visit.page.locator("#tab-playground").focus()
    for key, tab in (("ArrowRight", "live"), ("ArrowRight", "guide"), ("End", "live"), ("Home", "guide")):
        visit.page.keyboard.press(key)
        assert visit.page.evaluate("document.activeElement.id") == f"tab-{tab}"
        assert visit.page.is_visible(f"#{tab}")
        assert visit.page.get_attribute(f"#tab-{tab}", "aria-selected") == "true"
    assert visit.page.locator("[role=tab][tabindex='0']").count() == 1
