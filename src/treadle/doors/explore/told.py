"""What a finding and a verdict tell of executions: their steps, the explanation, the places where strands met."""

from __future__ import annotations

import os

from treadle.core.dependency import dependent
from treadle.core.operation import Operation, location, parts, verb
from treadle.core.result import Finding, Step
from treadle.report import message_sequence
from treadle.report.explanation import explain
from treadle.report.raised import raised_at
from treadle.threads.detail import hide_own_frames
from treadle.threads.execution import Execution
from treadle.threads.outcome import message_of


def same_failure(one: Finding, other: Finding) -> bool:
    """Do two executions fail in the same way?"""
    return one.kind == other.kind and type(one.exception) is type(other.exception)


def complete(finding: Finding, run: Execution) -> Finding:
    """Add the steps and the explanation of the execution that shows a finding."""
    detail: list[Step] = list(run.detail or [])
    finding.steps = run.shown(detail)
    finding.started = _started(finding.steps, detail, run)
    finding.waiting = list(run.stuck)
    finding.notes += [note for note in _ended_threads(finding, run) if note not in finding.notes]
    if finding.exception is not None:
        hide_own_frames(finding.exception)
    journal = getattr(run, "journal", None)
    if journal is not None:  # an actor program: its messages tell more than its operations
        finding.explanation = message_sequence.text(journal.receives())
        return finding
    raised = raised_at(finding)
    finding.explanation = explain(finding.steps, waiting=run.stuck, raised=raised)
    if getattr(run, "out_of_order", False):
        finding.out_of_order = True
        finding.explanation += (
            "\nThis needs any_order: steps of tasks ran in an order that asyncio does not choose by itself."
        )
    return finding


def _ended_threads(finding: Finding, run: Execution) -> list[str]:
    """What ended threads before the failure that is told, which is often why."""
    return [
        f"{strand.treadle_name} had ended with {strand.failure_text or message_of(error)}"
        for strand in run.strands
        if strand.index > 0 and (error := strand.exception) is not None and error is not finding.exception
    ]


def common_steps(one: list[str], other: list[str]) -> int:
    """How many steps two schedules have in common from the start."""
    return next((n for n, (mine, its) in enumerate(zip(one, other, strict=False)) if mine != its), len(one))


def _started(shown: list[Step], detail: list[Step], run: Execution) -> dict[str, int]:
    """Behind which of the shown steps each strand was started, where its maker's step is among them."""
    places = {id(step): number for number, step in enumerate(shown)}
    made = {strand.treadle_name: run.spawned.get(strand.index, -1) for strand in run.strands}
    found = {name: detail[at] for name, at in made.items() if 0 <= at < len(detail)}
    return {name: places[id(step)] for name, step in found.items() if id(step) in places and step.strand != name}


def by_operation(steps: list[str], sizes: list[int]) -> list[str]:
    """A schedule in single operations, from one whose steps have several."""
    sizes = sizes + [1] * (len(steps) - len(sizes))
    return [strand for strand, size in zip(steps, sizes, strict=False) for _ in range(size)]


def race_told(first: Operation, second: Operation) -> str:
    """Two operations that were run in both orders, by the place where they meet."""
    pairs = ((one, other) for one in parts(first) for other in parts(second) if dependent(one, other))
    one, other = next(pairs, (first, second))
    return f"{location(one)}: {verb(one)}, then {verb(other)}"


def place_told(file: str, line: int) -> str:
    """A line, as a sentence names it."""
    return f"{os.path.basename(file)}:{line}"
