"""`asyncio.to_thread` beside the loop: the thread and a task update the same counter."""

import asyncio
import threading

import treadle


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        value = self.count
        self.count = value + 1


class CarefulCounter(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def add(self) -> None:
        with self.lock:
            super().add()


async def add_in_both(counter: Counter) -> None:
    in_thread = asyncio.create_task(asyncio.to_thread(counter.add))
    await asyncio.sleep(0)
    counter.add()
    await in_thread
    assert counter.count == 2


@treadle.explore()
async def test_buggy_counter() -> None:
    await add_in_both(Counter())


@treadle.explore()
async def test_fixed_counter() -> None:
    await add_in_both(CarefulCounter())
