"""A queue whose join races with its consumer: `task_done` is called before the work is done."""

import asyncio

import treadle


async def consume(queue: asyncio.Queue[int], done: list[int]) -> None:
    while True:
        item = await queue.get()
        queue.task_done()  # join() may return now
        await asyncio.sleep(0)
        done.append(item)


async def consume_carefully(queue: asyncio.Queue[int], done: list[int]) -> None:
    while True:
        item = await queue.get()
        await asyncio.sleep(0)
        done.append(item)
        queue.task_done()


async def work_off(consumer: asyncio.Task[None], queue: asyncio.Queue[int], done: list[int]) -> None:
    for item in range(treadle.choose([1, 2])):
        queue.put_nowait(item)
    expected = queue.qsize()
    await queue.join()
    consumer.cancel()
    assert len(done) == expected


@treadle.explore()
async def test_buggy_consumer() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()
    done: list[int] = []
    await work_off(asyncio.create_task(consume(queue, done)), queue, done)


@treadle.explore()
async def test_fixed_consumer() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()
    done: list[int] = []
    await work_off(asyncio.create_task(consume_carefully(queue, done)), queue, done)
