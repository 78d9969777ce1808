from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.peer.transport.handshakes import classify

from ..helpers import make_identity

# Runs in its own process, because it takes over standard error.
SCRIPT = """
import asyncio, json, sys
from pathlib import Path
from sottovoce.peer.transport.handshakes import HandshakeWatch
sys.path.insert(0, sys.argv[2])
with HandshakeWatch() as watch:
    import grpc
    from grpc import aio
    from tests.peer.helpers import Recorder, make_config, tls_files
    from sottovoce.peer.transport.grpc import GrpcTransport
    from sottovoce.testing.transport import hello
    folder, observer = Path(sys.argv[1]), Recorder()
    watch.report_to(observer)

    async def handler(src, message): ...

    async def tell(target, credentials=None):
        options = [("grpc.ssl_target_name_override", "b.net")]
        secure = aio.secure_channel(target, credentials, options=options) if credentials else None
        channel = secure or aio.insecure_channel(target)
        try:
            await channel.unary_unary("/sottovoce.peer.v1.Peer/Tell")(b"", timeout=3)
        except aio.AioRpcError:
            pass
        await channel.close()

    async def main():
        server = GrpcTransport.from_config(make_config("b", folder, tls=tls_files(folder / "b")), observer)
        await server.serve(handler)
        target = f"127.0.0.1:{server.port}"
        read = lambda name, file: (folder / name / file).read_bytes()
        trusted = read("b", "authority.crt")
        await tell(target)
        await tell(target, grpc.ssl_channel_credentials(trusted))
        for name in ("foreign", "expired"):
            await tell(target, grpc.ssl_channel_credentials(trusted, read(name, "peer.key"), read(name, "peer.crt")))
        print("an ordinary line", file=sys.stderr, flush=True)
        await asyncio.sleep(0.3)
        await server.close()

    asyncio.run(main())
print(json.dumps([event for event, _ in observer.events]))
"""


def test_refused_handshakes_are_counted_on_the_called_side(tmp_path: Path) -> None:
    """Plaintext, no certificate, another network's and an expired one: each is counted under its own reason."""
    from sottovoce.peer.membership.identity import Authority

    authority = Authority.create("net")
    make_identity("b", tmp_path / "b", authority)
    make_identity("a", tmp_path / "foreign", Authority.create("net"))
    make_identity("a", tmp_path / "expired", authority, days=-1)
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(root)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PYTHONPATH": str(root / "src"), "PATH": "/usr/bin:/bin"},
    )
    events = json.loads(done.stdout)
    reasons = {event.removeprefix("refused-handshake-") for event in events}
    assert len(events) == 4
    assert reasons in (
        {"plaintext", "no-certificate", "wrong-network", "expired"},
        {"plaintext", "no-certificate", "bad-certificate"},  # gRPC before about 1.66 does not tell the last two apart
    )
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
