"""Who may use the server: pages that it served itself, and none of other sites; and the headers of all answers.

The name under which it is asked is checked after this (Starlette's ``TrustedHostMiddleware``, in :mod:`.app`).
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard"]

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


class Guard:
    """Refuses requests of other sites before anything else looks at them, and adds security headers to all answers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        reason = _objection(HTTPConnection(scope).headers, needs_origin=scope["type"] == "websocket")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                extra = [(k.encode(), v.encode()) for k, v in SECURITY_HEADERS.items() if k.encode() not in given]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        if reason is None:
            await self.app(scope, receive, send_with_headers)
        elif scope["type"] == "http":
            await JSONResponse({"message": reason}, status_code=403)(scope, receive, send_with_headers)
        else:
            await receive()  # websocket.connect
            await send({"type": "websocket.close", "code": 4403, "reason": reason[:100]})


def _objection(headers: Headers, *, needs_origin: bool) -> str | None:
    """Why a request is refused: its page must come from the host that it asks for. That host is checked after this."""
    origin = headers.get("origin")
    if origin is None:
        return "a websocket must say where it comes from" if needs_origin else None
    if origin.partition("://")[2].lower() != headers.get("host", "").lower():
        return "another site may not use this server"
    return None
