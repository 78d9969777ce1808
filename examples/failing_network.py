"""What failing does to an average: lost messages and nodes that die, for four methods.

One message in ten is lost from the beginning. After a third of the time five of fifty nodes die, with all that they
hold; the average that is meant is then that of the others. Gossip that averages in place loses mass with every lost
answer, push-sum with every lost message, and both with every dead node. Flow updating keeps ledgers instead: what a
neighbour was given comes back when it is gone, and what a lost message said is said again.

    python examples/failing_network.py changing
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import sottovoce as sv
from sottovoce.plotting import plot_changing, save_figure

NODES, MESSAGES, REPLICAS = 50, 30_000, 60
DYING = range(5)


def runs(replicas: int = REPLICAS, messages: int = MESSAGES) -> list[tuple[str, sv.Solution]]:
    """The four methods on the same graph with the same values, as many messages each."""
    graph = sv.graphs.random_geometric(NODES, seed=3)
    values = np.random.default_rng(0).normal(size=NODES)
    methods = {
        "standard gossip": sv.StandardGossip(),
        "noise insertion": sv.NoiseInsertion(noise_std=1.0, noise_decay=0.9),
        "push-sum": sv.PushSum(),
        "flow updating": sv.FlowUpdating(),
    }
    found = []
    for label, method in methods.items():
        steps = messages // method.messages_per_step(graph)
        stages = [sv.Stage(loss=0.1), sv.Stage(steps // 3, loss=0.1, gone=DYING)]
        run = sv.simulate(graph, values, method, num_steps=steps, seed=1, replicas=replicas, stages=stages, record=150)
        found.append((label, run))
    return found


def main() -> None:
    """Draw the figure, and say where the methods ended."""
    found = runs()
    for label, run in found:
        error, mass = np.median(run.final_relative_error), np.median(run.mass_error[:, -1]) / NODES
        print(f"{label:16} relative error {error:.1e}   mass not accounted for, per node {mass:.1e}")
    if len(sys.argv) > 1:
        axes = plot_changing(found, marks=[(MESSAGES / 3, "five nodes die")])
        save_figure(axes[0].figure, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
