from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.peer.transport.handshakes import classify

# Runs in its own process, because it takes over standard error.
SCRIPT = """
import asyncio, json, sys
from sottovoce.peer.transport.handshakes import HandshakeWatch
sys.path.insert(0, sys.argv[1])
with HandshakeWatch() as watch:
    import grpc
    from grpc import aio
    from tests.peer.helpers import Recorder, Society, make_config
    from sottovoce.peer.transport.grpc import GrpcTransport
    from sottovoce.testing.transport import hello
    observer = Recorder()
    watch.report_to(observer)

    async def handler(src, message): ...

    async def tell(target, credentials=None):
        before = len(observer.events)
        # One attempt for each, however slowly the machine gets to closing the channel.
        once = [(f"grpc.{which}_reconnect_backoff_ms", 600_000) for which in ("initial", "min", "max")]
        options = [*once, ("grpc.ssl_target_name_override", "b.net")]
        secure = aio.secure_channel(target, credentials, options=options) if credentials else None
        channel = secure or aio.insecure_channel(target, options=once)
        try:
            await channel.unary_unary("/sottovoce.peer.v2.Peer/Tell")(b"", timeout=60)
        except aio.AioRpcError:
            pass
        await channel.close()
        while len(observer.events) == before:  # gRPC's line is read by a thread
            await asyncio.sleep(0.01)

    async def main():
        society = Society("a", "b")
        stranger, late = Society("a"), Society("a", days=-1)
        server = GrpcTransport(
            make_config("b", neighbours={"a": "127.0.0.1:1", "late": "127.0.0.1:1"}),
            society.credentials("b", late=late.certificates["a"]), observer,
        )
        await server.serve(handler)
        target, trusted = f"127.0.0.1:{server.port}", society.certificates["b"].encode()
        await tell(target)
        await tell(target, grpc.ssl_channel_credentials(trusted))
        for other in (stranger, late):
            own = other.credentials("a")
            await tell(target, grpc.ssl_channel_credentials(trusted, own.key, own.certificate))
        print("an ordinary line", file=sys.stderr, flush=True)
        await server.close()

    asyncio.run(main())
print(json.dumps([event for event, _ in observer.events]))
"""


def test_refused_handshakes_are_counted_on_the_called_side() -> None:
    """Plaintext, no certificate, one that nobody put into the roster and an expired one: each under its own reason."""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root)],
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
        env={"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"},
    )
    events = json.loads(done.stdout)
    reasons = {event.removeprefix("refused-handshake-") for event in events}
    assert len(events) == 4
    assert reasons == {"plaintext", "no-certificate", "wrong-network", "expired"}
    assert done.stderr.strip() == "an ordinary line"  # gRPC's lines are dropped, ours pass


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Handshake failed with error SSL_ERROR_SSL: something new", "other"),
        ("No match found for server name: b.net", "wrong-name"),
        ("Handshake failed ... certificate is not yet valid", "not-yet-valid"),
        ("Fork support is enabled", None),
    ],
)
def test_reasons(line: str, reason: str | None) -> None:
    """Lines of gRPC's log are told apart; an unknown refusal still counts."""
    assert classify(line) == reason
