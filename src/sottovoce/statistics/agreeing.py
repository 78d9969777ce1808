"""All parties must have the same study. If not, all of them are told which keys differ, and what each party has there.

First the digests are summed up. If they are not all equal, everybody says its digest in a place of its own, and of each
version one party sends the study itself. Studies are no secret; nothing of anybody's rows has been used by then.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from ..errors import InvalidFile, InvalidParameter
from .study import Study
from .sums import Sums

__all__ = ["agree", "differences"]

PIECE = 2**16
PIECES = 4
"""Sixteen bits each: what is compared of a digest."""
SIZE = 2**20
"""The largest description that is read, packed and unpacked, in bytes."""
SHOWN = 5
"""Differences that are named; the others are counted."""
LONGEST = 80
"""Characters of a setting that are shown."""


async def agree(study: Study, sums: Sums, topic: str) -> None:
    """See that all have the same study.

    Raises
    ------
    InvalidFile
        They have not; it says what differs.
    """
    own = _pieces(study.digest)
    squares = [piece * piece for piece in own]
    found = await sums.of(f"{topic}/agreement", [*own, *squares], [PIECE] * PIECES + [PIECE**2] * PIECES)
    count = len(sums.contributors)
    if found == [count * number for number in (*own, *squares)]:
        return
    versions = await _versions(study, sums, topic)
    if len(versions) == 1:
        raise InvalidFile(f"topic {topic!r} was used for another study before: take another name")
    who = "; ".join(f"{', '.join(names)} {digest}" for digest, names in versions.items())
    try:
        studies = await _studies(study, sums, topic, versions)
    except InvalidParameter:  # too long for this network
        raise InvalidFile(f"the parties have different studies, with these digests: {who}") from None
    raise InvalidFile(f"the parties have different studies: {differences(studies)}")


def differences(studies: Mapping[tuple[str, ...], Any]) -> str:
    """Which keys differ between studies, by the parties that have them.

    Examples
    --------
    >>> differences({("ada", "bob"): {"columns": {"age": {"high": 80}}}, ("cyd",): {"columns": {"age": {"high": 81}}}})
    'columns.age.high is 80 at ada, bob and 81 at cyd'
    """
    flat = {names: dict(_leaves(study)) for names, study in studies.items()}
    keys = sorted({key for leaves in flat.values() for key in leaves})
    differ = [key for key in keys if len({leaves.get(key) for leaves in flat.values()}) > 1]
    more = f"; and {len(differ) - SHOWN} more" if len(differ) > SHOWN else ""
    return "; ".join(_sentence(key, flat) for key in differ[:SHOWN]) + more


def _sentence(key: str, flat: Mapping[tuple[str, ...], Mapping[str, str]]) -> str:
    said: dict[str, list[str]] = {}
    for names, leaves in flat.items():
        said.setdefault(leaves.get(key, "not given"), []).extend(names)
    alike = next((k for k, letters in enumerate(zip(*said, strict=False)) if len(set(letters)) > 1), 0)
    return f"{key} is " + " and ".join(f"{_cut(what, alike)} at {', '.join(names)}" for what, names in said.items())


def _cut(what: str, alike: int) -> str:
    """A part of a long text: where it differs from others, after so many characters that are alike."""
    begin = 0 if len(what) <= LONGEST else max(0, min(alike - LONGEST // 4, len(what) - LONGEST))
    end = begin + LONGEST
    return ("…" if begin else "") + what[begin:end] + ("…" if end < len(what) else "")


def _leaves(study: Any, path: str = "") -> list[tuple[str, str]]:
    if not isinstance(study, Mapping):
        return [(path or "the study", json.dumps(study, ensure_ascii=False))]
    return [leaf for key, each in study.items() for leaf in _leaves(each, f"{path}.{key}" if path else str(key))]


async def _versions(study: Study, sums: Sums, topic: str) -> dict[str, tuple[str, ...]]:
    """The digests that there are, and who has which."""
    place, count = sums.contributors.index(sums.party.config.name), len(sums.contributors)
    own = [0] * (PIECES * count)
    own[PIECES * place : PIECES * (place + 1)] = _pieces(study.digest)
    found = await sums.of(f"{topic}/digests", own, [PIECE] * len(own))
    versions: dict[str, tuple[str, ...]] = {}
    for k, name in enumerate(sums.contributors):
        digest = "".join(f"{piece % PIECE:04x}" for piece in reversed(found[PIECES * k : PIECES * (k + 1)]))
        versions[digest] = (*versions.get(digest, ()), name)
    return versions


async def _studies(
    study: Study, sums: Sums, topic: str, versions: Mapping[str, tuple[str, ...]]
) -> dict[tuple[str, ...], Any]:
    """The study of each version, as the first of those that have it tells it."""
    packed, me = zlib.compress(study.description.encode("utf-8"), 9), sums.party.config.name
    speaks = [names[0] == me for names in versions.values()]
    sizes = await sums.of(f"{topic}/sizes", [len(packed) * speaking for speaking in speaks], [SIZE] * len(speaks))
    own = [int.from_bytes(packed, "big") * speaking for speaking in speaks]
    told = await sums.of(f"{topic}/studies", own, [256 ** min(size, SIZE) - 1 for size in sizes])
    pairs = zip(versions.values(), told, sizes, strict=True)
    return {names: _unpacked(number, size) for names, number, size in pairs}


def _unpacked(number: int, size: int) -> Any:
    """A study from what a party has told; a text that says so if it makes no sense."""
    try:
        packed = number.to_bytes(size, "big")
        return json.loads(zlib.decompressobj().decompress(packed, SIZE))
    except (OverflowError, ValueError, zlib.error):
        return "unreadable"


def _pieces(digest: str) -> list[int]:
    number = int(digest[: 4 * PIECES], 16)
    return [number // PIECE**k % PIECE for k in range(PIECES)]
