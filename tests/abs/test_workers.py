"""The tree below a method in parts: whoever walks which part in what order, what comes out is what one walk gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.workforce import at_task
from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.doors.actor import generated
from treadle.doors.actor.generated import GeneratedCases, TreeWalk, generate
from treadle.doors.actor.parts import ActorSearch, PartServer
from treadle.search import cluster
from treadle.search.cluster import Workforce
from treadle.search.workers import Busy, WorkerPool

MODELS = Path(__file__).parents[2] / "examples" / "abs"
TARGETS = {
    "factorial.abs:Fact.ft": Bounds(2, 2, 2),
    "quicksort.abs:Client.qsort": Bounds(2, 8, 2, queue=1),
    "mail_server.abs:Client.sendAll": Bounds(2, 3, 2),
    "philosophers.abs": generated.MAIN_BOUNDS,
}


class AnyOrderPool:
    """Workers that answer in any order, stop in the middle of a part, and die."""

    size = 3
    coming = True
    exhausted = False

    def __init__(self, server: PartServer, chance: Random) -> None:
        self.server = server
        self.chance = chance
        self.warnings: list[str] = []
        self.workers: list[Any] = [type("Worker", (), {"tasks": []})() for _ in range(self.size)]
        for worker in self.workers:
            worker.tasks = []
        self.given: list[tuple[Any, int, Any]] = []

    def __enter__(self) -> AnyOrderPool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def interrupt(self) -> None: ...

    @property
    def ready(self) -> Sequence[Busy]:
        return self.workers

    def give(self, worker: Any, number: int, task: Any) -> None:
        worker.tasks.append(number)
        self.given.append((worker, number, task))

    def news(self, seconds: float) -> Iterator[tuple[Any, Any]]:
        worker, number, task = self.given.pop(self.chance.randrange(len(self.given)))
        worker.tasks.remove(number)
        if self.chance.random() < 0.1:
            yield worker, ("died", [number], "by chance")
            return
        few = self.chance.randint(1, 40)
        few = few if task.states is None else min(few, task.states)
        yield worker, ("done", number, self.server.run(number, task._replace(seconds=None, states=few)))


def facts(made: GeneratedCases) -> Any:
    told = made.to_json()
    del told["seconds"]
    return told, made.tree


def walked(target: str, bounds: Bounds, *, chance: Random | None, states: int | None, keep: int | None) -> Any:
    path, _, name = target.partition(":")
    search = ActorSearch(
        str(MODELS / path), name, bounds, OrderSelection(), generated.DOMAIN if name else None, "values", 3, True
    )
    walk = TreeWalk(PartServer(search), str(MODELS / target), None, states, keep)
    if chance is None:
        walk.alone()
    else:
        walk.together(AnyOrderPool(PartServer(search), chance), 1.0)
    return facts(walk.conclude())


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("states", "keep"), [(None, None), (100, 3)])
def test_parts_in_any_order_give_what_one_walk_gives(target: str, states: int | None, keep: int | None) -> None:
    alone = walked(target, TARGETS[target], chance=None, states=states, keep=keep)
    assert alone[0]["states"] >= 10
    assert walked(target, TARGETS[target], chance=Random(1), states=states, keep=keep) == alone


@pytest.mark.slow
def test_two_workers_one_of_which_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    target = str(MODELS / "factorial.abs:Fact.ft")
    alone = generate(target, bounds=Bounds(2, 3, 2), record=True)
    given = at_task(monkeypatch, WorkerPool, 3, lambda worker: os.killpg(worker.pid, signal.SIGKILL))
    monkeypatch.setattr(generated, "_FIRST", 0.01)
    monkeypatch.setattr(cluster, "SHARE_HERE", 0.01)
    together = generate(target, bounds=Bounds(2, 3, 2), record=True, workforce=Workforce(2))
    assert len(given) > 3
    assert facts(together) == facts(alone)
