"""What can happen to those who do the work: something at the n-th task, and a cluster of Dask on this machine (two
workers, one thread each) that loses some of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

import pytest

from treadle.search.cluster import ClusterPool
from treadle.search.workers import WorkerPool

# In a process of its own: in this one, threads and event loops are models while a test is explored.
LOCAL_CLUSTER = """
import sys
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        for line in sys.stdin:
            print(*(worker.pid for worker in cluster.workers.values()), flush=True)
"""


def at_task(
    monkeypatch: pytest.MonkeyPatch, kind: type[WorkerPool | ClusterPool], nth: int, do: Callable[[Any], object]
) -> list[int]:
    """`do(worker)` as soon as so many tasks have been given; the numbers of all tasks, which goes on afterwards."""
    usual = kind.give
    given: list[int] = []

    def give(pool: Any, worker: Any, number: int, task: Any) -> None:
        usual(pool, worker, number, task)
        given.append(number)
        if len(given) == nth:
            do(worker)

    monkeypatch.setattr(kind, "give", give)
    return given


class LocalCluster:
    """A scheduler and its workers, which are started again when they die."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in: IO[str] = process.stdin
        self._out: IO[str] = process.stdout
        self._pid = process.pid
        self.address = self._out.readline().strip()

    def pids(self) -> list[int]:
        self._in.write("pids\n")
        self._in.flush()
        return [int(pid) for pid in self._out.readline().split() if pid != "None"]

    def dies_midway(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """One of the workers is killed when the second task is given; the numbers of all tasks."""
        return at_task(monkeypatch, ClusterPool, 2, lambda _: os.kill(self.pids()[0], signal.SIGKILL))

    def goes_away(self, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
        """The scheduler and its workers are killed when so many tasks have been given."""

        def kill(_: Any) -> None:
            for pid in (self._pid, *self.pids()):
                os.kill(pid, signal.SIGKILL)

        at_task(monkeypatch, ClusterPool, after, kill)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    script = tmp_path_factory.mktemp("cluster") / "local_cluster.py"
    script.write_text(LOCAL_CLUSTER)
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as local:
        yield LocalCluster(local)
        if local.poll() is None:
            local.communicate()
