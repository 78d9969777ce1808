"""One's own data: how texts are read as graphs and values, what is said about bad ones, and set-ups as files."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import InvalidFile, InvalidInput, InvalidParameter
from sottovoce.studio.data import read_graph, read_values
from sottovoce.studio.limits import Limits
from sottovoce.studio.setups import read_setup, write_setup
from sottovoce.studio.tables import Choices, read_table

from .helpers import SMALL, Studio

FOUND = Choices()
LIMITS = Limits()

VALUES: dict[str, tuple[str, list[float]]] = {
    "decimal comma behind semicolons": ("0;0,5\n1;0,25\n", [0.5, 0.25]),
    "decimal comma behind tabs": ("ada\t0,5\nbob\t1,25\n", [0.5, 1.25]),
    "decimal comma behind spaces": ("0 0,5\n1 0,25\n", [0.5, 0.25]),
    "a column with decimal commas": ("0,5\n0,25\n12,75\n", [0.5, 0.25, 12.75]),
    "numbered rows behind commas": ("0,5\n1,7\n2,9\n", [5.0, 7.0, 9.0]),
    "decimal point": ("0,0.5\n1,0.25\n", [0.5, 0.25]),
    "headings": ("node;value\n0;1\n1;2\n", [1.0, 2.0]),
    "rows out of order": ("node,value\n2,30\n0,10\n1,20\n", [10.0, 20.0, 30.0]),
    "one line": ("1, 2, 3", [1.0, 2.0, 3.0]),
    "one column with comments": ("# mine\n1e3\n-2.5 # loss\n\n", [1000.0, -2.5]),
    "quoted names": ('"Ada; the first";1,5\n"Bob";2\n', [1.5, 2.0]),
    "byte order mark": ("\ufeff0.5\n0.25", [0.5, 0.25]),
}


@pytest.mark.parametrize(("text", "values"), VALUES.values(), ids=VALUES)
def test_values_are_read_as_people_write_them(text: str, values: list[float]) -> None:
    """Delimiter, decimals and headings are found; numbers that name nodes put values in their place."""
    assert read_values(text, "mine.csv", FOUND, LIMITS)["values"] == values


def test_a_person_may_say_otherwise() -> None:
    """What is ambiguous is decided by whoever knows: the same text, two readings."""
    text = "0,5\n1,7\n"
    assert read_values(text, "x", FOUND, LIMITS)["values"] == [5.0, 7.0]
    assert read_values(text, "x", Choices(decimal=","), LIMITS)["values"] == [0.5, 1.7]
    assert read_values("1;2\n3;4\n", "x", Choices(header=True), LIMITS)["values"] == [3.0, 4.0]


def test_the_preview_says_how_it_was_read() -> None:
    """Delimiter, decimals, headings and the first rows; long tables are cut."""
    rows = "".join(f"n{k};{k},5\n" for k in range(100))
    preview = read_values("who;value\n" + rows, "mine.csv", FOUND, LIMITS)["preview"]
    assert (preview["delimiter"], preview["decimal"], preview["header"]) == (";", ",", True)
    assert preview["numRows"] == 100
    assert preview["rows"][:2] == [["who", "value"], ["n0", "0,5"]]
    assert len(preview["rows"]) < 10


def test_values_by_name_keep_their_names() -> None:
    """Names in the first column are handed over with the numbers; one that is there twice is refused."""
    answer = read_values("ada,1\nbob,2\n", "x", FOUND, LIMITS)
    assert (answer["labels"], answer["values"]) == (["ada", "bob"], [1.0, 2.0])
    with pytest.raises(InvalidFile, match="once"):
        read_values("ada,1\nada,2\n", "x", FOUND, LIMITS)


@pytest.mark.parametrize("text", ["1\nsecret\n", "1\ninf\n", "ada,1\nbob,\n", "", "# nothing\n"])
def test_what_is_wrong_with_values_is_said_without_them(text: str) -> None:
    """A sentence with a line, and never what stands in it."""
    with pytest.raises(InvalidFile) as caught:
        read_values(text, "mine.csv", FOUND, LIMITS)
    assert "mine.csv" in str(caught.value)
    assert "secret" not in str(caught.value)


GRAPHS: dict[str, tuple[str, list[list[int]], list[str] | None, list[float] | None]] = {
    "numbers": ("0 1\n1 2\n", [[0, 1], [1, 2]], None, None),
    "numbers behind commas": ("0,1\n0,2\n", [[0, 1], [0, 2]], None, None),
    "commas and spaces mixed": ("0,1\n1 2\n", [[0, 1], [1, 2]], None, None),
    "a heading": ("source,target\n0,1\n1,2\n", [[0, 1], [1, 2]], None, None),
    "names": ("a b\nb c\n", [[0, 1], [1, 2]], ["a", "b", "c"], None),
    "names with spaces": ("Ada L.;Bob\nBob;Carl\n", [[0, 1], [1, 2]], ["Ada L.", "Bob", "Carl"], None),
    "weights": ("from;to;weight\nada;bob;0,5\nbob;carl;2\n", [[0, 1], [1, 2]], ["ada", "bob", "carl"], [0.5, 2.0]),
    "weights of numbers": ("1 0 3\n2 1 0.5\n", [[0, 1], [1, 2]], None, [3.0, 0.5]),
    "a third column of words": ("0,1,friends\n1,2,cousins\n", [[0, 1], [1, 2]], None, None),
}


@pytest.mark.parametrize(("text", "edges", "labels", "weights"), GRAPHS.values(), ids=GRAPHS)
def test_graphs_are_read_with_names_and_weights(
    text: str, edges: list[list[int]], labels: list[str] | None, weights: list[float] | None
) -> None:
    """Two columns of nodes and a third of weights; weights stay with their edges."""
    answer = read_graph(text, "mine.csv", FOUND, LIMITS)
    assert (answer["edges"], answer["labels"], answer["weights"]) == (edges, labels, weights)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\n1 x\n", "line 2: expected two whole numbers"),
        ("0 1\n\n# c\n1 0\n", "line 4"),
        ("0 1\n1 1\n", "line 2"),
        ("0 1\n-1 0\n", "line 2"),
        ("0 1\n2 3\n", "not connected"),
        ("", "no edges"),
        ("0\n1\n", "line 1: expected two nodes"),
        ("0 1 -2\n", "line 1: a weight must be a number"),
        ("0 1 2\n1 2 x\n", "line 2: a weight must be a number"),
        ("0 99999999999\n", "nodes"),
    ],
)
def test_a_bad_graph_is_explained(text: str, words: str) -> None:
    """The sentence names the file and, where one line is wrong, that line."""
    with pytest.raises(InvalidInput, match=words):
        read_graph(text, "mine.csv", FOUND, LIMITS)


def graphml(weights: bool = True, name: str = "name") -> str:
    graph = sv.Graph.from_edges([("ada", "bob"), ("bob", "carl"), ("carl", "ada")])
    head = (
        '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'<key id="n" for="node" attr.name="{name}" attr.type="string"/>'
        '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="undirected">'
    )
    assert graph.labels is not None
    nodes = "".join(f'<node id="v{k}"><data key="n">{each}</data></node>' for k, each in enumerate(graph.labels))
    weight = '<data key="w">{}</data>' if weights else "{:.0s}"
    edges = "".join(
        f'<edge source="v{i}" target="v{j}">{weight.format(str(k + 0.5))}</edge>'
        for k, (i, j) in enumerate(graph.edges.tolist())
    )
    return f"{head}{nodes}{edges}</graph></graphml>"


def test_graphml_is_recognised_by_what_it_is() -> None:
    """Names from an attribute or the identifiers, weights where all edges have one."""
    answer = read_graph(graphml(), "mine.txt", FOUND, LIMITS)
    assert answer["labels"] == ["ada", "bob", "carl"]
    assert sorted(answer["weights"]) == [0.5, 1.5, 2.5]
    assert answer["preview"]["format"] == "GraphML"
    plain = read_graph(graphml(weights=False, name="colour"), "mine.xml", FOUND, LIMITS)
    assert (plain["labels"], plain["weights"]) == (["v0", "v1", "v2"], None)


@pytest.mark.parametrize(
    "text",
    [
        "<graphml><graph>",
        "<graphml></graphml>",
        '<!DOCTYPE x [<!ENTITY a "b">]><graphml></graphml>',
        graphml().replace('source="v0"', 'source="v1"', 1),
        graphml().replace("</graph>", '<node id="alone"/></graph>'),
    ],
)
def test_bad_graphml_is_a_sentence(text: str) -> None:
    """Broken, empty, with entities, with a loop, or in pieces: refused with the file's name."""
    with pytest.raises(InvalidFile, match=r"mine\.graphml"):
        read_graph(text, "mine.graphml", FOUND, LIMITS)


def test_two_hundred_thousand_edges_are_read(server: Studio) -> None:
    """As a request; the answer has them all."""
    count = 200_000
    lines = "".join(f"{k % 50_000},{(k % 50_000 + 1 + k // 50_000) % 50_000}\n" for k in range(count))
    answer = server.post("/api/read/edges?name=large.csv", content=lines)
    assert answer.status_code == 200
    assert len(answer.json()["edges"]) == count


def test_choices_that_are_not_offered_are_refused(server: Studio) -> None:
    """A delimiter of one's own invention is a sentence."""
    assert server.post("/api/read/values?delimiter=x", content="1\n2\n").status_code == 422
    with pytest.raises(InvalidParameter, match="decimal"):
        Choices.parse({"decimal": "·"})
    assert server.post("/api/read/values?decimal=,&delimiter=;", content="a;0,5\nb;1\n").json()["values"] == [0.5, 1.0]


def test_any_text_is_a_table_or_a_sentence() -> None:
    """Random bytes of text raise nothing but what a person can read."""
    rng = np.random.default_rng(5)
    letters = list('0123456789,;.\t \n\r"#eE+-<>xé\u2028')
    for _ in range(300):
        text = "".join(rng.choice(letters, size=rng.integers(0, 60)))
        for reader in (read_values, read_graph):
            with contextlib.suppress(InvalidInput):
                reader(text, "x", FOUND, LIMITS)
    assert read_table('a,"b\nc,d\n', "x", FOUND).rows == [["a", '"b'], ["c", "d"]]


def test_a_set_up_comes_back_from_its_file(server: Studio) -> None:
    """What was saved is what is loaded, with graph, values and the page's own state."""
    problem = SMALL | {"graph": {"edges": [[0, 1], [1, 2]], "name": "mine"}, "values": [1.0, 2.0, 4.5]}
    page: dict[str, Any] = {"at": 7, "speed": "max", "watch": "but-1", "prior": "0.5"}
    file = server.post("/api/export/setup", data={"problem": problem, "page": page | {"junk": 1}})
    assert file.status_code == 200
    answer = server.post("/api/read/setup?name=mine.json", content=file.content).json()
    assert answer == {"problem": problem, "page": page}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("nothing", "not JSON"),
        ("{}", "not a set-up"),
        ('{"format": "sottovoce set-up", "version": 9}', "another version"),
        ('{"format": "sottovoce set-up", "version": 1, "problem": {"graph": "cycle:1"}}', "mine.json: "),
        ('{"format": "sottovoce set-up", "version": 1, "problem": []}', "mine.json: "),
    ],
)
def test_a_bad_set_up_is_explained(content: str, words: str) -> None:
    """It is refused when it is loaded, not when it is run."""
    with pytest.raises(InvalidFile, match=words):
        read_setup(content, "mine.json", LIMITS)


def test_a_set_up_that_cannot_run_is_not_written() -> None:
    """Every file that is written can be read."""
    with pytest.raises(InvalidInput):
        write_setup(SMALL | {"graph": "cycle:2000000"}, {}, LIMITS)
    assert json.loads(write_setup(SMALL, None, LIMITS))["page"] == {}
