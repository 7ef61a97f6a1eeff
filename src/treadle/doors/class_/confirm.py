"""From a witness to a fault: its schedule is run again, with the fewest preemptions, and told.

Also finds out whose mistake it is: the functions whose accesses no lock protects from the other thread. Findings that
have such a function in common are effects of one race.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from treadle.classes.interleavings import InterleavingExplorer, Witness
from treadle.classes.linearizability import Outcome, judge
from treadle.classes.result import Fault, what_happened
from treadle.classes.serializability import races, walks
from treadle.classes.stage import Stage, Test
from treadle.core.choice import CallComes
from treadle.core.operation import ACQUIRE, RELEASE, TRY
from treadle.core.result import Step
from treadle.core.trail import Trail
from treadle.doors.explore.check import tasks_settings
from treadle.report.explanation import clash, explain
from treadle.search.replay import FollowSteps, strand_runs
from treadle.search.shrink import shrink_schedule
from treadle.search.strategy import ExecutionSeen, StrandSeen
from treadle.tasks.environment import IN_TEST
from treadle.threads.execution import Execution
from treadle.threads.possible_switches import versions_that_can


def confirm(stage: Stage, explorer: InterleavingExplorer, witness: Witness) -> Fault | None:
    """Run the schedule of a witness again, and keep it as the explanation; None when it does not show it again."""
    test = witness.test
    steps = _shortest(stage, witness)
    if steps is None:
        return None
    follow = _FollowSeen(steps) if stage.subject.in_tasks else FollowSteps(steps)
    follow.begin()
    stage.tell = True
    try:
        outcome, run = stage.run_test(test, follow, detail=True)
        told = explorer.orders(test)
    finally:
        stage.tell = False
    if outcome is None or told is None or not _shows(outcome, witness):
        return None
    witness.outcome, witness.orders, witness.schedule = outcome, told, steps
    methods = list(dict.fromkeys(call.method for calls in test.threads for call in calls))
    fault = Fault(witness.violation.kind, what_happened(witness), methods, [], witness, steps=list(run.detail or []))
    names = stage.strand_names
    shown = stage.steps_of(run)
    _blame(fault, shown, run)
    settings: dict[str, Any] = {"instrument": list(stage.subject.packages)}
    if stage.loom.seed:
        settings["seed"] = stage.loom.seed
    if stage.subject.in_tasks:
        settings |= tasks_settings(True, IN_TEST if test.cancels else "never")
    choices = (*_calls(test), *strand_runs(run, follow))
    fault.trail = Trail(stage.subject.target, choices, "class", settings, kind=fault.kind, message=fault.message)
    traces = [[op for i, op in run.trace if i == run.indexes[name]] for name in names]
    fault.racy = stage.subject.in_tasks or races(traces[0], traces[1])  # steps of tasks hold no locks
    fault.weak = any(walks(trace, name) for trace, name in zip(traces, names, strict=True))
    stuck = [one for one in run.stuck if one.strand in names]
    fault.explanation = explain(shown, waiting=stuck)
    besides = stage.told_besides(run)
    fault.explanation += f"\n\n{besides}" if besides else ""
    return fault


class _FollowSeen(FollowSteps):
    """Steps of tasks, with details: a step that was one is as many as it has accesses. Where nobody else can go on, the
    one who can is still in its step, and the next of the list is still to come."""

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = list(run.enabled())
        wanted = self.steps[self.position] if self.position < len(self.steps) else ""
        if self.taken and [one.treadle_name for one in enabled] == [self.taken[-1]] != [wanted]:
            self.taken.append(self.taken[-1])
            return enabled[0]
        return super().pick(run)


def _shortest(stage: Stage, witness: Witness) -> list[str] | None:
    """The schedule with the fewest preemptions that still shows the violation."""

    def attempt(steps: list[str]) -> tuple[list[str], tuple[int, int, int]] | None:
        follow = FollowSteps(steps)
        follow.begin()
        outcome, run = stage.run_test(witness.test, follow, detail=bool(stage.gil))
        if allowed and not versions_that_can(run) & allowed:
            return None
        return (follow.taken, follow.cost) if outcome is not None and _shows(outcome, witness) else None

    allowed = stage.gil
    first = attempt(witness.schedule)
    if first is None and allowed:  # the steps do not tell where it may switch: that is found out later
        allowed = 0
        first = attempt(witness.schedule)
    return None if first is None else shrink_schedule(first, attempt, most=150)[0]


def _shows(outcome: Outcome, witness: Witness) -> bool:
    found = judge(outcome, witness.orders, values=not witness.test.cancels)
    return found is not None and replace(witness, violation=found).effect == witness.effect


def _calls(test: Test) -> list[CallComes]:
    """What is called, in order: before the threads, then in each of them."""
    found = [CallComes(str(call)) for call in (test.root, *test.alpha)]
    return found + [CallComes(str(call), thread) for thread, calls in enumerate(test.threads, 1) for call in calls]


# ---------------------------------------------------------------------- whose mistake it is


def _blame(fault: Fault, shown: list[Step], run: Execution) -> None:
    """Where it happens, and the functions that are at fault."""
    if run.stuck:
        stacks = [one.stack[0] for one in run.stuck if one.stack]
        fault.locations = list(dict.fromkeys(f"{file}:{line}" for file, line, _ in stacks))
        fault.race = frozenset(f"stuck {place}" for place in fault.locations)
        return
    pair = clash(shown)
    if pair is None:
        fault.race = frozenset({" || ".join(sorted(fault.methods))})
        return
    parts = [part for part in (pair.first, pair.between, pair.last) if part is not None]
    fault.locations = list(dict.fromkeys(f"{part.file}:{part.line}" for part in parts))
    held = _locks_held(shown)
    mine, theirs = [part for part in parts if part is not pair.between], [pair.between]
    # what holds over all of a side's accesses; a lock that is given back in between protects nothing
    kept = frozenset.intersection(*(held[id(part)] for part in mine))
    taken = held[id(pair.between)]
    at_fault = theirs if kept and not taken else mine if taken and not kept else parts
    fault.race = frozenset(f"{part.file}:{part.function}" for part in at_fault)
    if bool(kept) != bool(taken):
        names = " and ".join(dict.fromkeys(_place(part) for part in at_fault))
        other = parts[0] if at_fault is theirs else pair.between
        fault.blame = f"{names} is not under the lock that {other.function} holds"


def _place(step: Step) -> str:
    return f"{step.function} ({PurePath(step.file).name}:{step.line})"


def _locks_held(steps: Sequence[Step]) -> dict[int, frozenset[tuple[object, int]]]:
    """The acquisitions in force at each step, by the step's id: each is a lock and when it was taken."""
    held: dict[str, dict[object, int]] = {}
    found: dict[int, frozenset[tuple[object, int]]] = {}
    for number, step in enumerate(steps):
        kind, name, _ = step.performed
        mine = held.setdefault(step.strand, {})
        if kind in (ACQUIRE, TRY):
            mine.setdefault(name, number)
        elif kind == RELEASE:
            mine.pop(name, None)
        found[id(step)] = frozenset(mine.items())
    return found
