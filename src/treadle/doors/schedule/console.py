"""How the result of `treadle schedule` is told to a person."""

from __future__ import annotations

from collections.abc import Sequence

from treadle.core.result import Verdict
from treadle.messages.result import ScheduleResult
from treadle.report.console import show_finding
from treadle.report.lines import Lines
from treadle.report.progress import many

_AFTER_A_CUT = {
    "seconds": "raise --seconds, or name fewer criteria with --criteria PR",
    "executions": "raise --executions, or name fewer criteria with --criteria PR",
    "interrupted": "let it run to its end",
}
_COLOUR = {Verdict.FAILED: "bold red", Verdict.PASSED_WITHIN_BOUNDS: "bold green"}


def show(result: ScheduleResult, *, saved: Sequence[str] = ()) -> None:
    """Print one result. `saved` names the files that hold the failing executions."""
    out = Lines()
    out.say((result.verdict.value, _COLOUR.get(result.verdict, "bold yellow")), f"  {result.target}")
    out.say(f"{sentence(result)} [{result.seconds:.2f} s]", indent=2)
    out.say(facts(result), indent=2)
    for finding in result.findings:
        show_finding(out, finding)
    for path in saved:
        out.say(f"saved:  {path}", indent=2, whole=True)
    for unfit in result.unfit[:3]:
        out.say(("did not fit: ", "yellow"), unfit, indent=2)
    for warning in result.warnings[:5]:
        out.say(("warning: ", "yellow"), f"{warning.kind}: {warning.message}", indent=2)
    hint = advice(result)
    if hint:
        out.say(f"next: {hint}", indent=2)


def sentence(result: ScheduleResult) -> str:
    """What the verdict says about the program, and nothing beyond it."""
    runs = many(result.executions, "execution")
    if result.verdict is Verdict.FAILED:
        return f"a schedule that fails was found after {runs}"
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS:
        return f"no failure in {runs}; {result.reason}, other orders were not run"
    return f"no failure in {runs}: {result.reason}"


def facts(result: ScheduleResult) -> str:
    goals = ", ".join(f"{name} {one.covered} of {one.known}" for name, one in result.goals.items() if one.known)
    extent = f"{many(result.events, 'event')} at {many(result.actors, 'actor')}"
    unfit = f", {result.infeasible} did not fit" if result.infeasible else ""
    return f"{extent}, {many(result.schedules, 'schedule')} generated{unfit}" + (
        f"; goals covered: {goals}" if goals else ""
    )


def advice(result: ScheduleResult) -> str:
    if result.verdict is Verdict.CUT:
        return _AFTER_A_CUT.get(result.cut_by, "")
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        return (
            "the test must send messages to an actor from two places that do not wait for each other; mailboxes of "
            "your own are named with treadle.actors.mailbox(queue, owner)"
        )
    return ""
