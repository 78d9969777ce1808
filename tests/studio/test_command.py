"""``sottovoce studio`` as a real process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

SOURCES = str(Path(__file__).parents[2] / "src")


def start(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {SOURCES!r}); from sottovoce.cli.main import main; main()",
    ]
    return subprocess.Popen(
        [*command, "studio", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_it_serves_on_loopback_and_ends_with_ctrl_c() -> None:
    """One line of JSON says where; the page is there; Ctrl-C ends it without a traceback."""
    process = start("--json", "--port", "0")
    assert process.stdout is not None
    try:
        text = ""
        while not text.strip().endswith("}"):
            text += process.stdout.readline()
        url = json.loads(text)["url"]
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert b"sottovoce" in answer.read()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    assert process.returncode in (0, 130)


def test_it_opens_the_browser(tmp_path: Path) -> None:
    """Unless told not to: the browser of the environment is started with the page's address."""
    note, browser = tmp_path / "opened", tmp_path / "browser.py"
    browser.write_text(f"import pathlib, sys; pathlib.Path({str(note)!r}).write_text(sys.argv[1])", encoding="utf-8")
    command = f"{sys.executable} {browser} %s"
    process = start("--browser", "--json", "--port", "0", environment={**os.environ, "BROWSER": command})
    try:
        deadline = time.monotonic() + 120
        while not (note.exists() and note.read_text(encoding="utf-8")):
            assert time.monotonic() < deadline, "no browser was opened"
            time.sleep(0.05)
        assert note.read_text(encoding="utf-8").startswith("http://127.0.0.1:")
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--host", "no.such.host.invalid"], "--host"), (["--port", "70000"], "70000")]
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments: list[str], words: str) -> None:
    """As for every command."""
    process = start(*arguments)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert words in errors
    assert "Traceback" not in errors


def test_a_taken_port_is_said_so() -> None:
    """A port asked for by number is not silently exchanged for another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start("--port", str(taken.getsockname()[1]))
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert "cannot listen" in errors
