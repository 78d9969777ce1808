"""Every error this package raises on purpose, as one tree.

::

    SottovoceError
    ├── InvalidInput (ValueError)     the caller broke a documented rule; nothing was changed
    │   ├── InvalidGraph              self-loops, duplicates, unknown nodes, empty, disconnected
    │   ├── InvalidParameter          a method's or function's parameter outside its range
    │   ├── InvalidValues             private values of the wrong shape or not finite (never shown)
    │   └── InvalidFile               a file that is not what it should be
    ├── Unsupported                   a combination that an analyser or executor does not handle
    ├── MissingDependency             an optional package that the call needs is not installed
    ├── NumericalFailure              a solver's own check of its answer failed
    └── PeerError                     the networked node; its branches are listed below
        ├── ConfigError (InvalidInput)  a configuration, certificate or value file is unusable
        ├── TemporaryFailure          cannot be done now, through no fault of the configuration: try again later
        ├── StoreError                the durable state is in use or cannot be written
        │   └── UnusableStore (InvalidInput)  it is damaged, of another peer or of another version
        ├── NotRunning (InvalidInput)   a command for a peer that does not run here
        ├── TransportError            a neighbour could not be reached or was refused; peer.transport's
        │                             CallFailed also says why
        ├── TopicUnfinished (TimeoutError)  an average did not end in time; names who is missing
        ├── TopicClosed               an average ended without this peer's contribution
        ├── TopicMismatch (InvalidInput)  members contribute to a topic on different terms; names both sides
        └── ProtocolViolation         the *other* side broke the protocol; our state is untouched

Messages name the parameter, what is allowed and what was given. They never contain a private value.
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "InvalidFile",
    "InvalidGraph",
    "InvalidInput",
    "InvalidParameter",
    "InvalidValues",
    "MissingDependency",
    "NotRunning",
    "NumericalFailure",
    "PeerError",
    "ProtocolViolation",
    "SottovoceError",
    "StoreError",
    "TemporaryFailure",
    "TopicClosed",
    "TopicMismatch",
    "TopicUnfinished",
    "TransportError",
    "Unsupported",
    "UnusableStore",
]


class SottovoceError(Exception):
    """The root of the tree: catch this to catch every error below."""


class InvalidInput(SottovoceError, ValueError):
    """The caller gave something outside the documented range. Nothing was changed."""


class InvalidGraph(InvalidInput):
    """Not a simple, connected, undirected graph."""


class InvalidParameter(InvalidInput):
    """A parameter outside its range; the message names it, the range and what was given."""


class InvalidValues(InvalidInput):
    """Private values of the wrong shape or not finite. The message never contains them."""


class InvalidFile(InvalidInput):
    """A file that is missing, unreadable or not of the expected kind."""


class Unsupported(SottovoceError):
    """A combination that this analyser or executor does not handle."""


class MissingDependency(SottovoceError, ImportError):
    """An optional package is needed; the message gives the extra to install."""


class NumericalFailure(SottovoceError, ArithmeticError):
    """A solver checked its own answer and the check failed."""


class PeerError(SottovoceError):
    """Anything that goes wrong in the networked node."""


class ConfigError(PeerError, InvalidInput):
    """A configuration, certificate or value file that cannot be used."""


class TemporaryFailure(PeerError):
    """Cannot be done now: a port in use, a name that is not resolved, a clock that is not set. Try again later."""


class StoreError(PeerError):
    """The durable state is in use by another process, unusable, or cannot be written."""


class UnusableStore(StoreError, InvalidInput):
    """The durable state is damaged, of another peer or of another version: somebody has to do something about it."""


class NotRunning(PeerError, InvalidInput):
    """No peer answers in this data folder."""


class TransportError(PeerError):
    """A neighbour could not be reached, or a connection was refused."""


class TopicUnfinished(PeerError, TimeoutError):
    """An average did not end in time. What was contributed stays: ask again, and the wait goes on."""

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing
        """The members that it waits for, as far as this peer knows or others say; also those that some count on and
        others do not. Empty if all are there: then the message says who keeps it waiting."""


class TopicClosed(PeerError):
    """An average ended without this peer: its contribution came late, or it was left out. Nothing was mixed."""


class TopicMismatch(PeerError, InvalidInput):
    """Members contribute to one topic on different terms. It has no answer; agree, and begin another topic."""


class ProtocolViolation(PeerError):
    """The other side broke the protocol. Our state is untouched."""
