"""One studio for all tests of this folder, and pages that visit it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .helpers import Studio

for extra in ("starlette", "uvicorn", "websockets"):
    pytest.importorskip(extra, reason="the studio needs the extra `studio`")


@pytest.fixture(scope="package")
def server() -> Iterator[Studio]:
    """A studio with the usual limits, as a real server."""
    from sottovoce.studio.app import create_app

    from .helpers import Studio

    with Studio(create_app()) as studio:
        yield studio


@pytest.fixture
def page(server: Studio) -> Callable[[], Any]:
    """Open a websocket as a page of this server does."""
    return server.open
