from __future__ import annotations

import json
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.explanations import EXPLANATIONS
from sottovoce.peer.membership.founding import found_member, found_network, read_parties
from sottovoce.peer.membership.identity import check_identity

from ..helpers import run

NOISE = {"noise_std": 1.0, "noise_decay": 0.9, "smallest_std": 0.1}
PARTIES = {"ada": "127.0.0.1:7001", "bob": "127.0.0.1:7002", "cleo": "127.0.0.1:7003"}
OPTIONS = ["--noise-std", "1", "--noise-decay", "0.9", "--smallest-std", "0.1"]


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_founded_network_is_ready_to_run(tmp_path: Path) -> None:
    """Each party's folder loads, its certificate passes, and neighbours know each other's names and addresses."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    configs = {name: PeerConfig.load(path) for name, path in made.items()}
    for config in configs.values():
        check_identity(config)
        assert config.diameter == 2
    assert configs["bob"].neighbours == {"ada": PARTIES["ada"], "cleo": PARTIES["cleo"]}
    assert configs["ada"].neighbours == {"bob": PARTIES["bob"]}


def test_keys_stay_in_their_folders(tmp_path: Path) -> None:
    """There is one key per party, in its folder, and the authority's in its own; none is readable by others."""
    found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    keys = sorted((tmp_path / "net").rglob("*.key"))
    assert [str(key.relative_to(tmp_path / "net")) for key in keys] == [
        "ada/identity/peer.key", "authority/authority.key", "bob/identity/peer.key", "cleo/identity/peer.key",
    ]  # fmt: skip
    assert all(key.stat().st_mode & 0o077 == 0 for key in keys)
    assert len({key.read_bytes() for key in keys}) == 4


def test_every_field_is_explained_in_the_file(tmp_path: Path) -> None:
    """The comments in a party's file give meaning, formula and cost of each field."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    words = made["ada"].read_text().replace("\n# ", " ")
    for name, told in EXPLANATIONS.items():
        assert name in words
        assert told.meaning in words
        assert f"Formula: {told.formula}." in words
        assert f"Cost: {told.cost}" in words


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """An existing folder, a graph of the wrong size or a bad setting leave the disk as it was."""
    (tmp_path / "net").mkdir()
    before = tree(tmp_path)
    for graph, settings in (
        (graphs.path(3), NOISE),
        (graphs.path(4), NOISE),
        (graphs.path(3), NOISE | {"noise_decay": 2.0}),
    ):
        with pytest.raises(ConfigError):
            found_network("net", PARTIES, graph, tmp_path / ("net" if settings is NOISE else "new"), **settings)
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ada 127.0.0.1:1", "at least 2"),
        ("ada 127.0.0.1:1\nada 127.0.0.1:2", "repeats"),
        ("ada 127.0.0.1:1\nbob 127.0.0.1:1", "repeats"),
        ("ada\nbob 127.0.0.1:1", "line 1"),
        ("Ada 127.0.0.1:1\nbob 127.0.0.1:2", "line 1"),
        ("authority 127.0.0.1:1\nbob 127.0.0.1:2", "authority"),
        ("ada nowhere\nbob 127.0.0.1:2", "line 1"),
    ],
)
def test_bad_lists_of_parties(tmp_path: Path, text: str, sentence: str) -> None:
    """Each defect is named with its line."""
    (tmp_path / "parties.txt").write_text(text)
    with pytest.raises(ConfigError, match=sentence):
        read_parties(tmp_path / "parties.txt")


def test_joining_later(tmp_path: Path) -> None:
    """A new member gets a certificate of the same network and its neighbours' addresses; their files stay."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", tolerance=0.5, **NOISE)
    before = made["ada"].read_text()
    path = found_member(tmp_path / "net", "dora", "127.0.0.1:7004", ["ada", "cleo"], **NOISE)
    config = PeerConfig.load(path)
    check_identity(config)
    assert config.neighbours == {"ada": PARTIES["ada"], "cleo": PARTIES["cleo"]}
    assert config.tolerance == 0.5
    assert made["ada"].read_text() == before
    for name, others in (("dora", ["ada"]), ("eve", ["nobody"]), ("eve", []), ("../eve", ["ada"])):
        with pytest.raises(ConfigError):
            found_member(tmp_path / "net", name, "127.0.0.1:7005", others, **NOISE)


def test_create_by_command(tmp_path: Path) -> None:
    """The command founds a network from a file of parties and a graph by family or by named edges."""
    parties, edges = tmp_path / "parties.txt", tmp_path / "edges.txt"
    parties.write_text("# three of us\n" + "".join(f"{name} {address}\n" for name, address in PARTIES.items()))
    edges.write_text("ada bob\nbob cleo  # a chain\n")
    result = run("network", "create", parties, "--graph", "complete", "--out", tmp_path / "one", *OPTIONS, "--json")
    assert result.exit_code == 0, result.output
    assert set(json.loads(result.output)["configurations"]) == set(PARTIES)
    result = run("network", "create", parties, "--graph", edges, "--out", tmp_path / "two", *OPTIONS)
    assert result.exit_code == 0, result.output
    assert PeerConfig.load(tmp_path / "two" / "ada" / "peer.toml").neighbours.keys() == {"bob"}
    assert PeerConfig.load(tmp_path / "two" / "ada" / "peer.toml").network == "two"


@pytest.mark.parametrize(
    ("graph", "extra", "sentence"),
    [
        ("ada bob\nbob zoe\n", [], "not in the network: 'zoe'"),
        ("ada bob\n", [], "connected"),
        ("cycle:4", [], "4 nodes but there are 3 parties"),
        ("nonsense", [], "graph must be"),
        ("cycle", ["--noise-decay", "1.5"], "noise_decay"),
        ("cycle", ["--smallest-std", "5"], "smallest_std"),
    ],
)
def test_bad_requests_exit_with_2(tmp_path: Path, graph: str, extra: list[str], sentence: str) -> None:
    """Bad input is one sentence, exit code 2, and nothing on disk."""
    parties = tmp_path / "parties.txt"
    parties.write_text("".join(f"{name} {address}\n" for name, address in PARTIES.items()))
    if "\n" in graph:
        (tmp_path / "edges.txt").write_text(graph)
        graph = str(tmp_path / "edges.txt")
    before = tree(tmp_path)
    result = run("network", "create", parties, "--graph", graph, "--out", tmp_path / "net", *OPTIONS, *extra)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert tree(tmp_path) == before


def test_renewal_without_moving_the_key(tmp_path: Path) -> None:
    """Request here, sign there, install here: a new pair, and the old one works until then."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    config = PeerConfig.load(made["ada"])
    before = check_identity(config)
    request = made["ada"].parent / "identity" / "peer.csr"
    assert run("peer", "renew", made["ada"]).exit_code == 0
    assert check_identity(config).certificate == before.certificate
    elsewhere = tmp_path / "ada.csr"
    elsewhere.write_bytes(request.read_bytes())
    assert b"PRIVATE" not in elsewhere.read_bytes()
    assert run("network", "sign", tmp_path / "net", elsewhere).exit_code == 0
    assert run("peer", "renew", made["ada"], "--install", tmp_path / "ada.crt").exit_code == 0
    after = check_identity(config)
    assert after.certificate != before.certificate
    assert after.key != before.key
    assert run("network", "sign", tmp_path / "net", elsewhere).exit_code == 2  # never overwrites


def test_a_foreign_certificate_is_not_installed(tmp_path: Path) -> None:
    """Installing another's certificate is refused and the old pair stays."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    config = PeerConfig.load(made["ada"])
    assert run("peer", "renew", made["ada"]).exit_code == 0
    result = run("peer", "renew", made["ada"], "--install", made["bob"].parent / "identity" / "peer.crt")
    assert result.exit_code == 2
    check_identity(config)


def test_status_of_a_network_that_does_not_run(tmp_path: Path) -> None:
    """Peers that do not answer are shown as down; a folder without peers is bad input."""
    found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    result = run("network", "status", tmp_path / "net", "--json")
    assert json.loads(result.output) == dict.fromkeys(PARTIES)
    assert run("network", "status", tmp_path).exit_code == 2
