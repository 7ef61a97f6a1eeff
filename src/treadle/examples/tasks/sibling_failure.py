"""A sibling in a TaskGroup fails, and the money that another task was carrying is gone."""

import asyncio

import treadle


class Accounts:
    def __init__(self) -> None:
        self.here = 10
        self.there = 0

    async def move(self) -> None:
        self.here -= 5
        await asyncio.sleep(1)  # cancelled here when a sibling fails
        self.there += 5


class CarefulAccounts(Accounts):
    async def move(self) -> None:
        await asyncio.sleep(1)
        self.here -= 5
        self.there += 5


async def fail_after(steps: int) -> None:
    for _ in range(steps):
        await asyncio.sleep(0)
    raise ValueError("a sibling fails")


async def move_beside_failure(accounts: Accounts) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(accounts.move())
            group.create_task(fail_after(treadle.choose([0, 1, 2])))
    except* ValueError:
        pass
    assert accounts.here + accounts.there == 10


@treadle.explore()
async def test_buggy_accounts() -> None:
    await move_beside_failure(Accounts())


@treadle.explore()
async def test_fixed_accounts() -> None:
    await move_beside_failure(CarefulAccounts())
