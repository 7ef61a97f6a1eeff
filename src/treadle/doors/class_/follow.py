"""`treadle.follow`: what a written concurrent test is decorated with.

The test runs once under its recorded schedule. When that no longer fails, or no longer fits because the class has
changed, a bounded number of other schedules is run: the test passes when none of them fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.core.trail import Trail
from treadle.doors.explore.check import check, tasks_settings
from treadle.doors.explore.decorator import raise_for
from treadle.doors.explore.replay import replay
from treadle.tasks.loom import as_function
from treadle.threads.strands import current

# Schedules with at most two preemptions, of which two calls have a few hundred.
PREEMPTIONS = 2
EXECUTIONS = 1_000


def follow(
    trail: str = "",
    *,
    instrument: Sequence[str] = (),
    executions: int = EXECUTIONS,
    any_order: bool = False,
    cancel: str = "never",
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Run a test under a recorded schedule, then under others if that one passes; with `any_order` the steps of its
    tasks in all orders, with `cancel="at-await-in-test"` also cancelled."""
    bounds: dict[str, Any] = tasks_settings(any_order, cancel) if any_order else {"preemptions": PREEMPTIONS}
    if trail:
        Trail.parse(trail)

    def mark(test: Callable[[], Any]) -> Callable[[], Any]:
        @functools.wraps(test)
        def followed() -> None:
            if current() is not None:  # `treadle explore` and `treadle replay` run the test themselves
                as_function(test)()
                return
            if trail:
                try:
                    raise_for(replay(trail, test))
                except UsageError:
                    pass  # the code on the way has changed: the search below has the last word
            result = check(test, executions=executions, instrument=instrument, **bounds)
            if result.verdict is not Verdict.NOTHING_TO_EXPLORE:
                raise_for(result)

        return followed

    return mark
