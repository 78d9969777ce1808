"""Messages as bytes and back, strictly: what does not decode to a well-formed message is refused whole.

The layout is ``sottovoce.proto``. Fields that a later version might add are ignored; everything known is checked:
kinds, names, counters, the length of every vector, the size of every number, bounds in pairs. Nothing is ever
unpickled. How numbers become bytes is in :mod:`~sottovoce.peer.protocol.packing`; of an interval its lower end and its
width travel.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.message import DecodeError

from ...errors import ProtocolViolation
from ..membership.config import PeerConfig
from ..protocol.absences import Absence
from ..protocol.messages import DEFAULT_TOPIC, Kind, Message, Stop, Told, Vector, check_message, within
from ..protocol.packing import WORD, bytes_for, pack, unpack
from ..protocol.terms import Terms
from ..protocol.units import LARGEST
from . import sottovoce_pb2 as pb
from .splitting import Split, split, varint

__all__ = ["Codec"]

_PLAIN = ("src", "dst", "src_sid", "dst_sid", "blank", "s", "r", "xid", "topic", "roster")
_plain_of: Callable[[Message | pb.Message], tuple[Any, ...]] = operator.attrgetter(*_PLAIN)
_VECTORS = ("f", "g", "x")
_INTERVALS = ("", "previous_")


def _tag(message: Any, name: str) -> bytes:
    """How the format announces that so many bytes follow for this field."""
    return varint(message.DESCRIPTOR.fields_by_name[name].number << 3 | 2)


_TAGS = [(name, _tag(pb.Message, name)) for name in _VECTORS]
_STOP_TAG, _CENTRE_TAG = _tag(pb.Message, "stop"), _tag(pb.Stop, "centre")
_INTERVAL_TAGS = [
    (f"{when}low", f"{when}high", _tag(pb.Stop, f"{when}low"), _tag(pb.Stop, f"{when}span")) for when in _INTERVALS
]
Packed = tuple[bytes | memoryview, bytes]
_LONG = 2**16
"""Bytes of a message from which on its vectors are worth taking out."""
_SETS = ("closed", "present", "held", "holders")
_STOP_PLAIN = ("round", "version", "previous_version", "taken", "reference", "owner")
_STOP_SETS = ("contributors", "previous_contributors", "ready", "previous_ready")
_KINDS = {int(kind): kind for kind in Kind}
_NO_KIND = f"kind must be one of {', '.join(kind.name for kind in Kind)}"


class Codec:
    """Encodes and decodes the messages of one network.

    Parameters
    ----------
    dimension
        Coordinates of every vector of the standing average.
    members
        How many members the network has: the most that a set of contributors can hold.
    longest
        The most coordinates that a vector of any topic has.
    roster
        The number of the roster that says so; ``None``: there is no other. Sets of a sender with another one may hold
        more members, and the protocol does not look at them.
    value_bytes, width_bytes
        How many bytes a number usually has on the way, and the width of an interval.
    """

    def __init__(
        self,
        dimension: int,
        members: int,
        longest: int = 0,
        *,
        roster: int | None = None,
        value_bytes: int = WORD,
        width_bytes: int = WORD,
    ) -> None:
        self.dimension = dimension
        self.members = members
        self._roster = roster
        self.longest = max(dimension, longest)
        self._value_bytes, self._width_bytes = value_bytes, width_bytes
        self._told: tuple[weakref.ref[Vector], weakref.ref[Vector], tuple[Packed, Packed]] | None = None
        self._told_centre: tuple[weakref.ref[Vector], Packed] | None = None

    @classmethod
    def from_config(cls, config: PeerConfig) -> Codec:
        """The codec of a configured peer."""
        return cls(
            config.dimension, config.members, config.longest_topic, roster=config.roster,
            value_bytes=bytes_for(config.limits.value), width_bytes=bytes_for(config.tolerance_units),
        )  # fmt: skip

    @property
    def max_bytes(self) -> int:
        """No valid message is longer: eight vectors, eight sets of members, their absences and the header."""
        return 8 * WORD * self.longest + 33 * self.members + 4096

    @property
    def max_roster_bytes(self) -> int:
        """No later roster that is handed over is longer: room for twice as many members as there are, and some."""
        return 2048 * (2 * self.members + 64)

    def encode(self, message: Message | None) -> bytes:
        """Bytes of a message; of ``None``, the empty answer."""
        if message is None:
            return b""
        fields = dict(zip(_PLAIN, _plain_of(message), strict=True))
        if message.terms is not None:
            fields["terms"] = pb.Terms(**message.terms._asdict())
        if message.stop is not None:
            fields["stop"] = _stop_to_wire(message.stop)
        for name in _SETS:
            members = getattr(message, name)
            if members:
                fields[name] = _set_to_bytes(members)
        if message.absences:
            fields["absences"] = [pb.Absence(**one._asdict()) for one in message.absences]
        wire = pb.Message(kind=int(message.kind), roster_digest=message.digest, **fields)  # type: ignore[arg-type]
        parts: list[bytes | memoryview] = [wire.SerializeToString()]
        for name, tag in _TAGS:  # a message is the sum of its parts, in any order
            vector = getattr(message, name)
            if vector is not None:
                parts += _field(tag, *pack(vector, self._value_bytes))
        if message.stop is not None:
            parts += self._intervals(message.stop)
        return b"".join(parts)

    def _intervals(self, stop: Stop) -> list[bytes | memoryview]:
        parts: list[bytes | memoryview] = []
        for low_name, high_name, low_tag, span_tag in _INTERVAL_TAGS:
            low, high = getattr(stop, low_name), getattr(stop, high_name)
            if low is not None:
                low_bytes, span_bytes = self._interval(low, high)
                parts += _field(low_tag, *low_bytes)
                parts += () if span_bytes is None else _field(span_tag, *span_bytes)
        if stop.centre is not None:
            parts += _field(_CENTRE_TAG, *self._centre(stop.centre))
        return [_STOP_TAG, varint(sum(map(_size, parts))), *parts] if parts else []

    def _interval(self, low: Vector, high: Vector | None) -> tuple[Packed, Packed | None]:
        """An interval as bytes. The one that was told last is kept: it is mostly told to several neighbours in turn."""
        if high is None:  # nobody says so but a liar: it is refused where it arrives
            return pack(low, self._value_bytes), None
        kept = self._told
        if kept is not None and kept[0]() is low and kept[1]() is high:
            return kept[2]
        packed = pack(low, self._value_bytes), pack(high - low, self._width_bytes)
        self._told = None if _is_view(packed[0]) else (weakref.ref(low), weakref.ref(high), packed)
        return packed

    def _centre(self, centre: Vector) -> Packed:
        """A reference as bytes; kept as an interval is."""
        kept = self._told_centre
        if kept is not None and kept[0]() is centre:
            return kept[1]
        packed = pack(centre, self._value_bytes)
        self._told_centre = None if _is_view(packed) else (weakref.ref(centre), packed)
        return packed

    def decode(self, content: bytes, *, src: str, dst: str) -> Message | None:
        """The message in `content`, or ``None`` for the empty answer.

        Parameters
        ----------
        content
            What arrived.
        src, dst
            The names in the certificates of the two ends; those in the message must be the same.

        Raises
        ------
        ProtocolViolation
            Naming the field and what is allowed, never a value.
        """
        if len(content) > self.max_bytes:
            raise ProtocolViolation(f"a message has at most {self.max_bytes} bytes, got {len(content)}")
        wire = pb.Message()
        parts = split(content) if len(content) >= _LONG else None
        try:
            wire.ParseFromString(content if parts is None else parts.rest)
        except DecodeError:
            raise ProtocolViolation("not a message: the bytes do not follow sottovoce.proto") from None
        if wire.kind == pb.NOTHING:
            if content:
                raise ProtocolViolation(_NO_KIND)
            return None
        message = self._message(wire, parts or _vectors_of(wire))
        if (message.src, message.dst) != (src, dst):
            raise ProtocolViolation("the names in the message contradict the certificates")
        standing = message.topic == DEFAULT_TOPIC
        members = message.checked or 8 * self.max_bytes
        check_message(message, dimension=self.dimension if standing else None, members=members, numbers=False)
        return message

    def _message(self, wire: pb.Message, parts: Split) -> Message:
        kind = _KINDS.get(wire.kind)
        if kind is None:
            raise ProtocolViolation(_NO_KIND)
        fields = dict(zip(_PLAIN, _plain_of(wire), strict=True))
        if wire.HasField("terms"):
            terms = fields["terms"] = Terms(*(getattr(wire.terms, name) for name in Terms._fields))
            if terms.dimension != self.dimension and wire.topic == DEFAULT_TOPIC:
                return Message(kind, **fields)  # R60: refused for its terms, which say more than a length
        fields |= {name: self._vector(name, content) for name, content in parts.outer.items()}
        if wire.HasField("stop"):
            fields["stop"] = self._stop(wire.stop, parts.inner)
        if wire.absences:
            fields["absences"] = tuple(_absence(one) for one in wire.absences)
        fields |= {name: _set_from_bytes(getattr(wire, name)) for name in _SETS}
        known = self._roster is None or wire.roster == self._roster
        checked = self.members if known else 0  # below, before anybody sees it
        return Message(kind, digest=wire.roster_digest, checked=checked, **fields)

    def _stop(self, wire: pb.Stop, vectors: Mapping[str, memoryview]) -> Stop:
        fields: dict[str, Any] = {name: _set_from_bytes(getattr(wire, name)) for name in _STOP_SETS}
        for when in _INTERVALS:
            low, span = vectors.get(f"{when}low"), vectors.get(f"{when}span")
            if low is not None:
                fields[f"{when}low"] = self._vector(f"{when}low", low)
            if low is not None and span is not None:
                width = self._vector(f"{when}span", span)
                fields[f"{when}high"] = self._high(fields[f"{when}low"], width, far=WORD in (low[-1], span[-1]))
            if wire.HasField(f"{when}around"):
                around = getattr(wire, f"{when}around")
                fields[f"{when}around"] = Told(around.reference, around.below, around.above)
        if "centre" in vectors:
            fields["centre"] = self._vector("centre", vectors["centre"])
        return Stop(**{name: getattr(wire, name) for name in _STOP_PLAIN}, **fields)

    def _vector(self, name: str, content: memoryview) -> Vector:
        wide = len(content) > 0 and content[-1] == WORD  # not copied below: so here, and nothing else with it
        vector = unpack(bytes(content) if wide else content) if len(content) <= WORD * self.longest + 1 else None
        if vector is None or len(vector) > self.longest:
            raise ProtocolViolation(
                f"{name} must have 1 to {WORD} bytes for each of at most {self.longest} coordinates, and a last byte "
                "that says how many"
            )
        if wide and not within(vector, LARGEST):  # with fewer bytes they are
            raise ProtocolViolation(f"{name} must be whole numbers within 2**60")
        return vector

    @staticmethod
    def _high(low: Vector, span: Vector, *, far: bool) -> Vector:
        """The upper end of an interval; ``far``: numbers have all eight bytes, and so their sum may be too large."""
        if low.shape != span.shape:
            raise ProtocolViolation(
                f"an interval must be as wide as it is long, got {low.size} and {span.size} numbers"
            )
        if span.size and int(span.min()) < 0:
            raise ProtocolViolation("the width of an interval must not be negative")
        high: Vector = low + span
        if far and span.size and int(high.max()) > LARGEST:
            raise ProtocolViolation("an interval must end within 2**60")
        return high


def _vectors_of(wire: pb.Message) -> Split:
    """As :func:`.splitting.split`, of a message that is parsed already."""
    outer = {name: memoryview(getattr(wire, name)) for name in _VECTORS if wire.HasField(name)}
    names = [*(f"{when}{end}" for when in _INTERVALS for end in ("low", "span")), "centre"]
    inner = {name: memoryview(getattr(wire.stop, name)) for name in names if wire.stop.HasField(name)}
    return Split(b"", outer, inner)


def _is_view(packed: Packed) -> bool:
    """Whether these are the bytes of the vector itself: numbers of eight bytes are not copied."""
    return packed[1] == bytes([WORD])


def _field(tag: bytes, *content: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    return tag, varint(sum(map(_size, content))), *content


def _size(content: bytes | memoryview) -> int:
    return content.nbytes if isinstance(content, memoryview) else len(content)


def _stop_to_wire(stop: Stop) -> pb.Stop:
    fields: dict[str, Any] = {name: _set_to_bytes(getattr(stop, name)) for name in _STOP_SETS}
    fields |= {name: getattr(stop, name) for name in _STOP_PLAIN}
    for when in _INTERVALS:
        around = getattr(stop, f"{when}around")
        if around is not None:
            fields[f"{when}around"] = pb.Around(**around._asdict())
    return pb.Stop(**fields)


def _absence(wire: pb.Absence) -> Absence:
    return Absence(wire.member, wire.witness, wire.contributed, wire.since, wire.age)


def _set_to_bytes(members: int) -> bytes:
    return members.to_bytes((members.bit_length() + 7) // 8, "little")


def _set_from_bytes(content: bytes) -> int:
    return int.from_bytes(content, "little")
