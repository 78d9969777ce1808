"""``python -m tests.mutations``: see the docstring of the package."""

from __future__ import annotations

import argparse
import random
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .mutants import Mutant, named, usual
from .running import Verdict, Workshop, try_all
from .table import HARMLESS, NAMED, TARGETS, WANTED

ROOT = Path(__file__).parent.parent.parent
_MEMORY = 8 * 2**30


def main(arguments: Sequence[str] | None = None) -> int:
    """Try mutants until all are tried, time is over or Ctrl-C; say which survived. 0 if the score is high enough."""
    asked = _parser().parse_args(arguments)
    _set_limits()
    special = [named(ROOT, entry) for entry in NAMED]
    ordinary = [mutant for target in TARGETS for mutant in usual(ROOT, target) if mutant.name not in HARMLESS]
    random.Random(asked.seed).shuffle(ordinary)
    chosen = [mutant for mutant in (*special, *ordinary) if asked.only in mutant.name or asked.only in str(mutant.path)]
    if asked.list:
        _say(*(mutant.name for mutant in chosen))
        return 0
    verdicts: list[Verdict] = []
    try:
        for verdict in _tried(chosen, jobs=asked.jobs, seconds=60.0 * asked.minutes):
            verdicts.append(verdict)
            _say(f"{verdict.how:9} {verdict.mutant.name}")
    except KeyboardInterrupt:
        _say("interrupted")
        _summary(verdicts, special, len(chosen), asked.seed)
        return 130
    return _summary(verdicts, special, len(chosen), asked.seed)


def _tried(mutants: list[Mutant], *, jobs: int, seconds: float) -> Iterator[Verdict]:
    limits: dict[tuple[str, ...], float] = {}
    with tempfile.TemporaryDirectory(prefix="sottovoce-mutants-") as folder:
        workshops = [Workshop(ROOT, Path(folder) / str(k), limits) for k in range(jobs)]
        yield from try_all(mutants, workshops, seconds=seconds)


def _summary(verdicts: list[Verdict], special: list[Mutant], num_chosen: int, seed: int) -> int:
    survived = [verdict.mutant for verdict in verdicts if verdict.how == "survived"]
    ordinary = [verdict for verdict in verdicts if verdict.mutant not in special]
    killed = sum(verdict.how != "survived" for verdict in ordinary)
    score = killed / len(ordinary) if ordinary else 1.0
    with_a_name = [mutant for mutant in survived if mutant in special]
    _say("", f"{len(survived)} survived:", *(f"  {mutant.name}" for mutant in survived))
    _say(f"{len(verdicts)} of {num_chosen} mutants tried, in the order of seed {seed}")
    _say(f"with a name: {len(verdicts) - len(ordinary) - len(with_a_name)} of {len(verdicts) - len(ordinary)} killed")
    _say(f"without: {killed} of {len(ordinary)} killed, score {score:.3f}, wanted {WANTED}")
    return int(bool(with_a_name) or score < WANTED)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description="Do the tests notice mistakes?")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no mutant after this time")
    parser.add_argument("--seed", type=int, default=1, help="decides the order of the mutants without a name")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at once")
    parser.add_argument("--only", default="", help="those with this text in their name or path")
    parser.add_argument("--list", action="store_true", help="name the mutants and try none")
    return parser


def _set_limits() -> None:
    """For the test runs, which inherit it: a limit on memory, and Ctrl-C even if this program is in the background."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _say(*lines: str) -> None:
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
