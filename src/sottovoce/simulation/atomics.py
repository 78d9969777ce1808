"""What threads in one kernel need from the machine: numbers that are read and written at once, and waiting.

Numba has no public functions for it on the CPU. These are four instructions, each in a few lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba.core.cgutils
import numba.extending
import numba.np.arrayobj
from llvmlite import ir
from numba.core import types
from numba.extending import register_jitable

__all__ = ["TOGETHER", "arrive", "wait_for", "wait_for_all"]

TOGETHER = sys.platform != "win32" and sys.byteorder == "little"
"""Whether threads can run one kernel together: the C library must have ``sched_yield``, and marks have an order."""

SPINS = 4000
"""Looks at a barrier before the processor is offered to others: about two microseconds."""

EIGHT = 8  # bytes of a counter

cgutils: Any = numba.core.cgutils  # has no types
arrays: Any = numba.np.arrayobj  # likewise


def intrinsic(function: Callable[..., Any]) -> Any:
    """Numba's, without its types: they are those of the function that makes the instruction, not of the calls."""
    return numba.extending.intrinsic(function)


def _place(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    view = arrays.make_array(array_type)(context, builder, array)
    indices = [index] if array_type.ndim == 1 else cgutils.unpack_tuple(builder, index)
    index_types = [index_type] if array_type.ndim == 1 else list(index_type)
    indices = [context.cast(builder, i, t, types.intp) for i, t in zip(indices, index_types, strict=True)]
    return cgutils.get_item_pointer(context, builder, array_type, view, indices, wraparound=False)


@intrinsic
def arrive(_: Any, array: Any) -> Any:
    """Count one more in ``array[0]``, and return how many there were; all that was done before is seen by others."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)
        place = _place(context, builder, signature.args[0], arguments[0], types.intp, zero)
        return builder.atomic_rmw("add", place, ir.Constant(ir.IntType(64), 1), "seq_cst")

    return array.dtype(array), code


@intrinsic
def _arrived(_: Any, array: Any) -> Any:
    """``array[0]``, and all that was done before it was written."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zero = ir.Constant(ir.IntType(64), 0)
        place = _place(context, builder, signature.args[0], arguments[0], types.intp, zero)
        return builder.load_atomic(place, "seq_cst", EIGHT)

    return array.dtype(array), code


@intrinsic
def _give_way(_: Any) -> Any:
    """Let another thread have the processor."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield")
        return builder.call(function, [])

    return types.int32(), code


@register_jitable
def wait_for(counter: Any, number: Any) -> None:
    """Go on when so many have been counted."""
    looks = 0
    while _arrived(counter) < number:
        looks += 1
        if looks > SPINS:
            _give_way()


@register_jitable
def wait_for_all(counter: Any, size: Any) -> None:
    """Go on when all ``size`` threads are here. ``counter`` is one number that begins at 0."""
    wait_for(counter, (arrive(counter) // size + 1) * size)
