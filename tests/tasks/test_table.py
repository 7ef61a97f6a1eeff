"""What a person sees of a failing schedule: tasks are columns by their names, and awaits say what they wait for."""

from __future__ import annotations

import asyncio

import pytest

import treadle
from treadle.report import explanation


class Counter:
    def __init__(self) -> None:
        self.count = 0


async def update(counter: Counter) -> None:
    value = counter.count
    await asyncio.sleep(0)
    counter.count = value + 1


def lines(finding: treadle.Finding) -> list[list[str]]:
    return [line.split() for line in finding.explanation.splitlines()]


def test_tasks_of_a_loop_are_columns_beside_threads() -> None:
    def overwrite(counter: Counter) -> None:
        counter.count = 5

    async def test() -> None:
        counter = Counter()
        in_thread = asyncio.create_task(asyncio.to_thread(overwrite, counter))
        await asyncio.create_task(update(counter), name="the update")
        await in_thread
        assert counter.count == 5

    finding = treadle.check(test).findings[0]
    assert {step.strand for step in finding.steps} >= {"test", "the update", "T1"}
    assert "T1 writes Counter#1.count" in finding.explanation
    assert "between the update's read" in finding.explanation
    assert "loop#" not in finding.explanation


def test_with_any_order_every_access_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "columns", lambda: 120)  # room for three columns

    async def test() -> None:
        counter = Counter()
        await asyncio.gather(update(counter), update(counter))
        assert counter.count == 2

    finding = treadle.check(test, any_order=True).findings[0]
    assert ["test", "update", "update#2"] in lines(finding)
    assert "between update's read" in finding.explanation
    assert "-> 0" in finding.explanation
    assert ("goes on after", "sleep") in [(step.operation, step.object) for step in finding.steps]


def test_with_any_order_a_task_is_called_by_its_name() -> None:
    async def test() -> None:
        counter = Counter()
        left = asyncio.create_task(update(counter), name="left")
        right = asyncio.create_task(update(counter), name="right")
        await asyncio.gather(left, right)
        assert counter.count == 2

    finding = treadle.check(test, any_order=True).findings[0]
    assert {step.strand for step in finding.steps} == {"test", "left", "right"}


def test_a_cancellation_is_shown_where_it_strikes() -> None:
    async def hold(lock: asyncio.Lock) -> None:
        await lock.acquire()
        await asyncio.sleep(0)
        await asyncio.sleep(0)  # this is the last chance
        lock.release()

    async def test() -> None:
        lock = asyncio.Lock()
        await asyncio.wait([asyncio.create_task(hold(lock), name="holder")])
        async with lock:
            pass

    finding = treadle.check(test, cancel="at-await").findings[0]
    chosen = [step for step in finding.steps if step.operation == "chooses"]
    assert [step.object for step in chosen] == ["task holder is cancelled"]
    assert chosen[0].line in [hold.__code__.co_firstlineno + number for number in (2, 3)]
    assert "task holder is cancelled" in " ".join(finding.explanation.split())


def test_a_choice_of_the_test_is_shown() -> None:
    def test() -> None:
        assert treadle.choose(["good", "bad"]) == "good"

    finding = treadle.check(test).findings[0]
    assert ["chooses", "'bad'"] in lines(finding)


def test_a_deadlock_names_what_is_awaited() -> None:
    async def test() -> None:
        lock, queue = asyncio.Lock(), asyncio.Queue[int]()

        async def consumer() -> None:
            await queue.get()

        waiting = asyncio.create_task(consumer())
        await lock.acquire()
        await asyncio.sleep(0)
        await lock.acquire()
        await waiting

    message = treadle.check(test).findings[0].message
    assert "task test awaits Lock.acquire (test_table.py:" in message
    assert "task consumer awaits Queue.get (test_table.py:" in message


def test_without_any_order_the_steps_of_tasks_are_shown() -> None:
    async def test() -> None:
        counter = Counter()
        other = asyncio.create_task(update(counter), name="other")
        await asyncio.gather(update(counter), other)
        assert counter.count == 2

    finding = treadle.check(test).findings[0]
    shown = [(step.strand, step.operation, step.object) for step in finding.steps]
    assert [step for step in shown if step[1] in ("begins", "goes on after")] == [
        ("test", "begins", ""),
        ("other", "begins", ""),
        ("update", "begins", ""),
        ("other", "goes on after", "sleep"),
        ("update", "goes on after", "sleep"),
        ("test", "goes on after", "gather"),
    ]
    assert ["goes", "on", "after", "gather"] in [line[-4:] for line in lines(finding)]


def test_a_deadlock_of_tasks_shows_their_steps_and_none_of_their_end() -> None:
    async def test() -> None:
        lock = asyncio.Lock()
        await lock.acquire()
        await asyncio.sleep(0)
        await lock.acquire()

    finding = treadle.check(test).findings[0]
    assert [step.object for step in finding.steps if step.operation == "goes on after"] == ["sleep"]
