"""What README and docs say about the command line is true, and the built site stands alone."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from sottovoce.cli.main import COMMANDS, cli

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "_generated", "_static"} & set(page.parts)]

FLAGS = re.MULTILINE | re.DOTALL
BLOCK = re.compile(r"^```(?:console|bash|sh|shell)\n(.*?)^```", FLAGS)


def command_lines(text: str) -> list[str]:
    """The ``sottovoce …`` lines of the shell blocks of a page, without prompt, with continuations joined."""
    found = []
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = re.sub(r"^\s*(?:\w+:~)?\$\s*", "", line)
            for part in re.split(r"\s(?:&&|\|\||\||;)\s", words):
                bare = re.sub(r"^(?:[A-Z_]+=\S+\s+|time\s+|uvx\s+|\S*/bin/)*", "", part.strip())
                if re.match(r"sottovoce(\s|$)", bare):
                    found.append(bare)
    return found


def check_command(arguments: list[str]) -> None:
    """Let click parse the arguments down to the last subcommand, without running anything.

    Raises
    ------
    click.ClickException
        If the command, a subcommand or an option does not exist, or an argument is missing or malformed.
    """
    command: click.Command = cli
    context = None
    name = "sottovoce"
    while True:
        context = command.make_context(name, list(arguments), parent=context, resilient_parsing=False)
        if not isinstance(command, click.Group):
            return
        # Click before 8.2 has no underscore, and later ones warn without it.
        rest = [*context.__dict__.get("_protected_args", context.__dict__.get("protected_args", [])), *context.args]
        if not rest:
            return
        name, next_command, arguments = command.resolve_command(context, rest)  # type: ignore[assignment]
        assert next_command is not None
        command = next_command


def write_files(page: Path, folder: Path) -> None:
    """The files that a page tells its readers to write: blocks with a caption."""
    blocks = re.findall(r"^```\{code-block\} py\n:caption: (\S+)\n\n(.*?)^```", page.read_text(encoding="utf-8"), FLAGS)
    for name, text in blocks:
        (folder / name).write_text(text, encoding="utf-8")


CASES = [
    pytest.param(page, line, id=f"{page.relative_to(ROOT)}: {line[:60]}")
    for page in PAGES
    for line in dict.fromkeys(command_lines(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("page", "line"), CASES)
def test_every_command_in_the_pages_exists(
    page: Path, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command line shown to readers names only commands, options and arguments that exist."""
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    arguments = shlex.split(line.replace("…", ""), comments=True)[1:]
    problem = None
    try:
        check_command(arguments)
    except click.exceptions.Exit:
        pass  # --help and --version end early
    except click.ClickException as error:
        problem = error.format_message()
    # A file that the reader is to provide is not here.
    assert problem is None or "does not exist" in problem, problem


OWN_METHOD = ROOT / "docs" / "tutorials" / "own-method.md"


@pytest.mark.parametrize("line", command_lines(OWN_METHOD.read_text(encoding="utf-8")))
def test_commands_accept_a_method_of_ones_own(line: str, tmp_path: Path) -> None:
    """The commands of the lesson "write your own method" work, with the lesson's file and nothing else."""
    write_files(OWN_METHOD, tmp_path)
    command = [sys.executable, "-m", "sottovoce", *shlex.split(line)[1:], "--json"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)


def test_a_wrong_option_in_a_page_is_noticed() -> None:
    """The check above fails on an option that does not exist."""
    with pytest.raises(click.ClickException, match="No such option"):
        check_command(["--no-such-option"])


def test_shell_blocks_are_found() -> None:
    """Prompts, environment variables, pipes and continuations do not hide a command line."""
    lines = [
        "ada:~$ A=1 sottovoce demo --json | head",
        "$ cd x && .venv/bin/sottovoce plan \\",
        "  --x 1",
        "sottovoce: no",
    ]
    text = "\n".join(["```console", *lines, "```", ""])
    assert [line.split() for line in command_lines(text)] == [
        ["sottovoce", "demo", "--json"],
        ["sottovoce", "plan", "--x", "1"],
    ]


def test_promises_name_attacks_that_exist() -> None:
    """Whatever the page on threats says was tried has a file of attempts, and each promise names one."""
    page = (ROOT / "docs" / "explanation" / "threat-model-peers.md").read_text(encoding="utf-8")
    table = page[page.index("| promise |") : page.index("## What it rests on")].splitlines()[2:]
    for row in filter(None, table):
        named = re.findall(r"`(test_\w+)`", row)
        assert named, row
        for name in named:
            assert (ROOT / "tests" / "attacks" / f"{name}.py").exists(), name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_keeps_its_examples(name: str) -> None:
    """Click's mark for "keep these lines as they are" is understood, and not shown to readers."""
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert "\\b" not in command.get_help(click.Context(command, info_name=name, parent=context))


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=lambda page: page.name)
def test_links_in_the_front_pages_lead_somewhere(page: Path) -> None:
    """A relative link in README and its siblings, which Sphinx does not see, points at a file that exists."""
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (ROOT / target).exists()] == []


STUMBLED_OVER = (
    r"\b(affair|hearsay|poison|in earnest|leaves off|had a hand in|is bare|more than its size|two people use)\b"
)
"""Phrases that readers did not understand. Add those that you hear of."""


def test_words_that_readers_did_not_understand_stay_out() -> None:
    """Pages, docstrings and messages are in plain English for international readers."""
    sources = [*PAGES, *sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "studio-web" / "src").rglob("*.html"))]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources
        for match in re.finditer(STUMBLED_OVER, path.read_text(encoding="utf-8"), re.IGNORECASE)
    ]
    assert found == []


class TestSite:
    """``docs/check_site.py`` finds what it is there to find."""

    @staticmethod
    def check(site: Path) -> subprocess.CompletedProcess[str]:
        script = ROOT / "docs" / "check_site.py"
        return subprocess.run([sys.executable, script, site], capture_output=True, text=True, check=False)

    def test_a_sound_site_passes(self, tmp_path: Path) -> None:
        """Internal links, places on a page and links that a reader may follow elsewhere are fine."""
        (tmp_path / "a.css").write_text("b { color: red }")
        (tmp_path / "b.html").write_text('<p id="x">b</p>')
        (tmp_path / "index.html").write_text(
            '<link rel="stylesheet" href="a.css"><a href="b.html#x">b</a><a href="https://example.org">out</a>'
        )
        assert self.check(tmp_path).returncode == 0

    @pytest.mark.parametrize(
        "page",
        [
            '<script src="https://cdn.example.org/x.js"></script>',
            '<link rel="stylesheet" href="//fonts.example.org/x.css">',
            '<img src="http://example.org/x.png">',
            '<a href="missing.html">x</a>',
            '<a href="#nowhere">x</a>',
            '<script src="missing.js"></script>',
        ],
    )
    def test_a_faulty_site_fails(self, tmp_path: Path, page: str) -> None:
        """Something loaded from another host, or a link to nothing, is an error that names the page."""
        (tmp_path / "index.html").write_text(page)
        result = self.check(tmp_path)
        assert result.returncode == 1
        assert "index.html" in result.stderr

    def test_formulas_need_no_other_host(self) -> None:
        """The MathJax that pages use is in the repository with its licence and version."""
        folder = ROOT / "docs" / "_static" / "mathjax"
        assert "Apache License" in (folder / "LICENSE").read_text()
        version = re.search(r"version (\d+\.\d+\.\d+)", (folder / "README.md").read_text())
        assert version is not None
        assert f'"{version[1]}"' in (folder / "tex-svg-full.js").read_text(encoding="utf-8")


def gallery() -> ModuleType:
    """``docs/gallery.py``, which runs the notebooks when the site is built."""
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "docs" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestGallery:
    """Notebooks are run as Jupyter would run them, and a mistake in one is noticed."""

    NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))

    @staticmethod
    def notebook(folder: Path, *cells: str) -> Path:
        path = folder / "small.ipynb"
        code = [{"cell_type": "code", "source": [cell], "outputs": []} for cell in cells]
        path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Small"]}, *code]}))
        return path

    def test_there_are_ten_and_none_keeps_results(self) -> None:
        """Results are made when the site is built; a file in the repository has none that could be out of date."""
        assert len(self.NOTEBOOKS) == 10
        assert self.NOTEBOOKS[0].name == "01-figure-1-with-your-noise.ipynb"
        for path in self.NOTEBOOKS:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            assert "".join(cells[0]["source"]).startswith("# ")
            assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path.name

    def test_cells_share_names_and_show_what_jupyter_shows(self, tmp_path: Path) -> None:
        """Prints, the last value but not after a semicolon, HTML where there is some, each figure once."""
        drawing = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
        table = "class T:\n    def _repr_html_(self):\n        return '<b>x</b>'\nT()"
        module = gallery()
        executed = module.run_notebook(self.notebook(tmp_path, "a = 3\nprint('said')\na + 1", "a;", drawing, table))
        kinds = [[list(output.get("data", output)) for output in cell["outputs"]] for cell in executed["cells"][1:]]
        assert kinds[0] == [["output_type", "name", "text"], ["text/plain"]]
        assert kinds[1:] == [[], [["image/png"]], [["text/plain", "text/html"]]]
        text = module.page(executed, "small", tmp_path)
        for part in ("# Small", "```text\nsaid\n```", "```text\n4\n```", "![Figure 1", "<b>x</b>"):
            assert part in text
        assert (tmp_path / "small-1.png").read_bytes().startswith(b"\x89PNG")

    def test_a_card_shows_title_first_sentence_and_last_figure(self, tmp_path: Path) -> None:
        """What the gallery shows of a notebook; one without figures has a card without a picture."""
        module = gallery()
        path = self.notebook(tmp_path, "import matplotlib.pyplot as plt\nplt.plot([1]);", "plt.plot([2]);")
        path.write_text(path.read_text().replace("# Small", "# Small\\n\\nFirst one. Second."))
        shown = module.card(module.run_notebook(path), "small", "gallery")
        assert "(_generated/gallery/small-2.png)](_generated/gallery/small.md)" in shown
        assert "**[Small](_generated/gallery/small.md)**\n\nFirst one.\n" in shown
        assert "png" not in module.card(module.run_notebook(self.notebook(tmp_path, "1")), "small", "gallery")

    def test_a_cell_that_fails_ends_the_build(self, tmp_path: Path) -> None:
        """The error names the file and the cell."""
        module = gallery()
        with pytest.raises(module.NotebookFailed, match=r"small\.ipynb, cell 3: ZeroDivisionError"):
            module.run_notebook(self.notebook(tmp_path, "a = 0", "1 / a"))


def test_the_page_that_compares_says_what_was_measured() -> None:
    """Its ratios to PeerSim are those of the file with the measurements."""
    rows = json.loads((ROOT / "benchmarks" / "results" / "peersim.json").read_text(encoding="utf-8"))["rows"]
    ratios = {row["name"]: row["ratio"] for row in rows}
    text = (ROOT / "docs" / "explanation" / "compared.md").read_text(encoding="utf-8")
    quiet, noisy = ratios["PeerSim, average, quiet"], ratios["PeerSim, Algorithm 1"]
    assert f"{quiet} × the time of our standard gossip, {noisy} × the time of our noise insertion" in text
    assert f"{ratios['PeerSim, average, n = 10⁶']} × at a million nodes" in text


def test_the_page_on_topics_says_what_was_measured() -> None:
    """Its tables are those of the file that the benchmark has written, line by line."""
    tables = runpy.run_path(str(ROOT / "benchmarks" / "topic_tables.py"))
    found = json.loads((ROOT / "benchmarks" / "results" / "topics.json").read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "explanation" / "topics-cost.md").read_text(encoding="utf-8")
    for name in ("table", "account"):
        assert tables[name](found) in text


def test_hooks_before_a_commit_use_tools_that_are_installed() -> None:
    """Each program is one that ``make lint`` installs and runs."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    programs = re.findall(r"entry: \.venv/bin/([\w-]+)", hooks)
    assert programs
    assert [each for each in programs if f"$(BIN)/{each}" not in makefile] == []
