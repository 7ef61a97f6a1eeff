"""Running one saved execution of a test again: the replayer of every door whose trails are schedules of a test.

Keeps: the loom is the one under which the trail was recorded, with the same points; a trail that no longer fits says
where, and is never taken for a pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from treadle.core.choice import MessageDelivered, StrandRuns
from treadle.core.errors import UsageError
from treadle.core.result import Result, Verdict
from treadle.core.trail import Trail
from treadle.doors.explore.campaign import complete
from treadle.doors.explore.messages import loom_for
from treadle.messages.follow import FollowMessageTrail
from treadle.search.replay import FollowTrail
from treadle.threads.loom import Loom


def replay_trail(trail: Trail, run_test: Callable[[Trail], Result]) -> Result:
    """What `treadle replay` does with a trail of explore, class or schedule: its target is a test for pytest."""
    return run_test(trail)


def replay(trail: Trail | str, test: Callable[[], Any], *, source: Any = None) -> Result:
    """Run the execution that a trail describes. The result is FAILED when it shows the failure again."""
    if isinstance(trail, str):
        trail = Trail.parse(trail)
    loom = _loom_of(trail, test, source)
    started = time.perf_counter()
    with loom:
        follow = _follower(trail)
        follow.begin()
        run = loom.run(follow, detail=True)
        findings = loom.judge(run)
        mismatch = follow.mismatch or ("" if findings else follow.left_over())
        if mismatch:
            raise UsageError(
                f"the trail no longer fits {trail.target}: {mismatch}; the code on its way has changed since, "
                "explore the test again"
            )
        for finding in findings[:1]:
            finding.trail, finding.replay = trail, str(trail)
            complete(finding, run)
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


def _follower(trail: Trail) -> FollowTrail:
    if _in_messages(trail):
        return FollowMessageTrail(trail.only(StrandRuns, MessageDelivered))
    return FollowTrail(trail.only(StrandRuns))


def _in_messages(trail: Trail) -> bool:
    return bool(trail.settings.get("granularity") == "messages")


def _loom_of(trail: Trail, test: Callable[[], Any], source: Any) -> Loom:
    """The loom under which a trail was recorded."""
    settings = trail.settings
    if _in_messages(trail):
        return loom_for(settings, test, source)
    return Loom(
        test,
        source=source,
        instrument=tuple(settings.get("instrument", ())),
        timeouts=settings.get("timeouts", "idle"),
        seed=settings.get("seed", 0),
        shared=trail.shared,
    )
