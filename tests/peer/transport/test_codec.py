from __future__ import annotations

import itertools
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sottovoce.errors import ProtocolViolation
from sottovoce.peer.protocol.absences import LONGEST_AGE, Absence
from sottovoce.peer.protocol.messages import COUNTER_LIMIT, DEFAULT_TOPIC, Kind, Message, Stop, Told
from sottovoce.peer.protocol.terms import Terms
from sottovoce.peer.transport import sottovoce_pb2 as pb
from sottovoce.peer.transport.codec import Codec

DIMENSION = 2
MEMBERS = 20
CODEC = Codec(DIMENSION, MEMBERS)
CODECS = [CODEC, *(Codec(DIMENSION, MEMBERS, value_bytes=wide, width_bytes=9 - wide) for wide in (1, 3, 4, 5))]
counters = st.integers(0, COUNTER_LIMIT - 1)
sizes = st.sampled_from([2**7, 2**15, 2**23, 2**31, 2**39, 2**60])
vectors = sizes.flatmap(lambda most: hnp.arrays(np.int64, DIMENSION, elements=st.integers(-most, most)))
sets = st.integers(0, 2**MEMBERS - 1)
ages = st.integers(0, LONGEST_AGE - 1)
places = st.integers(0, MEMBERS - 1)
absences = st.builds(Absence, places, places, st.booleans(), ages, ages).filter(lambda one: one.member != one.witness)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[np.ndarray | None, np.ndarray | None]:
    if draw(st.booleans()):
        return None, None
    one, other = draw(vectors), draw(vectors)
    return np.minimum(one, other), np.maximum(one, other)


digests = st.binary(min_size=32, max_size=32)
far = st.integers(0, 2**60)
arounds = st.none() | st.builds(Told, digests, far, far)


@st.composite
def stops(draw: st.DrawFn) -> Stop:
    now, last = draw(intervals()), draw(intervals())
    sets_and_numbers = *(draw(sets) for _ in range(4)), *(draw(counters) for _ in range(3))
    around, before = (draw(arounds) if low is None else None for low, _ in (now, last))
    reference, centre = draw(st.just(b"") | digests), draw(st.none() | vectors)
    return Stop(draw(counters), *now, *last, *sets_and_numbers, around, before, reference, draw(places), centre)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    kind = draw(st.sampled_from(Kind))
    stop = draw(st.none() | stops())
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    terms = Terms(
        2, draw(st.text(max_size=64)), DIMENSION, *(draw(numbers) for _ in range(6)), draw(st.integers(0, 99)),
        draw(st.sampled_from(["", "wait", "drop"])), draw(st.sampled_from(["", "2026-11/ε", "x" * 256])),
    )  # fmt: skip
    topic = draw(st.binary(min_size=16, max_size=16))
    if kind is Kind.CLOSED and topic == DEFAULT_TOPIC:
        topic = b"t" * 16
    return Message(
        kind,
        "a",
        "b",
        draw(counters),
        draw(counters),
        blank=draw(st.booleans()),
        s=draw(counters),
        f=draw(st.none() | vectors),
        r=draw(counters),
        g=draw(st.none() | vectors),
        xid=draw(counters),
        x=draw(vectors) if kind is Kind.REQ else None,
        stop=stop,
        topic=topic,
        closed=0 if topic == DEFAULT_TOPIC else draw(sets),
        present=draw(sets),
        held=draw(sets),
        holders=draw(sets),
        absences=draw(st.lists(absences, max_size=MEMBERS, unique_by=lambda one: one.member).map(tuple)),
        roster=draw(counters),
        digest=draw(st.sampled_from([b"", b"d" * 32])),
        terms=terms if kind is Kind.HELLO and draw(st.booleans()) else None,
    )


def decode(content: bytes) -> Message | None:
    """What b makes of bytes from a."""
    return CODEC.decode(content, src="a", dst="b")


@given(messages(), st.sampled_from(CODECS))
def test_decoding_undoes_encoding(message: Message, codec: Codec) -> None:
    """Every valid message survives bit for bit and fits the size limit, however many bytes numbers usually have."""
    content = codec.encode(message)
    assert len(content) <= CODEC.max_bytes
    decoded = decode(content)
    assert decoded == message
    assert decoded is not None
    assert decoded.checked in (0, MEMBERS)


@settings(max_examples=300)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_refused_or_valid(content: bytes) -> None:
    """Bytes either make a message that encodes again, or a ProtocolViolation; nothing else can happen."""
    try:
        message = decode(content)
    except ProtocolViolation:
        return
    assert decode(CODEC.encode(message)) == message


@settings(max_examples=300)
@given(messages(), st.data())
def test_mutated_messages_are_refused_or_valid(message: Message, data: st.DataObject) -> None:
    """Flipping, cutting or inserting bytes never gives anything but a valid message or a refusal."""
    content = bytearray(CODEC.encode(message))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, max(0, len(content) - 1)))
        match data.draw(st.sampled_from(["flip", "cut", "insert"])):
            case "flip" if content:
                content[position] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del content[position:]
            case _:
                content[position:position] = data.draw(st.binary(max_size=8))
    try:
        decoded = decode(bytes(content))
    except ProtocolViolation:
        return
    assert decoded is None or all(
        vector is None or (abs(vector) <= 2**60).all() for vector in (decoded.f, decoded.g, decoded.x)
    )


def wire(**fields: object) -> bytes:
    return pb.Message(
        **({"kind": 4, "src": "a", "dst": "b", "src_sid": 1, "topic": bytes(16)} | fields)
    ).SerializeToString()  # type: ignore[arg-type]


def packed(number: int) -> bytes:
    return np.full(DIMENSION, number).tobytes() + b"\x08"


@pytest.mark.parametrize(
    "content",
    [
        wire(kind=0),
        wire(kind=9),
        wire(kind=8),
        wire(kind=7),
        wire(closed=b"\1"),
        wire(kind=7, topic=b"x" * 16, closed=b"\0\0\x80"),
        wire(stop=pb.Stop(ready=b"\0\0\x80")),
        wire(topic=b""),
        wire(topic=b"x" * 17),
        wire(roster=2**62),
        wire(roster_digest=b"x"),
        wire(kind=5, terms=pb.Terms(dimension=DIMENSION)),
        wire(terms=pb.Terms(dimension=DIMENSION, unit="1" * 65)),
        wire(terms=pb.Terms(dimension=DIMENSION, seal_std=float("nan"))),
        wire(terms=pb.Terms(dimension=DIMENSION, topic="x" * 257)),
        wire(terms=pb.Terms(dimension=DIMENSION, topic="a\nb")),
        wire(stop=pb.Stop(contributors=b"\0\0\x80")),
        wire(src=""),
        wire(src="c"),
        wire(src="A"),
        wire(dst="a"),
        wire(dst="b.net"),
        wire(dst="b\n"),
        wire(src_sid=2**62),
        wire(s=2**63),
        wire(f=b""),
        wire(f=b"\x08"),
        wire(f=bytes(16)),
        wire(f=bytes(15) + b"\x08"),
        wire(f=bytes(18) + b"\x09"),
        wire(f=packed(2**60 + 1)),
        wire(f=packed(-(2**63))),
        wire(g=packed(-(2**60) - 1)),
        wire(x=packed(0)),
        wire(kind=1),
        wire(kind=1, x=packed(2**61)),
        wire(stop=pb.Stop(low=packed(0))),
        wire(stop=pb.Stop(low=packed(0), span=packed(-1))),
        wire(stop=pb.Stop(low=packed(0), span=packed(2**62))),
        wire(stop=pb.Stop(low=b"\1\1\1", span=packed(2**60))),
        wire(stop=pb.Stop(low=b"\1\1\1", span=b"\xff\xff\1")),
        wire(stop=pb.Stop(low=packed(2**60), span=packed(2**63 - 1))),
        wire(stop=pb.Stop(low=packed(0), span=bytes(8) + b"\x08")),
        wire(stop=pb.Stop(round=2**62)),
        wire(stop=pb.Stop(version=2**62)),
        wire(stop=pb.Stop(previous_version=2**62)),
        wire(stop=pb.Stop(taken=2**62)),
        wire(stop=pb.Stop(reference=b"31 bytes are one too few for it")),
        wire(stop=pb.Stop(owner=MEMBERS)),
        wire(stop=pb.Stop(centre=packed(0) + b"\1")),
        wire(stop=pb.Stop(centre=packed(2**61))),
        wire(stop=pb.Stop(around=pb.Around(below=1, above=1))),
        wire(stop=pb.Stop(around=pb.Around(reference=bytes(32), below=2**60 + 1))),
        wire(stop=pb.Stop(previous_around=pb.Around(reference=bytes(32), above=2**60 + 1))),
        wire(stop=pb.Stop(low=packed(0), span=packed(0), around=pb.Around(reference=bytes(32)))),
        b"\0" * 5000,
    ],
)
def test_each_field_is_checked(content: bytes) -> None:
    """One defect anywhere refuses the whole message, in one sentence without numbers from it."""
    with pytest.raises(ProtocolViolation) as caught:
        decode(content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wide", range(1, 9))
def test_ordinary_messages_carry_one_vector(wide: int) -> None:
    """A request costs the value and a reply the register: the usual bytes a coordinate, and under 150 of header."""
    big = Codec(10_000, MEMBERS, value_bytes=wide)
    x = np.ones(10_000, dtype=np.int64)
    for message in (
        Message(Kind.REQ, "alice", "bob", 2**50, 2**50, blank=False, s=10**6, r=10**6, xid=10**6, x=x),
        Message(Kind.REP, "alice", "bob", 2**50, 2**50, blank=False, s=10**6, f=x, r=10**6, xid=10**6),
    ):
        assert 10_000 * wide < len(big.encode(message)) < 10_000 * wide + 150


@pytest.mark.parametrize("wide", [1, 3, 4])
def test_the_length_of_a_message_does_not_tell_how_large_its_numbers_are(wide: int) -> None:
    """Any numbers within the limits of the network make messages of the same length; so does any narrow interval."""
    codec = Codec(DIMENSION, MEMBERS, value_bytes=wide, width_bytes=1)
    most, lengths = 2 ** (8 * wide - 1) - 1, set()
    for number in (0, 1, -1, most, -most):
        vector = np.array([number, 0])
        stop = Stop(1, vector, vector + abs(number) % 100, version=1)
        lengths.add(len(codec.encode(Message(Kind.REQ, "a", "b", 1, 1, blank=False, xid=1, x=vector, stop=stop))))
    assert len(lengths) == 1


@pytest.mark.parametrize("field", ["around", "previous_around"])
def test_the_length_of_a_message_does_not_tell_how_far_an_interval_goes_from_its_reference(field: str) -> None:
    """Not even whether it goes anywhere (R97)."""
    codec, lengths = Codec(DIMENSION, MEMBERS), set()
    for below, above in itertools.product((0, 1, 127, 128, 2**60), repeat=2):
        stop = Stop(1, version=1)._replace(**{field: Told(bytes(32), below, above)})
        content = codec.encode(Message(Kind.HELLO, "a", "b", 1, 1, blank=True, stop=stop))
        lengths.add(len(content))
        assert codec.decode(content, src="a", dst="b") == Message(Kind.HELLO, "a", "b", 1, 1, blank=True, stop=stop)
    assert len(lengths) == 1


def test_unknown_fields_are_ignored() -> None:
    """A later version may add fields; this one reads past them."""
    assert decode(wire() + b"\xf8\x06\x01") == decode(wire())


def outcome(content: bytes) -> Message | str | None:
    """What becomes of bytes: a message, none, or the reason of a refusal."""
    try:
        return decode(content)
    except ProtocolViolation as refused:
        return str(refused)


@settings(max_examples=120)
@given(messages(), messages(), st.sampled_from(CODECS), st.data())
def test_taking_vectors_out_changes_nothing(first: Message, second: Message, codec: Codec, data: st.DataObject) -> None:
    """Whole, mutated and joined messages end in the same way with protobuf alone, which copies vectors, and without."""
    content = bytearray(codec.encode(first) + (codec.encode(second) if data.draw(st.booleans()) else b""))
    for _ in range(data.draw(st.integers(0, 3))):
        position = data.draw(st.integers(0, max(0, len(content) - 1)))
        content[position : position + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))
    expected = outcome(bytes(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.peer.transport.codec._LONG", 0)
        assert outcome(bytes(content)) == expected


def test_a_vector_is_a_view_of_what_arrived() -> None:
    """What is decoded is one block that nobody can write to, aligned, with nothing else of the message in it."""
    big = Codec(1_000_000, MEMBERS)
    x = np.arange(1_000_000)
    content = big.encode(Message(Kind.REQ, "a", "b", 1, 1, blank=False, xid=1, x=x))
    assert len(content) < 8_000_200
    decoded = big.decode(content, src="a", dst="b")
    assert decoded is not None
    assert decoded.x is not None
    assert not decoded.x.flags.writeable
    assert decoded.x.flags.aligned
    assert decoded.x.dtype == np.int64
    assert isinstance(decoded.x.base, bytes)
    assert len(decoded.x.base) == 8_000_001
    np.testing.assert_array_equal(decoded.x, x)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(vectors, vectors), min_size=1, max_size=4), st.lists(st.integers(0, 3), max_size=12))
def test_what_was_packed_before_is_what_is_packed_now(
    pairs: list[tuple[np.ndarray, np.ndarray]], order: list[int]
) -> None:
    """One codec that tells the same intervals again, in any order, gives the bytes of one that has told nothing yet."""
    stops = [Stop(1, np.minimum(*pair), np.maximum(*pair), version=1, centre=pair[0]) for pair in pairs]
    used = Codec(DIMENSION, MEMBERS, value_bytes=4, width_bytes=2)
    for number in order:
        stop = stops[number % len(stops)]
        message = Message(Kind.HELLO, "a", "b", 1, 1, blank=True, stop=stop)
        assert used.encode(message) == Codec(DIMENSION, MEMBERS, value_bytes=4, width_bytes=2).encode(message)


@pytest.mark.parametrize("wide", [4, 8])
def test_an_interval_of_a_topic_that_is_over_is_not_kept(wide: int) -> None:
    """The codec remembers the bytes that it sent last, and keeps no vector of a protocol alive for that."""
    codec = Codec(DIMENSION, MEMBERS, value_bytes=wide, width_bytes=2)
    low, high = np.array([1, 2]), np.array([3, 4])
    codec.encode(Message(Kind.HELLO, "a", "b", 1, 1, blank=True, stop=Stop(1, low, high, version=1, centre=low)))
    gone = weakref.ref(low)
    del low
    assert gone() is None
    other = np.array([5, 6])
    told = codec.encode(Message(Kind.HELLO, "a", "b", 1, 1, blank=True, stop=Stop(1, other, high + 9, version=1)))
    heard = codec.decode(told, src="a", dst="b")
    assert heard is not None
    assert heard.stop is not None
    assert heard.stop.low.tolist() == [5, 6]
