"""What an audit found, as a table and plain sentences; the numbers are :mod:`.findings`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..foundation.html import html_table
from ..methods.base import Array
from .findings import Findings, Question

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Question", "Report", "RoundsReport", "StepsReport"]

PRICE = (
    "Against all others together withdrawal buys nothing: once every node has spoken, keeping ±h from them at every "
    "node means an expected error ½‖x − mean‖² of at least h²/2."
)

SHOWN = 10
"""Rows of a table in a notebook."""

LINEAR = (
    "makes the best estimate that is linear in what it hears; the noise is not Gaussian, "
    "so a better observer may know more"
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Report(Findings):
    """What one view reveals in one run; returned by :func:`audit`.

    What was asked is kept beside it: ``graph``, ``method``, ``view``, ``num_steps``, ``prior_std``, ``steps``,
    ``tolerance``. All ``(n,)`` arrays have an entry for every node; the observer's own nodes have deviation 0 and
    infinite information. Histories have one row per entry of ``steps``. A value of a run of pairwise exchanges is
    disclosed when its flat-prior deviation is zero, to ``tolerance`` of the prior deviation (of the largest σ if the
    prior is flat).
    """

    unit: ClassVar[str] = "step"
    """What time is counted in."""
    caution: ClassVar[str] = (
        "An exact average is never private against somebody who knows all other values: "
        "the average itself reveals the last one."
    )
    """Said with every report."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the observer is taken to know and believe."""
        if self.prior_std is None:
            belief = "believes nothing about the private values beforehand (flat prior)"
        else:
            span = _span(self.prior_std)
            how = "independently" if self.prior_covariance is None else "correlated as stated"
            belief = f"believes beforehand that each private value is normal with standard deviation {span}, {how}"
        return (*self._known(), belief)

    @property
    def criterion(self) -> str:
        """When a value is called disclosed."""
        share = self.tolerance
        text = f"Disclosed: flat-prior deviation at most {share:g} of the spread."
        return text + self._undecided_words()

    def _undecided_words(self) -> str:
        count = int(self.undecided.sum())
        return f" For {count} node{'s' if count > 1 else ''} digits did not suffice: cannot decide." if count else ""

    def _known(self) -> tuple[str, ...]:
        return self.view.assumptions()

    def sentence(self, baseline: Report | None = None) -> str:
        """What the view can tell of the most exposed value, in words for somebody who has read nothing else.

        Parameters
        ----------
        baseline
            The audit of the same run without noise, to say what the noise changed.
        """
        node = self.most_exposed
        subject = self.view.describe()
        guess = "" if self.candidates is None else f"{self.guess_sentence()}; of a normal value it "
        text = f"{subject[0].upper()}{subject[1:]} {guess}{self._knows(node)}"
        if self.prior_std is not None and not self.disclosed[node]:
            text += f", having believed ±{self.prior_std[node]:.3g} beforehand"
        if baseline is not None:
            text += f"; without the noise the same {self.source} would have revealed {baseline._revealed(node)}"
        return f"{text}."

    def guess_sentence(self) -> str:
        """How often the best guess of the value that is guessed best is right; empty without candidates."""
        if self.candidates is None:
            return ""
        right, count = self.guess_probability(), len(self.candidates)
        node = int(np.argmax(np.where(self.observers, -1.0, right)))
        return (
            f"names the right one of {count} candidates for the private value of {self.graph.label(node)} in "
            f"{100 * right[node]:.3g} % of cases (without listening: {100 / count:.3g} %)"
        )

    @property
    def explanation(self) -> tuple[str, ...]:
        """What stays hidden whatever comes, and what hiding costs: sentences with the figures of this run."""
        if self.kept_std is None:
            return ()
        node = self.most_exposed
        kept = float(self.kept_std[node])
        if kept > 0.0:
            for_ever = (
                f"{self._subject(node)} keeps at least ±{kept:.3g} from this observer for ever: an exchange that it "
                "did not hear, or a seal that it does not know, hides the value, whatever is exchanged later."
            )
        else:
            who = self.graph.label(node)
            for_ever = f"Nothing protects {who} for ever: no exchange unheard by this observer, and no seal."
        return (for_ever, PRICE)

    def _subject(self, node: int) -> str:
        """At the beginning of a sentence."""
        return f"Node {node}" if self.graph.labels is None else self.graph.labels[node]

    def _knows(self, node: int) -> str:
        if self.disclosed[node]:
            return f"knows the private value of {self.graph.label(node)} exactly (to {self.tolerance:g} of its spread)"
        if np.isinf(self.posterior_std[node]):
            return "has learned no private value at all"
        how = "" if self.exact else " by a linear estimate"
        who = f"{self.graph.label(node)}, the most exposed one,"
        return f"can estimate the private value of {who} to {self._closeness(node)}{how}"

    def _revealed(self, node: int) -> str:
        deviation = self.posterior_std[node]
        if deviation == 0.0:
            return "it exactly"
        return "nothing about it" if np.isinf(deviation) else f"it to {self._closeness(node)}"

    def _closeness(self, node: int) -> str:
        return f"±{self.posterior_std[node]:.3g} (one standard deviation)"

    def rows(self) -> list[dict[str, Any]]:
        """One record per node, ready for a table or JSON (infinities as ``None``)."""
        columns: dict[str, list[Any]] = {
            "node": list(range(self.graph.num_nodes)),
            **({} if self.graph.labels is None else {"label": list(self.graph.labels)}),
            "observer": self.observers.tolist(),
            "posterior_std": _finite(self.posterior_std),
            "variance_leaked": _finite(self.variance_leaked),
            "mutual_information": _finite(self.mutual_information),
            "disclosed": self.disclosed.tolist(),
            "undecided": self.undecided.tolist(),
        }
        if self.candidates is not None:
            columns["guess_probability"] = self.guess_probability().tolist()
        if self.flat_std is not None and self.fisher_information is not None:
            columns |= {"flat_std": _finite(self.flat_std), "fisher_information": _finite(self.fisher_information)}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def plot(self, axes: Axes | None = None, **keywords: Any) -> Axes:
        """Exposure over time; see :func:`sottovoce.plotting.plot_exposure`."""
        from ..plotting.privacy import plot_exposure

        return plot_exposure(self, axes, **keywords)

    def _repr_html_(self) -> str:
        """The sentence and the most exposed nodes, for notebooks."""
        honest = np.flatnonzero(~self.observers)
        order = honest[np.argsort(self.posterior_std[honest], kind="stable")]
        headings = (
            ["node", "± after", "disclosed"] if self.prior_std is None else ["node", "± before", "± after", "disclosed"]
        )
        rows = []
        for node in order[:SHOWN]:
            before = [] if self.prior_std is None else [f"{self.prior_std[node]:.3g}"]
            answer = "cannot decide" if self.undecided[node] else "yes" if self.disclosed[node] else "no"
            rows.append([self.graph.label(node), *before, f"{self.posterior_std[node]:.3g}", answer])
        more = [f"and {len(order) - SHOWN} others, which are less exposed"] if len(order) > SHOWN else []
        return html_table(rows, headings=headings, caption=self.sentence(), notes=[*more, self.criterion])

    def __repr__(self) -> str:
        honest = ~self.observers
        return (
            f"<Report of {self.view.describe()} on {self.graph.name}, {self.num_steps} {self.unit}s: "
            f"{int(self.disclosed[honest].sum())} of {int(honest.sum())} values disclosed, "
            f"closest ±{self.posterior_std[self.most_exposed]:.3g} ({self.graph.label(self.most_exposed)})>"
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RoundsReport(Report):
    """What curious nodes learn of every value in a synchronous method; returned by :func:`audit`.

    A value is disclosed when its final deviation is at most ``tolerance`` of the prior's (of 1 for a flat prior).
    """

    unit: ClassVar[str] = "round"
    source: ClassVar[str] = "rounds"

    @property
    def criterion(self) -> str:
        text = f"Disclosed: deviation at most {self.tolerance:g} of the spread."
        return text + self._undecided_words()

    def _known(self) -> tuple[str, ...]:
        hearing = self.method.releases(self.graph).hearing
        known = (
            *self.view.assumptions("knows the graph, the weights, and the size of everybody's noise in every round"),
            hearing,
        )
        return known if self.exact else (*known, LINEAR)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class StepsReport(RoundsReport):
    """The same for a method in which one node acts in a step."""

    unit: ClassVar[str] = "step"
    source: ClassVar[str] = "messages"

    def _known(self) -> tuple[str, ...]:
        return self.view.assumptions("knows the graph, the parameters, and which node acted at every step")


def _finite(numbers: Array) -> list[float | None]:
    return [number if math.isfinite(number) else None for number in numbers.tolist()]


def _span(prior: Array) -> str:
    return f"{prior[0]:g}" if np.all(prior == prior[0]) else f"{prior.min():g}…{prior.max():g}"
