"""All benchmarks in one run, their numbers in a file, and the page of the documentation made from it.

    python benchmarks/run.py                    everything (`make bench`); ten minutes on two cores
    python benchmarks/run.py --skip peer        some of it; the page says what is missing
    python benchmarks/run.py --page             only the page, from the numbers that are there

Every part is a program of its own, and so is whatever measures memory. `gpu.py` needs an NVIDIA device; where there is
none that is said, and the page shows the numbers of results/gpu-h200.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import page

HERE = Path(__file__).parent
NUMBERS = HERE / "results" / "cpu.json"
MACHINE = "import json; from sottovoce.experiments.bench import machine; print(json.dumps(machine()))"
TABLES = {"simulation": "bench_simulation.py", "sweeps": "bench_sweeps.py", "graphs": "graphs.py"}
TEXTS = {
    "theory": "bench_theory.py",
    "privacy": "bench_privacy.py",
    "peer": "bench_peer.py",
    "topics": "bench_topics.py",
}
PARTS = TABLES | TEXTS | {"gpu": "gpu.py"}


def _table(script: str) -> list[dict[str, Any]]:
    """The rows of a program that writes them to a file."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "rows.json"
        subprocess.run([sys.executable, HERE / script, "--json", target], check=True)
        rows: list[dict[str, Any]] = json.loads(target.read_text(encoding="utf-8"))
    return rows


def _text(script: str) -> str:
    """What a program prints; that it failed is a result as well."""
    done = subprocess.run([sys.executable, HERE / script], capture_output=True, text=True, check=False)
    print(done.stdout, flush=True)
    why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    failed = f"\n{script} failed: {why}" if done.returncode else ""
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + failed


def _gpu(script: str) -> dict[str, Any] | None:
    """The same of a device, or nothing where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "rows.json"
        done = subprocess.run(
            [sys.executable, HERE / script, "--out", target], stderr=subprocess.PIPE, text=True, check=False
        )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            print(f"skipped, no device: {why}", flush=True)
            return None
        rows: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return rows


def _measured(name: str, script: str) -> Any:
    """What a part gives."""
    if name == "gpu":
        return _gpu(script)
    return _table(script) if name in TABLES else _text(script)


def _machine() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", MACHINE], capture_output=True, text=True, check=True)
    about: dict[str, Any] = json.loads(done.stdout)
    return about | {"load": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skip", nargs="*", default=[], choices=list(PARTS))
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    if not arguments.page:
        numbers: dict[str, Any] = {"machine": _machine()}
        for name, script in PARTS.items():
            if name not in arguments.skip:
                print(f"== {name}", flush=True)
                began = time.perf_counter()
                numbers[name] = _measured(name, script)
                numbers["machine"]["load at the end"] = round(os.getloadavg()[0], 1)
                NUMBERS.write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                print(f"== {name}: {time.perf_counter() - began:.0f} s", flush=True)
    page.PAGE.write_text(page.render(json.loads(NUMBERS.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {page.PAGE}")


if __name__ == "__main__":
    main()
