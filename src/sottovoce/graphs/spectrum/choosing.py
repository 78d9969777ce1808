"""Which solver finds the algebraic connectivity of a graph, and how accurate its answer is.

Section 2 of the paper: α > 0 exactly for connected graphs, and gossip contracts by 1 − α/(2m) a step.
The solvers themselves are in :mod:`.lanczos` and :mod:`.solvers`, the check of their answers in :mod:`.ritz`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...errors import InvalidParameter, NumericalFailure
from ...foundation.extras import install_line, require
from ..closed_forms import closed_forms
from ..graph import Family, Graph, check_graph

if TYPE_CHECKING:
    import scipy.sparse

    from .ritz import Estimate, Problem

__all__ = ["Connectivity", "algebraic_connectivity", "connectivity", "laplacian"]

DENSE_NODES = 600
"""Up to here the full matrix is the quickest way, and the surest."""

SINGLE_PRECISION_WORK = 4_000_000
"""Where edges + 4 · nodes exceed this, Lanczos iterates in single precision, unless over five digits are asked for."""

DIGITS = 8
DIGITS_AT_LEAST = 5
"""What we aim for, and what we insist on, when the caller does not say."""

CYCLES_PER_NODE = 0.05
"""Up to here a graph is so close to a tree that a fill-reducing factor is hardly larger than the matrix."""

LAST_RESORT_NODES = 200_000
"""Up to here that factor is also tried where multigrid failed; beyond, it may need more memory than there is."""

CACHED_RESULTS = 8


@dataclass(frozen=True)
class Connectivity:
    """The algebraic connectivity and how accurate it is.

    Attributes
    ----------
    value
        α, or with weights the second smallest eigenvalue of L_p = Σ p_e b_e b_eᵀ.
    residual
        ‖Lv − αv‖₂ of the unit eigenvector found, orthogonal to the constant vector; 0 for a closed form.
    error
        Bound on the distance from ``value`` to the eigenvalue that v belongs to, from residuals and gaps.
    solver
        ``"closed form"``, ``"dense"``, ``"lanczos"``, ``"factorised"`` or ``"multigrid"``.
    lower_bound
        A number that α is known to exceed because eigenvalues were *counted* (closed form, dense, factorised).
        ``None`` for Lanczos and multigrid: no residual can show that nothing smaller exists. There it rests on
        random starting vectors, which miss an eigenvector with probability about residual/gap (one vector) or its cube
        (a block of three), see :func:`connectivity`.
    """

    value: float
    residual: float
    error: float
    solver: str
    lower_bound: float | None = None

    @property
    def digits(self) -> int:
        """Decimal digits of ``value`` that ``error`` supports, at most 15."""
        if self.error <= 0:
            return 15
        return max(0, min(15, math.floor(-math.log10(self.error / self.value))))


def laplacian(graph: Graph, weights: npt.ArrayLike | None = None) -> scipy.sparse.csr_array:
    """L = D − A, or with one positive weight per edge L_p = Σ p_e b_e b_eᵀ, in CSR form.

    Examples
    --------
    >>> from sottovoce.graphs import path
    >>> laplacian(path(3)).toarray().astype(int).tolist()
    [[1, -1, 0], [-1, 2, -1], [0, -1, 1]]
    >>> laplacian(path(2), weights=[0.25]).toarray().tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    from .ritz import Problem

    check_graph(graph)
    return Problem(graph.num_nodes, graph.edges, _checked_weights(graph, weights)).matrix()


def algebraic_connectivity(graph: Graph, weights: npt.ArrayLike | None = None, *, digits: int | None = None) -> float:
    """α(G), the second smallest eigenvalue of the Laplacian.

    Parameters
    ----------
    graph
        Any graph.
    weights
        One positive number per edge, for L_p = Σ p_e b_e b_eᵀ; default ones.
    digits
        Correct digits to insist on; default: at least 5, usually 8 or more. See :func:`connectivity`.

    Raises
    ------
    NumericalFailure
        If no solver's answer passes the check of its residual.

    Examples
    --------
    >>> from sottovoce.graphs import complete, cycle
    >>> algebraic_connectivity(complete(5))
    5.0
    >>> round(algebraic_connectivity(cycle(10)), 6)
    0.381966
    >>> round(algebraic_connectivity(cycle(10), weights=[0.1] * 10), 7)
    0.0381966
    """
    return connectivity(graph, weights, digits=digits).value


def connectivity(
    graph: Graph, weights: npt.ArrayLike | None = None, *, digits: int | None = None, count: bool = False
) -> Connectivity:
    """α(G) with its residual, its error bound and the solver that found it. Remembered per graph.

    A closed form where the family has one; the dense matrix up to 600 nodes; otherwise, in this order,

    1. Lanczos, which suits graphs without bottlenecks and gives up early on the others,
    2. inverse iteration with a sparse factor, if a bandwidth-reducing ordering makes it small (rings, ladders), or
       with a fill-reducing ordering if the graph is nearly a tree,
    3. LOBPCG with algebraic multigrid (the extra ``amg``: pyamg),
    4. inverse iteration with a fill-reducing factor up to 200 000 nodes; without pyamg on any graph: exact as well, but
       with several times the memory; on geometric graphs of 10⁶ nodes it does not fit.

    An answer is taken only if its own examination supports the digits wanted, so a solver that fails is
    followed by the next one.

    **What the check shows.** The value is a Rayleigh quotient on a vector orthogonal to the constant one, so
    α ≤ value up to rounding, always. ``error`` bounds the distance to *an* eigenvalue, given that the next ones are
    about where the solver sees them. That nothing smaller was missed is counted (``lower_bound``) or, for Lanczos
    and multigrid, very likely: iterations from a random start magnify a smaller eigenvalue's vector more than a
    larger one's. As a last guard the value must not exceed upper bounds that do not come from a solver: Fiedler's
    n/(n − 1) · smallest degree, and the quotient of the vector of distances from a far end of the graph.

    Parameters
    ----------
    graph, weights
        As for :func:`algebraic_connectivity`.
    digits
        Correct digits to insist on, 1 to 12. By default 8 are sought, and 5 are enough where the
        eigenvalues lie so close together that more would take minutes (random regular graphs of 10⁶ nodes).
    count
        Also count the eigenvalues below the answer where the solver did not (Lanczos, multigrid), by one sparse
        factorisation: seconds up to some 10⁵ nodes of a planar-like graph, out of reach for large expanders.

    Raises
    ------
    NumericalFailure
        If no solver's answer passes, or the count finds an eigenvalue that was missed.

    Examples
    --------
    >>> from sottovoce.graphs import barbell, cycle
    >>> connectivity(cycle(10)).solver
    'closed form'
    >>> found = connectivity(barbell(5))
    >>> found.solver, round(found.value, 6), found.digits >= 12
    ('dense', 0.298438, True)
    """
    from .ritz import Problem

    check_graph(graph)
    if digits is not None and (isinstance(digits, bool) or digits not in range(1, 13)):
        raise InvalidParameter(f"digits must be a whole number from 1 to 12, got {digits!r}")
    checked = _checked_weights(graph, weights)
    known: dict[str, Connectivity] = graph.__dict__.setdefault("_connectivity", {})
    key = "" if checked is None else hashlib.sha256(checked.tobytes()).hexdigest()
    if key in known and known[key].digits >= (digits or DIGITS_AT_LEAST):
        if known[key].lower_bound is not None or not count:
            return known[key]
    scale = 1.0
    if checked is not None:
        scale = float(checked.mean())
        checked = None if np.all(checked == checked[0]) else checked / scale
    result = _scaled(_closed_form(graph.family) if checked is None else None, scale)
    if result is None:
        result = _scaled(
            _solve(Problem(graph.num_nodes, graph.edges, checked), digits, count=count, name=graph.name), scale
        )
    assert result is not None
    if len(known) >= CACHED_RESULTS:
        known.pop(next(iter(known)))
    known[key] = result
    return result


def _scaled(result: Connectivity | None, scale: float) -> Connectivity | None:
    if result is None or scale == 1.0:
        return result
    lower = None if result.lower_bound is None else scale * result.lower_bound
    return Connectivity(scale * result.value, scale * result.residual, scale * result.error, result.solver, lower)


def _checked_weights(graph: Graph, weights: npt.ArrayLike | None) -> npt.NDArray[np.float64] | None:
    if weights is None:
        return None
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidParameter("weights must be numbers, one per edge") from None
    if array.shape != (graph.num_edges,):
        raise InvalidParameter(f"weights must have shape ({graph.num_edges},), one per edge, got {array.shape}")
    if not np.all(np.isfinite(array)) or not np.all(array > 0):
        worst = int(np.argmin(np.where(np.isfinite(array), array, -np.inf)))
        raise InvalidParameter(f"weights must be finite and above 0, got {array[worst]} for edge {worst}")
    return array


def _closed_form(family: Family | None) -> Connectivity | None:
    forms = closed_forms(family)
    if family is None or forms is None:
        return None
    value = forms.connectivity(*family.sizes)
    error = 4 * float(np.finfo(np.float64).eps) * value
    return Connectivity(value, 0.0, error, "closed form", value - error)


def _solve(problem: Problem, digits: int | None, *, count: bool, name: str) -> Connectivity:
    require("scipy", by=f"the algebraic connectivity of {name}")
    from .solvers import has_multigrid, with_count

    wanted = 10.0 ** -(digits or DIGITS_AT_LEAST)
    said = []
    for solver, estimate in _attempts(problem, digits):
        if count and estimate is not None and estimate.lower_bound is None:
            estimate = with_count(problem, estimate)  # noqa: PLW2901
        if estimate is None:
            said.append(f"{solver}: not for this graph")
        elif estimate.value > (1 + wanted) * _upper_bound(problem, solver):
            said.append(f"{solver}: {estimate.value:.6g} is above a bound on it, so the smallest was missed")
        elif estimate.value > 0 and estimate.error <= wanted * estimate.value:
            return Connectivity(estimate.value, estimate.residual, estimate.error, solver, estimate.lower_bound)
        else:
            said.append(f"{solver}: {estimate.value:.6g} ± {estimate.error:.1g}")
    hint = "" if has_multigrid() else f"; {install_line('pyamg')} adds a stronger solver"
    raise NumericalFailure(
        f"algebraic connectivity of {name} was not found to {digits or DIGITS_AT_LEAST} digits "
        f"({'; '.join(said)}){hint}"
    )


def _upper_bound(problem: Problem, solver: str) -> float:
    """What α cannot exceed, from vectors that do not come from a solver.

    Fiedler's n/(n − 1) · smallest degree; and, for graphs with bottlenecks, the Rayleigh quotient of the distances
    from a node at the far end, which resembles the eigenvector there.
    """
    n = problem.num_nodes
    bound = n / (n - 1) * float(problem.weighted_degrees.min())
    if solver != "multigrid":  # dense and factorised count; on expanders distances say nothing
        return bound
    from ..distances import distances_from

    graph = Graph._trusted(n, problem.edges)
    far = int(np.argmax(distances_from(graph, 0)))
    trial = distances_from(graph, far).astype(np.float64)
    return min(bound, problem.examine(trial[:, None]).estimate().value)


def _attempts(problem: Problem, digits: int | None) -> Iterator[tuple[str, Estimate | None]]:
    """Solvers in the order of :func:`connectivity`, each run only when asked for."""
    from .lanczos import lanczos
    from .solvers import dense, factorised, has_multigrid, multigrid

    tolerance = 10.0 ** -(max(digits or DIGITS, DIGITS) + 1)
    if problem.num_nodes <= DENSE_NODES:
        yield "dense", dense(problem)
        return
    work = len(problem.edges) + 4 * problem.num_nodes
    single = work > SINGLE_PRECISION_WORK and (digits or DIGITS_AT_LEAST) <= DIGITS_AT_LEAST
    if single:
        quick = lanczos(problem, tolerance=8e-6, single=True)
        yield "lanczos", quick
    if not single or quick is not None:  # what single precision leaves open
        yield "lanczos", lanczos(problem, tolerance=tolerance)
    yield "factorised", factorised(problem, tolerance=tolerance)
    tree_like = len(problem.edges) < (1 + CYCLES_PER_NODE) * problem.num_nodes
    if has_multigrid() and not tree_like:
        yield "multigrid", multigrid(problem, tolerance=tolerance)
    if tree_like or not has_multigrid() or problem.num_nodes <= LAST_RESORT_NODES:
        yield "factorised", factorised(problem, tolerance=tolerance, fill_reducing=True)
    if has_multigrid() and tree_like:
        yield "multigrid", multigrid(problem, tolerance=tolerance)
