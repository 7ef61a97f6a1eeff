"""What a second worker brings: the same search by one and by two processes, and what one piece costs.

Time is that of the search alone, from the moment at which all workers are up; the second second of a search is the
first one that is handed over. On a machine that is not idle, time of processors says what the clock cannot. Commands
(`unit`, `hunt`, `actor`) are timed whole, and `unit` also without the tests that it writes and runs. The last rows send
pieces that do nothing through a LocalCluster of two worker processes: what each costs, and memory after a tenth ("one")
and in the end ("two").

    python -m benchmarks scale                 # all of it
    python -m benchmarks.scale hunt actor      # these parts: dpor, random, pieces, unit, hunt, actor, cluster
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.rows import Rows
from treadle.core.errors import UsageError
from treadle.doors.explore import check
from treadle.doors.explore.campaign import ScheduleSearch
from treadle.doors.explore.fleet import WorkerFleet
from treadle.search import cluster
from treadle.search.workers import WorkerPool, answers

MODELS = Path(__file__).parents[1] / "examples" / "abs"

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


class Searched(NamedTuple):
    """What was done behind the start of the workers: executions, seconds by the clock and of all processors, pieces."""

    executions: int
    seconds: float
    processors: float
    pieces: int


def searched(name: str, workers: int, **options: object) -> Searched:
    test = getattr(importlib.import_module("test_scaled"), name)
    up: list[tuple[float, float, int]] = []
    fleets: list[WorkerFleet] = []
    usual = WorkerFleet._turn

    def turn(self: WorkerFleet, search: ScheduleSearch, *args: object) -> object:
        if len(self.pool.ready) < workers:
            while len(self.pool.ready) < workers:
                list(self.pool.news(0.05))
            assert isinstance(self.pool, WorkerPool)
            pids = [worker.pid for worker in self.pool.ready]
            up.append((time.perf_counter(), processor_seconds(*pids), search.executions))
        fleets.append(self)
        return usual(self, search, *args)  # type: ignore[arg-type]

    WorkerFleet._turn = turn  # type: ignore[method-assign, assignment]
    try:
        begun = time.perf_counter(), processor_seconds(), 0
        result = check.check(test, target=f"test_scaled.py::{name}", workers=workers, **options)  # type: ignore[arg-type]
        ended = time.perf_counter(), processor_seconds(), result.executions
    finally:
        WorkerFleet._turn = usual  # type: ignore[method-assign]
    seconds, processors, executions = (end - start for end, start in zip(ended, up[0] if up else begun, strict=True))
    return Searched(int(executions), seconds, processors, fleets[-1].pieces if fleets else 0)


def processor_seconds(*running: int) -> float:
    """Of this process, those that it started and have ended, and these that run."""
    ticks = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13] for pid in running]
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time() + ended.ru_utime + ended.ru_stime
    return own + sum(map(int, itertools.chain(*ticks))) / os.sysconf("SC_CLK_TCK")


def main(quick: bool, only: Sequence[str] = ()) -> None:
    """All rows, or those of some parts."""
    unknown = [name for name in only if name not in PARTS]
    if unknown:
        raise UsageError(f"there is no part '{unknown[0]}'; there are: {', '.join(PARTS)}")
    rows = Rows("scale", ["what", "one", "two", "growth"])
    for name, part in PARTS.items():
        if not only or name in only:
            part(rows, quick)
    rows.table()


def executions(strategy: str, rows: Rows, quick: bool) -> None:
    seconds = 10.0 if quick else 60.0
    with project():
        alone, both = (searched("test_large", workers, strategy=strategy, seconds=seconds) for workers in (1, 2))
    by_clock = alone.executions / alone.seconds, both.executions / both.seconds
    # what two idle cores would give: each of them does half of all that was done
    by_processors = alone.executions / alone.processors, 2 * both.executions / both.processors
    for what, (one, two) in {"executions/s": by_clock, "executions/s by processors": by_processors}.items():
        rows.add(what=f"{strategy}, {what}", one=one, two=two, growth=two / one)


def pieces(rows: Rows, _: bool) -> None:
    usual = cluster.SHARE_HERE
    times = []
    with project():
        for share in (0.5, 0.0):  # pieces of half a second, and of one execution each
            cluster.SHARE_HERE = share
            ran = searched("test_small", 2, strategy="dpor")
            times.append((ran.seconds, ran.pieces))
    cluster.SHARE_HERE = usual
    (long, few), (short, many) = times
    rows.add(what="ms of a piece", one=None, two=(short - long) / max(1, many - few) * 1000, growth=None)
    rows.add(what="pieces", one=few, two=many, growth=None)


# Searches that have an end, the second one for --quick; each takes a minute or more with one worker.
COMMANDS = {
    "unit": (
        # a limit on time would be used up by both, so there is none
        [
            *("unit", "html", "calendar", "shlex", "textwrap", "--no-summaries", "--no-probe", "--paths", "120"),
            *("--seconds", "36000"),
        ],
        ["unit", "textwrap", "--no-summaries", "--no-probe", "--paths", "40"],
    ),
    "hunt": (
        ["hunt", "collections", "queue", "sched", "--budget", "10s", "--allow-effects"],
        ["hunt", "sched", "--budget", "2s", "--allow-effects"],
    ),
    "actor": (
        # nor on states: what two workers have run beyond it would be thrown away
        [
            *("actor", str(MODELS / "producer_consumer.abs:Producer.produceList"), "-k", "5"),
            *("--reduce", "stable", "--cases", "none", "--states", "20000000"),
        ],
        ["actor", str(MODELS / "factorial.abs:Fact.ft"), "--tasks", "4", "--cases", "none"],
    ),
}


# `treadle unit`, which tells in a file how long its search took: until the tests are written, with its workers warm.
UNIT_SEARCH = """
import sys, time
from pathlib import Path
from treadle.cli.main import main
from treadle.doors.unit import suite
from treadle.units import parallel

def timed(usual, warm=None):
    def run(first, *others):
        while warm is not None and len(first.pool.ready) < first.pool.size:
            for _ in first.pool.news(0.1):
                pass
        begun = time.perf_counter()
        try:
            return usual(first, *others)
        finally:
            Path("seconds").write_text(str(time.perf_counter() - begun))
    return run

if sys.argv[-1] == "1":
    suite._explore = timed(suite._explore)
else:
    parallel._Coordinator.run = timed(parallel._Coordinator.run, warm=True)
sys.exit(main(["unit", *sys.argv[1:]]))
"""


def unit(rows: Rows, quick: bool) -> None:
    """The whole command, and its search alone."""
    times = []
    for workers in ("1", "2"):
        with tempfile.TemporaryDirectory() as folder:
            words = [*COMMANDS["unit"][quick][1:], "--json", "--output", "test_it.py", "--workers", workers]
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", UNIT_SEARCH, *words], capture_output=True, cwd=folder, check=False)
            times.append((time.perf_counter() - begun, float(Path(folder, "seconds").read_text())))
    for what, (one, two) in zip(("command", "search, workers warm"), zip(*times, strict=True), strict=True):
        rows.add(what=f"unit, s of the {what}", one=one, two=two, growth=one / two)


def command(name: str, rows: Rows, quick: bool) -> None:
    one, two = (command_seconds(COMMANDS[name][quick], workers) for workers in ("1", "2"))
    rows.add(what=f"{name}, s", one=one, two=two, growth=one / two)


def command_seconds(words: list[str], workers: str) -> float:
    """A whole command, its start and that of its workers included."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        line = [sys.executable, "-m", "treadle", *words, "--workers", workers, "--json"]
        if words[0] != "actor":
            line += ["--output", os.path.join(folder, "found")]
        subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, check=False)
        return time.perf_counter() - begun


# ---------------------------------------------------------------------- a cluster

LOCAL_CLUSTER = """
import sys
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as local:
        print(local.scheduler_address, *(worker.pid for worker in local.workers.values()), flush=True)
        sys.stdin.read()
"""


class EchoServer:
    """A worker that does nothing: what is left is the cost of a piece."""

    def __init__(self, setup: object, tell: object) -> None: ...

    def run(self, number: int, task: object) -> int:
        return number


def through_a_cluster(rows: Rows, quick: bool) -> None:
    """Many pieces through a LocalCluster: what each costs, and the memory behind the first tenth and in the end."""
    pieces = 1_000 if quick else 10_000
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "local_cluster.py")
        script.write_text(LOCAL_CLUSTER)
        with subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as local:
            assert local.stdout is not None
            address, *pids = local.stdout.readline().split()
            workforce = cluster.Workforce(1, cluster.Cluster(address))
            with cluster.pool_of(workforce, "benchmarks.scale:EchoServer", None, "pieces") as pool:
                assert isinstance(pool, cluster.ClusterPool)
                watched = {"this process": os.getpid(), "client": pool._relay.pid, "scheduler": local.pid}
                watched |= {f"Dask worker {n}": int(pid) for n, pid in enumerate(pids, 1)}
                answered = 0
                early: dict[str, float] = {}
                begun = time.perf_counter()
                for number, _ in answers(pool, list(range(pieces))):
                    answered += number >= 0
                    if answered == pieces // 10:
                        early = {name: megabytes(pid) for name, pid in watched.items()}
                spent = time.perf_counter() - begun
                for name, pid in watched.items():
                    rows.add(what=f"MB of {name}", one=early[name], two=megabytes(pid), growth=None)
            local.communicate()
    rows.add(what=f"ms of a piece through Dask, {answered} pieces", one=None, two=spent / pieces * 1000, growth=None)


def megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


PARTS: dict[str, Callable[[Rows, bool], None]] = {
    **{strategy: partial(executions, strategy) for strategy in ("dpor", "random")},
    "pieces": pieces,
    **{name: partial(command, name) for name in COMMANDS},
    "unit": unit,
    "cluster": through_a_cluster,
}

if __name__ == "__main__":
    main("--quick" in sys.argv, [word for word in sys.argv[1:] if word != "--quick"])
