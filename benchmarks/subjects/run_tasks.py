"""Runs 2 tasks x 3 updates across `sleep(0)` under one tool; prints how many schedules it ran, and how fast."""

import asyncio
import json
import sys
import time


class Shared:
    def __init__(self):
        self.x = 0


async def update(shared):
    for _ in range(3):
        value = shared.x
        await asyncio.sleep(0)
        shared.x = value + 1


async def main():
    shared = Shared()
    await asyncio.gather(update(shared), update(shared))
    assert 0 < shared.x <= 6


def test():
    asyncio.run(main())


def with_treadle(schedules, strategy):
    import treadle

    result = treadle.check(test, any_order=True, strategy=strategy, executions=schedules)
    return result.executions, result.verdict.value


def treadle_random(schedules):
    return with_treadle(schedules, "random")


def treadle_dpor(schedules):
    return with_treadle(schedules, "dpor")


def plain_asyncio(schedules):
    for _ in range(schedules):
        asyncio.run(main())
    return schedules, "one order"


def simloom(schedules):
    import simloom

    simloom.explore(main, runs=schedules, stop_on_failure=False)
    return schedules, "sampled"


def simloop(schedules):
    import simloop

    simloop.explore(main, seeds=range(schedules))
    return schedules, "sampled"


def frontrun(schedules):
    from frontrun.async_shuffler import explore_async_random

    result = asyncio.run(
        explore_async_random(Shared, [update, update], lambda shared: shared.x > 0, max_attempts=schedules, seed=1)
    )
    return result.num_explored, "sampled"


tool, schedules = globals()[sys.argv[1].replace(" ", "_")], int(sys.argv[2])
tool(2)  # imports, caches
started, used = time.perf_counter(), time.process_time()
executions, verdict = tool(schedules)
spent, used = time.perf_counter() - started, time.process_time() - used
print(
    json.dumps({"executions": executions, "rate": executions / spent, "cpu_rate": executions / used, "note": verdict})
)
