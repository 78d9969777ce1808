"""The command line: a group that imports a command's module only when that command is used.

Exit codes: 0 done, 1 failed, 2 bad input (one sentence on standard error), 75 not now, try again later (``EX_TEMPFAIL``
of sysexits.h), 130 interrupted, 141 nobody reads the output any more (as after ``| head -1``).
"""

from __future__ import annotations

import importlib
import os
import sys
from contextlib import nullcontext, suppress
from typing import Any, NoReturn

import click

from .._version import __version__
from ..errors import InvalidInput, MissingDependency, SottovoceError, TemporaryFailure, Unsupported
from ..foundation.extras import EXTRAS, missing
from ..foundation.interrupting import remembered
from .output import TYPED
from .spelling import prepared

# Command → (module with a click command named ``command``, one line for the overview).
COMMANDS = {
    "demo": ("demo", "Make the paper's figure and say what it shows."),
    "simulate": ("simulate", "Run one method on one graph."),
    "reproduce": ("reproduce", "Redo a published experiment."),
    "compare": ("compare", "Several methods side by side."),
    "ensemble": ("ensemble", "One method on many problems, and where the spread comes from."),
    "frontier": ("frontier", "What privacy costs in time, at equal accuracy."),
    "bound": ("bound", "What was proved beside what happens."),
    "plan": ("plan", "Choose steps, decay and noise for a wanted accuracy and privacy."),
    "sweep": ("sweep", "Many runs, here or on a cluster, kept as a dataset."),
    "plot": ("plot", "Draw the runs of a sweep."),
    "bench": ("bench", "How fast this machine runs it."),
    "audit": ("audit", "What an observer learns about everyone's private value."),
    "study": ("study", "Statistics of tables whose rows stay with their owners."),
    "network": ("network", "Create, run and watch a network of peers."),
    "peer": ("peer", "Start, inspect and stop one peer."),
    "studio": ("studio", "A page where you watch private gossip happen."),
}
ANSWERING = (["network"], ["peer"], ["studio"], ["sweep"])
"""Commands that answer Ctrl-C by themselves: they end what they started."""

CLOSED = 141
"""Exit code when standard output was closed, that of a program that SIGPIPE ends."""

ASKS_FOR_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""A group without a command shows its help; click before 8.2 does so without an error."""

NOT_NOW = 75
"""``EX_TEMPFAIL`` of sysexits.h, which Python knows on POSIX only."""


class LazyGroup(click.Group):
    """Lists commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f".{COMMANDS[cmd_name][0]}", __package__).command
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Keep the words as they were typed: files say which command made them."""
        typed = list(args)
        context = super().make_context(info_name, args, parent, **extra)
        context.meta[TYPED] = typed
        return context

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sottovoce")
def cli() -> None:
    """Private average consensus: the exact average of private numbers, by gossip under noise that is withdrawn."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and turn errors into exit codes."""
    os.environ["MPLBACKEND"] = "agg"  # commands write files and open no window
    sys.stdout, sys.stderr = prepared(sys.stdout), prepared(sys.stderr)
    stdout = sys.stdout
    named = [each for each in (sys.argv[1:] if arguments is None else arguments) if each in COMMANDS]
    try:
        with nullcontext() if named[:1] in ANSWERING else remembered():
            code = cli.main(args=arguments, standalone_mode=False) or 0
        if sys.stdout is not stdout:  # click puts a silent stream in the place of one that nobody reads
            sys.exit(CLOSED)
        _flush()
    except SystemExit as stop:
        sys.exit(CLOSED if sys.stdout is not stdout else stop.code)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _refuse("interrupted", 130)
    except BrokenPipeError:
        _silence()
        sys.exit(CLOSED)
    except click.ClickException as error:
        if isinstance(error, ASKS_FOR_HELP):
            error.show()
            sys.exit(2)
        _refuse(f"error: {_sentence(error)}", 2)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        _refuse(f"error: {missing(package)}", 2)
    except SottovoceError as error:
        _refuse(f"error: {error}", _exit_code(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _refuse(f"error: {where}{error.strerror or error}", 2)
    sys.exit(code)


def _refuse(sentence: str, code: int) -> NoReturn:
    """One sentence on standard error; letters that no terminal has, as in a name that is not UTF-8, are spelled out."""
    with suppress(OSError):
        click.echo(sentence.encode("utf-8", "backslashreplace").decode("utf-8"), err=True)
    _silence()
    sys.exit(code)


def _flush() -> None:
    """Whoever reads may have gone, and a disk may be full: this is the moment to notice."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _silence() -> None:
    """Python flushes both streams once more at its end, and would complain of what was noticed already."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _sentence(error: click.ClickException) -> str:
    """Click's message in one sentence, with the place where to read more."""
    message = error.format_message().strip().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    more = "" if context is None else f" ({context.command_path} --help says more)"
    return f"{message[:1].lower()}{message[1:]}{more}"


def _exit_code(error: SottovoceError) -> int:
    if isinstance(error, TemporaryFailure):
        return NOT_NOW
    return 2 if isinstance(error, InvalidInput | Unsupported | MissingDependency) else 1
