"""Exploring under a model of switches, and finding out on which builds a failure can happen.

`free` lets strands switch before every access, `gil` only where the running version of CPython can, `auto` explores
one after the other. A failure is looked for again under the rules of every version with a GIL: what is found there is
the stronger claim and is shown instead, and that it cannot happen there is said only when every schedule was run.
"""

from __future__ import annotations

import sysconfig
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treadle.core.builds import EVERY, Builds
from treadle.core.errors import TreadleError, UsageError
from treadle.core.operation import accesses
from treadle.core.result import Finding, ModelResult, Result, Step, Verdict
from treadle.core.saved import SavedCampaign
from treadle.core.verdict import worst
from treadle.doors.explore.campaign import Progress, ScheduleSearch
from treadle.doors.explore.fleet import WorkerFleet
from treadle.doors.explore.interruptions import interruptions
from treadle.doors.explore.told import place_told
from treadle.search.auto import Auto
from treadle.search.cluster import ALONE, Workforce, pool_of
from treadle.search.replay import FollowSteps
from treadle.search.strategy import Strategy
from treadle.search.workers import AnyPool
from treadle.tasks.loom import TaskLoom
from treadle.threads.loom import MOST_STEPS, Loom
from treadle.threads.possible_switches import MOST
from treadle.threads.switching import ALL, running, running_name, versions_in
from treadle.threads.watchdog import OutOfTime

_LIBRARY = Path(sysconfig.get_path("stdlib"))

# What the search for the same failure under a GIL may cost: executions one by one, then sampled ones, and seconds.
_SYSTEMATIC = 2_000
_SAMPLED = 500
_SECONDS = 10.0
_AT_LEAST = 2.0
# So many times that, and no further version is looked at.
_ALL_VERSIONS = 2

# What a search with deadlines that strike at any time may cost: executions, and operations of one and of all of them (a
# loop that polls goes round for ever there).
_EARLY = 2_000
_LEAST_EARLY = 50
_EARLY_OPERATIONS = 100_000
_ROOM = 3
_LEAST_ROOM = 200
# What runs the shares of a search in a worker process: pytest collects the test there.
_SERVER = "treadle.cli.share_worker:serve"

_NOTHING_TO_RESUME = (
    "no search was stopped that fits (the code and the options, budgets aside, must be the same): it began anew"
)
_ORDERED = "only sleeps and timeouts order what the threads do to each other"
_RESTS = "the pass rests on sleeps and timeouts that end only when nothing else can run"


class OpenLoom:
    """A loom that stays set up from one search of a test to the next: that costs as much as many executions.

    One at a time, because two of them would rewrite the same code.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._loom: tuple[int, TaskLoom] | None = None

    def for_model(self, gil: int, make: Callable[[int], TaskLoom]) -> TaskLoom:
        if self._loom is None or self._loom[0] != gil:
            self.close()
            loom = make(gil)
            self._stack.enter_context(loom)
            self._loom = gil, loom
        return self._loom[1]

    def close(self) -> None:
        self._loom = None
        self._stack.close()


@dataclass
class SearchSetup:
    """What to explore, whatever the model."""

    test: Callable[[], Any]
    source: Any
    packages: tuple[str, ...]
    timeouts: str
    seed: int
    make: Callable[[], Strategy]
    target: str
    settings: dict[str, Any]
    progress: Progress | None
    strategy: str
    any_order: bool = False
    cancel: str = "never"
    every: Callable[[], Strategy] | None = None  # makes what runs every schedule, where nobody knows the classes
    operations: int | None = None  # of one execution
    workforce: Workforce = ALONE
    resume: bool = False  # go on with a search that was stopped
    afterwards: Callable[[Loom, Result], None] = lambda loom, result: None
    shared: set[str] = field(default_factory=set)  # names of objects that are known to be shared
    builds: bool = True  # is it to be found out on which builds a failure can happen?
    clock: str = "still"
    kept: OpenLoom | None = None  # that of earlier searches
    looped: bool = False  # does the test run an event loop? Known when it was run

    def run(self, model: str, executions: int | None, seconds: float | None) -> Result:
        """One campaign under `free` or `gil`."""
        gil = running() if model == "gil" else 0
        kept = None if self.kept is None else self.kept.for_model(gil, self.loom)
        loom = kept or self.loom(gil)
        with self.fleet(model) or nullcontext() as fleet, nullcontext() if kept else loom:
            campaign = ScheduleSearch(
                loom,
                self.make,
                self.target,
                self.settings,
                executions,
                seconds,
                self.progress,
                self.strategy,
                fixed_limit=self.operations is not None,
                fleet=fleet,
                every=self.every,
            )
            result = campaign.run()
            if fleet is not None:
                fleet.settle(campaign, result)
            if self.resume and fleet is not None and not fleet.resumed:
                result.warnings.append(Finding("nothing to resume", _NOTHING_TO_RESUME))
            self.afterwards(loom, result)
        rests_on_idle = self.timeouts == "idle" and loom.deadlines and (loom.threaded or not loom.looped)
        if rests_on_idle and (result.verdict.is_pass or result.verdict is Verdict.NOTHING_TO_EXPLORE):
            result = self.with_early_deadlines(model, result, loom.deadlines, executions, seconds)
        self.looped = loom.looped
        if loom.looped and not loom.threaded:
            return result  # tasks of one loop switch where they await, whatever the model
        result.switches = f"gil, {running_name()}" if model == "gil" else "free"
        return result

    def with_early_deadlines(
        self,
        model: str,
        idle: Result,
        deadlines: set[tuple[str, int]],
        executions: int | None,
        seconds: float | None,
    ) -> Result:
        """The pass rests on sleeps and time limits that end only when nothing else can run: what if they end earlier?

        If every schedule passes then, too, the pass stands as it is. Otherwise it is one within a bound that names the
        deadlines. A failure that needs one to end early is a warning: the test says that this does not happen.
        """
        settings = self.settings | {"timeouts": "any"}
        room = _ROOM * int(idle.statistics["longest"]) + _LEAST_ROOM
        early = replace(
            self,
            timeouts="any",
            settings=settings,
            shared=set(),
            operations=room if self.operations is None else self.operations,
            afterwards=lambda loom, result: None,
            kept=None,
        )
        if self.kept is not None:
            self.kept.close()
        most = min(_EARLY, max(_LEAST_EARLY, _EARLY_OPERATIONS // room))
        left = None if seconds is None else max(0.1, seconds - idle.seconds)
        found = early.run(model, most if executions is None else min(most, executions), left)
        idle.seconds += found.seconds
        alone = idle.verdict is Verdict.NOTHING_TO_EXPLORE
        if found.verdict is Verdict.NOTHING_TO_EXPLORE:
            return idle
        if alone and not found.failed:
            found.reason = f"{_ORDERED}; with sleeps that end at any time, {found.reason}"
            found.seconds = idle.seconds
            found.warnings += [warning for warning in idle.warnings if warning not in found.warnings]
            return found
        if found.verdict.is_pass:
            idle.reason += f"; so was every one whose deadlines strike at any time: {found.executions}"
            return idle
        idle.verdict, idle.exhaustive = Verdict.PASSED_WITHIN_BOUNDS, False
        idle.bounds["sleeps or timeouts that end early"] = 0
        if idle.evidence is not None:
            idle.evidence.deadlines = sorted(_place(file, line) for file, line in deadlines)
        if alone:
            idle.reason = f"{_ORDERED}, and no schedule fails in which each of them lasts long enough"
        else:
            idle.reason += "; no sleep or timeout ended while something else could run"
        if found.failed:
            finding = found.findings[0]
            kind, which = ("ordered by sleeps", _ORDERED) if alone else ("early deadline", _RESTS)
            message = f"{which}: when one ends early, {finding.kind}: {finding.message}; see it with --timeouts any"
            idle.warnings.append(Finding(kind, message))
        return idle

    def fleet(self, model: str) -> WorkerFleet | None:
        """The workers that take over a long search."""
        if not self.workforce.several:
            return None
        setup = (self.target, self.settings, self.operations)

        def open_pool() -> AnyPool:
            return pool_of(self.workforce, _SERVER, setup, f"explore {self.target}")

        what = (self.target, self.strategy, sorted(self.settings.items()), self.operations, self.timeouts, self.seed)
        saved = SavedCampaign("explore", *what, model)
        # what keeps a cluster from being used is told before anything runs
        at_once = self.workforce.cluster is not None
        return WorkerFleet(open_pool, self.workforce.share, saved, at_once, self.resume)

    def loom(self, gil: int) -> TaskLoom:
        loom = TaskLoom(
            self.test,
            source=self.source,
            instrument=self.packages,
            timeouts=self.timeouts,
            clock=self.clock,
            any_order=self.any_order,
            cancel=self.cancel,
            seed=self.seed,
            skip_private=True,
            gil=gil,
            most_steps=MOST_STEPS if self.operations is None else self.operations,
        )
        loom.shared = self.shared  # what one loom learns of the program, the next one knows
        return loom


def explore(search: SearchSetup, model: str, executions: int | None, seconds: float | None) -> Result:
    """Explore under a model; the findings know on which builds they can happen."""
    if model != "free" and search.any_order:
        raise UsageError("any_order permutes the steps of tasks, which no GIL does; leave out one of it and switches")
    if model != "auto":
        return with_builds(search, search.run(model, executions, seconds), seconds)
    started = time.perf_counter()
    gil = search.run("gil", executions, seconds)
    if not gil.switches:
        return with_builds(search, gil, seconds)
    if gil.failed:
        free = replace(gil, switches="free", executions=0, reason="whatever a GIL allows, every build allows")
    else:
        left = None if executions is None else executions - gil.executions
        time_left = None if seconds is None else seconds - (time.perf_counter() - started)
        free = _rest(search, left, time_left)
    result = with_builds(search, replace(gil if gil.failed else free), seconds)
    result.models = [ModelResult(one.switches, one.verdict, one.executions, one.reason) for one in (gil, free)]
    result.verdict = worst((gil.verdict, free.verdict))
    result.cut_by = "" if result.verdict is not Verdict.CUT else free.cut_by or gil.cut_by
    result.exhaustive = result.verdict is Verdict.PASSED_EXHAUSTIVE
    result.executions = gil.executions + free.executions
    result.seconds = time.perf_counter() - started
    result.switches = f"{gil.switches}, and {free.switches}"
    return result


def _rest(search: SearchSetup, executions: int | None, seconds: float | None) -> Result:
    """The model `free` with what `gil` has left of the budget."""
    if (executions is not None and executions <= 0) or (seconds is not None and seconds <= 0):
        return Result(
            search.target,
            Verdict.CUT,
            0,
            False,
            search.strategy,
            0.0,
            reason="the model gil used up the budget: nothing was run under free, not a pass",
            cut_by="seconds" if executions is None or executions > 0 else "executions",
            switches="free",
        )
    return search.run("free", executions, seconds)


def with_builds(search: SearchSetup, result: Result, seconds: float | None = None) -> Result:
    """The result, its finding the stronger one where a version with a GIL shows it too, with where it can happen. Of
    `seconds`, what the search has left is for that, and a little in any case."""
    if search.builds and result.findings and result.findings[0].builds is None:
        finding = result.findings[0]
        if result.switches:
            known = finding.versions if result.switches != "free" else 0
            left = _SECONDS if seconds is None else max(_AT_LEAST, seconds / 4, seconds - result.seconds)
            finding = result.findings[0] = _settled(search, finding, known, min(left, _SECONDS))
        else:
            finding.builds = EVERY
        assert finding.builds is not None
        finding.builds = replace(finding.builds, only_if=_what_else_decides(finding, search.looped))
    return result


def _what_else_decides(finding: Finding, looped: bool) -> str:
    """What a failure needs besides switches: an order that asyncio does not choose, or code of the standard library
    that other versions may have changed: asyncio, and what makes accesses or waits among the steps."""
    if finding.out_of_order:
        return "its event loop does not keep the order of call_soon, as asyncio's own does"
    places = [step.file for step in finding.steps] + [one.stack[0][0] for one in finding.waiting if one.stack]
    files = dict.fromkeys(["asyncio"] if looped else [])
    files |= dict.fromkeys(file for file in map(_in_library, places) if not (looped and file.startswith("asyncio/")))
    named = [file for file in files if file]
    return f"its {' and '.join(named)} does what that of {running_name()} does" if named else ""


def _in_library(file: str) -> str:
    """`asyncio/locks.py` for a file of the standard library, else nothing."""
    path = Path(file)
    if not path.is_relative_to(_LIBRARY) or "site-packages" in path.parts:
        return ""
    return path.relative_to(_LIBRARY).as_posix()


def _settled(search: SearchSetup, finding: Finding, possible: int, seconds: float) -> Finding:
    """Look for the failure under the rules of the versions that it is not known for, until all are settled."""
    if accesses(step.performed for step in finding.steps) > MOST:
        return _with(finding, possible, 0, "", "the schedule is too long to be asked")
    shown = finding
    between = ""
    until = time.monotonic() + seconds * _ALL_VERSIONS
    early = False  # do deadlines strike while others can go on? Asked last: the finding itself does not need it
    while possible != ALL:
        if time.monotonic() > until:
            return _with(shown, possible, 0, "", "there was no time to look")
        rest = ALL & ~possible
        try:
            with search.loom(rest) as loom:
                result = _same_failure(search, loom, finding, seconds)
                if not result.findings:
                    between = _impossible_switch(loom, finding, rest)
            if not result.findings and search.timeouts == "idle" and loom.deadlines:
                early, search = True, replace(search, timeouts="any", shared=set())
                continue
        except OutOfTime:  # its last execution was too long
            return _with(shown, possible, 0, "", "there was no time to look")
        except (TreadleError, KeyboardInterrupt) as error:
            return _with(shown, possible, 0, "", str(error).partition(":")[0] or "interrupted")
        if result.findings and early:
            return _with(shown, possible, 0, "", "there it fails so only when a deadline strikes early")
        if result.findings and result.findings[0].versions & rest:
            if shown is finding and not possible:
                shown = result.findings[0]
            possible |= result.findings[0].versions & rest
        elif not result.findings and result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE):
            return _with(shown, possible, rest, between, "")
        elif result.findings:
            return _with(shown, possible, 0, "", "a schedule of it fails so and cannot be recorded")
        else:
            return _with(shown, possible, 0, "", f"{result.executions} of its schedules do not fail so")
    return _with(shown, ALL, 0, "", "")


def _with(finding: Finding, possible: int, impossible: int, between: str, why: str) -> Finding:
    unsettled = ALL & ~possible & ~impossible
    finding.builds = Builds(versions_in(possible), versions_in(impossible), versions_in(unsettled), between, why)
    return finding


def _same_failure(search: SearchSetup, loom: Loom, finding: Finding, seconds: float) -> Result:
    def make() -> Strategy:
        return Auto(search.seed, _SYSTEMATIC, _SAMPLED)

    most = _SYSTEMATIC + _SAMPLED
    return ScheduleSearch(loom, make, search.target, search.settings, most, seconds, None, "auto", finding).run()


def _impossible_switch(loom: Loom, finding: Finding, versions: int) -> str:
    """The first switch of a failing schedule that none of these versions makes: `bank.py:7's read and write`."""
    follow = FollowSteps([step.strand for step in finding.steps])
    follow.begin()
    run = loom.run(follow, detail=True)
    for switch in interruptions(run, follow, loom):
        if not switch.versions & versions:
            return _between(switch.before, switch.behind)
    return ""


def _place(file: str, line: int) -> str:
    """Where a strand waited; the wait of a Timer, or of a task that only sleeps, is nobody's line."""
    return place_told(file, line) if file else "a timer"


def _between(before: Step, behind: Step) -> str:
    first, second = before.operation.removesuffix("s"), behind.operation.removesuffix("s")
    place = place_told(before.file, before.line)
    if (before.file, before.line) == (behind.file, behind.line):
        return f"{place}'s {first} and {second}"
    return f"{place}'s {first} and {place_told(behind.file, behind.line)}'s {second}"
