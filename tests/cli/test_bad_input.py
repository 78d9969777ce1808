"""Bad input of every kind to every command: exit code 2, one sentence that begins with "error: ", never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from sottovoce.cli.kinds import FileName, Number, Whole
from sottovoce.cli.main import cli, main

pytestmark = pytest.mark.usefixtures("compiled")

Said = tuple[object, str, str]
Run = Callable[..., Said]
SMALL = ["--graph", "cycle:4", "--steps", "20"]


@pytest.fixture
def sottovoce(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command; return exit code, standard output, standard error."""

    def run(*arguments: object) -> Said:
        with pytest.raises(SystemExit) as stop:
            main([str(each) for each in arguments])
        return stop.value.code, *capsys.readouterr()

    return run


def refused(said: Said) -> str:
    """The one sentence of a refusal."""
    code, out, error = said
    assert code == 2, (code, out, error)
    assert out == ""
    assert error.startswith("error: "), error
    assert error.count("\n") == 1, error
    return error


def commands(
    command: click.Command = cli, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with the words that lead to it."""
    context = click.Context(command)
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from commands(found, (*path, name))


ALL = dict(commands())
OPTIONS = [(path, each) for path, command in ALL.items() for each in command.params if isinstance(each, click.Option)]


def needed(command: click.Command) -> list[str]:
    """Words for what a command cannot do without."""
    words = ["x" for each in command.params if isinstance(each, click.Argument) and each.required]
    for each in command.params:
        if isinstance(each, click.Option) and each.required:
            words += [each.opts[0], "x" if isinstance(each.type, FileName) else "1"]
    return words


def labelled(each: tuple[str, ...] | click.Option) -> str:
    """What a case is called."""
    return str(each.name) if isinstance(each, click.Option) else " ".join(each)


NUMBERS = [(path, each) for path, each in OPTIONS if isinstance(each.type, Number | Whole)]
WHOLES = [(path, each) for path, each in NUMBERS if isinstance(each.type, Whole)]


@pytest.mark.parametrize(("path", "option"), NUMBERS, ids=labelled)
def test_no_number_is_not_a_number(sottovoce: Run, path: tuple[str, ...], option: click.Option) -> None:
    """Words, nothing, nan and infinity are refused by every option that takes a number, and the option is named."""
    for bad in ("x", "", "nan", "inf", "-inf", "1e999", "0x10", "1,5", "\u0661x"):
        assert f" {option.opts[0]} must be " in refused(sottovoce(*path, *needed(ALL[path]), option.opts[0], bad))


@pytest.mark.parametrize(("path", "option"), WHOLES, ids=labelled)
def test_a_count_is_whole_and_fits(sottovoce: Run, path: tuple[str, ...], option: click.Option) -> None:
    """Fractions, negative numbers and counts that no machine can hold are refused by every option that counts."""
    for bad in ("1.5", "-1", *(["9" * 40, str(2**63)] if option.name != "seed" else [])):
        assert f" {option.opts[0]} must be a whole number " in refused(
            sottovoce(*path, *needed(ALL[path]), option.opts[0], bad)
        )


def test_no_option_takes_a_number_in_another_way() -> None:
    """Whoever adds an option uses the types that refuse nan, and file names that are not empty."""
    other = [
        (*path, each.name) for path, each in OPTIONS if each.type.name in {"float", "integer range", "float range"}
    ]
    files = [(*path, each.name) for path, each in OPTIONS if isinstance(each.type, click.Path)]
    assert other == []
    assert [name for name in files if name[-1] != "sources" and not _is_file_name(*name)] == []


def _is_file_name(*name: str) -> bool:
    return any(isinstance(each.type, FileName) for path, each in OPTIONS if (*path, each.name) == name)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_unknown_options_and_too_many_words_are_refused(sottovoce: Run, path: tuple[str, ...]) -> None:
    """The same style where click itself refuses: one sentence, which names the command whose help says more."""
    sentence = refused(sottovoce(*path, "--no-such-option"))
    assert "no such option" in sentence.lower()
    assert " ".join(path) in sentence
    takes_any = any(each.nargs == -1 for each in ALL[path].params)
    if not takes_any and not any(not each.required for each in ALL[path].params if isinstance(each, click.Argument)):
        assert refused(sottovoce(*path, *needed(ALL[path]), "one", "too", "many"))


TEXTS = [
    "",
    "no-such-thing",
    "x:y:z=",
    "cycle:",
    "cycle:nan",
    "cycle:-3",
    "cycle:1e30",
    ":",
    "9" * 400,
    "standard:",
    "a b",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("option", ["--graph", "--method", "--values"])
def test_graphs_methods_and_values_that_are_none(sottovoce: Run, option: str, text: str) -> None:
    """Names that do not exist, half a specification, sizes that no graph has."""
    if (option, text) != ("--method", "standard:"):  # a method without parameters
        refused(sottovoce("simulate", *SMALL, option, text))


def bad_files(folder: Path) -> dict[str, Path]:
    """Files that hold nothing that any command reads."""
    (folder / "folder").mkdir()
    (folder / "empty").write_bytes(b"")
    (folder / "junk").write_bytes(bytes(range(256)) * 40)
    (folder / "latin").write_bytes("café = é".encode("latin-1"))
    return {
        "missing": folder / "missing",
        "below a file": folder / "empty" / "x",
        "a folder": folder / "folder",
        "empty": folder / "empty",
        "junk": folder / "junk",
        "not UTF-8": folder / "latin",
        "cannot be read": Path("/proc/self/mem"),  # also for root
        "too long a name": folder / ("x" * 300),
    }


KINDS = ["missing", "below a file", "a folder", "empty", "junk", "not UTF-8", "cannot be read", "too long a name"]
READING = {
    "network up": ["network", "up", "--graph", "FILE"],
    "graph": ["simulate", "--steps", "20", "--graph", "FILE"],
    "values": ["simulate", *SMALL, "--values", "FILE"],
    "stages": ["simulate", *SMALL, "--stages", "FILE"],
    "load": ["simulate", *SMALL, "--load", "FILE"],
    "sweep": ["sweep", "FILE", "--out", "results"],
    "plot": ["plot", "FILE"],
    "study check": ["study", "check", "FILE"],
    "study rows": ["study", "check", "GOOD", "FILE"],
    "study report": ["study", "report", "FILE"],
    "study run": ["study", "run", "FILE", "--trial", "a.csv", "b.csv"],
    "network create": ["network", "create", "FILE", "FILE", "--out", "n", "--of", "percent", "--noise-std", "1",
                       "--noise-decay", "0.5"],
    "network show": ["network", "show", "FILE"],
    "network add": ["network", "add", "FILE", "FILE", "--neighbours", "a"],
    "network remove": ["network", "remove", "FILE", "a"],
    "network rekey": ["network", "rekey", "FILE", "FILE"],
    "network refound": ["network", "refound", "FILE", "--out", "n"],
    "network status": ["network", "status", "FILE"],
    "peer join": ["peer", "join", "FILE", "FILE", "--smallest-std", "0"],
    "peer start": ["peer", "start", "FILE"],
    "peer status": ["peer", "status", "FILE"],
    "peer roster": ["peer", "roster", "FILE", "FILE"],
    "peer set-value": ["peer", "set-value", "FILE", "--value-from", "FILE"],
    "peer backup": ["peer", "backup", "FILE", "FILE"],
    "peer restore": ["peer", "restore", "FILE", "FILE"],
    "peer rekey": ["peer", "rekey", "FILE"],
    "peer stop": ["peer", "stop", "FILE"],
    "peer leave": ["peer", "leave", "FILE"],
    "peer drop": ["peer", "drop", "FILE", "a"],
    "peer add": ["peer", "add", "FILE", "a"],
}  # fmt: skip
STUDY = """[study]
name = "s"
smallest_group = 2
most_rows = 9
[columns.a]
low = 0
high = 9
unit = 1
[statistics.m]
kind = "mean"
column = "a"
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", READING)
def test_files_that_cannot_be_what_they_should(
    sottovoce: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, kind: str
) -> None:
    """Missing, a folder, empty, binary, in another encoding, not readable: refused by every command that reads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(STUDY)
    file = bad_files(tmp_path)[kind]
    words = [{"FILE": str(file), "GOOD": "good.toml"}.get(word, word) for word in READING[what]]
    said = sottovoce(*words)
    if (what, kind) in {("load", "empty"), ("network status", "a folder")}:
        return  # an empty file is Python without methods; a folder without peers is a network that is not here
    assert len(refused(said)) < 2000


WRITING = {
    "simulate --plot": ["simulate", *SMALL, "--plot"],
    "simulate --save": ["simulate", *SMALL, "--save"],
    "audit --figures": ["audit", *SMALL, "--figures"],
    "bound --plot": ["bound", *SMALL, "--replicas", "0", "--plot"],
    **{f"compare {each}": ["compare", *SMALL, "-m", "standard", "--replicas", "2", each]
       for each in ("--plot", "--csv", "--latex", "--markdown", "--curves")},
    "ensemble --csv": ["ensemble", *SMALL, "-m", "standard", "--graphs", "2", "--csv"],
    "reproduce --out": ["reproduce", "figure-1", "--fresh", "0", "--out"],
    "demo --out": ["demo", "--fresh", "0", "--out"],
    "sweep --out": ["sweep", "SWEEP", "--out"],
    "study run --out": ["study", "run", "STUDY", "ROWS", "ROWS2", "--trial", "--out"],
    "study run --html": ["study", "run", "STUDY", "ROWS", "ROWS2", "--trial", "--html"],
    "peer init --out": ["peer", "init", "a", "--network", "n", "--out"],
}  # fmt: skip


@pytest.mark.parametrize("place", ["/proc/nowhere/x", "BELOW", ""])
@pytest.mark.parametrize("what", WRITING)
def test_places_where_nothing_can_be_written(sottovoce: Run, tmp_path: Path, what: str, place: str) -> None:
    """A read-only folder, a folder that is a file, no name at all: refused, and nothing else is printed."""
    files = {
        "FILE": "",
        "STUDY": STUDY,
        "ROWS": "a\n1\n2\n",
        "ROWS2": "a\n3\n4\n",
        "SWEEP": 'num_steps = 9\n[axes]\ngraph = ["cycle:4"]\nmethod = ["standard"]\nseed = [1]\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    words = [str(tmp_path / word) if word in files else word for word in WRITING[what]]
    refused(sottovoce(*words, place.replace("BELOW", str(tmp_path / "FILE" / "x"))))


def test_a_full_disk(sottovoce: Run) -> None:
    """The sentence says so, and the device is still a device."""
    assert "No space left" in refused(
        sottovoce("compare", *SMALL, "-m", "standard", "--replicas", "2", "--csv", "/dev/full")
    )
    assert Path("/dev/full").is_char_device()


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """What a shell makes of a line, with ``sottovoce`` in it."""
    line = line.replace("sottovoce", f"{sys.executable} -m sottovoce", 1)
    # Unbuffered, Python itself loses the rest of a write that was cut short.
    known = {"PYTHONUNBUFFERED": "UNSET", **environment}
    known = {name: value for name, value in (os.environ | known).items() if value != "UNSET"}
    return subprocess.run(["bash", "-c", line], env=known, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        ("sottovoce simulate --steps 999 --replicas 200 --json | head -c 1; exit ${PIPESTATUS[0]}", 141, b""),
        ("sottovoce --help | true; exit ${PIPESTATUS[0]}", None, b""),
        ("sottovoce simulate --steps 9 > /dev/full", 2, b"error: No space left on device\n"),
        ("sottovoce --help > /dev/full", 2, b"error: No space left on device\n"),
        ("sottovoce simulate --steps 9 --json >&-", 0, b""),
        ("sottovoce nonsense 2>&-", 2, b""),
        ("sottovoce nonsense 2> /dev/full", 2, b""),
    ],
)
def test_streams_that_are_closed_or_full(line: str, code: int | None, error: bytes) -> None:
    """Whoever stops reading gets no complaint; a full disk is said in one sentence."""
    done = shell(line)
    assert done.returncode == code or (code is None and done.returncode in {0, 141})
    assert done.stderr == error


@pytest.mark.parametrize("home", ["UNSET", "/proc/nowhere"])
def test_a_home_that_is_none(home: str, tmp_path: Path) -> None:
    """Without a home, or with one where nothing can be written, kernels are compiled anew and all else is the same."""
    done = shell("sottovoce simulate --method standard --steps 20 --json", HOME=home, XDG_CACHE_HOME=home)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--graph", "\udcff\udcfe"],
        ["simulate", "--method", "\udcff"],
        ["simulate", "--values", "\udcff"],
        ["peer", "status", "\udcff"],
        ["study", "report", "\udcff"],
        ["\udcff"],
    ],
)
def test_words_that_are_not_utf8(sottovoce: Run, words: list[str]) -> None:
    """Refused as any other word; the sentence shows what was typed in letters that every terminal has."""
    refused(sottovoce(*words)).encode("utf-8")


def test_a_file_name_that_is_not_utf8_is_a_file_name(tmp_path: Path) -> None:
    """Linux allows any bytes: the figure is there, and the command inside it is spelled in letters."""
    done = shell(
        rf"cd {tmp_path}; sottovoce simulate --steps 9 --plot $'\xff.svg'".replace("; sottovoce", " && sottovoce")
    )
    assert done.returncode == 0, done.stderr
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"\xff.svg"]


EXTREMES = {
    "simulate": SMALL,
    "bound": SMALL,
    "audit": [*SMALL, "--observer", "0"],
    "compare": SMALL,
    "plan": ["--graph", "cycle:4", "--relative-error", "1e-3", "--noise-std", "1"],
}


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, each.opts[0])
        for name in EXTREMES
        for each in ALL[(name,)].params
        if isinstance(each.type, Number) and "--prior-left" not in each.opts
    ],
)
def test_numbers_at_the_ends_of_the_doubles_are_computed_with_or_refused(
    name: str, option: str, sottovoce: Run, recwarn: pytest.WarningsRecorder
) -> None:
    """No overflow, no division by zero, no NaN in an answer: 10⁻³²⁰ and 10³⁰⁸ are numbers, too."""
    for extreme in ("5e-324", "1e-200", "1e200", "1e308"):
        code, out, error = sottovoce(name, *EXTREMES[name], option, extreme)
        assert code in (0, 2), error
        assert "nan" not in out
        assert "Traceback" not in error
    assert not [each for each in recwarn if each.category is RuntimeWarning]


@pytest.mark.parametrize(
    "command",
    [("plot", "no-such-dataset", "--by", "noise_decay", "--out"), ("simulate", "--steps", 10**12, "--plot")],
)
def test_figures_in_no_format_are_refused_at_once(sottovoce: Run, tmp_path: Path, command: tuple[object, ...]) -> None:
    """The ending of a figure decides its format, so it must be one."""
    said = refused(sottovoce(*command, tmp_path / "figs" / "g.xyz"))
    assert f"{command[-1]} must have no ending" in said
    assert ".pdf" in said
    assert not list(tmp_path.iterdir())
