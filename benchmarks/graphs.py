"""Time, memory and accuracy of making and reading large graphs and finding their algebraic connectivity.

    python benchmarks/graphs.py                    all of it, about ten minutes
    python benchmarks/graphs.py cycle grid         some of it
    python benchmarks/graphs.py --json out.json    the numbers for machines as well

Every case runs in its own process on one thread, so that its peak memory is its own. ``wall`` includes what
else the machine is doing, ``cpu`` does not. Closed forms are switched off: the graph is handed to the solver
without its family, and the closed form serves to check the answer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows import peak_bytes


def _recursive_tree(n: int) -> Any:
    import numpy as np

    from sottovoce import Graph

    newer = np.arange(1, n)
    return Graph.from_edges(np.stack([(np.random.default_rng(1).random(n - 1) * newer).astype(int), newer], axis=1))


CONNECTIVITY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "cycle": ("cycle(10⁵)", lambda graphs: graphs.cycle(10**5)),
    "grid": ("grid(1000, 1000)", lambda graphs: graphs.grid(1000, 1000)),
    "rgg5": ("random_geometric(10⁵)", lambda graphs: graphs.random_geometric(10**5, seed=1)),
    "regular5": ("random_regular(10⁵, 16)", lambda graphs: graphs.random_regular(10**5, 16, seed=1)),
    "regular6": ("random_regular(10⁶, 16)", lambda graphs: graphs.random_regular(10**6, 16, seed=1)),
    "regular6-4": ("random_regular(10⁶, 4)", lambda graphs: graphs.random_regular(10**6, 4, seed=1)),
    "scale-free": ("barabasi_albert(2·10⁴, 3)", lambda graphs: graphs.barabasi_albert(20_000, 3, seed=1)),
    "small-world": ("watts_strogatz(2·10⁴, 4, 0.1)", lambda graphs: graphs.watts_strogatz(20_000, 4, 0.1, seed=1)),
    "tree": ("recursive tree, 10⁵ nodes", lambda graphs: _recursive_tree(10**5)),
    "rgg6": ("random_geometric(10⁶)", lambda graphs: graphs.random_geometric(10**6, seed=1)),
}
MAKING: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "make-regular6": ("make random_regular(10⁶, 16)", lambda graphs: graphs.random_regular(10**6, 16, seed=1)),
    "make-rgg6": ("make random_geometric(10⁶)", lambda graphs: graphs.random_geometric(10**6, seed=1)),
    "make-er6": ("make erdos_renyi(10⁶, 2·10⁻⁵)", lambda graphs: graphs.erdos_renyi(10**6, 2e-5, seed=1)),
    "make-ba6": ("make barabasi_albert(10⁶, 3)", lambda graphs: graphs.barabasi_albert(10**6, 3, seed=1)),
    "make-regular7": ("make random_regular(10⁷, 8)", lambda graphs: graphs.random_regular(10**7, 8, seed=1)),
}


READING: dict[str, tuple[str, str]] = {
    "read-spaces": ("read 10⁷ edges, two numbers a line", " "),
    "read-commas": ("read 10⁷ edges, separated by commas", ","),
}
ZOO: dict[str, tuple[str, bool]] = {
    "zoo": ("the zoo: trees, hubs, bottlenecks, weights", True),
    "zoo-without": ("the zoo without pyamg", False),
}
"""The graphs on which the tests try to make the solvers fail, and whether multigrid may help."""
EVERY = (*MAKING, *READING, *CONNECTIVITY, *ZOO)


def read(case: str, num_edges: int = 10**7) -> dict[str, Any]:
    """Read a list of edges; writing it is not counted."""
    from sottovoce import Graph, graphs

    label, between = READING[case]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("edges.csv" if between == "," else "edges.txt")
        edges = graphs.cycle(num_edges).edges
        with path.open("w", encoding="utf-8") as file:
            for start in range(0, num_edges, 10**6):
                file.writelines(f"{i}{between}{j}\n" for i, j in edges[start : start + 10**6].tolist())
        wall, cpu = time.perf_counter(), time.process_time()
        graph = Graph.from_file(path)
        spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    assert graph.num_edges == num_edges
    return {"case": case, "what": label, **spent, "peak_gb": peak_bytes() / 1e9}


def zoo(case: str, num_nodes: int = 10_000) -> dict[str, Any]:
    """The algebraic connectivity of all of them; the digits are those of the worst."""
    from sottovoce import graphs
    from sottovoce.graphs.spectrum import solvers

    sys.path.insert(0, str(Path(__file__).parent.parent))
    from tests.graphs.zoo import ZOO as SPECIMENS

    label, multigrid = ZOO[case]
    if not multigrid:
        solvers.has_multigrid = lambda: False
    made = [make(num_nodes) for make in SPECIMENS.values()]
    wall, cpu = time.perf_counter(), time.process_time()
    digits = [graphs.connectivity(graph, weights).digits for graph, weights in made]
    spent = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    found = f"{len(made)} graphs of {num_nodes:,} nodes, at least {min(digits)} digits"
    return {"case": case, "what": label, **spent, "peak_gb": peak_bytes() / 1e9, "found": found}


def measure(case: str) -> dict[str, Any]:
    from sottovoce import Graph, graphs

    if case in READING:
        return read(case)
    if case in ZOO:
        return zoo(case)
    label, make = (CONNECTIVITY | MAKING)[case]
    wall, cpu = time.perf_counter(), time.process_time()
    graph = make(graphs)
    row: dict[str, Any] = {"case": case, "what": label, "nodes": graph.num_nodes, "edges": graph.num_edges}
    if case in CONNECTIVITY:
        known = graphs.connectivity(graph).value if graph.family else None
        plain = Graph._trusted(graph.num_nodes, graph.edges, name=label)  # the same graph, its family forgotten
        del graph
        wall, cpu = time.perf_counter(), time.process_time()
        found = graphs.connectivity(plain)
        row |= {"value": found.value, "residual": found.residual, "digits": found.digits, "solver": found.solver}
        row["true_error"] = None if known is None else abs(found.value / known - 1)
    row |= {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu, "peak_gb": peak_bytes() / 1e9}
    return row


def in_own_process(case: str) -> dict[str, Any]:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--one", case]
    done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"case": case, "what": case, "failed": done.stderr.strip().splitlines()[-1]}
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def line(row: dict[str, Any]) -> str:
    if "failed" in row:
        return f"{row['what']:<44} failed: {row['failed']}"
    text = f"{row['what']:<44}{row['wall_s']:>8.1f} s{row['cpu_s']:>8.1f} s{row['peak_gb']:>7.2f} GB"
    if "value" in row:
        true = "" if row["true_error"] is None else f"  true error {row['true_error']:.0e}"
        text += f"  {row['solver']:<11} {row['value']:.10g} to {row['digits']} digits{true}"
    return text + f"  {row.get('found', '')}".rstrip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(EVERY)}")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", metavar="CASE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.one)))
        return
    unknown = set(arguments.cases) - set(EVERY)
    if unknown:
        parser.error(f"unknown cases: {', '.join(sorted(unknown))}")
    print(f"{'':<44}{'wall':>10}{'cpu':>10}{'peak':>10}")
    rows = []
    for case in arguments.cases or EVERY:
        rows.append(in_own_process(case))
        print(line(rows[-1]), flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
