"""Executions along planned schedules, run ahead of time by workers.

A campaign decides one execution after the other, each by what those before it reached, so it cannot be split. But what
an execution along a schedule does depends on that schedule alone: workers run the schedules that are likely to come
next, and the campaign, which goes its way as it does alone, finds their answers there when it comes to them. What was
run in vain costs time and changes nothing. An execution that somebody must look at (it fails, it came to a limit) is
run again here, by the one that judges.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, NamedTuple

from treadle.core.result import Finding
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowSchedule
from treadle.messages.loom import MessageLoom
from treadle.messages.oracles import judge, warnings
from treadle.messages.receive import Receive
from treadle.search.workers import AnyPool
from treadle.threads.watchdog import OutOfTime, ReallyBlocked

# Seconds of a campaign before workers are started: most are over by then.
_ALONE = 1.0
# Seconds to wait for news.
_PATIENCE = 0.2

ScheduleKey = tuple[int, ...]


def key_of(schedule: Iterable[Receive]) -> ScheduleKey:
    return tuple(event.hash for event in schedule)


class OrderTask(NamedTuple):
    """A schedule to run along."""

    schedule: tuple[Receive, ...]


class OrderSeen(NamedTuple):
    """What an execution did that nobody has to look at: it passed."""

    receives: list[Receive]
    dropped: list[Receive]
    actors: frozenset[int]
    warnings: list[tuple[str, str]]  # kind and message
    missing: Receive | None
    held_back: bool


def seen_in(run: MessageExecution, follow: FollowSchedule) -> OrderSeen | None:
    """What there is to say of an execution that passed; None when somebody must look at it."""
    told = warnings(run)
    if run.stop_reason or judge(run) or any(one.exception is not None for one in told):
        return None
    return OrderSeen(
        run.journal.receives(),
        run.journal.dropped(),
        frozenset(actor.hash for actor in run.journal.actors),
        [(one.kind, one.message) for one in told],
        follow.missing,
        follow.held_back,
    )


class OrderRunner:
    """Runs schedules in a worker process."""

    def __init__(self, loom: MessageLoom) -> None:
        self._loom = loom

    def run(self, _: int, task: OrderTask) -> OrderSeen | None:
        follow = FollowSchedule(task.schedule)
        follow.begin()
        try:
            run = self._loom.run(follow)
        except (OutOfTime, ReallyBlocked):
            return None
        assert isinstance(run, MessageExecution)
        return seen_in(run, follow)


class RunAhead:
    """What is known of executions that have not come yet, or came in an earlier run of the campaign."""

    def __init__(self, open_pool: Callable[[], AnyPool] | None, at_once: bool = False) -> None:
        self._open = open_pool
        self._pool: AnyPool | None = None
        self._at_once = at_once
        self._started = time.perf_counter()
        self._numbers = count()
        self._running: dict[int, ScheduleKey] = {}
        self._known: dict[ScheduleKey, OrderSeen | None] = {}
        self.passed: dict[ScheduleKey, OrderSeen] = {}  # what the campaign came to, of this run and of earlier ones

    def __enter__(self) -> RunAhead:
        if self._at_once and self._open is not None:  # what keeps a cluster from being used is told first
            self._pool = self._open().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.__exit__(None, None, None)

    def likely(self, schedules: Sequence[list[Receive]]) -> None:
        """These will probably be asked for, the first one first: give them to who has nothing to do."""
        if self._open is None or (self._pool is None and time.perf_counter() - self._started < _ALONE):
            return
        if self._pool is None:
            self._pool = self._open().__enter__()
        self._hear(0.0)
        idle = [worker for worker in self._pool.ready if not worker.tasks]
        asked = set(self._running.values())
        for schedule in schedules:
            key = key_of(schedule)
            if not idle:
                return
            if key not in self._known and key not in self.passed and key not in asked:
                number = next(self._numbers)
                self._running[number] = key
                asked.add(key)
                self._pool.give(idle.pop(0), number, OrderTask(tuple(schedule)))

    def answer(self, schedule: Sequence[Receive]) -> OrderSeen | None:
        """What came of a schedule elsewhere; None: run it here."""
        key = key_of(schedule)
        while key in self._running.values():
            self._hear(_PATIENCE)
        found = self._known.pop(key, None)
        return self.keep(schedule, found) or self.passed.get(key)

    def keep(self, schedule: Sequence[Receive], seen: OrderSeen | None) -> OrderSeen | None:
        """An execution along a schedule was run: a campaign that is stopped need not run it again."""
        if seen is not None:
            self.passed[key_of(schedule)] = seen
        return seen

    def _hear(self, seconds: float) -> None:
        assert self._pool is not None
        for _, message in self._pool.news(seconds):
            if message[0] == "done":
                key = self._running.pop(message[1], None)
                if key is not None:
                    self._known[key] = message[2]
            elif message[0] == "died":
                for number in message[1]:
                    self._running.pop(number, None)  # run here when it comes to it
        if not self._pool.coming:
            self._running.clear()


def finding_of(told: tuple[str, str]) -> Finding:
    return Finding(*told)


def setup_of(loom: MessageLoom) -> dict[str, Any]:
    """What another process needs to know of a loom."""
    return {
        "seed": loom.seed,
        "delivery": loom.delivery,
        "behaviours": loom.behaviours,
        "queues": loom.queues,
    }
