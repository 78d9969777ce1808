from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.foundation.arguments import checked, number
from sottovoce.methods import VALUE, BlockMethod, Guarantee, PairMethod, PushMethod, RoundMethod
from sottovoce.methods.released import NotStated
from sottovoce.scenario.methods import parse_method

from .settings import GRAPH, VALUES


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
        (lambda: sv.AcceleratedGossip(smallest_rate=1.1), r"smallest_rate .* \(0, 1\]"),
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
        (lambda: sv.Nozari(noise_scale=1.0, noise_decay=0.2, noise_share=1.3), r"\(0.3, 1\)"),
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
    for method in (sv.PushSum(), sv.SynchronousAveraging(), sv.BlockGossip(block_size=4)):
        with pytest.raises(errors.InvalidParameter, match="edge_probabilities"):
            sv.simulate(GRAPH, VALUES, method, num_steps=1, edge_probabilities=np.full(9, 1 / 9))


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
    expected = {
        sv.StandardGossip(): 200,
        sv.BlockGossip(block_size=4): 800,
        sv.SynchronousAveraging(): 1800,
        sv.PushSum(): 800,
        sv.PairwiseCancelling(pair_noise_std=1.0): 1818,
    }
    for method, messages in expected.items():
        run = sv.simulate(GRAPH, VALUES, method, num_steps=100, seed=1, record=[0, 100])
        assert run.transmissions.tolist() == [0, messages], method


def test_rounds_have_no_firing_edges_but_draws():
    """A synchronous run says so when asked for edges, and recomputes its draws from the seed."""
    method = sv.Nozari(noise_scale=0.5, noise_decay=0.6, noise_share=0.8)
    run = sv.simulate(GRAPH, VALUES, method, num_steps=30, seed=1)
    with pytest.raises(errors.Unsupported, match="every round"):
        run.fired_edges()
    with pytest.raises(errors.Unsupported, match="no noise"):
        sv.simulate(GRAPH, VALUES, sv.PushSum(), num_steps=3, seed=1).draws()
    kept = 0.8 * 0.5 * (0.6 ** np.arange(30)[:, None] * run.draws()).sum(axis=0)
    np.testing.assert_allclose(run.outstanding_noise, kept, atol=1e-13)
    assert (run.activations == 30).all()


def test_laplace_draws_are_laplace():
    """Mean 0, variance 2 and the right share beyond 1: within five standard errors."""
    run = sv.simulate(GRAPH, VALUES, sv.Huang(1.0, 0.7), num_steps=20_000, seed=3, record=1)
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


def nothing(nodes, i, j, draw_i, draw_j, step, parameters):
    """Both ends keep what they have."""


@dataclass(frozen=True)
class Still(PairMethod):
    """The smallest method there is."""

    sizes: object = 1.0
    name: ClassVar[str] = "still"
    num_fields: ClassVar[int] = 1
    update = staticmethod(nothing)


@pytest.mark.parametrize(
    ("kind", "missing"),
    [
        (PairMethod, "update"),
        (BlockMethod, "update"),
        (RoundMethod, "mixing, receive, send"),
        (PushMethod, "collect, push"),
        (sv.Method, "messages_per_step"),
    ],
)
def test_a_method_without_its_rule_cannot_be_made(kind, missing):
    """Construction names all that is missing, before anything is compiled or run."""
    cls = type("Empty", (kind,), {"name": "empty", "num_fields": 1})
    with pytest.raises(errors.InvalidParameter, match=f"Empty must define {missing}$"):
        cls()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"update": staticmethod(lambda nodes, i, j: None)},
            r"update\(nodes, i, j, draw_i, .*got update\(nodes, i, j\)",
        ),
        ({"update": lambda self, nodes, i, j, a, b, step, p: None}, r"as a static method, got update\(self, nodes"),
        ({"lazy": True}, "must define settle"),
    ],
)
def test_a_rule_that_could_not_be_called_is_refused(changes, says):
    """Wrong parameters, a missing staticmethod and rows that nobody brings up to date are found at construction."""
    with pytest.raises(errors.InvalidParameter, match=says):
        type("Odd", (Still,), changes)()


def test_what_a_class_must_state():
    """Without a name or a width there is no method."""
    bare = type("Bare", (PairMethod,), {"update": staticmethod(nothing)})
    with pytest.raises(errors.InvalidParameter, match="Bare must define name, num_fields"):
        bare()


def test_what_is_not_stated_is_not_claimed():
    """A method that says nothing more has no guarantee, no stated release, no customary setting, and runs."""
    method = Still()
    assert method.guarantee(GRAPH) == Guarantee()
    assert isinstance(method.releases(GRAPH), NotStated)
    assert Still.customary(GRAPH) == ()
    assert (method.needs(), method.caveats(GRAPH)) == ("", ())
    run = sv.simulate(GRAPH, VALUES, method, num_steps=3, seed=1)
    assert run.tables[0, 0, :, VALUE].tolist() == VALUES.tolist()


@pytest.mark.parametrize(
    "value", [2.5, "a word", np.arange(8.0), np.eye(8), None], ids=["number", "word", "vector", "matrix", "nothing"]
)
def test_any_parameter_can_be_compared(value):
    """A plain frozen dataclass is compared by value, whatever its fields are, and prints on one line."""
    copy = value.copy() if isinstance(value, np.ndarray) else value
    assert Still(value) == Still(copy)
    assert hash(Still(value)) == hash(Still(copy))
    assert Still(value) != Still(7.25)
    assert len(repr(Still(value))) < 60


def test_a_vector_must_fit_the_graph():
    """One entry per node is asked of every vector, also in a method that does not check by itself."""
    Still(np.ones(8)).validate(GRAPH)
    with pytest.raises(errors.InvalidParameter, match=r"sizes must be one number or one per node \(8\), got 3"):
        Still(np.ones(3)).validate(GRAPH)


def test_repr_is_exact():
    """A number that six digits do not show is shown in full."""
    assert repr(sv.GapOracle(gap=0.123456789)) == "GapOracle(gap=0.123456789)"
    assert repr(sv.GapOracle(gap=2.0)) == "GapOracle(gap=2)"


def test_what_methods_need_to_know():
    """Only what a node cannot learn from its neighbours is listed."""
    assert sv.NoiseInsertion(1.0, 0.5).needs() == sv.GapOracle(0.1).needs() == ""
    assert "mean difference" in sv.BinaryOracle("adaptive").needs()
    assert "number of steps" in sv.BinaryOracle("1/t").needs()
    assert sv.BinaryOracle(0.1).needs() == ""
    assert "spectrum" in sv.AcceleratedGossip().needs()
    assert sv.SynchronousAveraging("max-degree").needs().endswith("and the largest degree")
    assert sv.SynchronousAveraging(np.eye(8)).needs().endswith("and the weights")
    assert sv.Nozari(1.0, 0.5).needs().endswith("and the largest degree")
    assert sv.Nozari(1.0, 0.5, weights="metropolis").needs() == sv.PushSum().needs() == "a common clock for the rounds"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: sv.Nozari(q=0.2, s=0.8),
            r"Nozari has no parameter q and s; it takes noise_scale, noise_decay, noise_sh",
        ),
        (lambda: sv.NoiseInsertion(sigma=1.0, noise_decay=0.9), "no parameter sigma; it takes noise_std, noise_decay"),
        (lambda: sv.StandardGossip(noise_std=1.0), "StandardGossip has no parameter noise_std; it takes none"),
    ],
)
def test_other_names_for_parameters_are_answered_with_ours(make, words):
    """Whoever uses the letters of a paper is told what the parameters are called."""
    with pytest.raises(errors.InvalidParameter, match=words):
        make()
