"""How the result of `treadle schedule` is told to a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from rich.console import Console
from rich.text import Text

from treadle.core.result import Finding, Verdict
from treadle.messages.result import ScheduleResult

_COLOUR = {Verdict.FAILED: "bold red", Verdict.PASSED_WITHIN_BOUNDS: "bold green"}


def show(result: ScheduleResult, *, file: IO[str] | None = None, saved: Sequence[str] = ()) -> None:
    """Print one result. `saved` names the files that hold the failing executions."""
    console = Console(file=file, highlight=False, soft_wrap=True)
    colour = _COLOUR.get(result.verdict, "bold yellow")
    console.print(Text.assemble((result.verdict.value, colour), f"  {result.target}", overflow="fold"))
    console.print(f"  {sentence(result)} [{result.seconds:.2f} s]", markup=False)
    console.print(f"  {facts(result)}", markup=False)
    for finding in result.findings:
        _show_finding(console, finding)
    for path in saved:
        console.print(f"  saved:  {path}", markup=False)
    for unfit in result.unfit[:3]:
        console.print(Text.assemble(("  did not fit: ", "yellow"), unfit))
    for warning in result.warnings[:5]:
        console.print(Text.assemble(("  warning: ", "yellow"), f"{warning.kind}: {warning.message}"))
    hint = advice(result)
    if hint:
        console.print(f"  next: {hint}", markup=False)


def sentence(result: ScheduleResult) -> str:
    """What the verdict says about the program, and nothing beyond it."""
    runs = f"{result.executions} execution{'s' * (result.executions != 1)}"
    if result.verdict is Verdict.FAILED:
        return f"a schedule that fails was found after {runs}"
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS:
        return f"no failure in {runs}; {result.reason}, other orders were not run"
    return f"no failure in {runs}: {result.reason}"


def facts(result: ScheduleResult) -> str:
    goals = ", ".join(f"{name} {one.covered} of {one.known}" for name, one in result.goals.items() if one.known)
    events = f"{result.events} event{'s' * (result.events != 1)}"
    actors = f"{result.actors} actor{'s' * (result.actors != 1)}"
    unfit = f", {result.infeasible} did not fit" if result.infeasible else ""
    schedules = f"{result.schedules} schedule{'s' * (result.schedules != 1)}"
    return f"{events} at {actors}, {schedules} generated{unfit}" + (f"; goals covered: {goals}" if goals else "")


def advice(result: ScheduleResult) -> str:
    if result.verdict is Verdict.CUT:
        return "raise --executions or --seconds, or name fewer criteria with --criteria PR"
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        return (
            "the test must send messages to an actor from two places that do not wait for each other; mailboxes of "
            "your own are named with treadle.actors.mailbox(queue, owner)"
        )
    return ""


def _show_finding(console: Console, finding: Finding) -> None:
    console.print()
    console.print(Text.assemble((f"  {finding.kind}: ", "bold"), finding.message))
    if finding.explanation:
        console.print()
        for line in finding.explanation.splitlines():
            console.print(f"    {line}".rstrip(), markup=False)
    console.print()
    if finding.builds is not None:
        console.print(f"  on: {finding.builds}", markup=False)
    if finding.replay:
        console.print(f"  replay: treadle replay '{finding.replay}'", markup=False)
