"""A study with a release: what it costs, how large its noise is, and what its report says."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random

import numpy as np
import pytest
from click.testing import CliRunner

from sottovoce.cli.main import cli
from sottovoce.errors import InvalidFile, InvalidParameter
from sottovoce.statistics import Study, run_study, run_together
from sottovoce.statistics.releasing import FINEST, HALF, Blur, Part, Plan, StudyRelease
from sottovoce.statistics.running import _plan, expected_noise
from sottovoce.statistics.showing import page_of, text_of, together_of
from sottovoce.testing import LocalNetwork, run_virtually

from . import made

RELEASE = "[release]\nepsilon = {epsilon}\ndelta = 1e-6\nhonest = {honest}\nruns = {runs}\nprotects = '{protects}'\n"
MEAN = '[statistics.pay]\nkind = "mean"\ncolumn = "salary"\nby = ["gender"]\n'
EXTREMES = '[statistics.e]\nkind = "extremes"\ncolumn = "age"\nbins = 65\n'
LINEAR = '[statistics.l]\nkind = "linear"\noutcome = "age"\npredictors = ["job"]\n'
ALL = """
[statistics.people]
kind = "count"
by = ["gender", "job"]
[statistics.total]
kind = "sum"
column = "salary"
[statistics.pay]
kind = "mean"
column = "salary"
by = ["gender"]
[statistics.spread]
kind = "variance"
column = "age"
[statistics.both]
kind = "correlation"
columns = ["salary", "age"]
[statistics.bands]
kind = "histogram"
column = "salary"
bins = 40
[statistics.years]
kind = "quantiles"
column = "age"
bins = 65
probabilities = [0.5]
[statistics.jobs]
kind = "proportion"
column = "job"
"""


def text_of_study(statistics=ALL, *, epsilon=1.0, honest=4, runs=1, protects="row", smallest=1) -> str:
    text = made.HEAD.format(smallest=smallest).replace('"0.01"', '"0.01"\nclip = true')
    return text + statistics + RELEASE.format(epsilon=epsilon, honest=honest, runs=runs, protects=protects)


def study(statistics=ALL, **settings) -> Study:
    return Study.from_text(text_of_study(statistics, **settings))


@pytest.mark.parametrize("statistics", [ALL, MEAN])
@pytest.mark.parametrize(
    ("epsilon", "runs", "protects"), [(1.0, 1, "row"), (0.2, 12, "row"), (20.0, 1, "row"), (8.0, 2, "party")]
)
def test_all_runs_together_keep_to_epsilon_and_waste_nothing(statistics, epsilon, runs, protects):
    """The cost of the noise that is really drawn, whole numbers and rounding included."""
    declared = study(statistics, epsilon=epsilon, runs=runs, protects=protects)
    plan = _plan(declared, 20)
    assert plan is not None
    reached = plan.cost(4).times(runs).epsilon(1e-6)
    assert 0.98 * epsilon < reached <= epsilon


def test_the_noise_is_that_of_a_server(tmp_path):
    """If all are relied on, the sum's noise is within 1.1 of one share of ρ spent by a server that adds it once."""
    plan = _plan(study(), 20)
    assert plan is not None
    for part, blurs in zip(plan.parts, plan.blurs, strict=True):
        rho = plan.release.rho / len(plan.parts) / (1 if part.exclusive else len(part.most))
        for most, blur in zip(part.most, blurs, strict=True):
            assert 1.0 <= blur.deviation(4) / (most / math.sqrt(2.0 * rho)) < 1.1


def test_results_are_off_by_as_much_as_they_say(tmp_path, monkeypatch):
    """Of 40 bins, the released less the exact counts have the deviation in the column noise; so has the mean."""
    made.seed_noise(monkeypatch, 1)
    declared = study(ALL, epsilon=60.0)
    rows = made.tables(declared, tmp_path)
    exact = run_together(Study.from_text(made.HEAD.format(smallest=1) + ALL), rows)
    off, means = [], []
    for _ in range(6):
        found = run_together(declared, rows)
        for blurred, true in zip(found["bands"], exact["bands"], strict=True):
            if true["count"] > 5 * blurred.get("noise", math.inf):  # not cut off at zero
                off.append((blurred["count"] - true["count"]) / blurred["noise"])
        for blurred, true in zip(found["pay"], exact["pay"], strict=True):
            means.append((blurred["mean"] - true["mean"]) / blurred["noise"])
    assert len(off) > 20
    assert 0.6 < math.sqrt(float(np.mean(np.square(off)))) < 1.5
    assert 0.3 < math.sqrt(float(np.mean(np.square(means)))) < 2.0


def test_quantiles_of_many_bins_are_near_the_true_ones(tmp_path, monkeypatch):
    """Noise above zero in hundreds of empty bins added up: the highest tenth began far above what it does."""
    made.seed_noise(monkeypatch, 1)
    asked = '[statistics.q]\nkind = "quantiles"\ncolumn = "salary"\nbins = 400\nprobabilities = [0.1, 0.5, 0.9]\n'
    declared = study(asked, epsilon=20.0)
    rows = made.tables(declared, tmp_path)
    exact = run_together(Study.from_text(made.HEAD.format(smallest=1) + asked), rows)
    for _ in range(4):
        found = run_together(declared, rows)
        off = [blurred["from"] - true["from"] for blurred, true in zip(found["q"], exact["q"], strict=True)]
        assert max(map(abs, off)) < 15_000


def test_everything_is_found_under_heavy_noise(tmp_path):
    """Sums that do not fit together give a report, and no statistic an impossible number."""
    declared = study(ALL, epsilon=0.05)
    rows = made.tables(declared, tmp_path)
    for _ in range(5):
        report = run_together(declared, rows)
        assert all(row["variance"] is None or row["variance"] >= 0 for row in report["spread"] if "variance" in row)
        assert all(abs(row["correlation"] or 0) <= 1 for row in report["both"] if "correlation" in row)
        assert all(0 <= (row["share"] or 0) <= 1 for row in report["jobs"] if "share" in row)
        assert all(row["count"] is None or row["count"] >= 0 for row in report["people"])


def test_the_report_says_what_is_protected(tmp_path):
    """In text, JSON and page: ε of this run and of all, δ, on whom it relies."""
    declared = study(MEAN, epsilon=2.0, runs=3, honest=3)
    report = run_together(declared, made.tables(declared, tmp_path))
    content = json.loads(report.to_json())
    release = content["release"]
    one, two = (release["epsilon_by_honest"][honest] for honest in "12")
    assert release["epsilon"] < release["epsilon_of_all_runs"] == pytest.approx(2.0, rel=0.02)
    sentence = f"one row more or fewer is hidden with ε = {release['epsilon']:.3g} at δ = 1e-06; with ε = "
    sentence += f"{release['epsilon_of_all_runs']:.3g} by all 3 runs"
    for said in (text_of(content), page_of(content)):
        assert sentence in said
        assert "relies on 3 of 4 contributors" in said
        assert f"; with only 2 ε is {two:.3g}, with 1 ε is {one:.3g}." in said
    plan = _plan(declared, 20)
    assert plan is not None
    assert (two, one) == pytest.approx((plan.cost(2).epsilon(1e-6), plan.cost(1).epsilon(1e-6)))
    assert all("noise" in row for row in report["pay"])


def test_reports_add_up(tmp_path):
    """Three runs of three that were agreed cost the whole ε; the command says the same; an exact report is refused."""
    declared = study(MEAN, epsilon=2.0, runs=3)
    rows = made.tables(declared, tmp_path)
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path in paths:
        path.write_text(run_together(declared, rows).to_json())
    contents = [json.loads(path.read_text()) for path in paths]
    told, whole = together_of(contents), contents[0]["release"]["epsilon_of_all_runs"]
    assert told == f"These 3 reports together hide one row with ε = {whole:.3g} at δ = 1e-06"
    assert CliRunner().invoke(cli, ["study", "report", *map(str, paths)]).output == told + "\n"
    exact = made.study(MEAN)
    with pytest.raises(InvalidFile, match="without a release is exact"):
        together_of([run_together(exact, rows).as_dict()] * 2)


def test_what_to_expect_is_said_before(tmp_path):
    """By `study check`: the deviations that the report will have."""
    declared = study(MEAN)
    expected = expected_noise(declared)
    report = run_together(declared, made.tables(declared, tmp_path))
    above, row = expected["pay"], next(row for row in report["pay"] if "noise" in row)
    assert row["noise"] == pytest.approx(math.hypot(above, row["mean"] * expected["rows"]) / row["count"])
    (tmp_path / "pay.toml").write_text(text_of_study(MEAN))
    said = CliRunner().invoke(cli, ["study", "check", str(tmp_path / "pay.toml")]).output
    assert f"move a count by about {expected['rows']:.2g} rows, the sum of pay by {above:.3g}." in said
    assert expected_noise(made.study(MEAN)) == {}


def network(**settings) -> LocalNetwork:
    return LocalNetwork(made.PARTIES, low=0.0, high=2.0**20, unit="0.0001", tolerance=0.02, **settings)


def test_peers_publish_one_report_and_draw_noise_once(tmp_path):
    """All reports are equal; a party that is killed while it waits goes on with the noise that it drew."""
    declared = study(MEAN, epsilon=20.0)
    rows = made.tables(declared, tmp_path)

    async def talk():
        async with network() as net:
            calls = [
                asyncio.ensure_future(run_study(declared, rows[n], net[n], topic="2026")) for n in made.PARTIES[1:]
            ]
            first = asyncio.ensure_future(run_study(declared, rows["ada"], net["ada"], topic="2026"))
            while not (names := [topic for topic in net["ada"].topics() if "/counts" in topic]):
                await asyncio.sleep(0.01)
            (name,) = names
            drawn = net["ada"].contributed(name)
            await net.kill("ada")
            await net.start("ada")
            assert np.array_equal(net["ada"].contributed(name), drawn)
            await asyncio.gather(first, return_exceptions=True)
            again = await run_study(declared, rows["ada"], net["ada"], topic="2026")
            return {again.to_json(), *(report.to_json() for report in await asyncio.gather(*calls))}

    assert len(run_virtually(talk())) == 1


def test_a_release_is_run_as_often_as_agreed(tmp_path):
    """One run more is refused before anything is contributed; the same topic again is no further run.

    The peer adds up what was told of the study's rows.
    """
    declared = study(MEAN, epsilon=20.0, runs=2)
    rows = made.tables(declared, tmp_path)

    async def talk():
        async with network() as net:
            for topic in ("may", "june", "may"):
                await asyncio.gather(*(run_study(declared, rows[name], net[name], topic=topic) for name in net))
            before = set(net["ada"].topics())
            told = net["ada"].released()["study pay"]
            assert told.epsilon(1e-6) == pytest.approx(20.0, rel=0.01)
            with pytest.raises(
                InvalidParameter, match="has been run here 2 times, and its release is agreed for runs = 2"
            ):
                await run_study(declared, rows["ada"], net["ada"], topic="july")
            assert set(net["ada"].topics()) == before

    run_virtually(talk())


def test_more_honest_than_there_are_is_refused(tmp_path):
    """Before any row is counted."""
    declared = study(MEAN, honest=5)
    with pytest.raises(InvalidFile, match=r"release\.honest must be at most the number of contributors, 4, got 5"):
        run_together(declared, made.tables(declared, tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("epsilon = 1.0", "epsilon = 0", "release.epsilon must be between 0 and 100, got 0"),
        ("epsilon = 1.0", "", "release.epsilon must be given, as a number"),
        ("delta = 1e-6", "delta = 1", "release.delta must be between 0 and 1, got 1"),
        ("honest = 4", "", "release.honest must be given, as a whole number"),
        ("runs = 1\n", "runs = 0\n", "release.runs must be in"),
        ("protects = 'row'", "", "release.protects must be given, as text"),
        ("protects = 'row'", "protects = 'all'", 'release.protects must be "row" or "party", got \'all\''),
        ("protects = 'row'", "protects = 'row'\nmore = 1", "release has an unknown key 'more'"),
        ("low = 16\n", "", "columns.age.low must be a decimal number"),
        ("high = 200000\n", "", "columns.salary.high must be a decimal number"),
        ("[release]", EXTREMES + "[release]", "statistics.e is 'extremes', which is not offered"),
        ("[release]", LINEAR + "[release]", "statistics.l is 'linear', which is not offered"),
    ],
)  # fmt: skip
def test_a_release_that_cannot_be_is_refused(old, new, message):
    """Each key is named; columns without bounds and statistics that noise would spoil are refused."""
    text = made.HEAD.format(smallest=1) + MEAN + RELEASE.format(epsilon=1.0, honest=4, runs=1, protects="row")
    assert old in text
    with pytest.raises(InvalidFile, match=message):
        Study.from_text(text.replace(old, new))


def test_a_release_that_no_noise_keeps_is_refused():
    """With both ε and δ next to nothing; where a float has no ρ for them the search for it did not end."""
    with pytest.raises(InvalidParameter, match=r"release\.epsilon must be larger"):
        Plan.of(StudyRelease(1e-100, 1e-100, 4, 1, "row"), [Part((1,), 1, exclusive=True)], most_rows=10, bits=20)


def test_numbers_are_rounded_to_what_the_network_takes():
    """Coarser steps for fewer bits, noise at least as large, cost never above; refused where noise has no room."""
    for bits in (12, 16, 20, 40):
        blur = Blur.fitting(20_000_000, 10**10, rho=0.05, honest=4, bits=bits)
        assert blur.largest < 2**bits
        assert blur.cost(4).rho <= 0.05
        assert blur.deviation(4) >= 20_000_000 / math.sqrt(2 * 0.05)
    assert Blur.fitting(20_000_000, 10**10, rho=0.05, honest=4, bits=60).step == FINEST
    with pytest.raises(InvalidParameter, match="needs a network whose values may be up to"):
        Blur.fitting(20_000_000, 10**10, rho=1e-6, honest=4, bits=10)


@pytest.mark.parametrize(("epsilon", "bits"), [(4.0, 7), (1.0, 8), (1.0, 9), (1.0, 10)])
def test_a_party_in_many_small_groups_changes_no_more_than_is_said(epsilon, bits):
    """Eight rows in four cells, in all ways: the squares of what they change in rounded sums, for several networks."""
    release = StudyRelease(epsilon, 1e-6, 2, 1, "party")
    blur = Plan.of(release, [Part((1,), 4, exclusive=True)], most_rows=8, bits=bits).blurs[0][0]
    ways = (way for way in itertools.product(range(9), repeat=4) if sum(way) <= 8)
    changes = max(sum(math.floor(rows / blur.step + HALF) ** 2 for rows in way) for way in ways)
    assert changes <= blur.distance**2
    assert blur.cost(2).rho <= release.rho


def test_a_share_is_read_back():
    """Over many draws, the sum of shares less their room is the sum, to its noise."""
    blur, below = Blur.fitting(100, 10_000, rho=0.5, honest=4, bits=20), random.Random(1).randrange
    found = [blur.read(sum(blur.share(k, below) for k in (0, 5_000, 10_000)), 3) for _ in range(200)]
    assert abs(np.mean(found) - 15_000) < 5 * blur.deviation(3) / math.sqrt(200)
    assert 0.8 < np.std(found) / blur.deviation(3) < 1.25
