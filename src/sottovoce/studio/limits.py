"""What a visitor may ask for. Who asks for more gets a sentence that says what is allowed."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InvalidInput

__all__ = ["Limits", "TooMuch"]


class TooMuch(InvalidInput):
    """A request beyond the limits of this server; the message says which and what is allowed."""


@dataclass(frozen=True)
class Limits:
    """The limits of one server; the defaults suit a laptop.

    Attributes
    ----------
    nodes, edges, steps, methods
        Of one run.
    drawn_nodes, drawn_edges
        Up to here the page gets every node and edge; above, distributions.
    work
        Nodes × nodes × steps up to which the privacy meter is offered.
    exact_nodes
        Nodes up to which the exact expectation is offered.
    message_bytes, upload_bytes
        Of one message over the websocket, and of one request.
    messages_per_second
        Sustained rate from one page; four times as many may come at once.
    pages
        Open at the same time.
    running_seconds
        After this long a run pauses by itself; pressing Run goes on.
    frames_per_second
        At most this many pictures a second are sent to a page.
    """

    nodes: int = 100_000
    edges: int = 2_000_000
    steps: int = 100_000_000
    methods: int = 3
    drawn_nodes: int = 2_000
    drawn_edges: int = 30_000
    work: int = 2_000_000_000
    exact_nodes: int = 1_200
    message_bytes: int = 16_000_000
    upload_bytes: int = 16_000_000
    messages_per_second: float = 30.0
    pages: int = 16
    running_seconds: float = 900.0
    frames_per_second: float = 30.0

    def check(self, what: str, given: float, allowed: float) -> None:
        """Raise :class:`TooMuch` if ``given`` is more than ``allowed``."""
        if given > allowed:
            many = f"{given:,.0f}" if given < 1e12 else "far more"
            raise TooMuch(f"this studio allows at most {allowed:,.0f} {what}; that would be {many}")
