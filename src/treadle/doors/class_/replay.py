"""Running a fault of a class again: by the test that shows it, or, where there is none, on the stage.

The trail of a fault without a test holds its calls with their values as source (`settings`: `test`, and how the object
is made), so that running it again runs that source. The schedule is followed, and what comes out is judged against all
orders of the calls, as when it was found.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from treadle.classes.calls import Argument, MethodCall, Namespace, Value
from treadle.classes.descriptors import examine_use
from treadle.classes.in_tasks import stage_of
from treadle.classes.interleavings import InterleavingExplorer, Witness
from treadle.classes.linearizability import judge
from treadle.classes.result import Fault, Options, message
from treadle.classes.stage import Test
from treadle.classes.subject import find_class, import_module
from treadle.core.choice import StrandRuns
from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result
from treadle.core.trail import Trail
from treadle.doors.replay import result_of
from treadle.report.explanation import explain
from treadle.search.replay import FollowTrail


def staged(fault: Fault, options: Options) -> str:
    """The string that shows a fault again without a test; empty where its schedule was not kept."""
    if fault.trail is None:
        return ""
    packages = [*fault.trail.settings.get("instrument", ()), *options.instrument]
    settings = {**fault.trail.settings, "instrument": list(dict.fromkeys(packages))}
    settings["test"] = json.dumps(asdict(fault.witness.test))
    if options.setup_import:
        settings["setup"] = [str(options.setup_folder or ""), options.setup_import, options.setup_call]
    return str(replace(fault.trail, settings=settings))


def replay_trail(trail: Trail, run_test: Callable[[Trail], Result]) -> Result:
    """What `treadle replay` does with a trail of a class."""
    if "test" not in trail.settings:
        return run_test(trail)
    started = time.perf_counter()
    finding = _on_stage(trail, _read(trail.settings["test"], trail.target))
    return result_of(trail, finding, started, "the calls run to their end, as in some order of them")


def _on_stage(trail: Trail, test: Test) -> Finding | None:
    target, settings = trail.target, trail.settings
    subject = examine_use(target, find_class(target) if ":" in target else import_module(target))
    schedule = [choice for choice in trail.choices if isinstance(choice, StrandRuns)]
    setup = factory(*settings["setup"]) if "setup" in settings else None
    with stage_of(subject, setup, settings.get("seed", 0), settings.get("instrument", ())) as stage:
        stage.tell = True
        orders = InterleavingExplorer(stage).orders(test) or []
        follow = FollowTrail(schedule)
        follow.begin()
        outcome, run = stage.run_test(test, follow, detail=True)
        violation = judge(outcome, orders) if outcome is not None else None
        mismatch = follow.mismatch or ("" if violation is not None else follow.left_over())
        if mismatch:
            raise UsageError(
                f"the trail no longer fits {target}: {mismatch}; the code on its way has changed since, "
                f"run treadle class {target} again"
            )
        if violation is None or outcome is None:
            return None
        said = message(Witness(test, violation, outcome, orders, []))
        shown = stage.steps_of(run)
        stuck = [one for one in run.stuck if one.strand in stage.strand_names]
        told = explain(shown, waiting=stuck)
    return Finding(violation.kind, said, str(trail), told, steps=list(run.detail or []), trail=trail, waiting=stuck)


def factory(folder: str, line: str, call: str) -> Callable[[], Any]:
    """The factory of --setup, made again: from the import and the call that a written test has."""
    if folder and folder not in sys.path:
        if not Path(folder).is_dir():
            raise UsageError(f"the factory of this trail lies in '{folder}', which is not there")
        sys.path.insert(0, folder)
    return Namespace((line,)).function(f"lambda: {call}")


def _read(text: str, target: str) -> Test:
    """The test that `staged` has written down."""
    try:
        found = json.loads(text)
        return Test(
            _call(found["root"]),
            tuple(map(_call, found["alpha"])),
            tuple(tuple(map(_call, calls)) for calls in found["threads"]),
            tuple(map(_call, found["omega"])),
            tuple(map(_call, found["later"])),
            tuple(found["fields"]),
            bool(found.get("cancels")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"the calls in this trail of {target} are damaged; copy the whole string") from error


def _call(found: Mapping[str, Any]) -> MethodCall:
    arguments = tuple(
        Argument(Value(one["value"]["source"], tuple(one["value"]["needs"])), one["name"]) for one in found["arguments"]
    )
    return MethodCall(found["method"], found["form"], arguments, found["expression"], tuple(found["needs"]))
