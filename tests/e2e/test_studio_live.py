"""The live view of running peers in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sottovoce as sv

from .browsers import Visit

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_the_live_view_watches_a_running_network(browser: Browser, tmp_path: Path) -> None:
    """Real peers settle on the page, one is lost and comes back, and all end; no private value is sent.

    Settling is celebrated; a network that has ended keeps its last state, has lost nobody, and can be replayed.
    """
    pytest.importorskip("sottovoce.peer.runtime.node", reason="peers need the extra `peer`")
    from sottovoce.studio.app import create_app
    from sottovoce.studio.live import Watcher
    from sottovoce.testing.stage import Stage

    from ..studio.helpers import Studio

    secrets = np.array([10.123457, 20.765432, 33.141593])
    settings = {"noise_std": 5.0, "noise_decay": 0.8, "smallest_std": None, "tolerance": 0.5, "rate": 20.0}
    with Stage(tmp_path / "net", sv.graphs.complete(3), secrets, **settings) as stage:
        stage.start()
        with Studio(create_app(watcher=Watcher(stage.folder))) as studio:
            visit = Visit(studio, browser.new_context().new_page())
            heard: list[str] = []
            visit.page.on("websocket", lambda ws: ws.on("framereceived", lambda frame: heard.append(str(frame))))
            visit.open("#tab=live")
            visit.wait("document.querySelectorAll('#live-peers tr:not(.down)').length === 3")
            visit.wait("studio.live.last.state === 'settled' && !document.querySelector('#live-settled').hidden")
            estimates = visit.page.locator("#live-peers tr td:nth-child(2)").all_inner_texts()
            assert [float(text) for text in estimates] == pytest.approx([secrets.mean()] * 3, abs=0.5)
            stage.kill(stage.names[1])
            visit.page.get_by_text(f"{stage.names[1]} is lost").first.wait_for(state="attached")
            stage.start(stage.names[1])
            visit.page.get_by_text(f"{stage.names[1]} is back").first.wait_for(state="attached")
            visit.wait("studio.live.last.state === 'settled'")
            stage.stop()
            visit.wait("studio.live.last.state === 'ended'")
            assert visit.page.is_visible("#live-settled")
            assert "what they said last" in visit.page.inner_text("#live-says")
            assert visit.page.locator("#live-peers tr.down").count() == 0
            estimates = visit.page.locator("#live-peers tr td:nth-child(2)").all_inner_texts()
            assert [float(text) for text in estimates] == pytest.approx([secrets.mean()] * 3, abs=0.5)
            visit.page.locator("#live-time").fill("0")
            assert visit.page.evaluate("studio.live.row") == 0
            assert "after" in visit.page.inner_text("#live-clock")
            visit.page.click("#live-replay")
            visit.wait("studio.live.row > 0")
            visit.wait("studio.live.row === null")
            assert heard
            assert not any(repr(secret) in message for secret in secrets.tolist() for message in heard)
            visit.page.context.close()


def test_without_a_network_the_live_view_says_how_to_get_one(visit: Visit) -> None:
    """It is a sentence, not an empty page."""
    visit.open()
    visit.page.get_by_role("tab", name="Live network").click()
    visit.wait("document.querySelector('#live-says').textContent.includes('--network')")
    assert not visit.page.is_visible("#playground")
