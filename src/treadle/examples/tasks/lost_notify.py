"""A lost notify: the state is looked at outside the condition, and the notify comes in between."""

import asyncio

import treadle


class Box:
    def __init__(self) -> None:
        self.items: list[int] = []
        self.changed = asyncio.Condition()

    async def put(self, item: int) -> None:
        async with self.changed:
            self.items.append(item)
            self.changed.notify()

    async def take(self) -> int:
        if not self.items:  # an item may be put, and the notify sent, before the condition is entered
            await asyncio.sleep(0)
            async with self.changed:
                await self.changed.wait()
        return self.items.pop()


class CarefulBox(Box):
    async def take(self) -> int:
        async with self.changed:
            while not self.items:
                await self.changed.wait()
            return self.items.pop()


async def hand_over(box: Box) -> None:
    taken, _ = await asyncio.gather(box.take(), box.put(1))
    assert taken == 1


@treadle.explore(any_order=True)
async def test_buggy_box() -> None:
    await hand_over(Box())


@treadle.explore(any_order=True)
async def test_fixed_box() -> None:
    await hand_over(CarefulBox())
