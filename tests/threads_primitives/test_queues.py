"""Queues inside executions: every kind, every ending, subclasses, and code that reaches into a queue."""

from __future__ import annotations

import heapq
import queue
import sys
import threading
import time
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, execute, finish, outcomes, start
from treadle.core.operation import GET, PUT, SIGNAL, TRY

ALL = [queue.Queue, queue.LifoQueue, queue.PriorityQueue]


class Keyed(queue.Queue[str]):
    """Defined outside, with an order and a size of its own: at most one item per first letter."""

    def _init(self, maxsize: int) -> None:
        self.items: dict[str, str] = {}

    def _qsize(self) -> int:
        return len(self.items)

    def _put(self, item: str) -> None:
        self.items[item[0]] = item

    def _get(self) -> str:
        return self.items.pop(min(self.items))


class Slow:
    """Compares itself with a scheduling point in the middle."""

    def __init__(self, value: int, lock: Any) -> None:
        self.value = value
        self.lock = lock

    def __lt__(self, other: Slow) -> bool:
        with self.lock:
            return self.value < other.value


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_lost_between_producers_and_consumers(kind: Any) -> None:
    def main() -> None:
        channel = kind(2)
        got: list[int] = []

        def produce() -> None:
            for number in range(5):
                channel.put(number)

        def consume() -> None:
            for _ in range(5):
                got.append(channel.get())
                channel.task_done()

        threads = start(produce, produce, consume, consume)
        finish(threads)
        channel.join()
        assert sorted(got) == sorted([*range(5), *range(5)])
        assert channel.empty()
        assert not channel.full()
        assert channel.qsize() == channel.unfinished_tasks == 0

    for seed in range(20):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
        assert [strand.exception for strand in run.strands if strand.exception] == []


@pytest.mark.parametrize(("kind", "order"), [*zip(ALL, ([3, 1, 2], [2, 1, 3], [1, 2, 3]), strict=True)])
def test_order(kind: Any, order: list[int]) -> None:
    def main() -> None:
        channel = kind()
        for item in (3, 1, 2):
            channel.put(item)
        assert [channel.get() for _ in range(3)] == order

    execute(main)
    main()


def test_one_point_per_operation() -> None:
    def main() -> None:
        bounded: queue.Queue[int] = queue.Queue(1)
        bounded.put(1)
        bounded.get()
        unbounded: queue.Queue[int] = queue.Queue()
        unbounded.put(1)
        unbounded.get_nowait()
        unbounded.task_done()

    run = execute(main)
    assert [op[:2] for _, op in run.trace][:5] == [
        (PUT, "Queue#1"),
        (GET, "Queue#1"),
        (SIGNAL, "Queue#2"),
        (TRY, "Queue#2"),
        (SIGNAL, "Queue#2"),
    ]


def test_endings_are_those_of_cpython() -> None:
    def endings() -> list[str]:
        channel: Any = queue.Queue(1)
        simple: Any = queue.SimpleQueue()
        said = []
        for call in (
            channel.get_nowait,
            lambda: channel.get(timeout=0.01),
            lambda: channel.get(timeout=-1),
            lambda: channel.put(1),
            lambda: channel.put_nowait(2),
            lambda: channel.put(2, timeout=0.01),
            lambda: channel.put(2, timeout=-1),
            channel.get,
            channel.task_done,
            channel.task_done,
            simple.get_nowait,
            lambda: simple.get(timeout=0.01),
            lambda: simple.get(timeout=-1),
            lambda: simple.put(1, timeout=3),
            simple.qsize,
            simple.get,
            simple.empty,
        ):
            try:
                said.append(repr(call()))
            except (queue.Empty, queue.Full, ValueError) as error:
                said.append(repr(error))
        return said

    inside: list[str] = []
    execute(lambda: inside.extend(endings()))
    assert inside == endings()


def test_a_get_with_timeout_waits_in_virtual_time() -> None:
    def main() -> None:
        channel: queue.Queue[str] = queue.Queue()

        def late() -> None:
            time.sleep(5)
            channel.put("late")

        threads = start(late)
        with pytest.raises(queue.Empty):
            channel.get(timeout=4)
        assert channel.get(timeout=2) == "late"
        finish(threads)

    execute(main)


def test_join_waits_for_all_tasks() -> None:
    def main() -> None:
        channel: queue.Queue[int] = queue.Queue()
        done: list[int] = []

        def worker() -> None:
            while True:
                done.append(channel.get())
                channel.task_done()

        threading.Thread(target=worker, daemon=True).start()
        for number in range(3):
            channel.put(number)
        channel.join()
        assert done == [0, 1, 2]

    for seed in range(20):
        assert not execute(main, AtRandom(seed)).stop_reason


def test_a_subclass_with_its_own_storage() -> None:
    def main() -> None:
        channel = Keyed(2)
        got: list[str] = []

        def consume() -> None:
            while len(got) < 2:
                got.append(channel.get())

        threads = start(consume)
        channel.put("apple")
        channel.put("banana")
        finish(threads)
        assert sorted(got) == ["apple", "banana"]
        assert channel.qsize() == 0

    for seed in range(20):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason


def test_nobody_gets_in_while_items_compare_themselves() -> None:
    def main() -> None:
        lock = threading.Lock()
        channel: queue.PriorityQueue[Slow] = queue.PriorityQueue()

        def produce(*values: int) -> None:
            for value in values:
                channel.put(Slow(value, lock))

        finish(start(lambda: produce(5, 1, 4), lambda: produce(2, 6, 3)))
        heap = [item.value for item in channel.queue]
        check = sorted(heap)
        heapq.heapify(check)
        assert sorted(heap) == [1, 2, 3, 4, 5, 6]
        assert [channel.get().value for _ in range(6)] == [1, 2, 3, 4, 5, 6]

    for seed in range(40):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason


def test_the_mutex_shuts_everybody_out() -> None:
    """The usual way to empty a queue and to let join() return."""

    def main() -> None:
        channel: queue.Queue[int] = queue.Queue()
        for number in range(3):
            channel.put(number)
        held: list[bool] = []

        def clear() -> None:
            with channel.mutex:
                channel.queue.clear()
                held.append(True)
                channel.all_tasks_done.notify_all()
                channel.unfinished_tasks = 0
                held.pop()

        def size() -> None:
            channel.qsize()
            assert not held

        threads = start(clear, size)
        channel.join()
        finish(threads)
        assert channel.empty()

    for seed in range(30):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
        assert [strand.exception for strand in run.strands if strand.exception] == []


def test_a_join_with_timeout_over_the_conditions_of_a_queue() -> None:
    class Joinable(queue.Queue[int]):
        def join_for(self, seconds: float) -> bool:
            with self.all_tasks_done:
                return bool(self.all_tasks_done.wait_for(lambda: not self.unfinished_tasks, seconds))

    def main() -> None:
        channel = Joinable()
        channel.put(1)
        assert not channel.join_for(10)

        def worker() -> None:
            channel.get()
            channel.task_done()

        threads = start(worker)
        assert channel.join_for(10)
        finish(threads)

    for seed in range(20):
        assert not execute(main, AtRandom(seed)).stop_reason


def test_a_lost_item_makes_the_consumer_wait_for_ever() -> None:
    def main() -> str:
        channel: queue.Queue[int] = queue.Queue()

        def consume() -> None:
            if not channel.empty():
                channel.get()

        threads = start(consume, consume)
        channel.put(1)
        finish(threads)
        return "done"

    assert outcomes(main) == {"done", "stuck"}


def test_simple_queue() -> None:
    def main() -> None:
        channel: queue.SimpleQueue[int] = queue.SimpleQueue()
        got: list[int] = []
        threads = start(lambda: got.extend(channel.get() for _ in range(3)))
        for number in range(3):
            channel.put(number)
        finish(threads)
        assert got == [0, 1, 2]
        assert isinstance(channel, queue.SimpleQueue)

    for seed in range(10):
        assert not execute(main, AtRandom(seed)).stop_reason


@pytest.mark.skipif(sys.version_info < (3, 13), reason="Queue.shutdown came with Python 3.13")
def test_shutdown() -> None:
    def main() -> None:
        channel: Any = queue.Queue(1)
        ended: list[str] = []

        def consume() -> None:
            try:
                while True:
                    channel.get()
            except queue.ShutDown:  # type: ignore[attr-defined,unused-ignore]
                ended.append("consumer")

        def produce() -> None:
            try:
                while True:
                    channel.put(1)
            except queue.ShutDown:  # type: ignore[attr-defined,unused-ignore]
                ended.append("producer")

        threads = start(consume, produce)
        channel.shutdown(immediate=True)
        finish(threads)
        assert sorted(ended) == ["consumer", "producer"]

    for seed in range(20):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
        assert [strand.exception for strand in run.strands if strand.exception] == []
