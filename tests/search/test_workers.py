"""The pool of worker processes: tasks are data, each is answered once, and a worker that dies costs its task."""

from __future__ import annotations

from typing import Any

import pytest

from treadle.search import workers
from treadle.search.workers import WorkerPool

SERVER = "tests.search.answering:AnsweringServer"


def all_news(pool: WorkerPool, tasks: list[str], most: int = 200) -> list[Any]:
    """Give the tasks out, one at a time to a worker, and hear what comes of them."""
    waiting = list(enumerate(tasks))
    heard: list[Any] = []
    open_tasks = len(tasks)
    for _ in range(most):
        for worker in pool.ready:
            if waiting and not worker.tasks:
                pool.give(worker, *waiting.pop(0))
        for _, message in pool.news(0.5):
            heard.append(message)
            open_tasks -= {"done": 1, "died": len(message[1]) if message[0] == "died" else 0}.get(message[0], 0)
        if not open_tasks or not pool.coming:
            break
    return heard


def test_every_task_is_answered_with_what_its_server_returns() -> None:
    with WorkerPool(2, SERVER, "here") as pool:
        heard = all_news(pool, ["one", "print", "two"])
    assert sorted(heard) == [("done", 0, "here: one"), ("done", 1, "here: print"), ("done", 2, "here: two")]


def test_a_worker_is_started_once_and_tells_on_the_way() -> None:
    with WorkerPool(1, SERVER, "here") as pool:
        heard = all_news(pool, ["tell", "tell"])
        [worker] = pool.ready
        assert [message[2] for message in heard if message[0] == "told"] == [worker.pid] * 2
        assert worker.tasks == []


def test_a_worker_that_dies_costs_its_task_and_is_replaced() -> None:
    with WorkerPool(1, SERVER, "here") as pool:
        heard = all_news(pool, ["one", "die", "two"])
    assert heard == [("done", 0, "here: one"), ("died", [1], "exit code 7"), ("done", 2, "here: two")]


def test_workers_that_die_again_and_again_are_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_SPARE", 1)
    with WorkerPool(1, SERVER, "here") as pool:
        heard = all_news(pool, ["die", "die", "one"])
        assert pool.exhausted
    assert [message[0] for message in heard] == ["died", "died"]


def test_a_server_that_cannot_be_made_is_a_warning() -> None:
    with WorkerPool(1, "tests.search.answering:Nobody", "here") as pool:
        assert all_news(pool, ["one"]) == [("died", [], "exit code 70")]
        assert pool.warnings == ["a worker process did not start (exit code 70); the others do its work"]


def test_a_server_that_asks_for_it_is_interrupted() -> None:
    with WorkerPool(1, SERVER, "here") as pool:
        while not pool.ready:
            list(pool.news(0.5))
        [worker] = pool.ready
        pool.give(worker, 5, "until interrupted")
        heard: list[Any] = []
        while not heard:
            heard += [message for _, message in pool.news(0.5)]
        pool.interrupt()
        while len(heard) < 2:
            heard += [message for _, message in pool.news(0.5)]
    assert heard == [("told", 5, "waiting"), ("done", 5, "interrupted")]
