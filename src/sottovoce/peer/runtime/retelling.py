"""How often the answer of a topic that has ended is told again (R93): a greeting is short, an answer may be long."""

from __future__ import annotations

__all__ = ["Retelling"]

TIMES, SECONDS = 3, 30.0
"""To one neighbour the answer of one topic is told so often in so many seconds: it may be lost on the way, and who has
lost its disk greets again until it is told."""


class Retelling:
    """Which answers were told lately, and to whom.

    Examples
    --------
    >>> retelling = Retelling()
    >>> [retelling.allows(b"t", "eve", now) for now in (0.0, 1.0, 2.0, 3.0, 30.0)]
    [True, True, True, False, True]
    >>> retelling.allows(b"t", "bob", 3.0)
    True
    """

    def __init__(self) -> None:
        self._told: dict[tuple[bytes, str], list[float]] = {}

    def allows(self, topic: bytes, name: str, now: float) -> bool:
        """Whether ``name`` is told the answer once more now; if so, it counts as told."""
        lately = {key: [at for at in times if now - at < SECONDS] for key, times in self._told.items()}
        self._told = {key: times for key, times in lately.items() if times}
        times = self._told.setdefault((topic, name), [])
        if len(times) >= TIMES:
            return False
        times.append(now)
        return True
