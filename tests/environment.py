"""What the tests of one file leave in the environment does not reach those of the next.

Libraries leave words there that decide how later processes behave: Dask's nannies, for one, how memory is given back,
how many threads there are, and the seed of hashes. Which files share a process, and in which order, differs from run to
run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping


def put_back(environment: Mapping[str, str]) -> None:
    """Make the environment of this process what it was, but for what pytest says there of its own."""
    for name in set(os.environ) - set(environment):
        if not name.startswith("PYTEST_"):
            del os.environ[name]
    for name, text in environment.items():
        if os.environ.get(name) != text and not name.startswith("PYTEST_"):
            os.environ[name] = text
