"""Graphs in words: read, printed, sized, built, and written as Python."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.errors import InvalidGraph, InvalidInput, InvalidParameter
from sottovoce.scenario.graphs import FAMILIES, GraphFile, GraphSpec, describe_graph, make_graph, parse_graph

WRITTEN = [
    ("cycle:10", "cycle(10)", "cycle:10"),
    ("cycle:1e1", "cycle(10)", "cycle:10"),
    ("path:5", "path(5)", "path:5"),
    ("complete:5", "complete(5)", "complete:5"),
    ("star:n=6", "star(6)", "star:6"),
    ("grid:2x3", "grid(2, 3)", "grid:2x3"),
    ("grid:2:3", "grid(2, 3)", "grid:2x3"),
    ("torus:cols=4:rows=3", "torus(3, 4)", "torus:3x4"),
    ("hypercube:3", "hypercube(3)", "hypercube:3"),
    ("barbell:4", "barbell(4, 0)", "barbell:4"),
    ("barbell:4:2", "barbell(4, 2)", "barbell:4:2"),
    ("rgg:20:seed=1", "random_geometric(20, seed=1)", "rgg:20:seed=1"),
    ("random-geometric:20:radius=0.5:seed=1", "random_geometric(20, radius=0.5, seed=1)", "rgg:20:0.5:seed=1"),
    ("random-regular:20:4:seed=2", "random_regular(20, 4, seed=2)", "random-regular:20:4:seed=2"),
    ("erdos-renyi:20:0.4:seed=2", "erdos_renyi(20, 0.4, seed=2)", "erdos-renyi:20:0.4:seed=2"),
    ("watts-strogatz:20:4:0.1:seed=2", "watts_strogatz(20, 4, 0.1, seed=2)", "watts-strogatz:20:4:0.1:seed=2"),
    ("barabasi-albert:20:2:seed=2", "barabasi_albert(20, 2, seed=2)", "barabasi-albert:20:2:seed=2"),
]
RANDOM = ("rgg", "erdos-renyi")
"""Families whose number of edges is random."""


@pytest.mark.parametrize(("text", "name", "printed"), WRITTEN)
def test_a_specification_is_one_graph_however_it_is_written(text: str, name: str, printed: str) -> None:
    """Numbers in order or by name make what the generator makes; printed, it has one form; as Python, it is equal."""
    spec = describe_graph(text)
    graph = spec.build()
    assert graph.name == name
    assert str(spec) == printed
    assert eval(spec.to_python(), {"sv": sv}) == graph


@pytest.mark.parametrize("text", [printed for *_, printed in WRITTEN])
def test_the_size_is_known_before_the_graph_is_made(text: str) -> None:
    """Exactly, but for the number of edges of two random families, which is about right."""
    spec = GraphSpec.parse(text)
    nodes, edges = spec.size()
    graph = spec.build()
    assert nodes == graph.num_nodes
    assert edges == graph.num_edges or (spec.family in RANDOM and 0.5 < edges / graph.num_edges < 2)


NUMBERS = st.integers(0, 10**30) | st.floats(allow_nan=False)


@given(family=st.sampled_from(sorted(FAMILIES)), numbers=st.lists(NUMBERS, min_size=3, max_size=3), seed=NUMBERS)
def test_what_is_printed_is_read_back(family: str, numbers: list[float], seed: float) -> None:
    """parse(print(x)) = x for any family and numbers, sensible or not; its size is never an exception."""
    parameters = [name for name in FAMILIES[family].parameters if name != "seed"]
    text = ":".join([family, *(f"{n}={x!r}" for n, x in zip(parameters, numbers, strict=False))])
    spec = GraphSpec.parse(text if "seed" not in FAMILIES[family].parameters else f"{text}:seed={seed!r}")
    assert describe_graph(str(spec)) == spec
    assert len(spec.size()) == 2


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("complete:1000000", "1,000,000 nodes and 499,999,500,000 edges"),
        ("hypercube:60", "1.15e\\+18 nodes"),
        ("grid:1e9x1e9", "1e\\+18 nodes"),
        ("cycle:1e400", "inf nodes"),
        ("rgg:10000000:1.0:seed=1", "10,000,000 nodes and 49,999,995,000,000 edges"),
    ],
)
def test_a_graph_that_no_memory_holds_is_refused_with_its_size(text: str, size: str) -> None:
    """Before anything is made."""
    with pytest.raises(InvalidGraph, match=f"would have {size}.* this machine's memory"):
        parse_graph(text)


def test_a_seed_beside_the_text_is_the_default() -> None:
    """One in the text wins; families without randomness ignore it."""
    assert parse_graph("rgg:20", seed=5).name.endswith("seed=5)")
    assert parse_graph("rgg:20:seed=1", seed=5).name.endswith("seed=1)")
    assert parse_graph("cycle:5", seed=5).name == "cycle(5)"


def test_a_file_name_is_read_unless_files_are_not_allowed(tmp_path: Path) -> None:
    """Whatever its suffix; printed and as Python it is the same file."""
    path = tmp_path / "ring.edges"
    sv.graphs.cycle(4).to_file(path)
    described = describe_graph(str(path))
    assert described == GraphFile(str(path)) == describe_graph(str(described))
    assert described.build() == eval(described.to_python(), {"sv": sv}) == sv.graphs.cycle(4)
    with pytest.raises(InvalidParameter, match="graph must be one of cycle"):
        describe_graph(str(path), files=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "graph must be a file or one of cycle"),
        ("ring:10", "graph must be a file or one of cycle"),
        ("no/such/file.txt", "graph must be a file or one of"),
        ("a\0b", "graph must be a file or one of"),
        ("x" * 5000, "graph must be a file or one of"),
        ("cycle", "missing a required argument: 'n'; write cycle:n"),
        ("cycle:", "missing a required argument: 'n'"),
        ("cycle:ten", "'ten' is not a number"),
        ("cycle:10:3", "too many positional arguments; write cycle:n"),
        ("cycle:size=3", "write cycle:n"),
        ("cycle:2.5", "n must be a whole number ≥ 3, got 2.5"),
        ("cycle:nan", "n must be a whole number"),
        ("rgg:10:0.5:7", "write rgg:n:radius:seed=…"),
        ("rgg:10:seed=-1", "seed must be a whole number ≥ 0"),
        ("grid:2x", "'' is not a number"),
        ("random-regular:5:3:seed=1", "degree must be below"),
    ],
)
def test_what_cannot_be_read_says_how_to_write_it(text: str, message: str) -> None:
    """One sentence, exit code 2 on the command line."""
    with pytest.raises(InvalidParameter, match=message):
        parse_graph(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_made_from_a_number_of_nodes(family: str) -> None:
    """With customary other parameters; 16 nodes suit them all."""
    assert make_graph(family, 16, seed=1).num_nodes == 16


@pytest.mark.parametrize(
    ("family", "num_nodes", "name"),
    [
        ("grid", 7, "grid(1, 7)"),
        ("grid", 12, "grid(3, 4)"),
        ("hypercube", 7, "hypercube(3)"),
        ("barbell", 5, "barbell(2, 1)"),
        ("random-regular", 5, "random_regular(5, 4, seed=1)"),
        ("erdos-renyi", 2, f"erdos_renyi(2, {2 * math.log(2) / 2:g}, seed=1)"),
    ],
)
def test_odd_numbers_of_nodes_give_the_nearest_member(family: str, num_nodes: int, name: str) -> None:
    """Lattices take the squarest sides, hypercubes the nearest power of two, barbells a bridge of one."""
    assert make_graph(family, num_nodes, seed=1).name == name


@pytest.mark.parametrize(
    ("family", "num_nodes", "message"),
    [
        ("cycle", 2, "n must be a whole number ≥ 3"),
        ("torus", 7, "rows must be a whole number ≥ 3"),
        ("barbell", 3, "clique must be a whole number ≥ 2"),
        ("random-regular", 4, "degree must be below n = 4"),
        ("watts-strogatz", 4, "k must be below n = 4"),
        ("barabasi-albert", 2, "attach must be below n = 2"),
        ("ring", 10, r"one of cycle, path, .* got 'ring'"),
        *(("cycle", senseless, "num_nodes must be a whole number ≥ 2") for senseless in (0, 1, -5, 2.5, True)),
    ],
)
def test_families_without_such_a_member_say_so(family: str, num_nodes: int, message: str) -> None:
    """Never a crash, never a graph of another size."""
    with pytest.raises(InvalidInput, match=message):
        make_graph(family, num_nodes, seed=1)
