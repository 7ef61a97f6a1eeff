"""Guided generation (Albert et al., sections 2.5 and 3.6): only the paths that a selection criterion asks for.

The loop of `guided` is Algorithm 1 of the paper. A partial trace is here a trail that has not been run to its end,
together with its prospect: where it would go on, and what it has met before. The trace generator hands out partial
traces one by one; running one dives to an end and leaves new ones behind, and the first success counts (firstOf).

The generator is complete: a partial trace is thrown away only when no completion of it, by the over-approximation of
`flow`, can add to the selection. It is effective as far as that knowledge goes. If a path enters a function that
`flow` had excluded at that place, the knowledge was wrong: everything thrown away comes back, and nothing is thrown
away any more.

`symbolic.local_paths` is the trace generator for all local paths; this file has the loop, and the generator for
goals: program points, statements and branches.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from treadle.core.choice import Choice, ConditionGoes
from treadle.symbolic.explore import End, Exploration, PathRun, book, run_one
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.guide.joins import Joined, join
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.flow import FAR, Flow, FlowGoals, sides
from treadle.symbolic.ir.machine import Frame, IrMachine
from treadle.symbolic.path import Alternative, Choices, Limit, PathEnd, SymbolicPath
from treadle.symbolic.solve.solver import Solver

T = TypeVar("T")

# Once every point has a test, a test that reaches more of them is looked for on this many paths, and on as many again
# as were needed so far: a program whose points exclude each other must not cost the whole tree.
_EXTRA = 64


class GivenUp(PathEnd):
    """No completion of this path adds to the selection: nothing to report."""


class Walk:
    """What a guide sees of one path; the machine calls it at every step that matters."""

    def __init__(self, machine: IrMachine) -> None:
        self.machine = machine
        self.path = machine.path
        self.met = 0  # goals, as bits
        self.kept = False  # a test case was made of the path
        self.given_up = False  # the path was left before its end
        self.cut_aside = False  # ways of a joined call that the loop bound cuts were left out
        # the condition that is being decided, and nothing else, sends control of this frame to one of two blocks
        self.deciding: Frame | None = None
        # the head of a for loop is asking for the next element: true probably means that there is one
        self.asking: Frame | None = None

    def enter(self, frame: Frame) -> None:
        """A frame begins, or a generator's frame goes on."""

    def leave(self, frame: Frame) -> None:
        """The frame is off the stack, whichever way it was left."""

    def block(self, frame: Frame) -> None:
        """Control has come to the first step of a block."""

    def line(self, file: str, line: int) -> None:
        """A step on this line is run."""

    def took(self, frame: Frame, side: bool) -> None:
        """A condition, or the head of a for loop, went this way; the frame is still in the old block."""

    def raised(self, frame: Frame, error: Any) -> None:
        """A step of the frame raised."""

    def returned(self, frame: Frame) -> None:
        """The frame returned."""

    def join(self, frame: Frame, condition: Expr) -> Joined | None:
        """Pass both sides of a condition at once, if nobody needs them apart."""
        return None

    def prefers_false(self) -> bool:
        """Whether the condition being decided is better taken as false first."""
        return False

    def prospect(self, choice: Choice) -> Any:
        """What the guide will want to know about the alternative that is left here."""
        return None

    def selected(self) -> bool:
        """Whether the path, now at its end, adds to the selection."""
        return True

    def passes(self, function: Any) -> bool:
        """Whether a call of this function may be passed with all its ways at once, because nobody needs them apart."""
        return False


class Guide:
    """A trace generator for one selection criterion."""

    def walk(self, machine: IrMachine) -> Walk:
        raise NotImplementedError

    def offer(self, alternatives: Sequence[Alternative]) -> None:
        """Partial traces that a path has left behind."""
        raise NotImplementedError

    def next_trace(self) -> Alternative | None:
        """The partial trace to try next; None when there are no more."""
        raise NotImplementedError

    def keep(self, walk: Any) -> None:
        """A test case was made of this path."""
        raise NotImplementedError

    @property
    def satisfied(self) -> bool:
        """The test cases kept so far satisfy the selection criterion: no more are wanted."""
        return False

    def give_up(self, trace: Alternative) -> None:
        """A walk has left its path here, because nothing that is wanted lies ahead."""

    def pending(self) -> list[Alternative]:
        """Partial traces that were neither run nor thrown away."""
        raise NotImplementedError


def guided(
    run: Callable[[SymbolicPath], T],
    solver: Solver,
    seen: Exploration,
    guide: Guide,
    *,
    seconds: float = float("inf"),
    full: Callable[[], bool] = lambda: False,
    words: tuple[str, ...] = (),
) -> Generator[PathRun[T], None, None]:
    """Algorithm 1: while the trace generator has traces and the criterion is not satisfied, run the next one."""
    deadline = time.monotonic() + seconds
    guide.offer([Alternative(())])
    # what several joined paths have in common is taken apart once
    taken_apart: set[Choices] = set()
    trace: Alternative | None = None
    try:
        while not guide.satisfied and not full() and time.monotonic() <= deadline:
            trace = guide.next_trace()
            if trace is None:
                return
            path = SymbolicPath(solver, trace, deadline, words=words)
            ran = run_one(run, path)
            trace = None
            if ran.end.how is End.TOO_HARD:
                # what was left behind that call is as hard, and part of what is offered instead
                plain = path.less_joined()
                kept_apart = [a for a in ran.alternatives if len(a.choices) < len(plain)]
                guide.offer([*kept_apart, *([Alternative(plain)] if plain not in taken_apart else [])])
                taken_apart.add(plain)
                seen.runs += 1
                continue
            guide.offer(ran.alternatives)
            if path.walk is not None and path.walk.cut_aside:
                seen.cut[Limit.LOOP] += 1
            if path.walk is not None and path.walk.given_up:
                guide.give_up(Alternative(ran.choices))
            book(ran, seen)
            # a path that was given up may have been sampled too: what it did not see, nobody has seen
            seen.sampled.extend(p for p in ran.sampled if p not in seen.sampled)
            if ran.end.how is End.FINISHED:
                if path.walk.kept:
                    guide.keep(path.walk)
                yield ran
    finally:
        left = [*guide.pending(), *([trace] if trace is not None else [])]
        if left and not guide.satisfied:
            seen.pending.extend(left)
            seen.cut[Limit.PATHS if full() else Limit.TIME] += len(left)


@dataclass(frozen=True, slots=True)
class Prospect:
    """Where a partial trace goes on: the goals it has met, and its stack of frames, the innermost first."""

    met: int
    stack: tuple[tuple[Flow, int, int], ...]
    # goals that may be met when all of them have been left
    below: int = 0
    # the innermost frame is about to go this way from the end of its block
    side: bool | None = None

    def ahead(self) -> int:
        """Goals that may still be met."""
        found = self.below
        for depth, (flow, block, index) in enumerate(self.stack):
            if depth == 0 and self.side is not None:
                found |= flow.from_side(block, self.side)
            else:
                found |= flow.from_step(block, index)
        return found

    def distance(self, wanted: int) -> int:
        """Blocks to the nearest goal; leaving a frame counts like a few blocks."""
        best = FAR
        for depth, (flow, block, index) in enumerate(self.stack):
            if depth == 0 and self.side is not None:
                here = flow.side_distance(block, self.side, wanted)
            else:
                here = flow.distance(block, index, wanted)
            best = min(best, here + 4 * depth)
        return best


_NOWHERE = Prospect(0, ())


class GoalGuide(Guide):
    """Every goal is met by at least one test, and there are few tests.

    `code` is the target's. `calls(function, step)` are the goals that a step of a running function may reach by
    calling; `outside` are those that may be met after the target has returned (a generator that is still to be
    drained). With `fewest`, a single test that meets as many goals as possible is worth some extra search.
    """

    def __init__(
        self,
        code: ir.CompiledFunction,
        goals: FlowGoals,
        calls: Callable[[Any, ir.IrStep], int],
        outside: int = 0,
        *,
        fewest: bool = False,
    ) -> None:
        self.code = code
        self.goals = goals
        self.every = goals.every()
        self.uncovered = self.every
        self.outside = outside
        self._fewest = fewest
        self._calls = calls
        self._flows: dict[int, Flow] = {}
        self._order = itertools.count()
        self._queue: list[tuple[tuple[int, ...], int, Alternative]] = []
        self._thrown_away: list[Alternative] = []
        self.trusted = True
        # both sides of a condition may be passed at once, where no goal lies on them
        self.joins = True
        self.runs = 0
        self.best = 0
        self._extra: int | None = None  # paths that may still be run to find a better test

    def flow(self, function: Any) -> Flow:
        """The facts about a function of the running program, which knows its code and the names it sees."""
        code: ir.CompiledFunction = function.code
        found = self._flows.get(id(code))
        if found is None:
            found = self._flows[id(code)] = Flow(code, self.goals, lambda step: self._calls(function, step))
        return found

    def walk(self, machine: IrMachine) -> GoalWalk:
        return GoalWalk(machine, self)

    # --- the selection criterion ---------------------------------------------------------------------------

    @property
    def improving(self) -> bool:
        """Every goal has its test; what is left is to find one test for several."""
        return not self.uncovered

    def adds(self, met: int) -> bool:
        if self.improving:
            return met.bit_count() > self.best
        return bool(met & self.uncovered)

    def keep(self, walk: Any) -> None:
        met = walk.met & self.every
        self.best = max(self.best, met.bit_count())
        if met & self.uncovered:
            self.uncovered &= ~met
            if self.improving:
                self._extra = self.runs + _EXTRA
            self._requeue()

    @property
    def satisfied(self) -> bool:
        if not self.improving:
            return False
        return not self._fewest or self.best == self.every.bit_count() or not self._extra

    # --- the trace generator -------------------------------------------------------------------------------

    def offer(self, alternatives: Sequence[Alternative]) -> None:
        for alternative in alternatives:
            self._push(next(self._order), alternative)

    def _push(self, number: int, alternative: Alternative) -> None:
        prospect = alternative.prospect or _NOWHERE
        if prospect.stack and self.trusted and not self.adds(prospect.met | prospect.ahead()):
            self._thrown_away.append(alternative)
        else:
            heapq.heappush(self._queue, (self._rank(prospect), -number, alternative))

    def _rank(self, prospect: Prospect) -> tuple[int, ...]:
        """What is tried first: a path that only has to end, then the one with most goals ahead, nearest, newest."""
        ahead = prospect.ahead()
        if self.improving:
            return (-(prospect.met | ahead).bit_count(), prospect.distance(self.every & ~prospect.met))
        wanted = self.uncovered & ~prospect.met
        new = (prospect.met & self.uncovered).bit_count()
        return (-new, -(ahead & wanted).bit_count(), prospect.distance(wanted))

    def _requeue(self) -> None:
        """The goals have changed, and the order of the traces with them."""
        queue, self._queue = self._queue, []
        for _, negative, alternative in queue:
            self._push(-negative, alternative)

    def next_trace(self) -> Alternative | None:
        if not self._queue:
            return None
        self.runs += 1
        if self.improving and self._extra:
            self._extra -= 1
        return heapq.heappop(self._queue)[2]

    def pending(self) -> list[Alternative]:
        return [alternative for _, _, alternative in sorted(self._queue, key=lambda entry: entry[:2])]

    def give_up(self, trace: Alternative) -> None:
        self._thrown_away.append(trace)
        if not self.trusted:
            self._recall()

    def distrust(self) -> None:
        """A call went where the call graph said that it could not."""
        if self.trusted:
            self.trusted = False
            self._recall()

    def _recall(self) -> None:
        self.offer(self._thrown_away)
        self._thrown_away = []


class NearestFirst(GoalGuide):
    """All paths, those first that lead to a goal which has no test yet."""

    def __init__(
        self, code: ir.CompiledFunction, goals: FlowGoals, calls: Callable[[Any, ir.IrStep], int], outside: int = 0
    ) -> None:
        super().__init__(code, goals, calls, outside)
        self.joins = False

    def adds(self, met: int) -> bool:
        return True

    @property
    def satisfied(self) -> bool:
        return False

    def _rank(self, prospect: Prospect) -> tuple[int, ...]:
        return super()._rank(prospect) if self.uncovered else (0,)


class GoalWalk(Walk):
    """The goals that one path has met, and whether it can meet more."""

    def __init__(self, machine: IrMachine, guide: GoalGuide) -> None:
        super().__init__(machine)
        self.guide = guide
        # goals that can be met after each frame of the stack has been left
        self._below: list[int] = []
        # the target may still be called (what runs before it are preconditions)
        self._before = True

    @property
    def _outside(self) -> int:
        return self.guide.every if self._before else self.guide.outside

    def enter(self, frame: Frame) -> None:
        guide = self.guide
        frames = self.machine.frames
        self._before = self._before and frame.code is not guide.code
        if not frames:
            self._below.append(self._outside)
        else:
            caller = frames[-1]
            flow = guide.flow(caller.function)
            called = guide.flow(frame.function).from_block(0)
            if called & ~flow.at_step(caller.block.number, caller.index):
                guide.distrust()
            self._below.append(self._below[-1] | flow.from_step(caller.block.number, caller.index))
        first = frame.block.steps[0] if frame.block.steps else frame.block.end
        if first is not None:
            self.line(frame.code.file, first.line)

    def leave(self, frame: Frame) -> None:
        self._below.pop()

    def line(self, file: str, line: int) -> None:
        self.met |= self.guide.goals.lines.get((file, line), 0)

    def took(self, frame: Frame, side: bool) -> None:
        self.met |= self.guide.goals.edges.get((id(frame.code), frame.block.number, side), 0)

    def block(self, frame: Frame) -> None:
        guide = self.guide
        if self.path.replaying or not guide.trusted:
            return
        ahead = guide.flow(frame.function).from_block(frame.block.number) | self._below[-1]
        if not guide.adds(self.met | ahead):
            self.given_up = True
            raise GivenUp

    def join(self, frame: Frame, condition: Expr) -> Joined | None:
        guide = self.guide
        flow = guide.flow(frame.function)
        if self.path.follow is not None:
            return None
        wanted = (guide.every if guide.improving else guide.uncovered) & ~self.met
        nothing_there = guide.joins and not flow.within(frame.block.number) & wanted
        return join(self.machine, frame, condition, flow, nothing_there)

    def prefers_false(self) -> bool:
        """More goals first, then nearer ones; with none ahead, the way that ends soonest."""
        frame = self.deciding or self.asking
        self.asking = None
        if frame is None or sides(frame.block) is None:
            return False
        guide = self.guide
        flow, block = guide.flow(frame.function), frame.block.number
        wanted = (guide.every if guide.improving else guide.uncovered) & ~self.met
        yes, no = (self._worth(flow, frame, block, side, wanted) for side in (True, False))
        return no < yes

    def _worth(self, flow: Flow, frame: Frame, block: int, side: bool, wanted: int) -> tuple[int, int, int]:
        """Smaller is better."""
        both = sides(frame.code.blocks[block])
        assert both is not None
        head = frame.code.blocks[both[0] if side else both[1]].body_of
        cut = head is not None and frame.loops.get(head, [0])[0] >= self.machine.k
        ahead = flow.from_side(block, side) & wanted
        return (cut, -ahead.bit_count(), flow.side_distance(block, side, wanted if ahead else 0))

    def prospect(self, choice: Choice) -> Prospect:
        stack = tuple((self.guide.flow(f.function), f.block.number, f.index) for f in reversed(self.machine.frames))
        side = None
        decides = self.deciding is not None and stack and self.machine.frames[-1] is self.deciding
        if decides and isinstance(choice, ConditionGoes):
            side = choice.way
        return Prospect(self.met, stack, self._outside, side)

    def selected(self) -> bool:
        return self.guide.adds(self.met)

    def passes(self, function: Any) -> bool:
        guide = self.guide
        wanted = (guide.every if guide.improving else guide.uncovered) & ~self.met
        return guide.joins and guide.trusted and not guide.flow(function).from_block(0) & wanted
