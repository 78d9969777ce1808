"""The Laplacian and its second smallest eigenvalue, the algebraic connectivity α(G).

:mod:`.choosing` decides which solver runs and says how accurate the answer is; :mod:`.lanczos` and :mod:`.solvers`
have the solvers; :mod:`.ritz` checks what they found.
"""

from __future__ import annotations

from .choosing import Connectivity, algebraic_connectivity, connectivity, laplacian

__all__ = ["Connectivity", "algebraic_connectivity", "connectivity", "laplacian"]
