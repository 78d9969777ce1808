from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NOTHING: _ClassVar[Kind]
    REQ: _ClassVar[Kind]
    REP: _ClassVar[Kind]
    BUSY: _ClassVar[Kind]
    HELLO: _ClassVar[Kind]
    BYE: _ClassVar[Kind]
    NOT_YET: _ClassVar[Kind]
    CLOSED: _ClassVar[Kind]
NOTHING: Kind
REQ: Kind
REP: Kind
BUSY: Kind
HELLO: Kind
BYE: Kind
NOT_YET: Kind
CLOSED: Kind

class Message(_message.Message):
    __slots__ = ("kind", "src", "dst", "src_sid", "dst_sid", "blank", "s", "f", "r", "g", "xid", "x", "stop", "topic", "roster", "roster_digest", "terms", "closed", "absences", "present", "held", "holders")
    KIND_FIELD_NUMBER: _ClassVar[int]
    SRC_FIELD_NUMBER: _ClassVar[int]
    DST_FIELD_NUMBER: _ClassVar[int]
    SRC_SID_FIELD_NUMBER: _ClassVar[int]
    DST_SID_FIELD_NUMBER: _ClassVar[int]
    BLANK_FIELD_NUMBER: _ClassVar[int]
    S_FIELD_NUMBER: _ClassVar[int]
    F_FIELD_NUMBER: _ClassVar[int]
    R_FIELD_NUMBER: _ClassVar[int]
    G_FIELD_NUMBER: _ClassVar[int]
    XID_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    ROSTER_FIELD_NUMBER: _ClassVar[int]
    ROSTER_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    CLOSED_FIELD_NUMBER: _ClassVar[int]
    ABSENCES_FIELD_NUMBER: _ClassVar[int]
    PRESENT_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    HOLDERS_FIELD_NUMBER: _ClassVar[int]
    kind: Kind
    src: str
    dst: str
    src_sid: int
    dst_sid: int
    blank: bool
    s: int
    f: bytes
    r: int
    g: bytes
    xid: int
    x: bytes
    stop: Stop
    topic: bytes
    roster: int
    roster_digest: bytes
    terms: Terms
    closed: bytes
    absences: _containers.RepeatedCompositeFieldContainer[Absence]
    present: bytes
    held: bytes
    holders: bytes
    def __init__(self, kind: _Optional[_Union[Kind, str]] = ..., src: _Optional[str] = ..., dst: _Optional[str] = ..., src_sid: _Optional[int] = ..., dst_sid: _Optional[int] = ..., blank: bool = ..., s: _Optional[int] = ..., f: _Optional[bytes] = ..., r: _Optional[int] = ..., g: _Optional[bytes] = ..., xid: _Optional[int] = ..., x: _Optional[bytes] = ..., stop: _Optional[_Union[Stop, _Mapping[str, object]]] = ..., topic: _Optional[bytes] = ..., roster: _Optional[int] = ..., roster_digest: _Optional[bytes] = ..., terms: _Optional[_Union[Terms, _Mapping[str, object]]] = ..., closed: _Optional[bytes] = ..., absences: _Optional[_Iterable[_Union[Absence, _Mapping[str, object]]]] = ..., present: _Optional[bytes] = ..., held: _Optional[bytes] = ..., holders: _Optional[bytes] = ...) -> None: ...

class Absence(_message.Message):
    __slots__ = ("member", "witness", "contributed", "since", "age")
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    WITNESS_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTED_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    AGE_FIELD_NUMBER: _ClassVar[int]
    member: int
    witness: int
    contributed: bool
    since: int
    age: int
    def __init__(self, member: _Optional[int] = ..., witness: _Optional[int] = ..., contributed: bool = ..., since: _Optional[int] = ..., age: _Optional[int] = ...) -> None: ...

class Terms(_message.Message):
    __slots__ = ("wire", "unit", "dimension", "low", "high", "noise_std", "noise_decay", "seal_std", "tolerance", "diameter", "missing", "topic", "shape")
    WIRE_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    DIMENSION_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    NOISE_STD_FIELD_NUMBER: _ClassVar[int]
    NOISE_DECAY_FIELD_NUMBER: _ClassVar[int]
    SEAL_STD_FIELD_NUMBER: _ClassVar[int]
    TOLERANCE_FIELD_NUMBER: _ClassVar[int]
    DIAMETER_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    TOPIC_FIELD_NUMBER: _ClassVar[int]
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    wire: int
    unit: str
    dimension: int
    low: float
    high: float
    noise_std: float
    noise_decay: float
    seal_std: float
    tolerance: float
    diameter: int
    missing: str
    topic: str
    shape: str
    def __init__(self, wire: _Optional[int] = ..., unit: _Optional[str] = ..., dimension: _Optional[int] = ..., low: _Optional[float] = ..., high: _Optional[float] = ..., noise_std: _Optional[float] = ..., noise_decay: _Optional[float] = ..., seal_std: _Optional[float] = ..., tolerance: _Optional[float] = ..., diameter: _Optional[int] = ..., missing: _Optional[str] = ..., topic: _Optional[str] = ..., shape: _Optional[str] = ...) -> None: ...

class Stop(_message.Message):
    __slots__ = ("round", "low", "span", "previous_low", "previous_span", "contributors", "previous_contributors", "ready", "previous_ready", "version", "previous_version", "taken", "around", "previous_around", "reference", "owner", "centre")
    ROUND_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_LOW_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SPAN_FIELD_NUMBER: _ClassVar[int]
    CONTRIBUTORS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_CONTRIBUTORS_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_READY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_VERSION_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    AROUND_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_AROUND_FIELD_NUMBER: _ClassVar[int]
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    CENTRE_FIELD_NUMBER: _ClassVar[int]
    round: int
    low: bytes
    span: bytes
    previous_low: bytes
    previous_span: bytes
    contributors: bytes
    previous_contributors: bytes
    ready: bytes
    previous_ready: bytes
    version: int
    previous_version: int
    taken: int
    around: Around
    previous_around: Around
    reference: bytes
    owner: int
    centre: bytes
    def __init__(self, round: _Optional[int] = ..., low: _Optional[bytes] = ..., span: _Optional[bytes] = ..., previous_low: _Optional[bytes] = ..., previous_span: _Optional[bytes] = ..., contributors: _Optional[bytes] = ..., previous_contributors: _Optional[bytes] = ..., ready: _Optional[bytes] = ..., previous_ready: _Optional[bytes] = ..., version: _Optional[int] = ..., previous_version: _Optional[int] = ..., taken: _Optional[int] = ..., around: _Optional[_Union[Around, _Mapping[str, object]]] = ..., previous_around: _Optional[_Union[Around, _Mapping[str, object]]] = ..., reference: _Optional[bytes] = ..., owner: _Optional[int] = ..., centre: _Optional[bytes] = ...) -> None: ...

class Around(_message.Message):
    __slots__ = ("reference", "below", "above")
    REFERENCE_FIELD_NUMBER: _ClassVar[int]
    BELOW_FIELD_NUMBER: _ClassVar[int]
    ABOVE_FIELD_NUMBER: _ClassVar[int]
    reference: bytes
    below: int
    above: int
    def __init__(self, reference: _Optional[bytes] = ..., below: _Optional[int] = ..., above: _Optional[int] = ...) -> None: ...

class RosterRequest(_message.Message):
    __slots__ = ("number", "document")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    number: int
    document: bytes
    def __init__(self, number: _Optional[int] = ..., document: _Optional[bytes] = ...) -> None: ...

class RosterDocument(_message.Message):
    __slots__ = ("document",)
    DOCUMENT_FIELD_NUMBER: _ClassVar[int]
    document: bytes
    def __init__(self, document: _Optional[bytes] = ...) -> None: ...
