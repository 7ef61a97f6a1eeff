"""A failing schedule, confirmed: shrunk, replayed from its trail, and shown beside the nearest one that passes."""

from __future__ import annotations

import time
from typing import Any

from treadle.core.choice import StrandRuns
from treadle.core.errors import Unsupported
from treadle.core.result import Finding, Step
from treadle.core.trail import Trail
from treadle.doors.explore.told import by_operation, common_steps, complete, same_failure
from treadle.search.few_preemptions import FewPreemptions
from treadle.search.random_walk import RandomWalk
from treadle.search.replay import FollowSteps, FollowTrail, strand_runs
from treadle.search.shrink import shrink_schedule
from treadle.threads.diverged import Diverged
from treadle.threads.execution import Execution
from treadle.threads.loom import MOST_STEPS, Loom
from treadle.threads.possible_switches import versions_that_can
from treadle.threads.watchdog import OutOfTime, ReallyBlocked

# Operations that shrinking may spend, over all its attempts.
_MOST_SHRINKING = 200_000
# Seconds that it may take: far more than it needs, but for attempts that are long or slow to judge.
_SHRINKING = 20.0
_AT_LEAST = 3.0

# Notes of a finding whose schedule could not be treated as usual. Nothing that failed is lost.
_UNSHRUNK = "it could not be shrunk: a shorter schedule failed once, and not when it was recorded"
_UNRECORDED = (
    "it fails, and could not be recorded: its operations cannot be named so that they mean the same in another "
    "execution; there is no replay. This is a limit of Treadle, please report it"
)

# Schedules that are drawn after a failure of the first one, and seconds for them: does any pass?
_DRAWN = 20
_DRAWING = 5.0
# Fewer than this say nothing: the failure is told as one. Slow ones have more seconds to come to as many, while the
# search has time.
_ENOUGH = 4
_DRAWING_SLOWLY = 40.0


class Revealed(Exception):
    """An object turned out to be shared while a failure was being shrunk: schedules from before no longer fit."""


def can_happen(loom: Loom, run: Execution) -> bool:
    """Can one of the versions with a GIL that are asked for run it? Without a GIL, every switch can come."""
    return not loom.gil or bool(versions_that_can(run) & loom.gil)


class ScheduleConfirmation:
    """How the failures of one search are confirmed: in `seconds` each, for a trail with this target and settings."""

    def __init__(self, loom: Loom, target: str, settings: dict[str, Any], seconds: float | None, brief: bool) -> None:
        self.loom = loom
        self.target = target
        self.settings = settings
        self.seconds = _SHRINKING if seconds is None else min(_SHRINKING, max(_AT_LEAST, seconds / 2))
        if brief:
            self.seconds /= 4

    def confirm(self, finding: Finding, run: Execution) -> Finding:
        """Shrink the failing schedule, replay it, and explain it: however late it was found."""
        self.loom.watch.deadline = None
        names = {index: name for name, index in self.loom.indexes.items()}
        steps = [names[index] for index, _ in run.trace]
        operations: dict[tuple[str, ...], list[int]] = {}  # of a schedule: how many each of its steps has
        passing: list[list[str]] = []  # schedules that were tried and do not fail

        def attempt(candidate: list[str]) -> tuple[list[str], tuple[int, int, int]] | None:
            follow = FollowSteps(candidate)
            follow.begin()
            tried = self.loom.run(follow)
            if tried.revealed:
                raise Revealed
            found = self.loom.judge(tried)
            if not found and not tried.stop_reason:
                passing.append(follow.taken)
            if not found or not same_failure(found[0], finding) or not can_happen(self.loom, tried):
                return None
            operations[tuple(follow.taken)] = tried.performed
            return follow.taken, follow.cost

        first = attempt(steps)
        if first is None:
            raise Unsupported(
                f"the test failed ({finding.message}) but the same schedule passed when it was run again: it depends "
                "on something that the scheduler does not control (real time, addresses, files, other processes)"
            )
        most = max(2, min(400, _MOST_SHRINKING // max(1, len(steps))))
        steps, _ = shrink_schedule(first, attempt, most, self.seconds)
        for schedule, note in ((steps, ""), (first[0], _UNSHRUNK)):
            shown = FollowSteps(by_operation(schedule, operations.get(tuple(schedule), [1] * len(schedule))))
            shown.begin()
            final = self.loom.run(shown, detail=True)
            again = self.loom.judge(final)
            if again and same_failure(again[0], finding) and self._finished(again[0], final, shown):
                again[0].notes += [note] if note else []
                again[0].nearest_pass = self._nearest(passing, schedule)
                return complete(again[0], final)
        finding.notes.append(_UNRECORDED)
        return complete(finding, final)

    def _nearest(self, passing: list[list[str]], failing: list[str]) -> list[Step]:
        """The steps of the schedule that passes and parts last from the failing one, run once more."""
        if passing:
            follow = FollowSteps(max(passing, key=lambda one: common_steps(one, failing)))
            follow.begin()
            run = self.loom.run(follow, detail=True)
            if not run.stop_reason and self.loom.possible(run) and not self.loom.judge(run):
                return run.shown(list(run.detail or []))
        return []

    def _finished(self, finding: Finding, run: Execution, shown: FollowSteps) -> bool:
        """Give the finding its trail; False when following that does not fail in the same way."""
        trail = Trail(
            self.target,
            strand_runs(run, shown),
            settings=self._settings(),
            shared=None if self.loom.shared is None else frozenset(self.loom.shared),
            kind=finding.kind,
            message=finding.message,
        )
        trail = Trail.parse(str(trail))  # what a person copies, and nothing that only this process has
        again = FollowTrail(trail.only(StrandRuns))
        again.begin()
        replayed = self.loom.judge(self.loom.run(again, detail=True))
        if not replayed or again.mismatch or not same_failure(replayed[0], finding):
            return False
        finding.trail, finding.replay = trail, str(trail)
        finding.versions = versions_that_can(run)
        return True

    def _settings(self) -> dict[str, Any]:
        """A replay may need as many operations."""
        usual = self.loom.most_steps <= MOST_STEPS
        return self.settings if usual else self.settings | {"operations": self.loom.most_steps}


def no_drawn_one_passes(loom: Loom, search_ends: float | None = None) -> bool:
    """A schedule failed before any passed: do those that are drawn now all fail as well?"""
    # Switching all the time, and as plain threads mostly run: each as long as it can.
    walks = [RandomWalk(loom.seed), FewPreemptions(loom.seed)]
    began = time.monotonic()
    slowly = began + _DRAWING_SLOWLY if search_ends is None else min(began + _DRAWING_SLOWLY, search_ends)
    loom.watch.deadline = max(began + _DRAWING, slowly)
    failed = 0
    try:
        for number in range(_DRAWN):
            if failed >= _ENOUGH and time.monotonic() - began >= _DRAWING:
                break
            walk = walks[number % len(walks)]
            walk.begin()
            run = loom.run(walk)
            if run.stop_reason == "seconds":
                break
            if not run.stop_reason and not loom.judge(run):
                return False
            walk.end(run)
            failed += 1
    except (Diverged, OutOfTime, ReallyBlocked):
        pass
    return failed >= _ENOUGH
