"""Runs written tests along the schedules that were found, in a process of its own: `-m treadle.doors.class_.record FILE
TARGET SECONDS TRAILS [allow-effects]`, with the name that the file will have, the time for one search, and the trails
as JSON (test -> string). What the calls would do to the world is refused there, as on the stage.

Prints one JSON object: for each test its replay string, how it failed and on which builds, or why it did not. A fault
that a GIL allows is shown by a schedule that a GIL allows, which then comes along. Where a trail does not
fail in the written test as it did on the stage, or there is none, a search looks for one that does. A test without a
schedule that fails is not written.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from treadle.core.builds import not_asked
from treadle.core.choice import StrandRuns
from treadle.core.errors import TreadleError
from treadle.core.result import Finding
from treadle.core.trail import Trail
from treadle.doors.explore.check import check, tasks_settings
from treadle.doors.explore.models import SearchSetup, with_builds
from treadle.doors.explore.replay import replay
from treadle.observe.effects import EffectGuard, scratch_folder
from treadle.report.explanation import explain
from treadle.search.dpor import Dpor

# Seconds of work after which the tests that are left do not find out on which builds they fail: that they are written
# is worth more.
_FOR_BUILDS = 40.0


def record(path: Path, target: str, seconds: float, trails: dict[str, str]) -> dict[str, Any]:
    """What each test of the file does."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    found: dict[str, Any] = {}
    for name, value in list(vars(module).items()):
        test = getattr(value, "__wrapped__", None)
        if name.startswith("test_") and test is not None:
            place = f"{target}::{name}"
            packages = tuple(module.INSTRUMENT)
            shown = _follow(test, place, trails.get(name, ""), packages) or _explore(
                test, place, packages, seconds, trails.get(name, "")
            )
            if shown.get("replay") and _fails_alone(test, shown):
                shown = {"problem": f"its test fails also when the calls follow each other ({shown['message']})"}
            found[name] = shown
    return found


def _fails_alone(test: Any, shown: dict[str, Any]) -> bool:
    """Does a test fail whichever thread goes first, to its end? Then it says nothing about what happens when the calls
    overlap: it compares something that is another thing in a process of its own."""
    if inspect.iscoroutinefunction(test):
        return False
    trail = Trail.parse(shown["replay"])
    for first, second in (("T1", "T2"), ("T2", "T1")):
        turns = tuple(StrandRuns(strand) for strand in ("main", first, second))
        try:
            if not replay(replace(trail, choices=turns), test).findings:
                return False
        except TreadleError:
            return False  # a thread cannot go on by itself: nobody knows
    return True


def _follow(test: Any, target: str, trail: str, packages: tuple[str, ...]) -> dict[str, Any] | None:
    """The test along the schedule that was found on the stage; None when it does not fail so.

    What is called is no choice any more: the test says it.
    """
    if not trail:
        return None
    found = Trail.parse(trail)
    schedule = tuple(choice for choice in found.choices if isinstance(choice, StrandRuns))
    try:
        result = replay(replace(found, target=target, choices=schedule), test)
    except TreadleError:
        return None  # what the test does around the calls is not what the stage does around them
    if not result.findings:
        return None
    shown = result.findings[0]
    looped = inspect.iscoroutinefunction(test)
    if not looped and time.process_time() > _FOR_BUILDS:
        shown.builds = not_asked("there was no time to look")
    else:
        settings = {"instrument": list(packages)} if packages else {}
        search = SearchSetup(test, None, packages, "idle", 0, Dpor, target, settings, None, "dpor", looped=looped)
        search.shared |= found.shared or set()
        with_builds(search, replace(result, switches="" if looped else "free"))
    fact = _fact(result.findings[0])
    if result.findings[0] is not shown:
        fact["schedule"] = _schedule(result.findings[0], found)
    return fact


def _schedule(finding: Finding, stage: Trail) -> str:
    """A schedule that a GIL allows, told as the one on the stage was: without what the test does around the calls."""
    steps = [step for step in finding.steps if step.strand != "main"]
    waiting = [one for one in finding.waiting if one.strand != "main"]
    return explain(steps, waiting=waiting)


def _fact(finding: Finding) -> dict[str, Any]:
    """What is written of a finding; whoever found its schedule, it is a trail of a class's test."""
    on = "" if finding.builds is None else str(finding.builds)
    everywhere = finding.builds is not None and finding.builds.everywhere
    trail = "" if finding.trail is None else str(replace(finding.trail, door="class"))
    return {"replay": trail, "kind": finding.kind, "message": finding.message, "on": on, "on_every_build": everywhere}


def _explore(test: Any, target: str, packages: tuple[str, ...], seconds: float, trail: str) -> dict[str, Any]:
    problem, exhausted = "", False
    searches: list[dict[str, Any]] = [{"preemptions": 1}, {"preemptions": 2}, {}]
    if inspect.iscoroutinefunction(test):
        searches = [tasks_settings(True, Trail.parse(trail).settings.get("cancel", "never") if trail else "never")]
    for options in searches:
        try:
            result = check(test, target=target, instrument=packages, seconds=seconds, executions=5_000, **options)
        except TreadleError as error:
            return {"problem": str(error)}
        if result.findings:
            return _fact(result.findings[0])
        problem, exhausted = result.reason, result.verdict.is_pass
    return {"problem": problem, "passed": exhausted}


if __name__ == "__main__":
    with scratch_folder() as scratch, nullcontext() if "allow-effects" in sys.argv[5:] else EffectGuard(scratch):
        told = json.dumps(record(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), json.loads(sys.argv[4])))
    print(told)
