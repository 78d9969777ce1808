"""A study over a network of peers: exact, the same at all parties, and refused where parties do not agree."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest

from sottovoce.errors import InvalidFile, InvalidParameter
from sottovoce.statistics import PlainSum, run_study, run_together
from sottovoce.statistics.report import page_of, text_of
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
            calls = [
                run_study(declared, rows[name], net[name].average, topic="2026", high=net.config(name).high)
                for name in net
            ]
            return await asyncio.gather(*calls)

    texts = {report.to_json() for report in run_virtually(everybody())}
    assert texts == {run_together(declared, rows).to_json()}


@pytest.mark.parametrize("high", [2.0, 1000.0, 2.0**40])
def test_small_networks_carry_large_sums(tmp_path, high):
    """Numbers are cut to what the network takes; the report does not depend on it."""
    declared = made.study()
    rows = made.tables(declared, tmp_path)
    assert run_together(declared, rows, high=high).to_json() == run_together(declared, rows).to_json()


def test_different_studies_are_refused(tmp_path):
    """One party has another upper bound: everybody is told before any row is counted."""
    one, other = made.study(FEW), made.Study.from_text(made.HEAD.format(smallest=1).replace("80", "81") + FEW)
    plain = PlainSum(["a", "b"])
    table = made.tables(one, tmp_path)["ada"]

    async def both():
        calls = (run_study(study, table, plain.average, topic="t", high=2.0**20) for study in (one, other))
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = asyncio.run(both())
    assert all(isinstance(error, InvalidFile) and "is not that of all contributors" in str(error) for error in refused)
    assert list(plain._given) == ["t/pay/agreement"]


@dataclass
class Blurred:
    """Another answer than the exact one."""

    mean: list[float]
    contributors: tuple[str, ...] = ("a", "b")
    number: int = 2
    plus_minus: float = 0.0


def test_a_mean_that_is_not_sharp_enough_is_refused(tmp_path):
    """Where two whole numbers are possible, none is guessed."""
    declared = made.study(FEW)

    async def average(value, *, topic):
        return Blurred(value, plus_minus=0.25)

    with pytest.raises(InvalidParameter, match=r"tolerance is too wide for exact sums: 2 contributors, .* ± 0.25"):
        asyncio.run(run_study(declared, made.tables(declared, tmp_path)["ada"], average, topic="t", high=2.0**20))


def test_contributors_that_change_on_the_way_are_refused(tmp_path):
    """Counts of some and sums of others would give a wrong mean."""
    declared = made.study(FEW)

    async def average(value, *, topic):
        return Blurred(value, ("a", "c") if topic.endswith("values") else ("a", "b"))

    with pytest.raises(InvalidFile, match=r"values has other contributors than what came before it: a, c, not a, b"):
        asyncio.run(run_study(declared, made.tables(declared, tmp_path)["ada"], average, topic="t", high=2.0**20))


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
