"""The privacy meter in real browsers: every number and word is the audit's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

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


@dataclass(frozen=True)
class Case:
    """A set-up of the meter, and what the package itself says about it."""

    values: list[float]
    watch: str
    view: sv.privacy.View
    prior: float | None


CASES = {
    "one node, mean far above the spread": Case(
        [293.1, 292.4, 293.8, 293.3, 292.9, 293.6, 292.2, 294.0], "3", sv.privacy.CuriousNodes([3]), 0.5
    ),
    "several nodes, tiny scale": Case(
        [k * 1e-9 for k in (3, 1, 4, 1, 5, 9, 2, 6)], "0,4", sv.privacy.CuriousNodes([0, 4]), 3e-9
    ),
    "everyone but one, whole numbers": Case([1, 0, 0, 1, 1, 0, 1, 0], "but-2", sv.privacy.EveryoneBut(2), 0.5),
    "a tapped wire, whole numbers": Case([0, 1, 1, 0, 1, 0, 0, 1], "wire-0-1", sv.privacy.WireTap([(0, 1)]), 0.5),
    "nothing known before, large numbers": Case(
        [7e8 + k / 4 for k in (3, 1, 4, 1, 5, 9, 2, 6)], "5", sv.privacy.CuriousNodes([5]), None
    ),
    "negative numbers, two wires": Case(
        [-k / 7 for k in (3, 1, 4, 1, 5, 9, 2, 6)], "wire-1-2,5-6", sv.privacy.WireTap([(1, 2), (5, 6)]), 0.4
    ),
}


def told(text: str) -> tuple[float, float, float]:
    """The guess and the deviation that a text like ``293.1 ± 0.5`` tells, and the place of its last digit."""
    found = re.fullmatch(r"\(?(\S+) ± ([^\s)]+)(?:\)e(\S+))?", text.replace("−", "-"))
    assert found is not None, text
    power = 10.0 ** int(found[3] or 0)
    digits = found[1].partition(".")[2]
    zeros = len(found[2]) - len(found[2].rstrip("0")) if not digits else -len(digits)
    return float(found[1]) * power, float(found[2]) * power, 10.0**zeros * power


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_meter_is_right_whatever_the_numbers(visit_each: Visit, case: Case) -> None:
    """Deviations are the audit's to the last bit, guesses the attack's to the digits shown; words and colours agree."""
    visit, steps, prior = visit_each, 60, "none" if case.prior is None else case.prior
    numbers = "_".join(map(repr, case.values))
    visit.open(f"#graph=cycle:8&numbers={numbers}&steps={steps}&at={steps}&watch={case.watch}&prior={prior}")
    visit.wait("studio.meter.guesses?.step === 60 && studio.meter.cards.every((card) => card.guess)")
    graph = sv.graphs.cycle(8)
    centre = visit.page.evaluate("studio.meter.data.centre")
    for index, method in enumerate((NOISY, sv.StandardGossip())):
        run = sv.simulate(graph, case.values, method, num_steps=steps, seed=1)
        report = sv.privacy.audit(graph, method, run.fired_edges(), case.view, prior_std=case.prior)
        attack = sv.privacy.attack(run, case.view, case.prior, prior_mean=centre)
        rows = visit.page.locator("#privacy-cards article").nth(index).locator("ul.findings li")
        shown = rows.evaluate_all(
            "rows => rows.map(r => [r.dataset.node, r.dataset.std, r.className, r.querySelector('.what').textContent])"
        )
        own = set(visit.page.evaluate("studio.meter.data.own"))
        assert {int(node) for node, *_ in shown} == set(range(8)) - own
        drawn = visit.page.evaluate("k => studio.meter.cards[k].network.picture.kinds", index)
        for node, std, kind, words in ((int(n), float(s), k, w) for n, s, k, w in shown):
            assert std == report.posterior_std[node]
            assert kind == drawn[node]
            assert (kind == "known") == bool(report.disclosed[node])
            assert kind != "hidden" or words == "nothing learned"
            if "±" in words and "%" not in words:
                guess, deviation, place = told(words)
                assert guess == pytest.approx(attack.estimate[node], abs=0.51 * place)
                assert deviation == pytest.approx(std, abs=0.51 * place)


def test_observers_are_chosen_by_clicks(visit: Visit) -> None:
    """A wire is tapped by clicking it, and let go by a second click; nodes gather; the address says who looks."""
    visit.open("#graph=cycle:10&steps=50&at=50")
    visit.page.get_by_label("a tapped wire").check(force=True)
    ends = visit.page.evaluate("studio.problemShown.graph.edges[4].map((node) => studio.lanes[0].network.places[node])")
    middle = {"x": (ends[0][0] + ends[1][0]) / 2, "y": (ends[0][1] + ends[1][1]) / 2}
    canvas = visit.page.locator("[data-lane='0'] canvas")
    canvas.click(position=middle)
    i, j = visit.page.evaluate("studio.problemShown.graph.edges[4]")
    visit.wait("watch => studio.state.watch === watch && studio.meter.data?.observer.edges", f"wire-{i}-{j}")
    canvas.click(position=middle)
    visit.wait("studio.state.watch === null")
    visit.page.get_by_label("several nodes together").check(force=True)
    for node in (7, 2):
        visit.click_node(node)
    visit.wait("studio.state.watch === '2,7' && studio.meter.data?.own.length === 2")
    visit.page.get_by_label("everyone but one").check(force=True)
    visit.wait("studio.state.watch === 'but-2' && studio.meter.data?.own.length === 9")
    visit.page.fill("#watch-node", "77")
    visit.page.keyboard.press("Enter")
    visit.wait("document.querySelector('#notice span').textContent.includes('no such node')")
    visit.wait("location.hash.includes('watch=but-2')")


def test_three_things_are_told_apart(visit: Visit) -> None:
    """What was believed before, what the answer alone reveals, and this run: each has its curve and its words."""
    visit.open("#graph=cycle:10&steps=400&at=400&watch=0")
    visit.wait("studio.meter.guesses?.step === 400")
    answer = visit.page.evaluate("studio.meter.data.answer")
    assert answer["sentence"] == visit.page.inner_text("#privacy-answer")
    row = visit.page.locator("#privacy-cards article").nth(0).locator("li").nth(0)
    for curve in ("before", "answer", "run"):
        assert row.locator(f"path.{curve}").get_attribute("d")
    said = visit.page.locator("#privacy-cards article .verdict").nth(0).inner_text()
    assert said == visit.page.evaluate("studio.meter.guesses.lanes[0].verdict.sentence")


def test_a_sum_that_is_known_is_never_nothing_learned(visit_each: Visit) -> None:
    """With nothing believed before, whoever is not known by name is in a sum that is; the card says which sums."""
    visit = visit_each
    visit.open("#graph=cycle:8&steps=60&at=60&watch=4&prior=none&method=standard")
    visit.wait("studio.meter.guesses?.step === 60 && studio.meter.cards.every((card) => card.guess)")
    run = engine(60, graph=sv.graphs.cycle(8), method=sv.StandardGossip())
    report = sv.privacy.audit(
        run.graph, sv.StandardGossip(), run.fired_edges(), sv.privacy.CuriousNodes([4]), prior_std=None
    )
    hidden = np.flatnonzero(np.isinf(report.posterior_std))
    assert len(hidden)
    card = visit.page.locator("#privacy-cards article").nth(0)
    for node in hidden.tolist():
        row = card.locator(f"li[data-node='{node}']")
        assert row.locator(".what").inner_text() == "nothing but a sum it is part of"
        assert row.get_attribute("class") == "sum"
    assert card.locator("ul.sums li").count() > 0
    assert "sum" in card.locator(".verdict").inner_text()


def test_almost_nothing_beyond_the_answer_is_said_where_it_is_true(visit: Visit) -> None:
    """Under seals, a node of a well connected graph knows of others hardly more than the answer alone would tell."""
    visit.open("#graph=complete:6&steps=200&at=200&watch=0&prior=0.3&method=sealed:seal_std~10")
    visit.wait("studio.meter.guesses?.step === 200 && studio.meter.cards.every((card) => card.guess)")
    card = visit.page.locator("#privacy-cards article").nth(0)
    assert card.locator(".verdict").inner_text() == "Knows almost nothing beyond the answer of the 5 values."
    assert set(card.locator("ul.findings li .what").all_inner_texts()) == {"almost nothing beyond the answer"}
    alone = visit.page.evaluate("studio.meter.data.answer.std")
    stds = card.locator("ul.findings li").evaluate_all("rows => rows.map((row) => Number(row.dataset.std))")
    assert min(stds) >= 0.99 * alone


def test_a_method_without_an_analysis_is_said_to_have_none(visit: Visit) -> None:
    """It is neither private nor exposed: a sentence stands where the numbers would."""
    visit.open("#graph=cycle:10&steps=50&at=50&watch=0&method=binary-oracle:step_size~0.01")
    card = visit.page.locator("#privacy-cards article.unanalysed")
    card.wait_for()
    assert "not analysed" in card.inner_text().lower()
    assert card.locator("li").count() == 0


def test_large_graphs_have_a_verdict(visit: Visit) -> None:
    """At 10⁵ nodes the meter says what is known about those near a curious node, and near a tapped wire."""
    for watch in ("5", "wire-5-6"):
        visit.page.goto("about:blank")
        visit.open(f"#graph=torus:250x400&steps=2000&at=2000&watch={watch}")
        visit.wait("studio.meter.data?.lanes[0].near")
        said = visit.page.locator("#privacy-cards article .verdict").nth(0).inner_text()
        assert "Of the 40 nearest values it knows none exactly" in said
        assert visit.page.locator("#privacy-cards article").nth(0).locator("li").count() > 3
