"""What comes of an exchange or a message when some are lost: the definition, and its compiled form.

Whether a message arrives is decided by random words with a purpose of their own (:mod:`..random.streams`), common to
all coordinates, so that losing messages changes neither which edge fires nor any draw of noise. An exchange at step k
finds them at position k: the first word decides about the call, the second about the answer, the third about who calls.
A message that goes one way finds one word at (step)·(number of such messages in a step) + (its place among them).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from ..random.kernels import PURPOSE_SHIFT, words_at
from ..random.streams import Stream, block

__all__ = ["BOTH", "DOMAIN", "LOSS", "NOTHING", "arrives", "arrives_at", "fate", "fate_of"]

LOSS = 3
"""Purpose of the words that decide whether messages arrive."""
DOMAIN = np.uint64(LOSS) << PURPOSE_SHIFT

NOTHING, FIRST, SECOND, BOTH = 0, 1, 2, 3
"""Which ends of an edge act: nobody, if the call is lost; the one that was called, if the answer is."""


@register_jitable
def fate_of(call: Any, answer: Any, caller: Any, loss: Any, first_calls: Any) -> Any:
    """Who acts, by three words of 32 bits."""
    if call * 2.0**-32 < loss:
        return NOTHING
    if answer * 2.0**-32 < loss:
        return SECOND if caller * 2.0**-32 < first_calls else FIRST
    return BOTH


def fate(stream: Stream, step: int, loss: float, first_calls: float) -> int:
    """Who acts when an edge fires, by definition."""
    call, answer, caller, _ = block(stream.seed, stream.replica, step, purpose=LOSS)
    return int(fate_of(call, answer, caller, loss, first_calls))


@register_jitable
def arrives_at(position: Any, replica: Any, seed: Any, loss: Any) -> Any:
    """Whether a message that goes one way arrives."""
    return loss == 0.0 or words_at(position, replica, DOMAIN, seed)[0] * 2.0**-32 >= loss


def arrives(stream: Stream, position: int, loss: float) -> bool:
    """The same by definition."""
    return block(stream.seed, stream.replica, position, purpose=LOSS)[0] * 2.0**-32 >= loss
