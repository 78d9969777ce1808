"""Several threads on one run: the bits of the driver alone, whatever the graph, the method and the records."""

from __future__ import annotations

import signal
import threading
import time

import numba
import numpy as np
import pytest

import sottovoce as sv
from sottovoce.methods import PairMethod
from sottovoce.simulation import running, team
from sottovoce.simulation.kinds import together
from sottovoce.simulation.team import Pace

GRAPHS = {
    "star": sv.graphs.star(300),
    "cycle": sv.graphs.cycle(1000),
    "complete": sv.graphs.complete(40),
    "geometric": sv.graphs.random_geometric(700, seed=1),
    "hubs": sv.graphs.barabasi_albert(2000, 2, seed=1),
}
NOISY = sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9)
METHODS = [
    sv.StandardGossip(),
    NOISY,
    sv.SealedGossip(seal_std=10.0, noise_std=1.0, noise_decay=0.5),
    sv.BinaryOracle(step_size="adaptive"),
]
STEPS = 40_000

share_out = numba.njit(together.share_out)


class Raising(PairMethod):
    """A method of somebody's own that fails on the way."""

    name = "raising"
    num_fields = 1

    @staticmethod
    def update(nodes, i, j, draw_i, draw_j, step, parameters):
        """Average, but not for ever."""
        if step == STEPS // 2:
            raise ValueError("no more")
        nodes[i, 0] = nodes[j, 0] = 0.5 * (nodes[i, 0] + nodes[j, 0])


class Always(team.Pace):
    """Never alone."""

    together = True


@pytest.fixture(autouse=True)
def small_networks_too(monkeypatch):
    """Helpers are used whatever the size, and in every span."""
    monkeypatch.setattr(team, "LEAST_NODES", 2)
    monkeypatch.setattr(team, "LEAST_STEPS", 1)
    monkeypatch.setattr(team, "Pace", Always)


@pytest.fixture
def spans(monkeypatch):
    """How often helpers took part."""
    made = []
    work = team.Team.work
    monkeypatch.setattr(team.Team, "work", lambda *arguments: made.append(1) or work(*arguments))
    return made


def both(graph, method, *, threads=2, num_steps=STEPS, **how):
    """The same run on one thread and on several."""
    values = np.random.default_rng(0).random(graph.num_nodes)
    how = {"num_steps": num_steps, "seed": 7, **how}
    return (sv.simulate(graph, values, method, threads=number, **how) for number in (1, threads))


def assert_same(one, other):
    """All that was found, to the last bit; sums of masses to rounding."""
    np.testing.assert_array_equal(one.tables, other.tables)
    np.testing.assert_array_equal(one.steps, other.steps)
    np.testing.assert_array_equal(one.squared_error, other.squared_error)
    np.testing.assert_allclose(one.records.drifts, other.records.drifts, rtol=0, atol=1e-12)


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_helpers_leave_the_bits_alone(graph, method, spans):
    """Values, noise and recorded errors are the same, also on a star, where all steps share a node, and for a method
    whose nodes read more than their own rows.
    """
    assert_same(*both(graph, method, record=[0, STEPS // 3, STEPS]))
    assert spans


@pytest.mark.parametrize("threads", [2, 3, 4, 9])
def test_any_number_of_helpers(threads, spans):
    """They draw batches in turns, and sum the nodes at records in parts."""
    assert_same(*both(sv.graphs.cycle(40_000), NOISY, threads=threads, num_steps=200_000, record=20))
    assert spans


@pytest.mark.parametrize("share", [0, 1, 15, 16])
def test_any_share_that_the_first_thread_draws(monkeypatch, share):
    """Whether helpers draw everything or nothing, the run is the same."""
    desk = together.Desk.empty(2000, 1)
    desk.shares[:] = share
    monkeypatch.setattr(team.Desk, "empty", lambda *_: desk)
    assert_same(*both(GRAPHS["hubs"], NOISY))
    assert desk.made[0, 0] > 0


@pytest.mark.parametrize(("drawn", "share"), [(0, 9), (1, 9), (2, 8), (7, 8), (8, 7)])
def test_the_share_follows_who_waits(drawn, share):
    """The first thread draws more where the next batch is not drawn, less where all are that have a place, and in
    between as much as before.
    """
    desk = together.Desk.empty(10, 1)
    desk.shares[:] = 8
    desk.drawn[:] = drawn
    share_out(desk, 0)
    assert desk.shares.tolist() == [share] + 7 * [8]


@pytest.mark.parametrize(("drawn", "share"), [(0, together.BATCH), (8, 0)])
def test_a_share_stays_between_nothing_and_all(drawn, share):
    """Where helpers are always behind, or always ahead, it ends at all windows of a batch, or at none."""
    desk = together.Desk.empty(10, 1)
    for turn in range(40 * together.PLACES):
        desk.drawn[:] = turn + drawn
        share_out(desk, turn)
    assert desk.shares.tolist() == together.PLACES * [share]


@pytest.mark.parametrize("num_steps", [1, 63, 64, 65, 127, 128, 129, 8191, 8192, 8193, 8257, 16_385])
def test_any_number_of_steps(num_steps):
    """A run may end inside a window, with one, and with a batch; a step or a window may be all that there is."""
    assert_same(*both(GRAPHS["cycle"], NOISY, num_steps=num_steps))


@pytest.mark.parametrize(
    "record", [None, [], [0, 1, 7, 4096, 5000, 39_999], list(range(3000)), [20_000, 20_001, 30_000]]
)
def test_records_are_those_of_the_sequential_driver(record):
    """Few records, many, and both in turns: sums are carried over the same steps and give the same bits."""
    assert_same(*both(GRAPHS["hubs"], NOISY, record=record, threads=3))


def test_lazy_methods_are_run_by_one_thread(spans):
    """Where every node changes in every step, most of the time goes into records: one thread makes the steps."""
    assert_same(*both(GRAPHS["cycle"], sv.HeavyBallGossip(momentum=0.3), num_steps=500))
    assert not spans


def test_a_run_goes_on_and_is_cut_into_spans(monkeypatch):
    """A run that is resumed, and looked at every few hundred steps, is the same run."""
    monkeypatch.setattr(running, "CHUNK", 700)
    one, two = both(GRAPHS["hubs"], NOISY, num_steps=3000)
    assert_same(one.resume(3000, threads=1), two.resume(3000, threads=2))


def test_edges_that_are_not_equally_likely():
    """The alias table is the same for a team."""
    graph = GRAPHS["hubs"]
    chances = np.random.default_rng(1).random(graph.num_edges)
    assert_same(*both(graph, NOISY, edge_probabilities=chances / chances.sum()))


def test_replicas_and_vectors_share_the_cores_otherwise(spans):
    """Threads take replicas or coordinates where there are several, rounds draw no edges, one thread has no helper."""
    graph = GRAPHS["cycle"]
    values = np.random.default_rng(0).random((graph.num_nodes, 2))
    sv.simulate(graph, values, NOISY, num_steps=100, seed=1, threads=2)
    sv.simulate(graph, values[:, 0], NOISY, num_steps=100, seed=1, threads=2, replicas=2)
    sv.simulate(graph, values[:, 0], NOISY, num_steps=100, seed=1, threads=1)
    sv.simulate(graph, values[:, 0], sv.PushSum(), num_steps=100, seed=1, threads=2)
    assert not spans


def test_a_run_that_is_to_stop_at_an_error_is_the_same(spans):
    """Every step is watched, in order and by one thread: the same step is found."""
    one, two = both(GRAPHS["hubs"], NOISY, stop_at=1e-3, num_steps=10**6)
    assert_same(one, two)
    assert one.status.name == two.status.name == "STOPPED_AT_ERROR"
    assert not spans


def test_a_team_that_is_interrupted_has_made_whole_steps(monkeypatch, spans):
    """Ctrl-C between two spans: what is handed back is the run of so many steps, and it can go on."""
    monkeypatch.setattr(running, "CHUNK", 5000)
    graph, stops = GRAPHS["hubs"], []

    def press_once(*_):
        if not stops:
            stops.append(1)
            signal.raise_signal(signal.SIGINT)

    values = np.random.default_rng(0).random(graph.num_nodes)
    cut = sv.simulate(graph, values, NOISY, num_steps=STEPS, seed=7, threads=2, progress=press_once)
    assert cut.status.name == "INTERRUPTED"
    assert 0 < cut.num_steps < STEPS
    assert spans
    np.testing.assert_array_equal(cut.tables, next(both(graph, NOISY, num_steps=cut.num_steps)).tables)
    gone_on = cut.resume(STEPS - cut.num_steps, threads=2)
    np.testing.assert_array_equal(gone_on.tables, next(both(graph, NOISY)).tables)


@pytest.mark.parametrize("enough", [0, 1])
def test_where_there_are_no_more_threads_one_makes_all_steps(monkeypatch, spans, enough):
    """A system that starts none of two helpers, or only one, gets the same result, and nobody waits for the others."""
    start, started = threading.Thread.start, []

    def none_of_ours(self):
        if self.name.startswith("sottovoce"):
            if len(started) == enough:
                raise RuntimeError("can't start new thread")
            started.append(self)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", none_of_ours)
    assert_same(*both(GRAPHS["cycle"], NOISY, threads=3))
    assert spans
    assert len(started) == enough


@pytest.mark.parametrize("record", [[], 20])
def test_an_update_that_raises_ends_the_run(record, spans):
    """Helpers do not wait for the batch that is never made: the error is raised, and no thread is left."""
    with pytest.raises(ValueError, match="no more"):
        sv.simulate(GRAPHS["cycle"], np.arange(1000.0), Raising(), num_steps=STEPS, seed=7, threads=3, record=record)
    assert spans
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sottovoce")]


@pytest.mark.parametrize("who", ["_make", "_help"])
def test_a_thread_that_comes_late(monkeypatch, who):
    """Whoever is first waits for the others where it must: the bits are the same."""
    run = getattr(team.Team, who)

    def late(*arguments):
        time.sleep(0.002)
        run(*arguments)

    monkeypatch.setattr(team.Team, who, late)
    monkeypatch.setattr(running, "CHUNK", 20_000)
    assert_same(*both(GRAPHS["hubs"], NOISY, num_steps=10 * STEPS, record=3, threads=3))


def test_the_faster_way_is_taken():
    """Both ways are tried in short spans, the faster goes on in long ones, the other is tried again now and then."""
    pace, chosen, most = Pace(), [], []
    for _ in range(2 * team.AGAIN + 2):
        chosen.append(pace.together)
        most.append(pace.most(10**9))
        pace.took(2.0 if pace.together else 1.0)
    assert chosen[: team.FIRST] == [True, False, True, False]
    assert chosen.count(True) == 4
    assert [steps < 10**9 for steps in most] == [k < team.FIRST or k % team.AGAIN == 0 for k in range(len(most))]


def test_a_slow_first_trial_does_not_decide():
    """Caches are cold in the first span: the better of two trials counts."""
    pace = Pace()
    for seconds in (9.0, 2.0, 1.0, 2.0):
        pace.took(seconds)
    assert pace.together
