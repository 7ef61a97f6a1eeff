"""Tasks on their way through Dask: short ones travel together, and what keeps a node from its work is told before."""

from __future__ import annotations

import functools
import os
import pickle
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tests.workforce import LocalCluster
from tests.workforce import cluster as cluster
from treadle.core.errors import UsageError
from treadle.search import cluster as pools
from treadle.search import node
from treadle.search.cluster import Cluster, ClusterPlace, ClusterPool, GivenToDask


class Client:
    """Keeps what it is given; tasks with a bad number in them kill their node."""

    def __init__(self, bad: int) -> None:
        self.bad = bad
        self.given: list[list[int]] = []
        self.ends: list[Callable[[], None]] = []

    def submit(self, run: Any, ask: bytes, tasks: bytes, **_: Any) -> Any:
        numbers = [number for number, _ in pickle.loads(tasks)]
        self.given.append(numbers)
        status = "error" if self.bad in numbers else "finished"
        done = node.packed([("done", number, None) for number in numbers], "")
        future = SimpleNamespace(
            status=status, result=lambda timeout: done, exception=lambda: RuntimeError("the node died")
        )
        future.add_done_callback = lambda tell: self.ends.append(functools.partial(tell, future))
        return future


def test_short_tasks_go_together_and_one_that_died_with_its_node_goes_alone() -> None:
    client = Client(bad=5)
    said: list[Any] = []
    given = GivenToDask(client, b"", "pieces: ", 2, lambda tasks, future: said.extend(given.ended(tasks, future)))
    given.waiting.extend((number, "task") for number in range(8))
    given.submit_waiting()
    assert client.given == [[0, 1, 2, 3], [4, 5]]
    for end in client.ends[:2]:
        end()
    assert [message[0] for message in said] == ["done"] * 4 + ["died"] * 2
    given.waiting.extend([(4, "task"), (5, "task")])
    given.submit_waiting()
    client.ends[-2]()
    client.ends[-1]()
    given.submit_waiting()
    assert client.given[2:] == [[6, 7], [4], [5]]


def test_a_task_that_dask_gave_up_is_not_one_that_kills_its_worker() -> None:
    """A client that has lost its scheduler cancels what it had asked for: nothing was run, and nothing is to blame."""
    client = Client(bad=0)
    given = GivenToDask(client, b"", "pieces: ", 1, lambda *_: None)
    given.submit([(3, "task")])
    assert given.ended([(3, "task")], SimpleNamespace(status="cancelled"))[0][0] == "lost"


@pytest.mark.parametrize(("seconds", "places"), [(0.001, 2 * 2 * 2), (10.0, 2 * 2)])
def test_more_is_asked_for_at_once_where_it_is_short(
    seconds: float, places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    pool = ClusterPool.__new__(ClusterPool)
    pool.size, pool._answered, pool._since = 2, 0, 0.0
    pool._slots = [ClusterPlace() for _ in range(4)]
    for _ in range(4):
        clock[0] += seconds
        pool._widen()
    assert len(pool._slots) == places


@pytest.mark.slow
def test_what_does_not_fit_is_one_sentence_each(cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(name: str, value: object, owner: Any = pools) -> str:
        with monkeypatch.context() as there:
            there.setattr(owner, name, value)
            with pytest.raises(UsageError) as told:
                pools._connected(Cluster(cluster.address))
        return str(told.value).partition(" ")[2]

    assert refused("version", lambda name: "0.0.1").endswith(", this is 0.0.1: use the same")
    assert refused("sys", SimpleNamespace(version_info=(3, 9))).endswith(", this is 3.9: use the same")
    missing = "has no folder /no/such/folder: use a shared file system, or send the project with --ship"
    assert refused("getcwd", lambda: "/no/such/folder", os) == missing
    other = f"has other code in {os.getcwd()}: bring it up to date, or send it with --ship"
    assert refused("digest", lambda folder: "another", node) == other
