"""The environment after a file of tests is that before it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .environment import put_back

ROOT = Path(__file__).parent.parent


def test_what_was_added_changed_or_taken_away_is_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """All three, also for processes that are started afterwards; what pytest says of its own stays."""
    monkeypatch.setenv("SOTTOVOCE_KEPT", "before")
    monkeypatch.setenv("SOTTOVOCE_TAKEN", "before")
    before = dict(os.environ)
    monkeypatch.setenv("SOTTOVOCE_KEPT", "changed")
    monkeypatch.delenv("SOTTOVOCE_TAKEN")
    monkeypatch.setenv("SOTTOVOCE_ADDED", "new")
    monkeypatch.setenv("PYTEST_OF_ITS_OWN", "new")
    put_back(before)
    seen = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"SOTTOVOCE_KEPT=before", "SOTTOVOCE_TAKEN=before", "PYTEST_OF_ITS_OWN=new"} <= set(seen)
    assert not any(line.startswith("SOTTOVOCE_ADDED") for line in seen)


def test_a_later_file_does_not_see_what_an_earlier_one_has_left(tmp_path: Path) -> None:
    """As in `make test`, where two files share a process: the second begins as the first did."""
    first, second = tmp_path / "test_first.py", tmp_path / "test_second.py"
    first.write_text("import os\ndef test_leave():\n    os.environ['LEFT_BEHIND'] = 'x'\n")
    second.write_text("import os\ndef test_look():\n    assert 'LEFT_BEHIND' not in os.environ\n")
    options = ["-q", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(ROOT)]
    command = [sys.executable, "-m", "pytest", *options, "--confcutdir", str(ROOT), "-p", "conftest"]
    done = subprocess.run(
        [*command, str(first), str(second)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stdout
