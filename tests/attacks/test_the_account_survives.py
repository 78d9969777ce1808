"""Promise: a budget is spent once. No restored copy of the data folder and no lost disk gives any of it back.

The attempts: a copy of the data folder is put back after the peer has gone on, the folder is wiped and the peer started
with its value as the documentation says, the copy is from before an unrelated value, a crash falls between the two
files.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import TopicUnfinished, UnusableStore
from sottovoce.peer.protocol import PeerState
from sottovoce.peer.protocol.noise import account_for
from sottovoce.peer.store import Identity, MemoryStore
from sottovoce.peer.store.base import TopicRecord
from sottovoce.peer.store.sqlite import SqliteStore
from sottovoce.peer.store.witnessed import WitnessedStore
from sottovoce.testing import SeededPeer, StoreConformance, VirtualClock, run_virtually
from sottovoce.testing.memory_transport import MemoryTransport

from ..peer.protocol.pair import peer, vector
from ..peer.runtime.town import Town

SMALLEST = 0.2
TOPIC = b"t" * 16


class Life:
    """p0 with a data folder and a witness, beside p1 that stays up."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.town = Town(2, diameter=1, **{"smallest_std": SMALLEST, "noise_decay": 0.9, **settings})
        self.lines: list[Any] = []

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def p0(self, seed: int, value: Any = None, *, standing: bool = True) -> SeededPeer:
        config = self.town.config("p0", ["p1"])
        store = WitnessedStore(
            SqliteStore(self.data, Identity("town", "p0", 1, config.unit)),
            self.folder / "peer.account",
            exact=config.smallest_std is not None,
        )
        self.town.peer("p0")  # makes the observer
        observer = self.town.observers["p0"]
        self.lines = observer.lines
        return SeededPeer(
            config, value, standing=standing, seed=seed, store=store,
            transport=MemoryTransport("p0", self.town.medium, {"p1"}), clock=VirtualClock(seed), observer=observer,
        )  # fmt: skip

    async def live(self, seconds: float, seed: int, value: Any = None) -> dict[str, Any]:
        async with self.p0(seed, value) as peer:
            at_first = peer.status().account
            await asyncio.sleep(seconds)
            return peer.status().to_dict() | {"at_first": at_first}


def spent_and(folder: Path, then: Any) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    """p0 begins, a copy is made, it goes on until its budget is spent; then something happens, and it starts again."""

    async def story() -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
        life = Life(folder)
        async with life.town.peer("p1", config=life.town.config("p1", ["p0"])):
            early = await life.live(1.0, 1, value=5.0)
            assert not early["budget_spent"]
            shutil.copytree(life.data, folder / "copy")
            spent = await life.live(30.0, 2)
            assert spent["budget_spent"]
            again = await life.live(30.0, 3, value=then(life))
            return spent, again, life.lines

    return run_virtually(story())


def put_back(life: Life) -> None:
    shutil.rmtree(life.data)
    shutil.copytree(life.folder / "copy", life.data)


def wipe(life: Life) -> float:
    shutil.rmtree(life.data)
    return 5.0


def test_a_copy_that_is_put_back_brings_no_budget_back(tmp_path: Path) -> None:
    """The account goes on from the witness, not one draw more is shown, and the log has the alarm (R56)."""
    spent, again, lines = spent_and(tmp_path, put_back)
    assert again["at_first"] == again["account"] == pytest.approx(spent["account"], rel=1e-9)
    assert again["known_to"] >= SMALLEST * (1 - 1e-9)
    assert again["budget_spent"]
    assert any("store went back" in str(line) for line in lines)


def test_the_cure_for_it_does_not_forget_the_account(tmp_path: Path) -> None:
    """An empty data folder and the value again: what was shown stays shown, and the budget holds (R56)."""
    spent, again, _ = spent_and(tmp_path, wipe)
    assert again["at_first"] >= spent["account"] * (1 - 1e-9)
    assert again["known_to"] >= SMALLEST * (1 - 1e-9)


# -- topics -----------------------------------------------------------------------------------------


def topics_and(folder: Path, then: Any) -> tuple[float, float, float, list[Any]]:
    """p0 shows a secret in one topic, a copy is made, in a second one; then something happens, and in a third.

    The budget pays for two topics and a part of the third.

    Returns what was shown before and after that, and at the end; and the log.
    """

    async def average(life: Life, other: Any, topic: str, seed: int) -> tuple[float, float]:
        async with life.p0(seed, standing=False) as peer:
            before = peer._known_topics._records.shown("pay")
            calls = (one.average(5.0, topic=topic, secret="pay", timeout=200.0) for one in (peer, other))
            with contextlib.suppress(TopicUnfinished):
                await asyncio.gather(*calls)
                await asyncio.sleep(60.0)  # until the topic is closed
            return before, peer.accounts()["pay"].information

    async def story() -> tuple[float, float, float, list[Any]]:
        life = Life(folder, members=2, smallest_std=0.05, tolerance=2.0)
        config = life.town.config("p1", ["p0"])
        async with life.town.peer("p1", config=replace(config, smallest_std=None), value=1.0) as other:
            await average(life, other, "first", 1)
            shutil.copytree(life.data, folder / "copy")
            _, spent = await average(life, other, "second", 2)
            then(life)
            again, end = await average(life, other, "third", 3)
            return spent, again, end, life.lines

    return run_virtually(story())


@pytest.mark.parametrize("then", [put_back, wipe])
def test_topics_do_not_get_their_budget_back(tmp_path: Path, then: Any) -> None:
    """What all topics of a secret have shown stays counted, and the budget holds over all of them (R56, R86)."""
    spent, again, end, lines = topics_and(tmp_path, then)
    assert again == pytest.approx(spent, rel=1e-9)
    assert 0.6 * 0.05**-2 < spent < end <= 0.05**-2 * (1 + 1e-9)
    assert any("store went back" in str(line) for line in lines) == (then is put_back)


def test_an_open_topic_carries_what_its_copy_does_not_know_of(tmp_path: Path) -> None:
    """A copy made while a topic was open: when it goes on, its account is that of the witness."""
    path, inner, record = tmp_path / "peer.account", MemoryStore(), TopicRecord("t", 1, "wait", "pay")
    store = WitnessedStore(inner, path)
    store.topics()
    store.note_topic(TOPIC, record)
    kept = store.topic(TOPIC, 1)
    kept.save(state(1, 1))
    early = inner.copy()
    kept.save(state(3, 3))
    for content, lost in ((inner, False), (early, True)):
        again = WitnessedStore(content.copy(), path)
        again.topics()
        assert (again.unrecorded("pay") > 0.0) is lost
        loaded = again.topic(TOPIC, 1).load()
        assert loaded is not None
        assert loaded.account.information == pytest.approx(state(3, 3).account.information)
        assert again.unrecorded("pay") == 0.0


def test_the_witness_of_topics_is_written_first(tmp_path: Path) -> None:
    """A crash between the two files counts the draw as shown, also in a topic."""
    path = tmp_path / "peer.account"
    store = WitnessedStore(MemoryStore(), path)
    store.topics()
    store.note_topic(TOPIC, TopicRecord("t", 1, "wait", "pay"))
    kept = store.topic(TOPIC, 1)
    kept._inner = Crashing()  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        kept.save(state(2, 2))
    after = WitnessedStore(MemoryStore(), path)
    after.topics()
    assert after.unrecorded("pay") == state(2, 2).account.information


def test_without_a_budget_a_normal_restart_finds_nothing_unrecorded(tmp_path: Path) -> None:
    """The witness follows topics in steps of 256 then, and is not mistaken for what was shown."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    store = WitnessedStore(inner, path)
    store.topics()
    store.note_topic(TOPIC, TopicRecord("t", 1, "wait", "pay"))
    kept, writes = store.topic(TOPIC, 1), set()
    for shown in range(1, 40):
        kept.save(state(shown, shown, None))
        writes.add(path.read_text())
    assert len(writes) < 15
    again = WitnessedStore(inner, path)
    again.topics()
    assert again.unrecorded("pay") == 0.0


@pytest.mark.parametrize("disk_is_lost", [False, True])
def test_a_lost_disk_stays_known_and_an_interrupted_save_does_not(tmp_path: Path, disk_is_lost: bool) -> None:
    """A crash between the two files looks like a loss until the topic carries it; an empty store is one for good."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    store = WitnessedStore(inner, path)
    store.topics()
    assert not store.lost("pay")
    store.note_topic(TOPIC, TopicRecord("t", 1, "wait", "pay"))
    kept = store.topic(TOPIC, 1)
    kept.save(state(1, 1))
    kept._inner = Crashing()  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        kept.save(state(3, 3))
    then = MemoryStore() if disk_is_lost else inner
    found = []
    for _ in range(3):
        again = WitnessedStore(then, path)
        again.topics()
        again.note_topic(TOPIC, TopicRecord("t", 1, "wait", "pay"))
        kept = again.topic(TOPIC, 1)
        kept.load()
        kept.save(state(3, 3))
        found.append(again.lost("pay"))
    assert found == [True, disk_is_lost, disk_is_lost]
    assert not again.lost("another")


def test_topics_that_were_open_before_there_was_a_budget_share_it() -> None:
    """Three topics of one secret go on with a budget: together they show no more than it pays for (R86)."""
    names, smallest = ("p0", "p1", "p2"), 0.05

    async def contribute(peers: list[SeededPeer], seconds: float) -> None:
        calls = (one.average(1.0, topic=topic, secret="pay", timeout=seconds) for one in peers for topic in "xyz")
        await asyncio.gather(*calls, return_exceptions=True)

    async def story() -> tuple[float, float]:
        town = Town(3, members=3, diameter=1)
        configs = {name: town.config(name) for name in names}
        others = [town.peer(name, config=configs[name]) for name in names[1:]]
        async with others[0], others[1]:
            async with town.peer("p0", config=configs["p0"]) as peer:
                await contribute([peer, others[0]], 5.0)
                before = peer.accounts()["pay"].information
            async with town.peer("p0", config=replace(configs["p0"], smallest_std=smallest)) as peer:
                await contribute([peer, *others], 60.0)
                return before, peer.accounts()["pay"].information

    before, after = run_virtually(story())
    assert 0.0 < before < 0.5 * smallest**-2 < after <= smallest**-2 * (1 + 1e-9)


def test_a_secret_of_which_all_is_known_can_be_averaged_again(tmp_path: Path) -> None:
    """Noise that decays fast ends in an account without bound; other topics, and the next start, can read it."""

    async def story() -> list[float]:
        life, found = Life(tmp_path, members=2, smallest_std=None, noise_decay=1e-200, tolerance=2.0), []
        async with life.town.peer("p1", config=life.town.config("p1", ["p0"]), value=1.0) as other:
            for number, topic in enumerate("xyz"):
                async with life.p0(number, standing=False) as peer:
                    calls = (one.average(5.0, topic=topic, secret="pay", timeout=200.0) for one in (peer, other))
                    await asyncio.gather(*calls)
                    found.append(peer.accounts()["pay"].information)
        return found

    assert run_virtually(story())[1:] == [math.inf, math.inf]


# -- the store itself -------------------------------------------------------------------------------


def state(shown: int, requests: int, budget: float | None = 0.1) -> PeerState:
    account = account_for(1.0, 0.5, budget)
    return PeerState(np.array([7]), account.spend(shown) if shown else account, requests=requests)


class Crashing(MemoryStore):
    """Does not store: the power fails after the witness was written."""

    def save(self, state: PeerState) -> None:
        raise KeyboardInterrupt


def test_the_witness_is_written_first(tmp_path: Path) -> None:
    """A crash between the two files counts the draw as shown: less may be known than is assumed, never more."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    WitnessedStore(inner, path).save(state(1, 1))
    crashing = Crashing()
    crashing._state = inner._state
    with pytest.raises(KeyboardInterrupt):
        WitnessedStore(crashing, path).save(state(2, 2))
    after = WitnessedStore(inner, path)
    loaded = after.load()
    assert loaded is not None
    assert loaded.account.information == state(2, 2).account.information
    assert after.went_back


def test_an_unrelated_value_starts_at_zero_and_its_predecessor_does_not_come_back(tmp_path: Path) -> None:
    """The account of a new secret is its own; a store from before it counts as spent (R24, R56)."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    store = WitnessedStore(inner, path)
    store.save(state(3, 3))
    old = inner._state
    store.save(state(0, 9))
    fresh = WitnessedStore(inner, path)
    loaded = fresh.load()
    assert loaded is not None
    assert (loaded.account.information, fresh.went_back) == (0.0, False)
    restored = MemoryStore()
    restored._state = old
    back = WitnessedStore(restored, path).load()
    assert back is not None
    assert not back.account.affords()


def test_a_copy_from_just_before_an_unrelated_value_is_known(tmp_path: Path) -> None:
    """Although no request came in between: the new value itself makes all earlier copies known (R24, R56)."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    store = WitnessedStore(inner, path)
    protocol = peer("ada", budget=100.0)
    protocol.state = replace(protocol.state, account=protocol.state.account.spend(3))
    store.save(protocol.state)
    old = inner._state
    protocol.set_value(vector(2.0), new_secret=True)
    store.save(protocol.state)
    restored = MemoryStore()
    restored._state = old
    back = WitnessedStore(restored, path).load()
    assert back is not None
    assert not back.account.affords()


def test_a_disk_that_is_lost_after_an_unrelated_value_leaves_the_rest_of_the_budget(tmp_path: Path) -> None:
    """A new one counted requests from zero, and was taken at its next start for a copy from before that value (R56)."""
    path, shown = tmp_path / "peer.account", state(2, 0).account.information
    before = MemoryStore()
    store = WitnessedStore(before, path)
    store.save(state(3, 500))
    store.save(state(0, 501))
    for _ in range(2):
        inner = MemoryStore()
        store = WitnessedStore(inner, path)
        assert store.load() is None
        store.save(state(2, 0))
        again = WitnessedStore(inner, path)
        loaded = again.load()
        assert loaded is not None
        assert (loaded.account.information, again.went_back) == (shown, False)
        again.save(state(0, 1))  # another unrelated value: copies from before the first one stay known
    before.save(state(3, 500))
    back = WitnessedStore(before, path).load()
    assert back is not None
    assert not back.account.affords()


def test_without_a_budget_the_witness_is_written_seldom(tmp_path: Path) -> None:
    """In steps of 256: four hundred draws cost some twenty writes, and a normal restart raises no alarm."""
    path, inner = tmp_path / "peer.account", MemoryStore()
    store, writes = WitnessedStore(inner, path), 0
    account = account_for(1.0, 0.9, None)
    for requests in range(400):
        before, account = store._mark, account.spend()
        store.save(replace(state(0, requests, None), account=account))
        writes += store._mark is not before
    assert writes < 20
    again = WitnessedStore(inner, path)
    loaded = again.load()
    assert loaded is not None
    assert (loaded.account.information, again.went_back) == (account.information, False)


@pytest.mark.parametrize("later", [0, 1])
def test_a_copy_from_before_there_was_a_budget_brings_none_of_it_back(tmp_path: Path, later: int) -> None:
    """Without a budget the witness is rough, and with one it is exact at once: also beside a rough copy (R56, R86)."""
    path, inner, record = tmp_path / "peer.account", MemoryStore(), TopicRecord("t", 1, "wait", "pay")
    copies = []
    for shown, budget in ((5, None), (6, 0.01), (7, 0.01)):
        store = WitnessedStore(inner, path)
        store.topics()
        store.note_topic(TOPIC, record)
        kept = store.topic(TOPIC, 1)
        for each in (store, kept):
            each.load()
            each.save(state(shown, shown, budget))
        copies.append(inner.copy())
    again = WitnessedStore(copies[later], path)
    again.topics()
    for each in (again, again.topic(TOPIC, 1)):
        loaded = each.load()
        assert loaded is not None
        assert loaded.account.information == state(7, 7, 0.01).account.information
    assert again.went_back


def test_a_secret_of_which_nothing_more_is_shown_becomes_exact_too(tmp_path: Path) -> None:
    """It is when the peer starts with a budget: a copy from before then knows less, and is found out (R86)."""
    path, inner, record = tmp_path / "peer.account", MemoryStore(), TopicRecord("t", 1, "wait", "pay")
    store, copies = WitnessedStore(inner, path), []
    store.topics()
    store.note_topic(TOPIC, record)
    for shown in (5, 7):
        store.topic(TOPIC, 1).save(state(shown, shown, None))
        copies.append(inner.copy())
    known = [state(shown, shown, None).account.information for shown in (5, 7)]
    for content, lost in ((copies[1], 0.0), (copies[0], known[1] - known[0])):
        with_budget = WitnessedStore(content, path, exact=True)
        with_budget.topics()
        assert with_budget.unrecorded("pay") == lost


def test_a_witness_from_before_says_by_its_number_whether_it_is_exact(tmp_path: Path) -> None:
    """It did not say so in a word: powers of 256 are rough."""
    path = tmp_path / "peer.account"
    for information, back in ((65536.0, False), (9000.0, True)):
        path.write_text(json.dumps({"information": information, "requests": 0}))
        inner = MemoryStore()
        inner.save(state(5, 5, None))
        store = WitnessedStore(inner, path)
        store.load()
        assert store.went_back is back


def test_a_damaged_witness_is_refused(tmp_path: Path) -> None:
    """It is not guessed at, and the sentence says what removing it means."""
    path = tmp_path / "peer.account"
    for content in (
        "",
        "{}",
        '{"information": 0, "requests": 0, "secrets": {"pay": [-1, true]}}',
        '{"information": -1, "requests": 0}',
        '{"information": NaN, "requests": 0}',
    ):
        path.write_text(content)
        with pytest.raises(UnusableStore, match="damaged"):
            WitnessedStore(MemoryStore(), path)


class TestWitnessedStore(StoreConformance):
    """It is a store like the others."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def open(self, place: dict[str, Any]) -> WitnessedStore:
        number = place.setdefault("number", len(list(self.folder.iterdir())))
        return WitnessedStore(place.setdefault("store", MemoryStore()), self.folder / f"{number}.account")

    def close(self, store: Any) -> None:
        """Its life is the object's."""
