"""Whatever fails, nothing is lost: whole networks under loss, crashes, lost disks, partitions, joins and leaves."""

from __future__ import annotations

import itertools
import random

import pytest

from sottovoce.testing import Conditions, SimulatedNetwork

TOLERANCE = 1e-3


def ring_with_chords(names: list[str], rng: random.Random) -> list[tuple[str, str]]:
    ring = list(zip(names, names[1:] + names[:1], strict=True))
    chords = {tuple(sorted(rng.sample(names, 2))) for _ in range(len(names) // 2)}
    return ring + sorted(chords - {tuple(sorted(edge)) for edge in ring})  # type: ignore[arg-type]


def connected(net: SimulatedNetwork, without: str) -> bool:
    names = set(net.peers) - {without}
    reached, frontier = set(), {min(names)}
    while frontier:
        reached |= frontier
        near = {name for link in net.links if link & frontier for name in link}
        frontier = (near - {without}) - reached
    return reached == names


class Chaos:
    """A network and everything that happens to it."""

    def __init__(self, seed: int, *, num_peers: int, seconds: float, kills: int, wipes: int) -> None:
        self.rng = random.Random(seed)
        names = [f"p{k:02d}" for k in range(num_peers)]
        self.net = SimulatedNetwork(
            ring_with_chords(names, self.rng),
            {name: self.rng.uniform(0, 10) for name in names},
            noise_std=1.0,
            noise_decay=0.8,
            seed=seed,
            rate=2.0,
            conditions=Conditions(loss=0.3, duplication=0.1, delay=0.05, downtime=0.5),
            tolerance=TOLERANCE,
            diameter=num_peers // 2,
        )
        moments = [(self.rng.uniform(0, seconds), self.kill) for _ in range(kills - wipes)]
        moments += [(self.rng.uniform(0, seconds), self.wipe) for _ in range(wipes)]
        moments += [
            (self.rng.uniform(0, seconds), what) for what in (self.join, self.leave, self.flap) for _ in range(4)
        ]
        moments += [(self.rng.uniform(0, seconds), self.change) for _ in range(6)]
        moments += [(seconds * 0.3, self.split), (seconds * 0.5, self.net.partition)]
        for moment, happens in sorted(moments, key=lambda pair: pair[0]):
            self.net.run(moment - self.net.now)
            happens()
            assert self.net.broken_invariants() == []

    def somebody(self) -> str:
        return self.rng.choice(sorted(self.net.peers))

    def kill(self) -> None:
        self.net.crash(self.somebody())

    def wipe(self) -> None:
        self.net.crash(self.somebody(), lose_disk=True)

    def change(self) -> None:
        self.net.set_value(self.somebody(), self.rng.uniform(0, 10))

    def join(self) -> None:
        name = f"j{len(self.net.peers):02d}{self.rng.randrange(10**6):06d}"
        self.net.join(name, self.rng.uniform(0, 10), self.rng.sample(sorted(self.net.peers), 2))

    def leave(self) -> None:
        name = self.somebody()
        if connected(self.net, name):
            self.net.leave(name)

    def flap(self) -> None:
        """One operator drops a neighbour and adds it again; the other learns of it late or never."""
        a, b = sorted(self.rng.choice(sorted(map(sorted, self.net.links))))
        self.net.disconnect(a, b)
        self.net.connect(a, b)

    def split(self) -> None:
        names = sorted(self.net.peers)
        self.net.partition(names[::2], names[1::2])


def check(chaos: Chaos) -> None:
    net = chaos.net
    net.quiesce()
    assert net.broken_invariants() == []
    assert net.asymmetric_edges() == []
    assert net.mass_error() == 0
    assert net.run(2000.0, until=lambda: net.settled), "not settled"
    assert net.largest_error() <= TOLERANCE
    protocols = [peer.protocol for peer in net.peers.values()]
    everybody = sum(1 << peer.settings.index for peer in net.peers.values())
    assert all(protocol is not None and protocol.rule.contributors == everybody for protocol in protocols)
    net.quiesce()
    assert net.asymmetric_edges() == []
    assert net.mass_error() == 0


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_whatever_fails(seed: int) -> None:
    """8 peers, 60 kills, 4 wiped disks, joins, leaves, partition: then flows cancel exactly and all find the mean."""
    check(Chaos(seed, num_peers=8, seconds=20.0, kills=60, wipes=4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_nothing_is_lost_in_a_larger_network(seed: int) -> None:
    """20 peers, 30 % loss, 200 kills of which 10 wipe the disk, partitions, joins and leaves: a hundred times."""
    check(Chaos(1000 + seed, num_peers=20, seconds=40.0, kills=200, wipes=10))


@pytest.mark.parametrize("seed", range(2))
def test_crashes_at_every_commit_point(seed: int) -> None:
    """Peers crash while they handle 3 % of all inputs, before or after storing, a third of them losing the disk."""
    rng = random.Random(seed)
    names = [f"p{k}" for k in range(6)]
    conditions = Conditions(loss=0.3, duplication=0.2, delay=0.3, crash=0.03, disk_loss=0.3, downtime=0.3)
    values = {name: rng.uniform(-5, 5) for name in names}
    net = SimulatedNetwork(
        ring_with_chords(names, rng), values, noise_std=1.0, noise_decay=0.8, seed=seed, conditions=conditions,
        tolerance=TOLERANCE, diameter=3,
    )  # fmt: skip
    for _ in range(60):
        net.run(1.0)
        assert net.broken_invariants() == []
    assert net.crashes > 30
    net.quiesce()
    assert net.asymmetric_edges() == []
    assert net.mass_error() == 0
    assert net.run(1000.0, until=lambda: net.settled)
    assert net.largest_error() <= TOLERANCE


@pytest.mark.parametrize("seed", range(2))
def test_settled_is_never_said_too_early(seed: int) -> None:
    """On a slow graph, started in its slowest mode, whoever says settled is within the tolerance of the true mean."""
    names = [f"p{k:02d}" for k in range(12)]
    values = {name: float(k) for k, name in enumerate(names)}
    net = SimulatedNetwork(
        itertools.pairwise(names), values, noise_std=0.5, noise_decay=0.7, seed=seed, conditions=Conditions(loss=0.1),
        tolerance=0.05, diameter=11, rate=5.0,
    )  # fmt: skip
    said: dict[str, float] = {}

    def watch() -> bool:
        for name, peer in net.peers.items():
            protocol = peer.protocol
            if protocol is not None and protocol.settled and name not in said:
                said[name] = float(abs(protocol.state.shown - net.true_mean()).max())
                bound = protocol.rule.error_bound(protocol.state.shown)
                assert bound is not None
                assert said[name] <= bound
        return len(said) == len(names)

    assert net.run(2000.0, until=watch)
    assert max(said.values()) * net.unit.number <= 0.05


def test_edges_fire_equally_often_on_an_irregular_graph() -> None:
    """Clocks of rate λ·degree make every edge equally likely (R27): a chi-square test on a star with a tail."""
    from scipy import stats

    edges = [("hub", f"leaf{k}") for k in range(6)] + [("leaf0", "tail")]
    values = dict.fromkeys({name for edge in edges for name in edge}, 1.0)
    net = SimulatedNetwork(
        edges, values, noise_std=0.0, noise_decay=0.5, seed=7, tolerance=4e-5, diameter=4,
        conditions=Conditions(delay=1e-6), bucket_refill=50.0, bucket_burst=1e9, sync_interval=0.5,
    )  # fmt: skip
    net.run(120.0)
    states = net.states()
    counts = [states[a].edges[b].s + states[a].edges[b].r for a, b in edges]
    assert sum(counts) > 1400
    assert stats.chisquare(counts).pvalue > 1e-3


def test_a_fast_caller_does_not_raise_the_number_of_draws() -> None:
    """A neighbour with a clock 50 times as fast makes a victim draw no more than twice as often as its own pace."""
    edges = [("victim", "eve"), ("victim", "bob"), ("bob", "eve")]
    net = SimulatedNetwork(
        edges, dict.fromkeys(["victim", "eve", "bob"], 1.0), noise_std=1.0, noise_decay=0.99, seed=3, tolerance=4e-5
    )
    net.run(15.0)
    usual = net.states()["victim"].account.messages
    net = SimulatedNetwork(
        edges, dict.fromkeys(["victim", "eve", "bob"], 1.0), noise_std=1.0, noise_decay=0.99, seed=3, tolerance=4e-5
    )
    for _ in range(750):
        net.run(0.02)
        net._act("eve", lambda protocol: (protocol.give_up(), protocol.tick("victim"))[1])
    assert net.states()["victim"].account.messages < 2 * usual
    assert net.states()["victim"].account.messages > usual / 2
