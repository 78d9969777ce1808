"""A study over a network of peers: exact, the same at all parties, and refused where parties do not agree."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from sottovoce.errors import InvalidFile, InvalidParameter
from sottovoce.statistics import Study, Table, run_study, run_together, running
from sottovoce.statistics.showing import page_of, text_of
from sottovoce.statistics.trying import PlainSum
from sottovoce.testing import LocalNetwork, run_virtually

from . import made

FEW = """
[statistics.pay]
kind = "variance"
column = "salary"
by = ["gender"]
[statistics.model]
kind = "linear"
outcome = "salary"
predictors = ["age"]
"""


def test_peers_find_what_one_process_finds(tmp_path):
    """Over real peers with noise and seals, the report is that of plain sums, byte by byte, at all of them."""
    declared = made.study(FEW)
    rows = made.tables(declared, tmp_path)

    async def everybody():
        async with LocalNetwork(made.PARTIES, low=0.0, high=2.0**20, unit="0.0001", tolerance=0.02) as net:
            calls = [run_study(declared, rows[name], net[name], topic="2026") for name in net]
            return await asyncio.gather(*calls)

    texts = {report.to_json() for report in run_virtually(everybody())}
    assert texts == {run_together(declared, rows).to_json()}


@pytest.mark.parametrize("high", [2.0, 1000.0, 2.0**40])
def test_small_networks_carry_large_sums(tmp_path, high):
    """Numbers are cut to what the network takes; the report does not depend on it."""
    declared = made.study()
    rows = made.tables(declared, tmp_path)
    assert run_together(declared, rows, high=high).to_json() == run_together(declared, rows).to_json()


def test_peers_answer_while_a_study_decides_what_is_shown(tmp_path, monkeypatch):
    """Other values are looked for in a thread: that may take a minute, in which others would take it for dead."""
    answered = threading.Event()
    monkeypatch.setattr(running, "told_by_others", lambda *_: {} if answered.wait(30) else pytest.fail("blocked"))
    declared = made.study()
    party = PlainSum(["ada"]).parties()[0]

    async def both():
        own = asyncio.ensure_future(run_study(declared, made.tables(declared, tmp_path)["ada"], party, topic="2026"))
        while not own.done():
            await asyncio.sleep(0.01)
            answered.set()
        return await own

    assert asyncio.run(both()).contributors == ("ada",)


class Answering:
    """A party whose network gives other answers than the exact ones."""

    config = SimpleNamespace(name="a", low=0.0, high=2.0**20)

    def __init__(self, answer):
        self._answer = answer

    async def average(self, value, *, topic, timeout, secret):  # noqa: ASYNC109 - as a peer's
        answer = {"mean": value, "contributors": ("a", "b"), "number": 2, "plus_minus": 0.0, **self._answer(topic)}
        return SimpleNamespace(**answer)

    def contributed(self, topic):
        return None

    def topics(self):
        return {}


def answered(folder, answer):
    declared = made.study(FEW)
    return asyncio.run(run_study(declared, made.tables(declared, folder)["ada"], Answering(answer), topic="t"))


def test_a_mean_that_is_not_sharp_enough_is_refused(tmp_path):
    """Where two whole numbers are possible, none is guessed."""
    with pytest.raises(InvalidParameter, match=r"tolerance is too wide for exact sums: 2 contributors, .* ± 0.25"):
        answered(tmp_path, lambda topic: {"plus_minus": 0.25})


def test_contributors_that_change_on_the_way_are_refused(tmp_path):
    """Counts of some and sums of others would give a wrong mean."""
    with pytest.raises(InvalidFile, match=r"values has other contributors than what came before it: a, c, not a, b"):
        answered(tmp_path, lambda topic: {"contributors": ("a", "c")} if topic.endswith("values") else {})


@pytest.mark.parametrize(("low", "high"), [(1.0, 100.0), (0.0, 1.0)])
def test_a_network_for_other_numbers_is_refused(tmp_path, monkeypatch, low, high):
    """Counts begin with 0, and a number must have a bit at least."""
    monkeypatch.setattr(Answering, "config", SimpleNamespace(name="a", low=low, high=high))
    with pytest.raises(InvalidParameter, match="values may be 0 to 2"):
        answered(tmp_path, lambda topic: {})


def test_a_report_is_read_again(tmp_path):
    """From its JSON, as text and as a page that escapes words and draws a bar for each bin."""
    statistics = made.EVERYTHING.replace("statistics.bands", 'statistics."<b>"')
    report = made.found(tmp_path, statistics)
    content = json.loads(report.to_json())
    assert text_of(content) == report.to_text()
    page = page_of(content)
    assert page == report.to_html()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<rect") == 8 + 6 + 2 + 6
    with pytest.raises(InvalidFile, match="a report must be a JSON object with format"):
        text_of({"format": "other"})


def test_a_report_says_of_which_column_each_statistic_is(tmp_path):
    """Its reader may not have the study: names of statistics are the author's. Reports from before are shown, too."""
    asked = [
        ("n", 'kind = "count"'), ("pay", 'kind = "mean"\ncolumn = "salary"'),
        ("both", 'kind = "correlation"\ncolumns = ["salary", "age"]'),
        ("line", 'kind = "linear"\noutcome = "salary"\npredictors = ["age"]'),
        ("odds", 'kind = "logistic"\noutcome = "gender"\npredictors = ["age"]\nrounds = 3'),
    ]  # fmt: skip
    report = made.found(tmp_path, "\n".join(f"[statistics.{name}]\n{what}" for name, what in asked))
    said = ["n (count)", "pay (mean of salary)", "both (correlation)", "line (linear of salary)"]
    said.append("odds (logistic of gender = m)")
    assert [line for line in report.to_text().splitlines() if line.endswith(")")] == said
    assert "pay <small>mean of salary</small>" in report.to_html()
    before = json.loads(report.to_json())
    for result in before["results"]:
        del result["about"]
    assert "pay (mean)\n" in text_of(before)


def test_bars_begin_at_zero_and_go_to_the_left_if_negative(tmp_path):
    """A mean of −30 is drawn on the other side of zero than one of 10; a row that is not shown has no width."""
    report = json.loads(made.found(tmp_path, '[statistics.pay]\nkind = "mean"\ncolumn = "age"\n').to_json())
    means = [{"job": "a", "mean": -30.0}, {"job": "b", "mean": 10.0}, {"job": "c", "mean": None}]
    report["results"][0]["rows"] = means
    page = page_of(report)
    drawn = re.findall(r'<rect x="([0-9.]+)%" y="3" width="([0-9.]+)%"', page)
    assert [tuple(map(float, each)) for each in drawn] == [(0.0, 75.0), (75.0, 25.0), (75.0, 0.0)]
    assert '<meta name="viewport" content="width=device-width' in page
    report["results"][0]["rows"] = []
    assert "<rect" not in page_of(report)


@pytest.mark.parametrize("kind", ["histogram", "linear", "logistic", "correlation"])
def test_what_rows_add_is_not_held_for_all_sums_at_once(tmp_path, kind):
    """Twenty thousand rows and hundreds of sums: all their numbers together would be 50 to 160 megabytes."""
    words = [f"w{k}" for k in range(30)]
    asked = {
        "histogram": 'column = "n0"\nbins = 1000',
        "linear": 'outcome = "n0"\npredictors = ["word"]',
        "logistic": 'outcome = "both"\npredictors = ["word"]\nrounds = 1',
        "correlation": f"columns = {[f'n{k}' for k in range(25)]}",
    }[kind]
    columns = "".join(f"[columns.n{k}]\nlow = 0\nhigh = 1000\nunit = 1\n" for k in range(25))
    columns += f"[columns.word]\ncategories = {words}\n[columns.both]\ncategories = ['a', 'b']\n"
    head = '[study]\nname = "s"\nsmallest_group = 1\nmost_rows = 20000\n'
    study = Study.from_text(f'{head}{columns}[statistics.x]\nkind = "{kind}"\n{asked}\n')
    rng = np.random.default_rng(1)
    numbers = {name: rng.integers(0, 1001, 20_000) for name in study.columns}
    numbers |= {"word": rng.integers(0, 30, 20_000), "both": rng.integers(0, 2, 20_000)}
    table = Table(numbers, dict.fromkeys(study.columns, 0), 20_000)
    tracemalloc.start()
    try:
        run_together(study, {"a": table})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25e6


def test_a_trial_names_contributors_as_a_network_does(tmp_path):
    """Whatever the order of the files."""
    study = made.study('[statistics.pay]\nkind = "mean"\ncolumn = "age"\n')
    tables = made.tables(study, tmp_path)
    other = dict(reversed(tables.items()))
    assert run_together(study, other).to_json() == run_together(study, tables).to_json()


@pytest.mark.parametrize("key", ["study", "digest", "smallest_group", "contributors", "rows", "clipped", "results"])
@pytest.mark.parametrize("value", [{}, 1.5, [7], None, "x"])
def test_a_damaged_report_is_refused(tmp_path, key, value):
    """Whatever is missing or of another kind: one sentence, or a text where it may be so."""
    content = json.loads(made.found(tmp_path, FEW).to_json()) | {key: value}
    try:
        text_of(content), page_of(content)
    except InvalidFile as error:
        assert "damaged or cut off" in str(error)  # noqa: PT017 - either is right


WRONG = [None, [], {}, "x", [1.5], 10**400, True]


@pytest.mark.parametrize("kind", ["histogram", "proportion", "mean", "count", "linear"])
@pytest.mark.parametrize("key", ["kind", "name", "count", "mean", "share", "from"])
@pytest.mark.parametrize("value", WRONG)
def test_damaged_rows_are_refused(tmp_path, kind, key, value):
    """Of all kinds that are drawn, whatever stands where a number or a name should be."""
    row = {"from": 0.0, "to": 1.0, "job": "cook", "count": 3, "mean": 2.5, "share": 0.5}
    result = {"name": "a", "kind": kind, "rows": [row, dict(row)]}
    (result if key in result else row)[key] = value
    content = json.loads(made.found(tmp_path, FEW).to_json()) | {"results": [result]}
    try:
        text_of(content), page_of(content)
    except InvalidFile as error:
        assert "is not a report of a study" in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize(("key", "value"), [("epsilon_by_honest", {"²": 1.0}), ("epsilon", 10**400), ("rho", "x")])
def test_a_damaged_release_is_refused(tmp_path, key, value):
    """Numbers that Python reads and cannot write."""
    declared = made.Study.from_text(
        made.HEAD.format(smallest=1)
        + '[statistics.n]\nkind = "count"\n[release]\nepsilon = 1.0\ndelta = 1e-6\nhonest = 4\nprotects = "row"\n'
    )
    content = json.loads(run_together(declared, made.tables(declared, tmp_path)).to_json())
    content["release"][key] = value
    with pytest.raises(InvalidFile, match="is not a report of a study"):
        page_of(content)
