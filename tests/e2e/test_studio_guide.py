"""The guided first minute, as somebody reads it who has never seen the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import sottovoce as sv
from sottovoce.scenario.values import uniform

from .browsers import Visit, new_context

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from ..studio.helpers import Studio

STEPS = ["secrets", "exchange", "neighbour", "noise", "price", "seals", "answer"]
VALUES = uniform(10, 1)


def open_guide(visit: Visit, address: str = "") -> None:
    visit.page.goto(f"http://{visit.server.address}/{address}")
    visit.wait("document.querySelector('#guide').dataset.ready === 'true' && window.studio?.problemShown")


def at_step(visit: Visit, step: str) -> None:
    """Until this step is being read, and the address says so."""
    visit.wait("step => studio.views.guide.step === step && location.hash.includes(`step=${step}`)", step)


def in_sight(visit: Visit, step: str) -> None:
    """Until the page has stopped at the beginning of this step."""
    visit.wait("step => Math.abs(document.querySelector(`#step-${step}`).getBoundingClientRect().top) < 2", step)


def read_now(visit: Visit) -> str:
    step: str = visit.page.evaluate("studio.views.guide.step")
    return step


def ahead(visit: Visit, step: str) -> bool:
    """Whether this step is still to come: a busy machine scrolls late, and then further than was wanted."""
    order = [*STEPS, "playground"]
    return order.index(read_now(visit)) < order.index(step)


def still_there(visit: Visit) -> bool:
    """Whether the page ends up at the step that it shows, when nothing moves any more."""
    step, place = read_now(visit), -1
    while (now := visit.page.evaluate("scrollY")) != place:
        place = now
        visit.page.wait_for_timeout(200)
    return read_now(visit) == step


def in_picture(visit: Visit, selector: str = ".node > text:not(.name)") -> list[str]:
    texts: list[str] = visit.page.eval_on_selector_all(
        f"#guide-picture {selector}", "all => all.map((text) => text.textContent)"
    )
    return texts


def test_a_newcomer_is_led_from_the_secrets_to_the_playground(visit_both: Visit) -> None:
    """With the arrow keys from step to step; the end is the closing sentence, then a run can be started."""
    visit = visit_both
    open_guide(visit)
    # From the beginning, and read at once: the first picture stands for some seconds only.
    first = visit.page.evaluate(
        """() => {
            studio.views.guide.begin();
            const texts = document.querySelectorAll("#guide-picture .node > text:not(.name)");
            return Array.from(texts, (text) => text.textContent);
        }"""
    )
    assert first == [f"{value:.3f}" for value in VALUES]
    visit.wait("document.querySelectorAll('#guide-picture .node.hidden').length === 9")
    assert in_picture(visit)[0] == f"{VALUES[0]:.3f}"
    for step in STEPS[1:]:
        visit.page.keyboard.press("ArrowRight")
        at_step(visit, step)
        in_sight(visit, step)
        assert visit.page.inner_text("#guide-caption")
    title = visit.page.inner_text("#title-answer")
    assert title == f"All ten now hold {VALUES.mean():.4f}, and this is all anybody knows of yours"
    assert set(in_picture(visit)) == {f"{VALUES.mean():.4f}"}
    visit.page.get_by_role("link", name="Now play with it").click()
    visit.wait("studio.views.guide.step === 'playground' && !location.hash.includes('step=')")
    visit.page.keyboard.press("Space")
    visit.wait("studio.step > 3")
    assert visit.complaints == []


def test_the_numbers_of_the_text_are_the_engines(visit: Visit) -> None:
    """The first exchange, what the neighbour knows of you, and the price: computed again here."""
    open_guide(visit)
    graph, noisy = sv.graphs.cycle(10), sv.NoiseInsertion(1.0, 0.9)
    run = sv.simulate(graph, VALUES, noisy, num_steps=4, seed=1)
    assert graph.edges[run.fired_edges()[-1]].tolist() == [0, 1]
    noise = run.outstanding_noise[:2]
    text = visit.page.locator("#step-exchange").text_content() or ""
    for number in (VALUES[0], noise[0], *(VALUES[:2] + noise), run.values[0]):
        assert f"{number:.3f}".replace("-", "−") in text
    whole = sv.simulate(graph, VALUES, noisy, num_steps=900, seed=1)
    found = sv.privacy.attack(whole, sv.privacy.CuriousNodes([1]), 0.29, prior_mean=0.5)
    text = visit.page.locator("#step-neighbour").text_content() or ""
    assert f"{found.estimate[0]:.2f} ± {found.std[0]:.2f}" in text
    open_guide(visit, "#step=price")
    visit.page.get_by_label("φ = 0.95").check(force=True)
    scale = ((VALUES - VALUES.mean()) ** 2).sum() / 2
    steps = [
        int(np.flatnonzero(sv.theory.expected_error(graph, VALUES, method, 2000) / scale <= 1e-6)[0])
        for method in (sv.NoiseInsertion(1.0, 0.95), sv.StandardGossip())
    ]
    assert visit.page.inner_text("#price-steps") == f"{steps[0]}, not {steps[1]}"


def test_one_exchange_is_slowed_down(visit: Visit) -> None:
    """Value, noise, the message that travels, what both then hold: four pictures, one by one."""
    open_guide(visit, "#step=exchange")
    run = sv.simulate(sv.graphs.cycle(10), VALUES, sv.NoiseInsertion(1.0, 0.9), num_steps=4, seed=1)
    said = [f"{number:.3f}".replace("-", "−") for number in VALUES[:2] + run.outstanding_noise[:2]]
    visit.page.evaluate("studio.views.guide.stop(); studio.views.guide.show(0)")
    assert in_picture(visit)[:2] == [f"{value:.3f}" for value in VALUES[:2]]
    for expected in (said, said):
        visit.page.get_by_role("button", name="one picture on").click()
        assert all(any(number in text for text in in_picture(visit, ".front text")) for number in expected)
    visit.page.get_by_role("button", name="one picture on").click()
    assert in_picture(visit)[:2] == [f"{run.values[0]:.3f}"] * 2


def test_the_neighbour_is_shown_with_and_without_noise(visit: Visit) -> None:
    """Without noise your number is known exactly; with noise it is a wide guess. A choice, and a picture for each."""
    open_guide(visit, "#step=neighbour")
    plain = f"{VALUES[0]:.3f}"
    for choice, known in (("with noise", False), ("without noise", True)):
        visit.page.get_by_label(choice, exact=True).check(force=True)
        visit.wait("title => document.querySelector('#guide-picture .title').textContent === title", choice)
        assert (plain in in_picture(visit)) == known
        assert visit.page.locator("#guide-picture .node.exposed").count() == known
        assert ("known exactly" in visit.page.inner_text("#guide-caption")) == known


def test_noise_is_taken_back_picture_by_picture(visit: Visit) -> None:
    """At each pictured step the ring holds the engine's values, and in the end all hold the mean."""
    open_guide(visit, "#step=noise")
    visit.page.evaluate("studio.views.guide.stop()")
    run = sv.simulate(
        sv.graphs.cycle(10), VALUES, sv.NoiseInsertion(1.0, 0.9), num_steps=900, seed=1, record_values=[0, 5, 20, 900]
    )
    steps = visit.page.evaluate("studio.views.guide.story.run.steps")
    for step, values in zip((0, 5, 20, 900), run.recorded_values, strict=True):
        visit.page.evaluate("beat => studio.views.guide.show(beat)", steps.index(step))
        assert in_picture(visit) == [f"{value:.2f}".replace("-", "−") for value in values]
    assert set(in_picture(visit)) == {f"{VALUES.mean():.2f}"}


def test_sealed_edges_hide_where_noise_alone_was_unlucky(visit: Visit) -> None:
    """What is left with noise alone and with seals, on the bars of the picture: audited again here."""
    open_guide(visit, "#step=seals")
    visit.page.evaluate("studio.views.guide.stop(); studio.views.guide.show(studio.views.guide.scene.beats - 1)")
    observer, unlucky = (
        int(visit.page.locator(f"#step-seals [data-fact={fact}]").inner_text()) for fact in ("observer", "unlucky")
    )
    graph = sv.graphs.cycle(10)
    run = sv.simulate(graph, VALUES, sv.NoiseInsertion(1.0, 0.9), num_steps=900, seed=1)
    left = [
        sv.privacy.audit(graph, method, run.fired_edges(), sv.privacy.CuriousNodes([observer]), 0.29).posterior_std
        for method in (sv.NoiseInsertion(1.0, 0.9), sv.SealedGossip(3.0, noise_std=1.0, noise_decay=0.9))
    ]
    shown = [text for text in in_picture(visit, "text") if text.startswith("±")]
    assert shown[:3] == [f"± {std:.2f}" for std in (0.29, left[0][unlucky], left[1][unlucky])]


def test_scrolling_turns_the_pages_and_the_address_follows(visit: Visit) -> None:
    """A step's address opens it again; Back returns to the step from which a link was followed."""
    open_guide(visit)
    visit.page.mouse.move(300, 400)
    for _ in range(200):
        visit.page.mouse.wheel(0, 200 if ahead(visit, "noise") else -200)
        visit.page.wait_for_timeout(30)
        if read_now(visit) == "noise" and still_there(visit):
            break
    at_step(visit, "noise")
    visit.page.reload()
    visit.wait("window.studio?.views.guide.scenes")
    at_step(visit, "noise")
    visit.page.get_by_role("link", name="What does it cost?").click()
    at_step(visit, "price")
    visit.page.go_back()
    at_step(visit, "noise")


def test_nothing_moves_under_the_pointer(visit_both: Visit) -> None:
    """The page stays where it was scrolled to: who presses a link releases it on the link, wherever that stands."""
    visit = visit_both
    open_guide(visit, "#step=answer")
    at_step(visit, "answer")
    for block in ("center", "start", "end"):
        places = visit.page.evaluate(
            """async (block) => {
                const link = document.querySelector("#step-answer .onward a");
                link.scrollIntoView({block, behavior: "instant"});
                const top = () => Math.round(link.getBoundingClientRect().top);
                const places = [top()];
                const began = performance.now();
                while (performance.now() - began < 800 || places.length < 20) {
                    await new Promise(requestAnimationFrame);
                    places.push(top());
                }
                return places;
            }""",
            block,
        )
        assert len(places) >= 20
        assert max(places) - min(places) <= 1, block  # Firefox rounds where it scrolls to a moment later


def test_looks_that_come_together_end_at_the_last(visit: Visit) -> None:
    """A browser that was busy tells at once that a step came, that it went and that the next is there: it is there."""
    open_guide(visit, "#step=noise")
    read = visit.page.evaluate(
        """() => {
            const [noise, price] = ["noise", "price"].map((step) => document.querySelector(`#step-${step}`));
            const look = (target, isIntersecting) => ({target, isIntersecting});
            studio.views.guide.bound = null;
            studio.views.guide.seen([look(price, true), look(price, false), look(noise, true)]);
            const stayed = studio.views.guide.step;
            studio.views.guide.seen([look(noise, true), look(noise, false), look(price, true)]);
            return [stayed, studio.views.guide.step];
        }"""
    )
    assert read == ["noise", "price"]


def test_the_guide_is_alive_before_anything_else_is_there(visit: Visit) -> None:
    """While the server is still busy with its first answers, the pictures move and Page Down turns them whole."""
    visit.page.route("**/api/catalogue", lambda route: None)  # never answered
    visit.page.goto(f"http://{visit.server.address}/")
    visit.wait("document.querySelector('#guide').dataset.ready === 'true'")
    assert in_picture(visit)[0] == f"{VALUES[0]:.3f}"
    visit.wait("document.querySelectorAll('#guide-picture .node.hidden').length === 9")
    for key, step in (("PageDown", "exchange"), ("Space", "neighbour"), ("PageUp", "exchange")):
        visit.page.keyboard.press(key)
        visit.wait(
            """step => Math.abs(document.querySelector(`#step-${step}`).getBoundingClientRect().top) < 2
            && document.querySelector(`#guide-steps [data-step=${step}]`).getAttribute('aria-current') === 'step'""",
            step,
        )


def test_the_guide_can_be_skipped(visit: Visit) -> None:
    """One click leads to the playground; an address with a run in it opens there at once."""
    open_guide(visit)
    visit.page.get_by_role("link", name="Skip to the playground").click()
    visit.wait("studio.views.guide.step === 'playground'")
    visit.open("#graph=star:5")
    assert visit.page.is_hidden("#guide")


def test_who_wants_no_motion_gets_none(server: Studio, browser: Browser) -> None:
    """Pictures stand at their end, nothing is animated, and they can still be turned by hand."""
    context = new_context(browser, reduced_motion="reduce")
    visit = Visit(server, context.new_page())
    for step in STEPS:
        open_guide(visit, f"#step={step}")
        at_step(visit, step)
        assert visit.page.evaluate("document.getAnimations().filter((a) => a.playState === 'running').length") == 0
        assert visit.page.evaluate("studio.views.guide.playing") is False
    open_guide(visit, "#step=noise")
    assert set(in_picture(visit)) == {f"{VALUES.mean():.2f}"}
    visit.page.get_by_role("button", name="one picture back").click()
    assert visit.page.evaluate("studio.views.guide.beat === studio.views.guide.scene.beats - 2")
    context.close()


def test_a_phone_reads_the_guide_too(server: Studio, browser: Browser) -> None:
    """At 390 points each step comes into view, its picture stays in sight, and nothing is wider than the screen."""
    context = new_context(browser, viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    visit = Visit(server, context.new_page())
    open_guide(visit)
    for step in STEPS:
        visit.page.evaluate("step => studio.views.guide.jump(step)", step)
        at_step(visit, step)
        box = visit.page.locator("#guide-picture").bounding_box()
        title = visit.page.locator(f"#title-{step}").bounding_box()
        assert box is not None
        assert title is not None
        assert box["y"] >= -1
        assert box["y"] + box["height"] <= title["y"] < 844
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
