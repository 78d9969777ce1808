"""gRPC between peers: mutual TLS, one connection per neighbour, everything that is not a neighbour refused.

Refusals and where they are noticed:

- *no certificate, plaintext, expired, any certificate that is not a neighbour's in the roster*: inside gRPC's TLS
  layer, before any of our code runs. The trust anchors are exactly the neighbours' own certificates, nothing that could
  sign another; a change of neighbours takes effect at the next handshake. The caller counts a failed call; the called
  side sees it only in gRPC's own log, which :mod:`.handshakes` reads.
- *wrong name*: the called side compares the certificate's name with its neighbours and answers PERMISSION_DENIED (so it
  is for a neighbour that was dropped while it was connected); the caller trusts only the certificate of the neighbour
  it meant to call. Both count.
- *a neighbour with too many calls at once*: RESOURCE_EXHAUSTED, counted; see :mod:`.admission`.
- *invalid message, or names in it that contradict the certificates*: answered INVALID_ARGUMENT, counted; so are
  calls that end without a whole message, or say nothing for too long. A stream that ends so after its first message
  only ends.

Who calls is known from the first bytes of a call, before its message. So messages are read by us and not by gRPC: a
call that is refused costs no memory for its body, and calls that stay silent take up nothing that others need. A call
may go on as a stream, with one message after the other, each answered before the next is read (:mod:`.streams`).

The module is called like the library it wraps; absolute imports keep the two apart.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc import aio

from ...errors import ProtocolViolation, TemporaryFailure, TransportError
from ..membership.config import PeerConfig
from ..membership.credentials import Credentials, check_identity
from ..membership.names import split_address
from ..protocol.messages import Message
from . import sottovoce_pb2 as pb
from .admission import Admission
from .base import CallFailed, FailureReason, Handler, HeldAnswer, Observer, Quiet, RosterHandler, SilentObserver
from .codec import Codec
from .facts import clock, facts, names, patience
from .failures import OtherVersions, detail, reason
from .options import channel_options, hide_callers_that_hung_up, longest, server_options
from .streams import Streams

if TYPE_CHECKING:
    Context = aio.ServicerContext[bytes, bytes]

__all__ = ["GrpcTransport"]

Said = TypeVar("Said")

_SERVICE = "sottovoce.peer.v2.Peer"
_METHOD, _ROSTER = f"/{_SERVICE}/Tell", f"/{_SERVICE}/Roster"
_SKEW_WORTH_SAYING = 60.0

_ON_THE_WAY = 0.1
"""A caller's time began when it called, and counts here from when the call arrived: so many seconds later at most."""


class GrpcTransport:
    """Carries messages between one peer and its neighbours over mutually authenticated TLS.

    Parameters
    ----------
    config
        Name, network, listen address, neighbours, dimension.
    credentials
        What :func:`sottovoce.peer.membership.credentials.check_identity` returned.
    observer
        Where refusals and failures are counted and logged.
    """

    def __init__(self, config: PeerConfig, credentials: Credentials, observer: Observer | None = None) -> None:
        self.name, self.network = config.name, config.network
        self._listen, self._backoff_max = config.listen, config.backoff_max
        self._codec = Codec.from_config(config)
        self._admission = Admission(longest(self._codec))
        self._credentials = credentials
        self._observer: Observer = observer or SilentObserver()
        self._addresses: dict[str, str | None] = {}
        self._channels: dict[str, tuple[Streams, aio.Channel]] = {}
        self._server: aio.Server | None = None
        self._handler: Handler | None = None
        self._rosters: RosterHandler | None = None
        self._closed = False
        self._worth_saying = Quiet()
        self._now = time.time
        self.port = 0
        for name, address in config.neighbours.items():
            self.add_neighbour(name, address)

    @classmethod
    def from_config(cls, config: PeerConfig, observer: Observer | None = None) -> GrpcTransport:
        """Read and check the certificate files, then build the transport. Nothing is opened yet."""
        return cls(config, check_identity(config), observer)

    async def serve(self, handler: Handler, rosters: RosterHandler | None = None) -> None:
        """Listen, unless this peer only calls; :class:`~sottovoce.errors.TemporaryFailure` if it cannot now."""
        if self._handler is not None:
            raise TransportError("this transport is already serving")
        self._handler, self._rosters = handler, rosters
        if self._listen is not None:
            hide_callers_that_hung_up()
            await self._open(self._listen)

    async def _open(self, address: str) -> None:
        self._check_open()
        # Fixed for the life of the process: certificates that gRPC fetches at each handshake crashed peers (signal 11)
        # in a network of thirty. Members that are no neighbours pass the handshake and are refused by `_tell`.
        own = [(self._credentials.key, self._credentials.certificate)]
        credentials = grpc.ssl_server_credentials(own, self._anchors(), require_client_auth=True)
        # No limit on calls in all: those of one caller would use it up for everybody.
        server = aio.server(options=server_options(self._codec))
        # Bytes in, bytes out: decoding is ours.
        handlers = {
            "Tell": grpc.stream_stream_rpc_method_handler(self._tell),
            "Roster": grpc.stream_unary_rpc_method_handler(self._swap),
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers), OtherVersions()))
        try:
            self.port = server.add_secure_port(address, credentials)
        except RuntimeError:
            raise TemporaryFailure(f"listen: cannot listen on {address}: address in use or not ours") from None
        self._server = server  # before it runs: whoever is cancelled while it starts must be able to close it
        await asyncio.shield(server.start())  # and gRPC must not be interrupted there
        if self._closed:  # before it had begun to start, when gRPC stops nothing
            await server.stop(None)
        self._check_open()

    def _check_open(self) -> None:
        """Nothing is opened once this transport is closed, whoever is under way then."""
        if self._closed:
            raise TemporaryFailure("this peer has been closed")

    def _anchors(self) -> bytes:
        """Whom TLS believes: exactly the certificates of the roster's members."""
        # gRPC refuses an empty list; without members only we ourselves are believed, and we are no neighbour.
        return b"".join(self._credentials.members.values()) or self._credentials.certificate

    async def call(self, dst: str, message: Message, timeout: float) -> Message | None:  # noqa: ASYNC109 - handed on
        """Send and wait; see :class:`.base.Transport`."""
        (streams, _), content = self._reach(dst), self._codec.encode(message)
        with self._calling(dst):
            said = await streams.call(content, timeout)
        try:
            return self._codec.decode(said, src=dst, dst=self.name)
        except ProtocolViolation as violation:
            raise self._failed(dst, "invalid", str(violation)) from None

    async def ask_roster(self, dst: str, number: int, document: bytes | None, timeout: float) -> bytes | None:  # noqa: ASYNC109 - handed on
        """See :class:`.base.Transport`."""
        request = pb.RosterRequest(number=number, document=document)
        _, channel = self._reach(dst)
        with self._calling(dst):
            ask = channel.unary_unary(_ROSTER, None, None)
            content = bytes(await ask(request.SerializeToString(), timeout=timeout))
        try:
            answer = pb.RosterDocument.FromString(content)
        except DecodeError:
            raise self._failed(dst, "invalid", "not a roster document") from None
        return answer.document if answer.HasField("document") else None

    def _reach(self, dst: str) -> tuple[Streams, aio.Channel]:
        """The connection to a neighbour, which is made at the first call."""
        if dst not in self._addresses or dst not in self._credentials.members:
            raise CallFailed(dst, "refused")
        if self._addresses[dst] is None or self._closed:
            raise CallFailed(dst, "unreachable")
        if dst not in self._channels:
            own = self._credentials
            credentials = grpc.ssl_channel_credentials(own.members[dst], own.key, own.certificate)
            options = channel_options(self._codec, f"{dst}.{self.network}", self._backoff_max)
            channel = aio.secure_channel(str(self._addresses[dst]), credentials, options=options)
            tell: Any = channel.stream_stream(_METHOD, None, None)
            single: Any = channel.unary_unary(_METHOD, None, None)
            streams = Streams(
                lambda patience: tell(metadata=facts(self._now(), patience)),
                lambda content, patience: single(content, timeout=patience, metadata=facts(self._now(), patience)),
            )
            self._channels[dst] = streams, channel
        return self._channels[dst]

    @contextlib.contextmanager
    def _calling(self, dst: str) -> Iterator[None]:
        """While it lasts, all that can go wrong with a call becomes a :class:`.base.CallFailed`."""
        try:
            yield
        except aio.AioRpcError as error:
            raise self._failed(dst, reason(error), detail(error)) from None
        except TimeoutError:
            raise self._failed(dst, "timeout", grpc.StatusCode.DEADLINE_EXCEEDED.name) from None
        except (aio.UsageError, asyncio.InvalidStateError):  # the channel was closed meanwhile
            raise self._failed(dst, "unreachable", "CLOSED") from None
        except asyncio.CancelledError:
            # Closing a channel cancels the calls under way, and not whoever waits for them: that would be the peer's
            # own clock.
            if _cancelled_ourselves():
                raise
            raise self._failed(dst, "unreachable", "CLOSED") from None

    async def _tell(self, _stream: object, context: Context) -> None:
        """A stream: who opens it, whether it may have one more now, and only then what it says."""
        src = await self._admit(context)
        self._compare_clocks(src, context)
        content: bytes | None = await self._first(src, context)
        while content is not None:
            async with self._turn(src, context):
                size = len(content)
                message, content = self._understood(self._decode, src, content), None
                if message is None:
                    await self._nonsense(src, size, context, "not a valid message")
                assert message is not None
                answer = await self._answer(src, message, context)
            del message  # nothing is kept while the answer, or the next message, is waited for
            if isinstance(answer, HeldAnswer):
                with self._admission.holding(src, answer):
                    answer = await self._encoded(src, answer, context)
            await context.write(answer)
            del answer
            content = await self._next(src, context)

    async def _swap(self, _stream: object, context: Context) -> bytes:
        """A neighbour's roster and ours: the end that is behind gets the later one."""
        src = await self._admit(context)
        content: bytes | None = await self._first(src, context)
        async with self._turn(src, context):
            assert content is not None
            size = len(content)
            request, content = self._understood(_roster_request, src, content), None
            if request is None:
                await self._nonsense(src, size, context, "not a request for a roster")
            assert request is not None
            given = request.document if request.HasField("document") else None
            ours = None if self._rosters is None else await asyncio.shield(self._rosters(src, request.number, given))
            return pb.RosterDocument(document=ours).SerializeToString()

    @contextlib.asynccontextmanager
    async def _turn(self, src: str, context: Context) -> AsyncIterator[None]:
        """While a message of ``src`` is understood and handled; whoever was dropped meanwhile is not heard any more."""
        async with self._admission.turn(src):
            await self._admission.patience(src)
            if src not in self._addresses:
                await self._not_a_neighbour(context)
            yield

    async def _admit(self, context: Context) -> str:
        """The neighbour that calls; the call is aborted if it is none, or has too many under way."""
        src = self._neighbour(context)
        if src is None:
            await self._not_a_neighbour(context)
        assert src is not None
        if not self._admission.enter(src):
            self._refuse("refused-too-many-calls", src, most=self._admission.calls)
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls at once")
        admission = self._admission  # a later roster brings another
        context.add_done_callback(lambda _context: admission.leave(src))  # type: ignore[arg-type]
        return src

    async def _not_a_neighbour(self, context: Context) -> None:
        self._refuse("refused-not-a-neighbour", "", certificate=", ".join(name[:80] for name in names(context)))
        await context.abort(grpc.StatusCode.PERMISSION_DENIED, "not a neighbour")

    async def _first(self, src: str, context: Context) -> bytes:
        """What a call says first; it is aborted if that is not there in time, or too long."""
        await self._admission.patience(src)
        began, content = time.monotonic(), None
        try:
            async with asyncio.timeout(self._admission.read_seconds):
                content = await _read(context)
        except TimeoutError:
            self._refuse("refused-silent-call", src)
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no message")
        if content is None:
            if patience(context, time.monotonic() - began) < _ON_THE_WAY:  # it has only lost patience, and is gone
                raise asyncio.CancelledError
            self._refuse("refused-no-whole-message", src, most_bytes=longest(self._codec))
            await self._nonsense(src, 0, context, "no whole message")
        assert content is not None
        return content

    async def _nonsense(self, src: str, size: int, context: Context, why: str) -> None:
        """The call is over, and the next of this neighbour is listened to a little later."""
        self._admission.nonsense(src, size)
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, why)

    async def _next(self, src: str, context: Context) -> bytes | None:
        """What a stream says next; ``None``: it has ended, or is not waited for any more."""
        with contextlib.suppress(TimeoutError):
            async with self._admission.idle(src):
                return await _read(context)
        return None

    def _understood(self, parse: Callable[[bytes, str], Said], src: str, content: bytes) -> Said | None:
        """What a neighbour says; ``None`` if it makes no sense.

        The bytes must be forgotten before a call is aborted: that makes a circle of references around the stack.
        """
        try:
            return parse(content, src)
        except ProtocolViolation as violation:
            self._refuse("refused-invalid-message", src, reason=str(violation))
            return None

    def _decode(self, content: bytes, src: str) -> Message:
        message = self._codec.decode(content, src=src, dst=self.name)
        if message is None:
            raise ProtocolViolation("a call carries a message")
        return message

    async def _answer(self, src: str, message: Message, context: Context) -> bytes | HeldAnswer:
        """The answer to a message; one that is held back (R94) must not keep others waiting."""
        assert self._handler is not None
        try:
            answer = self._handler(src, message)
        except Exception as error:
            return await self._cannot_answer(src, error, context)
        # Shielded: a caller that hangs up must not interrupt a state change half way.
        return answer if isinstance(answer, HeldAnswer) else await self._encoded(src, asyncio.shield(answer), context)

    async def _encoded(self, src: str, answer: Awaitable[Message | None], context: Context) -> bytes:
        try:
            return self._codec.encode(await answer)
        except Exception as error:
            return await self._cannot_answer(src, error, context)

    async def _cannot_answer(self, src: str, error: Exception, context: Context) -> bytes:
        """Whatever it is, the caller must only learn that there is no answer now."""
        if not isinstance(error, TemporaryFailure):  # a peer that is stopping has not failed
            self._observer.count("handler-failed", src)
            if self._worth_saying("handler failed", src):
                self._observer.log("error", "handler failed", neighbour=src, error=type(error).__name__)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "cannot handle messages now")
        raise AssertionError("abort always raises")

    def _neighbour(self, context: Context) -> str | None:
        """The configured neighbour that this caller's certificate names, if it names exactly one."""
        found = names(context)
        if len(found) != 1:
            return None
        label, _, network = found[0].partition(".")
        return label if network == self.network and label in self._addresses else None

    def _compare_clocks(self, src: str, context: Context) -> None:
        theirs = clock(context)
        skew = 0.0 if theirs is None else theirs - self._now()
        if abs(skew) > _SKEW_WORTH_SAYING and self._worth_saying("clock-skew", src):
            self._observer.count("clock-skew", src)
            self._observer.log("warning", "clocks out of step", neighbour=src, skew_seconds=round(skew, 1))

    def _refuse(self, event: str, neighbour: str, **fields: object) -> None:
        self._observer.count(event, neighbour)
        if self._worth_saying(event, neighbour):
            self._observer.log("warning", event, neighbour=neighbour, **fields)

    def _failed(self, dst: str, reason: FailureReason, detail: str) -> CallFailed:
        self._observer.count(f"call-failed-{reason}", dst)
        if reason in ("refused", "invalid") and self._worth_saying(reason, dst):
            self._observer.log("warning", "call refused", neighbour=dst, reason=reason, detail=detail)
        return CallFailed(dst, reason)

    async def renew(self, config: PeerConfig) -> None:
        """Take up a later roster; see :class:`.base.Transport`.

        The server's certificates are fixed while it runs, so where they change it is closed and opened again at the
        same port. Connections are kept to whom nothing has changed.

        Raises
        ------
        TemporaryFailure
            It was closed meanwhile.
        """
        before, now = self._credentials, check_identity(config)
        same_self = (before.key, before.certificate) == (now.key, now.certificate)
        kept = {name for name, one in now.members.items() if same_self and before.members.get(name) == one}
        changed = [name for name in self._channels if name not in kept or self._moved(name, config)]
        self._codec, self._credentials = Codec.from_config(config), now
        self._addresses = dict(config.neighbours)
        for name in changed:
            await self._disconnect(name)
        self._check_open()
        if self._server is not None and (not same_self or before.members != now.members):
            await self._stop(self._server)  # it stays ours: whoever closes meanwhile waits for it, too
            self._check_open()
            self._admission = Admission(longest(self._codec))  # messages of a larger network may be longer
            await self._open(f"{str(self._listen).rpartition(':')[0]}:{self.port}")

    def _moved(self, name: str, config: PeerConfig) -> bool:
        return self._addresses.get(name) != config.neighbours.get(name)

    def add_neighbour(self, name: str, address: str | None) -> None:
        """Let `name` speak; the connection is made at the first call. Without an address it calls us."""
        if address is not None:
            split_address(address, f"the address of neighbour {name!r}")
        self._addresses[name] = address

    async def drop_neighbour(self, name: str) -> None:
        """Close the connection to `name`, if any, and refuse its calls from now on."""
        self._addresses.pop(name, None)
        await self._disconnect(name)

    async def _disconnect(self, name: str) -> None:
        if name in self._channels:
            streams, channel = self._channels.pop(name)
            try:
                await streams.close()
            finally:
                await channel.close(grace=None)

    async def close(self) -> None:
        """Stop listening and close every connection; calls under way get half a second to finish."""
        server, self._server, self._closed = self._server, None, True
        if server is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await self._stop(server)
        await asyncio.gather(*map(self._disconnect, list(self._channels)))

    async def _stop(self, server: aio.Server) -> None:
        """Calls under way get half a second to finish; streams that nobody uses now are ended at once."""
        self._admission.end_idle()
        await server.stop(grace=0.5)


async def _read(context: Context) -> bytes | None:
    content: object = await context.read()
    return content if isinstance(content, bytes) else None


def _roster_request(content: bytes, _src: str) -> pb.RosterRequest:
    try:
        return pb.RosterRequest.FromString(content)
    except DecodeError:
        raise ProtocolViolation("not a request for a roster") from None


def _cancelled_ourselves() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
