from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sottovoce import graphs
from sottovoce.errors import ConfigError
from sottovoce.peer.membership.config import PeerConfig
from sottovoce.peer.membership.credentials import check_identity
from sottovoce.peer.membership.founding import found_network
from sottovoce.peer.membership.suggestions import suggest

from ..helpers import run
from .town import NOISE, PARTIES

OPTIONS = ["--of", "percent", "--noise-std", "30", "--noise-decay", "0.9", "--seal-std", "300"]


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def init(folder: Path, *names: str, network: str = "trio") -> list[Path]:
    """Every party makes its own key, as on a machine of its own; their cards."""
    for name in names:
        address = PARTIES.get(name, f"127.0.0.1:{7100 + len(name)}")
        result = run("peer", "init", name, "--network", network, "--address", address, "--out", folder / name)
        assert result.exit_code == 0, result.output
    return [folder / name / f"{name}.card" for name in names]


def test_a_demonstration_network_is_ready_to_run(tmp_path: Path) -> None:
    """Each party's folder loads, its identity passes, and neighbours know each other's names and addresses."""
    made = found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    configs = {name: PeerConfig.load(path) for name, path in made.items()}
    for config in configs.values():
        check_identity(config)
        assert config.diameter == 2
    assert configs["bob"].neighbours == {"ada": PARTIES["ada"], "cleo": PARTIES["cleo"]}
    assert configs["ada"].neighbours == {"bob": PARTIES["bob"]}


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


def test_founding_by_command_holds_nobodys_key(tmp_path: Path) -> None:
    """From cards alone: the founder's folder has the roster and the founder's own key; each party joins with it."""
    cards = init(tmp_path, "ada", "bob", "cleo")
    elsewhere = tmp_path / "founder"
    elsewhere.mkdir()
    copies = [elsewhere / card.name for card in cards]
    for card, copy in zip(cards, copies, strict=True):
        copy.write_bytes(card.read_bytes())
    result = run("network", "create", *copies, "--out", elsewhere / "trio", *OPTIONS)
    assert result.exit_code == 0, result.output
    assert "vertex connectivity 2: no single member learns" in " ".join(result.output.split())
    assert tree(elsewhere / "trio") == ["founder.key", "roster.json"]
    for name in PARTIES:
        joined = run("peer", "join", tmp_path / name, elsewhere / "trio" / "roster.json", "--smallest-std", "0")
        assert joined.exit_code == 0, joined.output
        check_identity(PeerConfig.load(tmp_path / name / "peer.toml"))
    assert PeerConfig.load(tmp_path / "ada" / "peer.toml").neighbours.keys() == {"bob", "cleo"}
    again = run("peer", "join", tmp_path / "ada", elsewhere / "trio" / "roster.json", "--smallest-std", "0")
    assert again.exit_code == 2


def test_a_join_looks_at_what_it_joins(tmp_path: Path) -> None:
    """Not named in the roster, a second key in one's name, another founder than one was told: not joined."""
    cards = init(tmp_path, "ada", "bob", "cleo", "dora")
    assert run("network", "create", *cards[:3], "--out", tmp_path / "trio", *OPTIONS).exit_code == 0
    (tmp_path / "two").mkdir()
    init(tmp_path / "two", "ada")
    roster = tmp_path / "trio" / "roster.json"
    for folder, extra, sentence in (
        (tmp_path / "dora", [], "does not name"),
        (tmp_path / "two" / "ada", [], "another certificate"),
        (tmp_path / "ada", ["--founder", "0" * 32], "signed by"),
        (tmp_path / "trio", [], "peer.key"),
    ):
        result = run("peer", "join", folder, roster, "--smallest-std", "0", *extra)
        assert (result.exit_code, sentence in result.output) == (2, True), result.output
        assert not (folder / "peer.toml").exists()


def test_an_exposed_member_must_say_yes(tmp_path: Path) -> None:
    """A path names the two whose value the middle one will know; with their yes it is founded and says so again."""
    cards = init(tmp_path, "ada", "bob", "cleo")
    command = ["network", "create", *map(str, cards), "--graph", "path", "--out", str(tmp_path / "trio"), *OPTIONS]
    result = run(*command)
    assert result.exit_code == 2
    assert "bob will know ada's value once the noise is withdrawn" in result.output
    assert not (tmp_path / "trio").exists()
    result = run(*command, "--accept", "ada", "--accept", "cleo")
    assert result.exit_code == 0, result.output
    assert "accepted: bob will know cleo's value" in result.output


def test_members_come_and_go_by_command(tmp_path: Path) -> None:
    """Each change is a later number, shown by `network show`; a removed name leaves a tombstone."""
    cards = init(tmp_path, "ada", "bob", "cleo", "dora")
    folder = tmp_path / "trio"
    assert run("network", "create", *cards[:3], "--out", folder, *OPTIONS).exit_code == 0
    assert run("peer", "join", tmp_path / "ada", folder / "roster.json", "--smallest-std", "0").exit_code == 0
    assert run("network", "add", folder, cards[3], "--neighbours", "ada, bob").exit_code == 0
    assert run("network", "add", folder, cards[3], "--neighbours", "ada").exit_code == 2
    assert run("network", "remove", folder, "cleo").exit_code == 0
    told = json.loads(run("network", "show", folder / "roster.json", "--json").output)
    assert (told["number"], told["members"]) == (2, ["ada", "bob", "dora"])
    config = tmp_path / "ada" / "peer.toml"
    assert run("peer", "roster", config, folder / "roster.json").exit_code == 0
    assert PeerConfig.load(config).neighbours.keys() == {"bob", "dora"}
    assert run("peer", "roster", config, folder / "roster.json").exit_code == 2
    assert "roster 2" in run("peer", "roster", config).output
    assert run("network", "add", folder, cards[2], "--neighbours", "ada,bob").exit_code == 2


@pytest.mark.parametrize(
    ("graph", "extra", "sentence"),
    [
        ("ada bob\nbob zoe\n", [], "not in the network: 'zoe'"),
        ("ada bob\n", [], "connect"),
        ("cycle:4", [], "4 nodes but there are 3 parties"),
        ("nonsense", [], "graph must be"),
        ("cycle", ["--noise-decay", "1.5"], "noise_decay"),
        ("cycle", ["--low", "200"], "high"),
        ("cycle", ["--step", "0"], "step"),
    ],
)
def test_bad_requests_exit_with_2(tmp_path: Path, graph: str, extra: list[str], sentence: str) -> None:
    """Bad input is one sentence, exit code 2, and nothing on disk."""
    cards = init(tmp_path, "ada", "bob", "cleo")
    if "\n" in graph:
        (tmp_path / "edges.txt").write_text(graph)
        graph = str(tmp_path / "edges.txt")
    before = tree(tmp_path)
    result = run("network", "create", *cards, "--graph", graph, "--out", tmp_path / "net", *OPTIONS, *extra)
    assert result.exit_code == 2
    assert sentence in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert tree(tmp_path) == before


def test_cards_of_different_networks_are_refused(tmp_path: Path) -> None:
    """And two cards of one name."""
    cards = [*init(tmp_path, "ada", "bob"), *init(tmp_path, "cleo", network="other")]
    assert "different networks" in run("network", "create", *cards, "--out", tmp_path / "net", *OPTIONS).output
    twice = run("network", "create", cards[0], cards[0], "--out", tmp_path / "net", *OPTIONS)
    assert "same name" in twice.output


def test_terms_follow_from_what_the_values_are() -> None:
    """The unit is at most step/(2n), the tolerance at least 2 d + 2 units and at most half a step."""
    for kind, count, degree in (("money", 3, 2), ("percent", 40, 4), ("count", 5, 4)):
        found = suggest(kind, count, degree, low=0.0, high=100.0, seal_std=300.0)
        unit, step = float(found["unit"]), float(found["step"])
        assert unit <= step / (2 * count)
        assert (2 * degree + 2) * unit <= found["tolerance"] * (1 + 1e-12)
        assert found["tolerance"] <= step / 2
    assert suggest(None, 3, 2, low=0.0, high=1.0, seal_std=3.0, unit="0.5", tolerance=9.0)["unit"] == "0.5"
    with pytest.raises(ConfigError, match="300"):
        suggest("percent", 3, 2)


def test_status_of_a_network_that_does_not_run(tmp_path: Path) -> None:
    """Peers that do not answer are shown as down; a folder without peers is bad input."""
    found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    result = run("network", "status", tmp_path / "net", "--json")
    assert json.loads(result.output) == dict.fromkeys(PARTIES)
    assert run("network", "status", tmp_path).exit_code == 2


def test_status_says_who_cannot_be_asked(tmp_path: Path) -> None:
    """Ada's machine has her own peer only: the other two are not called down, but named as out of reach."""
    found_network("net", PARTIES, graphs.path(3), tmp_path / "net", **NOISE)
    names = sorted(PARTIES)
    for other in names[1:]:
        shutil.rmtree(tmp_path / "net" / other)
    (tmp_path / "net" / names[0]).rename(tmp_path / names[0])  # beside the founder's folder, as in the lesson
    result = run("network", "status", tmp_path / "net", "--json")
    gone = {"elsewhere": True, "seen_by": {}}
    assert json.loads(result.output) == {names[0]: None, names[1]: gone, names[2]: gone}
    told = run("network", "status", tmp_path / "net").output
    sentence = f"{names[1]} is not on this machine and cannot be asked: no peer that runs here is its neighbour"
    assert sentence in " ".join(told.split())
