"""The conversation over the websocket."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import sottovoce as sv
from sottovoce.studio.app import create_app
from sottovoce.studio.limits import Limits
from sottovoce.studio.meter import heard_steps
from sottovoce.studio.observing import Observer
from sottovoce.studio.playing import Playback
from sottovoce.studio.reading import read_scenario
from sottovoce.studio.thinking import Thinkers

from .helpers import NOISY, SMALL, Studio, Visitor

Open = Callable[[], Any]


def test_a_run_from_setup_to_end_has_the_engines_numbers(page: Open) -> None:
    """Playing at full speed, the curve that arrives holds every recorded error of ``simulate``."""
    with page() as socket:
        visitor = Visitor(socket)
        ready = visitor.set_up()
        assert ready["graph"]["numNodes"] == 10
        visitor.say(type="play", speed=None)
        last = visitor.until("frame", finished=True)
    asked = read_scenario(SMALL, Limits())
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=200, seed=3, record=400)
    assert dict(visitor.curves[0]) | dict(zip(run.steps.tolist(), run.relative_error.tolist(), strict=True)) == dict(
        visitor.curves[0]
    )
    assert np.array_equal(last["lanes"][0]["values"], run.values)
    assert np.array_equal(last["lanes"][0]["outstanding"], run.outstanding_noise)


def test_the_threshold_is_that_of_the_theory(page: Open) -> None:
    """For an irregular graph it comes as a range over nodes."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(graph="rgg:30:seed=1")
        answer = visitor.until("threshold")
    exact = sv.theory.threshold_decay(sv.graphs.random_geometric(30, seed=1))
    assert (answer["low"], answer["high"]) == (exact.min(), exact.max())


def test_theory_is_drawn_beside_the_run(page: Open) -> None:
    """Expectation and bound are those of ``sv.theory``, as relative errors."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(methods=["standard", NOISY])
        curves = visitor.until("theory", lane=1)
    asked = read_scenario(SMALL, Limits())
    c = asked.private_values
    scale = ((c - c.mean()) ** 2).sum() / 2
    arguments = (asked.graph, c, asked.methods[0])
    assert curves["expected"] == pytest.approx(sv.theory.expected_error(*arguments, at=curves["steps"]) / scale)
    assert curves["corrected"] == pytest.approx(sv.theory.error_bound(*arguments, at=curves["steps"]) / scale)


@pytest.mark.parametrize("prior", [0.3, None])
def test_the_privacy_meter_is_the_audit(page: Open, prior: float | None) -> None:
    """At every step where the curious node takes part, for the method and for standard gossip."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up()
        visitor.say(type="watch", node=4, prior=prior)
        answer = visitor.until("privacy")
    asked = read_scenario(SMALL, Limits())
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=200, seed=3)
    steps = heard_steps(asked, run.fired_edges(), Observer(nodes=(4,)))
    assert answer["steps"] == steps.tolist()
    for lane, method in zip(answer["lanes"], (asked.methods[0], sv.StandardGossip()), strict=True):
        view = sv.privacy.CuriousNodes([4])
        report = sv.privacy.audit(asked.graph, method, run.fired_edges(), view, prior_std=prior)
        found = [math.inf if std == "inf" else std for std in lane["std"][-1]]
        assert found == report.posterior_std.tolist()
    assert any("noise_std" in sentence for sentence in answer["assumptions"])


def test_methods_in_rounds_are_audited_round_by_round(page: Open) -> None:
    """The meter shows what broadcast gives away, beside what pairwise gossip does."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(graph="complete:3", methods=["mo-murray:noise_std=1,noise_decay=0.8", "push-sum"], num_steps=80)
        visitor.say(type="watch", node=0, prior=1.0)
        first, second, _ = visitor.until("privacy")["lanes"]
    method = sv.MoMurray(noise_std=1.0, noise_decay=0.8)
    report = sv.privacy.audit_rounds(sv.graphs.complete(3), method, sv.privacy.CuriousNodes([0]), 1.0, num_rounds=80)
    assert first["std"] == report.history[1:].tolist()
    assert not second["analysed"]
    assert "not analysed" in second["message"]


def test_guesses_are_the_optimal_attack(page: Open) -> None:
    """At the step that was asked for, under every method that an attack covers, and under standard gossip."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(methods=[NOISY, "synchronous", "push-sum"])
        visitor.say(type="guess", node=4, prior=0.3, centre=0.5, step=90)
        answer = visitor.until("guess")
    asked = read_scenario(SMALL, Limits())
    methods = (asked.methods[0], sv.SynchronousAveraging(), None, sv.StandardGossip())
    for found, method in zip(answer["lanes"], methods, strict=True):
        if method is None:
            assert found is None
            continue
        run = sv.simulate(asked.graph, asked.private_values, method, num_steps=90, seed=3)
        exact = sv.privacy.attack(run, sv.privacy.CuriousNodes([4]), 0.3, prior_mean=0.5).estimate
        assert found["estimate"] == exact.tolist()


def test_a_comparison_is_told_beside_the_run(page: Open) -> None:
    """Each method with as many steps as the same number of messages pays for."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(methods=[NOISY, "synchronous"])
        visitor.say(type="compare")
        answer = visitor.until("comparison")
    assert [lane["messages"][-1] for lane in answer["lanes"]] == [400, 400]


def test_the_history_of_nothing_is_empty(page: Open) -> None:
    """No network is watched, so there is nothing to replay."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.say(type="history")
        assert visitor.until("history")["times"] == []


def test_errors_speak_of_what_people_see(page: Open) -> None:
    """Not of names in the code."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.say(type="setup", run=1, problem=SMALL | {"methods": ["noise-insertion:noise_std=1,noise_decay=2"]})
        while (answer := visitor.hear())["type"] != "error":
            pass
    assert answer["message"].startswith("decay φ must be")
    assert (answer["about"], answer["run"]) == ("setup", 1)


def test_seek_and_step(page: Open) -> None:
    """Forward and back, a step's picture does not depend on the way there."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up()
        visitor.say(type="seek", step=120)
        there = visitor.until("frame", step=120)
        visitor.say(type="seek", step=40)
        visitor.until("frame", step=40)
        visitor.say(type="step", count=80)
        again = visitor.until("frame", step=120)
    assert np.array_equal(there["lanes"][0]["values"], again["lanes"][0]["values"])


def test_a_setup_may_start_in_the_middle(page: Open) -> None:
    """A page that is opened from an address goes to its step at once."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.say(type="setup", run=9, problem=SMALL, at=150)
        assert visitor.until("frame", step=150)["run"] == 9


def test_pause_stops_the_pictures(page: Open) -> None:
    """After the answer to a pause no further frame arrives."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(num_steps=100_000)
        visitor.until("theory")
        visitor.say(type="play", speed=200)
        visitor.until("frame")
        visitor.say(type="pause")
        visitor.until("paused")
        visitor.say(type="step", count=1)
        stopped_at = visitor.hear()["step"]
        visitor.say(type="step", count=1)
        assert visitor.hear()["step"] == stopped_at + 1


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("this is not JSON", "must be JSON"),
        ("[1, 2]", "object with a type"),
        ("[" * 100_000, "must be JSON"),
        ('{"type": "explode"}', "type must be one of"),
        ('{"type": "play"}', "nothing is set up"),
        ('{"type": "setup"}', "problem must be"),
        ('{"type": "setup", "problem": {"graph": "cycle:1"}}', "n must be"),
        ('{"type": "setup", "problem": {}, "run": "x"}', "run must be"),
    ],
)
def test_malformed_messages_get_a_clear_error_and_the_talk_goes_on(page: Open, message: str, words: str) -> None:
    """Never a traceback, never a closed connection."""
    with page() as socket:
        visitor = Visitor(socket)
        socket.send(message)
        answer = visitor.hear()
        assert answer["type"] == "error"
        assert words in answer["message"]
        assert "Traceback" not in answer["message"]
        visitor.set_up()


@pytest.mark.parametrize(("graph", "drawn"), [("cycle:2000", True), ("cycle:2001", False), ("complete:300", False)])
def test_only_what_can_be_drawn_is_sent_to_be_drawn(page: Open, graph: str, *, drawn: bool) -> None:
    """Too many nodes or too many edges become distributions."""
    with page() as socket:
        ready = Visitor(socket).set_up(graph=graph)
    assert ready["drawn"] is drawn
    assert bool(ready["graph"]["edges"]) is drawn


def test_a_binary_message_gets_a_clear_error(page: Open) -> None:
    """Pages send text."""
    with page() as socket:
        socket.send(b"\x00\x01")
        assert "must be JSON" in Visitor(socket).hear()["message"]


def test_a_run_that_nobody_ends_pauses_by_itself() -> None:
    """After the allowed time the page is told so, and may go on."""
    with Studio(create_app(limits=Limits(running_seconds=0.2))) as studio, studio.open() as socket:
        visitor = Visitor(socket)
        visitor.set_up(num_steps=10**8)
        visitor.say(type="play", speed=10)
        assert "press Run" in visitor.until("paused")["message"]


def test_a_run_that_diverges_is_shown_and_paused(page: Open) -> None:
    """Failing to converge is data: frames arrive, then a sentence."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up(methods=["heavy-ball:momentum=0.99,relaxation=1"], num_steps=2_000_000)
        visitor.say(type="play", speed=None)
        assert "diverges" in visitor.until("paused")["message"]


def test_a_bad_node_to_watch_is_refused(page: Open) -> None:
    """Node 10 of a cycle of ten does not exist."""
    with page() as socket:
        visitor = Visitor(socket)
        visitor.set_up()
        visitor.say(type="watch", node=10, prior=1.0)
        while (answer := visitor.hear())["type"] != "error":
            pass
        assert "node must be a whole number in [0, 9]" in answer["message"]


@pytest.mark.parametrize("origin", [None, "http://evil.example", "http://127.0.0.1:9999", "null"])
def test_foreign_origins_are_refused(server: Studio, origin: str | None) -> None:
    """A page of another site cannot open the websocket."""
    with pytest.raises(InvalidStatus) as refused, server.open(origin):
        pass
    assert refused.value.response.status_code == 403


def test_a_flood_is_answered_with_a_request_to_wait() -> None:
    """Beyond the allowed rate messages are not carried out."""
    with Studio(create_app(limits=Limits(messages_per_second=0.25))) as studio, studio.open() as socket:
        for _ in range(12):
            socket.send('{"type": "pause"}')
        kinds = [json.loads(socket.recv(timeout=120))["type"] for _ in range(12)]
    assert "error" in kinds
    assert kinds.count("paused") < 12


def test_too_many_pages_are_told_so() -> None:
    """The page beyond the last hears why, and is closed."""
    with Studio(create_app(limits=Limits(pages=1))) as studio, studio.open(), studio.open() as second:
        assert "1 pages are open already" in json.loads(second.recv(timeout=120))["message"]
        with pytest.raises(ConnectionClosed):
            second.recv(timeout=120)


def test_a_pause_shows_where_the_run_stands(server: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that was under way is finished and shown before the pause is confirmed: one step more is one more."""
    original = Playback.advance
    monkeypatch.setattr(Playback, "advance", lambda self, end: (time.sleep(0.05), original(self, end)))
    with server.open() as socket:
        visitor = Visitor(socket)
        visitor.set_up(num_steps=10**6)
        for _ in range(3):
            visitor.say(type="play", speed=30)
            visitor.until("frame")
            shown = visitor.until("frame")["step"]
            visitor.say(type="pause")
            while (message := visitor.hear())["type"] != "paused":
                shown = message["step"] if message["type"] == "frame" else shown
            visitor.say(type="step")
            assert visitor.until("frame")["step"] == shown + 1


def test_closing_the_page_stops_its_computation(server: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """No piece is started after the page is gone."""
    pieces: list[int] = []
    original = Playback.advance
    monkeypatch.setattr(Playback, "advance", lambda self, end: (pieces.append(end), original(self, end)))
    with server.open() as socket:
        visitor = Visitor(socket)
        visitor.set_up(num_steps=10**8)
        visitor.say(type="play", speed=100)
        visitor.until("frame", step=0)
        while not pieces:
            visitor.hear()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        before = len(pieces)
        time.sleep(0.2)
        if len(pieces) == before:
            return
    pytest.fail("pieces are still being computed a minute after the page was closed")


def _work_for_ever(begun: Path) -> None:
    begun.touch()
    time.sleep(600)


def test_closing_the_page_ends_what_was_worked_out_for_it(tmp_path: Path) -> None:
    """A question that nobody waits for any more is given up, and its process with it."""
    begun = tmp_path / "begun"

    async def ask_and_leave() -> tuple[bool, float]:
        thinkers = Thinkers(1, patience=0.1)
        await thinkers.think(math.sqrt, 4.0)
        (pool,) = thinkers._large.all
        (process,) = pool._processes.values()
        question = asyncio.ensure_future(thinkers.think(_work_for_ever, begun))
        while not begun.exists():
            await asyncio.sleep(0.01)
        question.cancel()
        answer = await thinkers.think(math.sqrt, 9.0)
        await asyncio.to_thread(process.join, 120)
        thinkers.close()
        return process.is_alive(), answer

    assert asyncio.run(ask_and_leave()) == (False, 3.0)
