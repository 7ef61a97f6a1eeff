"""What a second worker brings: the same search by one and by two processes, and what one piece costs.

Time is that of the search alone, from the moment at which all workers are up; the second second of a search is the
first one that is handed over.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import Rows
from treadle.core.result import Result
from treadle.doors.explore import check
from treadle.doors.explore.fleet import WorkerFleet
from treadle.search import cluster

PROGRAM = """
import threading


class Account:
    def __init__(self):
        self.balance = 0
        self.entries = 0


def run(threads, times):
    account = Account()

    def body():
        for _ in range(times):
            account.balance = account.balance + 1
        account.entries = 1

    running = [threading.Thread(target=body) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert account.balance <= threads * times


def test_small():
    run(3, 2)


def test_large():
    run(4, 2)
"""


@contextlib.contextmanager
def project() -> Iterator[Path]:
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_scaled.py").write_text(PROGRAM)
        sys.path.insert(0, folder)
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(here)
            sys.path.remove(folder)


def searched(name: str, workers: int, **options: object) -> tuple[Result, float, int]:
    """The result, the seconds of it behind the start of the workers, and how many pieces it took."""
    test = getattr(importlib.import_module("test_scaled"), name)
    up: list[float] = []
    fleets: list[WorkerFleet] = []
    usual = WorkerFleet._turn

    def turn(self: WorkerFleet, *args: object) -> object:
        if len(self.pool.ready) < workers:
            while len(self.pool.ready) < workers:
                list(self.pool.news(0.05))
            up.append(time.perf_counter())
        fleets.append(self)
        return usual(self, *args)  # type: ignore[arg-type]

    WorkerFleet._turn = turn  # type: ignore[method-assign, assignment]
    try:
        begun = time.perf_counter()
        result = check.check(test, target=f"test_scaled.py::{name}", workers=workers, **options)  # type: ignore[arg-type]
        ended = time.perf_counter()
    finally:
        WorkerFleet._turn = usual  # type: ignore[method-assign]
    return result, ended - (up[0] if up else begun), fleets[-1].pieces if fleets else 0


def main(quick: bool) -> None:
    rows = Rows("scale", ["what", "one", "two", "growth"])
    seconds = 10.0 if quick else 60.0
    with project():
        for strategy in ("dpor", "random"):
            rates = []
            for workers in (1, 2):
                result, spent, _ = searched("test_large", workers, strategy=strategy, seconds=seconds)
                rates.append(result.executions / spent)
            rows.add(what=f"{strategy}, executions/s", one=rates[0], two=rates[1], growth=rates[1] / rates[0])
        usual = cluster.SHARE_HERE
        times = []
        for share in (0.5, 0.0):  # pieces of half a second, and of one execution each
            cluster.SHARE_HERE = share
            _, spent, pieces = searched("test_small", 2, strategy="dpor")
            times.append((spent, pieces))
        cluster.SHARE_HERE = usual
        (long, few), (short, many) = times
        rows.add(what="ms of a piece", one=None, two=(short - long) / max(1, many - few) * 1000, growth=None)
        rows.add(what="pieces", one=few, two=many, growth=None)
    if not quick:
        one, two = (unit_seconds(workers) for workers in ("1", "2"))
        rows.add(what="unit over two modules, s", one=one, two=two, growth=one / two)
    rows.table()


def unit_seconds(workers: str) -> float:
    """`treadle unit` over modules of the standard library."""
    words = ["unit", "fractions", "textwrap", "--seconds", "10", "--no-summaries", "--workers", workers, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        command = [sys.executable, "-m", "treadle", *words, "--output", os.path.join(folder, "test_it.py")]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return time.perf_counter() - begun
