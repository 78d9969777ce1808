"""How pages are followed: what ``special.toml`` says about single commands, files, folders, and what differs."""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

README, FIRST, LESSON = "README.md", "docs/tutorials/first-run.md", "docs/tutorials/three-machines.md"
RUN, KEEP = "docs/how-to/run-a-peer.md", "docs/how-to/keep-a-peer-running.md"

STORIES: list[list[str]] = [
    [LESSON, RUN, KEEP],  # the lesson's peers are those that the guides keep running
    ["docs/how-to/sweep.md", "docs/how-to/cluster.md"],  # one dataset
]
"""Pages that are followed one after another, in one folder; every other page stands alone."""


@dataclass(frozen=True)
class Special:
    """How a line is typed, in the words of ``special.toml``."""

    why: str
    instead: str = ""
    ready: str = ""
    settled: str = ""

    @property
    def left_out(self) -> bool:
        return not (self.instead or self.ready or self.settled)


SPECIAL = {
    (entry["page"], entry["line"]): Special(**{key: text for key, text in entry.items() if key not in {"page", "line"}})
    for entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["special"]
}
"""(page, line without comment) → how it is typed."""

ROWS = "salary,age,gender\n" + "".join(f"{30_000 + 977 * k},{20 + k},{'fm'[k % 2]}\n" for k in range(24))
PROVIDED: dict[str, dict[str, str]] = {
    "docs/how-to/study.md": dict.fromkeys(["ours.csv", "ada.csv", "bob.csv", "cyd.csv"], ROWS),
    "docs/how-to/simulate.md": {
        "my_methods.py": """\
import sottovoce as sv
from sottovoce.methods import VALUE, PairMethod
from dataclasses import dataclass


@sv.methods.register
@dataclass(frozen=True)
class Lazy(PairMethod):
    theta: float = 0.5
    name = "lazy"
    num_fields = 1

    @staticmethod
    def update(nodes, i, j, draw_i, draw_j, step, parameters):
        gap = nodes[j, VALUE] - nodes[i, VALUE]
        nodes[i, VALUE] += 0.25 * gap
        nodes[j, VALUE] -= 0.25 * gap
"""
    },
}
"""Page → files that the reader is said to have."""

INSIDE = {RUN: "ada/ada", KEEP: "ada/ada"}
"""Page → where in the story's folder its reader stands."""

VARIES: dict[str, list[tuple[str, str]]] = {
    LESSON: [
        (r"exchanges +\d+", "exchanges N"),
        (r"(±|\+/-) 0(\.00\d*)?\b", "+/- E"),
        (r"60 +0(\.00\d*)? +yes +0\.0e\+00 +\d+", "60 E yes N"),
    ],
}
"""Page → what is drawn anew in each run, and the word in its place."""

ADDRESSES = {
    f"{name}.example.org:7001": f"127.0.0.1:700{k}" for k, name in enumerate(["ada", "bob", "cleo", "dora"], 1)
}
"""What the lesson says to take with a single machine."""


def bare(line: str) -> str:
    """A line without the comment at its end."""
    return re.sub(r"\s+# .*$", "", line).strip()


def send(folder: Path, who: str, line: str) -> None:
    """What the lesson's people do by e-mail: cards to the founder, rosters to everybody."""
    if "peer init " in line and who != "ada":
        shutil.copy(folder / who / who / f"{who}.card", folder / "ada")
    elif re.search(r"network (create|add|remove) ", line):
        for other in ("bob", "cleo", "dora"):
            (folder / other).mkdir(exist_ok=True)
            shutil.copy(folder / "ada" / "trio" / "roster.json", folder / other)
