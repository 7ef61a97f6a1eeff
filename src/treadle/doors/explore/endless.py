"""Executions that come to the limit of operations: do they go round for ever, or are they just long?"""

from __future__ import annotations

from treadle.doors.explore.failing import Revealed
from treadle.search.replay import FollowSteps
from treadle.search.strategy import Strategy
from treadle.threads import outcome
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom
from treadle.threads.watchdog import OutOfTime

# Operations to which a schedule must repeat itself to be taken for endless.
ENDLESS = 100_000
# The same for one strand alone, and those that a fair execution may have when the length of a test is measured.
LONGEST = 1_000_000


def run_to(loom: Loom, limit: int, strategy: Strategy) -> Execution:
    """One execution with another limit."""
    usual, loom.most_steps = loom.most_steps, limit
    try:
        run = loom.run(strategy)
    finally:
        loom.most_steps = usual
    if run.revealed:
        raise Revealed
    if run.stop_reason == "seconds":
        raise OutOfTime
    return run


def repeats_itself(loom: Loom, run: Execution) -> bool:
    """Does a schedule that seems to go round for ever still do so when it is followed much longer?

    A loop of many thousand iterations looks like one without an end until it is let to its end: longest where one
    strand acts alone, which may only be computing.
    """
    names = {index: name for name, index in loom.indexes.items()}
    steps = [names[index] for index, _ in run.trace]
    period = outcome.period_of(run.trace)
    if not period:
        return False
    most = max(LONGEST if len(set(steps[-period:])) == 1 else ENDLESS, loom.most_steps)
    follow = FollowSteps(steps + steps[-period:] * (most // period))
    follow.begin()
    again = run_to(loom, most, follow)
    return again.stop_reason == "limit" and outcome.endless(again, len(steps))
