"""The script that follows the pages: it sees every command, masks no more than it must, and notices what is wrong."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from .comparing import difference, lines
from .home import Answer, Home, Shell
from .interpreters import VERSIONS, found
from .pages import ROOT, Command, File, Program, pages, parts, read
from .playing import Reader
from .special import SPECIAL, STORIES, bare

PAGE = """\
# A page

```console
$ first --option \\
    more     # a comment
shown
ada:~$ second
```

```toml
# a.toml
x = 1
```

```{code-block} py
:caption: own.py

y = 2
```

<!-- skip: next "needs a device" -->
```python
>>> z
```
"""


def test_a_page_is_read_as_its_readers_read_it() -> None:
    """Commands with what they print and who types them, files by name, Python with the reason why it is left out."""
    command, second, table, own, program = parts("p.md", PAGE)
    assert command == Command("p.md", 4, "first --option more     # a comment", "shown", "")
    assert second == Command("p.md", 7, "second", "", "ada")
    assert table == File("p.md", 10, "a.toml", "# a.toml\nx = 1\n")
    assert own == File("p.md", 15, "own.py", "y = 2\n")
    assert isinstance(program, Program)
    assert program.skipped == "needs a device"


def test_no_shell_block_is_overlooked() -> None:
    """Every line with a prompt, in any fenced block of any page, is a command that the script knows."""
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        prompts = len(re.findall(r"^ *(?:\w+:~)?\$ ", text, re.MULTILINE))
        known = [part for part in read(page) if isinstance(part, Command) and not part.line.startswith("exec ")]
        assert prompts == len(known), page


def test_every_exception_is_needed_and_has_a_reason() -> None:
    """An entry of the table names a line that its page still prints, and says why it is special."""
    printed = {(page, bare(part.line)) for page in pages() for part in read(page) if isinstance(part, Command)}
    assert set(SPECIAL) - printed == set()
    assert all(special.why for special in SPECIAL.values())
    assert {page for story in STORIES for page in story} <= set(pages())


TABLE = """\
┏━━━━━━━━┳━━━━━━━━┓
┃ node   ┃ ± after ┃
┡━━━━━━━━╇━━━━━━━━┩
│ 1      │ 0.5    │
└────────┴────────┘
took 1.3 s, 5,000 steps/s
"""


def test_frames_letters_and_times_do_not_count() -> None:
    """A table drawn in ASCII is the table of the page, whatever the time and the last digits."""
    ascii_table = (
        "+------+---------+\n| node | +/- after |\n|------+---------|\n| 1    | 0.501 |\n+--+\ntook 7 s, 6 steps/s\n"
    )
    assert lines(TABLE)[:2] == ["node +/- after", "1 0.5"]
    assert difference(TABLE, ascii_table) == ""
    assert difference("off by 3e-17", "off by 2e-18") == ""


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("1 0.5", "1 0.6"), ("one", "two"), ("one\ntwo", "one"), ("one", "one\ntwo"), ("1e-9", "2e-9"), ("yes", "no")],
)
def test_what_differs_is_said(shown: str, printed: str) -> None:
    """Another number, another word, a line more or less."""
    assert difference(shown, printed) != ""


def test_lines_may_be_broken_elsewhere() -> None:
    """A sentence with a sign that is spelled out is longer; its words are the same."""
    assert difference("one σ two\nthree, heard 0.1 s\nago", "one sigma\ntwo three, heard 7 s ago") == ""


def test_dots_stand_for_lines() -> None:
    """A page may leave lines out, and what follows must still be there."""
    assert difference("a\n…\nd", "a\nb\nc\nd") == ""
    assert difference("a\n…", "a\nb") == ""
    assert difference("a\n…\ne", "a\nb\nd") != ""


def test_a_shell_remembers_what_changes_it(tmp_path: Path) -> None:
    """Activation and ``cd`` hold for the next line; the user's own settings are not there."""
    home = Home(tmp_path / "home", sys.executable)
    shell = Shell(tmp_path / "here", home.environment)
    (tmp_path / "here" / "settings").write_text("WORD=yes\n")
    assert shell.run(". ./settings").code == 0
    assert shell.run("echo $WORD $HOME $LC_ALL $COLUMNS").out.split() == ["yes", str(tmp_path / "home"), "C", "80"]
    assert shell.run("exit 3").code == 3


def test_a_reader_notes_what_is_not_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failing command and another answer than the page shows are problems that name page and line."""
    text = "```console\n$ echo one\none\n$ echo two\nthree\n$ false\n```\n"
    monkeypatch.setattr("tests.newcomer.playing.read", lambda page: list(parts(page, text)))
    home = Home(tmp_path / "home", sys.executable)
    reader = Reader(home, home.clone("a"), tmp_path / "x.whl")
    reader.follow("p.md", python=False)
    assert [problem.splitlines()[0] for problem in reader.problems] == ["p.md:4: echo two", "p.md:6: false"]


@pytest.mark.parametrize(
    ("uv", "typed"), [("", ".venv/bin/pip install"), ("/opt/uv", "/opt/uv pip install --python .venv/bin/python")]
)
def test_the_wheel_is_installed_by_what_the_home_has(
    uv: str, typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place of the checkout, by pip as the page says, or by uv where the home has it; nothing else is replaced."""
    text = "```console\n$ .venv/bin/pip install -c pins.txt '.[simulate]' && pip list\n```\n"
    monkeypatch.setattr("tests.newcomer.playing.read", lambda page: list(parts(page, text)))
    lines: list[str] = []

    def noted(_: Shell, line: str) -> Answer:
        lines.append(line)
        return Answer(0, "", "")

    monkeypatch.setattr(Shell, "run", noted)
    home = Home(tmp_path / "home", sys.executable, uv)
    Reader(home, home.clone("a"), Path("x.whl")).follow("p.md", python=False)
    assert lines == [f"{typed} -c pins.txt 'x.whl[simulate]' && pip list"]


def test_a_name_that_does_not_run_is_no_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyenv puts ``python3.12`` on the path where there is none; what is said to be found is of that version."""
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert found("3.99") is None
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" not in VERSIONS or any(map(found, VERSIONS))
