"""How gRPC is set up: limits on sizes, streams and connections, keepalive, what strangers may take up."""

from __future__ import annotations

import logging

from .codec import Codec

__all__ = ["channel_options", "hide_callers_that_hung_up", "longest", "server_options"]

Options = list[tuple[str, int | str]]

_HANDSHAKE_MS = 10_000
"""How long a handshake may take, at both ends: over a far line, or while a machine stands still, it takes seconds."""

_CONNECTIONS = 256
"""Open connections, strangers that have not finished their handshake included; a process may often open 1024 files."""

_IDLE_MS, _HANG_UP_MS = 300_000, 100_000
"""After how long a connection without a call is ended by the end that is called, and by the one that calls. gRPC looks
now and then, so it may take twice as long: the caller is first all the same, and gRPC writes no line about it. The next
call connects anew, which takes a few milliseconds and two or three ways to and fro."""


def longest(codec: Codec) -> int:
    """Bytes of the longest message that a neighbour may send, of either method."""
    return max(codec.max_bytes, codec.max_roster_bytes)


def _common(codec: Codec) -> Options:
    return [
        ("grpc.max_send_message_length", longest(codec)),
        ("grpc.max_receive_message_length", longest(codec)),
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.max_metadata_size", 4096),
    ]


def server_options(codec: Codec) -> Options:
    """Of the end that is called."""
    return [
        *_common(codec),
        ("grpc.so_reuseport", 0),  # a port in use must be an error, not a shared port
        ("grpc.max_concurrent_streams", 32),  # of one connection
        # Without it gRPC may take in megabytes of a body before it asks us who is calling.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.max_allowed_incoming_connections", _CONNECTIONS),
        ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),  # a stranger that says nothing is not waited for
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        # A certificate is looked at when a connection is made; so no connection lasts much longer than an hour.
        ("grpc.max_connection_age_ms", 3_600_000),
        ("grpc.max_connection_idle_ms", _IDLE_MS),  # places are few, and pings alone must not keep one
        ("grpc.max_connection_age_grace_ms", 10_000),
    ]


def channel_options(codec: Codec, name: str, backoff_max: float) -> Options:
    """Of the end that calls; ``name``: what the other's certificate must say."""
    return [
        *_common(codec),
        ("grpc.ssl_target_name_override", name),  # insist on the neighbour's name, whatever its address is
        ("grpc.client_idle_timeout_ms", _HANG_UP_MS),
        ("grpc.enable_http_proxy", 0),
        ("grpc.enable_retries", 0),  # repeating is the protocol's decision
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.initial_reconnect_backoff_ms", 100),
        # What gRPC calls so is how long making a connection may take; after a failure it is tried again as above.
        ("grpc.min_reconnect_backoff_ms", _HANDSHAKE_MS),
        ("grpc.max_reconnect_backoff_ms", max(100, int(1000 * backoff_max))),
    ]


def hide_callers_that_hung_up() -> None:
    """Keep gRPC from logging a traceback when a caller is gone before its answer is: that is no fault of this peer.

    Whatever else gRPC has to say is logged as ever. May be called again.
    """
    logging.getLogger("grpc._cython.cygrpc").addFilter(_is_not_about_a_caller)


def _is_not_about_a_caller(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("ExecuteBatchError raised in core by servicer method")
