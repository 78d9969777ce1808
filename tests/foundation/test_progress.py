"""Progress in a notebook: one line that is written over, and nothing is left of it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from sottovoce.foundation import progress


class ZMQInteractiveShell:
    """Named as the shell of a Jupyter kernel."""


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """As inside a Jupyter kernel, and patience is over at once."""
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell))
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.setattr(progress, "SECONDS_PER_NOTEBOOK_LINE", -1.0)


def test_a_notebook_gets_a_line_that_disappears(notebook, capsys):
    """Each state overwrites the last; at the end the line is empty again."""
    with progress.Progress(100, "running") as bar:
        for done in (10, 50):
            bar.at(done)
    out = capsys.readouterr().out
    assert "running: 10 of 100 after" in out
    assert "running: 50 of 100 after" in out
    assert out.count("\n") == 0
    assert out.rsplit("\r", 2)[1].strip() == ""
    assert out.endswith("\r")


def test_silence_is_kept_in_a_notebook(notebook, capsys):
    """``report=False`` means nothing at all."""
    with progress.Progress(100, "running", report=False) as bar:
        bar.at(50)
    assert capsys.readouterr() == ("", "")


def test_short_work_shows_nothing(monkeypatch, capsys):
    """Within the first second there is no line, and after it there is one."""
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=ZMQInteractiveShell))
    with progress.Progress(100, "running") as bar:
        now[0] = 0.9
        bar.at(50)
        assert capsys.readouterr() == ("", "")
        now[0] = 1.1
        bar.at(60)
        assert "60 of 100" in capsys.readouterr().out


def test_a_terminal_is_no_notebook(monkeypatch):
    """Neither plain Python nor IPython in a terminal."""
    assert not progress.in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not progress.in_notebook()
