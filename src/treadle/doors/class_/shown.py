"""Which faults a test of its own shows: each test is explored in a fresh process for the schedule that it fails under,
and must then fail under pytest, alone.

Deciding is apart from writing, and nothing that was found is lost: a fault whose test could not be made or run stays a
fault, with its schedule and the reason; one whose test was run under every schedule and failed under none contradicts
itself, is listed as unconfirmed, and keeps the verdict from being a pass.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from treadle.classes.races import one_race_one_fault
from treadle.classes.result import ClassResult, Fault, Options
from treadle.core.builds import not_asked
from treadle.core.choice import Choice
from treadle.core.trail import Trail
from treadle.core.verdict import Verdict
from treadle.doors.class_.pytest_file import class_file, shown_path, warnings_path
from treadle.doors.class_.replay import staged
from treadle.doors.class_.test_source import FaultTest, write_test
from treadle.report.fresh_process import Effects, run_python, scratch_folder
from treadle.report.pytest_file import not_as_told
from treadle.threads.switching import running, versions_in

# Seconds for all tests of a file together, in a process of their own; and for one search of one test.
_PATIENCE = 180.0
_SECONDS = 20.0
_SECONDS_FOR_A_WARNING = 3.0
# Warnings that are run again, so that all of them together do not take longer than the search.
_MOST_WARNINGS = 12


@dataclass
class ShownTests:
    """The tests that fail, with their schedules; and for the other faults, by their ids, why there is none."""

    tests: list[FaultTest] = field(default_factory=list)
    trails: dict[str, str] = field(default_factory=dict)
    unwritten: dict[int, str] = field(default_factory=dict)
    refuted: dict[int, str] = field(default_factory=dict)  # every schedule of its test was run, and none failed


def decide_faults(result: ClassResult, options: Options, path: Path) -> ShownTests:
    """Sort the faults of a result: those that a test in `path` shows, those without a test, those refuted. What is left
    is put together race by race."""
    shown = _show(result, result.faults, options, path, _SECONDS)
    if shown.tests:
        file = class_file(result, shown.tests, options, shown.trails)
        effects: Effects = "allowed" if options.allow_effects else "outcome"
        for name, why in not_as_told(file, lambda ended: not ended.passed, effects).items():
            test = next(test for test in shown.tests if test.name == name)
            shown.refuted[id(test.fault)] = f"its test did not fail under pytest ({why.splitlines()[0]})"
        shown.tests = [test for test in shown.tests if id(test.fault) not in shown.refuted]
    for fault in result.faults:
        fault.unwritten = shown.unwritten.get(id(fault)) or shown.refuted.get(id(fault), "")
        fault.replay = staged(fault, options)  # unless a test shows it, below
        fault.on = fault.on or _without_a_test(options)
    result.unconfirmed += [fault for fault in result.faults if id(fault) in shown.refuted]
    result.faults = [fault for fault in result.faults if id(fault) not in shown.refuted]
    _tell(shown, path)
    if not result.faults and result.unconfirmed and result.verdict is Verdict.FAILED:
        result.verdict = Verdict.CUT
        result.reason = "what looked like a fault was not shown by a test of its own: not a pass"
    one_race_one_fault(result)
    return shown


def _without_a_test(options: Options) -> str:
    """Where a fault can happen that no test was searched for: where it was seen, and the rest was not asked."""
    seen = versions_in(running()) if options.switches == "gil" else ()
    return str(not_asked("no test of its own shows it", seen))


def decide_warnings(result: ClassResult, options: Options) -> ShownTests:
    """Give the warnings their replays; one whose test fails under no schedule is none."""
    views = [replace(warning, kind=warning.witness.violation.kind) for warning in result.warnings[:_MOST_WARNINGS]]
    path = warnings_path(result)
    shown = _show(result, views, options, path, _SECONDS_FOR_A_WARNING)
    _tell(shown, path)
    kept = []
    for number, warning in enumerate(result.warnings):
        view = views[number] if number < len(views) else None
        if view is None:
            warning.unwritten = f"only the first {_MOST_WARNINGS} warnings are run again"
        elif id(view) in shown.refuted:
            result.notes.append(f"'{warning.message}' was not shown by a test of its own: {shown.refuted[id(view)]}")
            continue
        else:
            warning.test, warning.replay, warning.on = view.test, view.replay, view.on
            warning.explanation = view.explanation
            warning.unwritten = shown.unwritten.get(id(view), "")
        kept.append(warning)
    result.warnings = kept
    return shown


def _show(result: ClassResult, faults: Sequence[Fault], options: Options, path: Path, seconds: float) -> ShownTests:
    """Make the tests, and explore each in a fresh process for the schedule it fails under."""
    shown = ShownTests()
    taken: set[str] = set()
    tests: list[FaultTest] = []
    for fault in faults:
        try:
            tests.append(write_test(result, fault, options, taken))
        except (KeyError, IndexError):
            shown.unwritten[id(fault)] = "what the calls return has no source form"
    first: dict[tuple[str, tuple[Choice, ...]], str] = {}  # what a test does -> the one that does it
    for test, found in zip(tests, _record(result, tests, options, path, seconds), strict=True):
        if "replay" in found:
            schedule = Trail.parse(found["replay"]).choices if found["replay"] else ()  # or it fails under any
            does = (test.source.partition('"""\n')[2], schedule)
            if first.setdefault(does, test.name) != test.name:
                shown.unwritten[id(test.fault)] = f"the calls are those of {first[does]}, and fail as they do there"
                continue
            shown.tests.append(test)
            shown.trails[test.name] = found["replay"]
            test.fault.on = found.get("on", "")
            test.fault.on_every_build = found.get("on_every_build", False)
            test.fault.explanation = found.get("schedule", test.fault.explanation)
        elif found.get("passed"):
            shown.refuted[id(test.fault)] = found["problem"]
        else:
            shown.unwritten[id(test.fault)] = found["problem"]
    return shown


def _record(
    result: ClassResult, tests: list[FaultTest], options: Options, path: Path, seconds: float
) -> list[dict[str, Any]]:
    """What `doors.class_.record` finds out about each test."""
    if not tests:
        return []
    with scratch_folder() as folder:
        trial = folder / path.name
        trial.write_text(class_file(result, tests, options, {}).source(folder), encoding="utf-8")
        known = json.dumps({test.name: str(test.fault.trail) for test in tests if test.fault.trail is not None})
        words = ["-m", "treadle.doors.class_.record", str(trial), shown_path(path), str(seconds), known]
        words += ["allow-effects"] if options.allow_effects else []
        try:
            done = run_python(words, seconds=_PATIENCE)
            facts = json.loads(done.stdout.splitlines()[-1])
        except subprocess.TimeoutExpired:
            return [{"problem": f"no answer within {_PATIENCE:g} s"} for _ in tests]
        except (ValueError, IndexError):
            said = (done.stderr or done.stdout).strip().splitlines()
            return [{"problem": said[-1] if said else "its process ended without a word"} for _ in tests]
    return [facts.get(test.name, {"problem": "it was not run"}) for test in tests]


def _tell(shown: ShownTests, path: Path) -> None:
    for test in shown.tests:
        test.fault.test = f"{shown_path(path)}::{test.name}"
        test.fault.replay = shown.trails[test.name]
