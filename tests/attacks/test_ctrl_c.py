"""Ctrl-C, sent by a real signal at every stage: what is composed of runs stops, writes nothing and exits with 130."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

LONG = "1000000000"
COMMANDS = {
    "demo": ["demo", "--out", "out"],
    "reproduce": ["reproduce", "figure-1", "--replicas", "3000", "--out", "out"],
    "compare": ["compare", "--graph", "cycle:10", "--steps", LONG, "--csv", "out/a.csv", "--plot", "out/b"],
    "bound": ["bound", "--graph", "cycle:10", "--steps", LONG, "--plot", "out/b"],
    "plan": [
        "plan",
        "--graph",
        "rgg:60:seed=1",
        "--relative-error",
        "1e-4",
        "--probability",
        "0.95",
        "--noise-std",
        "1",
    ],
    "bench": ["bench"],
}
STOP_AT = """
import os, signal, sys
from sottovoce.simulation import running

stage, runs, original = int(sys.argv.pop(1)), [], running.Runner.span

def span(self, at, end):
    if at == 0:
        runs.append(at)
    if len(runs) == stage:
        os.kill(os.getpid(), signal.SIGINT)
    original(self, at, end)

running.Runner.span = span
from sottovoce.cli.main import main
main()
"""


def interrupted(folder: Path, stage: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, sent SIGINT by itself when its ``stage``-th run begins."""
    return subprocess.run(
        [sys.executable, "-c", STOP_AT, str(stage), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("stage", [1, 5])
@pytest.mark.parametrize("name", ["demo", "compare"])
def test_a_command_that_is_interrupted_in_any_of_its_runs_writes_nothing(tmp_path: Path, name: str, stage: int) -> None:
    """First run, fifth run: exit 130, one word, no file, no folder."""
    command = {"compare": [*COMMANDS["compare"][:4], "400", *COMMANDS["compare"][5:]]}.get(name, COMMANDS[name])
    done = interrupted(tmp_path, stage, *command)
    assert done.returncode == 130, done.stderr
    assert done.stderr.strip().splitlines()[-1] == "interrupted"
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_bound_is_not_shown_beside_half_a_run(tmp_path: Path) -> None:
    """Nor does it end in an error of its own."""
    done = interrupted(tmp_path, 1, "bound", "--graph", "cycle:10", "--steps", "300", "--replicas", "50", "--plot", "b")
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (130, "interrupted")
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def wait_and_interrupt(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.6, 1.2, 2.5, 5.0])
@pytest.mark.parametrize("name", COMMANDS)
def test_at_any_moment(tmp_path: Path, name: str, seconds: float) -> None:
    """While it imports, compiles, runs, draws: stopped with 130 and nothing half written, or done before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce", *COMMANDS[name]],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, err = wait_and_interrupt(process, seconds)
    if process.returncode == 0:
        return
    assert process.returncode in (130, -signal.SIGINT), err
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


LOOP = """
import sottovoce as sv
graph, values = sv.graphs.cycle(10), list(range(10))
def one(seed):
    return sv.simulate(graph, values, sv.StandardGossip(), num_steps=300_000_000, seed=seed, record=[])
done = [sv.simulate(graph, values, sv.StandardGossip(), num_steps=10, seed=1)]  # all is imported and compiled
print("begin", flush=True)
for seed in range(40):
    done.append({call})
print("end")
"""


@pytest.mark.parametrize(
    "call",
    ["one(seed).num_steps", "sv.simulate(graph, values, sv.StandardGossip(), num_steps=300_000_000, seed=seed).status"],
    ids=["in a function", "in the loop"],
)
def test_a_loop_of_simulations_does_not_swallow_it(call: str) -> None:
    """One Ctrl-C ends the script, although the run it met is handed back."""
    script = textwrap.dedent(LOOP).replace("{call}", call)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    out, err = wait_and_interrupt(process, 0.5)
    assert process.returncode in (130, -signal.SIGINT), err
    assert out == ""
    assert "KeyboardInterrupt" in err


def test_another_caller_is_not_stopped_for_it() -> None:
    """Whoever looked at the interrupted run and goes on elsewhere, or resumes it, is left alone."""
    import sottovoce as sv

    def ctrl_c(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def first() -> sv.Solution:
        values, how = range(5), {"num_steps": 10**9, "seed": 1, "record": []}
        return sv.simulate(sv.graphs.cycle(5), values, sv.StandardGossip(), progress=ctrl_c, **how)

    run = first()
    assert run.status is sv.Status.INTERRUPTED
    assert run.resume(10).num_steps == run.num_steps + 10
    again = sv.simulate(sv.graphs.cycle(5), range(5), sv.StandardGossip(), num_steps=10, seed=1)
    assert again.status is sv.Status.COMPLETED
