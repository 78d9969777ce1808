"""The live view: what peers say, and nothing else."""

from __future__ import annotations

import asyncio
import builtins
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.studio.live import SHOWN, Watcher

SECRET = 123.456789

STATUS = {
    "name": "ada",
    "estimate": [1.0, 2.0, 3.0, 4.0, 5.0],
    "dimension": 5,
    "plus_minus": 0.25,
    "settled": False,
    "statement": "no bound yet",
    "noise_left": 0.5,
    "noise_std": 1.0,
    "account": 2.0,
    "smallest_std": 0.5,
    "budget_share": 0.5,
    "budget_spent": False,
    "exchanges": 7,
    "uptime": 3.0,
    "private_value": SECRET,
    "flows": [SECRET],
    "neighbours": {"bob": {"state": "open", "last_heard": 0.2, "register": SECRET}},
}


def found(folder: Path) -> Path:
    """A network of three, as ``sottovoce network create`` founds it."""
    pytest.importorskip("cryptography", reason="peers need the extra `peer`")
    from sottovoce.peer.membership.founding import found_network

    addresses = {"ada": "127.0.0.1:7101", "bob": "127.0.0.1:7102", "eve": "127.0.0.1:7103"}
    found_network(
        "demo", addresses, sv.graphs.path(3), folder / "net", noise_std=1.0, noise_decay=0.9, smallest_std=0.5
    )
    return folder / "net"


def look_with_peers(network: Path, answering: list[str], times: int = 1) -> list[dict[str, Any]]:
    """Looks at a network in which these peers listen on their real control sockets."""
    from sottovoce.peer.membership.config import PeerConfig
    from sottovoce.peer.process.control import ControlServer
    from sottovoce.studio import live

    async def status(_asked: dict[str, Any]) -> dict[str, Any]:
        return {"status": STATUS}

    async def main() -> list[dict[str, Any]]:
        servers = []
        for name in answering:
            config = PeerConfig.load(network / name / "peer.toml")
            assert config.data_dir is not None
            config.data_dir.mkdir(exist_ok=True)
            servers.append(ControlServer(config.data_dir, {"status": status}))
            await servers[-1].start()
        watcher = Watcher(network)
        answers = [await watcher.look() for _ in range(times)]
        watcher.close()
        for server in servers:
            await server.close()
        return answers

    with pytest.MonkeyPatch.context() as patch:  # a busy machine may need longer than a page should wait
        patch.setattr(live, "PATIENCE", 60.0)
        patch.setattr(live, "FRESH", 600.0)
        return asyncio.run(main())


def test_peers_are_shown_with_who_is_lost(tmp_path: Path) -> None:
    """Two of three answer; the edges are those of the configurations."""
    (seen,) = look_with_peers(found(tmp_path), ["ada", "eve"])
    assert seen["available"]
    assert [(peer["name"], peer["up"]) for peer in seen["peers"]] == [("ada", True), ("bob", False), ("eve", True)]
    assert [tuple(edge) for edge in seen["edges"]] == [(0, 1), (1, 2)]
    ada = seen["peers"][0]
    assert (ada["estimate"], ada["exchanges"], ada["noise_left"]) == ([1.0, 2.0, 3.0, 4.0], 7, 0.5)
    assert ada["budgetLeft"] == 0.5
    assert seen["exchanges"] == 7


def test_only_listed_fields_reach_a_page(tmp_path: Path) -> None:
    """Should a peer ever say more than it may, the page does not hear it."""
    (seen,) = look_with_peers(found(tmp_path), ["ada", "bob", "eve"])
    assert str(SECRET) not in str(seen)
    assert set(seen["peers"][0]) <= {*SHOWN, "name", "up", "lastSeen", "dimension", "budgetLeft", "neighbours"}


def test_several_pages_share_one_look(tmp_path: Path) -> None:
    """Peers are not asked more often because more people watch."""
    first, second = look_with_peers(found(tmp_path), ["ada"], times=2)
    assert first is second


def test_a_network_whose_folder_is_gone_is_remembered(tmp_path: Path) -> None:
    """A demonstration that tears itself down does not end in an error: its last state stays."""
    import shutil

    from sottovoce.studio import live

    network = found(tmp_path)

    async def main() -> tuple[dict[str, Any], dict[str, Any], list[float]]:
        watcher = Watcher(network)
        watcher._ask = lambda name, folder: asyncio.sleep(0, {**live.shown(STATUS), "settled": True})  # type: ignore[method-assign, assignment]
        before = await watcher.look()
        watcher._last = None
        shutil.rmtree(network)
        after = await watcher.look()
        watcher.close()
        return before, after, watcher.memory.history()["times"]

    before, after, times = asyncio.run(main())
    assert before["state"] == "settled"
    assert after["state"] == "ended"
    assert [peer["estimate"] for peer in after["peers"]] == [peer["estimate"] for peer in before["peers"]]
    assert len(times) == 1


def test_nothing_to_watch_is_said() -> None:
    """Without a folder the page says how to get one."""
    assert "--network" in asyncio.run(Watcher(None).look())["message"]


def test_a_folder_without_peers_is_said(tmp_path: Path) -> None:
    """An empty folder, and one with a broken configuration."""
    assert "no network" in asyncio.run(Watcher(tmp_path).look())["message"]
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "peer.toml").write_text("name = 7", encoding="utf-8")
    answer = asyncio.run(Watcher(tmp_path).look())
    assert not answer["available"]
    assert "cannot be watched" in answer["message"]


def test_an_installation_without_peers_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra to install is named."""
    real = builtins.__import__

    def without_peers(name: str, *arguments: Any, **keywords: Any) -> Any:
        if "peer" in name:
            raise ImportError("no peers", name="cryptography")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_peers)
    assert "sottovoce[peer]" in asyncio.run(Watcher(tmp_path).look())["message"]
