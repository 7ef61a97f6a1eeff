"""Selection criteria of `treadle unit`: which paths get a test, and what may be claimed afterwards.

A criterion other than all-paths is a set of goals (points, statements, branches) or the local paths of the target;
`guide_for` makes its trace generator, `TestSelection` keeps what came of it. What no test meets is not simply missing:
none exists within the bound, or the line is dead, or the search did not see everything and it is not known.
"""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from treadle.core.errors import UsageError
from treadle.symbolic.explore import Exploration
from treadle.symbolic.guide.guided import GoalGuide, Guide, NearestFirst
from treadle.symbolic.guide.local_paths import LocalGuide
from treadle.symbolic.ir import flow
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.flow import FlowGoals
from treadle.symbolic.path import Limit
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine.callgraph import CallGraph
from treadle.symbolic.testcase import TestCase
from treadle.units.points import places as places_of
from treadle.units.points import points_of
from treadle.units.target import UnitTarget

if TYPE_CHECKING:
    from treadle.units.explore import ExploredTarget

ALL_PATHS = "all-paths"
CRITERIA = (ALL_PATHS, "local-paths", "statements", "branches", "points")


@dataclass(frozen=True, slots=True)
class Goal:
    """Something that a test is to meet: a line, or a side of a condition."""

    text: str
    file: str
    line: int
    lines: tuple[int, ...] = ()
    edge: tuple[int, bool] | None = None
    dead: bool = False


@dataclass(frozen=True, slots=True)
class AlreadyCovered:
    """What has its test already, from an earlier run or among the project's own tests: nobody looks for it again."""

    # goals by their text; lines that are run, as (file, line); local paths
    goals: frozenset[str] = frozenset()
    lines: frozenset[tuple[str, int]] = frozenset()
    traces: tuple[tuple[Any, ...], ...] = ()
    # of all paths, those that lead to these lines come first
    first: frozenset[tuple[str, int]] | None = None

    def has(self, goal: Goal) -> bool:
        return goal.text in self.goals or any((goal.file, line) in self.lines for line in goal.lines)


NOTHING = AlreadyCovered()


@dataclass(slots=True)
class TestSelection:
    """A criterion, its goals, and how the search for them ended."""

    select: str
    goals: list[Goal] = field(default_factory=list)
    k: int = 2
    # why something may have been overlooked: 'the time limit (--seconds)', ...; empty: the search was exhaustive
    doubts: list[str] = field(default_factory=list)
    # a loop was cut on some path
    loops: bool = False
    # goals that were known before the search, as bits
    before: int = 0

    def met(self, cases: Iterable[TestCase]) -> int:
        found = self.before
        for case in cases:
            found |= case.meets
        return found

    def verdict(self, number: int, met: int) -> str:
        """'reached', 'none', 'dead' or 'unknown'."""
        if met >> number & 1:
            return "reached"
        if self.goals[number].dead:
            return "dead"
        return "unknown" if self.doubts else "none"


def check(select: str, points: Sequence[str | int]) -> None:
    """Whether the words make sense together."""
    if select not in CRITERIA:
        raise UsageError(f"--select {select}: there are brief, {', '.join(CRITERIA)}")
    if select == "points" and not points:
        raise UsageError("--select points: say which, for example --select points bank.py:57")
    if points and select != "points":
        raise UsageError(f"--select {select} takes no program points; write --select points {points[0]}")


def words(select: str, points: Sequence[str]) -> str:
    """A selection as part of a file's name: local_paths, line_20, lines_8_20."""
    if select != "points":
        return select.replace("-", "_")
    numbers = [str(line) for _, line in places_of(points)]
    return f"line{'s' * (len(numbers) > 1)}_{'_'.join(numbers[:6])}"


def guide_for(
    target: UnitTarget, select: str, points: Sequence[str | int], k: int, known: AlreadyCovered = NOTHING
) -> tuple[Guide, TestSelection]:
    """The trace generator of a criterion; what is known is not looked for."""
    code = source.code_of(target.function.__code__)
    key = (target.file, target.line)
    if select == "local-paths":
        entered = FlowGoals(edges={(id(code), -1, True): 1})
        graph = CallGraph(target.module, entered, [(key, 1)])
        local = LocalGuide(code, _raises, recursive=_calls_itself(code, target, graph))
        for trace in known.traces:
            local.covered.add(trace)
        return local, TestSelection(select, [], k)
    if select == "points":
        goals = [Goal(p.text, p.file, p.line, p.lines, dead=p.dead) for p in points_of(points, target)]
    elif select == "statements":
        goals = _statements(target, code)
    else:
        goals = _branches(target, code)
    wanted = FlowGoals()
    before = sum(1 << number for number, goal in enumerate(goals) if known.has(goal))
    for number, goal in enumerate(goals):
        if before >> number & 1:
            continue
        for line in goal.lines:
            wanted.lines[goal.file, line] = wanted.lines.get((goal.file, line), 0) | 1 << number
        if goal.edge is not None:
            wanted.edges[id(code), *goal.edge] = 1 << number
    edges = sum(wanted.edges.values())
    graph = CallGraph(target.module, wanted, [(key, edges)])
    guide = GoalGuide(code, wanted, graph.reach, graph.afterwards, fewest=select == "points")
    return guide, TestSelection(select, goals, k, before=before)


def nearest_first(target: UnitTarget, lines: Iterable[tuple[str, int]]) -> Guide:
    """All paths, in an order: those that lead to the lines come first."""
    code = source.code_of(target.function.__code__)
    goals = FlowGoals({place: 1 << number for number, place in enumerate(sorted(lines))})
    graph = CallGraph(target.module, goals)
    return NearestFirst(code, goals, graph.reach, graph.afterwards)


def _calls_itself(code: ir.CompiledFunction, target: UnitTarget, graph: CallGraph) -> bool:
    @dataclass
    class Running:
        code: ir.CompiledFunction
        globals: dict[str, Any]

    function = Running(code, target.function.__globals__)
    every = [*(s for b in code.blocks for s in b.steps), *(b.end for b in code.blocks if b.end is not None)]
    return any(graph.reach(function, step) for step in every)


def _raises(step: ir.IrStep) -> frozenset[str] | None:
    """Which exceptions a step may raise, as far as that is known."""
    if isinstance(
        step, ir.BeginLoopStep | ir.JumpStep | ir.CatchStep | ir.ClosureStep | ir.BranchStep | ir.LoadOuterStep
    ):
        return frozenset()
    if isinstance(step, ir.RaiseStep):
        return frozenset({""})
    if isinstance(step, ir.AssignStep | ir.ReturnStep) and (
        isinstance(step.value, ir.Const) or step.value.startswith("%")
    ):
        return frozenset()
    return None


# --- goals -------------------------------------------------------------------------------------------------


def _statements(target: UnitTarget, code: ir.CompiledFunction) -> list[Goal]:
    """The statements of the target's own body: those of functions inside it are theirs."""
    node = source.node_of(target.function.__code__)
    name = os.path.basename(target.file)
    alive = flow.code_lines(code, ir.reachable(code))
    every = flow.code_lines(code)
    found: dict[int, Goal] = {}
    body: list[ast.AST] = [*node.body] if isinstance(node.body, list) else [node.body]
    for part in _own(body):
        if isinstance(part, ast.Try) or not isinstance(part, ast.stmt | ast.expr):
            continue
        inner: list[ast.stmt] = getattr(part, "body", [])
        last = inner[0].lineno - 1 if isinstance(inner, list) and inner else part.end_lineno or part.lineno
        lines = tuple(n for n in range(part.lineno, max(last, part.lineno) + 1) if n in every)
        if lines and (isinstance(part, ast.stmt) or part is node.body):
            dead = not set(lines) & alive
            found.setdefault(part.lineno, Goal(f"{name}:{part.lineno}", target.file, part.lineno, lines, dead=dead))
    return [found[line] for line in sorted(found)]


def _own(todo: list[ast.AST]) -> Iterable[ast.AST]:
    for node in todo:
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield from _own(list(ast.iter_child_nodes(node)))


def _branches(target: UnitTarget, code: ir.CompiledFunction) -> list[Goal]:
    """Both sides of every condition of the target's own body, the parts of `and` and `or` included."""
    name = os.path.basename(target.file)
    sides = flow.branches(code)
    lines = {number: end.line for number, _ in sides if (end := code.blocks[number].end) is not None}
    found: list[Goal] = []
    for number, side in sides:
        same = [n for n, line in lines.items() if line == lines[number]]
        which = f" condition {same.index(number) + 1}" if len(same) > 1 else ""
        if isinstance(code.blocks[number].end, ir.NextStep):
            words = "another round" if side else "no more rounds"
        else:
            words = "true" if side else "false"
        text = f"{name}:{lines[number]}{which} {words}"
        found.append(Goal(text, target.file, lines[number], edge=(number, side)))
    return found or _statements(target, code)  # without a condition there is one branch: all of it


# --- afterwards --------------------------------------------------------------------------------------------

_LIMITS = {
    Limit.TIME: "the time limit (--seconds)",
    Limit.PATHS: "the limit on paths (--paths)",
    Limit.DEPTH: "paths that are too deep",
}


def conclude(selection: TestSelection, explored: ExploredTarget) -> None:
    """After the search: drop the cases that add nothing, and note what may have been overlooked."""
    seen: Exploration = explored.seen
    selection.loops = bool(seen.cut[Limit.LOOP])
    selection.doubts = [words for kind, words in _LIMITS.items() if seen.cut[kind]]
    for title, places in (
        ("an internal error", seen.internal_errors),
        ("unsupported code", [*seen.unsupported, *seen.gave_up, *explored.unlabelled]),
        ("values that were picked", seen.sampled),
    ):
        if places:
            place = places[0]
            selection.doubts.append(f"{title} ({os.path.basename(place.file)}:{place.line}: {place.what})")
    if explored.stopped:
        selection.doubts.append("Ctrl-C")
    if selection.goals:
        explored.cases = fewest(explored.cases)


def fewest(cases: list[TestCase], meets: Callable[[TestCase], int] = lambda case: case.meets) -> list[TestCase]:
    """Few cases that together meet what all of them meet, in their order: each one's share counts, largest first."""
    left = 0
    for case in cases:
        left |= meets(case)
    kept: list[TestCase] = []
    while left:
        best = max(cases, key=lambda case: (meets(case) & left).bit_count())
        kept.append(best)
        left &= ~meets(best)
    # a case taken early may have become superfluous
    for case in list(kept):
        shares = Counter(n for c in kept for n in range(meets(c).bit_length()) if meets(c) >> n & 1)
        if all(shares[n] > 1 for n in range(meets(case).bit_length()) if meets(case) >> n & 1):
            kept.remove(case)
    return [case for case in cases if any(case is one for one in kept)]
