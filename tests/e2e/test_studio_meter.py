"""The privacy meter in real browsers: every number and word is the audit's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sottovoce as sv

from .browsers import NOISY, engine

if TYPE_CHECKING:
    from .browsers import Visit


def test_the_privacy_meter_is_the_audit(visit_each: Visit) -> None:
    """Click a node: every ± on the page is ``sv.privacy.audit``'s, for the method and for standard gossip."""
    visit = visit_each
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
