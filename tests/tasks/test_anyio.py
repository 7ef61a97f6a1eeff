"""AnyIO's asyncio backend inside an execution: task groups, cancel scopes, memory streams, and threads in both ways."""

from __future__ import annotations

import pytest

import treadle
from treadle import Verdict

anyio = pytest.importorskip("anyio", reason="anyio is not installed")
from_thread = pytest.importorskip("anyio.from_thread")
to_thread = pytest.importorskip("anyio.to_thread")


def test_task_groups_streams_and_cancel_scopes_work() -> None:
    async def test() -> None:
        send, receive = anyio.create_memory_object_stream(1)
        got = []

        async def produce() -> None:
            async with send:
                for number in range(2):
                    await send.send(number)

        async with anyio.create_task_group() as group:
            group.start_soon(produce)
            async with receive:
                async for number in receive:
                    got.append(number)
        with anyio.move_on_after(5) as scope:
            await anyio.sleep(60)
        assert (got, scope.cancelled_caught) == ([0, 1], True)

    assert treadle.check(test).findings == []


def test_a_race_of_a_thread_with_the_loop_is_found() -> None:
    class Counter:
        count = 0

        def add(self) -> None:
            value = self.count
            self.count = value + 1

    async def test() -> None:
        counter = Counter()
        async with anyio.create_task_group() as group:
            group.start_soon(to_thread.run_sync, counter.add)
            group.start_soon(to_thread.run_sync, counter.add)
        assert counter.count == 2

    result = treadle.check(test)
    assert result.verdict is Verdict.FAILED
    assert "assert 1 == 2" in result.findings[0].message
    assert treadle.replay(result.findings[0].replay, test).failed


def test_a_thread_calls_back_into_the_loop() -> None:
    async def test() -> None:
        async def answer() -> int:
            await anyio.sleep(1)
            return 42

        assert await to_thread.run_sync(from_thread.run, answer) == 42

    assert treadle.check(test, executions=50).findings == []


def test_a_failure_behind_callbacks_of_the_loop_has_a_replay() -> None:
    """A loop stands before its next callback while tasks run; it has not come to it again with each of their steps."""

    async def test() -> None:
        send, receive = anyio.create_memory_object_stream(1)

        async def produce(number: int) -> None:
            send.send_nowait(number)

        async def consume() -> None:
            await receive.receive()
            await receive.receive()

        async with anyio.create_task_group() as group:
            group.start_soon(consume)
            group.start_soon(produce, 1)
            group.start_soon(produce, 2)

    (finding,) = treadle.check(test, any_order=True).findings
    assert treadle.replay(finding.replay, test).failed
