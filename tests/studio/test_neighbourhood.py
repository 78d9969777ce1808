"""Runs too large to be followed wholly: what is said of those near the observer is proved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.studio import neighbourhood
from sottovoce.studio.limits import Limits
from sottovoce.studio.observing import Observer
from sottovoce.studio.reading import read_scenario

from .helpers import NOISY, Studio, Visitor

WIRE, WIRES = ((5, 6),), ((4, 5), (5, 6))
OBSERVERS = [
    Observer(nodes=(5,)),
    Observer(nodes=(5, 40)),
    Observer(but=7),
    Observer(edges=WIRE),
    Observer(edges=WIRES),
]
METHODS = [NOISY, "standard", "sealed:seal_std=3,noise_std=1,noise_decay=0.8"]


@pytest.mark.parametrize("prior", [0.3, None])
@pytest.mark.parametrize("observer", OBSERVERS, ids=str)
@pytest.mark.parametrize(("graph", "steps"), [("rgg:60:seed=1", 300), ("cycle:60", 500), ("torus:8x8", 40)])
def test_the_exact_deviation_lies_between_the_bounds(
    graph: str, steps: int, observer: Observer, prior: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On graphs small enough to follow wholly, with twelve nodes looked at: for noise, none, and seals."""
    monkeypatch.setattr(neighbourhood, "NEAREST", 12)
    asked = read_scenario({"graph": graph, "methods": METHODS, "seed": 3, "num_steps": steps}, Limits())
    run = sv.simulate(asked.graph, asked.private_values, sv.StandardGossip(), num_steps=steps, seed=3)
    for method in asked.methods:
        found = neighbourhood.near(asked, method, observer, prior, steps)["near"]
        exact = sv.privacy.audit(asked.graph, method, run.fired_edges(), observer.view(), prior, steps=[])
        std = exact.posterior_std[found["nodes"]]
        assert (np.array(found["low"]) <= std * (1 + 1e-9) + 1e-12).all()
        assert (std <= np.array(found["high"]) * (1 + 1e-9) + 1e-12).all()
        for node, kind in zip(found["nodes"], found["kind"], strict=True):
            assert kind != "known" or exact.disclosed[node]


def test_something_is_kept_from_a_tapped_wire() -> None:
    """Of both its ends too: an end bounds what the tap learns of the other."""
    asked = read_scenario({"graph": "torus:30x30", "methods": [NOISY], "seed": 3, "num_steps": 3000}, Limits())
    found = neighbourhood.near(asked, asked.methods[0], Observer(edges=((5, 6),)), 0.3, 3000)["near"]
    assert found["nodes"][:2] == [5, 6]
    assert min(found["low"]) > 0.05
    assert min(found["high"]) < 0.3
    assert "of the 900 values" in found["sentence"]


def test_early_in_a_run_the_bounds_meet() -> None:
    """While nothing from farther away has arrived, what is said is exact."""
    asked = read_scenario({"graph": "torus:30x30", "methods": [NOISY], "seed": 3, "num_steps": 300}, Limits())
    found = neighbourhood.near(asked, asked.methods[0], Observer(nodes=(5,)), 0.3, 300)["near"]
    meet = np.isclose(found["low"], found["high"])
    assert meet.sum() >= 20


def test_a_cut_history_says_what_is_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """If not all exchanges are followed, the lower bound is what no later exchange can take."""
    asked = read_scenario({"graph": "rgg:60:seed=1", "methods": [NOISY], "seed": 3, "num_steps": 2000}, Limits())
    run = sv.simulate(asked.graph, asked.private_values, sv.StandardGossip(), num_steps=2000, seed=3)
    exact = sv.privacy.audit(
        asked.graph, asked.methods[0], run.fired_edges(), Observer(nodes=(5,)).view(), 0.3, steps=[]
    )
    monkeypatch.setattr(neighbourhood, "MOST_EXCHANGES", 200)
    found = neighbourhood.near(asked, asked.methods[0], Observer(nodes=(5,)), 0.3, 2000)["near"]
    assert (np.array(found["low"]) <= exact.posterior_std[found["nodes"]] * (1 + 1e-9)).all()
    assert max(found["low"]) > 0.1


MANY = tuple((k, k + 1) for k in range(neighbourhood.MOST_WIRES + 1))


@pytest.mark.parametrize("observer", [Observer(edges=MANY), Observer(nodes=(0,))], ids=["many wires", "rounds"])
def test_what_is_not_analysed_at_this_size_says_so(observer: Observer) -> None:
    """Many tapped wires, and methods in rounds."""
    method = "synchronous" if observer.nodes else NOISY
    asked = read_scenario({"graph": "cycle:2001", "methods": [method], "num_steps": 10}, Limits())
    found = neighbourhood.near(asked, asked.methods[0], observer, 0.3, 10)
    assert not found["analysed"]
    assert "not analysed at this size" in found["message"]


def test_a_verdict_at_a_hundred_thousand_nodes(server: Studio) -> None:
    """For every value how many can ever be known exactly, and of the nearest forty, bounds."""
    problem: dict[str, Any] = {"graph": "torus:250x400", "methods": [NOISY], "seed": 3, "num_steps": 10**6}
    with server.open() as socket:
        visitor = Visitor(socket)
        visitor.say(type="setup", run=1, problem=problem)
        visitor.say(type="watch", observer={"nodes": [5]}, prior=0.3)
        lanes = visitor.until("privacy")["lanes"]
    near = lanes[0]["near"]
    assert len(near["nodes"]) == neighbourhood.NEAREST
    assert near["disclosed"] == 0
    assert "none of the 99,999 others" in near["sentence"]
    assert all(0.0 < low <= high <= 0.3 for low, high in zip(near["low"], near["high"], strict=True))
    assert set(sv.graphs.torus(250, 400).neighbours_of(5).tolist()) == set(near["nodes"][:4])
