"""``sottovoce plan``: choose steps, decay and noise."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING

import click

from .kinds import Number, Whole
from .output import graph_option, json_option, print_json, print_table, say, seed_option

if TYPE_CHECKING:
    from ..theory import Plan


@click.command()
@graph_option
@click.option("--relative-error", type=Number(), help="Wanted ‖x − c̄‖²/‖c − c̄‖², expected, or with --probability.")
@click.option(
    "--probability",
    type=Number(),
    help="In which share of runs each promise must be kept, at all nodes at once, in (0, 1).",
)
@click.option("--noise-std", type=Number(), help="σ, the size of a node's first noise.")
@click.option(
    "--noise-decay", type=Number(), help="φ, the share of amplitude kept. [default: the plan chooses it and says how]"
)
@click.option("--steps", "num_steps", type=Whole(1), help="How many edges may fire.")
@click.option(
    "--hidden-std",
    type=Number(),
    help="How well everyone else together may know a value at the end: ± this, not better.",
)
@click.option(
    "--neighbour-std",
    type=Number(),
    help="How well curious neighbours may know a value at the end: ± this, not better; with --probability.",
)
@click.option(
    "--coalition-size",
    type=Whole(1),
    default=1,
    show_default=True,
    help="How many neighbours of a node pool what they hear.",
)
@click.option(
    "--schedules",
    type=Whole(0),
    default=0,
    show_default=True,
    help="Random schedules to audit for what neighbours learn; 0: the proved bound only.",
)
@click.option("--value-std", type=Number(), default=1.0, show_default=True, help="How far private values lie apart.")
@click.option(
    "--basis",
    type=click.Choice(["exact", "bound"]),
    help="Plan from the expectation or from the bound. [default: exact if quick]",
)
@seed_option
@json_option
def command(
    graph_spec: str,
    relative_error: float | None,
    probability: float | None,
    noise_std: float | None,
    noise_decay: float | None,
    num_steps: int | None,
    hidden_std: float | None,
    neighbour_std: float | None,
    coalition_size: int,
    schedules: int,
    value_std: float,
    basis: str | None,
    seed: int,
    as_json: bool,
) -> None:
    """Fill in what you leave open: steps, σ, φ or a budget for a wanted accuracy and privacy, with reasons.

    Exit code 0 also when the wishes contradict each other: the answer says so ("feasible" in the JSON).

    \b
    sottovoce plan --graph cycle:10 --relative-error 1e-6 --noise-std 1
    sottovoce plan --graph rgg:100:seed=3 --relative-error 1e-4 --probability 0.95 --noise-std 1
    sottovoce plan --graph cycle:10 --relative-error 1e-3 --probability 0.95 --noise-std 1 --steps 2000
    sottovoce plan --graph complete:10 --relative-error 0.05 --hidden-std 0.02
    sottovoce plan --graph complete:5 --relative-error 1e-3 --probability 0.9 --neighbour-std 0.3
    """
    from ..scenario.graphs import parse_graph
    from ..theory import plan

    found = plan(
        parse_graph(graph_spec, seed=seed),
        relative_error=relative_error,
        probability=probability,
        noise_std=noise_std,
        noise_decay=noise_decay,
        num_steps=num_steps,
        hidden_std=hidden_std,
        neighbour_std=neighbour_std,
        coalition_size=coalition_size,
        schedules=schedules,
        seed=seed,
        value_std=value_std,
        basis=basis,  # type: ignore[arg-type]
    )
    if as_json:
        print_json(_payload(found))
        return
    print_table(f"Plan for {found.graph.name}", ["", "value"], _summary(found))
    for reason in found.reasons:
        say(reason, bullet="• ")


def _payload(found: Plan) -> dict[str, object]:
    shown = {field.name: getattr(found, field.name) for field in fields(found)}
    costs = [asdict(cost) for cost in found.costs]
    return shown | {"graph": found.graph.name, "costs": costs, "rounding_error": found.rounding_error}


def _summary(found: Plan) -> list[tuple[str, str]]:
    from ..theory.planner.explain import in_words

    rows = [
        ("wishes met", "yes" if found.feasible else "no"),
        ("steps", f"{found.num_steps:,}"),
        ("noise σ", in_words(found.noise_std)),
        ("decay φ", in_words(found.noise_decay)),
        ("expected relative error", _error(found)),
        ("hidden from everyone else together", _left(found.hidden_std, found.hidden_probability)),
        ("from", "the exact expectation" if found.basis == "exact" else "the corrected bound"),
    ]
    if found.budget is not None:
        rows.insert(4, ("noise stays in place once", f"± {found.budget:.3g} is reached"))
    if found.neighbour_std is not None:
        rows.insert(-1, ("hidden from a curious neighbour", _left(found.neighbour_std, found.neighbour_probability)))
    return rows


def _error(found: Plan) -> str:
    """The expected error, and what is left in truth where rounding leaves more."""
    rounded = (
        f" (rounding leaves up to {found.rounding_error:.1g})" if found.relative_error < found.rounding_error else ""
    )
    return f"{found.relative_error:.3g}{rounded}"


def _left(std: float, probability: float | None) -> str:
    """A deviation, and which probability is meant."""
    if probability is None:
        return f"± {std:.3g} if all speak as often as expected (no promise)"
    return f"± {std:.3g} in " + ("every run" if probability == 1.0 else f"{probability:.4g} of runs, all nodes at once")
