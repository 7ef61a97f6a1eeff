"""The main block of ABS models: all its runs that can matter, or one of them.

Composes the front end, the machine and the tree; decides the verdict.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from random import Random
from typing import Any

from treadle.abs.explore.cases import ActorCase, CaseWriter
from treadle.abs.explore.deadlock import DeadlockGoal
from treadle.abs.explore.replaying import Replay, Replayed, follow_main, known_machine, replayed
from treadle.abs.explore.tree import TreeExplorer, TreeLeaf
from treadle.abs.language import syntax as S
from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.model import Program
from treadle.abs.machine.criteria import (
    ENDLESS,
    REDUCTIONS,
    SELF_CALLS,
    SOUND_REDUCTIONS,
    Bounds,
    CriterionReached,
    EndlessLoop,
    OrderSelection,
    SelfCalls,
    TreeProgress,
)
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.state import ActorTask, State, TakenStep
from treadle.abs.machine.system import StartingState, find_method, main_root
from treadle.core.choice import TaskChosen
from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import LOOP_TURNS, Finding, Result, Step, Verdict
from treadle.core.trail import Trail
from treadle.doors.actor.case_trail import went_wrong
from treadle.doors.actor.generated import MAIN_BOUNDS, GeneratedCases
from treadle.doors.actor.loaded import AbsModel, split_target
from treadle.report.progress import many

MAIN_SECONDS = 60.0
# How many findings of one kind are worth telling.
_MOST_FINDINGS = 5
# Calls of an object on itself, each waiting for the next, that `run` follows: deeper than any that end.
_DEEPEST = 10_000


def explore_model(
    path: str,
    *,
    executions: int | None = None,
    seconds: float | None = None,
    reduce: str = "exact",
    tasks: int | None = None,
    actors: int | None = None,
    loop: int | None = None,
    goal: str = "",
    self_calls: SelfCalls = "at-once",
    **threads_only: Any,
) -> Result:
    """All runs of the main block that can matter, with the verdict of `treadle explore`.

    With the goal "deadlock" only executions that can still end in one are run: then the others say nothing.
    A main block of which every run comes into a loop that never ends is an error at that loop, one of which some runs
    do fails. Options of `explore` that are about threads (strategy, preemptions, delays, ...) are refused.
    """
    for option, value in threads_only.items():
        if (option, value) != ("strategy", "auto"):
            raise UsageError(f"--{option.replace('_', '-')} means nothing for an ABS model; leave it out")
    path = path.partition("::")[0]
    if not Path(path).is_file():
        raise UsageError(f"there is no file '{path}'")
    bounds = Bounds(
        MAIN_BOUNDS.loop,
        tasks if tasks is not None else MAIN_BOUNDS.tasks,
        actors if actors is not None else MAIN_BOUNDS.actors,
        0,
        loop if loop is not None else MAIN_BOUNDS.steps,
    )
    if reduce not in REDUCTIONS:
        raise UsageError(f"--reduce is one of {', '.join(REDUCTIONS)}, not '{reduce}'")
    if self_calls not in SELF_CALLS:
        raise UsageError(f"--self-calls is one of {', '.join(SELF_CALLS)}, not '{self_calls}'")
    model = AbsModel.load(path)
    machine = ActorMachine(model.image, bounds, OrderSelection(reduce=reduce, self_calls=self_calls), None)
    root = main_root(machine, model.program)
    explorer = TreeExplorer(machine, root.entry.key)
    if goal not in ("", "deadlock"):
        raise UsageError(f"--goal is 'deadlock', not '{goal}'")
    guide = DeadlockGoal(machine) if goal else None
    explorer.hopeless = guide.hopeless if guide is not None else None
    start = time.perf_counter()
    limit = seconds if seconds is not None else MAIN_SECONDS
    stopped: list[tuple[str, str]] = []  # by what, and in a sentence

    def carry_on(progress: TreeProgress) -> bool:
        if time.perf_counter() - start > limit:
            stopped.append(("seconds", f"{limit:g} seconds are over"))
        return not stopped

    explorer.on_state = carry_on
    writer = CaseWriter(machine, "values")
    findings: list[Finding] = []
    with deep_recursion():
        for leaf in explorer.leaves(root.state):
            if leaf.deadlock or leaf.state.failures():
                case = writer.case(root, leaf)
                _add_finding(findings, _finding(path, case, model))
            if executions is not None and explorer.progress.tests >= executions:
                said = f"{many(executions, 'execution')} {'was' if executions == 1 else 'were'} run"
                stopped.append(("executions", said))
                break
    if explorer.endless and not explorer.progress.tests and not stopped and guide is None:
        raise explorer.endless[0][2].error
    for where in explorer.endless:
        _add_finding(findings, _livelock(path, writer, root, *where))
    if explorer.refused and not findings:
        raise Unsupported(explorer.refused)
    result = _result(path, reduce, explorer, findings, stopped, time.perf_counter() - start, bounds)
    if result.verdict is Verdict.PASSED_EXHAUSTIVE and _varying_delay(model.program):
        result.verdict, result.exhaustive = Verdict.PASSED_WITHIN_BOUNDS, False
        result.bounds["delays longer than their least"] = 0
        result.reason = "each duration(least, most) was run at its least"
    if guide is not None:
        _towards_deadlock(result, guide, explorer.left, bool(stopped))
    return result


def _varying_delay(program: Any) -> bool:
    """Does a model say somewhere that a delay may be longer than its least?"""
    pending, seen = [program], set[int]()
    while pending:
        node = pending.pop()
        if isinstance(node, S.Delay) and node.varies:
            return True
        if isinstance(node, (list, tuple)):
            pending += node
        elif isinstance(node, dict):
            pending += node.values()
        elif is_dataclass(node) and id(node) not in seen:
            seen.add(id(node))
            pending += [getattr(node, one.name) for one in fields(node)]
    return False


def _towards_deadlock(result: Result, guide: DeadlockGoal, left: int, stopped: bool) -> None:
    """What a search for deadlocks says: nothing about other failures."""
    result.statistics |= {"candidates": [str(cycle) for cycle in guide.candidates], "left": left}
    result.exhaustive = False
    if result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE):
        result.verdict = Verdict.PASSED_WITHIN_BOUNDS
        result.reason = f"no deadlock; {left} branches that cannot lead to one were left, whatever else they do"
    elif not stopped and not result.executions and not result.bounds:
        result.verdict, result.reason = Verdict.PASSED_WITHIN_BOUNDS, "no execution can lead to a deadlock"


def _add_finding(findings: list[Finding], new: Finding) -> None:
    """One finding per different message: the other orders to it say nothing new."""
    if all(new.message != old.message for old in findings) and len(findings) < _MOST_FINDINGS:
        findings.append(new)


def _finding(path: str, case: ActorCase, model: AbsModel) -> Finding:
    """What went wrong in one run, with the trail that shows it again: its tasks in their order."""
    kind, message = went_wrong(case)
    order = " ".join(case.order)
    tasks = tuple(TaskChosen.parse(label) for label in case.order)
    trail = Trail(path, tasks, door="actor", kind=kind, message=message)
    told = f"order of tasks: {order}\n"
    repeats = _fails_again(model, tasks)
    return Finding(
        kind,
        message,
        replay=str(trail) if repeats else "",
        trail=trail,
        explanation=told + (f"run it alone: treadle run {path} --order '{order}'" if repeats else _NOT_AGAIN),
        steps=[_step(path, case, model.program, task) for task in tasks],
    )


def _livelock(
    path: str, writer: CaseWriter, root: StartingState, state: State, task: ActorTask, loop: EndlessLoop
) -> Finding:
    """A run whose last task comes into a loop that never ends."""
    reached = state.copy()
    reached.last = TakenStep(state.last, task, loop.picks)
    order = " ".join(writer.case(root, TreeLeaf(reached, False, [])).order)
    told = f"order of tasks: {order}\nrun it alone: treadle run {path} --order '{order}'"
    return Finding("livelock", f"a task never ends, {loop.place}: {loop.loop}: {ENDLESS}", explanation=told)


_NOT_AGAIN = "it did not fail when it was run again alone: an error of Treadle, please report it with the model"


def _fails_again(model: AbsModel, tasks: Sequence[TaskChosen]) -> bool:
    try:
        again = follow_main(known_machine(model.image), model.program, tasks)
    except (UsageError, CriterionReached):
        return False
    return again.deadlocked or bool(again.failures)


def _step(path: str, case: ActorCase, program: Program, task: TaskChosen) -> Step:
    """One task of the failing run, for machines."""
    cls = program.class_named(case.final[task.actor].cls)
    line = cls.own[task.method].at.line if cls is not None and task.method in cls.own else 0
    return Step(strand=task.actor, operation="runs", object=str(task), file=path, line=line, function=task.method)


# Each kind of cut: the bound in words, and the option that raises it.
_BOUNDS = {
    "loop": (LOOP_TURNS, "--loop raises it"),
    "task": ("task switches per actor", "--tasks raises it"),
    "actor": ("actors per program point", "--actors raises it"),
}


def _told(limits: dict[str, int], places: dict[str, str]) -> str:
    """The bounds that cut, each with the place where it did so first and the option that raises it."""
    told = []
    for kind, (what, raised) in _BOUNDS.items():
        if what in limits:
            beside = "; ".join(filter(None, (f"first at {places[kind]}" if kind in places else "", raised)))
            told.append(f"at most {limits[what]} {what}" + (f" ({beside})" if beside else ""))
    return " and ".join(told)


def _result(
    path: str,
    reduce: str,
    explorer: TreeExplorer,
    findings: list[Finding],
    stopped: list[tuple[str, str]],
    seconds: float,
    bounds: Bounds,
) -> Result:
    progress = explorer.progress
    cuts = progress.cuts
    cut = {
        "loop": (cuts.loop, bounds.loop if bounds.loop is not None else bounds.steps),
        "task": (cuts.task, bounds.tasks),
        "actor": (cuts.actor, bounds.actors),
    }
    limits = {_BOUNDS[kind][0]: limit for kind, (times, limit) in cut.items() if times and limit is not None}
    if findings:
        verdict, reason = Verdict.FAILED, explorer.refused
    elif stopped:
        verdict, reason = Verdict.CUT, stopped[0][1]
    elif progress.tests == 0:
        verdict = Verdict.CUT
        reason = f"every run was cut: {_told(limits, explorer.first_cuts)}"
    elif cuts.total():
        verdict, reason = (
            Verdict.PASSED_WITHIN_BOUNDS,
            f"{cuts.total()} branches were cut: {_told(limits, explorer.first_cuts)}",
        )
    elif reduce not in SOUND_REDUCTIONS:
        verdict, reason = Verdict.PASSED_WITHIN_BOUNDS, f"--reduce {reduce} can leave out orders that matter"
    elif progress.tests == 1 and progress.states == 1:
        verdict, reason = Verdict.NOTHING_TO_EXPLORE, "the main block ends without starting a task"
    else:
        verdict, reason = Verdict.PASSED_EXHAUSTIVE, ""
    return Result(
        target=path,
        model=True,
        verdict=verdict,
        executions=progress.tests,
        cut_by=stopped[0][0] if verdict is Verdict.CUT and stopped else "",
        exhaustive=verdict is Verdict.PASSED_EXHAUSTIVE
        or (bool(findings) and not (stopped or cuts.total() or explorer.refused)),
        strategy=f"reduce {reduce}",
        seconds=seconds,
        findings=findings,
        bounds=limits,
        reason=reason,
        statistics={"states": progress.states, "cuts": cuts.to_json(), "deadlocks": progress.deadlocks},
    )


def run_model(
    path: str,
    *,
    order: Sequence[TaskChosen | str] | None = None,
    seed: int | None = None,
    tasks: int | None = 100_000,
    loop: int | None = 10_000_000,
) -> Replayed:
    """Run the main block once: in the given order, at random with a seed, or always the first task that can run."""
    model = AbsModel.load(path)
    bounds = Bounds(None, None, None, 0, loop)
    machine = known_machine(model.image, bounds, "at-once" if order is None else "awaited")
    root = main_root(machine, model.program)
    chance = Random(seed) if seed is not None else None
    with deep_recursion():
        replay = Replay(machine, root.state, root.entry, {root.entry.this: "main"})
        if order is not None:
            for step in order:
                _step_of(replay, *replay.find(step))
            return replay.report()
        while runnable := replay.runnable():
            if tasks is not None and len(replay.order) >= tasks:
                said = f"the main block had not ended after {tasks} tasks; raise --tasks to go on, or give it an end"
                raise UsageError(f"{_place_of(runnable[0])}: {said}")
            if len(replay.order) % 1024 == 0:
                _check_depth(replay.state)
            runnable = replay.explorer.next_in_order(replay.state, runnable)
            _step_of(replay, chance.choice(runnable) if chance is not None else runnable[0])
        return replay.report()


def _place_of(task: ActorTask) -> str:
    """Where a task goes on: file, line and method."""
    return f"{task.code.file}:{task.code.lines[task.pc]}, {task.code.label}"


def _check_depth(state: State) -> None:
    """Calls of an actor on itself that never return would only use up memory."""
    for queue in state.queues.values():
        if len(queue) > _DEEPEST:
            callers = [task for task in queue if task.waiting is not None and task.waiting.stacked]
            if len(callers) > _DEEPEST:
                said = f"calls of an object on itself are nested more than {_DEEPEST} deep; let one of them return"
                raise UsageError(f"{_place_of(callers[-1])}: {said}")


def _step_of(replay: Replay, task: ActorTask, picks: tuple[int, ...] = ()) -> None:
    """One step of a run, which may come into a loop that does not end."""
    try:
        replay.run(task, picks)
    except EndlessLoop as loop:
        raise loop.error from None
    except CriterionReached as cut:
        turns = replay.machine.bounds.steps
        said = f"a task had made {turns} turns of loops and calls of functions in one step; raise --loop to go on"
        raise UsageError(f"{cut.at}: {said}, or give it an end") from None


def replay_case(made: GeneratedCases, case: ActorCase) -> Replayed:
    """A case run again, with the events for a picture."""
    path, name = split_target(made.target)
    model = AbsModel.load(path)
    machine = known_machine(model.image)
    if not name:
        return follow_main(machine, model.program, case.order)
    cls, method = find_method(model.program, name)
    again = replayed(machine, cls, method.name, case)
    if again is None:
        raise UsageError(f"{made.target} changed while its tests were drawn; run the command again")
    return again
