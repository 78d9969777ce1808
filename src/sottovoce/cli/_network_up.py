"""The demonstration behind ``sottovoce network up``: real peers, live, some chaos, and the proof at the end."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..graphs import Graph
from ..testing.proof import Proof, prove
from ..testing.stage import Stage
from ._peer_view import network_table
from .output import print_json, terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = ["show"]

# Values like percentages, noise as large as their spread, settled when all agree to a hundredth of a point.
_SPREAD = 25.0
_SETTINGS: dict[str, Any] = {
    "noise_std": _SPREAD,
    "noise_decay": 0.9,
    "seal_std": 10 * _SPREAD,
    "smallest_std": None,
    "tolerance": 0.01,
    "timeout": 0.1,
    "backoff_max": 1.0,
    "sync_interval": 1.0,
    "grace": 2.0,
}
_CHAOS_SECONDS = 12.0
# Exchanges a second: two cores can do more, at about 3 ms of processor time each.
_EXCHANGES = 250.0
_CHAOS_LOSS = 0.1


def show(
    graph: Graph, *, chaos: bool, seconds: float, seed: int, keep: Path | None, as_json: bool, stay: bool = False
) -> None:
    """Run it, until Ctrl-C if it is to ``stay``, and exit with 1 if the peers did not settle on the true mean."""
    console = terminal(stderr=as_json)
    generator = np.random.default_rng(seed)
    values = np.round(50 + _SPREAD * generator.standard_normal(graph.num_nodes), 1)
    settings = _SETTINGS | {"rate": min(15.0, _EXCHANGES / (2 * graph.num_edges))}
    with (
        _folder(keep) as folder,
        Stage(folder, graph, values, loss=_CHAOS_LOSS if chaos else 0.0, **settings) as stage,
    ):
        began = time.monotonic()
        stage.start()
        troubles = _Troubles(stage, generator) if chaos else None
        statuses, settled = _watch(stage, console, troubles, seconds, live=not as_json, stay=stay)
        took = time.monotonic() - began
        with console.status("stopping the peers"):
            codes = stage.stop()
        with console.status("working out what any single peer could have learned"):
            proof = prove({name: stage.data_dir(name) for name in stage.names})
            learned = _what_single_peers_know(stage)
    result = {
        "peers": graph.num_nodes, "edges": graph.num_edges, "chaos": troubles.count if troubles else None,
        "settled": settled, "seconds": round(took, 2), "tolerance": _SETTINGS["tolerance"],
        "clean_exits": sum(code == 0 for code in codes.values()), "statuses": statuses, "proof": proof.to_dict(),
        "prior_std": _SPREAD, "known_to_a_single_peer_std": dict(zip(stage.names, learned, strict=True)),
    }  # fmt: skip
    if as_json:
        print_json(result)
    else:
        console.print(_tell(proof, result, values, stage.names))
    if not (settled and proof.exact and proof.largest_error <= _SETTINGS["tolerance"]):
        sys.exit(1)


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        yield Path(folder) / "network"


class _Troubles:
    """Kills a peer about every second, wipes every third one's disk, restarts it a moment later; then stops."""

    def __init__(self, stage: Stage, generator: np.random.Generator) -> None:
        self._stage, self._random = stage, generator
        self._end = time.monotonic() + _CHAOS_SECONDS
        self._next = time.monotonic() + 5.0
        self._down: dict[str, float] = {}
        self.count = {"kills": 0, "wiped disks": 0}
        self.last = ""

    @property
    def over(self) -> bool:
        return time.monotonic() > self._end and not self._down

    def go_on(self) -> None:
        """Do whatever is due."""
        now = time.monotonic()
        for name in [name for name, due in self._down.items() if due <= now]:
            del self._down[name]
            self._stage.start(name)
        if self._next <= now <= self._end and len(self._down) < 3:
            self._next = now + self._random.exponential(1.0)
            up = [name for name in self._stage.names if name not in self._down]
            self._hit(str(self._random.choice(up)), now)

    def _hit(self, name: str, now: float) -> None:
        self._stage.kill(name)
        self.count["kills"] += 1
        self.last = f"killed {name}"
        if self.count["kills"] % 3 == 0:
            self._stage.wipe(name)
            self.count["wiped disks"] += 1
            self.last += " and wiped its disk"
        self._down[name] = now + 1.0


def _watch(
    stage: Stage, console: Console, troubles: _Troubles | None, seconds: float, *, live: bool, stay: bool
) -> tuple[dict[str, Any], bool]:
    """Show the peers until all have settled (and no more are being killed) or time is over.

    Those that are to ``stay`` go on after they have settled, until somebody presses Ctrl-C.
    """
    from rich.live import Live

    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        screen = stack.enter_context(Live(console=console, refresh_per_second=5, transient=True)) if live else None
        while True:
            if troubles is not None:
                troubles.go_on()
            statuses: dict[str, Any] = stage.statuses()
            now = time.monotonic() - began
            quiet = troubles is None or troubles.over
            settled = quiet and all(status is not None and status["settled"] for status in statuses.values())
            if screen is not None:
                screen.update(_frame(statuses, now, troubles, staying=stay and settled))
            if (settled and not stay) or (now > seconds and not settled):
                return statuses, settled
            if troubles is None:
                stage.check_alive()
            try:
                time.sleep(0.2)
            except KeyboardInterrupt:
                if not (stay and settled):
                    raise
                return statuses, settled


def _frame(
    statuses: dict[str, Any], now: float, troubles: _Troubles | None, *, staying: bool = False
) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    up = sum(status is not None for status in statuses.values())
    done = sum(status is not None and status["settled"] for status in statuses.values())
    head = f"{now:5.1f} s   {up}/{len(statuses)} peers up   {done} settled"
    if troubles is not None:
        head += f"   {troubles.count['kills']} kills, {troubles.count['wiped disks']} disks wiped   {troubles.last}"
    if staying:
        head += "   all have settled; they stay until you press Ctrl-C"
    return Group(Text(head, style="bold"), network_table(statuses))


def _what_single_peers_know(stage: Stage) -> list[float]:
    """For each peer, how closely the single other peer that knows most can ever know its value, at the best.

    From the theorem on sealed edges: whatever was exchanged, and however often. Each is taken to know the graph, and
    beforehand only that a value has the spread of the demonstration.
    """
    from ..privacy.gaussian.seals import worst_coalition

    graph, seal = stage.graph, _SETTINGS["seal_std"]
    found = worst_coalition(graph.edges, graph.num_nodes, size=1, seal_std=seal, prior_std=_SPREAD)
    return [float(std) for std in found.std]


def _tell(proof: Proof, result: dict[str, Any], values: Any, names: list[str]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for title in ("peer", "private value", "estimate", "error", "no single peer knows it better than"):
        table.add_column(title, justify="left" if title == "peer" else "right")
    learned = result["known_to_a_single_peer_std"]
    for name, value in zip(names, values.tolist(), strict=True):
        estimate = float(proof.estimates[name][0])
        table.add_row(
            name,
            f"{value:.1f}",
            f"{estimate:.6f}",
            f"{estimate - float(proof.true_mean[0]):+.1e}",
            f"± {learned[name]:.1f}" if learned[name] > 1e-3 * _SPREAD else "[red]exactly[/]",
        )
    return Group(table, "", *_conclusions(proof, result))


def _conclusions(proof: Proof, result: dict[str, Any]) -> list[str]:
    """What the proof says, a sentence each."""
    chaos, learned = result["chaos"], result["known_to_a_single_peer_std"].values()
    near = _mark(good=proof.largest_error <= result["tolerance"])
    flows = f"{proof.agreeing_edges} of {proof.edges} edges hold exactly opposite flows at their two ends"
    if proof.agreeing_edges < proof.edges:
        flows += f"; {abs(float(proof.on_the_way[0])):.1e} was on its way when the peers stopped"
    effort = f"{result['seconds']:.0f} s, {result['peers']} processes, TLS on every edge, a database each"
    if chaos:
        effort += f"; {chaos['kills']} kills, {chaos['wiped disks']} disks wiped, one message in ten lost"
    lines = [
        f"{near} true mean {float(proof.true_mean[0]):.6f}; largest error {proof.largest_error:.1e}",
        f"{_mark(good=proof.exact)} mass balance: estimates − noise − private values = {proof.mass_error:.1e}",
        f"  {flows}",
        f"  beforehand each value was known to ± {_SPREAD:g}; in ordinary gossip the first caller learns it",
        f"  {effort}",
    ]
    if min(learned) <= 1e-3 * _SPREAD:
        lines.insert(-1, "  a peer with a single neighbour cannot hide its value from it")
    if not result["settled"]:
        lines.append(f"{_mark(good=False)} the peers did not settle in time; give --seconds more")
    return lines


def _mark(*, good: bool) -> str:
    return "[green]✓[/]" if good else "[red]✗[/]"
