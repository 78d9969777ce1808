"""One's own graphs and values in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import sottovoce as sv

from .browsers import NOISY

if TYPE_CHECKING:
    from pathlib import Path

    from .browsers import Visit


def test_an_uploaded_graph_is_run(visit: Visit, tmp_path: Path) -> None:
    """An edge list from a file, with its own values pasted."""
    file = tmp_path / "mine.txt"
    file.write_text("# a kite\n0 1\n1 2\n2 0\n2 3\n", encoding="utf-8")
    visit.open()
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", file)
    visit.wait("studio.problemShown.graph.numNodes === 4")
    visit.page.select_option("#values-kind", "own")
    visit.page.fill("#values-text", "node,value\n0,1\n1,2\n2,4\n3,8\n")
    visit.page.click("#values-use")
    visit.wait("studio.problemShown.trueMean === 3.75")
    visit.run_to_end()
    graph = sv.Graph.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)])
    run = sv.simulate(graph, [1.0, 2.0, 4.0, 8.0], NOISY, num_steps=600, seed=1)
    assert visit.values() == run.values.tolist()


def test_a_bad_upload_is_explained_and_changes_nothing(visit: Visit, tmp_path: Path) -> None:
    """The sentence names the line; the old graph stays."""
    visit.open()
    visit.page.select_option("#family", "upload")
    for text, words in (
        ("0 1\n1 x\n", "line 2: expected two whole numbers"),
        ("0 1\n2 3\n", "not connected"),
        ("", "no edges"),
    ):
        file = tmp_path / "bad.txt"
        file.write_text(text, encoding="utf-8")
        visit.page.set_input_files("#edges-file", file)
        visit.wait("words => document.querySelector('#notice span').textContent.includes(words)", words)
    assert visit.page.evaluate("studio.problemShown.graph.numNodes") == 10


def test_any_file_name_is_a_name(visit_each: Visit, tmp_path: Path) -> None:
    """``a$b$1.csv`` chosen or dropped: the page says its name, and figure, table, program and set-up can be had."""
    visit, name = visit_each, "a$b_{$1 & <b>.csv"
    file = tmp_path / name
    file.write_text("0,1\n1,2\n2,0\n", encoding="utf-8")
    visit.open("#graph=cycle:10&steps=20")
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", file)
    visit.wait("studio.problemShown.graph.numNodes === 3")
    assert visit.page.inner_text("#graph-facts").startswith(f"{name}: 3 nodes")
    visit.page.evaluate(
        """name => {
            const held = new DataTransfer();
            held.items.add(new File(["0 1\\n1 2\\n2 3\\n"], name));
            document.querySelector("#setup").dispatchEvent(new DragEvent("drop", {dataTransfer: held}));
        }""",
        name,
    )
    visit.wait("studio.problemShown.graph.numNodes === 4")
    assert visit.page.inner_text("#edges-preview p").startswith(f"{name}: 3 rows")
    visit.run_to_end()
    for kind in ("CSV", "PNG", "SVG"):
        with visit.page.expect_response(f"**/api/export/{kind.lower()}") as answer:
            visit.page.get_by_role("button", name=kind).click()
        assert answer.value.status == 200
    visit.page.get_by_role("button", name="Copy as Python").click()
    visit.wait("document.querySelector('#text-body').value.includes('simulate')")
    assert visit.page.is_hidden("#notice")
    assert visit.complaints == []


def test_a_decimal_comma_is_understood_and_shown(visit: Visit, tmp_path: Path) -> None:
    """``0;0,5`` is a half; the page says how it read the file, and reads it otherwise when told so."""
    file = tmp_path / "werte.csv"
    file.write_text("knoten;wert\n" + "".join(f"{k};{k},5\n" for k in range(10)), encoding="utf-8")
    visit.open()
    visit.page.select_option("#values-kind", "own")
    visit.page.set_input_files("#values-file", file)
    visit.wait("studio.problemShown.trueMean === 5")
    preview = visit.page.locator("#values-preview")
    assert (
        "10 rows, semicolons between columns, decimal comma, the first line names the columns" in preview.inner_text()
    )
    assert preview.locator("th").all_inner_texts() == ["knoten", "wert"]
    visit.page.fill("#values-text", "\n".join(f"{k},5" for k in range(10)))
    visit.page.click("#values-use")
    visit.wait("studio.problemShown.privateValues.every((x) => x === 5)")  # read as two columns
    visit.page.select_option("#values-decimal", ",")
    visit.wait("studio.problemShown.trueMean === 5 && studio.problemShown.privateValues[9] === 9.5")


def test_a_set_up_is_saved_and_loaded(visit: Visit, tmp_path: Path) -> None:
    """The file brings back graph, values, methods, step and observer, on another page; a bad one is explained."""
    visit.open("#edges=0-1_1-2_2-0&numbers=1_2_6&steps=50&seed=4&watch=but-1&at=20")
    visit.settle(20)
    with visit.page.expect_download() as download:
        visit.page.click("#setup-save")
    file = tmp_path / "mine.json"
    download.value.save_as(file)
    values = visit.values()
    visit.open("#graph=star:5")
    visit.page.set_input_files("#setup-file", file)
    visit.wait("studio.problemShown.graph.numNodes === 3")
    visit.settle(20)
    assert visit.values() == values
    assert visit.page.evaluate("studio.state.watch") == "but-1"
    file.write_text("{}", encoding="utf-8")
    visit.page.set_input_files("#setup-file", file)
    visit.wait("document.querySelector('#notice span').textContent.includes('not a set-up')")
    assert visit.page.evaluate("studio.problemShown.graph.numNodes") == 3


def test_names_weights_and_values_by_name(visit: Visit, tmp_path: Path) -> None:
    """Nodes keep their names in the meter and in the address; values find their nodes, and weights their edges."""
    graph, values = tmp_path / "friends.csv", tmp_path / "values.csv"
    graph.write_text("from;to;weight\nAda;Bob;2,5\nBob;Carl;1\nCarl;Ada;0,5\nCarl;Dora S.;1\n", encoding="utf-8")
    values.write_text("name;value\nDora S.;8\nCarl;4\nBob;2\nAda;1,5\n", encoding="utf-8")
    visit.open("#graph=cycle:4&steps=80&watch=1")
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", graph)
    visit.wait("studio.problemShown.graph.labels?.[3] === 'Dora S.'")
    visit.page.select_option("#values-kind", "own")
    visit.page.set_input_files("#values-file", values)
    visit.wait("studio.problemShown.privateValues.join() === '1.5,2,4,8'")
    assert visit.page.evaluate("studio.state.graph.weights") == [2.5, 1, 0.5, 1]
    visit.page.locator("#privacy-cards li").nth(2).wait_for()
    names = visit.page.locator("#privacy-cards article").nth(0).locator("li .who").all_inner_texts()
    assert [name.removeprefix("node").strip() for name in names] == ["Ada", "Carl", "Dora S."]
    visit.run_to_end()
    shown = visit.values()
    visit.wait("location.hash.includes('names=') && location.hash.includes('at=80')")
    visit.page.reload()
    visit.wait("window.studio?.problemShown?.graph.labels?.[3] === 'Dora S.'")
    visit.settle(80)
    assert visit.values() == shown


def test_graphml_is_run(visit: Visit, tmp_path: Path) -> None:
    """Recognised by what is in it."""
    file = tmp_path / "mine.graphml"
    edges = "".join(f'<edge source="n{k}" target="n{(k + 1) % 5}"/>' for k in range(5))
    nodes = "".join(f'<node id="n{k}"/>' for k in range(5))
    file.write_text(
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">{nodes}{edges}'
        "</graph></graphml>",
        encoding="utf-8",
    )
    visit.open()
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", file)
    visit.wait("studio.problemShown.graph.labels?.join() === 'n0,n1,n2,n3,n4'")


@pytest.mark.slow
def test_two_hundred_thousand_edges_are_run(visit: Visit, tmp_path: Path) -> None:
    """A large upload is run as any other; nothing on the page counts on small lists."""
    nodes, count = 50_000, 200_000
    file = tmp_path / "large.csv"
    lines = (f"{k % nodes},{(k % nodes + 1 + k // nodes) % nodes}\n" for k in range(count))
    file.write_text("".join(lines), encoding="utf-8")
    visit.open()
    visit.page.select_option("#family", "upload")
    visit.page.set_input_files("#edges-file", file)
    visit.wait("studio.problemShown.graph.numEdges === 200000")
    visit.run_to_end()
    assert visit.complaints == []
