"""Runs 2 tasks x 3 updates across `sleep(0)` under one tool; prints how many schedules it ran, and how fast."""

import asyncio
import json
import os
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


def told(executions, spent, used, note):
    print(json.dumps({"executions": executions, "rate": executions / spent, "cpu_rate": executions / used, "note": note}))


def by_function(tool, schedules):
    """By the function that each tool has for this, in a process with little else in it."""
    tool(2)  # imports, caches
    started, used = time.perf_counter(), time.process_time()
    executions, verdict = tool(schedules)
    told(executions, time.perf_counter() - started, time.process_time() - used, verdict)


def under_pytest(tool, schedules):
    """As a test, which is how the documentation of all of them begins: without what pytest does before and after."""
    import pytest

    class Timer:
        outcome, spent, used = "not run", 1, 1

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_call(self):
            started, used = time.perf_counter(), time.process_time()
            yield
            self.spent, self.used = time.perf_counter() - started, time.process_time() - used

        def pytest_runtest_logreport(self, report):
            if report.when == "call":
                self.outcome = report.outcome

    os.environ |= {"TASKS_TOOL": tool, "TASKS_SCHEDULES": str(schedules)}
    timer = Timer()
    pytest.main(["-q", "-p", "no:cacheprovider", "tasks_under_pytest.py"], plugins=[timer])
    told(schedules, timer.spent, timer.used, timer.outcome)


name, schedules = sys.argv[1], int(sys.argv[2])
if name.endswith(", pytest"):
    under_pytest(name.partition(",")[0], schedules)
else:
    by_function(globals()[name.replace(" ", "_")], schedules)
