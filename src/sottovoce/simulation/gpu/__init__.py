"""Running on a CUDA device: ensembles of small graphs, and one huge graph in sequential order.

CuPy compiles the sources beside this file when they are first used. They use the same addresses of
random numbers and, without fused multiply-adds, the same arithmetic as the kernels for the CPU: the
same bits come out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ...errors import Unsupported
from ...foundation.extras import missing
from ...methods import NoiseInsertion, StandardGossip
from ...methods.base import Method

__all__ = ["compile_kernels", "has_noise", "require_gpu"]

UPDATES = {StandardGossip.update: False, NoiseInsertion.update: True}
"""The updates that are written out in the sources beside this file, and whether they insert noise."""


def has_noise(method: Method) -> bool:
    """Whether the device runs Algorithm 1 or plain averaging for this method: its update says which.

    Raises
    ------
    Unsupported
        If its update is neither.
    """
    try:
        return UPDATES[getattr(method, "update", None)]  # type: ignore[index]
    except KeyError:
        raise Unsupported(f"device='gpu' runs noise insertion and standard gossip, not {method.name}") from None


def require_gpu() -> Any:
    """CuPy, if it is installed and there is a device.

    Raises
    ------
    MissingDependency
        If CuPy is not installed.
    Unsupported
        If there is no CUDA device.
    """
    try:
        import cupy
    except ImportError:
        raise missing("cupy", by="device='gpu'") from None
    try:
        if cupy.cuda.runtime.getDeviceCount() > 0:
            return cupy
    except cupy.cuda.runtime.CUDARuntimeError:
        pass
    raise Unsupported("device='gpu' needs a CUDA device, and none was found; leave device out to use the CPU")


@cache
def compile_kernels(name: str, *macros: str) -> Any:
    """The module of ``streams.cu`` followed by ``name.cu``, compiled with these macro definitions."""
    cupy = require_gpu()
    here = Path(__file__).parent
    source = "\n".join((here / f"{part}.cu").read_text(encoding="utf-8") for part in ("streams", name))
    options = ("--std=c++17", "--fmad=false", *(f"-D{macro}" for macro in macros))
    return cupy.RawModule(code=source, options=options)
