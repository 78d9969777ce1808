from __future__ import annotations

import pytest

import sottovoce as sv
from sottovoce.errors import InvalidInput, InvalidParameter
from sottovoce.scenario.graphs import FAMILIES, make_graph, parse_graph


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cycle:10", "cycle(10)"),
        ("grid:2x3", "grid(2, 3)"),
        ("grid:2:3", "grid(2, 3)"),
        ("grid:rows=2:cols=3", "grid(2, 3)"),
        ("hypercube:3", "hypercube(3)"),
        ("barbell:4", "barbell(4, 0)"),
        ("barbell:4:2", "barbell(4, 2)"),
        ("rgg:20:seed=1", "random_geometric(20, seed=1)"),
        ("rgg:20:0.5:seed=1", "random_geometric(20, radius=0.5, seed=1)"),
        ("random-geometric:20:seed=1", "random_geometric(20, seed=1)"),
        ("random-regular:20:4:seed=2", "random_regular(20, 4, seed=2)"),
        ("erdos-renyi:20:0.4:seed=2", "erdos_renyi(20, 0.4, seed=2)"),
        ("watts-strogatz:20:4:0.1:seed=2", "watts_strogatz(20, 4, 0.1, seed=2)"),
        ("barabasi-albert:20:2:seed=2", "barabasi_albert(20, 2, seed=2)"),
    ],
)
def test_specifications_read_as_the_generators_are_called(text, name):
    """Numbers in order, then name=value."""
    assert parse_graph(text).name == name


def test_a_seed_beside_the_text_is_the_default():
    """One in the text wins; families without randomness ignore it."""
    assert parse_graph("rgg:20", seed=5).name.endswith("seed=5)")
    assert parse_graph("rgg:20:seed=1", seed=5).name.endswith("seed=1)")
    assert parse_graph("cycle:5", seed=5).name == "cycle(5)"


def test_a_file_name_is_read(tmp_path):
    """Whatever its suffix."""
    sv.graphs.cycle(4).to_file(tmp_path / "ring.txt")
    assert parse_graph(str(tmp_path / "ring.txt")) == sv.graphs.cycle(4)


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
def test_what_cannot_be_read_says_how_to_write_it(text, message):
    """One sentence, exit code 2 on the command line."""
    with pytest.raises(InvalidParameter, match=message):
        parse_graph(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_can_be_made_from_a_number_of_nodes(family):
    """With customary other parameters; 16 nodes suit them all."""
    assert make_graph(family, 16, seed=1).num_nodes == 16


@pytest.mark.parametrize("num_nodes", [0, 1, -5, 2.5, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_senseless_number_of_nodes_is_an_error_for_every_family(family, num_nodes):
    """Never a crash."""
    with pytest.raises(InvalidParameter, match="num_nodes must be a whole number ≥ 2"):
        make_graph(family, num_nodes)


@pytest.mark.parametrize("num_nodes", [2, 3, 5, 7])
@pytest.mark.parametrize("family", FAMILIES)
def test_small_numbers_give_a_graph_or_a_clear_error(family, num_nodes):
    """Some families have no such member."""
    try:
        made = make_graph(family, num_nodes, seed=1)
    except InvalidInput as error:
        made, said = None, str(error)
    assert made is None or made.num_nodes >= 2
    assert made is not None or "must" in said


def test_an_unknown_family_lists_the_known_ones():
    """All of them."""
    with pytest.raises(InvalidParameter, match=r"one of cycle, path, .* got 'ring'"):
        make_graph("ring", 10)
