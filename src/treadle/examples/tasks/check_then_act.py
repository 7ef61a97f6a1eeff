"""Check, then act across an await: two tasks both find the cache empty, and the value is made twice.

Found with `any_order=True`: asyncio's own order happens to run the two tasks in step, which is no promise of the code.
"""

import asyncio

import treadle


class Cache:
    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.made = 0

    async def get(self, key: str) -> int:
        if key not in self.values:
            await asyncio.sleep(0)  # another task may come here, too, before the value is there
            self.made += 1
            self.values[key] = self.made
        return self.values[key]


class CarefulCache(Cache):
    def __init__(self) -> None:
        super().__init__()
        self.lock = asyncio.Lock()

    async def get(self, key: str) -> int:
        async with self.lock:
            return await super().get(key)


async def get_twice(cache: Cache) -> None:
    first, second = await asyncio.gather(cache.get("key"), cache.get("key"))
    assert first == second


@treadle.explore(any_order=True)
async def test_buggy_cache() -> None:
    await get_twice(Cache())


@treadle.explore(any_order=True)
async def test_fixed_cache() -> None:
    await get_twice(CarefulCache())
