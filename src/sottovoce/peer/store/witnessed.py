"""R56: what was shown of the private value, written down a second time outside the data folder, before it is shown.

A restored copy of the data folder, or an empty one, would roll the privacy account back: a peer would show again what
its budget no longer pays for. So each step of the account is first written to a small file beside the peer's key, which
no copy of the data folder brings back. It holds two numbers, one for each secret that topics name, and nothing private.
What cannot be known is assumed spent:

- the store knows less than the file: the account goes on from the file;
- the store is empty: likewise, for the value that the operator gives;
- the store is from before the last *unrelated* value: nothing is known of the older one's account, so all of it counts
  as spent.

So it is with the topics of each secret, together: what the file knows of and their records do not is carried by the one
that is open, or by the next. If none of their records is left, the disk was lost, and the file says so from then on.

Without a budget the account limits nothing, and the file follows it in steps of :data:`STEP` only. It says which of the
two it does, so that it is exact from the moment on in which there is a budget.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...errors import StoreError, UnusableStore
from ...foundation.files import write_atomically
from ...privacy.gaussian.account import Account
from ..protocol.state import PeerState
from .base import StateStore, Store, TopicRecord

__all__ = ["STEP", "Mark", "WitnessedStore"]

STEP = 256.0
"""Without a budget the file says the next power of this. Each write waits for the disk twice, and noise that halves at
every draw shows four times as much each time: so it is written at every fourth draw. What is lost if the store is lost,
too, is how well the account knows what was shown: within a factor of 16 of a deviation."""


@dataclass(frozen=True)
class Mark:
    """What the file says.

    Parameters
    ----------
    information
        At least as much as was ever shown of the present value; never below what the store holds.
    requests
        The peer's count of own requests when that value was given.
    exact
        Whether it is exactly what was shown: with a budget.
    """

    information: float
    requests: int
    exact: bool = True

    @classmethod
    def of(cls, account: Account, requests: int) -> Mark:
        """Exactly what the account says if there is a budget, otherwise the next power of :data:`STEP`."""
        return cls(_noted(account.information, account.budget), requests, exact=not math.isinf(account.budget))

    def exceeds(self, account: Account) -> bool:
        """Whether more was shown than an account knows of."""
        return self.information > (account.information if self.exact else _noted(account.information, math.inf))


def _noted(shown: float, budget: float) -> float:
    """What the file says when so much was shown."""
    if math.isinf(budget) and 0.0 < shown < 1e300:
        return float(STEP ** math.ceil(math.log(shown, STEP)))
    return shown


class WitnessedStore:
    """A store with a witness: a file that the account is written to ahead.

    Parameters
    ----------
    inner
        The store itself.
    path
        The witness, outside the folder of the store.
    exact
        Whether there is a budget: then the witness of topics is exact from now on.

    Raises
    ------
    UnusableStore
        The witness is damaged.
    """

    def __init__(self, inner: Store, path: Path, *, exact: bool = False) -> None:
        self._inner, self._path, self._exact = inner, path, exact
        self._last: Account | None = None
        self._secrets: dict[str, tuple[float, bool]] = {}
        self._gone: frozenset[str] = frozenset()
        """Secrets of whose topics no record was left: their disk was lost."""
        self._mark = self._read()
        self._records: dict[bytes, TopicRecord] = {}
        self._totals: dict[str, float] = {}
        self._missing: dict[str, float] = {}
        self._behind: frozenset[str] = frozenset()
        self.went_back = False
        """Whether :meth:`load` found a store that is older than its witness."""

    @property
    def shown(self) -> float:
        """What was shown of the private value, as far as the witness knows; also if the store is empty."""
        return 0.0 if self._mark is None else self._mark.information

    def load(self) -> PeerState | None:
        """The last state saved, with the account of the witness if that knows more."""
        state = self._inner.load()
        if state is None or self._mark is None:
            self._last = None if state is None else state.account
            return state
        account, mark = state.account, self._mark
        if state.requests < mark.requests:
            account = replace(account, information=max(account.information, account.budget, mark.information))
        elif mark.exceeds(account):
            account = replace(account, information=mark.information)
        self.went_back = account is not state.account
        self._last = account
        return replace(state, account=account)

    def save(self, state: PeerState) -> None:
        """Write the account to the witness, where it has grown, and then the state to the store."""
        unrelated = self._last is not None and state.account.information < self._last.information
        since = self._since(state, unrelated=unrelated)
        mark = Mark.of(state.account, since)
        now_exact = self._last is not None and not unrelated and mark != self._mark
        if mark.information > self.shown or now_exact:
            self._write(mark)
        self._inner.save(state if state.requests >= since else replace(state, requests=since))  # after a lost disk
        self._last = state.account
        if mark != self._mark:  # less was shown, of an unrelated value: not before that value is stored
            self._write(mark)

    def _since(self, state: PeerState, *, unrelated: bool) -> int:
        """The number of requests by which copies from before this value are known."""
        if self._mark is None:
            return state.requests
        return max(state.requests, self._mark.requests + 1) if unrelated else self._mark.requests

    # -- topics ---------------------------------------------------------------------------------

    def topics(self) -> Mapping[bytes, TopicRecord]:
        """What is kept about each topic; and what the witness knows beyond that is found out."""
        self._records = dict(self._inner.topics())
        known: dict[str, float] = {}
        for topic, record in self._records.items():
            known[record.secret] = known.get(record.secret, 0.0) + self._shown_in(topic, record)
        for secret, (noted, exact) in self._secrets.items():
            recorded = known.get(secret, 0.0)
            expected = recorded * (1.0 + 1e-12) if exact else _noted(recorded, math.inf)
            self._missing[secret] = noted - recorded if noted > expected else 0.0
        self._behind = frozenset(secret for secret, missing in self._missing.items() if missing > 0.0)
        gone = self._gone | (self._secrets.keys() - known.keys())
        if gone != self._gone:
            self._gone = gone
            self._write(self._mark or Mark(0.0, 0))
        self._totals = {
            secret: known.get(secret, 0.0) + self.unrecorded(secret) for secret in known.keys() | self._secrets
        }
        if self._exact:
            self._become_exact()
        return self._records

    def _become_exact(self) -> None:
        """What was noted in steps, while there was no budget, is now what is known."""
        rough = [secret for secret, (_, exact) in self._secrets.items() if not exact]
        if rough:
            self._secrets |= {secret: (self._totals[secret], True) for secret in rough}
            self._write(self._mark or Mark(0.0, 0))

    def _shown_in(self, topic: bytes, record: TopicRecord) -> float:
        state = None if record.ended else self._inner.topic(topic, record.dimension).load()
        return record.own(record.information if state is None else state.account.information)

    def unrecorded(self, secret: str) -> float:
        """What was shown of a secret beyond what the records of its topics say."""
        return self._missing.get(secret, 0.0)

    def lost(self, secret: str) -> bool:
        """Whether more was shown of a secret than the records of its topics said when they were read, or whether once
        none of them were left: that stays known.
        """
        return secret in self._behind or secret in self._gone

    def topic(self, topic: bytes, dimension: int) -> StateStore:
        """Where the state of one topic is kept."""
        return _WitnessedTopic(self, self._inner.topic(topic, dimension), self._records[topic])

    def note_topic(self, topic: bytes, record: TopicRecord) -> None:
        """Keep what is known about a topic."""
        self._inner.note_topic(topic, record)
        self._records[topic] = record

    def carry(self, secret: str) -> float:
        """What was unrecorded of a secret, from now on in the account of an open topic."""
        return self._missing.pop(secret, 0.0)

    def grown(self, secret: str, more: float, budget: float) -> None:
        """So much more is about to be shown of a secret: write that first."""
        total = self._totals[secret] = self._totals.get(secret, 0.0) + more
        noted, exact = _noted(total, budget), not math.isinf(budget)
        before, was_exact = self._secrets.get(secret, (0.0, True))
        if noted > before or (exact and not was_exact):
            self._secrets[secret] = noted, exact
            self._write(self._mark or Mark(0.0, 0))

    def close(self) -> None:
        """Close the store."""
        self._inner.close()

    def _read(self) -> Mark | None:
        if not self._path.exists():
            return None
        try:
            found = json.loads(self._path.read_text(encoding="ascii"))
            information = float(found["information"])
            exact = bool(found.get("exact", information != _noted(information, math.inf)))  # it did not always say so
            mark = Mark(information, int(found["requests"]), exact)
            self._secrets = {
                str(secret): (float(shown), bool(exact)) for secret, (shown, exact) in found.get("secrets", {}).items()
            }
            self._gone = frozenset(map(str, found.get("gone", ())))
        except OSError as error:
            raise StoreError(f"cannot read the privacy account {str(self._path)!r}: {error.strerror}") from None
        except (ValueError, TypeError, KeyError, AttributeError):
            mark = Mark(math.nan, 0)
        known = (mark.information, *(shown for shown, _ in self._secrets.values()))
        if not all(shown >= 0.0 for shown in known) or mark.requests < 0:
            raise UnusableStore(
                f"the privacy account {str(self._path)!r} is damaged; if you remove it, the account is only as good as "
                "the data folder, which must then not be an older copy"
            )
        return mark

    def _write(self, mark: Mark) -> None:
        text = json.dumps(asdict(mark) | {"secrets": self._secrets, "gone": sorted(self._gone)}) + "\n"
        try:
            write_atomically(self._path, lambda draft: draft.write_text(text, encoding="ascii"), mode=0o600)
        except OSError as error:
            raise StoreError(f"cannot write the privacy account {str(self._path)!r}: {error.strerror}") from None
        self._mark = mark


class _WitnessedTopic:
    """The state of one topic, whose account is written to the witness ahead, with all others of the same secret."""

    shown, went_back = 0.0, False

    def __init__(self, witness: WitnessedStore, inner: StateStore, record: TopicRecord) -> None:
        self._witness, self._inner, self._secret = witness, inner, record.secret
        self._counted = record.carried

    def load(self) -> PeerState | None:
        """The last state saved, with what is unrecorded of its secret."""
        state = self._inner.load()
        if state is None:
            return None
        shown = state.account.information + self._witness.carry(self._secret)
        self._counted = shown
        return replace(state, account=replace(state.account, information=shown))

    def save(self, state: PeerState) -> None:
        """Write what more is shown to the witness, and then the state to the store."""
        account = state.account
        if account.information > self._counted:
            self._witness.grown(self._secret, account.information - self._counted, account.budget)
            self._counted = account.information
        self._inner.save(state)

    def close(self) -> None:
        """The store itself is closed by whoever opened it."""
