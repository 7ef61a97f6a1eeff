"""Running a function under control in the tests of the models: by turns, or with random choices."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

from treadle.core.operation import FINISH, Operation
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy
from treadle.threads.execution import Execution
from treadle.threads.greenlets import Pool
from treadle.threads.patches import patched


def start(*functions: Any) -> list[threading.Thread]:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    return threads


def finish(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join()


def together(*functions: Callable[[], Any]) -> None:
    finish(start(*functions))


class ByTurns(Strategy):
    """Every strand in turn, one operation each."""

    def __init__(self) -> None:
        super().__init__()
        self.last = -1

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not enabled:
            return None
        chosen = next((s for s in enabled if s.index > self.last), enabled[0])
        self.last = chosen.index
        return chosen


class AtRandom(Strategy):
    """Any strand that can go on."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.random = random.Random(seed)

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        return self.random.choice(enabled) if enabled else None


class First(Strategy):
    """The oldest strand that can go on, so that a strand runs until it waits."""

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        return enabled[0] if enabled else None


def execute(
    main: Callable[[], Any], picker: Strategy | None = None, any_timeout: bool = False, **options: Any
) -> Execution:
    """One execution of main. An exception of the main strand is raised here; others stay on their strands."""
    with patched():
        pool = Pool()
        try:
            run = Execution(
                pool, picker or ByTurns(), [], [], [], {}, limit=100_000, any_timeout=any_timeout, **options
            )
            run.run(main)
        finally:
            pool.close()
    error = run.strands[0].exception
    if error is not None:
        raise error
    if run.failure is not None:
        raise run.failure
    return run


def announced(main: Callable[[], Any]) -> list[Operation]:
    """The operations of a program of one thread, where every access is one."""
    return [op for _, op in execute(main).trace if op[0] != FINISH]


def inside(main: Callable[[], Any]) -> Any:
    """What main returns inside an execution."""
    returned: list[Any] = []
    execute(lambda: returned.append(main()))
    return returned[0]


def outcomes(main: Callable[[], Any], executions: int = 200) -> set[Any]:
    """What main returned under many random schedules; 'stuck' where nobody could go on."""
    seen: set[Any] = set()
    with patched():
        for seed in range(executions):
            result: list[Any] = []

            def body(result: list[Any] = result) -> None:
                result.append(main())

            run = execute(body, AtRandom(seed))
            seen.add(run.stop_reason or result[0])
    return seen
