"""A peer as a process, run inside this one: commands, signals, a failing store."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError, InvalidInput, StoreError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.process.checks import check_everything
from sottovoce.peer.process.control import ask, encode_value
from sottovoce.peer.process.metrics import PeerObserver
from sottovoce.peer.process.service import run_peer
from sottovoce.peer.store.sqlite import SqliteStore, read_state
from sottovoce.testing.stage import free_addresses

from ..helpers import run

Scenario = Callable[[Callable[..., Awaitable[dict[str, Any]]]], Awaitable[None]]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    addresses = dict(zip(("ada", "bob"), free_addresses(2), strict=True))
    noise = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1}
    return found_network("net", addresses, graphs.path(2), tmp_path / "net", timeout=0.05, **noise)["ada"]


def run_with(
    config: Path,
    scenario: Scenario,
    value: float | None = 5.0,
    *,
    replace_value: bool = False,
    observer: PeerObserver | None = None,
) -> str:
    """Run ada while `scenario` acts as her operator; how she ended."""
    folder = PeerConfig.load(config).data_dir
    assert folder is not None

    async def command(name: str, **fields: Any) -> dict[str, Any]:
        return await asyncio.to_thread(ask, folder, name, **fields)

    async def everything() -> str:
        checked = check_everything(config, None if value is None else np.array([value]))
        running = asyncio.create_task(run_peer(checked, observer or PeerObserver(), replace_value=replace_value))
        while not (folder / "control.sock").exists() and not running.done():
            await asyncio.sleep(0.01)
        await scenario(command)
        return await asyncio.wait_for(running, 20)

    return asyncio.run(everything())


def test_the_operators_commands(config: Path) -> None:
    """Status, a new value, dropping and taking back a neighbour, stopping: all over the socket; the file follows."""

    async def scenario(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        answer = await command("status")
        assert answer["status"]["name"] == "ada"
        assert answer["status"]["roster"] == {"number": 0, "digest": check_identity(PeerConfig.load(config)).digest}
        assert answer["status"]["estimate"] is None  # it would be the private value
        result = await asyncio.to_thread(run, "peer", "status", config, "--estimate-to", config.parent / "mean.npy")
        assert (result.exit_code, (config.parent / "mean.npy").exists()) == (2, False)
        await command("set-value", value=encode_value(np.array([7.0])))
        await command("drop", neighbour="bob")
        assert "bob" not in PeerConfig.load(config).neighbours
        await command("add", neighbour="bob")
        assert "bob" in PeerConfig.load(config).neighbours
        for name, fields in (
            ("drop", {"neighbour": "nobody"}),
            ("add", {"neighbour": "cleo"}),  # not in the roster
            ("set-value", {"value": "AAAA"}),
            ("set-value", {"value": encode_value(np.array([np.nan]))}),
        ):
            with pytest.raises(InvalidInput):
                await command(name, **fields)
        await command("stop")

    assert run_with(config, scenario) == "stopped"
    folder = PeerConfig.load(config).data_dir
    assert folder is not None
    state: Any = read_state(folder)
    assert state.value.tolist() == [7_000_000]
    assert list(state.edges) == ["bob"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_stop_it_cleanly(config: Path, number: signal.Signals) -> None:
    """SIGTERM and SIGINT end the peer in good order; its socket is gone and its store is free."""

    async def scenario(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        os.kill(os.getpid(), number)

    assert run_with(config, scenario) == "stopped"
    assert not (config.parent / "data" / "control.sock").exists()
    assert run("peer", "status", config).exit_code == 2


def test_leaving_names_whom_it_could_not_tell(config: Path) -> None:
    """A neighbour that does not answer is named, so that its operator can drop the peer."""

    async def scenario(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        assert await command("leave") == {"untold": ["bob"]}

    assert run_with(config, scenario) == "left"
    with pytest.raises(ConfigError, match="has left"):  # nor does a reboot bring it back
        check_everything(config, np.array([5.0]))


class Listening(PeerObserver):
    """Remembers what would be logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def log(self, level: str, event: str, **fields: object) -> None:
        self.said.append(event)


def test_the_store_owns_the_private_value(config: Path) -> None:
    """A restart with the old value file does not undo set-value and says so; with the flag it does, and says so too."""

    async def change(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        await command("set-value", value=encode_value(np.array([1000.0])))
        await command("stop")

    async def stop(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        await command("stop")

    def stored() -> Any:
        state: Any = read_state(config.parent / "data")
        return state.value

    run_with(config, change, 5.0)
    value, first, second, third = stored(), Listening(), Listening(), Listening()
    run_with(config, stop, 5.0, observer=first)
    assert np.array_equal(stored(), value)
    assert any("is not used" in line for line in first.said)
    run_with(config, stop, 1000.0, observer=second)
    assert not any("value" in line for line in second.said)
    run_with(config, stop, 5.0, replace_value=True, observer=third)
    assert not np.array_equal(stored(), value)
    assert any("is replaced" in line for line in third.said)


def test_a_store_that_fails_ends_the_peer(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full the peer stops with the store's sentence instead of going on without memory."""

    def full(self: SqliteStore, state: object) -> None:
        raise StoreError("the disk is full")

    async def scenario(command: Callable[..., Awaitable[dict[str, Any]]]) -> None:
        monkeypatch.setattr(SqliteStore, "save", full)
        with pytest.raises(InvalidInput, match="full"):
            await command("set-value", value=encode_value(np.array([7.0])))

    with pytest.raises(StoreError, match="full"):
        run_with(config, scenario)


def test_a_first_start_needs_a_value(config: Path) -> None:
    """Without a stored state the value cannot be left out; the command says so and exits with 2."""
    result = run("peer", "start", config)
    assert result.exit_code == 2
    assert "private value" in result.output
    assert not (config.parent / "data").exists()
