"""What kernels need from the machine and Numba has no public functions for: numbers that several threads read and
write, waiting, bringing a number near before it is needed, and a call of what is at an address. Each is one
instruction, in a few lines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba.core.cgutils
import numba.core.config
import numba.extending
import numba.np.arrayobj
from llvmlite import ir
from numba.core import types
from numba.extending import register_jitable

__all__ = ["TOGETHER", "bring", "call_at", "look", "pause", "put"]

TOGETHER = sys.platform != "win32"
"""Whether threads can wait for each other in kernels: the C library must have ``sched_yield``."""

COMPILED = not getattr(numba.core.config, "DISABLE_JIT", False)
"""Whether there are instructions at all: ``NUMBA_DISABLE_JIT=1`` has the interpreter run everything."""

SPINS = 4000
"""Looks at a number before the processor is offered to others: about two microseconds."""

EIGHT = 8  # bytes of a counter
TO_READ, SECOND_CACHE, DATA = 0, 2, 1
"""How numbers are brought near. A core waits for many more of them at once on their way to its second cache than on
their way to the first: 3 to 4 ns each where that takes 9, measured on Zen 4."""

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
def look(_: Any, array: Any, index: Any) -> Any:
    """``array[index]``; all that was done before it was written is seen from here on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1])
        return builder.load_atomic(place, "seq_cst", EIGHT)

    return array.dtype(array, index), code


@intrinsic
def put(_: Any, array: Any, index: Any, value: Any) -> Any:
    """``array[index] = value``; all that was done before is seen by those who look there."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1])
        number = context.cast(builder, arguments[2], signature.args[2], signature.args[0].dtype)
        builder.store_atomic(number, place, "seq_cst", EIGHT)
        return context.get_dummy_value()

    return types.void(array, index, value), code


@intrinsic
def _bring(_: Any, array: Any, index: Any) -> Any:
    """The instruction of :func:`bring`."""
    byte, number = ir.IntType(8), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], arguments[0], signature.args[1], arguments[1])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        how = [number(each) for each in (TO_READ, SECOND_CACHE, DATA)]
        builder.call(function, [builder.bitcast(place, byte.as_pointer()), *how])
        return context.get_dummy_value()

    return types.void(array, index), code


@register_jitable
def bring(array: Any, index: Any) -> None:
    """Have the memory around ``array[index]`` brought near. Nobody waits for it, and no index is wrong."""
    if COMPILED:
        _bring(array, index)


@intrinsic
def call_at(_: Any, address: Any, table: Any, failed: Any) -> Any:  # noqa: ARG001
    """What the C function at ``address`` returns for a table, its number of rows and of columns, and ``(1,)`` a place
    where it can say that it failed.
    """
    double, whole = ir.DoubleType(), ir.IntType(64)
    kind = ir.FunctionType(double, [double.as_pointer(), whole, whole, whole.as_pointer()])

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        nodes, place = (arrays.make_array(signature.args[k])(context, builder, arguments[k]) for k in (1, 2))
        rows, columns = cgutils.unpack_tuple(builder, nodes.shape)
        return builder.call(function, [nodes.data, rows, columns, place.data])

    return types.float64(types.int64, table, failed), code


@intrinsic
def _give_way(_: Any) -> Any:
    """Let another thread have the processor."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), "sched_yield")
        return builder.call(function, [])

    return types.int32(), code


@register_jitable
def pause(looks: Any) -> Any:
    """Between two looks at a number: after many of them the processor is offered to others. Returns ``looks`` + 1."""
    if looks > SPINS:
        _give_way()
    return looks + 1
