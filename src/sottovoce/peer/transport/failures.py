"""Calls that fail: what it means, what is logged about it, and what peers of another wire version are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
from grpc import aio

from ..protocol.terms import WIRE
from .base import FailureReason

if TYPE_CHECKING:
    Context = aio.ServicerContext[bytes, bytes]

__all__ = ["OtherVersions", "detail", "reason"]

# How gRPC 1.62 to 1.85 say that this side refused the other's certificate.
_REFUSED = ("handshake failed", "verification check failed", "is not in peer certificate")


def reason(error: aio.AioRpcError) -> FailureReason:
    """What a failed call means; handshakes that the *other* side broke off look like an unreachable neighbour."""
    code, details = error.code(), (error.details() or "").lower()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return "timeout"
    if code in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNAUTHENTICATED):
        return "refused"
    if code is grpc.StatusCode.UNAVAILABLE:
        return "refused" if any(sign in details for sign in _REFUSED) else "unreachable"
    if code is grpc.StatusCode.CANCELLED:
        return "unreachable"
    return "invalid"


def detail(error: aio.AioRpcError) -> str:
    """What to log about a failed call; a sentence where versions differ."""
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return f"this peer has wire version {WIRE} and the neighbour another"
    if error.code() is grpc.StatusCode.FAILED_PRECONDITION:
        return (error.details() or "")[:200]
    return error.code().name


class OtherVersions(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Answers peers of another wire version in a sentence, and everything else not at all."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        if not handler_call_details.method.startswith("/sottovoce.peer."):
            return None
        return grpc.stream_unary_rpc_method_handler(_other_version)


async def _other_version(_stream: object, context: Context) -> None:
    await context.abort(
        grpc.StatusCode.FAILED_PRECONDITION, f"this peer has wire version {WIRE} and the caller another"
    )
