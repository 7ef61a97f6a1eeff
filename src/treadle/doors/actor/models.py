"""The actor door on ABS models: explore a method with unknown inputs, explore the main block, run it once.

Composes the front end, the machine and the tree; decides the verdicts and which cases are worth keeping. Every concrete
case is run again on known data before it is handed out, and is dropped (and counted) if it does not do what it says.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

from treadle.abs.explore.cases import ActorCase, CaseWriter, Style
from treadle.abs.explore.coverage import ActorCoverage, CoverageCounter
from treadle.abs.explore.deadlock import DeadlockGoal
from treadle.abs.explore.related import related
from treadle.abs.explore.replaying import Replay, Replayed, follow_main, known_machine, replayed
from treadle.abs.explore.tree import TreeExplorer, TreeLeaf, TreeNode
from treadle.abs.language import syntax as S
from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.load import load
from treadle.abs.language.model import Program
from treadle.abs.machine.code import Code
from treadle.abs.machine.criteria import (
    REDUCTIONS,
    SELF_CALLS,
    SOUND_REDUCTIONS,
    Bounds,
    CriterionReached,
    Cuts,
    OrderSelection,
    SelfCalls,
    TreeProgress,
)
from treadle.abs.machine.machine import ActorMachine, Image
from treadle.abs.machine.statements import compile_program
from treadle.abs.machine.system import Root, check_can_be_unknown, find_method, main_root, unknown_root
from treadle.core.choice import TaskChosen
from treadle.core.errors import UsageError
from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.core.result import Finding, Result, Step, Verdict
from treadle.core.trail import Trail
from treadle.core.verdict import EXIT_FAILED, EXIT_NOT_A_PASS, EXIT_PASSED
from treadle.doors.actor.case_trail import trail_of_case, went_wrong
from treadle.report.progress import many

# Unknown integers range over this much by default: the published figures were counted with it.
DOMAIN = (-10, 10)
# Bounds of `explore` on a main block: far beyond what a model that ends needs, so that one that does not is cut.
MAIN_BOUNDS = Bounds(loop=None, tasks=200, actors=100, steps=100_000)
MAIN_SECONDS = 60.0
# How many findings of one kind are worth telling.
_MOST_FINDINGS = 5


@dataclass(slots=True)
class GeneratedCases(JsonForm):
    """What exploring one method gave."""

    target: str
    cases: list[ActorCase]
    states: int
    cuts: Cuts
    deadlocks: int
    seconds: float
    bounds: Bounds
    selection: OrderSelection = field(metadata=in_json_as("*"))
    style: Style = field(default="values", metadata=NOT_IN_JSON)
    tests: int = 0
    assertions: int = field(default=0, metadata=NOT_IN_JSON)  # tests in which an ABS assertion fails
    processor_seconds: float = field(default=0.0, metadata=NOT_IN_JSON)
    # why the exploration ended early, "" when it did not
    stopped: str = field(default="", metadata=in_json_as("stopped", lambda why: why or None))
    unproved: int = 0  # branches the solver could not decide, kept as possible
    rejected: int = 0  # cases that did not do again what they say
    related: list[str] = field(default_factory=list)  # methods worth having in the queue
    coverage: ActorCoverage = field(default_factory=ActorCoverage)  # of all tests, told or not
    tree: TreeNode | None = field(default=None, metadata=NOT_IN_JSON)

    @property
    def exit_code(self) -> int:
        """0 tests were found, 1 one shows a failed assertion or a deadlock, 3 nothing was found or time ran out."""
        if self.deadlocks or self.assertions:
            return EXIT_FAILED
        return EXIT_NOT_A_PASS if self.stopped or not self.tests else EXIT_PASSED

    def to_json(self) -> dict[str, Any]:
        facts = JsonForm.to_json(replace(self, cases=[]))
        facts["cases"] = [self._case_in_json(case) for case in self.cases]
        return facts

    def json_pieces(self) -> Iterator[str]:
        """The same as text, case by case: a hundred thousand cases are never in memory twice."""
        for number, (name, value) in enumerate(JsonForm.to_json(replace(self, cases=[])).items()):
            yield f"{', ' if number else '{'}{json.dumps(name)}: "
            if name != "cases":
                yield json.dumps(value)
                continue
            yield "["
            for place, case in enumerate(self.cases):
                yield (", " if place else "") + json.dumps(self._case_in_json(case))
            yield "]"
        yield "}"

    def _case_in_json(self, case: ActorCase) -> dict[str, Any]:
        """Cases that are told in values can be replayed."""
        if self.style == "values" and not case.replay:
            case = replace(case, replay=str(trail_of_case(self.target, case)))
        return case.to_json()


@dataclass(slots=True)
class AbsModel:
    """A loaded and compiled ABS file."""

    path: str
    program: Program
    image: Image

    @classmethod
    def load(cls, path: str | Path) -> AbsModel:
        with deep_recursion():
            program = load(path)
            return cls(str(path), program, compile_program(program))

    @staticmethod
    def load_once(path: Path) -> AbsModel:
        """The model of a file, loaded again only when the file has changed."""
        return _loaded(path.resolve(), path.stat().st_mtime_ns)


@lru_cache(maxsize=16)
def _loaded(path: Path, changed: int) -> AbsModel:
    return AbsModel.load(path)


def split_target(target: str) -> tuple[str, str]:
    """`model.abs:Class.method` or `model.abs`."""
    path, colon, name = target.rpartition(":")
    if not colon or not path.endswith(".abs"):
        path, name = target, ""
    if not path.endswith(".abs"):
        raise UsageError(
            f"'{target}' is no ABS model; write model.abs:Class.method (actors in Python: `treadle schedule` for the "
            "orders of their messages, `treadle unit` for a function with unknown inputs)"
        )
    if not Path(path).is_file():
        raise UsageError(f"there is no file '{path}'")
    return path, name


def generate(
    target: str,
    *,
    bounds: Bounds | None = None,
    selection: OrderSelection | None = None,
    domain: tuple[int, int] | None = DOMAIN,
    style: Style = "values",
    seconds: float | None = None,
    states: int | None = None,
    record: bool = False,
    keep: int | None = None,
    pruning: int = 3,
    on_progress: Callable[[TreeProgress], None] | None = None,
) -> GeneratedCases:
    """Explore `model.abs:Class.method` with unknown inputs; without a method, the main block.

    `keep` limits how many cases are written out (all are counted); `record` keeps the tree for a picture; `pruning`
    says which methods are tried in the queue (`related`).
    """
    selection = selection or OrderSelection()
    if selection.reduce not in REDUCTIONS:
        raise UsageError(f"--reduce is one of {', '.join(REDUCTIONS)}, not '{selection.reduce}'")
    path, name = split_target(target)
    model = AbsModel.load(path)
    if not name:
        bounds = bounds or MAIN_BOUNDS
    bounds = bounds or Bounds()
    machine = ActorMachine(model.image, bounds, selection, domain if name else None)
    roots, chosen = _roots(machine, model, name, bounds, pruning)
    start, busy = time.perf_counter(), time.process_time()
    made = GeneratedCases(target, [], 0, Cuts(), 0, 0.0, bounds, selection, style, related=chosen)
    writer = CaseWriter(machine, style)
    covered = CoverageCounter(model.image, _starting_code(roots))
    walk = _walk(machine, roots, start, seconds, states, record, on_progress, made)
    try:
        with deep_recursion():
            for root, leaf in walk:
                covered.add(leaf.state)
                failed = leaf.state.failures()
                made.assertions += any(exception[0].name == "AssertionFailException" for exception in failed)
                if keep is None or len(made.cases) < keep:
                    case = writer.case(root, leaf)
                    if style == "values" and not _verified(machine, root, case, bool(name)):
                        made.rejected += 1
                    else:
                        made.cases.append(case)
    except KeyboardInterrupt:
        made.stopped = "stopped by the user"
    finally:
        walk.close()
    made.coverage = covered.figures()
    made.seconds = time.perf_counter() - start
    made.processor_seconds = time.process_time() - busy
    made.unproved = machine.paths.counts["unknown"]
    return made


def _roots(
    machine: ActorMachine, model: AbsModel, name: str, bounds: Bounds, pruning: int
) -> tuple[list[Root], list[str]]:
    """The starting states: one, or one per collection of up to `queue` related methods behind the entry."""
    if not name:
        return [main_root(machine, model.program)], []
    cls, method = find_method(model.program, name)
    check_can_be_unknown(machine, cls, method)
    chosen = related(model.image, cls, method.name, pruning)
    roots = []
    for size in range(bounds.queue + 1):
        for queue in combinations_with_replacement(chosen, size):
            roots.append(unknown_root(machine, cls, method.name, queue))
    return roots, chosen


def _starting_code(roots: list[Root]) -> list[Code]:
    """What the starting states have in their queues: the method under test and those behind it, or the main block."""
    return list(dict.fromkeys(task.code for root in roots for q in root.state.queues.values() for task in q))


def _walk(
    machine: ActorMachine,
    roots: list[Root],
    start: float,
    seconds: float | None,
    states: int | None,
    record: bool,
    on_progress: Callable[[TreeProgress], None] | None,
    made: GeneratedCases,
) -> Generator[tuple[Root, TreeLeaf], None, None]:
    """The leaves below all roots; what was counted is added up even when the caller stops early."""
    for root in roots:
        explorer = TreeExplorer(machine, root.entry.key)
        if record:
            explorer.tree = made.tree or TreeNode("start")
            made.tree = explorer.tree
        before = made.states

        def carry_on(progress: TreeProgress, before: int = before) -> bool:
            if progress.states & 255:
                return True
            if on_progress is not None:
                on_progress(progress)
            if seconds is not None and time.perf_counter() - start > seconds:
                made.stopped = f"{seconds:g} seconds are over"
            if states is not None and before + progress.states >= states:
                made.stopped = f"{states} states were reached"
            return not made.stopped

        explorer.on_state = carry_on
        try:
            for leaf in explorer.leaves([root.state]):
                yield root, leaf
        finally:
            progress = explorer.progress
            made.states += progress.states
            made.tests += progress.tests
            made.deadlocks += progress.deadlocks
            for kind in ("loop", "task", "actor"):
                setattr(made.cuts, kind, getattr(made.cuts, kind) + getattr(progress.cuts, kind))
        if made.stopped:
            return


def _verified(machine: ActorMachine, root: Root, case: ActorCase, is_method: bool) -> bool:
    if not is_method:
        case.verified = True
        return True
    again = replayed(machine, root.entry.this.cls, root.entry.code.name, case)
    case.verified = again is not None and again.same_as(case)
    return case.verified


# ---------------------------------------------------------------------------------------------------------
# the main block


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
    Options of `explore` that are about threads (strategy, preemptions, delays, ...) are refused.
    """
    for option, value in threads_only.items():
        if (option, value) != ("strategy", "auto"):
            raise UsageError(f"--{option.replace('_', '-')} means nothing for an ABS model; leave it out")
    path = path.partition("::")[0]
    if not Path(path).is_file():
        raise UsageError(f"there is no file '{path}'")
    bounds = Bounds(
        loop if loop is not None else MAIN_BOUNDS.loop,
        tasks if tasks is not None else MAIN_BOUNDS.tasks,
        actors if actors is not None else MAIN_BOUNDS.actors,
        0,
        MAIN_BOUNDS.steps,
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
        if progress.states & 255 == 0 and time.perf_counter() - start > limit:
            stopped.append(("seconds", f"{limit:g} seconds are over"))
        return not stopped

    explorer.on_state = carry_on
    writer = CaseWriter(machine, "values")
    findings: list[Finding] = []
    with deep_recursion():
        for leaf in explorer.leaves([root.state]):
            if leaf.deadlock or leaf.state.failures():
                case = writer.case(root, leaf)
                _add_finding(findings, _finding(path, case, model))
            if executions is not None and explorer.progress.tests >= executions:
                said = f"{many(executions, 'execution')} {'was' if executions == 1 else 'were'} run"
                stopped.append(("executions", said))
                break
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
    kind, message = went_wrong(case.failures, case.waiting)
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
        steps=[_step(path, case, model.program, label) for label in case.order],
    )


_NOT_AGAIN = "it did not fail when it was run again alone: an error of Treadle, please report it with the model"


def _fails_again(model: AbsModel, tasks: Sequence[TaskChosen]) -> bool:
    try:
        again = follow_main(known_machine(model.image), model.program, tasks)
    except (UsageError, CriterionReached):
        return False
    return again.deadlocked or bool(again.failures)


def _step(path: str, case: ActorCase, program: Program, label: str) -> Step:
    """One task of the failing run, for machines."""
    name, _, task = label.partition(".")
    method = task.partition("#")[0].partition("[")[0]
    cls = program.class_named(case.final[name].cls)
    line = cls.own[method].at.line if cls is not None and method in cls.own else 0
    return Step(strand=name, operation="runs", object=label, file=path, line=line, function=method)


_RAISED_BY = {"task switches per actor": "--tasks", "actors per program point": "--actors"}


def _told(limits: dict[str, int]) -> str:
    """The bounds that cut, each with the option that raises it."""
    raised = ((f"at most {n} {what}", _RAISED_BY.get(what)) for what, n in limits.items())
    return " and ".join(f"{bound} ({option} raises it)" if option else bound for bound, option in raised)


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
    limits: dict[str, int] = {}
    if cuts.loop:
        limits["loop turns per task"] = bounds.loop if bounds.loop is not None else bounds.steps or 0
    if cuts.task and bounds.tasks is not None:
        limits["task switches per actor"] = bounds.tasks
    if cuts.actor and bounds.actors is not None:
        limits["actors per program point"] = bounds.actors
    if findings:
        verdict, reason = Verdict.FAILED, ""
    elif stopped:
        verdict, reason = Verdict.CUT, stopped[0][1]
    elif progress.tests == 0:
        verdict = Verdict.CUT
        reason = f"every run was cut: {_told(limits)}"
    elif cuts.total():
        verdict, reason = Verdict.PASSED_WITHIN_BOUNDS, f"{cuts.total()} branches were cut: {_told(limits)}"
    elif reduce not in SOUND_REDUCTIONS:
        verdict, reason = Verdict.PASSED_WITHIN_BOUNDS, f"--reduce {reduce} can leave out orders that matter"
    elif progress.tests == 1 and progress.states == 1:
        verdict, reason = Verdict.NOTHING_TO_EXPLORE, "the main block ends without starting a task"
    else:
        verdict, reason = Verdict.PASSED_EXHAUSTIVE, ""
    return Result(
        target=path,
        verdict=verdict,
        executions=progress.tests,
        cut_by=stopped[0][0] if verdict is Verdict.CUT and stopped else "",
        exhaustive=verdict is Verdict.PASSED_EXHAUSTIVE or (bool(findings) and not stopped and not cuts.total()),
        strategy=f"reduce {reduce}",
        seconds=seconds,
        findings=findings,
        bounds=limits,
        reason=reason,
        statistics={"states": progress.states, "cuts": cuts.to_json(), "deadlocks": progress.deadlocks},
    )


def run_model(
    path: str, *, order: Sequence[TaskChosen | str] | None = None, seed: int | None = None, tasks: int | None = 100_000
) -> Replayed:
    """Run the main block once: in the given order, at random with a seed, or always the first task that can run."""
    model = AbsModel.load(path)
    bounds = Bounds(None, None, None, 0, 10_000_000)
    machine = known_machine(model.image, bounds, "at-once" if order is None else "awaited")
    root = main_root(machine, model.program)
    chance = Random(seed) if seed is not None else None
    with deep_recursion():
        replay = Replay(machine, root.state, root.entry, {root.entry.this: "main"})
        if order is not None:
            for step in order:
                replay.run(*replay.find(step))
            return replay.report()
        while runnable := replay.runnable():
            if tasks is not None and len(replay.order) >= tasks:
                raise UsageError(f"the main block did not end within {tasks} tasks; raise --tasks to go on")
            try:
                runnable = replay.explorer.next_in_order(replay.state, runnable)
                replay.run(chance.choice(runnable) if chance is not None else runnable[0])
            except CriterionReached:
                raise UsageError("a loop of the model did not end within 10 000 000 turns") from None
        return replay.report()


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
