"""What an operator relies on, tried with real processes: health, readiness, logs when the machine has nothing left."""

from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce import graphs
from sottovoce.peer.membership.changes import install
from sottovoce.peer.membership.roster import SignedRoster
from sottovoce.peer.process.control import encode_value
from sottovoce.testing.proof import prove
from sottovoce.testing.stage import Stage, free_addresses

from .test_processes import SETTINGS, WAIT, MakeStage, agreed, make_stage, until

__all__ = ["make_stage"]  # a fixture
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PATH": "/usr/bin:/bin", "HOME": "/tmp"}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    pages = {f"p{i + 1:02d}": address for i, address in enumerate(free_addresses(2))}
    settings = SETTINGS | {"metrics_listen": pages}
    with Stage(tmp_path / "net", graphs.path(2), np.array([10.0, 20.0]), **settings) as stage:
        yield stage


def page(stage: Stage, name: str, target: str) -> tuple[int, dict[str, Any]]:
    """What a page of a peer answers: the code, and the object."""
    address = stage.config(name).metrics_listen
    try:
        with urllib.request.urlopen(f"http://{address}/{target}", timeout=WAIT) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def lines(stage: Stage, name: str) -> list[dict[str, Any]]:
    """The log, each line of which must be a JSON object; what is being written has no end yet."""
    written, _, _ = stage.log_file(name).read_text().rpartition("\n")
    return [json.loads(line) for line in written.splitlines()]


def test_ready_means_that_it_takes_part(stage: Stage) -> None:
    """Alone a peer is alive and not ready; with its neighbour it is ready; when that dies it is not, and says why."""
    stage.start("p01")
    stage.wait_until(lambda _: True, seconds=WAIT, names=["p01"])
    assert page(stage, "p01", "health") == (200, {"ok": True, "why": ""})
    code, why = page(stage, "p01", "ready")
    assert (code, why["ok"]) == (503, False)
    assert "p02" in why["why"]
    stage.start("p02")
    until(lambda: page(stage, "p01", "ready") == (200, {"ok": True, "why": ""}))
    stage.kill("p02")
    until(lambda: page(stage, "p01", "ready")[0] == 503)
    assert page(stage, "p01", "health")[0] == 200  # nothing that a restart of p01 could repair


def test_a_peer_without_descriptors_logs_json_and_comes_back(stage: Stage) -> None:
    """Its files run out: it lives, every line of its log is still an object, and afterwards it answers again."""
    stage.start()
    stage.wait_until(lambda status: status["settled"], seconds=WAIT)
    number = stage.processes["p01"].pid
    before = resource.prlimit(number, resource.RLIMIT_NOFILE)
    open_now = len(list(Path(f"/proc/{number}/fd").iterdir()))
    resource.prlimit(number, resource.RLIMIT_NOFILE, (open_now, before[1]))
    host, port = str(stage.config("p01").metrics_listen).split(":")
    callers = [socket.create_connection((host, int(port)), timeout=WAIT) for _ in range(30)]
    until(lambda: any(line.get("component") == "asyncio" for line in lines(stage, "p01")))
    for caller in callers:
        caller.close()
    resource.prlimit(number, resource.RLIMIT_NOFILE, before)
    until(lambda: stage.status("p01") is not None)
    stage.wait_until(lambda status: status["settled"] and abs(status["estimate"][0] - 15.0) < 0.01, seconds=WAIT)
    told = [line for line in lines(stage, "p01") if line.get("component") == "asyncio"]
    assert told[0]["event"] == "socket.accept() out of system resource"
    assert told[0]["error"] == "OSError"
    assert set(stage.stop().values()) == {0}
    assert all("event" in line for line in lines(stage, "p01"))


def sottovoce(*arguments: str | Path) -> str:
    """The command, which must succeed."""
    command = [sys.executable, "-m", "sottovoce", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_backup_is_restored_long_after_and_the_mean_is_exact(make_stage: MakeStage, tmp_path: Path) -> None:
    """Much has moved since it was taken, at its neighbours and through it; nothing of that is lost or counted twice."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT)
    file = tmp_path / "p02.backup"
    sottovoce("peer", "backup", stage.configs["p02"], file)
    stage.ask("p01", "set-value", value=encode_value(np.array([5000.0])))
    stage.wait_until(agreed(5080.0 / 3), seconds=WAIT)
    stage.kill("p02")
    stage.wipe("p02")
    sottovoce("peer", "restore", stage.configs["p02"], file)
    stage.ask("p03", "set-value", value=encode_value(np.array([90.0])))
    stage.start("p02")
    stage.wait_until(agreed(5110.0 / 3), seconds=WAIT)
    assert set(stage.stop().values()) == {0}
    proof = prove({name: stage.data_dir(name) for name in stage.names})
    assert proof.exact
    assert proof.largest_error < 0.01


def gauge(stage: Stage, name: str, series: str) -> float:
    """One number of a peer's metrics."""
    with urllib.request.urlopen(f"http://{stage.config(name).metrics_listen}/metrics", timeout=WAIT) as answer:
        [line] = [line for line in answer.read().decode().splitlines() if line.startswith(f"{series} ")]
    return float(line.split()[1])


def test_a_new_key_is_taken_up_without_a_restart(stage: Stage) -> None:
    """A key changes while both run: one is told by its command, the other by SIGHUP. The same processes go on."""
    stage.start()
    stage.wait_until(agreed(15.0), seconds=WAIT)
    before = {name: process.pid for name, process in stage.processes.items()}
    ends = "sottovoce_certificate_expiry_timestamp_seconds"
    old_end = gauge(stage, "p01", ends)
    sottovoce("peer", "rekey", stage.configs["p01"])
    sottovoce("network", "rekey", stage.folder, stage.folder / "p01" / "p01.card")
    roster = stage.folder / "roster.json"
    assert "the running peer uses it" in " ".join(sottovoce("peer", "roster", stage.configs["p02"], roster).split())
    install(stage.config("p01"), SignedRoster.load(roster))  # the files are there; the process does not know yet
    assert gauge(stage, "p01", "sottovoce_roster_number") == 0
    stage.processes["p01"].send_signal(signal.SIGHUP)
    until(lambda: gauge(stage, "p01", "sottovoce_roster_number") == 1)
    assert gauge(stage, "p01", ends) > old_end
    stage.ask("p02", "set-value", value=encode_value(np.array([50.0])))
    stage.wait_until(agreed(30.0), seconds=WAIT)
    assert {name: process.pid for name, process in stage.processes.items()} == before
    assert any(line["event"] == "reloaded" and line["roster"] == 1 for line in lines(stage, "p01"))
    (stage.folder / "p01" / "roster.json").write_text("nonsense")
    stage.processes["p01"].send_signal(signal.SIGHUP)
    until(lambda: any(line["event"] == "cannot reload" for line in lines(stage, "p01")))
    assert stage.ask("p01", "status")["status"]["settled"] is not None


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_new_founder_takes_over_while_the_network_runs(make_stage: MakeStage, tmp_path: Path) -> None:
    """One member after the other is told to believe it; meanwhile they stay connected, and in the end all agree."""
    stage = make_stage(graphs.complete(3), [10.0, 20.0, 60.0])
    stage.start()
    stage.wait_until(agreed(30.0), seconds=WAIT)
    sottovoce("network", "refound", stage.folder / "p03" / "roster.json", "--out", tmp_path / "again")
    roster = tmp_path / "again" / "roster.json"
    founder = SignedRoster.load(roster).roster.founder_fingerprint
    for number, name in enumerate(stage.names):
        said = sottovoce("peer", "roster", stage.configs[name], roster, "--founder", founder)
        assert "restart the peer to use it" in " ".join(said.split())
        stage.stop(name)
        stage.start(name)
        stage.wait_until(lambda status: status["exchanges"] > 3, seconds=WAIT, names=[name])
        if number == 0:
            stage.ask(name, "set-value", value=encode_value(np.array([40.0])))
    stage.wait_until(agreed(40.0), seconds=WAIT)
    assert {stage.status(name)["roster"]["number"] for name in stage.names} == {1}  # type: ignore[index]
    assert set(stage.stop().values()) == {0}
    assert prove({name: stage.data_dir(name) for name in stage.names}).exact
