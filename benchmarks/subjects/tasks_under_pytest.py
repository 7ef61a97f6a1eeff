"""2 tasks x 3 updates across `sleep(0)` as a test, written as the documentation of the tool TASKS_TOOL has it."""

import asyncio
import os

TOOL, SCHEDULES = os.environ["TASKS_TOOL"], int(os.environ["TASKS_SCHEDULES"])

if TOOL == "simloom":
    import simloom

    explored = simloom.test(runs=SCHEDULES)
elif TOOL == "simloop":
    import simloop

    explored = simloop.sim_test(seeds=SCHEDULES)
else:
    import treadle

    explored = treadle.explore(any_order=True, strategy="random", executions=SCHEDULES)


class Shared:
    def __init__(self):
        self.x = 0


async def update(shared):
    for _ in range(3):
        value = shared.x
        await asyncio.sleep(0)
        shared.x = value + 1


@explored
async def test_updates():
    shared = Shared()
    await asyncio.gather(update(shared), update(shared))
    assert 0 < shared.x <= 6
