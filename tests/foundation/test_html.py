"""What results show in a notebook: the facts of their text, escaped, and no private value."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv

NAMES = ["<script>", "bob & co", "carol", "dora"]
GRAPH = sv.Graph.from_edges([(NAMES[k], NAMES[(k + 1) % 4]) for k in range(4)])
VALUES = np.array([0.123456789, 7.987654321, 3.141592653, 2.718281828])
METHOD = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
RUN = sv.simulate(GRAPH, VALUES, METHOD, num_steps=40, seed=5)
VIEW = sv.privacy.CuriousNodes(["carol"])


def shown() -> dict[str, str]:
    """The HTML of each kind of result."""
    report = sv.privacy.audit(GRAPH, METHOD, RUN.fired_edges(), VIEW, prior_std=1.0)
    found = sv.compare(GRAPH, VALUES, [METHOD, sv.StandardGossip()], num_steps=40, seed=5, replicas=2)
    return {"run": RUN._repr_html_(), "audit": report._repr_html_(), "comparison": found._repr_html_()}


@pytest.mark.parametrize("what", ["run", "audit", "comparison"])
def test_a_notebook_shows_a_table_without_private_values(what: str) -> None:
    """Neither the private values nor what the nodes hold at the end are in it, and names cannot run as code."""
    text = shown()[what]
    assert "<table>" in text
    for value in (*VALUES, *RUN.values):
        assert f"{value:.4g}" not in text
    assert "<script>" not in text


def test_an_audit_shows_its_sentence_and_the_most_exposed_first() -> None:
    """The first row is the node that the observer knows best; the observer itself has none."""
    report = sv.privacy.audit(GRAPH, METHOD, RUN.fired_edges(), VIEW, prior_std=1.0)
    text = report._repr_html_()
    first = text[text.index("<tbody>") :].split("</td>")[0]
    assert first.endswith(GRAPH.labels[report.most_exposed].replace("&", "&amp;"))
    assert "can estimate the private value" in text
    assert ">carol<" not in text


def test_a_run_shows_how_it_ended() -> None:
    """Method, graph, steps, status and seed; the notes of a setting outside the guarantee too."""
    for words in ("noise insertion, σ = 1, φ = 0.9", "4 nodes, 4 edges", ">40<", "completed", ">5<"):
        assert words in RUN._repr_html_()
