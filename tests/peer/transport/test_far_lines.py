"""A neighbour at the end of a slow line: a connection may take its time, and is made once."""

from __future__ import annotations

import asyncio

from sottovoce.testing.transport import hello

from ..helpers import Society

SOCIETY = Society("a", "b")


async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    """Bytes from one line to the other, each some time after it has come."""
    while content := await reader.read(2**16):
        await asyncio.sleep(delay)
        writer.write(content)


def test_a_handshake_over_a_slow_line_is_waited_for() -> None:
    """Each way takes 0.1 s, so it takes longer than the pause before another attempt: nobody gives up."""
    connections: list[asyncio.StreamWriter] = []

    async def nothing(_src: str, _message: object) -> None:
        """Heard, and nothing to say."""

    async def scenario() -> None:
        server = SOCIETY.transport("b", neighbours={"a": "127.0.0.1:1"})
        await server.serve(nothing)

        async def line(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            other, out = await asyncio.open_connection("127.0.0.1", server.port)
            connections.extend((writer, out))
            await asyncio.gather(pour(reader, out, 0.1), pour(other, writer, 0.1), return_exceptions=True)

        far = await asyncio.start_server(line, "127.0.0.1", 0)
        address = f"127.0.0.1:{far.sockets[0].getsockname()[1]}"
        caller = SOCIETY.transport("a", neighbours={"b": address}, backoff_max=0.1)
        for _ in range(3):
            await caller.call("b", hello("a", "b"), 60.0)
        await caller.close()
        await server.close()
        far.close()
        for one in connections:
            one.transport.abort()
        await asyncio.sleep(0.3)  # the lines end

    asyncio.run(scenario())
    assert len(connections) == 2  # the two ends of one line
