"""What asyncio would only log is a finding; what a program handles itself is not."""

from __future__ import annotations

import array
import asyncio
import fcntl
import os
import termios
import threading
import time

import pytest

import treadle
from treadle.core import usual
from treadle.core.errors import TreadleError
from treadle.core.result import Result
from treadle.tasks import oracles
from treadle.tasks.kept_locks import MadeLock
from treadle.threads.outcome import usual_in_plain_runs


def kinds(result: Result) -> list[str]:
    return [finding.kind for finding in result.findings]


async def fail() -> None:
    raise ValueError("lost")


def test_an_exception_that_nobody_retrieves() -> None:
    async def test() -> None:
        task = asyncio.ensure_future(fail())
        await asyncio.sleep(1)
        assert task.done()

    result = treadle.check(test)
    assert kinds(result) == ["exception never retrieved"]
    assert result.findings[0].message == "ValueError: lost of task fail was never retrieved"


def test_an_exception_that_is_retrieved() -> None:
    async def test() -> None:
        task = asyncio.ensure_future(fail())
        await asyncio.wait([task])
        assert task.exception() is not None

    assert kinds(treadle.check(test)) == []


def test_a_coroutine_that_nobody_awaits() -> None:
    async def test() -> None:
        fail()  # type: ignore[unused-coroutine]

    result = treadle.check(test)
    assert kinds(result) == ["coroutine never awaited"]
    with pytest.raises(TreadleError, match="coroutine fail was never awaited"):
        treadle.explore(test)()  # type: ignore[unused-coroutine]  # it explores and returns


def test_a_task_that_is_destroyed() -> None:
    async def wait_for_nothing() -> None:
        await asyncio.get_running_loop().create_future()

    def test() -> None:
        loop = asyncio.new_event_loop()
        loop.create_task(wait_for_nothing())  # noqa: RUF006 - that is the bug
        loop._ready.clear()  # type: ignore[attr-defined]  # nothing refers to the task any more
        loop.close()

    assert kinds(treadle.check(test)) == ["task destroyed"]


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("strategy", ["auto", "random"])
def test_a_task_whose_loop_is_closed_never_finishes(any_order: bool, strategy: str) -> None:
    async def work() -> None:
        await asyncio.sleep(5)

    async def begin() -> None:
        asyncio.ensure_future(work())  # noqa: RUF006 - that is the bug
        await asyncio.sleep(1)

    def test() -> None:
        loop = asyncio.new_event_loop()
        loop.run_until_complete(begin())
        loop.close()

    [finding] = treadle.check(test, any_order=any_order, strategy=strategy, executions=20).findings
    assert finding.kind == "task never finished"
    assert finding.message.startswith("task work awaits sleep (test_oracles.py:")
    assert finding.message.endswith("), and its loop was closed")


def test_what_run_until_complete_began_may_be_left() -> None:
    def test() -> None:
        loop = asyncio.new_event_loop()

        async def stop() -> None:
            loop.stop()
            await asyncio.sleep(0)

        with pytest.raises(RuntimeError):
            loop.run_until_complete(stop())
        loop.close()

    assert kinds(treadle.check(test)) == []


def test_a_task_that_asyncio_run_cancels_is_finished() -> None:
    async def test() -> None:
        asyncio.ensure_future(asyncio.sleep(5))  # noqa: RUF006
        await asyncio.sleep(0)

    assert kinds(treadle.check(test)) == []


def test_an_exception_in_a_callback() -> None:
    async def test() -> None:
        asyncio.get_running_loop().call_soon(int, "no number")
        await asyncio.sleep(0)

    result = treadle.check(test)
    assert kinds(result) == ["exception"]
    assert "in a callback of the event loop" in result.findings[0].message


def test_a_program_with_an_exception_handler_is_told_instead() -> None:
    told: list[str] = []

    async def test() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["message"]))
        asyncio.get_running_loop().call_soon(int, "no number")
        await asyncio.sleep(0)

    assert kinds(treadle.check(test)) == []
    assert {message.partition("(")[0] for message in told} == {"Exception in callback int"}  # from 3.13 on no arguments


def test_a_deadlock_across_a_thread_and_a_loop() -> None:
    async def test() -> None:
        loop = asyncio.get_running_loop()
        asked = asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop)
        asked.result()  # the loop would have to run for that

    result = treadle.check(test)
    assert kinds(result) == ["deadlock"]


def test_a_thread_that_waits_for_a_loop_that_waits_for_it() -> None:
    async def test() -> None:
        started, loop = threading.Event(), asyncio.get_running_loop()

        def ask() -> None:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
            started.set()

        thread = threading.Thread(target=ask)
        thread.start()
        started.wait()
        thread.join()

    result = treadle.check(test)
    assert kinds(result) == ["deadlock"]
    assert "Event#1" in result.findings[0].message


def test_a_blocking_call_in_the_loop_is_named_by_its_line() -> None:
    async def test() -> None:
        time.sleep(2)

    [warning] = treadle.check(test).warnings
    assert warning.kind == "blocking call in the loop"
    assert "test_oracles.py:" in warning.message
    assert warning.message.endswith("keeps the event loop from running for 2 s")


def test_a_wait_for_a_thread_that_sleeps_blocks_the_loop() -> None:
    async def test() -> None:
        thread = threading.Thread(target=time.sleep, args=(3,))
        thread.start()
        await asyncio.sleep(1)  # blocks nobody
        thread.join()

    [warning] = treadle.check(test).warnings
    assert warning.kind == "blocking call in the loop"
    assert warning.message.endswith("keeps the event loop from running for 2 s")


def test_what_a_thread_and_a_loop_share_unseen_is_found_by_the_check_of_the_pass() -> None:
    """How much a pipe holds is known to the kernel alone: there is one schedule of what is seen."""
    reader, writer = os.pipe()

    def say() -> None:
        os.write(writer, b"x")

    async def listen() -> int:
        size = array.array("i", [0])
        thread = threading.Thread(target=say)
        thread.start()
        fcntl.ioctl(reader, termios.FIONREAD, size)
        await asyncio.sleep(0)
        thread.join()
        return size[0]

    def test() -> None:
        heard = asyncio.run(listen())
        os.read(reader, 9)
        assert heard == 1

    assert kinds(treadle.check(test)) == ["assertion"]


def test_what_asyncio_logs_in_a_plain_run_as_well_is_a_warning() -> None:
    async def test() -> None:
        task = asyncio.ensure_future(fail())
        await asyncio.sleep(1)
        assert task.done()

    (finding,) = treadle.check(test).findings
    assert oracles.usual_name(finding) == usual.told_to_loop(
        {"message": "Task exception was never retrieved", "exception": ValueError("lost")}
    )
    with usual_in_plain_runs([oracles.usual_name(finding)]):
        result = treadle.check(test)
    assert result.findings == []
    assert [warning.kind for warning in result.warnings] == ["exception never retrieved, as in a plain run"]


def test_a_lock_that_a_cancelled_task_keeps_is_named_by_its_line() -> None:
    async def holder(lock: asyncio.Lock) -> None:
        await lock.acquire()
        await asyncio.sleep(1)
        lock.release()

    async def test() -> None:
        task = asyncio.create_task(holder(asyncio.Lock()))
        await asyncio.wait([task])

    [warning] = treadle.check(test, cancel="at-await").warnings
    assert warning.kind == "lock kept after a cancellation"
    assert warning.message.startswith("the Lock made at ")
    assert "holder was cancelled at " in warning.message


def test_a_semaphore_that_is_given_back_whatever_happens_is_no_warning() -> None:
    async def holder(semaphore: asyncio.Semaphore) -> None:
        async with semaphore:
            await asyncio.sleep(1)

    async def test() -> None:
        await asyncio.wait([asyncio.create_task(holder(asyncio.Semaphore(2)))])

    result = treadle.check(test, cancel="at-await")
    assert result.executions > 1
    assert not result.warnings


@pytest.mark.parametrize(
    ("state", "free", "held"),
    [({"_locked": True}, 0, True), ({"_locked": False}, 0, False), ({"_value": 1}, 2, True), ({"_value": 2}, 2, False)],
)
def test_a_lock_is_held_by_what_its_dictionary_says(state: dict[str, int], free: int, held: bool) -> None:
    assert MadeLock("Lock", state, free, ("", 0)).is_held is held
