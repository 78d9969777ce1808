"""The page's files, its requests, and who may use them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.scenario.methods import MethodSpec
from sottovoce.studio.app import create_app
from sottovoce.studio.catalogue import catalogue
from sottovoce.studio.limits import Limits
from sottovoce.studio.reading import read_scenario

from .helpers import SMALL, Studio, Visitor


def test_the_page_comes_from_the_package_alone(server: Studio) -> None:
    """It is served under a policy that forbids every other source, and it names none."""
    answer = server.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "http://" not in answer.text
    assert "https://" not in answer.text


@pytest.mark.parametrize("name", ["studio.js", "style.css", "dark.css", "studio.css", "icon.svg", "LICENSES.txt"])
def test_built_files_are_in_the_package(server: Studio, name: str) -> None:
    """Everything the page loads is there."""
    answer = server.get(f"/static/{name}")
    assert answer.status_code == 200
    assert len(answer.content) > 100


def test_the_catalogue_offers_every_method_and_family(server: Studio) -> None:
    """Methods appear in the page because they are in the package."""
    from sottovoce.methods import METHODS
    from sottovoce.scenario.graphs import FAMILIES

    offered = server.get("/api/catalogue").json()
    assert {entry["name"] for entry in offered["methods"]} == set(METHODS)
    assert {entry["name"] for entry in offered["families"]} == set(FAMILIES) - {"random-geometric"}


@pytest.mark.parametrize("entry", catalogue(Limits())["methods"], ids=lambda entry: entry["name"])
def test_every_form_can_be_run_as_it_starts(server: Studio, entry: dict[str, Any]) -> None:
    """What a form shows first makes a method, and the copied program makes the same one."""
    spec = MethodSpec(entry["name"], tuple((p["name"], p["start"]) for p in entry["parameters"]))
    asked = read_scenario(SMALL | {"methods": [str(spec)]}, Limits())
    code = server.post("/api/python", data={"problem": SMALL | {"methods": [str(spec)]}}).json()["code"]
    line = next(line for line in code.splitlines() if line.startswith("    sv."))
    assert eval(line.strip().rstrip(","), {"sv": sv, "graph": asked.graph}) == asked.methods[0]


def test_csv_holds_the_engines_numbers(server: Studio) -> None:
    """Every digit survives the way through the file."""
    answer = server.post("/api/export/csv", data={"problem": SMALL, "at": 200})
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    asked = read_scenario(SMALL, Limits())
    run = sv.simulate(asked.graph, asked.private_values, asked.methods[0], num_steps=200, seed=3, record=400)
    assert [int(row["step"]) for row in rows] == run.steps.tolist()
    assert [float(row["relative_error"]) for row in rows] == run.relative_error.tolist()


@pytest.mark.parametrize(("kind", "opening"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_figures_are_pictures(server: Studio, kind: str, opening: bytes) -> None:
    """With the network where the page drew it."""
    angles = np.linspace(0, 6, 10)
    places = np.stack([np.cos(angles), np.sin(angles)], axis=1).tolist()
    answer = server.post(f"/api/export/{kind}", data={"problem": SMALL, "at": 50, "positions": places})
    assert answer.status_code == 200
    assert answer.content.startswith(opening)


@pytest.mark.parametrize(
    "message",
    [
        {"problem": SMALL, "at": -1},
        {"problem": SMALL, "at": 10**9},
        {"problem": SMALL, "positions": [[0, 0]]},
        {"problem": SMALL, "positions": [["a", 0]] * 10},
        {"problem": SMALL, "positions": [[float("inf"), 0]] * 10},
        {"problem": SMALL, "positions": [[1e308, 0]] * 10},
        {"problem": SMALL, "positions": [[10**400, 0]] * 10},
        {"problem": SMALL | {"graph": {"edges": [[0, 1]], "name": "\ud800"}, "values": "ramp"}},
        {},
    ],
)
def test_bad_exports_get_a_sentence(server: Studio, message: dict[str, Any]) -> None:
    """Status 422 and what is wrong."""
    answer = server.post("/api/export/png", content=json.dumps(message))
    assert answer.status_code == 422
    assert "must be" in answer.json()["message"]


def test_a_dollar_in_a_name_is_a_dollar(server: Studio) -> None:
    """It begins no formula in a figure, and stands there as it was given."""
    graph = {"edges": [[0, 1], [1, 2]], "name": "$x_{ and \\frac"}
    problem = SMALL | {"graph": graph, "values": "ramp", "num_steps": 5}
    answer = server.post("/api/export/svg", data={"problem": problem, "at": 5})
    assert answer.status_code == 200
    assert "$x_{ and \\frac" in answer.text


def test_an_edge_list_of_many_thousand_lines_is_read(server: Studio) -> None:
    """A ring with chords, as text; what comes back can be set up."""
    nodes = 5_000
    lines = [f"{i} {(i + jump) % nodes}" for jump in (1, 2, 3, 4) for i in range(nodes)]
    answer = server.post("/api/read/edges?name=large.txt", content="\n".join(lines))
    assert answer.status_code == 200
    found = answer.json()
    assert (found["numNodes"], len(found["edges"])) == (nodes, 20_000)
    with server.open() as socket:
        visitor = Visitor(socket)
        visitor.say(type="setup", run=7, problem=SMALL | {"graph": {"edges": found["edges"], "name": "large"}})
        assert visitor.until("ready")["graph"]["numEdges"] == 20_000


@pytest.mark.parametrize("body", [b"", b"\xff\xfe", b"[]", b"{", b"[" * 50_000])
def test_malformed_requests_get_a_sentence(server: Studio, body: bytes) -> None:
    """Never a traceback."""
    answer = server.post("/api/python", content=body)
    assert answer.status_code == 422
    assert answer.json()["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 1\n1 2\nzwei drei\n", "mine.txt, line 3: expected two whole numbers"),
        ("0 1\n2 3\n", "not connected"),
        ("0 1\n1 1\n", "self-loop"),
        ("", "no edges"),
        ("0 99999999\n", "at most 100,000 nodes"),
        ("\0\0\0", "not a text file"),
        (b"\xff\xd8\xff\xe0", "not a text file"),
    ],
)
def test_bad_uploads_say_what_is_wrong(server: Studio, text: str | bytes, words: str) -> None:
    """By line where there is one; no path of this machine is shown."""
    answer = server.post("/api/read/edges?name=mine.txt", content=text)
    assert answer.status_code == 422
    assert words in answer.json()["message"]
    assert "/tmp" not in answer.json()["message"]


def test_good_uploads_come_back_checked(server: Studio) -> None:
    """Comments, spaces and order do not matter."""
    edges = server.post("/api/read/edges?name=mine.txt", content="# mine\n0,1\n2, 1\n").json()
    assert edges["edges"] == [[0, 1], [1, 2]]
    values = server.post("/api/read/values", content="name,value\n0,0.5\n1,2.5\n").json()
    assert values["values"] == [0.5, 2.5]


@pytest.mark.parametrize("text", ["one\ntwo\n3\nfour", "nan", "1e999", ""])
def test_bad_values_are_refused_without_being_shown(server: Studio, text: str) -> None:
    """The line, not what stands in it."""
    answer = server.post("/api/read/values?name=v.csv", content=text)
    assert answer.status_code == 422
    assert "four" not in answer.json()["message"]


def test_large_uploads_are_cut_off() -> None:
    """The limit is named, and the rest is not read."""
    with Studio(create_app(limits=Limits(upload_bytes=1000))) as client:
        answer = client.post("/api/read/edges", content="0 1\n" * 1000)
    assert answer.status_code == 422
    assert "at most 1,000 bytes" in answer.json()["message"]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "["])
def test_other_names_are_not_answered(server: Studio, host: str) -> None:
    """A site that points its own name at this machine gets nothing, though it is its own origin."""
    for headers in ({"host": host}, {"host": host, "origin": f"http://{host}"}):
        assert server.get("/", headers=headers).status_code == 400


def test_names_are_compared_without_port_and_case() -> None:
    """An address of version 6 stands in brackets."""
    with Studio(create_app(hosts=("localhost", "::1"))) as studio:
        for host in ("LOCALHOST:8321", "localhost", "[::1]:8321", "[::1]"):
            assert studio.get("/", headers={"host": host}).status_code == 200


def test_requests_of_other_sites_are_refused(server: Studio) -> None:
    """A form or script of another site cannot use this server."""
    for origin in ("http://evil.example", "null", "http://[", f"http://{server.address}/path"):
        answer = server.post("/api/python", data={"problem": SMALL}, headers={"origin": origin})
        assert answer.status_code == 403


@pytest.mark.parametrize("path", ["/nothing", "/static/../app.py", "/static/%2e%2e/app.py", "/api/export/exe"])
def test_other_addresses_are_empty(server: Studio, path: str) -> None:
    """A plain sentence, and no file outside the page's."""
    answer = server.request("POST" if "export" in path else "GET", path, content=b"{}")
    assert answer.status_code == 404
    assert answer.json() == {"message": "there is nothing here"}
