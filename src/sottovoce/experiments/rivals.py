"""Algorithm 1 and plain gossip as other people would write them: what our speed is compared with.

Three programs, each the best its author is likely to write without days of work. All run the same update on the same
graph; their random numbers are their own.

- Python: edges as a list of tuples, values in a NumPy array, random numbers drawn in bulk before the loop.
- Numba: the loop compiled as it stands, with the generator that Numba brings.
- C: compiled here, if there is a compiler, with ``-O3 -march=native``; xoshiro256++ and the polar method.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..graphs.graph import Graph
from ..methods.base import Array

__all__ = ["Rival", "c_loop", "compiler", "numba_loop", "tuple_loop"]

Rival = Callable[[int], Array]
"""Runs that many steps and returns the values."""


def tuple_loop(graph: Graph, values: Array, noise_std: float, noise_decay: float) -> Rival:
    """A Python loop over a list of tuples; ``noise_std`` 0 leaves the noise out."""
    edges = [tuple(edge) for edge in graph.edges.tolist()]

    def run(num_steps: int) -> Array:
        rng = np.random.default_rng(1)
        x = np.array(values)
        times = np.zeros(graph.num_nodes, dtype=int)
        previous = np.zeros(graph.num_nodes)
        fired = rng.integers(len(edges), size=num_steps)
        draws = noise_std * rng.standard_normal((num_steps, 2))
        for step in range(num_steps):
            i, j = edges[fired[step]]
            if noise_std:
                for node, draw in ((i, draws[step, 0]), (j, draws[step, 1])):
                    fresh = noise_decay ** times[node] * draw
                    x[node] += fresh - previous[node]
                    previous[node] = fresh
                    times[node] += 1
            x[i] = x[j] = (x[i] + x[j]) / 2
        return x

    return run


@cache
def _compiled() -> Any:
    import numba

    @numba.njit
    def loop(x: Any, edges: Any, noise_std: Any, noise_decay: Any, num_steps: Any) -> Any:
        np.random.seed(1)  # noqa: NPY002 (the generator that compiled code has)
        times = np.zeros(len(x), dtype=np.int64)
        previous = np.zeros(len(x))
        for _ in range(num_steps):
            e = np.random.randint(len(edges))  # noqa: NPY002
            i, j = edges[e, 0], edges[e, 1]
            if noise_std > 0.0:
                for node in (i, j):
                    fresh = noise_decay ** times[node] * np.random.normal(0.0, noise_std)  # noqa: NPY002
                    x[node] += fresh - previous[node]
                    previous[node] = fresh
                    times[node] += 1
            x[i] = x[j] = (x[i] + x[j]) / 2
        return x

    return loop


def numba_loop(graph: Graph, values: Array, noise_std: float, noise_decay: float) -> Rival:
    """The same loop under Numba's ``njit``."""

    def run(num_steps: int) -> Array:
        found: Array = _compiled()(np.array(values), graph.edges, float(noise_std), float(noise_decay), num_steps)
        return found

    return run


SOURCE = r"""
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t s[4];
static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
static inline uint64_t draw(void) {
    uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0]; s[3] ^= s[1]; s[1] ^= s[2]; s[0] ^= s[3]; s[2] ^= t; s[3] = rotate(s[3], 45);
    return result;
}
static inline void two_normals(double *a, double *b) {
    double u, v, r;
    do {
        u = 2.0 * (double)(draw() >> 11) * 0x1p-53 - 1.0;
        v = 2.0 * (double)(draw() >> 11) * 0x1p-53 - 1.0;
        r = u * u + v * v;
    } while (r >= 1.0 || r == 0.0);
    r = sqrt(-2.0 * log(r) / r);
    *a = u * r; *b = v * r;
}
struct node { double x, previous, amplitude; };

void gossip(double *x, int64_t n, const int32_t *edges, int64_t m, double std, double decay, int64_t steps) {
    struct node *nodes = malloc(n * sizeof *nodes);
    for (int64_t i = 0; i < n; i++) nodes[i] = (struct node){x[i], 0.0, std};
    s[0] = 1; s[1] = 2; s[2] = 3; s[3] = 4;
    for (int k = 0; k < 20; k++) draw();
    for (int64_t t = 0; t < steps; t++) {
        int64_t e = (int64_t)(((unsigned __int128)draw() * (uint64_t)m) >> 64);
        struct node *a = nodes + edges[2 * e], *b = nodes + edges[2 * e + 1];
        if (std > 0.0) {
            double v, w;
            two_normals(&v, &w);
            v *= a->amplitude; w *= b->amplitude;
            a->x += v - a->previous; b->x += w - b->previous;
            a->previous = v; b->previous = w;
            a->amplitude *= decay; b->amplitude *= decay;
            if (a->amplitude < 1e-150) a->amplitude = 0.0;
            if (b->amplitude < 1e-150) b->amplitude = 0.0;
        }
        a->x = b->x = 0.5 * (a->x + b->x);
    }
    for (int64_t i = 0; i < n; i++) x[i] = nodes[i].x;
    free(nodes);
}
"""


def compiler() -> str | None:
    """The C compiler: ``$CC``, or one of the usual names; ``None`` if there is none."""
    names = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    return next((found for name in names if name and (found := shutil.which(name))), None)


@cache
def _library() -> Any:
    command = compiler()
    if command is None:
        return None
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        source, library = Path(folder, "gossip.c"), Path(folder, "gossip.so")
        source.write_text(SOURCE, encoding="ascii")
        subprocess.run(  # noqa: S603 (the system's compiler on the text above)
            [command, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, source, "-lm"],
            check=True, capture_output=True,
        )  # fmt: skip
        return ctypes.CDLL(str(library)).gossip


def c_loop(graph: Graph, values: Array, noise_std: float, noise_decay: float) -> Rival | None:
    """The C program; ``None`` without a compiler."""
    function = _library()
    if function is None:
        return None
    edges = np.ascontiguousarray(graph.edges, dtype=np.int32)

    def run(num_steps: int) -> Array:
        x = np.array(values, dtype=np.float64)
        function(
            ctypes.c_void_p(x.ctypes.data), ctypes.c_int64(len(x)), ctypes.c_void_p(edges.ctypes.data),
            ctypes.c_int64(len(edges)), ctypes.c_double(noise_std), ctypes.c_double(noise_decay),
            ctypes.c_int64(num_steps),
        )  # fmt: skip
        return x

    return run
