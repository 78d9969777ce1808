"""The same conformance suite for the transport in memory and for gRPC over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from sottovoce.peer.protocol.messages import Message
from sottovoce.peer.transport.base import Handler, Transport
from sottovoce.peer.transport.grpc import GrpcTransport
from sottovoce.testing.faulty_transport import FaultyTransport
from sottovoce.testing.memory_transport import Medium, MemoryTransport
from sottovoce.testing.transport import DIMENSION, Network, TransportConformance

from ..helpers import Society

EDGES = {"a": ["b"], "b": ["a", "c"], "c": ["b"]}


async def silent(src: str, message: Message) -> None:
    """Answers nothing."""


class TestMemory(TransportConformance):
    """In memory, without faults."""

    def transport(self, name: str, medium: Medium) -> Transport:
        return MemoryTransport(name, medium, set(EDGES[name]))

    @asynccontextmanager
    async def network(self, handlers: Mapping[str, Handler]) -> AsyncIterator[Network]:
        medium = Medium(dimension=DIMENSION)
        network = {name: self.transport(name, medium) for name in EDGES}
        for name, transport in network.items():
            await transport.serve(handlers.get(name, silent))
        try:
            yield network
        finally:
            for transport in network.values():
                await transport.close()


class TestFaulty(TestMemory):
    """In memory, inside a transport that loses messages, with a probability of zero."""

    def transport(self, name: str, medium: Medium) -> Transport:
        return FaultyTransport(super().transport(name, medium), loss=0.0)


class TestGrpc(TransportConformance):
    """Over TLS and loopback sockets."""

    society = Society(*EDGES)

    @asynccontextmanager
    async def network(self, handlers: Mapping[str, Handler]) -> AsyncIterator[Network]:
        network = {name: self.society.transport(name, dimension=DIMENSION) for name in EDGES}
        for name, transport in network.items():
            await transport.serve(handlers.get(name, silent))
        for name, others in EDGES.items():
            for other in others:
                network[name].add_neighbour(other, f"127.0.0.1:{network[other].port}")
        try:
            yield network
        finally:
            for transport in network.values():
                await transport.close()

    async def address(self, network: Network, name: str) -> str:
        transport = network[name]
        assert isinstance(transport, GrpcTransport)
        return f"127.0.0.1:{transport.port}"
