"""Running one saved execution of a test again: the replayer of every door whose trails are schedules of a test.

Keeps: the loom is the one under which the trail was recorded, with the same points; a trail that no longer fits says
where, and is never taken for a pass. Before a finding is shown, its string is run as its reader will run it: by
`treadle replay`, in a fresh process (`replay_elsewhere`). What does not fail there says so; a test that no other one
can import (a notebook, a closure) was replayed in this process only.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from treadle.core.choice import MessageDelivered, StrandRuns
from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result, Verdict
from treadle.core.trail import Trail
from treadle.doors.explore.debug import ReplayEnded, make_debugger
from treadle.doors.explore.messages import loom_for
from treadle.doors.explore.told import complete
from treadle.messages.follow import FollowMessageTrail
from treadle.report.explanation import culprit
from treadle.report.fresh_process import run_python, usual_hash_seed
from treadle.search.replay import FollowTrail
from treadle.tasks.loom import TaskLoom
from treadle.threads.fine import fine_points
from treadle.threads.loom import MOST_STEPS, Loom
from treadle.threads.switching import mask_of

# For all replays of a finding: each is one execution, and most of its time goes into starting pytest.
_SECONDS = 60.0

# What the other process is asked for: an execution of the schedule, or a second one behind it.
_ASKED, _ONCE, _TWICE = "TREADLE_REPLAYING", "once", "twice"
_PASSES_THERE = "the same schedule passes there, so something besides the schedule decides (hash order, files, time)"
LEFT_BEHIND = "the second of two runs in a fresh process"
SHARED_THREAD = "a fresh process, where all strands share an OS thread"
# What is none of the schedule's doing, by where the replay was seen to fail: what ends the search, and its sentence.
_NOT_THE_SCHEDULE = {
    LEFT_BEHIND: (
        "repeated",
        "the test fails when it is run again in the same process, on a schedule that passes when it is the first "
        "one: what a run leaves behind decides",
    ),
    SHARED_THREAD: (
        "threads",
        "the test fails on a schedule that passes when each strand has an OS thread of its own: something that "
        "CPython keeps for each OS thread decides; explore it with TREADLE_STRANDS=threads in the environment",
    ),
}


def replay_trail(trail: Trail, run_test: Callable[[Trail], Result]) -> Result:
    """What `treadle replay` does with a trail of explore, class or schedule: its target is a test for pytest."""
    return run_test(trail)


def replay(trail: Trail | str, test: Callable[[], Any], *, source: Any = None, debug: bool = False) -> Result:
    """Run the execution that a trail describes. The result is FAILED when it shows the failure again.

    With `debug`, it is run once more afterwards, in a debugger that stops before its steps.
    """
    if isinstance(trail, str):
        trail = Trail.parse(trail)
    loom = _loom_of(trail, test, source)
    started = time.perf_counter()
    with loom, fine_points(loom) if "points" in trail.settings else nullcontext():
        for by_parts in (False, True):
            follow = _follower(trail)
            follow.by_parts = by_parts
            follow.begin()
            run = loom.run(follow, detail=True)
            findings = loom.judge(run)
            mismatch = follow.mismatch or ("" if findings else follow.left_over())
            if not mismatch:
                break
        if not findings and os.environ.get(_ASKED) == _TWICE:
            follow.begin()
            run = loom.run(follow, detail=True)
            findings = loom.judge(run)
        if mismatch:
            raise UsageError(
                f"the trail no longer fits {trail.target}: {mismatch}; the code on its way has changed since, "
                "explore the test again"
            )
        for finding in findings[:1]:
            finding.trail, finding.replay = trail, str(trail)
            complete(finding, run)
        if debug:
            _step_through(trail, loom, follow.by_parts, findings)
    return Result(
        target=trail.target,
        verdict=Verdict.FAILED if findings else Verdict.CUT,
        executions=1,
        exhaustive=False,
        strategy="replay",
        seconds=time.perf_counter() - started,
        findings=findings[:1],
        atomic_modules=sorted(loom.atomic),
        reason="the trail fails as recorded" if findings else "the trail runs to its end and no longer fails",
    )


def _step_through(trail: Trail, loom: Loom, by_parts: bool, findings: list[Finding]) -> None:
    """The same execution again, for a person who steps through it: that may take as long as it takes."""
    steps = findings[0].steps if findings else []
    pair = culprit(steps)
    clashing = [] if pair is None else [one for one in (pair.first, pair.between, pair.last) if one is not None]
    debugger = make_debugger([number for number, step in enumerate(steps) if any(step is one for one in clashing)])
    follow = _follower(trail)
    follow.by_parts, follow.before_step, follow.on_its_stack = by_parts, debugger.before_step, debugger.on_its_stack
    follow.begin()
    patience, loom.watch.patience = loom.watch.patience, math.inf
    try:
        loom.run(follow, detail=True)
    except ReplayEnded:
        pass
    finally:
        loom.watch.patience = patience


def _follower(trail: Trail) -> FollowTrail:
    if _in_messages(trail):
        return FollowMessageTrail(trail.only(StrandRuns, MessageDelivered))
    return FollowTrail(trail.only(StrandRuns))


def _in_messages(trail: Trail) -> bool:
    return bool(trail.settings.get("granularity") == "messages")


def _loom_of(trail: Trail, test: Callable[[], Any], source: Any) -> Loom:
    """The loom under which a trail was recorded."""
    if _in_messages(trail):
        return loom_for(trail.settings, test, source)
    return loom_with(trail.settings, test, source, trail.shared)


def loom_with(settings: dict[str, Any], test: Callable[[], Any], source: Any, shared: Iterable[str] | None) -> TaskLoom:
    """A loom as the settings of a trail tell it."""
    points = settings.get("points")
    return TaskLoom(
        test,
        source=source,
        instrument=tuple(settings.get("instrument", ())),
        timeouts=settings.get("timeouts", "idle"),
        clock=settings.get("clock", "still"),
        any_order=settings.get("any_order", False),
        cancel=settings.get("cancel", "never"),
        seed=settings.get("seed", 0),
        shared=shared,
        most_steps=settings.get("operations", MOST_STEPS),
        gil=mask_of(points) if isinstance(points, list) else 0,
    )


def replay_elsewhere(finding: Finding) -> None:
    """Run the finding's string as a reader would, and note in the finding what came of it."""
    if not finding.replay or finding.replayed:
        return
    if os.environ.get(_ASKED):  # this is the other process
        return
    until = time.monotonic() + _SECONDS
    on_threads = _differs(finding, _ONCE, until, "threads")
    why = on_threads and _differs(finding, _ONCE, until)
    if why == _PASSES_THERE and not _differs(finding, _TWICE, until):
        finding.replayed = LEFT_BEHIND
    elif why:
        finding.notes.append(f"the replay failed in this process, but not in a fresh one: {why}")
        finding.replayed = "this process"
    else:
        finding.replayed = SHARED_THREAD if on_threads == _PASSES_THERE else "a fresh process"


def without_untrusted(result: Result) -> None:
    """A failure that the schedule alone does not make is none, and what led to it no pass either."""
    found = [finding for finding in result.findings if finding.replayed in _NOT_THE_SCHEDULE]
    if not found:
        return
    result.findings = [finding for finding in result.findings if finding not in found]
    result.warnings += [replace(one, kind="not repeatable", message=f"{one.kind}: {one.message}") for one in found]
    if not result.findings:
        result.verdict = Verdict.CUT
        result.cut_by, result.reason = _NOT_THE_SCHEDULE[found[0].replayed]


def _differs(finding: Finding, times: str, until: float, strands: str = "") -> str:
    """Why a fresh process does not show the finding; empty when it does."""
    words = ["-m", "treadle", "replay", finding.replay, "--json"]
    environment = {_ASKED: times, "PYTEST_ADDOPTS": "", **({"TREADLE_STRANDS": strands} if strands else {})}
    try:
        done = run_python(
            words, seconds=max(1.0, until - time.monotonic()), environment=environment, hash_seed=usual_hash_seed()
        )
    except subprocess.TimeoutExpired:
        return f"it did not end in {_SECONDS:g} s"
    except OSError as error:
        return f"no other process could be started ({error.strerror or error})"
    try:
        found = json.loads(done.stdout)["findings"]
    except (ValueError, KeyError, TypeError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return lines[-1].removeprefix("treadle: ") if lines else f"it ended with exit code {done.returncode}"
    if not found:
        return _PASSES_THERE
    if found[0]["kind"] != finding.kind:
        return f"it shows another failure there ({found[0]['kind']}: {found[0]['message']})"
    return ""
