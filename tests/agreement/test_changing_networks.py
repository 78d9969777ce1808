"""Networks that change against a few lines of NumPy, and against what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.simulation.changing.fates import LOSS
from sottovoce.simulation.kinds.neighbour import acting_node
from sottovoce.simulation.kinds.push import push_target
from sottovoce.simulation.random.streams import Stream, block

GRAPH = sv.graphs.random_geometric(16, seed=5)
N = GRAPH.num_nodes
VALUES = np.random.default_rng(2).normal(size=N)
MOVED = VALUES + np.linspace(-1.0, 2.0, N)
SEED, STEPS, LOST = 11, 600, 0.15
STAGES = [sv.Stage(loss=LOST), sv.Stage(200, gone=[3, 7], loss=LOST), sv.Stage(400, down=[2], loss=LOST, values=MOVED)]


def situation(step):
    """Private values, who is there and who answers, at one step."""
    there, answering = np.ones(N, bool), np.ones(N, bool)
    if 200 <= step < 400:
        there[[3, 7]] = answering[[3, 7]] = False
    if step >= 400:
        answering[2] = False
    return MOVED if step >= 400 else VALUES, there, answering


def is_lost(position):
    return block(SEED, 0, position, purpose=LOSS)[0] / 2**32 < LOST


def check(run, records):
    """Mass and error at every step, and with them the values."""
    for step, (values, held) in enumerate(records, start=1):
        c, there, _ = situation(step - 1)
        off = (values - c[there].mean())[there]
        assert run.mass_error[step] == pytest.approx(abs(held[there].sum() - c[there].sum()), abs=1e-11)
        assert run.squared_error[step] == pytest.approx(float((off**2).sum()), rel=1e-10)


def pair_run(run):
    """Averaging in place: (values, what each node holds) after every step."""
    x = VALUES.copy()
    some = run.exchanges()
    for step in range(STEPS):
        if step == 400:  # 3 and 7 are back, with nothing but their own value; all others move by as much as it did
            x += MOVED - VALUES
            x[[3, 7]] = MOVED[[3, 7]]
        i, j = GRAPH.edges[some.edges[step]]
        average = (x[i] + x[j]) / 2
        if some.first_acted[step]:
            x[i] = average
        if some.second_acted[step]:
            x[j] = average
        yield x.copy(), x.copy()


def push_run(run):
    """Halves of a sum and of a weight; the estimate is their ratio when a node has collected."""
    s, w, x, graph = VALUES.copy(), np.ones(N), VALUES.copy(), GRAPH
    for step in range(STEPS):
        _, there, answering = situation(step)
        if step == 400:
            s += MOVED - VALUES
            s[[3, 7]], w[[3, 7]] = MOVED[[3, 7]], 1.0
        if step in (200, 400):
            graph = sv.Graph._trusted(N, GRAPH.edges[there[GRAPH.edges].all(axis=1)])
        new_s, new_w = s.copy(), w.copy()
        for i in np.flatnonzero(answering).tolist():
            target = push_target(graph, Stream(SEED), step, i)
            new_s[i] -= s[i] / 2
            new_w[i] -= w[i] / 2
            if target == i or (answering[target] and not is_lost(step * N + i)):
                new_s[target] += s[i] / 2
                new_w[target] += w[i] / 2
        s, w = new_s, new_w
        x[answering] = (s / w)[answering]
        yield x.copy(), s.copy()


def synchronous_run(run):
    """x_i moves by Σ_j W_ij (x_j − x_i) over those whom it hears; a message is addressed by its entry in W."""
    weights = run.method.mixing(GRAPH)
    rows, columns = np.repeat(np.arange(N), np.diff(weights.indptr)), weights.indices
    x = VALUES.copy()
    for step in range(STEPS):
        _, _, answering = situation(step)
        if step == 400:
            x += MOVED - VALUES
            x[[3, 7]] = MOVED[[3, 7]]
        heard = answering[rows] & answering[columns]
        heard &= [not is_lost(step * len(rows) + k) for k in range(len(rows))]
        x = x + np.bincount(rows, np.where(heard, weights.data * (x[columns] - x[rows]), 0.0))
        yield x.copy(), x.copy()


class Flows:
    """Flow updating as published: an estimate is the private value less all flows, and flows are told whole."""

    def __init__(self):
        owners = np.repeat(np.arange(N), GRAPH.degrees).tolist()
        self.arcs = list(zip(owners, GRAPH.neighbours.tolist(), strict=True))
        self.flows = dict.fromkeys(self.arcs, 0.0)
        self.heard = {arc: VALUES[arc[0]] for arc in self.arcs}
        self.c = VALUES

    def estimate(self, i):
        return self.c[i] - sum(flow for (own, _), flow in self.flows.items() if own == i)

    def leave(self, there):
        for arc in self.arcs:
            if not there[list(arc)].all():
                del self.flows[arc], self.heard[arc]

    def come(self, c):
        self.c = c
        fresh = [arc for arc in self.arcs if arc not in self.flows]
        self.flows |= dict.fromkeys(fresh, 0.0)
        self.heard |= {arc: self.estimate(arc[0]) for arc in fresh}

    def row(self, listener, speaker):
        """Rows of neighbours who are there come first among those of a node; a message is addressed by its row."""
        mine = sorted((arc for arc in self.arcs if arc[0] == listener), key=lambda arc: arc not in self.flows)
        return int(GRAPH.indptr[listener]) + mine.index((listener, speaker))

    def act(self, i, hears):
        near = [j for own, j in self.flows if own == i]
        average = (self.estimate(i) + sum(self.heard[i, j] for j in near)) / (len(near) + 1)
        for j in near:
            self.flows[i, j] += average - self.heard[i, j]
            self.heard[i, j] = average
            if hears(j):
                self.flows[j, i], self.heard[j, i] = -self.flows[i, j], average


def flow_run(run):
    """Values are what is held: the estimates."""
    state = Flows()
    for step in range(STEPS):
        c, there, answering = situation(step)
        if step == 200:
            state.leave(there)
        if step == 400:
            state.come(c)
        i = acting_node(GRAPH, Stream(SEED), step)
        first = step * 2 * GRAPH.num_edges
        if answering[i]:
            state.act(i, lambda j, i=i, up=answering, at=first: up[j] and not is_lost(at + state.row(j, i)))
        values = np.array([state.estimate(k) for k in range(N)])
        yield values, values


@pytest.mark.parametrize(
    ("method", "independent"),
    [
        (sv.StandardGossip(), pair_run),
        (sv.PushSum(), push_run),
        (sv.FlowUpdating(), flow_run),
        (sv.SynchronousAveraging(), synchronous_run),
    ],
    ids=["standard", "push-sum", "flow-updating", "synchronous"],
)
def test_mass_and_error_at_every_step(method, independent):
    """With lost messages, nodes that leave, return and stand still, and values that change."""
    run = sv.simulate(GRAPH, VALUES, method, num_steps=STEPS, seed=SEED, stages=STAGES, record=STEPS)
    records = list(independent(run))
    check(run, records)
    np.testing.assert_allclose(run.values, records[-1][0], rtol=1e-11, atol=1e-11)


def test_noise_insertion_half_done():
    """The end that heard no answer is as if it had never called: value, outstanding noise and amplitude."""
    method = sv.NoiseInsertion(noise_std=2.0, noise_decay=0.8)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=STEPS, seed=SEED, stages=sv.Stage(loss=LOST), record=STEPS)
    x, u, amplitude = VALUES.copy(), np.zeros(N), np.full(N, 2.0)
    some, draws = run.exchanges(), run.draws()
    for step in range(STEPS):
        ends = GRAPH.edges[some.edges[step]]
        fresh = amplitude[ends] * draws[step]
        average = (x[ends] + fresh - u[ends]).mean()
        for k, acted in enumerate((some.first_acted[step], some.second_acted[step])):
            if acted:
                x[ends[k]], u[ends[k]] = average, fresh[k]
                amplitude[ends[k]] *= 0.8
        assert run.mass_error[step + 1] == pytest.approx(abs((x - u).sum() - VALUES.sum()), abs=1e-11)
    np.testing.assert_allclose(run.values, x, atol=1e-12)


def test_lost_messages_on_two_nodes():
    """K₂: the sum makes a random walk that ends, E (Σx − Σc)² = q d²/4 · (1 − rᵏ)/(1 − r), r = p + q/4, q = p(1 − p).

    A half exchange moves the sum by ± d/2 and halves the difference d, a whole one ends it.
    """
    p, k, d = 0.4, 12, 6.0
    q = p * (1 - p)
    r = p + q / 4
    two = sv.graphs.complete(2)
    run = sv.simulate(
        two, [d, 0.0], sv.StandardGossip(), num_steps=k, seed=3, replicas=40_000, stages=sv.Stage(loss=p), record=k
    )
    moved = run.mass_error**2
    steps = np.arange(k + 1)
    expected = q * d**2 / 4 * (1 - r**steps) / (1 - r)
    spread = moved.std(axis=0)[1:] / np.sqrt(run.replicas)
    assert np.abs((moved.mean(axis=0) - expected)[1:] / spread).max() < 4.5
    differences = np.diff(run.values, axis=1)[:, 0] ** 2
    assert differences.mean() == pytest.approx(d**2 * r**k, abs=4.5 * differences.std() / 200)


def test_tracking_a_mean_that_moves():
    """K_n with values that move by b every T steps: the error before each move is the closed form.

    On K_n a step contracts both E(x − x̄) and E‖x − x̄‖² by exactly ρ = 1 − 1/(n − 1), and a move adds b − b̄.
    """
    n, every, moves = 6, 4, 7
    graph, rho = sv.graphs.complete(n), 1 - 1 / (n - 1)
    rng = np.random.default_rng(1)
    c, b = rng.normal(size=n), rng.normal(size=n) + 0.5
    stages = [sv.Stage(), *(sv.Stage(every * k, values=c + k * b) for k in range(1, moves))]
    run = sv.simulate(
        graph, c, sv.StandardGossip(), num_steps=every * moves, seed=4, replicas=20_000, stages=stages,
        record=every * np.arange(1, moves + 1),
    )  # fmt: skip
    off, step = c - c.mean(), b - b.mean()
    error = off @ off
    for k in range(moves):
        error, off = error * rho**every, off * rho**every
        found = run.squared_error[:, k]
        assert found.mean() == pytest.approx(error, abs=4.5 * found.std() / np.sqrt(run.replicas))
        error, off = error + 2 * off @ step + step @ step, off + step
    assert run.mass_error.max() < 1e-12
    assert run.true_mean == pytest.approx((c + (moves - 1) * b).mean())


def test_clocks_of_nodes():
    """Each node calls a neighbour at its own rate: edges fire, and ends call, as often as that says."""
    rates = np.linspace(0.5, 4.0, N)
    stage = sv.Stage(node_rates=rates, loss=0.5)
    run = sv.simulate(GRAPH, VALUES, sv.StandardGossip(), num_steps=400_000, seed=6, stages=stage, record=[])
    some = run.exchanges()
    calls = rates / rates.sum() / GRAPH.degrees
    expected = calls[GRAPH.edges].sum(axis=1)
    counts = np.bincount(some.edges, minlength=GRAPH.num_edges)
    z = (counts - 4e5 * expected) / np.sqrt(4e5 * expected * (1 - expected))
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(sv.graphs.node_clocks(GRAPH, rates), expected)
    # Only the end that was called acts where the answer is lost: the first calls where the second acts alone.
    half = some.first_acted ^ some.second_acted
    first_called = np.bincount(some.edges[half & some.second_acted], minlength=GRAPH.num_edges)
    share = calls[GRAPH.edges[:, 0]] / expected
    halves = np.bincount(some.edges[half], minlength=GRAPH.num_edges)
    z = (first_called - halves * share) / np.sqrt(halves * share * (1 - share))
    assert np.abs(z).max() < 4.5
