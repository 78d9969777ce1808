"""Long vectors taken out of a message before protobuf parses it, which would copy each of them twice.

A message is a sequence of fields, each with a tag and, for those of this kind, a length. What protobuf would do with a
field that comes twice is done here, too: of vectors the last counts, and parts of the same inner message are one
message. Whatever is not understood here is left to protobuf, as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import sottovoce_pb2 as pb

__all__ = ["Split", "split", "varint"]

_OUTER = {pb.Message.DESCRIPTOR.fields_by_name[name].number: name for name in ("f", "g", "x")}
_INNER = {
    pb.Stop.DESCRIPTOR.fields_by_name[name].number: name
    for name in ("low", "span", "previous_low", "previous_span", "centre")
}
_STOP = pb.Message.DESCRIPTOR.fields_by_name["stop"].number
_FIXED = {1: 8, 5: 4}
_VARINT, _BYTES = 0, 2
_LONGEST_VARINT = 10


class Split(NamedTuple):
    """The vectors of a message and of its stopping layer, by name, and the rest of its bytes."""

    rest: bytes
    outer: dict[str, memoryview]
    inner: dict[str, memoryview]


class _Field(NamedTuple):
    number: int
    kind: int
    start: int
    content: int
    end: int


def split(message: bytes) -> Split | None:
    r"""Take a message apart; ``None`` if it is one for protobuf alone.

    Examples
    --------
    >>> whole = pb.Message(kind=4, f=b"abc", stop=pb.Stop(round=3, low=b"de")).SerializeToString()
    >>> parts = split(whole)
    >>> bytes(parts.outer["f"]), bytes(parts.inner["low"]), pb.Message.FromString(parts.rest).stop.round
    (b'abc', b'de', 3)
    >>> split(b"\x0a\x7f") is None
    True
    """
    view = memoryview(message)
    outer: dict[str, memoryview] = {}
    inner: dict[str, memoryview] = {}
    rest: list[bytes | memoryview] = []
    try:
        for field in _fields(view):
            if field.kind == _BYTES and field.number in _OUTER:
                outer[_OUTER[field.number]] = view[field.content : field.end]
            elif field.kind == _BYTES and field.number == _STOP:
                left = _without_vectors(view[field.content : field.end], inner)
                rest += [bytes([_STOP << 3 | _BYTES]), varint(len(left)), left]
            else:
                rest.append(view[field.start : field.end])
    except ValueError:
        return None
    return Split(b"".join(rest), outer, inner)


def _without_vectors(view: memoryview, inner: dict[str, memoryview]) -> bytes:
    rest = []
    for field in _fields(view):
        if field.kind == _BYTES and field.number in _INNER:
            inner[_INNER[field.number]] = view[field.content : field.end]
        else:
            rest.append(view[field.start : field.end])
    return b"".join(rest)


def _fields(view: memoryview) -> Iterator[_Field]:
    place = 0
    while place < len(view):
        start = place
        tag, place = _number(view, place)
        kind = tag & 7
        if kind == _VARINT:
            content, (_, end) = place, _number(view, place)
        elif kind == _BYTES:
            size, content = _number(view, place)
            end = content + size
        elif kind in _FIXED:
            content, end = place, place + _FIXED[kind]
        else:
            raise ValueError
        if end > len(view):
            raise ValueError
        yield _Field(tag >> 3, kind, start, content, end)
        place = end


def _number(view: memoryview, place: int) -> tuple[int, int]:
    """A whole number as the format writes it, and where it ends."""
    number = 0
    for length, byte in enumerate(view[place : place + _LONGEST_VARINT]):
        number |= (byte & 127) << 7 * length
        if byte < 128:
            return number, place + length + 1
    raise ValueError


def varint(number: int) -> bytes:
    r"""A whole number as the format writes it: seven bits a byte, the last byte below 128.

    Examples
    --------
    >>> varint(5), varint(8_000_000)
    (b'\x05', b'\x80\xa4\xe8\x03')
    """
    found = bytearray()
    while number >= 128:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)
