"""What a run leaves behind can be read, shown, kept and gone on from."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import sottovoce as sv
from sottovoce import errors
from sottovoce.methods import registry
from sottovoce.simulation import running, saving

GRAPH = sv.graphs.random_geometric(20, seed=1)
VALUES = np.random.default_rng(0).random((20, 2)) + 41.0
METHOD = sv.NoiseInsertion(noise_std=np.linspace(0, 2, 20), noise_decay=0.8)


@pytest.fixture
def solution():
    weights = np.arange(1.0, GRAPH.num_edges + 1)
    return sv.simulate(
        GRAPH, VALUES, METHOD, num_steps=150, seed=2**63, replicas=3, edge_probabilities=weights / weights.sum()
    )


def test_repr_is_for_people_and_keeps_secrets(solution):
    """It says method, graph, steps, status, error and seed, and no private value or current value."""
    text = repr(solution)
    for part in ("noise insertion", "random_geometric(20, seed=1)", "150 steps", "3 replicas", "completed", str(2**63)):
        assert part in text
    assert "41." not in text


def test_save_and_load_round_trip(solution, tmp_path):
    """A loaded run equals the saved one in every array and goes on exactly as it would have."""
    solution.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    for name in (
        "values",
        "outstanding_noise",
        "steps",
        "relative_error",
        "mass_error",
        "steps_done",
        "private_values",
    ):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(solution, name))
    assert (loaded.graph, loaded.method, loaded.seed) == (GRAPH, METHOD, 2**63)
    assert loaded.graph.name == GRAPH.name
    assert loaded.status is solution.status
    np.testing.assert_array_equal(loaded.resume(77).values, solution.resume(77).values)
    np.testing.assert_array_equal(loaded.fired_edges(), solution.fired_edges())


def halve(nodes, i, j, draw_i, draw_j, step, parameters):
    move = parameters[0] * (nodes[j, 0] - nodes[i, 0])
    nodes[i, 0] += move
    nodes[j, 0] -= move


@dataclass(frozen=True)
class Lazy(sv.methods.PairMethod):
    """A user's method."""

    share: float = 0.5

    name: ClassVar[str] = "lazy"
    num_fields: ClassVar[int] = 1
    update = staticmethod(halve)

    def parameters(self, graph):
        return [self.share]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(registry._REGISTERED, "lazy", Lazy)


def lazy_run(**keywords):
    return sv.simulate(GRAPH, VALUES[:, 0], Lazy(**keywords), num_steps=50, seed=1)


def test_a_users_registered_method_is_saved_and_loaded(registered, tmp_path):
    """The file brings the method back with its parameters, and the run goes on the same; a NumPy number is a number."""
    run = lazy_run(share=np.float64(0.25))
    run.save(tmp_path / "run.npz")
    loaded = sv.Solution.load(tmp_path / "run.npz")
    assert loaded.method == Lazy(share=0.25)
    np.testing.assert_array_equal(loaded.resume(30).values, run.resume(30).values)


def test_a_method_that_is_not_registered_is_not_saved(tmp_path):
    """A file that nobody could load is not written; the message says what to do."""
    with pytest.raises(errors.InvalidParameter, match=r"'lazy' must be registered .* above class Lazy"):
        lazy_run().save(tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_method_that_is_not_known_when_loading_is_named(tmp_path, monkeypatch):
    """Without the module that registers it, the file says which method is missing and what to do."""
    with monkeypatch.context() as patch:
        patch.setitem(registry._REGISTERED, "lazy", Lazy)
        lazy_run().save(tmp_path / "run.npz")
    with pytest.raises(errors.InvalidFile, match="method 'lazy', which is not known: import the module"):
        sv.Solution.load(tmp_path / "run.npz")


def test_a_method_that_lost_a_parameter_is_named(registered, tmp_path, monkeypatch):
    """A file of an older version of a user's method is refused with both lists of parameters."""
    lazy_run().save(tmp_path / "run.npz")
    monkeypatch.setitem(registry._REGISTERED, "lazy", dataclass(frozen=True)(type("Lazy", (sv.StandardGossip,), {})))
    with pytest.raises(errors.InvalidFile, match=r"'lazy' takes no parameter, .* saved with share"):
        sv.Solution.load(tmp_path / "run.npz")


def test_files_of_the_first_release_are_read():
    """A run that was saved before methods were registered comes back bit by bit, errors to rounding, and goes on."""
    old = sv.Solution.load(Path(__file__).parent / "first-release.npz")
    again = sv.simulate(old.graph, old.private_values, old.method, num_steps=40, seed=old.seed, replicas=2, record=4)
    assert (old.steps_done == 40).all()
    for name in ("values", "outstanding_noise", "steps", "tables"):
        np.testing.assert_array_equal(getattr(old, name), getattr(again, name))
    np.testing.assert_allclose(old.mass_error, again.mass_error, rtol=0, atol=1e-14)
    np.testing.assert_allclose(old.relative_error, again.relative_error, rtol=1e-15)
    np.testing.assert_array_equal(old.resume(7).values, again.resume(7).values)


def test_a_solution_cannot_be_changed(solution):
    """Neither its fields nor the arrays in it."""
    with pytest.raises(FrozenInstanceError):
        solution.seed = 3
    for array in (solution.tables, solution.steps_done, solution.private_values, solution.edge_probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_a_failed_save_keeps_the_previous_file(solution, tmp_path, monkeypatch):
    """When writing breaks off midway the old file is untouched and nothing else is left behind."""
    path = tmp_path / "run.npz"
    solution.save(path)
    before = path.read_bytes()

    def break_off(stream, **arrays):
        stream.write(b"half a file")
        raise KeyboardInterrupt

    monkeypatch.setattr(saving.np, "savez", break_off)
    with pytest.raises(KeyboardInterrupt):
        solution.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_solution_is_refused(content, tmp_path):
    """Loading rubbish is a clear error, and nothing in a file is ever executed."""
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(errors.InvalidFile, match="not a saved solution"):
        sv.Solution.load(path)


def test_pickles_are_not_loaded(tmp_path):
    """An archive with a pickled object is refused."""
    path = tmp_path / "run.npz"
    np.savez(path, header=np.array([{"format": saving.FORMAT}], dtype=object))
    with pytest.raises(errors.InvalidFile):
        sv.Solution.load(path)


def test_a_foreign_format_is_named(tmp_path):
    """A later format is refused with both names in the message."""
    path = tmp_path / "run.npz"
    np.savez(path, header=np.frombuffer(b'{"format": "sottovoce-solution-99"}', dtype=np.uint8))
    with pytest.raises(errors.InvalidFile, match="sottovoce-solution-99"):
        sv.Solution.load(path)


def test_dataframe_has_a_row_per_replica_and_step(solution):
    """Rows are in order and carry the recorded numbers."""
    frame = solution.to_dataframe()
    assert list(frame.columns) == ["replica", "step", "transmissions", "relative_error", "squared_error", "mass_error"]
    assert len(frame) == 3 * len(solution.steps)
    np.testing.assert_array_equal(frame[frame.replica == 1].relative_error, solution.relative_error[1])


def test_plot_draws_the_median_and_a_band(solution):
    """Several replicas give one line and one band on a logarithmic axis."""
    axes = solution.plot()
    assert axes.get_yscale() == "log"
    assert len(axes.lines) == 1
    assert len(axes.collections) == 1
    np.testing.assert_allclose(axes.lines[0].get_ydata(), np.median(solution.relative_error, axis=0))


def test_unknown_replica_is_refused(solution):
    """Asking for a replica that was not run names the range."""
    with pytest.raises(errors.InvalidParameter, match=r"\[0, 2\]"):
        solution.fired_edges(replica=3)


def test_elapsed_leaves_out_what_it_takes_to_get_the_kernel(monkeypatch):
    """Compiling or loading it, once in a process, is no part of the seconds that a run took."""
    clock = [0.0]
    made = running.runner_for

    def slowly(*given, **named):
        clock[0] += 100.0
        return made(*given, **named)

    monkeypatch.setattr(running, "runner_for", slowly)
    monkeypatch.setattr(running.time, "perf_counter", lambda: clock[0])
    assert sv.simulate(GRAPH, VALUES, METHOD, num_steps=50, seed=1).elapsed == 0.0
