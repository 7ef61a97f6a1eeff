"""A lock held over a cancellation: the task is cancelled at the await, and the release is never reached."""

import asyncio

import treadle


async def save(lock: asyncio.Lock) -> None:
    await lock.acquire()
    await asyncio.sleep(0)  # a cancellation strikes here
    lock.release()


async def save_carefully(lock: asyncio.Lock) -> None:
    async with lock:
        await asyncio.sleep(0)


async def save_then_use(saving: asyncio.Task[None], lock: asyncio.Lock) -> None:
    await asyncio.wait([saving])
    async with lock:
        pass


@treadle.explore(cancel="at-await")
async def test_buggy_save() -> None:
    lock = asyncio.Lock()
    await save_then_use(asyncio.create_task(save(lock)), lock)


@treadle.explore(cancel="at-await")
async def test_fixed_save() -> None:
    lock = asyncio.Lock()
    await save_then_use(asyncio.create_task(save_carefully(lock)), lock)
