from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.foundation.arguments import checked, number
from sottovoce.scenario.methods import parse_method

from .settings import GRAPH, SETTINGS, VALUES


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: sv.BinaryOracle(step_size=0.0), r"step_size .* \(0, inf\)"),
        (lambda: sv.BinaryOracle(step_size="1/t2"), "step_size"),
        (lambda: sv.BinaryOracle(step_size="nan/t"), "step_size"),
        (lambda: sv.BinaryOracle(step_size="L/1"), "do not contract"),
        (lambda: sv.GapOracle(gap=-0.1), r"gap .* \(0, inf\)"),
        (lambda: sv.GapOracle(gap=float("nan")), "gap"),
        (lambda: sv.HeavyBallGossip(momentum=1.0), r"momentum .* \[0, 1\)"),
        (lambda: sv.HeavyBallGossip(momentum=0.1, relaxation=2.0), r"relaxation .* \(0, 2\)"),
        (lambda: sv.AcceleratedGossip(smallest_rate=0.6), r"smallest_rate .* \(0, 0.5\]"),
        (lambda: sv.AcceleratedGossip(spread=0.5), r"spread .* \[1, inf\)"),
        (lambda: sv.BlockGossip(block_size=0), "block_size"),
        (lambda: sv.BlockGossip(block_size=2.5), "block_size"),
        (lambda: sv.SynchronousAveraging(weights="nice"), "metropolis, max-degree"),
        (lambda: sv.SynchronousAveraging(weights=[[1.0, 0.0]]), "square"),
        (lambda: sv.SynchronousAveraging(weights=[[1.5, -0.5], [-0.5, 1.5]]), "≥ 0"),
        (lambda: sv.SynchronousAveraging(weights=object()), "matrix"),
        (lambda: sv.MoMurray(noise_std=-1.0, noise_decay=0.5), "noise_std"),
        (lambda: sv.MoMurray(noise_std=1.0, noise_decay=1.0), "never withdrawn"),
        (lambda: sv.MoMurray(noise_std=[1.0, 2.0], noise_decay=0.5), "one number"),
        (lambda: sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=0), "num_rounds"),
        (lambda: sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=2.5), "whole"),
        (lambda: sv.Nozari(noise_scale=1.0, noise_decay=0.2, noise_share=1.3), r"\(\|s − 1\|, 1\)"),
        (lambda: sv.Nozari(noise_scale=1.0, noise_decay=0.5, noise_share=2.0), r"noise_share .* \(0, 2\)"),
        (lambda: sv.Nozari(noise_scale=1.0, noise_decay=[0.5, 0.6], noise_share=[1.0, 1.0, 1.0]), "lengths"),
        (lambda: sv.Nozari(noise_scale=1.0, noise_decay=0.5, step_size=0.1, weights="metropolis"), "exclude"),
        (lambda: sv.Huang(noise_scale=1.0, noise_decay=0.4, mixing_share=0.5), r"\(0.5, 1\)"),
        (lambda: sv.Huang(noise_scale=1.0, noise_decay=0.9, mixing_share=0.0), "mixing_share"),
        (lambda: sv.PairwiseCancelling(pair_noise_std=-1.0), "pair_noise_std"),
    ],
)
def test_parameters_out_of_range_are_refused_with_the_range(make, says):
    """Construction fails with the parameter's name and what is allowed."""
    with pytest.raises(errors.InvalidParameter, match=says):
        make()


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (sv.BlockGossip(block_size=10), r"\[1, 9\]"),
        (sv.Nozari(noise_scale=1.0, noise_decay=0.5, step_size=0.34), r"\(0, 0.333333\) .*1/d_max"),
        (sv.Nozari(noise_scale=np.ones(3), noise_decay=0.5), "one per node"),
        (sv.ManitaraHadjicostis(noise_std=1.0, num_rounds=np.array([1, 2])), "one per node"),
        (sv.SynchronousAveraging(weights=np.eye(3)), r"shape \(8, 8\)"),
        (sv.SynchronousAveraging(weights=np.full((8, 8), 1 / 8)), "not neighbours"),
        (sv.SynchronousAveraging(weights=0.5 * np.eye(8)), "doubly stochastic"),
    ],
)
def test_parameters_that_do_not_fit_the_graph_are_refused(method, says):
    """What cannot be known before the graph is checked when a run starts."""
    with pytest.raises(errors.InvalidParameter, match=says):
        sv.simulate(GRAPH, VALUES, method, num_steps=1)


def test_edge_probabilities_are_for_single_edges():
    """Rounds and sets do not fire one edge at a time, so probabilities make no sense there."""
    for name in ("push-sum", "synchronous", "block"):
        with pytest.raises(errors.InvalidParameter, match="edge_probabilities"):
            sv.simulate(GRAPH, VALUES, SETTINGS[name], num_steps=1, edge_probabilities=np.full(9, 1 / 9))


def test_unequal_edges_are_outside_some_guarantees():
    """The accelerated method runs on unequal edges and the status says that its proof does not cover them."""
    chances = np.arange(1.0, 10.0) / 45
    run = sv.simulate(GRAPH, VALUES, sv.AcceleratedGossip(), num_steps=10, seed=1, edge_probabilities=chances)
    assert run.status is sv.Status.OUTSIDE_GUARANTEE
    assert "equally likely" in run.notes[0]


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("binary-oracle:step_size=1/sqrt(t)", sv.BinaryOracle(step_size="1/sqrt(t)")),
        ("block:block_size=5", sv.BlockGossip(block_size=5)),
        ("push-sum", sv.PushSum()),
        ("mo-murray:noise_std=1,noise_decay=0.9,weights=max-degree", sv.MoMurray(1.0, 0.9, "max-degree")),
        ("nozari:noise_scale=1,noise_decay=0.5,step_size=0.1", sv.Nozari(1.0, 0.5, step_size=0.1)),
    ],
)
def test_methods_are_read_from_text(text, method):
    """The command line's spelling gives the same value as the constructor."""
    assert parse_method(text) == method


def test_transmissions_count_messages():
    """An exchange is 2 messages, a set of b edges 2b, a round 2m, a round of push-sum n; agreement comes once."""
    expected = {"standard": 200, "block": 800, "synchronous": 1800, "push-sum": 800, "pairwise-cancelling": 1818}
    for name, messages in expected.items():
        run = sv.simulate(GRAPH, VALUES, SETTINGS[name], num_steps=100, seed=1, record=[0, 100])
        assert run.transmissions.tolist() == [0, messages], name


def test_rounds_have_no_firing_edges_but_draws():
    """A synchronous run says so when asked for edges, and recomputes its draws from the seed."""
    run = sv.simulate(GRAPH, VALUES, SETTINGS["nozari"], num_steps=30, seed=1)
    with pytest.raises(errors.Unsupported, match="every round"):
        run.fired_edges()
    with pytest.raises(errors.Unsupported, match="no noise"):
        sv.simulate(GRAPH, VALUES, sv.PushSum(), num_steps=3, seed=1).draws()
    kept = 0.8 * 0.5 * (0.6 ** np.arange(30)[:, None] * run.draws()).sum(axis=0)
    np.testing.assert_allclose(run.outstanding_noise, kept, atol=1e-13)
    assert (run.activations == 30).all()


def test_laplace_draws_are_laplace():
    """Mean 0, variance 2 and the right share beyond 1: within five standard errors."""
    run = sv.simulate(GRAPH, VALUES, SETTINGS["huang"], num_steps=20_000, seed=3, record=1)
    draws = run.draws().reshape(-1)
    size = len(draws)
    assert abs(draws.mean()) < 5 * np.sqrt(2 / size)
    assert abs((draws**2).mean() - 2) < 5 * np.sqrt(20 / size)
    assert abs((np.abs(draws) > 1).mean() - np.exp(-1)) < 5 * np.sqrt(0.24 / size)


def test_checked_numbers_name_the_node():
    """A vector's bad entry is named by its place; a vector where one number is needed is refused."""
    with pytest.raises(errors.InvalidParameter, match=r"\(0, 1\], got 0 at node 1"):
        checked("share", [0.5, 0.0], low=0.0, high=1.0, low_open=True)
    with pytest.raises(errors.InvalidParameter, match="one number"):
        number("gap", [1.0, 2.0], low=0.0)


def test_importing_methods_loads_nothing_heavy():
    """The methods can be named without SciPy, Numba or Matplotlib: a peer and the command line start light."""
    code = (
        "import sys, sottovoce.scenario.methods\n"
        "print([m for m in ('scipy', 'numba', 'matplotlib') if m in sys.modules])"
    )
    path = {"PYTHONPATH": ":".join(p for p in sys.path if p)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=path)
    assert out.stdout.strip() == "[]"
