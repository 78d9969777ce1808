"""Algebraic connectivity and the Laplacian. (First version: closed forms and dense.)"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .graph import Graph

if TYPE_CHECKING:
    import scipy.sparse

__all__ = ["algebraic_connectivity", "laplacian"]


def laplacian(graph: Graph) -> scipy.sparse.csr_array:
    """L = D − A in CSR form."""
    import scipy.sparse

    return scipy.sparse.csr_array(scipy.sparse.diags_array(graph.degrees.astype(np.float64)) - graph.to_scipy())


def algebraic_connectivity(graph: Graph) -> float:
    """α(G), the second smallest eigenvalue of the Laplacian."""
    return float(np.linalg.eigvalsh(laplacian(graph).toarray())[1])
