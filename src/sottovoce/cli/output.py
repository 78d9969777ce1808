"""What all commands share: options, tables for people, JSON for machines."""

from __future__ import annotations

import functools
import json
import math
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import numpy as np

from ..foundation.text import number_in
from .kinds import FigureName, Whole
from .specs import GraphOption, MethodOption
from .spelling import is_utf8, letters_of, spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from rich.console import Console

    from ..experiments import Provenance
    from ..graphs import Graph

__all__ = [
    "FIGURE_FILES",
    "TYPED",
    "Group",
    "check_place",
    "command_line",
    "graph_option",
    "json_option",
    "load_option",
    "method_option",
    "near",
    "node_named",
    "plot_option",
    "print_json",
    "print_table",
    "say",
    "seed_option",
    "terminal",
    "values_option",
    "without_suffix",
    "write_figure",
]

WIDEST = 10_000
"""Columns of the widest table that can be."""
F = TypeVar("F", bound=Callable[..., Any])

TYPED = "sottovoce.typed"
"""Where the words of a command line are kept while it runs."""

graph_option = click.option(
    "--graph", "graph_spec", cls=GraphOption, default="cycle:10", show_default=True, metavar="SPEC",
    help="Family with sizes (cycle:10, rgg:100:seed=3, grid:5x8, …) or an edge-list file.",
)  # fmt: skip
values_option = click.option(
    "--values", "values_spec", default="uniform", show_default=True, metavar="SPEC",
    help="Private values: uniform, normal, ramp, spike, numbers as in 1,2.5,0, or a file (a line per node, which may "
    "begin with its name; or .npy; - for standard input).",
)  # fmt: skip


class Group(click.Group):
    """A group whose help says the whole first sentence about each command, on several lines where it must."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, each.get_short_help_str(limit=1000)) for name, each in found if each is not None]
            )


def check_place(folder: Path) -> None:
    """Notice before the work that a folder cannot be made; leave nothing, since interrupted work writes nothing."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        with suppress(OSError):  # somebody else uses it by now
            each.rmdir()


def load_option(command: F) -> F:
    """Add ``--load``: files or modules with methods that are imported before the command runs."""

    @click.option(
        "--load", "sources", multiple=True, type=click.Path(), metavar="FILE.py", envvar="SOTTOVOCE_LOAD",
        help="A file, or module, with methods of your own to name; it is run. Repeat for more.",
    )  # fmt: skip
    @functools.wraps(command)
    def loaded(*arguments: Any, sources: tuple[str, ...], **options: Any) -> Any:
        from ..scenario.loading import load_methods

        for source in sources:
            load_methods(source)
        return command(*arguments, **options)

    return cast("F", loaded)


def method_option(command: F) -> F:
    """Add ``--method``, and ``--load`` with it."""
    return click.option(
        "--method", "method_spec", cls=MethodOption, default="noise-insertion:noise_std=1,noise_decay=0.9",
        show_default=True, metavar="SPEC", help="Method with parameters: name:parameter=value,…",
    )(load_option(command))  # fmt: skip


seed_option = click.option("--seed", type=Whole(0, None), default=1, show_default=True, help="Reproduces everything.")
FIGURE_FILES = "Write FILE.png and FILE.svg, or only the one that FILE ends with: .pdf, .svg, .png."
plot_option = click.option("--plot", "plot_stem", type=FigureName(), help=FIGURE_FILES)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")


def command_line() -> str:
    """The command that is running, as it was typed; numbers after ``--values`` are private and are left out."""
    words = list(click.get_current_context().meta.get(TYPED, []))
    for place, word in enumerate(words):
        before, equals, value = word.partition("=")
        if before == "--values" and equals:
            words[place] = f"--values={_hidden(value)}"
        elif place and words[place - 1] == "--values":
            words[place] = _hidden(word)
    typed = shlex.join(["sottovoce", *words])
    return typed.encode("utf-8", "backslashreplace").decode("utf-8")  # a name that is not UTF-8 goes into files too


def _hidden(values: str) -> str:
    return "…" if all(number_in(part) is not None for part in values.split(",")) else values


def node_named(graph: Graph, text: str) -> int | str:
    """A node as somebody typed it: a name if the graph has it, otherwise a number."""
    return int(text) if text not in graph.numbers and text.isdecimal() else text


def near(path: Path) -> Path:
    """``path`` as seen from the current folder, if it lies there."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def without_suffix(path: Path, *suffixes: str) -> Path:
    """``path`` without one of these endings, and otherwise as it is: the 0.9 of ``run-0.9`` is no ending.

    Examples
    --------
    >>> without_suffix(Path("run-0.9"), ".npz").name, without_suffix(Path("a.npz"), ".npz").name
    ('run-0.9', 'a')
    """
    return path.with_suffix("") if path.suffix in suffixes else path


def write_figure(drawn: Figure | Axes | Sequence[Axes], path: Path, provenance: Provenance | None = None) -> list[Path]:
    """Write the format that ``path`` asks for, or PNG and SVG; the files say where they come from."""
    from ..experiments.provenance import Provenance
    from ..plotting import save_figure

    made = Provenance.of().by(command_line()) if provenance is None else provenance
    return save_figure(drawn, path, about=made.line())


def print_json(payload: dict[str, Any]) -> None:
    """One object; arrays become lists, NaN and infinity become null."""
    click.echo(json.dumps(_plain(payload), indent=2, ensure_ascii=not is_utf8(sys.stdout)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def say(text: str, *, bullet: str = "") -> None:
    """Prose on standard output, wrapped to the terminal (80 columns where there is none, at most 100)."""
    width = min(shutil.get_terminal_size().columns, 100)
    plain, mark = (spelled(part, letters_of(sys.stdout)) for part in (text, bullet))
    indents = {"initial_indent": mark, "subsequent_indent": " " * len(mark)}
    click.echo(click.wrap_text(plain, width, **indents, preserve_paragraphs=True))


def terminal(**options: Any) -> Console:
    """Rich's console, which spells signs out before it lays anything out, and lets main() end when nobody reads."""
    from rich.console import Console
    from rich.text import Text

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(spelled(text, letters_of(self.file)), **how)

    return Terminal(**options)


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, notes: Sequence[str] = ()
) -> None:
    """A table on standard output; numbers to the right, and lines of notes below.

    In a narrow terminal the words of the first column are spread over lines; no word and no number is ever cut.
    """
    from rich.cells import cell_len
    from rich.measure import Measurement
    from rich.table import Table

    console = terminal(markup=False)  # what is printed may be a name from a file
    words = partial(spelled, encoding=letters_of(sys.stdout))
    table = Table(title=words(title), title_justify="left", header_style="bold")
    cells = [[words(str(cell)) for cell in row] for row in rows]
    for index, column in enumerate(map(words, columns)):
        texts = [column, *(row[index] for row in cells)]
        needed = max(cell_len(part) for text in texts for part in (text.split() or [""] if index == 0 else [text]))
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=index > 0, min_width=needed)
    for row in cells:
        table.add_row(*row)
    narrowest = Measurement.get(console, console.options.update(max_width=WIDEST), table).minimum
    terminal(markup=False, width=max(narrowest, console.width)).print(table)
    for note in notes:
        console.print(words(note), highlight=False)
