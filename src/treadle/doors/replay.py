"""One replay for every door: who runs a trail again.

A door that leaves trails behind has a line here: the module in which

    def replay_trail(trail: Trail, run_test: Callable[[Trail], Result]) -> Result

runs the execution that the trail describes once more. The result is FAILED when it shows what it showed; a trail that
no longer fits the program is a `UsageError`. `run_test` runs the pytest test that the trail's target names along the
trail; doors whose targets are not tests do not need it. Modules are imported when they are asked for: some need extras.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result, Verdict
from treadle.core.trail import Trail

REPLAYERS: Final[dict[str, str]] = {
    "explore": "treadle.doors.explore.replay",
    "class": "treadle.doors.class_.replay",
    "schedule": "treadle.doors.explore.replay",
    "actor": "treadle.doors.actor.replay",
    "unit": "treadle.doors.unit.replay",  # gives the case of a path in place of a result
}


def replayer_of(trail: Trail) -> str:
    """The module that runs a trail again."""
    if trail.door not in REPLAYERS:
        raise UsageError(
            f"this trail of {trail.target} was made by 'treadle {trail.door}', whose trails this version of Treadle "
            f"cannot run again; it can run those of: {', '.join(REPLAYERS)}"
        )
    return REPLAYERS[trail.door]


def result_of(trail: Trail, finding: Finding | None, started: float, otherwise: str) -> Result:
    """The result of one replay; `otherwise` says what came out where it does not fail."""
    return Result(
        target=trail.target,
        verdict=Verdict.FAILED if finding is not None else Verdict.CUT,
        executions=1,
        exhaustive=False,
        strategy="replay",
        seconds=time.perf_counter() - started,
        findings=[finding] if finding is not None else [],
        reason="" if finding is not None else otherwise,
    )


def file_from_here(path: str, target: str) -> str:
    """The file of a target, seen from here: targets are written from the root of the project."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if os.path.isfile(folder / path):
            return str(folder / path) if folder != Path.cwd() else path
    raise UsageError(f"this trail belongs to {target}, but there is no file '{path}' here or in a folder above")


def test_from_here(target: str) -> str:
    """The test of a target, seen from here."""
    path, mark, names = target.partition("::")
    if not mark:
        raise UsageError(
            f"this trail belongs to '{target}', which is not a test in a file; "
            "replay it where it was found, with treadle.replay(string, function)"
        )
    return f"{file_from_here(path, target)}::{names}"
