"""Parties with different studies are told what differs, and who has what, before any row is counted."""

from __future__ import annotations

import asyncio
import itertools
import json
import re

import pytest

from sottovoce.errors import InvalidFile
from sottovoce.statistics import PlainSum, Study, run_study
from sottovoce.testing import LocalNetwork, run_virtually

from . import made

FEW = '[statistics.pay]\nkind = "mean"\ncolumn = "salary"\n'
TEXT = made.HEAD.format(smallest=1) + FEW


def refused(texts, folder, high=2.0**20, table=None):
    """What each party is told, and the topics that there were."""
    table = made.tables(Study.from_text(TEXT), folder)["ada"] if table is None else table
    plain = PlainSum(made.PARTIES[: len(texts)], high)

    async def everybody():
        pairs = zip(map(Study.from_text, texts), plain.parties(), strict=True)
        calls = (run_study(study, table, party, topic="t") for study, party in pairs)
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(everybody()), list(plain.given)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("high = 80", "high = 81", "columns.age.high is 80 at ada, bob and 81 at cyd"),
        ('unit = "0.01"', 'unit = "0.1"', 'columns.salary.unit is "0.01" at ada, bob and "0.1" at cyd'),
        ('["f", "m"]', '["m", "f"]', 'columns.gender.categories is ["f", "m"] at ada, bob and ["m", "f"] at cyd'),
        ('"mean"', '"sum"', 'statistics.pay.kind is "mean" at ada, bob and "sum" at cyd'),
        ('name = "pay"', 'name = "wages"', 'study.name is "pay" at ada, bob and "wages" at cyd'),
        ("unit = 1\n", "unit = 1\nclip = true\n", "columns.age.clip is not given at ada, bob and true at cyd"),
        (
            FEW, FEW + "[release]\nepsilon = 1\ndelta = 1e-6\nhonest = 2\nprotects = 'row'\n",
            "release.epsilon is not given at ada, bob and 1 at cyd",
        ),
    ],
)  # fmt: skip
def test_every_party_is_told_which_key_differs(tmp_path, old, new, words):
    """Both settings, and the parties on both sides; nothing of the rows was contributed."""
    told, topics = refused([TEXT, TEXT, TEXT.replace(old, new)], tmp_path)
    assert all(isinstance(error, InvalidFile) for error in told)
    assert len({str(error) for error in told}) == 1
    assert str(told[0]).startswith("the parties have different studies: ")
    assert words in str(told[0])
    assert topics == ["t/agreement", "t/digests", "t/sizes", "t/studies"]


MORE = '[statistics.years]\nkind = "mean"\ncolumn = "age"\n'


def test_statistics_in_another_order_are_another_study(tmp_path):
    """Sums travel in the order of the statistics: with another one each would be added to the sum of another."""
    told, topics = refused([TEXT + MORE, made.HEAD.format(smallest=1) + MORE + FEW], tmp_path)
    words = 'order.statistics is ["pay", "years"] at ada and ["years", "pay"] at bob'
    assert [str(error) for error in told] == [f"the parties have different studies: {words}"] * 2
    assert topics == ["t/agreement", "t/digests", "t/sizes", "t/studies"]


def test_columns_may_be_in_another_order(tmp_path):
    """What is clipped of each is counted all the same, and the reports are equal."""
    texts = [
        f'[study]\nname = "s"\nsmallest_group = 1\nmost_rows = 9\n{one}{other}{FEW.replace("salary", "a")}'
        for one, other in itertools.permutations(
            f"[columns.{name}]\nlow = 0\nhigh = 5\nunit = 1\nclip = true\n" for name in "ab"
        )
    ]
    (tmp_path / "rows.csv").write_text("a,b\n9,1\n9,1\n1,1\n")
    told, _ = refused(texts, tmp_path, table=Study.from_text(texts[0]).read(tmp_path / "rows.csv"))
    assert told[0].clipped == {"a": 4, "b": 0}
    assert told[0].to_json() == told[1].to_json()


def test_a_difference_far_into_a_long_list_is_shown(tmp_path):
    """It was not found among the first characters that were compared, and nothing was named."""
    words = [f"w{k:03}" for k in range(80)]
    texts = [TEXT.replace('["f", "m"]', json.dumps([*words[:40], other, *words[40:]])) for other in ("x", "y")]
    told, _ = refused(texts, tmp_path)
    found = str(told[0])
    assert found.startswith("the parties have different studies: columns.gender.categories is …")
    assert re.fullmatch(r'.* is …[^…]*"w039", "x"[^…]*… at ada and …[^…]*"w039", "y"[^…]*… at bob', found)
    assert len(found) < 300


def test_three_versions_are_told_apart(tmp_path):
    """Each party's setting is named once; of many differences a few are shown and the others counted."""
    other = TEXT.replace("80", "81")
    wild = TEXT.replace("80", "82").replace("16", "17").replace("cook", "chef").replace('"pay"', '"x"')
    told, _ = refused([TEXT, other, wild.replace("500", "600").replace("200000", "100")], tmp_path)
    assert "columns.age.high is 80 at ada and 81 at bob and 82 at cyd" in str(told[0])
    assert str(told[0]).endswith("; and 1 more")


@pytest.mark.parametrize("high", [2.0, 1000.0])
def test_small_networks_tell_it_as_well(tmp_path, high):
    """Descriptions travel in pieces of a few bits."""
    told, _ = refused([TEXT, TEXT.replace("high = 80", "high = 81")], tmp_path, high)
    assert "columns.age.high is 80 at ada and 81 at bob" in str(told[0])


def test_peers_are_told_what_differs(tmp_path):
    """The same between real peers; where the study is too long for their network, the digests are told."""
    studies = [Study.from_text(TEXT), Study.from_text(TEXT.replace("high = 80", "high = 81"))]
    table = made.tables(studies[0], tmp_path)["ada"]

    async def talk(**settings):
        how = {"low": 0.0, "high": 2.0**20, "unit": "0.0001", "tolerance": 0.02, **settings}
        async with LocalNetwork(["ada", "bob"], **how) as net:
            calls = [run_study(study, table, net[name], topic="t") for study, name in zip(studies, net, strict=True)]
            return [str(error) for error in await asyncio.gather(*calls, return_exceptions=True)]

    assert (
        run_virtually(talk()) == ["the parties have different studies: columns.age.high is 80 at ada and 81 at bob"] * 2
    )
    digests = f"ada {studies[0].digest[:16]}; bob {studies[1].digest[:16]}"
    short = f"the parties have different studies, with these digests: {digests}"
    assert run_virtually(talk(longest_topic=100)) == [short] * 2


def test_a_topic_that_was_used_for_another_study_is_refused(tmp_path):
    """All parties have the same study now, and the topic remembers another one."""
    one, two = Study.from_text(TEXT), Study.from_text(TEXT.replace("high = 80", "high = 81"))
    table = made.tables(one, tmp_path)["ada"]

    async def talk():
        async with LocalNetwork(["ada", "bob"], low=0.0, high=2.0**20, unit="0.0001", tolerance=0.02) as net:
            await asyncio.gather(*(run_study(one, table, net[name], topic="t") for name in net))
            await asyncio.gather(*(run_study(two, table, net[name], topic="t") for name in net))

    with pytest.raises(InvalidFile, match="topic 't' was used for another study before"):
        run_virtually(talk())
