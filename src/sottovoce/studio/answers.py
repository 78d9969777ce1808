"""What is worked out beside a run, each in a process of its own, and told when it is found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from ..scenario.scenario import Scenario
from . import comparing, insight, meter
from .believing import centre_of
from .limits import Limits
from .observing import Observer
from .playing import Playback
from .thinking import Thinkers
from .thresholds import Thresholds
from .turns import Compute

__all__ = ["Answers"]

T = TypeVar("T")


class Answers:
    """The answers of one page.

    Parameters
    ----------
    page
        Whose they are: pages take turns.
    limits
        What it may ask for.
    thinkers, thresholds
        Where they are worked out, and thresholds that are known already.
    say, compute
        How they are told, and where short pieces are done.
    """

    def __init__(
        self,
        page: Hashable,
        limits: Limits,
        thinkers: Thinkers,
        thresholds: Thresholds,
        *,
        say: Callable[[dict[str, Any]], Awaitable[None]],
        compute: Compute,
    ) -> None:
        self._page, self._limits = page, limits
        self._thinkers, self._thresholds = thinkers, thresholds
        self._say, self._compute = say, compute

    async def theory(self, run: int, problem: Scenario) -> None:
        """The threshold of the graph, then every method's curves; the eigenvalue they share is computed once."""
        answer = await self._thresholds.find(
            problem,
            lambda: self._think(insight.threshold, problem.graph, problem.edge_probabilities, about=problem),
        )
        await self._say({"type": "threshold", "run": run, **answer})
        alpha = answer.get("algebraicConnectivity")
        for index, method in enumerate(problem.methods):
            curves = await self._think(insight.theory_curves, problem, method, alpha, self._limits, about=problem)
            await self._say({"type": "theory", "run": run, "lane": index, **curves})

    async def privacy(self, run: int, playback: Playback, observer: Observer, prior: float | None) -> None:
        """What an observer learns, over the whole run."""
        problem = playback.problem
        fired = await self._fired(playback, problem.num_steps)
        answer = await self._think(meter.privacy_history, problem, fired, observer, prior, about=problem)
        await self._say({"type": "privacy", "run": run, "observer": observer.asked(), "prior": prior, **answer})

    async def guess(
        self, run: int, playback: Playback, question: tuple[Observer, float | None, float | None, int]
    ) -> None:
        """What an observer with a prior deviation around a centre (``None``: the usual one) believes after a step."""
        observer, prior, centre, step = question
        problem = playback.problem
        fired = await self._fired(playback, step)
        believed = centre_of(problem) if centre is None else centre
        found = await self._think(meter.guesses, problem, fired, observer, prior, believed, step, about=problem)
        told = {"observer": observer.asked(), "prior": prior, "step": step, "lanes": found}
        await self._say({"type": "guess", "run": run, **told})

    async def comparison(self, run: int, problem: Scenario) -> None:
        """The methods side by side at equal messages."""
        found = await self._think(comparing.comparison, problem, about=problem)
        await self._say({"type": "comparison", "run": run, **found})

    async def _fired(self, playback: Playback, step: int) -> Any:
        """The edges that fire until a step; ``None`` for a run that is too large to be followed."""
        if meter.is_too_large(playback.problem, self._limits):
            return None
        return (await self._compute(playback.all_fired))[:step]

    async def _think(self, work: Callable[..., T], *arguments: Any, about: Scenario) -> T:
        """In a process; small questions do not wait for large ones."""
        return await self._thinkers.think(work, *arguments, page=self._page, small=insight.is_small(about))
