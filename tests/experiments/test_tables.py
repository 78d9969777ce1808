"""Tables for people and papers: LaTeX that compiles, whatever stands in a cell."""

from __future__ import annotations

import re
import shutil
import subprocess

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments import tables
from sottovoce.experiments.compare import customary_methods

HOSTILE = [
    "50 % of $5 & #1_a ~ ^2 \\ {x}",
    "σ = 1, φ = 0.5…0.9 – ± ≈ ≤ × ε λ β γ ρ √ ∞ ‖",
    "Gödel, Erdős–Rényi, 日本, 🙂",
    "10²³ ½ ﬁ",
    "tab\tand\nline",
]
MATHS = re.compile(r"\$[^$]*\$")
COMMAND = re.compile(r"\\[A-Za-z]+(\{\})?|\\[\\{}$%&_#]")


def checked_rows(text: str, columns: int) -> list[str]:
    """Rows of the one tabular; everything around it is checked on the way."""
    begins, ends = re.findall(r"\\begin\{(\w+)\}", text), re.findall(r"\\end\{(\w+)\}", text)
    assert begins == ends[::-1] == ["table", "tabular"]
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{")] == [1, 1, 1, 1]
    layout = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)
    assert layout
    assert len(layout[1]) == columns
    bare = text.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    rows = [row.replace(r"\midrule", "").strip() for row in body.split(r"\\" + "\n") if row.strip()]
    for row in rows:
        check_letters(row)
        assert row.replace(r"\&", "").count("&") == columns - 1
    return rows


def check_letters(text: str) -> None:
    """No letter that means something to LaTeX stands bare, and none that its fonts lack."""
    text = text.replace(r"\textbackslash{}", "")
    assert text.replace(r"\$", "").count("$") % 2 == 0
    rest = COMMAND.sub("", MATHS.sub("", text.replace(r"\$", ""))).replace("&", "")
    assert not set(rest) & set("\\{}$%#_~^<>|"), text
    assert all(letter.isascii() or (letter.isalpha() and ord(letter) < 0x180) for letter in text), text


def test_hostile_cells_are_written_as_themselves():
    """Cells, headings, captions and notes with every special letter keep the structure of the table."""
    text = tables.latex(["method", *HOSTILE[:2]], [[cell, "1.5e-07", cell] for cell in HOSTILE], HOSTILE[0], HOSTILE)
    rows = checked_rows(text, 3)
    assert len(rows) == 1 + len(HOSTILE)
    assert r"$1.5 \cdot 10^{-7}$" in rows[1]
    caption = re.search(r"\\caption\{(.*)\}\n", text)
    assert caption
    check_letters(caption[1])
    assert "Gödel" in text
    assert "[U+65E5]" in text
    assert "10$^{2}$$^{3}$ 1/2 fi" in text


@pytest.fixture(scope="module")
def found():
    graph = sv.graphs.random_geometric(8, seed=1)
    values = np.random.default_rng(1).random(8)
    return sv.compare(graph, values, customary_methods(graph), num_steps=60, seed=1, replicas=2, schedules=2)


@pytest.mark.timeout(900)
def test_the_table_of_all_methods_is_sound(found, tmp_path):
    """A row per method, between comments that say where it comes from and the notes."""
    found.to_latex(tmp_path / "t.tex")
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if line.startswith("%")]
    assert any("random_geometric(8, seed=1)" in line for line in comments)
    table = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    headings, _ = found.cells()
    assert len(checked_rows(table, len(headings))) == len(found.rows) + 1


@pytest.mark.timeout(900)
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX here")
def test_it_compiles(found, tmp_path):
    """With booktabs alone."""
    document = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n%s\n\\end{document}\n"
    (tmp_path / "t.tex").write_text(document % found.to_latex(), encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


def test_columns_that_have_nothing_to_say_are_left_out(found):
    """No accuracy and no target were asked for: no column about them; ε is there for the Laplace methods."""
    headings, cells = found.cells()
    assert not {"noise ×", "messages needed"} & set(headings)
    assert "ε" in headings
    assert all(len(row) == len(headings) for row in cells)
    marked = [row[0] for row in cells if row[0].endswith(" †")]
    assert len(marked) == sum(bool(row.needs) for row in found.rows)
