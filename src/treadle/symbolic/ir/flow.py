"""Control-flow facts of one function: which goals can still be met from a place, and how far away they are.

Everything here over-approximates: every block can raise into its handler, every loop can run again, a call may do what
the front end cannot exclude. A goal that is not reachable by these facts is not reachable at all, so a search that
leaves such places out stays complete (in the paper's sense: the trace generator produces every trace that could
satisfy the selection criterion, and maybe more).

Goals are bits of an integer, so that a set of them costs nothing to join.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from treadle.symbolic.ir import steps as ir

# Farther than any goal: the goal is not in this function.
FAR = 1_000_000


@dataclass(slots=True)
class FlowGoals:
    """Where the goals are: on lines of files, and on branches of one function."""

    lines: dict[tuple[str, int], int] = field(default_factory=dict)
    # (id of the function's code, block, side) -> goals; side True is `then` or `body`
    edges: dict[tuple[int, int, bool], int] = field(default_factory=dict)

    def every(self) -> int:
        found = 0
        for mask in (*self.lines.values(), *self.edges.values()):
            found |= mask
        return found


def sides(block: ir.BasicBlock) -> tuple[int, int] | None:
    """The two blocks that a condition or the head of a for loop leads to."""
    match block.end:
        case ir.BranchStep(then=then, orelse=orelse):
            return then, orelse
        case ir.NextStep(body=body, done=done):
            return body, done
    return None


class Flow:
    """One function: the goals in each block, what is reachable behind it, and distances.

    `calls(step)` names the goals that a step may reach in other functions.
    """

    def __init__(self, code: ir.CompiledFunction, goals: FlowGoals, calls: Callable[[ir.IrStep], int]) -> None:
        self.code = code
        self._successors = [list(ir.successors(block)) for block in code.blocks]
        # _tail[b][i]: goals on step i or later of block b, its end and its two sides included
        self._tail = [self._goals_in(block, goals, calls) for block in code.blocks]
        self._edges = {
            (block.number, side): goals.edges.get((id(code), block.number, side), 0)
            for block in code.blocks
            for side in (True, False)
        }
        self._calls = calls
        self._reach = self._closure()
        self._distances: dict[int, list[int]] = {}
        self._meetings: list[int | None] | None = None
        self._within: dict[int, int] = {}
        # condition -> whether its sides can be passed at once (symbolic.joins)
        self.joinable: dict[int, bool] = {}

    def _goals_in(self, block: ir.BasicBlock, goals: FlowGoals, calls: Callable[[ir.IrStep], int]) -> list[int]:
        steps = (*block.steps, *((block.end,) if block.end is not None else ()))
        found = 0
        for side in (True, False):
            found |= goals.edges.get((id(self.code), block.number, side), 0)
        tail = [found]
        for step in reversed(steps):
            found |= goals.lines.get((self.code.file, step.line), 0) | calls(step)
            tail.append(found)
        tail.reverse()
        return tail

    def _closure(self) -> list[int]:
        reach = [tail[0] for tail in self._tail]
        changed = True
        while changed:
            changed = False
            for number in range(len(reach) - 1, -1, -1):
                new = reach[number]
                for successor in self._successors[number]:
                    new |= reach[successor]
                if new != reach[number]:
                    reach[number] = new
                    changed = True
        return reach

    def from_block(self, block: int) -> int:
        """Goals that can be met from the first step of a block on."""
        return self._reach[block]

    def from_step(self, block: int, index: int) -> int:
        """Goals that can be met from a step on; the step itself may still call something."""
        found = self._tail[block][min(index, len(self._tail[block]) - 1)]
        for successor in self._successors[block]:
            found |= self._reach[successor]
        return found

    def from_side(self, block: int, side: bool) -> int:
        """Goals that can be met when a condition goes this way."""
        both = sides(self.code.blocks[block])
        assert both is not None
        return self._edges[block, side] | self._reach[both[0] if side else both[1]]

    def at_step(self, block: int, index: int) -> int:
        """Goals that the step itself may reach by calling."""
        steps = self.code.blocks[block].steps
        end = self.code.blocks[block].end
        step = steps[index] if index < len(steps) else end
        return self._calls(step) if step is not None else 0

    # --- sides that come together ------------------------------------------------------------------------

    def meeting(self, block: int) -> int | None:
        """The first block that control passes whichever way the end of this block goes; exceptions left out."""
        if self._meetings is None:
            self._meetings = _meetings(self.code)
        return self._meetings[block]

    def within(self, block: int) -> int:
        """The goals between a condition and the place where its sides come together."""
        found = self._within.get(block)
        if found is None:
            found = self._edges[block, True] | self._edges[block, False]
            for number in self.between(block):
                found |= self._tail[number][0]
            self._within[block] = found
        return found

    def between(self, block: int) -> set[int]:
        """The blocks between a condition and the place where its sides come together."""
        both, meeting = sides(self.code.blocks[block]), self.meeting(block)
        assert both is not None
        found: set[int] = set()
        todo = [*both]
        while todo:
            number = todo.pop()
            if number not in found and number != meeting:
                found.add(number)
                todo.extend(_onward(self.code.blocks[number]))
        return found

    # --- distances ---------------------------------------------------------------------------------------

    def distance(self, block: int, index: int, wanted: int) -> int:
        """Blocks to pass from a step to the nearest of the goals, or `FAR`; to the end of the function for none."""
        if wanted and self._tail[block][min(index, len(self._tail[block]) - 1)] & wanted:
            return 0
        table = self._table(wanted)
        return min((1 + table[s] for s in self._successors[block]), default=FAR if wanted else 0)

    def side_distance(self, block: int, side: bool, wanted: int) -> int:
        both = sides(self.code.blocks[block])
        assert both is not None
        if wanted and self._edges[block, side] & wanted:
            return 0
        return self._table(wanted)[both[0] if side else both[1]]

    def _table(self, wanted: int) -> list[int]:
        """Block -> distance; without goals, to the nearest end of the function."""
        table = self._distances.get(wanted)
        if table is None:
            if wanted:
                start = [n for n, tail in enumerate(self._tail) if tail[0] & wanted]
            else:
                start = [b.number for b in self.code.blocks if isinstance(b.end, ir.ReturnStep)]
            table = self._distances[wanted] = self._distances_to(start)
        return table

    def _distances_to(self, start: Iterable[int]) -> list[int]:
        before: list[list[int]] = [[] for _ in self.code.blocks]
        for number, successors in enumerate(self._successors):
            for successor in successors:
                before[successor].append(number)
        table = [FAR] * len(self.code.blocks)
        ring = list(start)
        for number in ring:
            table[number] = 0
        while ring:
            outer: list[int] = []
            for number in ring:
                for earlier in before[number]:
                    if table[earlier] == FAR:
                        table[earlier] = table[number] + 1
                        outer.append(earlier)
            ring = outer
        return table


def _onward(block: ir.BasicBlock) -> list[int]:
    """Where control goes from a block when nothing is raised."""
    return list(ir.successors(ir.BasicBlock(block.number, end=block.end)))


def _meetings(code: ir.CompiledFunction) -> list[int | None]:
    """Immediate post-dominators: block -> the first that comes on every way from it to the end of the function."""
    every = (1 << len(code.blocks)) - 1
    after = [every] * len(code.blocks)
    changed = True
    while changed:
        changed = False
        for block in reversed(code.blocks):
            common = every
            onward = _onward(block)
            for successor in onward:
                common &= after[successor]
            new = (common if onward else 0) | 1 << block.number
            if new != after[block.number]:
                after[block.number] = new
                changed = True
    found: list[int | None] = []
    for number, mask in enumerate(after):
        others = [n for n in range(len(after)) if mask >> n & 1 and n != number]
        found.append(max(others, key=lambda n: after[n].bit_count()) if others else None)
    return found


def code_lines(code: ir.CompiledFunction, blocks: Iterable[int] | None = None) -> set[int]:
    """The lines on which the function, or some of its blocks, does something."""
    numbers = range(len(code.blocks)) if blocks is None else blocks
    found: set[int] = set()
    for number in numbers:
        block = code.blocks[number]
        found.update(step.line for step in block.steps)
        if block.end is not None and not (isinstance(block.end, ir.JumpStep) and block.end.line == code.line):
            found.add(block.end.line)
    return found - {0}


def branches(code: ir.CompiledFunction) -> list[tuple[int, bool]]:
    """The sides of every condition and for loop that control can come to.

    Left out: an exception that no clause of a try takes, or that a context manager does not swallow. It goes on
    as it would without the statement.
    """
    found = []
    for number in sorted(ir.reachable(code)):
        block = code.blocks[number]
        both = sides(block)
        if both is None:
            continue
        for side, target in ((True, both[0]), (False, both[1])):
            if not (_asks_about_exception(block) and _goes_on_raising(code.blocks[target])):
                found.append((number, side))
    return found


def _asks_about_exception(block: ir.BasicBlock) -> bool:
    matching = {step.dst for step in block.steps if isinstance(step, ir.OpStep) and step.op == "matches"}
    caught = bool(block.steps) and isinstance(block.steps[0], ir.CatchStep)
    return caught or (isinstance(block.end, ir.BranchStep) and block.end.condition in matching)


def _goes_on_raising(block: ir.BasicBlock) -> bool:
    return not block.steps and isinstance(block.end, ir.RaiseStep)
