"""``sottovoce audit``: what an observer learns about everyone's private value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InvalidParameter
from .kinds import FileName, Number, Whole
from .output import (
    graph_option,
    json_option,
    method_option,
    node_named,
    print_json,
    print_table,
    seed_option,
    write_figure,
)

if TYPE_CHECKING:
    from ..graphs import Graph
    from ..privacy import Report, View


@click.command()
@graph_option
@method_option
@click.option(
    "--observer",
    "observers",
    multiple=True,
    metavar="NODE",
    help="A curious node, by number or name; several pool what they see.",
)
@click.option("--tap", "taps", multiple=True, metavar="I-J", help="An edge that an outsider reads; repeatable.")
@click.option("--everyone-but", metavar="NODE", help="All nodes but this one collude.")
@click.option(
    "--steps",
    type=Whole(1),
    default=200,
    show_default=True,
    help="How many edges fire, or how many rounds.",
)
@seed_option
@click.option(
    "--prior-std", type=Number(), default=1.0, show_default=True, help="What is believed beforehand: ± of every value."
)
@click.option("--flat", is_flag=True, help="Believe nothing beforehand, instead of --prior-std.")
@click.option(
    "--candidates",
    metavar="LIST",
    help="What a value can be, such as 0,1 or 0..10: also say how often the best guess is right.",
)
@click.option(
    "--patience",
    type=Number(low=0.0),
    default=60.0,
    show_default=True,
    help="Seconds, roughly, for more digits where those of doubles do not suffice.",
)
@click.option(
    "--sensitivity",
    type=Number(low=0.0, high=1e100),
    help="Also show μ, and ε at --delta, for two values this far apart.",
)
@click.option("--delta", type=Number(low=0.0, high=1.0), default=1e-5, show_default=True, help="δ that goes with ε.")
@click.option("--figures", type=FileName(file_okay=False), help="Write the two figures into this folder.")
@json_option
def command(
    graph_spec: str,
    method_spec: str,
    observers: tuple[str, ...],
    taps: tuple[str, ...],
    everyone_but: str | None,
    steps: int,
    seed: int,
    prior_std: float,
    flat: bool,
    candidates: str | None,
    patience: float,
    sensitivity: float | None,
    delta: float,
    figures: Path | None,
    as_json: bool,
) -> None:
    """Say exactly what an observer learns of every private value, with and without the noise.

    \b
    sottovoce audit --graph cycle:10 --method noise-insertion:noise_std=1,noise_decay=0.9 --observer 0 --steps 200
    """
    from ..privacy import audit
    from ..privacy.auditing import simulated_run
    from ..scenario.graphs import parse_graph
    from ..scenario.methods import parse_method

    graph = parse_graph(graph_spec, seed=seed)
    method = parse_method(method_spec, graph)
    view = _view(graph, observers, taps, everyone_but)
    asked = (graph, method, simulated_run(graph, method, num_steps=steps, seed=seed), view, None if flat else prior_std)
    silent = False if as_json else None
    few = None if candidates is None else _candidates(candidates)
    report = audit(*asked, candidates=few, patience=patience, progress=silent)
    if sensitivity is not None and report.fisher_information is None:
        raise InvalidParameter("--sensitivity goes with pairwise exchanges; audits of rounds have no μ, leave it out")
    baseline = audit(*asked, without_noise=True, progress=silent)
    written = [] if figures is None else _draw(report, baseline, figures)
    if as_json:
        print_json(_payload(report, baseline, seed, sensitivity, delta) | {"files": written})
        return
    columns, rows = _table(report, baseline, sensitivity, delta)
    print_table(
        f"{view.describe()} on {graph.name}, {steps} {report.unit}s, seed {seed}: {method.label()}",
        columns,
        rows,
        notes=[
            "",
            report.sentence(baseline),
            "",
            "The observer is taken to know and believe:",
            *(f"  · {line}" for line in report.assumptions),
            report.caution,
            *report.explanation,
            report.criterion,
            *([] if sensitivity is None else [_promise(sensitivity, delta)]),
            *(f"wrote {path}" for path in written),
        ],
    )


def _view(graph: Graph, observers: tuple[str, ...], taps: tuple[str, ...], everyone_but: str | None) -> View:
    from ..graphs.naming import NodeNumber
    from ..privacy import CuriousNodes, EveryoneBut, Pooled, WireTap

    parts: list[View] = []
    if everyone_but is not None:
        parts.append(EveryoneBut(node_named(graph, everyone_but)))
    if observers:
        parts.append(CuriousNodes([node_named(graph, observer) for observer in observers]))
    if taps:
        parts.append(WireTap([_pair(graph, tap) for tap in taps]))
    if not parts:
        parts.append(CuriousNodes([NodeNumber(0)]))
    if everyone_but is not None and len(parts) > 1:
        raise InvalidParameter("--everyone-but already hears everything; leave out --observer and --tap")
    return parts[0] if len(parts) == 1 else Pooled(*parts)


def _candidates(text: str) -> list[float]:
    """``0,1`` or ``0..10``."""
    try:
        if ".." in text:
            low, high = (int(part) for part in text.split(".."))
            return [float(value) for value in range(low, high + 1)]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidParameter(
            f"--candidates must be numbers such as 0,1 or a range such as 0..10, got {text!r}"
        ) from None


def _pair(graph: Graph, text: str) -> tuple[int | str, int | str]:
    """``0-1`` or ``ada-bob``; a name may have hyphens of its own."""
    parts = text.split("-")
    for k in range(1, len(parts)):
        ends = ["-".join(parts[:k]), "-".join(parts[k:])]
        if all(end in graph.numbers or end.isdecimal() for end in ends):
            return node_named(graph, ends[0]), node_named(graph, ends[1])
    raise InvalidParameter(f"--tap must be two nodes such as 0-1, got {text!r}")


def _table(
    report: Report, baseline: Report, sensitivity: float | None, delta: float
) -> tuple[list[str], list[list[str]]]:
    """Columns that fit a terminal of 80 characters."""
    cells: dict[str, Sequence[str]] = {
        "± after": [_brief(value) for value in report.posterior_std],
        "± no noise": [_brief(value) for value in baseline.posterior_std],
    }
    if report.prior_std is not None:
        cells["leaked"] = [f"{100 * share:.1f} %" for share in report.variance_leaked]
        if report.flat_std is not None:
            cells["± flat"] = [_brief(value) for value in report.flat_std]
        if sensitivity is None and report.candidates is None:
            cells["nats"] = [_brief(value) for value in report.mutual_information]
    if report.candidates is not None:
        cells["right guess"] = [f"{100 * chance:.1f} %" for chance in report.guess_probability()]
    answers = zip(report.disclosed, report.undecided, strict=True)
    cells["disclosed"] = ["cannot decide" if unknown else "yes" if known else "no" for known, unknown in answers]
    if sensitivity is not None:
        cells["μ"] = [_brief(mu) for mu in report.mu(sensitivity)]
        cells["ε"] = [_brief(value) for value in report.epsilon(delta, sensitivity=sensitivity)]
    rows = []
    for node in range(report.graph.num_nodes):
        own = ["observer", *[""] * (len(cells) - 1)]
        rows.append(
            [
                str(node) if report.graph.labels is None else report.graph.labels[node],
                *(own if report.observers[node] else (column[node] for column in cells.values())),
            ]
        )
    return ["node", *cells], rows


def _promise(sensitivity: float, delta: float) -> str:
    return f"μ and ε: for two values {sensitivity:g} apart, δ = {delta:g}, every other value known to the observer."


def _brief(number: float) -> str:
    return "∞" if number == math.inf else "?" if math.isnan(number) else f"{number:.3g}"


def _payload(report: Report, baseline: Report, seed: int, sensitivity: float | None, delta: float) -> dict[str, object]:
    payload: dict[str, object] = {
        "graph": report.graph.name,
        "method": report.method.label(),
        "view": report.view.describe(),
        "num_steps": report.num_steps,
        "unit": report.unit,
        "seed": seed,
        "prior_std": None if report.prior_std is None else float(report.prior_std[0]),
        "nodes": report.rows(),
        "without_noise": baseline.rows(),
        "steps": report.steps,
        "history": report.history,
        "sentence": report.sentence(baseline),
        "assumptions": report.assumptions,
        "caution": report.caution,
        "explanation": report.explanation,
        "criterion": report.criterion,
        "candidates": report.candidates,
        "tolerance": report.tolerance,
        "rank_tolerance": report.rank_tolerance,
        "numerical_floor": report.numerical_floor,
        "exact": report.exact,
    }
    if sensitivity is not None:
        epsilon = report.epsilon(delta, sensitivity=sensitivity)
        payload |= {"sensitivity": sensitivity, "delta": delta, "mu": report.mu(sensitivity), "epsilon": epsilon}
    return payload


def _draw(report: Report, baseline: Report, folder: Path) -> list[Path]:
    from ..plotting import plot_exposure, plot_knowledge

    written = write_figure(plot_exposure(report, baseline=baseline), folder / "exposure-over-time")
    return written + write_figure(plot_knowledge(report), folder / "what-the-observer-knows")
