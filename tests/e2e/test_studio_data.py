"""One's own graphs and values in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
