from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given

import sottovoce as sv
from sottovoce.errors import InvalidFile, MissingDependency
from sottovoce.graphs import files

from .strategies import connected_graphs


@given(connected_graphs())
@pytest.mark.parametrize("suffix", [".txt", ".edges", ".parquet"])
def test_file_round_trip(tmp_path_factory, suffix, graph):
    """Written and read again, the edges are the same in the same order."""
    path = tmp_path_factory.mktemp("graph") / f"mine{suffix}"
    graph.to_file(path)
    again = sv.Graph.from_file(path)
    assert again == graph
    assert again.name == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n",
        "0,1\n1,2\n",
        "0\t1\r\n1\t2\r\n",
        "# title\n\n0 1  # first\n  1, 2\n",
        "0 1\n1 2",
        "# größer als ASCII\n0 1\n1 2\n",
    ],
)
def test_ways_to_write_a_pair(tmp_path, text):
    """Spaces, tabs, commas, comments, blank lines, either line ending."""
    path = tmp_path / "g.txt"
    path.write_bytes(text.encode())
    assert sv.Graph.from_file(path).edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 two\n", "line 2: expected two whole numbers or two names, got '1 two'"),
        ("0 1\n\n1 2 3\n", "line 3: expected two whole numbers or two names, got '1 2 3'"),
        ("0\n", "line 1: expected two whole numbers"),
        ("0 1.5\n", "line 1: expected two whole numbers"),
        ("0 1\n1 2.0\n", "line 2: expected two whole numbers"),
        ("{'nodes': []}\n", "line 1: expected two whole numbers"),
        ("", "contains no edges"),
        ("# only a comment\n", "contains no edges"),
        ("0 1\n# pause\n1 1\n", r"line 3: edges contain a self-loop at node 1"),
        ("0 1\n1 2\n1 0\n", r"line 3: edges contain \(0, 1\) more than once"),
        ("0 1\n1 -2\n", "line 2: edges name node -2"),
        ("0 1\n2 3\n", r"g\.txt: g is not connected: it has 2 components; for instance nodes 0 and 2|not connected"),
        (f"0 {2**70}\n", "line 1: node numbers must be below"),
        (f"0 {2**40}\n", "num_nodes must be at most"),
    ],
)
def test_a_text_that_is_not_a_graph_names_the_line(tmp_path, text, message):
    """The file, the line and what is there."""
    path = tmp_path / "g.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidFile, match=message) as caught:
        sv.Graph.from_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\xff\xfe\x00\x01", bytes(range(256))])
def test_a_binary_file_is_not_a_graph(tmp_path, content):
    """Said in one sentence."""
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"picture\.png"):
        sv.Graph.from_file(path)


def test_missing_files_and_folders(tmp_path):
    """Neither is a graph."""
    with pytest.raises(InvalidFile, match="does not exist or is not a file"):
        sv.Graph.from_file(tmp_path / "nowhere.txt")
    with pytest.raises(InvalidFile, match="does not exist or is not a file"):
        sv.Graph.from_file(tmp_path)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"from": [0], "to": [1]}, "column source|columns source and target"),
        ({"source": [0.0], "target": [1.5]}, "column source must be whole numbers or names without gaps, got double"),
        ({"source": [0, 1], "target": [1, None]}, "column target must be whole numbers or names without gaps"),
        ({"source": ["a", None], "target": ["b", "c"]}, "column source must be whole numbers or names"),
        ({"source": [0, 2], "target": [1, 3]}, "not connected"),
        ({"source": pyarrow.array([], pyarrow.int64()), "target": pyarrow.array([], pyarrow.int64())}, "empty"),
    ],
)
def test_parquet_tables_that_are_not_edge_lists(tmp_path, table, message):
    """Columns source and target, whole numbers, none missing, a graph."""
    path = tmp_path / "g.parquet"
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    with pytest.raises(InvalidFile, match=message):
        sv.Graph.from_file(path)


def test_a_broken_parquet_file(tmp_path):
    """Not a crash of the library that reads it."""
    path = tmp_path / "g.parquet"
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InvalidFile, match="is not a Parquet edge list"):
        sv.Graph.from_file(path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    """pip install 'sottovoce[cluster]'."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependency, match=r"sottovoce\[cluster\]"):
        sv.graphs.cycle(3).to_file(tmp_path / "g.parquet")


class Interrupted(BaseException):
    """Like Ctrl-C: not an Exception."""


@pytest.mark.parametrize("suffix", [".txt", ".parquet"])
def test_an_interrupted_write_leaves_the_previous_file_and_nothing_else(tmp_path, monkeypatch, suffix):
    """The writer dies in the middle, after some of the new content is on disk."""
    path = tmp_path / f"g{suffix}"
    sv.graphs.cycle(5).to_file(path)
    before = path.read_bytes()

    def die(*args, **kwargs):
        target = next(a for a in args if isinstance(a, Path))
        target.write_bytes(b"half a fi")
        raise Interrupted

    monkeypatch.setattr(files, "_write_text", die)
    monkeypatch.setattr(pyarrow.parquet, "write_table", die)
    with pytest.raises(Interrupted):
        sv.graphs.complete(5).to_file(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_at_the_rename_leaves_the_previous_file(tmp_path, monkeypatch):
    """The last moment at which something can go wrong."""
    path = tmp_path / "g.txt"
    sv.graphs.cycle(5).to_file(path)
    before = path.read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        sv.graphs.complete(5).to_file(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_writing_makes_missing_folders_and_ordinary_permissions(tmp_path):
    """Readable by whoever may read new files here."""
    path = tmp_path / "new" / "folder" / "g.txt"
    sv.graphs.path(3).to_file(path)
    other = tmp_path / "other"
    other.touch()
    assert path.stat().st_mode == other.stat().st_mode
    assert path.read_text(encoding="utf-8") == "# path(3)\n0 1\n1 2\n"


def test_a_name_with_line_breaks_does_not_break_the_file(tmp_path):
    """It becomes one comment line."""
    graph = sv.Graph.from_edges([(0, 1)], name="two\nlines 7 8")
    graph.to_file(tmp_path / "g.txt")
    assert sv.Graph.from_file(tmp_path / "g.txt") == graph


def test_pieces_are_written_and_read_in_order(tmp_path, monkeypatch):
    """Also when the edges are handled a few at a time."""
    monkeypatch.setattr("sottovoce.graphs.validation.CHUNK", 3)
    graph = sv.graphs.random_geometric(50, seed=1)
    graph.to_file(tmp_path / "g.txt")
    assert np.array_equal(sv.Graph.from_file(tmp_path / "g.txt").edges, graph.edges)


@pytest.mark.parametrize(
    ("head", "separator", "tail", "line"),
    [
        ("", " ", "", 7),
        ("", ",", "", 7),
        ("# a title\n\n# and more\n", ", ", "", 10),
        ("", "\t", "# the end\n\n", 7),
        ("0 9 # by spaces\n", ",", "", 8),
    ],
)
def test_the_line_of_a_repeated_edge(tmp_path, head, separator, tail, line):
    """Named for any way to write pairs, with comments before, between and after; the reader for large files or ours."""
    rows = [f"{a}{separator}{a + 1}" for a in range(6)] + [f"3{separator}2"]
    path = tmp_path / "g.txt"
    path.write_text(head + "\n".join(rows) + "\n" + tail)
    with pytest.raises(InvalidFile, match=rf"g\.txt, line {line}: edges contain \(2, 3\) more than once"):
        sv.Graph.from_file(path)
    path.write_text(head + "\n".join(rows[:3]) + "\n# pause\n" + "\n".join(rows[3:]) + "\n" + tail)
    with pytest.raises(InvalidFile, match=rf"line {line + 1}:"):
        sv.Graph.from_file(path)


def test_commas_are_read_by_the_reader_for_large_files(tmp_path, monkeypatch):
    """Ours, line by line, takes seven times as long."""
    path = tmp_path / "g.csv"
    path.write_text("# title\n0,1\n1, 2\n")
    monkeypatch.setattr(files, "_lines", None)
    assert sv.Graph.from_file(path).edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("text", ["0 1\n1 2\n", "0,1\n1,2\n", "0, 1 # first\n1 2\n", "source,target\n0,1\n1,2\n"])
def test_a_mark_of_the_byte_order_is_no_part_of_a_number(tmp_path, text):
    """Windows editors put one in front of UTF-8 text; the graph is the same."""
    path = tmp_path / "ring.txt"
    path.write_text(text, encoding="utf-8-sig")
    assert sv.Graph.from_file(path).edges.tolist() == [[0, 1], [1, 2]]
