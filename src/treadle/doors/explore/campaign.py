"""One search of a test: executions until a failure, the end of the space, or the end of the budget.

A failure is returned only after it was shrunk, and its trail was replayed and failed in the
same way.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from time import perf_counter  # the real one: models replace names in modules of the program only
from typing import Any, Protocol

from treadle.core.errors import Unsupported
from treadle.core.operation import FINE, parts
from treadle.core.result import Finding, Result, Verdict
from treadle.doors.explore import ending
from treadle.doors.explore.blame import drawn_lines, not_deterministic
from treadle.doors.explore.endless import ENDLESS, LONGEST, repeats_itself, run_to
from treadle.doors.explore.failing import Revealed, ScheduleConfirmation, can_happen, no_drawn_one_passes
from treadle.doors.explore.order_check import OrderCheck, reduction_of
from treadle.doors.explore.pass_check import PassCheck, Seen, seen_in
from treadle.doors.explore.told import complete, same_failure
from treadle.search.fair import Fair
from treadle.search.other_orders import Reservoir
from treadle.search.random_walk import RandomWalk
from treadle.search.replay import FollowCoasted
from treadle.search.strategy import Strategy
from treadle.threads import files
from treadle.threads.diverged import Diverged
from treadle.threads.execution import Execution
from treadle.threads.fine import fine_points, points_of
from treadle.threads.loom import Loom
from treadle.threads.watchdog import OutOfTime, ReallyBlocked

Progress = Callable[[int, float | None, str], None]

_TOO_LONG = (
    "it fails, and its schedule is too long to be recorded and shrunk: there is no replay; there is one with fewer "
    "rounds in the test"
)
# Seconds for seeing all of an execution that failed while nobody looked: shrinking takes many times as long.
_SEEING = 4.0

# Seconds of a search before others take it over: most are over by then.
_ALONE = 1.0

# Seconds between two calls of the progress function.
_TELL_EVERY = 0.1

# Executions that are kept to be run again in other orders before a pass is told.
_KEPT = 8

# So often a search starts again because more is shared than was known.
_RESTARTS = 500
# After so many, with hardly an execution between that counts, each execution shares something else (a name that a
# library draws and nobody puts back): schedules are drawn from then on, and each that ends well counts.
_FRUITLESS = 16

# Executions of a search that cannot trust its reduction, where nobody gave a budget.
_SAMPLES = 500

# An execution that is so many times as long as the first one goes round in a loop.
_LOOPS = 3

# The limit of an execution, in lengths of a fair one.
_ROOM = 3


_NEVER_THE_SAME = "what the strands share is not the same in any two executions"


class SelfCheck(Protocol):
    """The check that a pass makes of itself, whoever runs it."""

    spent: int
    revealed: bool
    difference: str
    failed: tuple[Finding, Execution] | None

    def run(self) -> None: ...


class Fleet(Protocol):
    """Workers that can take over a search."""

    used: bool
    resumed: int  # executions that an earlier run has made
    gone: str  # how the workers were lost, if they were

    def hurries(self) -> bool:
        """Is there a stopped search to go on with?"""

    def takes(self, search: ScheduleSearch) -> bool:
        """Is this a search that can be split?"""

    def go_on(self, search: ScheduleSearch) -> ending.Ended | Finding:
        """The finding of the first execution that fails, or why the search ended."""

    def checks(self, search: ScheduleSearch) -> SelfCheck: ...


class ScheduleSearch:
    """One search: executions until a failure, the end of the space, or the end of the budget."""

    def __init__(
        self,
        loom: Loom,
        make: Callable[[], Strategy],
        target: str,
        settings: dict[str, Any],
        executions: int | None,
        seconds: float | None,
        progress: Progress | None,
        strategy: str,
        wanted: Finding | None = None,
        fixed_limit: bool = False,
        fleet: Fleet | None = None,
        every: Callable[[], Strategy] | None = None,
    ) -> None:
        self.loom = loom
        self.make = make
        self.every = every  # makes what runs every schedule, for executions whose classes nobody knows
        self.search = make()
        self.target = target
        self.most = executions
        self.seconds = seconds
        self.deadline = None if seconds is None else time.monotonic() + seconds
        self.progress = progress
        self.strategy = strategy
        self.wanted = wanted  # look only for executions that fail as this one does
        self.fleet = fleet  # who takes over a search that is not over soon
        self.fixed_limit = fixed_limit  # did somebody say how many operations an execution may have?
        self.executions = 0  # of the search that the result is about
        self.judged = 0  # also of searches that had to start again
        self.passed = False  # did one of them pass?
        self.beside = 0  # of these, drawn while a systematic search went on
        self.spent = 0  # also of searches that had to start again, without those drawn beside
        self.longest = 0
        self.usual = 0  # operations of the first execution
        self.looked_for_livelock = False
        self.over_limit = 0
        self.impossible = 0  # executions that the program cannot really do: they do not count
        self.measured = 0  # operations to which fair executions were followed to see how long they are
        self.looping = False
        self.warnings: dict[str, Finding] = {}
        self.kept = Reservoir(_KEPT)
        self.checked = 0  # executions of the check that a pass makes of itself
        self.unseen = ""  # what that check found to be shared without being seen
        self.drawn = ""  # lines that draw another value in each execution, where that explains it
        self.restarts = 0
        self.failures = ScheduleConfirmation(loom, target, settings, seconds, brief=wanted is not None)
        self.started = self.begun = perf_counter()  # the search, and what the loom does now

    def run(self) -> Result:
        try:
            reason = self._search_and_check()
        except KeyboardInterrupt:
            reason = "interrupted"
        except OutOfTime:
            reason = "seconds"
        except ReallyBlocked as blocked:
            raise Unsupported(str(blocked)) from None
        if isinstance(reason, Finding):
            result = ending.result_of(self, Verdict.FAILED, [reason], "end")
            result.everywhere = self._never_passes(reason)
            return result
        if reason == "seconds":  # what did not fail is told: also while a pass was being checked
            self.executions = max(self.executions, self.judged) + self.checked
        return ending.result_of(self, ending.verdict_of(self, reason), [], reason)

    def _search_and_check(self) -> ending.Ended | Finding:
        """Search; a pass is checked before it is told."""
        while True:
            reason = self._search()
            if reason == "end" and self.search.exhausted and files.unsteady():
                self.drawn = files.unsteady()
                return self._sample()
            if isinstance(reason, Finding) or not self._to_be_checked(ending.verdict_of(self, reason)):
                return reason
            check = self._check()
            try:
                check.run()
            finally:
                self.checked += check.spent
            if check.failed is not None:
                try:
                    return self._confirm_finely(*check.failed)
                except Revealed:
                    check.revealed = True
            if not check.revealed:
                self.unseen = check.difference
                self.drawn = drawn_lines(self.loom) if self.unseen else ""
                return self._sample() if self.unseen else reason
            self._start_again()

    def _sample(self) -> ending.Ended | Finding:
        """The reduction leaves out too much, because not all that is shared is seen, or the test does something else in
        every execution: sample with the budget that is left. Not a pass any more, but perhaps a failure."""
        self.make = functools.partial(_drawing, self.loom.seed)
        self.search = self.make()
        if self.most is None:
            self.most = self.spent + _SAMPLES
        return self._search()

    def _check(self) -> SelfCheck:
        if self.fleet is not None and self.fleet.used:
            return self.fleet.checks(self)
        reduction = reduction_of(self.search)
        if reduction is not None:
            return OrderCheck(self.loom, self.executions, reduction, self.seen)
        return PassCheck(self.loom, self.kept, self.executions, wanted=self.wanted)

    def seen(self, run: Execution) -> Seen:
        """What each strand saw in an execution: the same in all of one class."""
        return seen_in(run)

    def _to_be_checked(self, verdict: Verdict) -> bool:
        """A pass that stands for every schedule is checked; one within bounds says itself what it leaves out."""
        stands_for_all = verdict.is_pass or verdict is Verdict.NOTHING_TO_EXPLORE
        has_way = self.loom.interrupts or reduction_of(self.search) is not None
        return stands_for_all and has_way and not self.search.bounded and not self.loom.bounds

    def _confirm_finely(self, finding: Finding, run: Execution) -> Finding:
        """A failure that the check found, perhaps at a point that the search does not have."""
        if not any(FINE in parts(op) for _, op in run.trace):
            return self._confirm(finding, run)
        self.failures.settings = {**self.failures.settings, "points": points_of(self.loom)}
        with fine_points(self.loom):
            return self._confirm(finding, run)

    def _search(self) -> ending.Ended | Finding:
        """Run executions; the finding of the first that fails, or why the search ended."""
        search, loom = self.search, self.loom
        loom.watch.deadline = self.deadline
        told = self.started
        while True:
            if self.most is not None and self.spent >= self.most:
                return self._without_drawn("executions")
            self.begun = now = perf_counter()
            if self.seconds is not None and now - self.started >= self.seconds and self.executions:
                return "seconds"
            if self.progress is not None and now - told >= _TELL_EVERY:
                told = now
                self.progress(self.executions, self.estimate(), search.name)
            if self.executions and self._may_be_handed_over(now):
                assert self.fleet is not None
                try:
                    return self.fleet.go_on(self)
                except Revealed:
                    search = self._start_again()
                    continue
            if not search.begin():
                return self._without_drawn("end") if search.exhausted else "end"
            try:
                run = loom.run_on(search, self._follow) if isinstance(search, RandomWalk) else loom.run(search)
            except Diverged as diverged:
                self.unseen = self.drawn = str(diverged)  # where the time is over before more is known
                self.drawn = not_deterministic(loom, diverged)
                return self._sample()
            if loom.classes_unknown and self.every is not None:
                self.make, self.every, loom.incomplete = self.every, None, ""
                search = self._start_again()
                continue
            ended_well = run.ended_well
            # more is shared than was known: the search starts again, with points there, unless it only draws
            if run.revealed and not (search.draws_only and (ended_well or not loom.judge(run))):
                self.restarts += 1
                if self.restarts > _RESTARTS:
                    loom.incomplete = _NEVER_THE_SAME
                    return "end"
                if search.draws_only and loom.incomplete == _NEVER_THE_SAME and self.restarts > 2 * _FRUITLESS:
                    self._tell_once(run)
                    continue
                if self._reveals_for_ever():
                    loom.incomplete = _NEVER_THE_SAME
                    return self._sample()
                search = self._start_again()
                continue
            search.end(run)
            self.looping |= run.looping and not search.beside
            if run.stop_reason == "blocked":
                continue
            if not self.loom.possible(run):
                self.impossible += 1
                self.spent += 1
                continue
            self._count(search)
            try:
                livelock = self.measure(len(run.trace))
                if livelock is not None:
                    return livelock
                if not search.beside:  # the check is about what the pass stands for
                    self.kept.offer(run.trace, run.guards, run.spawned)
                if ended_well:
                    self.passed = True
                    run.release()
                    continue
                finding = self.look_at(run)
            except Revealed:
                search = self._start_again()
                continue
            if finding is not None:
                return finding
            self.passed = True

    def _follow(self, run: Execution) -> bool:
        """An execution has ended well: it is counted, and the next one begun, unless somebody has to look at it."""
        search, now = self.search, perf_counter()
        used_up = self.most is not None and self.spent + 1 >= self.most
        too_late = self.seconds is not None and now - self.started >= self.seconds
        if used_up or too_late or now - self.begun >= _TELL_EVERY or len(run.trace) > self.longest:
            return False
        search.end(run)
        self._count(search)
        self.passed = True  # and nothing of it is kept: drawing never ends as a pass that has to be checked
        return search.begin()

    def _count(self, search: Strategy) -> None:
        self.executions += 1
        self.judged += 1
        self.beside += search.beside
        self.spent += not search.beside

    def _reveals_for_ever(self) -> bool:
        """Does hardly an execution count, because the next one shows again that more is shared? When half of the time
        is over with that, there is none left to find out."""
        late = self.seconds is not None and perf_counter() - self.started > self.seconds / 2
        return (self.restarts >= _FRUITLESS or late) and self.judged < self.restarts and not self.search.draws_only

    def _without_drawn(self, reason: ending.Ended) -> ending.Ended:
        """A pass counts the classes of schedules, and a budget what was asked for: not what was drawn beside."""
        self.executions -= self.beside
        self.beside = 0
        return reason

    def _may_be_handed_over(self, now: float) -> bool:
        fleet = self.fleet
        if fleet is None or (now - self.started < _ALONE and not fleet.hurries()):
            return False
        return fleet.takes(self)

    def measure(self, length: int) -> Finding | None:
        """An execution had so many operations: when they grow long, do they go round for ever?"""
        if length <= self.longest:
            return None
        self.longest = length
        if self.usual == 0:
            self.usual = length
        elif length > _LOOPS * (self.usual + _LOOPS) and not self.looked_for_livelock:
            return self._livelock()
        return None

    def look_at(self, run: Execution) -> Finding | None:
        """An execution that did not simply end: its finding, if it fails. `Revealed`: the search must start again."""
        findings = self.loom.judge(run)
        # with as many waits beside what was not seen, it is just long, unless it went round in a circle
        long = run.coasted_from >= 0 and all(one.kind != "livelock" for one in findings)
        if run.stop_reason == "limit" and not long:
            if self._longer(ENDLESS):
                raise Revealed
            findings = [one for one in findings if one.kind != "livelock" or repeats_itself(self.loom, run)]
            if not findings and self._longer(LONGEST):
                raise Revealed
        self._note(run)
        wanted = findings and (self.wanted is None or same_failure(findings[0], self.wanted))
        if wanted and can_happen(self.loom, run):
            return (self._confirm if run.coasted_from < 0 else self._confirm_coasted)(findings[0], run)
        return None

    def _confirm_coasted(self, finding: Finding, run: Execution) -> Finding | None:
        """An execution failed that had coasted: the same once more, with all that it does seen, or coasting again where
        that takes too long. None when that does not fail: from then on no execution coasts."""
        self.loom.watch.deadline = time.monotonic() + _SEEING
        try:
            again = run_to(self.loom, LONGEST, FollowCoasted(run))
            if self._fails_like(again, finding):
                self.loom.most_steps = max(self.loom.most_steps, _ROOM * len(again.trace))
                return self._confirm(finding, again)
        except OutOfTime:
            self.loom.watch.deadline = None
            if self._fails_like(self.loom.run(FollowCoasted(run, run.coast_after)), finding):
                finding.notes.append(_TOO_LONG)
                return complete(finding, run)
        self.loom.coasts = False
        self.loom.watch.deadline = self.deadline
        self._lost(finding, "which did not fail when it was run again with all that it does seen")
        return None

    def _tell_once(self, run: Execution) -> None:
        """An execution failed that no other can repeat."""
        for finding in self.loom.judge(run)[:1]:
            self._lost(finding, f"and {_NEVER_THE_SAME}")

    def _lost(self, finding: Finding, why: str) -> None:
        told = f"{finding.message}: in one execution, {why}"
        self.warnings.setdefault(told, Finding(f"{finding.kind}, once", told))

    def _fails_like(self, run: Execution, finding: Finding) -> bool:
        found = self.loom.judge(run)
        return bool(found) and same_failure(found[0], finding)

    def _livelock(self) -> Finding | None:
        """Once, when executions grow long: do they go round for ever although everybody has a turn?"""
        self.looked_for_livelock = True
        fair = Fair()
        while fair.begin():
            run = self.loom.run(fair)
            if run.revealed:
                self.looked_for_livelock = False
                raise Revealed
            found = [finding for finding in self.loom.judge(run) if finding.kind == "livelock"]
            if found and can_happen(self.loom, run) and (run.stop_reason != "limit" or repeats_itself(self.loom, run)):
                return self._confirm(found[0], run)
        return None

    def _longer(self, limit: int) -> bool:
        """When an execution came to the limit: raise it if executions in which everybody has turns need more. They are
        measured once to each limit."""
        if self.measured >= limit or self.fixed_limit:
            return False
        fair = Fair()
        fair.begin()
        run = run_to(self.loom, limit, fair)
        self.measured = LONGEST if run.stop_reason != "limit" else limit
        needed = _ROOM * len(run.trace) if run.stop_reason != "limit" else 0
        if needed <= self.loom.most_steps:
            return False
        self.loom.most_steps = needed
        return True

    def _start_again(self) -> Strategy:
        self.search = self.make()
        self.executions = self.beside = 0
        self.kept = Reservoir(_KEPT)
        self.loom.watch.deadline = self.deadline
        return self.search

    def _note(self, run: Execution) -> None:
        if run.stop_reason == "limit" and not self.search.beside:
            self.over_limit += 1
        for warning in self.loom.leftovers(run):
            self.warnings.setdefault(warning.message, warning)

    def _confirm(self, finding: Finding, run: Execution) -> Finding:
        return self.failures.confirm(finding, run)

    def _never_passes(self, finding: Finding) -> bool:
        """Before a failure no execution passed, and none of those drawn after it does."""
        used = self.fleet is not None and self.fleet.used
        seen = self.passed or finding.nearest_pass or self.wanted is not None or used
        return not seen and no_drawn_one_passes(self.loom, self.deadline)

    def sentence(self, verdict: Verdict, reason: ending.Ended) -> str:
        """Why the verdict is what it is."""
        return ending.sentence(self, verdict, reason)

    def estimate(self) -> float | None:
        """How many executions the search has, as far as it can tell."""
        share = self.search.progress()
        return self.executions / share if share > 0 else None


def _drawing(seed: int) -> Strategy:
    """Draws schedules, and nothing else from now on."""
    walk = RandomWalk(seed)
    walk.draws_only = True
    return walk
