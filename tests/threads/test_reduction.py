"""The whole chain against brute force: random programs over real objects, locks and queues, run under every schedule.

`dpor` must show every outcome that enumerating all schedules shows. What differs from tests/search: here the operations
come from rewritten Python code, so that names, keys, private objects and models are checked too.
"""

from __future__ import annotations

import queue
import threading
import time
import types
from collections import deque
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treadle
from treadle import Verdict
from treadle.doors.explore.models import SearchSetup


class Box:
    default = 0

    def __init__(self) -> None:
        self.x = 0
        self.y = 0


class Shared:
    def __init__(self) -> None:
        self.box = Box()
        self.items: list[int] = [1]
        self.line: deque[int] = deque([1])
        self.table: dict[str, int] = {"a": 1}
        self.names: set[str] = {"a"}
        self.lock = threading.Lock()
        self.again = threading.RLock()
        self.event = threading.Event()
        self.gate = threading.Semaphore(1)
        self.channel: queue.Queue[int] = queue.Queue()


def act(shared: Shared, action: tuple[Any, ...], log: list[Any]) -> None:
    what, *rest = action
    box = shared.box
    if what == "set":
        setattr(box, rest[0], rest[1])
    elif what == "get":
        log.append(box.x if rest[0] == "x" else box.y)
    elif what == "add":
        box.x += 1
    elif what == "swap box":
        shared.box = Box()
    elif what == "default":
        log.append(box.default)
        Box.default = 1
    elif what == "append":
        shared.items.append(2)
    elif what == "pop":
        if shared.items:
            try:
                log.append(shared.items.pop())
            except IndexError:
                log.append("empty after all")
    elif what == "index":
        shared.items[0:1] = [5]
    elif what == "sum":
        log.append(sum(shared.items))
    elif what == "walk":
        try:
            log.append([key for key in shared.table])  # noqa: C416
        except RuntimeError:
            log.append("changed")
    elif what == "put key":
        shared.table[rest[0]] = 2
    elif what == "get key":
        log.append(shared.table.get(rest[0]))
    elif what == "drop key":
        log.append(shared.table.pop(rest[0], None))
    elif what == "in":
        log.append(rest[0] in shared.table)
    elif what == "name":
        shared.names.add(rest[0])
        log.append(len(shared.names))
    elif what == "left":
        shared.line.appendleft(3)
    elif what == "first":
        log.append(shared.line[0])
    elif what == "locked add":
        with shared.lock:
            box.x += 1
    elif what == "nested":
        with shared.again, shared.again:
            log.append(box.y)
    elif what == "try":
        if shared.lock.acquire(blocking=False):
            box.y += 1
            shared.lock.release()
            log.append("got")
        else:
            log.append("busy")
    elif what == "nap":
        with shared.lock:
            time.sleep(rest[0])
            box.x += 1
    elif what == "give up":
        if shared.lock.acquire(timeout=rest[0]):
            box.y += 1
            shared.lock.release()
            log.append("in time")
        else:
            log.append("too late")
    elif what == "gate":
        with shared.gate:
            box.y += 1
    elif what == "raise":
        shared.event.set()
    elif what == "wait":
        log.append(shared.event.wait(timeout=1))
    elif what == "is set":
        log.append(shared.event.is_set())
    elif what == "send":
        shared.channel.put(rest[0])
    elif what == "receive":
        try:
            log.append(shared.channel.get(timeout=1))
        except queue.Empty:
            log.append("nothing")
    elif what == "poll":
        log.append(shared.channel.qsize())
    else:
        raise AssertionError(what)


ACTIONS = st.one_of(
    st.sampled_from(
        [("add",), ("swap box",), ("default",), ("append",), ("pop",), ("index",), ("sum",), ("walk",), ("left",)]
        + [("first",), ("locked add",), ("nested",), ("try",), ("gate",), ("raise",), ("wait",), ("is set",)]
        + [("receive",), ("poll",)]
    ),
    st.tuples(st.just("set"), st.sampled_from("xy"), st.integers(1, 2)),
    st.tuples(st.just("get"), st.sampled_from("xy")),
    st.tuples(st.sampled_from(["put key", "get key", "drop key", "in"]), st.sampled_from("ab")),
    st.tuples(st.sampled_from(["nap", "give up"]), st.integers(1, 2)),
    st.tuples(st.just("name"), st.sampled_from("ab")),
    st.tuples(st.just("send"), st.integers(1, 2)),
)
PROGRAMS = st.lists(st.lists(ACTIONS, min_size=1, max_size=2), min_size=2, max_size=2)


def outcomes(program: list[list[tuple[Any, ...]]], strategy: str, most: int) -> tuple[set[str], treadle.Result]:
    """Everything that can be seen at the end of some schedule."""
    outside: Any = types.ModuleType("outside")  # not rewritten: it is not put back between executions
    outside.seen = set()

    def run() -> None:
        shared = Shared()
        logs: list[list[Any]] = [[] for _ in program]

        def body(number: int) -> None:
            for action in program[number]:
                act(shared, action, logs[number])

        threads = [threading.Thread(target=body, args=(number,)) for number in range(len(program))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        box = shared.box
        end = (logs, box.x, box.y, shared.items, list(shared.line), shared.table, sorted(shared.names))
        outside.seen = outside.seen | {repr(end)}

    with mock.patch.object(SearchSetup, "with_early_deadlines", lambda self, model, idle, *rest: idle):
        result = treadle.check(run, strategy=strategy, executions=most)
    return outside.seen, result


@settings(max_examples=25)
@given(PROGRAMS)
@pytest.mark.slow
def test_dpor_shows_every_outcome_of_real_code(program: list[list[tuple[Any, ...]]]) -> None:
    plain, brute = outcomes(program, "dfs", 1_500)
    reduced, optimal = outcomes(program, "dpor", 3_000)
    assert optimal.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE, Verdict.FAILED), optimal.reason
    assert optimal.statistics["blocked"] == 0
    if optimal.verdict is Verdict.FAILED:
        assert brute.verdict is Verdict.FAILED
    elif brute.verdict is Verdict.PASSED_EXHAUSTIVE:
        assert reduced == plain
        assert optimal.executions <= brute.executions
    else:
        assert plain <= reduced
