"""The tables of the page on topics, from what ``bench_topics.py`` has measured. Nothing is measured here."""

from __future__ import annotations

from typing import Any

ROWS = {
    "plain gossip, nothing travels": "arithmetic",
    "**floor**: the same, each vector in a bare gRPC call": "transfer",
    "the same over streams that stay open, as peers have them": "streams",
    "the floor at the times at which twenty clocks ring": "paced",
    "a topic, state in memory": "in memory",
    "the same, peers in {processes} processes": "in memory, processes",
    "the floor, each vector also written and synchronised": "transfer and disk",
    "a topic, state on disk": "on disk",
    "the same on disk, peers in {processes} processes": "on disk, processes",
}


def least(found: dict[str, Any], what: str = "processor") -> float:
    """Processor seconds of the floor, or those on the wall."""
    return float(found["transfer"][what])


def table(found: dict[str, Any]) -> str:
    """What each takes."""
    what = f"{found['dimension']:,} numbers, {found['peers']} peers".replace(",", "\u202f", 1)
    lines = [
        f"| {what} | exchanges | processor time | of the floor | on the wall | of the floor | sent by each |",
        "|---|---|---|---|---|---|---|",
    ]
    for what, name in ROWS.items():
        row = found[name]
        sent = f"{row['bytes'] / 1e6:.0f} MB" if row["bytes"] else "none"
        lines.append(
            f"| {what.format(**found)} | {row['exchanges']} | {_measured(found, row, 'processor')} | "
            f"{_measured(found, row, 'wall')} | {sent} |"
        )
    return "\n".join(lines)


def _measured(found: dict[str, Any], row: dict[str, Any], what: str) -> str:
    """The middle one, the least and most of all turns, and how many times the floor the middle one is."""
    low, high = row[f"{what}s"]
    return f"{row[what]:.1f} s ({low:.1f}\u2013{high:.1f}) | {row[what] / least(found, what):.1f}"


def account(found: dict[str, Any]) -> str:
    """Where the processor time of the topic in memory goes."""
    row, few = found["in memory"], found["few numbers"]
    calls, sent, each = row["calls"], row["bytes"] * found["peers"], few["processor"] / few["calls"]
    bare, moved, drawn = calls * found["call"], sent * found["byte"], row["draws"] * found["draw"]
    decided = calls * each - bare
    parts = {
        f"bare calls over streams, {calls:.0f} at {1e3 * found['call']:.2f} ms, each alone": bare,
        f"bytes through gRPC and TLS, {sent / 1e6:.0f} MB at {1e9 * found['byte']:.1f} ns": moved,
        f"noise from the operating system, {row['draws']} draws at {1e3 * found['draw']:.1f} ms": drawn,
        f"deciding, {1e3 * decided / calls:.2f} ms a call: who, when, whether to believe it, connections": decided,
        "work on vectors: checks, packing, sums, intervals": row["processor"] - bare - moved - drawn - decided,
    }
    lines = [f"| {what} | {spent:.1f} s | {spent / least(found):.1f} |" for what, spent in parts.items()]
    return "\n".join(["| where it goes, state in memory | processor time | of the floor |", "|---|---|---|", *lines])
