"""``sottovoce study``: check, run and report, and what is refused."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from sottovoce.cli.main import main
from sottovoce.errors import InvalidFile
from sottovoce.peer.protocol.absences import Missing
from sottovoce.peer.protocol.status import TopicStatus
from sottovoce.statistics import run_together

from ..statistics import made


@pytest.fixture
def folder(tmp_path):
    """A study and four parties' files."""
    declared = made.study()
    made.tables(declared, tmp_path)
    (tmp_path / "pay.toml").write_text(made.HEAD.format(smallest=5) + made.EVERYTHING)
    return tmp_path


def sottovoce(capsys, *arguments: object) -> tuple[int, str, str]:
    """Exit code and what was printed."""
    try:
        main([str(argument) for argument in arguments])
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_check_says_digest_and_rows(capsys, folder):
    """For people and for machines."""
    code, out, _ = sottovoce(capsys, "study", "check", folder / "pay.toml", folder / "ada.csv")
    assert code == 0
    assert "ada.csv fits: 40 rows" in out
    code, out, _ = sottovoce(capsys, "study", "check", folder / "pay.toml", folder / "ada.csv", "--json")
    assert json.loads(out)["digest"] == made.study(smallest=5).digest


def test_a_trial_writes_a_report_that_is_shown_again(capsys, folder):
    """The same text from the run and from its file; a page beside it."""
    files = [folder / f"{name}.csv" for name in made.PARTIES]
    where = ["--out", folder / "r.json", "--html", folder / "r.html"]
    code, out, _ = sottovoce(capsys, "study", "run", folder / "pay.toml", *files, "--trial", *where)
    assert code == 0
    assert out.startswith("160 rows of 4 contributors: ada, bob, cyd, dan")
    page = (folder / "r.html").read_text(encoding="utf-8")
    code, again, _ = sottovoce(capsys, "study", "report", folder / "r.json", "--html", folder / "again.html")
    assert (code, again) == (0, out)
    assert (folder / "again.html").read_text(encoding="utf-8") == page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "no.toml"], "no.toml cannot be read"),
        (["check", "pay.toml", "no.csv"], "no.csv cannot be read: No such file"),
        (["run", "pay.toml", "ada.csv"], "needs --peer, --topic and one file; or --trial"),
        (["run", "pay.toml", "ada.csv", "--trial"], "--trial needs at least two files"),
        (["report", "pay.toml"], "cannot be read as a report"),
        (["run", "pay.toml", "ada.csv", "bob.csv", "--trial", "--out", "ada.csv"], "--out must be a file of its own"),
        (["run", "pay.toml", "ada.csv", "bob.csv", "--trial", "--html", "./pay.toml"], "--html must be a file of its"),
        (["run", "pay.toml", "ada.csv", "bob.csv", "--trial", "--out", "r", "--html", "r"], "--html must be a file of"),
        (["run", "pay.toml", "ada.csv", "bob.csv", "--trial", "--out", "."], "'--out': File '.' is a directory"),
        (["run", "pay.toml", "ada.csv", "bob.csv", "--trial", "--topic", "t"], "--trial is without a network"),
        (["report", "ada.csv", "--html", "ada.csv"], "--html must be a file of its own, got 'ada.csv'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, folder, monkeypatch, arguments, message):
    """Files that are not there or not what they should be, and options that do not go together."""
    monkeypatch.chdir(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, _, err = sottovoce(capsys, "study", *arguments)
    assert code == 2
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"kind": "histogram"', '"kind": null', "is not a report of a study"),
        ('"kind": "histogram"', '"kind": ["histogram"]', "is not a report of a study"),
        ('"about": "', '"about": 1, "was": "', "is not a report of a study"),
        ('"rows": 160', '"was": 160', "is not a report of a study"),
        ('"mean": ', '"mean": "x", "was": ', "is not a report of a study"),
        ('"mean": ', '"mean": [1], "was": ', "is not a report of a study"),
        ('"count": ', '"count": "x", "was": ', "is not a report of a study"),
        ('"results": ', '"results": ' + "[" * 100_000 + ', "was": ', "is not a report of a study"),
        ('"results": ', '"more": ' + "[" * 900 + "]" * 900 + ', "results": ', "is not a report of a study"),
        ('"study": "', '"study": "\\ud800', "cannot be read as a report"),
    ],
)
def test_a_damaged_report_is_refused_with_a_page_and_as_json(capsys, folder, old, new, message):
    """In one sentence, and no page is written."""
    files = [folder / f"{name}.csv" for name in made.PARTIES]
    sottovoce(capsys, "study", "run", folder / "pay.toml", *files, "--trial", "--out", folder / "r.json")
    text = (folder / "r.json").read_text(encoding="utf-8")
    assert old in text
    (folder / "r.json").write_text(text.replace(old, new), encoding="utf-8")
    code, out, err = sottovoce(capsys, "study", "report", folder / "r.json", "--html", folder / "p.html", "--json")
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.strip().splitlines()) == 1
    assert not (folder / "p.html").exists()


def test_an_example_is_written_and_runs(capsys, tmp_path):
    """Thirteen files, and the line that it says next gives a report."""
    code, out, _ = sottovoce(capsys, "study", "example", tmp_path / "companies")
    assert code == 0
    assert f"sottovoce study run {tmp_path}/companies/salaries.toml {tmp_path}/companies/*.csv --trial" in out
    files = sorted((tmp_path / "companies").glob("*.csv"))
    assert len(files) == 12
    code, out, _ = sottovoce(capsys, "study", "run", tmp_path / "companies" / "salaries.toml", *files, "--trial")
    assert code == 0
    assert "11744 rows of 12 contributors" in out
    code, out, _ = sottovoce(capsys, "study", "example", tmp_path / "other", "--seed", 3, "--json")
    assert len(json.loads(out)["files"]) == 12


def test_several_reports_have_no_page(capsys, folder):
    """What they tell together is one sentence; reports without noise do not add up."""
    sottovoce(capsys, "study", "run", folder / "pay.toml", folder / "ada.csv", folder / "bob.csv", "--trial", "--out",
              folder / "r.json")  # fmt: skip
    twice = [folder / "r.json", folder / "r.json"]
    code, _, err = sottovoce(capsys, "study", "report", *twice, "--html", folder / "p.html")
    assert (code, err) == (2, "error: --html shows one report, got 2 files\n")
    code, _, err = sottovoce(capsys, "study", "report", *twice)
    assert code == 2
    assert "a report without a release is exact" in err


def test_whoever_waits_for_a_party_is_told_meanwhile(capsys, folder, monkeypatch):
    """On standard error, and once; it was silent until its time-out, or for ever without one."""
    report, looks = run_together(made.study(smallest=5), {"ada": made.study().read(folder / "ada.csv")}), []
    missing = Missing("bob", contributed=False, seconds=20.0, last_heard=None)

    class Member:
        """What the command uses of a peer."""

        def __init__(self, config, *, standing):
            assert not standing

        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            pass

        async def quiet(self, seconds):
            pass

        def status(self):
            looks.append(missing)
            return SimpleNamespace(topics={"t": TopicStatus(20.0, False, "waiting for bob", [missing])})

    async def run_study(*_, **__):
        while len(looks) < 3:
            await asyncio.sleep(0.001)
        return report

    monkeypatch.setattr("sottovoce.cli.study.NEWS", 0.001)
    monkeypatch.setattr("sottovoce.peer.Peer", Member)
    monkeypatch.setattr("sottovoce.peer.PeerConfig.load", lambda path: path)
    monkeypatch.setattr("sottovoce.statistics.run_study", run_study)
    where = ["--peer", folder / "peer.toml", "--topic", "t"]
    code, out, error = sottovoce(capsys, "study", "run", folder / "pay.toml", folder / "ada.csv", *where)
    assert (code, error) == (0, "waiting for bob\n")
    assert out == report.to_text()


@pytest.mark.parametrize("ending", [None, InvalidFile("the parties have different studies: here and there")])
def test_whoever_has_the_answers_stays_for_those_who_do_not(capsys, folder, monkeypatch, ending):
    """With a report, and as well where the answers say that the studies differ: the others must learn it, too."""
    report, done = run_together(made.study(smallest=5), {"ada": made.study().read(folder / "ada.csv")}), []

    class Member:
        """What the command uses of a peer."""

        def __init__(self, config, *, standing):
            assert not standing

        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            done.append("left")

        async def quiet(self, seconds):
            assert seconds > 30
            done.append("stayed")
            raise TimeoutError

    async def run_study(*_, **__):
        if ending is not None:
            raise ending
        return report

    monkeypatch.setattr("sottovoce.peer.Peer", Member)
    monkeypatch.setattr("sottovoce.peer.PeerConfig.load", lambda path: path)
    monkeypatch.setattr("sottovoce.statistics.run_study", run_study)
    where = ["--peer", folder / "peer.toml", "--topic", "t"]
    code, _, error = sottovoce(capsys, "study", "run", folder / "pay.toml", folder / "ada.csv", *where)
    assert done == ["stayed", "left"]
    assert code == (0 if ending is None else 2), error
