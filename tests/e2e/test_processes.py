"""Whole networks of real processes, with real TLS and real databases on this machine."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.files import edit_without
from sottovoce.peer.process.control import encode_value
from sottovoce.testing.proof import prove
from sottovoce.testing.stage import Stage, free_addresses

# Quick to settle: little noise, fast decay, frequent exchanges.
SETTINGS: dict[str, Any] = {
    "noise_std": 5.0,
    "noise_decay": 0.8,
    "smallest_std": None,
    "tolerance": 0.01,
    "rate": 8.0,
    "timeout": 0.3,
    "backoff_max": 0.5,
    "sync_interval": 0.5,
    "grace": 1.0,
    "min_open_edges": 1,  # some of these networks are left with two members
}
TOLERANCE = 0.01
WAIT = 120.0
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PATH": "/usr/bin:/bin", "HOME": "/tmp"}

MakeStage = Callable[..., Stage]


@pytest.fixture
def make_stage(tmp_path: Path) -> Iterator[MakeStage]:
    """Founds networks that do not outlive the test."""
    stages: list[Stage] = []

    def make(graph: graphs.Graph, values: Any, **settings: Any) -> Stage:
        stage = Stage(tmp_path / f"net-{len(stages)}", graph, np.asarray(values, float), **(SETTINGS | settings))
        stages.append(stage)
        return stage

    yield make
    for stage in stages:
        stage.__exit__()


def agreed(mean: float) -> Callable[[dict[str, Any]], bool]:
    """Settled, and near this mean."""
    return lambda status: bool(status["settled"]) and abs(status["estimate"][0] - mean) < TOLERANCE


def until(condition: Callable[[], bool], seconds: float = WAIT) -> None:
    """Wait until it is true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.1)


def prove_all(stage: Stage, names: list[str] | None = None) -> Any:
    assert set(stage.stop().values()) == {0}
    return prove({name: stage.data_dir(name) for name in names or stage.names})


def everything_written(stage: Stage) -> bytes:
    """All files of a stage except value files and databases: what an outsider may come to see."""
    kept = (path for path in stage.folder.rglob("*") if path.is_file() and path.name != "value.txt")
    return b"".join(path.read_bytes() for path in kept if "data" not in path.relative_to(stage.folder).parts)


def test_processes_settle_on_the_true_mean_and_show_no_value(make_stage: MakeStage) -> None:
    """Four processes on a cycle agree on the mean; logs, metrics, health and status never hold a private value."""
    values = np.array([31415.92653, -27182.81828, 14142.13562, 57721.56649])
    secrets = [f"{abs(value):.3f}"[:-1] for value in values]
    ports = {f"p{i + 1:02d}": address for i, address in enumerate(free_addresses(4))}
    stage = make_stage(graphs.cycle(4), values, noise_std=20_000.0, unit="0.00001", metrics_listen=ports)
    stage.start()
    seen = []
    stage.wait_until(lambda status: seen.append(json.dumps(status)) or status["settled"], seconds=WAIT, pause=0.05)
    for address in ports.values():
        for page in ("metrics", "health"):
            with urllib.request.urlopen(f"http://{address}/{page}", timeout=WAIT) as answer:
                seen.append(answer.read().decode())
    proof = prove_all(stage)
    assert proof.largest_error < TOLERANCE
    assert proof.exact
    written = everything_written(stage).decode(errors="replace") + "\n".join(seen)
    assert "peer started" in written
    assert "sottovoce_settled 1.0" in written
    assert [secret for secret in secrets if secret in written] == []


def test_a_kill_and_a_lost_disk_change_nothing(make_stage: MakeStage) -> None:
    """kill -9 in the middle and a wiped database: the mean is still exact and nothing was lost.

    Meanwhile the member two hops away says who is missing, and who told it (R90).
    """
    stage = make_stage(graphs.path(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
    stage.kill("p02")
    stage.start("p02")
    stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
    stage.kill("p03")
    stage.wait_until(
        lambda status: [(one["name"], one["witness"]) for one in status["missing"]] == [("p03", "p02")],
        seconds=WAIT, names=["p01"],
    )  # fmt: skip
    stage.wipe("p03")
    stage.start("p03")
    stage.wait_until(agreed(30.0), seconds=WAIT)
    proof = prove_all(stage)
    assert proof.exact
    assert proof.largest_error < TOLERANCE


def test_members_come_and_go(make_stage: MakeStage) -> None:
    """After a leave and after a late join, everybody has the mean of those who are there; a new value moves it."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(agreed(30.0), seconds=WAIT)
    for name in stage.ask("p03", "leave")["untold"]:  # where a call took too long, its operator is asked
        stage.ask(name, "drop", neighbour="p03")
    assert stage.processes["p03"].wait(WAIT) == 0
    until(lambda: all("p03" in stage.config(name).without for name in ("p01", "p02")))  # a restart brings it not back
    stage.remove("p03")
    stage.wait_until(agreed(15.0), seconds=WAIT, names=["p01", "p02"])
    stage.ask("p02", "set-value", value=encode_value(np.array([40.0])))
    stage.wait_until(agreed(25.0), seconds=WAIT, names=["p01", "p02"])
    assert list(stage.config("p01").without) == list(stage.config("p02").without) == ["p03"]
    stage.add("p04", ["p01", "p02"], np.array([100.0]))
    stage.start("p04")
    stage.wait_until(agreed(50.0), seconds=WAIT, names=["p01", "p02", "p04"])
    assert stage.status("p02")["roster"]["number"] == 2
    assert "p04" in stage.config("p01").neighbours


def test_a_member_that_does_not_listen(make_stage: MakeStage) -> None:
    """One reachable end of each edge is enough: p02 makes all its calls itself, and the mean is exact."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0], outbound_only=["p02"])
    assert stage.config("p02").listen is None
    stage.start()
    stage.wait_until(agreed(30.0), seconds=WAIT)
    proof = prove_all(stage)
    assert proof.exact
    assert proof.largest_error < TOLERANCE


def test_a_dead_neighbour_is_removed_by_its_operators(make_stage: MakeStage) -> None:
    """While a peer is dead the others do not settle; after its neighbours drop it they have their own mean."""
    stage, others = make_stage(graphs.complete(4), [10.0, 20.0, 60.0, 90.0]), ["p01", "p02", "p03"]
    stage.start()
    stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
    stage.kill("p04")
    for name in others:
        stage.ask(name, "drop", neighbour="p04")
    stage.wait_until(agreed(30.0), seconds=WAIT, names=others)
    assert "p04" not in stage.config("p01").neighbours


def heard_of(stage: Stage, name: str, neighbour: str, *states: str | None) -> None:
    """Wait until ``name`` shows ``neighbour`` in one of these states; ``None``: not at all."""
    stage.wait_until(
        lambda status: status["neighbours"].get(neighbour, {"state": None})["state"] in states,
        seconds=WAIT,
        names=[name],
    )


def test_a_peer_that_was_dropped_while_it_was_down_learns_it(make_stage: MakeStage) -> None:
    """p01 drops p03, which is dead, and is restarted; p03 returns, hears it, and all hold the mean exactly (R51)."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(agreed(30.0), seconds=WAIT)
    stage.kill("p03")
    assert stage.ask("p01", "drop", neighbour="p03") == {"told": False}
    heard_of(stage, "p01", "p03", "parting")
    stage.kill("p01")
    stage.start("p01", "p03")
    heard_of(stage, "p01", "p03", None)
    heard_of(stage, "p03", "p01", "parted")
    stage.wait_until(agreed(30.0), seconds=WAIT)
    proof = prove_all(stage)
    assert proof.exact
    assert proof.largest_error < TOLERANCE


def test_a_neighbour_taken_out_of_the_file_learns_it(make_stage: MakeStage) -> None:
    """The operator lists p03 under `without` while both are down: the edge is gone at both ends all the same (R51)."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
    stage.kill("p01")
    stage.kill("p03")
    edit_without(stage.configs["p01"], "p03", dropped=True)
    stage.start("p01")
    heard_of(stage, "p01", "p03", "parting")
    stage.start("p03")
    heard_of(stage, "p01", "p03", None)
    stage.wait_until(agreed(30.0), seconds=WAIT)
    assert prove_all(stage).exact


def start_and_wait(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sottovoce", "peer", "start", *map(str, arguments)],
        capture_output=True, text=True, timeout=WAIT, check=False, env=ENVIRONMENT,
    )  # fmt: skip


def network_up(*arguments: str) -> Any:
    ended = subprocess.run(
        [sys.executable, "-m", "sottovoce", "network", "up", "--json", *arguments],
        capture_output=True, text=True, timeout=280, check=False, env=ENVIRONMENT,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_bad_input_is_one_sentence_and_changes_nothing(make_stage: MakeStage) -> None:
    """A port in use is refused with exit code 75 and a store in use with exit code 1 or 2, both in one sentence."""
    stage = make_stage(graphs.path(2), [1.0, 2.0])
    stage.start("p01")
    stage.wait_until(lambda status: True, seconds=WAIT, names=["p01"])
    p01, p02 = (stage.folder / name for name in ("p01", "p02"))
    taken, own = str(stage.config("p01").listen), str(stage.config("p02").listen)
    (p02 / "port.toml").write_text((p02 / "peer.toml").read_text().replace(own, taken, 1))
    before = files(p02)
    ended = start_and_wait(p02 / "port.toml", "--value-from", p02 / "value.txt")
    assert ended.returncode == 75
    assert ended.stderr.strip() == f"error: listen: cannot listen on {taken}: Address already in use"
    assert files(p02) == before
    # The same store twice: the listening port is moved, so that it is the store that refuses.
    (p01 / "twin.toml").write_text((p01 / "peer.toml").read_text().replace(taken, free_addresses(1)[0], 1))
    ended = start_and_wait(p01 / "twin.toml", "--value-from", p01 / "value.txt")
    assert ended.returncode in (1, 2)
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    assert stage.status("p01") is not None


def answer_without_certificate(host: str, port: int, trusted: str) -> bytes:
    """What a TLS client that has no certificate of its own gets to hear."""
    context = ssl.create_default_context(cadata=trusted)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        line = socket.create_connection((host, port), timeout=WAIT)
        with line, context.wrap_socket(line, server_hostname="p01.stage") as secure:
            secure.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            return secure.recv(100)
    except (ssl.SSLError, ConnectionError):
        return b""


def test_strangers_at_the_port_are_refused_counted_and_logged(make_stage: MakeStage) -> None:
    """Plain HTTP and TLS without a certificate end up in the status and in the log of a running peer."""
    stage = make_stage(graphs.path(2), [1.0, 2.0])
    stage.start("p01")
    stage.wait_until(lambda status: True, seconds=WAIT, names=["p01"])
    config = stage.config("p01")
    host, port = str(config.listen).split(":")
    own = check_identity(config).certificate.decode()
    with socket.create_connection((host, int(port)), timeout=WAIT) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert plain.recv(100) == b""
    assert answer_without_certificate(host, int(port), own) == b""
    wanted = {"refused-handshake-plaintext", "refused-handshake-no-certificate"}
    until(lambda: wanted <= set(stage.ask("p01", "status")["refusals"]))
    assert set(stage.stop().values()) == {0}
    lines = [json.loads(line) for line in stage.log_file("p01").read_text().splitlines()]
    assert {"plaintext", "no-certificate"} <= {line.get("reason") for line in lines}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_network_up_survives_chaos() -> None:
    """Ten peers, killed, wiped and losing messages, settle on the true mean all the same."""
    result = network_up("--peers", "10", "--chaos", "--seconds", "200")
    assert result["chaos"]["kills"] > 0
    assert result["proof"]["exact"]


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_the_example_averages_weights() -> None:
    """The example's three processes end with the exact average of their weights."""
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, root / "examples" / "average_model_weights.py"],
        capture_output=True, text=True, timeout=150, check=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert float(ended.stdout.split()[-1]) < 1e-4


def test_network_up_proves_itself() -> None:
    """The demonstration settles, its exit code is 0 and its proof closes."""
    result = network_up("--peers", "3", "--graph", "cycle", "--seconds", "200")
    assert result["settled"]
    assert result["clean_exits"] == 3
    assert result["proof"]["exact"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_network_up_stays_for_the_studio(tmp_path: Path) -> None:
    """With --stay the peers are still there after they have settled; Ctrl-C ends them, and the proof closes."""
    from sottovoce.studio.live import Watcher

    folder = tmp_path / "network"
    command = [sys.executable, "-m", "sottovoce", "network", "up", "--json", "--peers", "3", "--graph", "cycle"]
    process = subprocess.Popen(
        [*command, "--stay", "--keep", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )

    async def follow() -> list[str]:
        watcher, states = Watcher(folder), []
        deadline = time.monotonic() + 120
        while states[-3:] != ["settled"] * 3 and time.monotonic() < deadline:
            states.append((await watcher.look()).get("state", ""))
            await asyncio.sleep(1.0)
        process.send_signal(signal.SIGINT)
        await asyncio.to_thread(process.wait, 100)
        watcher._last = None
        states.append((await watcher.look())["state"])
        watcher.close()
        return states

    states = asyncio.run(follow())
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert states[-4:] == ["settled", "settled", "settled", "ended"]
    assert json.loads(out)["proof"]["exact"]


def test_vectors(make_stage: MakeStage, tmp_path: Path) -> None:
    """Two peers average vectors of 2,000 coordinates; the whole estimate can be written to a file."""
    values = np.random.default_rng(1).normal(size=(2, 2000))
    stage = make_stage(graphs.path(2), values, noise_std=1.0)
    stage.start()
    stage.wait_until(lambda status: status["settled"], seconds=WAIT)
    assert len(stage.ask("p01", "status")["status"]["estimate"]) < 10
    mean = tmp_path / "mean.npy"
    subprocess.run(
        [sys.executable, "-m", "sottovoce", "peer", "status", stage.configs["p01"], "--estimate-to", mean],
        capture_output=True, timeout=WAIT, check=True, env=ENVIRONMENT,
    )  # fmt: skip
    assert np.abs(np.load(mean) - values.mean(axis=0)).max() < TOLERANCE
