"""A small sweep, and an executor that runs it in this process: what several files of tests share."""

from __future__ import annotations

from concurrent.futures import Executor, Future

SPEC = {
    "axes": {
        "graph": ["cycle:6", "path:5"],
        "method": ["standard", "noise-insertion"],
        "noise_std": [1.0],
        "noise_decay": [0.5, 0.9],
        "seed": [1, 2],
    },
    "num_steps": 60,
    "replicas": 2,
    "record": 6,
}


class Here(Executor):
    """Runs batches at once in this process; optionally breaks down after some."""

    def __init__(self, limit=None):
        self.limit, self.calls = limit, 0

    def submit(self, fn, /, *arguments):
        future = Future()
        if self.calls == self.limit:
            future.set_exception(ConnectionError("the cluster went away"))
        else:
            self.calls += 1
            future.set_result(fn(*arguments))
        return future
