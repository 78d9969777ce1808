"""What travels between a page and the server: reading a page's commands, writing JSON and binary frames.

**Commands** are JSON objects with a ``type``; what is not said has a default. ``run`` numbers a set-up, and every
event that follows from it carries that number, so that a page can drop what a former one still had under way.

=========== ====================================================================================================
``setup``   ``run``, ``problem`` (see :mod:`.reading`), ``at``: prepare a run, and go to this step
``play``    ``speed``: steps a second, null for as fast as can be watched
``pause``
``step``    ``count``
``seek``    ``step``
``speed``   ``speed``
``watch``   ``observer``, ``prior``: what an observer learns. The observer is ``{"nodes": [0, 4]}``, ``{"but": 3}``
            (all others together) or ``{"edges": [[0, 1]]}`` (tapped wires); null: nobody, and the meter stops. A
            bare ``node`` is one curious node. The prior is a standard deviation, or null for a flat one
``guess``   ``observer``, ``prior``, ``centre``, ``step``: what it believes of every value after this step
``compare`` the methods of the run, each with the same number of messages
``live``    ``on``: look at running peers every second, or no more
``history`` what the live view has seen so far, to replay it
=========== ====================================================================================================

**Events** are JSON, but for the frames.

``ready``
    ``run``, ``drawn`` (whether nodes are drawn one by one), ``graph``: ``name``, ``numNodes``, ``numEdges``, ``edges``,
    ``positions``, ``degrees``, ``labels`` (names of nodes or null); then one entry per method: ``methods`` (labels),
    ``inRounds``, ``messagesPerStep``, ``messagesBefore``, ``takesBack`` (whether noise is withdrawn); ``numSteps``,
    ``seed``, ``trueMean``, ``trueMeanText``, ``spread``, ``lowest``, ``highest``, ``privateValues``, ``valueTexts``,
    ``followed`` (nodes of the traces), ``advice`` (``{"steps", "message"}`` if the run is too short to end better than
    it began, else null).
``frame``
    Binary: four bytes with the length of a JSON header, the header, padding to a multiple of eight, then float64
    arrays in the order the header numbers them (little-endian). Header: ``run``, ``step``, ``finished``, ``rewound``,
    ``fired`` (edges, per method), ``lanes``: ``error``, ``meanOffset``, ``massError``, ``noise``, ``status``, and
    arrays as ``[which, length]``: ``steps``, ``errors``, ``traceSteps``, ``trace``, ``values``, ``outstanding``, or, if
    nodes are not drawn, ``valueBins`` and ``noiseBins``.
``working``
    ``run``, ``about`` (setup, play, theory, privacy, guess, compare), ``share`` (0 to 1, or null if not known),
    ``over``: said when something takes longer than half a second, and once with ``over`` true when it has ended.
``paused``
    ``run``, ``message`` if it was not asked for.
``threshold``
    ``low``, ``high``: up to which decay the proved rate is kept, over nodes. ``really``: up to which no run becomes
    slower (null if not computed). ``algebraicConnectivity``. ``costs``: ``[{"decay", "ratio"}]``, in the long run how
    many times as many steps as standard gossip takes. Or ``message``.
``theory``
    ``lane``, ``steps``, ``expected``, ``corrected``, ``sharpened``, ``printed``, ``message``; ``cost``: ``{"steps",
    "standard", "ratio", "text"}``, expected steps of this method and of standard gossip until the error is a millionth,
    or null.
``privacy``
    ``observer``, ``prior``, ``who`` (in words), ``own`` (its nodes), ``scale`` (deviations are compared with it),
    ``before``: the prior deviation, ``centre``: around what. ``answer``: ``{"std", "estimate", "text", "sentence"}``,
    what the mean alone, with the observer's own values, tells of each other value. ``steps``, and for each method and
    then for standard gossip ``lanes``: ``label``, ``analysed``; if so ``std`` (a row per step, a number per node),
    ``steps`` if they differ, ``knownFrom`` (per node the step from which its value is known exactly, or null),
    ``undecided`` (nodes), ``exact`` (false: best linear estimates), ``verdict`` (at the end of the run: ``{"known",
    "partly", "hidden", "sentence"}``), ``note``; if not, ``message``. ``assumptions``. A run too large to follow wholly
    has ``near`` in place of ``std``: see :mod:`.neighbourhood`.
``guess``
    ``observer``, ``prior``, ``step``, and ``lanes`` as above, each null or: ``estimate``, ``std``, ``text`` ("293.1 ±
    0.5"), ``kind`` (one of :data:`~.verdicts.KINDS`), ``words``: one per node; ``sums``: ``[{"nodes", "count",
    "words"}]``, sums that are known exactly; ``right`` (of whole numbers: how often the guess is right, or null);
    ``sentence``; ``verdict`` as above, at this step. Too large a run: ``near``.
``comparison``
    ``messages`` (spent by each), ``lanes``: ``label``, ``messages``, ``steps``, ``errors``.
``live``
    ``available``, ``message``, ``state`` (waiting, running, settled, ended), ``sentence``, ``elapsed``,
    ``settledAfter`` (seconds or null), ``network``, ``edges``, ``exchanges``, ``peers``: what :mod:`.live` lets
    through; a peer that does not answer any more has ``up`` false and keeps what it said last, with ``lastSeen``
    seconds ago.
``history``
    ``times`` (seconds), ``names``, ``estimates`` (a row per time, null where there is none), ``settled`` (peers, per
    time), ``up``, ``exchanges``.
``error``
    ``about`` (the command or what was under way), ``run`` in the second case, ``message``: a sentence for a person. The
    talk goes on.

Numbers that are not finite travel as ``"inf"``, ``"-inf"`` and null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidParameter
from ..foundation.arguments import Array, number

__all__ = ["COMMANDS", "pack", "parse", "read_json", "speed_of", "write"]

COMMANDS = ("setup", "play", "pause", "step", "seek", "speed", "watch", "guess", "compare", "live", "history")
"""What a page may ask for."""


def pack(header: dict[str, Any], arrays: list[Array]) -> bytes:
    """One binary frame."""
    text = json.dumps(_finite(header), allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([len(text).to_bytes(4, "little"), text, *(a.astype("<f8", copy=False).tobytes() for a in arrays)])


def write(message: dict[str, Any]) -> str:
    """One JSON message."""
    return json.dumps(_finite(message), allow_nan=False)


def parse(text: str) -> dict[str, Any]:
    """A page's message: an object whose ``type`` is a command."""
    message = read_json(text, "a message")
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise InvalidParameter("a message must be an object with a type")
    if message["type"] not in COMMANDS:
        raise InvalidParameter(f"type must be one of {', '.join(COMMANDS)}")
    return message


def read_json(text: str | bytes, what: str) -> Any:
    """JSON from a page; halves of characters (lone surrogates), which no answer could carry, are refused.

    Raises
    ------
    InvalidParameter
        If it is not JSON, or not text.
    """
    try:
        message = json.loads(text)
        if (b"\\u" if isinstance(text, bytes) else "\\u") in text:  # type: ignore[operator]
            json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InvalidParameter(f"{what} must be text: it holds half of a character") from None
    except (ValueError, RecursionError):
        raise InvalidParameter(f"{what} must be JSON") from None
    return message


def speed_of(message: Mapping[str, Any]) -> float:
    """Steps a second; null is as fast as can be watched."""
    speed = message.get("speed")
    if speed is not None and (isinstance(speed, bool) or not isinstance(speed, int | float)):
        raise InvalidParameter("speed must be a number of steps a second, in [0.1, 1e12]")
    return 1e12 if speed is None else number("speed", speed, low=0.1, high=1e12, why="steps a second")


def _finite(value: Any) -> Any:
    """Infinities as words and NaN as null, which JSON can carry."""
    if isinstance(value, dict):
        return {key: _finite(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
