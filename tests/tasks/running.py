"""One execution with event loops under control, in the tests of its parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.threads_primitives.running import First
from treadle.search.strategy import Strategy
from treadle.tasks.execution import TaskExecution
from treadle.tasks.patches import controlled
from treadle.threads.greenlets import Pool
from treadle.threads.patches import patched
from treadle.threads.strands import Strand, current


def execute(main: Callable[[], Any], picker: Strategy | None = None, **options: Any) -> TaskExecution:
    """One execution of main; an exception of it is raised here. Options are those that the loom sets."""
    with patched(), controlled():
        pool = Pool()
        try:
            run = TaskExecution(pool, picker or First(), [], [], [], {}, limit=10_000)
            for name, value in options.items():
                setattr(run, name, value)
            run.run(main)
        finally:
            pool.close()
    error = run.strands[0].exception or run.failure
    if error is not None:
        raise error
    return run


def inside(main: Callable[[], Any], picker: Strategy | None = None, **options: Any) -> Any:
    """What main returns inside an execution."""
    returned: list[Any] = []
    execute(lambda: returned.append(main()), picker, **options)
    return returned[0]


def strand() -> Strand:
    running = current()
    assert running is not None
    return running
