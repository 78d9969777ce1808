"""The server: one page, its files, a few requests, and the websocket.

:func:`create_app` makes it, :func:`serve` runs it. It answers only to the names it was bound to
(a page of another site cannot reach it by pointing its own name here) and refuses requests and
websockets whose ``Origin`` is another site.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from ..errors import InvalidInput, InvalidParameter, SottovoceError
from ..foundation.arguments import whole
from ..scenario.scenario import Scenario
from . import exports
from .catalogue import catalogue
from .data import read_graph, read_values
from .guarding import Guard
from .limits import Limits
from .live import Watcher
from .messages import read_json, write
from .playing import Playback, cost_of_step
from .reading import RECORDS, is_small, read_scenario
from .setups import read_setup, write_setup
from .stream import Conversation
from .tables import Choices
from .tasks import in_words
from .thinking import Thinkers
from .thresholds import Thresholds
from .turns import Threads

__all__ = ["STATIC", "create_app"]

STATIC = Path(__file__).parent / "static"
T = TypeVar("T")

LONG_TEXT = 200_000
"""Longer texts are read in a process, so that frames are not delayed."""

QUICK_WORK = 20_000_000
"""Updates of single nodes that an export may need to be computed here, where kernels are compiled already."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def create_app(
    *,
    limits: Limits | None = None,
    hosts: Sequence[str] = LOOPBACK,
    watcher: Watcher | None = None,
    thinkers: Thinkers | None = None,
) -> Starlette:
    """The application.

    Parameters
    ----------
    limits
        What visitors may ask for.
    hosts
        Names under which this server is reached, without port.
    watcher
        Where the live view looks for peers.
    thinkers
        Processes for longer answers, if some were started already; they are closed with the application.
    """
    studio = Studio(limits or Limits(), watcher or Watcher(), thinkers)
    return Starlette(
        routes=[
            Route("/", studio.page),
            Route("/api/catalogue", studio.catalogue),
            Route("/api/guide", studio.guide),
            Route("/api/python", studio.python, methods=["POST"]),
            Route("/api/export/{kind}", studio.export, methods=["POST"]),
            Route("/api/read/{kind}", studio.read, methods=["POST"]),
            WebSocketRoute("/stream", studio.stream),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[
            Middleware(Guard),
            Middleware(
                TrustedHostMiddleware,
                allowed_hosts=[f"[{host}]" if ":" in host else host for host in hosts],
                www_redirect=False,
            ),
        ],
        exception_handlers={
            SottovoceError: _refuse,
            HTTPException: _http_error,
            Exception: _something_went_wrong,
        },
        lifespan=studio.lifespan,
    )


class Studio:
    """The handlers and what they share."""

    def __init__(self, limits: Limits, watcher: Watcher, thinkers: Thinkers | None) -> None:
        self.limits, self.watcher, self.thinkers = limits, watcher, thinkers
        self.threads = Threads()
        self.thresholds = Thresholds()
        self.open_pages = 0

    @contextlib.asynccontextmanager
    async def lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        """Processes for what takes longer, and what the first page asks for; everything is given back at the end."""
        self.thinkers = self.thinkers or Thinkers()
        self.thinkers.warm_up(then=lambda: self.threads.prepare(_prepare_engine))
        self.threads.prepare(lambda: catalogue(self.limits))  # its first time imports what building methods needs
        following = asyncio.ensure_future(self.watcher.follow())
        try:
            yield
        finally:
            following.cancel()
            self.thinkers.close()
            self.watcher.close()
            self.threads.close()

    async def page(self, _request: Request) -> Response:
        """The one page."""
        index = STATIC / "index.html"
        return Response(await asyncio.to_thread(index.read_bytes), media_type="text/html")

    async def catalogue(self, _request: Request) -> Response:
        """Families, values, methods and limits."""
        return JSONResponse(await asyncio.to_thread(catalogue, self.limits))

    async def guide(self, _request: Request) -> Response:
        """The numbers of the guided first minute."""
        story = Path(__file__).with_name("guide.json")
        return Response(await asyncio.to_thread(story.read_bytes), media_type="application/json")

    async def python(self, request: Request) -> Response:
        """What is shown, as a program."""
        asked = await self._asked(await self._json(request))
        return JSONResponse({"code": asked.to_python(record=RECORDS)})

    async def export(self, request: Request) -> Response:
        """The run until a step as CSV, PNG or SVG, or the set-up as a file."""
        kind = request.path_params["kind"]
        if kind not in ("csv", "png", "svg", "setup"):
            raise HTTPException(404)
        message = await self._json(request)
        if kind == "setup":
            setup = await self._think(write_setup, message.get("problem"), message.get("page"), self.limits)
            return Response(setup, media_type="application/json")
        asked = await self._asked(message)
        step = whole("at", message.get("at", asked.num_steps), low=0, high=asked.num_steps)
        run = self._compute_here if cost_of_step(asked) * step <= QUICK_WORK else self._think
        if kind == "csv":
            return Response(await run(exports.as_csv, asked, step), media_type="text/csv")
        picture = await run(exports.as_figure, asked, step, message.get("positions"), kind)
        return Response(picture, media_type="image/png" if kind == "png" else "image/svg+xml")

    async def read(self, request: Request) -> Response:
        """Check an uploaded or pasted graph, private values or set-up, and give it back as JSON."""
        kind = request.path_params["kind"]
        if kind not in ("edges", "values", "setup"):
            raise HTTPException(404)
        body = await self._body(request)
        name = request.query_params.get("name", "the text")[:60]
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidParameter(f"{name} is not a text file") from None
        if "\0" in text:
            raise InvalidParameter(f"{name} is not a text file")
        if kind == "setup":
            return JSONResponse(await self._think(read_setup, text, name, self.limits))
        choices = Choices.parse(dict(request.query_params))
        reader = read_graph if kind == "edges" else read_values
        if len(text) > LONG_TEXT:
            return JSONResponse(await self._think(reader, text, name, choices, self.limits))
        return JSONResponse(await self._compute(lambda: reader(text, name, choices, self.limits)))

    async def stream(self, socket: WebSocket) -> None:
        """One page's conversation."""
        await socket.accept()
        if self.open_pages >= self.limits.pages:
            message = f"{self.limits.pages} pages are open already; please close one"
            await socket.send_text(write({"type": "error", "about": "full", "message": message}))
            await socket.close(1013)
            return
        self.open_pages += 1
        assert self.thinkers is not None
        try:
            await Conversation(
                socket,
                self.limits,
                threads=self.threads,
                thinkers=self.thinkers,
                thresholds=self.thresholds,
                watcher=self.watcher,
            ).hold()
        finally:
            self.open_pages -= 1

    # -- shared --------------------------------------------------------------------------------

    async def _body(self, request: Request) -> bytes:
        """The whole body, refused as soon as it is too long."""
        parts, size = [], 0
        async for part in request.stream():
            size += len(part)
            self.limits.check("bytes in one request", size, self.limits.upload_bytes)
            parts.append(part)
        return b"".join(parts)

    async def _json(self, request: Request) -> dict[str, Any]:
        message = read_json(await self._body(request), "the request")
        if not isinstance(message, dict):
            raise InvalidParameter("the request must be a JSON object")
        return message

    async def _asked(self, message: dict[str, Any]) -> Scenario:
        asked = message.get("problem")
        if is_small(asked):
            return await self._compute(lambda: read_scenario(asked, self.limits))
        return await self._think(read_scenario, asked, self.limits)

    async def _compute(self, work: Callable[[], T]) -> T:
        return await self.threads.compute(work, page="requests")

    async def _compute_here(self, work: Callable[..., T], *arguments: Any) -> T:
        return await self._compute(lambda: work(*arguments))

    async def _think(self, work: Callable[..., T], *arguments: Any) -> T:
        assert self.thinkers is not None
        return await self.thinkers.think(work, *arguments, page="requests")


def _prepare_engine() -> None:
    """Compile the two methods that everybody looks at first (or load them from the cache)."""
    problem = {"methods": ["noise-insertion:noise_std=1,noise_decay=0.5", "standard"], "num_steps": 2}
    Playback(read_scenario(problem, Limits()), drawn=True).advance(2)


async def _refuse(_request: Request, error: Exception) -> Response:
    status = 422 if isinstance(error, InvalidInput) else 400
    return JSONResponse({"message": in_words(str(error))}, status_code=status)


async def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {404: "there is nothing here", 405: "this cannot be done here"}
    return JSONResponse({"message": words.get(error.status_code, error.detail)}, status_code=error.status_code)


async def _something_went_wrong(_request: Request, _error: Exception) -> Response:
    return JSONResponse({"message": "something went wrong here; the server's log says more"}, status_code=500)
