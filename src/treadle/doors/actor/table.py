"""The cases of a method as a table for a person: inputs, order of tasks, what came out."""

from __future__ import annotations

from typing import IO, Any

from rich.table import Table

from treadle.abs.explore.cases import ActorCase, ObjectState
from treadle.doors.actor.case_trail import trail_of_case
from treadle.doors.actor.generated import GeneratedCases
from treadle.report.annotations import Annotation
from treadle.report.lines import Lines
from treadle.report.progress import count, many
from treadle.report.terminal import harmless

# More rows than this are a file's business, not a screen's.
MOST_ROWS = 25


def show(made: GeneratedCases, *, file: IO[str] | None = None, width: int | None = None, rows: int = MOST_ROWS) -> None:
    """Print the table and the summary below it."""
    out = Lines(file, width=width)
    if made.cases:
        table = Table(show_lines=True, pad_edge=False)
        for heading in ("#", "inputs", "order of tasks", "afterwards"):
            table.add_column(heading, overflow="fold")
        for number, case in enumerate(made.cases[:rows], 1):
            inputs = told_inputs(case)
            if made.style != "values":
                inputs += f"\nwhen {' and '.join(case.condition) or 'any'}"
            table.add_row(str(number), harmless(inputs), " ".join(case.order), harmless(told_afterwards(case)))
        out.print(table)
    if made.tests - made.rejected > min(rows, len(made.cases)):
        left = made.tests - made.rejected - min(rows, len(made.cases))
        out.say(f"... and {left} more: --cases N or all shows more, --json lists all, --write FILE makes tests")
    first, *more = summary(made)
    for line in (f"{made.target}: {first}", *more):
        out.say(line)
    failing = next((case for case in made.cases if case.outcome in ("failed", "deadlock")), None)
    if failing is not None and made.style == "values":
        out.say(f"replay: treadle replay '{trail_of_case(made.target, failing)}'", whole=True)


def summary(made: GeneratedCases) -> list[str]:
    """What was explored, what was cut and what that means."""
    cuts = made.cuts
    rate = f", {count(made.states / made.seconds)} a second" if made.seconds > 0.05 else ""
    lines = [
        f"{many(made.tests, 'test')}, {many(made.states, 'state')} in {made.seconds:.2f} s{rate}",
        f"bounds: {_bounds(made)}; cut: {cuts.loop} by loop, {cuts.task} by tasks, {cuts.actor} by actors",
    ]
    if made.tests:
        lines.append(_coverage(made))
    if made.endless:
        lines.append(f"some runs never end; {made.endless}")
    if made.refused:
        lines.append(f"some runs come to what is not executed, and no test says how they go on; {made.refused}")
    if made.deadlocks:
        lines.append(f"{many(made.deadlocks, 'test')} end{'s' * (made.deadlocks == 1)} in a deadlock")
    if made.bounds.queue:
        lines.append(f"methods tried in the queue: {', '.join(made.related) or 'none'}")
    if not made.selection.alias:
        lines.append("unknown references were taken to be different objects (--alias tries equal ones too)")
    if made.selection.objects == "likeliest" and made.selection.reduce != "none":
        lines.append(
            "where no actor is proved stable only the likeliest one was taken: orders that matter can be missing"
        )
    if made.unproved:
        branches = many(made.unproved, "branch", "branches")
        lines.append(f"{branches} could not be decided by the solver: kept as possible")
    if made.rejected:
        lines.append(f"{many(made.rejected, 'case')} did not repeat on known data: left out; please report this")
    if made.stopped:
        lines.append(f"the exploration did not finish: {made.stopped}")
    elif not made.tests:
        endless = made.cuts.loop and made.bounds.loop is None
        why = f"a loop had not ended after {made.bounds.steps} turns: give it an end, or say with -k how far to go"
        raised = [option for option, times in _raising(made) if times]
        cut = f"every branch was cut; raise {' or '.join(raised)}" if raised else "no branch has an end"
        lines.append(f"nothing was covered: {why if endless else cut}")
    return lines


def _raising(made: GeneratedCases) -> list[tuple[str, int]]:
    """The option that raises each bound, and how often that bound cut."""
    return [("-k", made.cuts.loop), ("--tasks", made.cuts.task), ("--actors", made.cuts.actor)]


def _coverage(made: GeneratedCases) -> str:
    covered = made.coverage
    pairs = covered.interleavings
    told = [f"covered: {covered.tasks} methods as tasks"]
    if covered.branches.of:
        told.append(f"{covered.branches} sides of branches")
    if pairs.pairs:
        told.append(f"{pairs.both_orders} of {pairs.pairs} pairs of tasks in both orders")
    return ", ".join(told) + (" (--json names what is missing)" if _missing(made) else "")


def _missing(made: GeneratedCases) -> bool:
    covered = made.coverage
    return bool(covered.tasks.missed or covered.branches.missed or covered.interleavings.one_order)


def _bounds(made: GeneratedCases) -> str:
    bounds = made.bounds
    told = [("loop", bounds.loop), ("tasks per actor", bounds.tasks), ("actors per program point", bounds.actors)]
    return ", ".join(f"{name} {'unlimited' if value is None else value}" for name, value in told)


def told_inputs(case: ActorCase) -> str:
    lines = [f"{name} = {_text(value)}" for name, value in case.arguments.items()]
    lines += [_object(name, obj) for name, obj in case.initial.items()]
    for item in case.queue:
        given = ", ".join(_text(v) for v in item["arguments"].values())
        lines.append(f"in the queue: {item['method']}({given})")
    return "\n".join(lines)


def _object(name: str, obj: ObjectState) -> str:
    return f"{name}: {obj.cls}({', '.join(f'{f} = {_text(v)}' for f, v in obj.fields.items())})"


def told_afterwards(case: ActorCase) -> str:
    lines = [_object(name, obj) for name, obj in case.final.items()]
    if case.result is not None:
        lines.append(f"returns {_text(case.result)}")
    lines += [f"fails: {what} in {where}" for what, where in zip(case.failures, case.failed_at, strict=True)]
    if case.outcome in ("deadlock", "waiting"):
        lines.append(f"{'DEADLOCK' if case.outcome == 'deadlock' else 'waits for ever'}: {'; '.join(case.waiting)}")
    return "\n".join(lines)


def _text(value: Any) -> str:
    return "null" if value is None else str(value)


def case_remarks(made: GeneratedCases) -> list[Annotation]:
    """What a machine is told: every case that fails, at the file of the model."""
    model = made.target.partition(".abs")[0] + ".abs"
    failing = [case for case in made.cases if case.outcome in ("failed", "deadlock")]
    return [
        Annotation(
            "error",
            case.outcome,
            f"{case.outcome}: {made.target}",
            f"{told_inputs(case)}\norder of tasks: {' '.join(case.order)}\n{told_afterwards(case)}",
            model,
        )
        for case in failing
    ]
