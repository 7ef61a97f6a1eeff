"""Running IR on known and unknown values: frames, exceptions, loops and their bound.

The machine knows control flow only; what an operator, a field access or a call means is decided by the subclass
(`symbolic.python.machine.vm`). Calls are recursive; one machine runs one path.

Loop-k: beginning round k + 1 of a loop cuts the path, if conditions on unknowns were met since the round before: a
loop that runs on known values only is not bounded, nor is one over a known sequence, which ends by itself.
Recursion is bounded the same way: a function nested in itself more than k times, with conditions in between.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.path import BoundReached, CannotFollow, CodePlace, Limit, SymbolicPath

if TYPE_CHECKING:
    from treadle.symbolic.guide.guided import Walk
    from treadle.symbolic.guide.joins import Joined

# Steps one path may take before it is cut as too deep: an endless loop on known values ends here.
STEPS = 200_000
# Nested calls before a path is cut; each takes about five frames of the host's own stack.
DEPTH = 120


class Raised(Exception):
    """The program under test raised; `value` is its exception."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Exhausted(Exception):
    """An iterator of the program has no more values."""


class Environment(dict[str, Any]):
    """The slots of a frame; `outer` is the enclosing function's."""

    __slots__ = ("outer",)

    def __init__(self, outer: Environment | None = None) -> None:
        super().__init__()
        self.outer = outer


# How many conditions a path has met so far: those that count, those that perhaps do.
Mark = tuple[int, int]


class Frame:
    __slots__ = ("block", "code", "env", "error", "function", "index", "loops", "mark", "sent")

    def __init__(self, code: ir.CompiledFunction, env: Environment, function: Any) -> None:
        self.code = code
        self.env = env
        self.function = function  # the function value being run: its globals, its class
        self.block = code.blocks[0]
        self.index = 0
        self.error: Any = None
        self.sent: Any = None
        # loop head -> [rounds begun, what had been decided when the last one began]
        self.loops: dict[int, list[Any]] = {}
        self.mark: Mark = (0, 0)  # when this frame began


class Yielded:
    """A generator's frame stopped here with a value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


# Lines that a person could still walk along.
LONGEST_WALK = 2_000


class IrMachine:
    def __init__(self, path: SymbolicPath, k: int) -> None:
        self.path = path
        self.k = k
        self.steps = 0
        self.frames: list[Frame] = []
        self.lines: set[tuple[str, int]] = set()
        # the same in the order in which they were passed, for a person who walks along
        self.line_trace: list[tuple[str, int]] = []
        # who follows this path, when only some paths are wanted
        self.walk: Walk | None = None
        # whether a path ends before the line that it has come to
        self.ends_here: Callable[[IrMachine], bool] | None = None
        self._actions: dict[type, Callable[[Frame, Any], None]] = {
            ir.AssignStep: self._assign,
            ir.DeleteStep: self._delete,
            ir.CatchStep: self._catch,
            ir.BeginLoopStep: self._begin_loop,
            **self.actions(),
        }

    # --- what a subclass decides ---------------------------------------------------------------------------

    def actions(self) -> dict[type, Callable[[Frame, Any], None]]:
        """Step class -> what it does."""
        raise NotImplementedError

    def truth_of(self, value: Any) -> bool:
        raise NotImplementedError

    def advance(self, iterator: Any) -> Any:
        """The iterator's next value, or `Exhausted`."""
        raise NotImplementedError

    def ends_by_itself(self, iterator: Any) -> bool:
        """Whether a for loop over this iterator has a known number of rounds."""
        raise NotImplementedError

    def unbound(self, frame: Frame, name: str) -> Raised:
        raise NotImplementedError

    def exception(self, value: Any, cause: Any) -> Any:
        """The exception object that `raise value` raises."""
        raise NotImplementedError

    # --- running -------------------------------------------------------------------------------------------

    def run(self, frame: Frame, error: Any = None) -> Any:
        """Until the frame returns (its value), yields (`Yielded`) or raises (`Raised`).

        With `error` the frame goes on as if that exception had been raised where it stopped.
        """
        if len(self.frames) >= DEPTH:
            raise BoundReached(Limit.DEPTH, self.path.place)
        self._check_recursion(frame)
        frame.mark = self.mark()
        self.path.followed.add((frame.code.file, frame.code.line))
        walk = self.walk
        if walk is not None:
            walk.enter(frame)
        self.frames.append(frame)
        try:
            while True:
                try:
                    if error is not None:
                        thrown, error = error, None
                        raise Raised(thrown)
                    result = self._run_block(frame)
                    if walk is not None and type(result) is not Yielded:
                        walk.returned(frame)
                    return result
                except Raised as raised:
                    if walk is not None:
                        walk.raised(frame, raised.value)
                    if frame.block.handler is None:
                        raise
                    frame.error = raised.value
                    self._enter(frame, frame.block.handler)
        finally:
            self.frames.pop()
            if walk is not None:
                walk.leave(frame)
            if self.frames:
                self._locate(self.frames[-1])

    def _locate(self, frame: Frame) -> None:
        block = frame.block
        step = block.steps[frame.index] if frame.index < len(block.steps) else block.end
        if step is not None and step.line:
            self.path.place = CodePlace(frame.code.file, step.line, "", frame.code.name, frame.code.line)

    def _run_block(self, frame: Frame) -> Any:
        actions = self._actions
        while True:
            block = frame.block
            steps = block.steps
            while frame.index < len(steps):
                step = steps[frame.index]
                self._count(frame, step)
                if type(step) is ir.YieldStep:
                    frame.index += 1
                    frame.env[step.dst] = None
                    frame.sent = step.dst
                    return Yielded(self.operand(frame, step.value))
                action = actions.get(type(step))
                if action is None:
                    raise CannotFollow(f"the step '{ir.show_step(step)}'")
                action(frame, step)
                frame.index += 1
            end = block.end
            assert end is not None
            self._count(frame, end)
            match end:
                case ir.JumpStep(target=target):
                    self._enter(frame, target)
                case ir.BranchStep(condition=condition, then=then, orelse=orelse):
                    if self.walk is None:
                        self._enter(frame, then if self.truth_of(self.operand(frame, condition)) else orelse)
                    else:
                        joined = self._watched(frame, self.operand(frame, condition), end, self.walk)
                        if joined is not None and joined.returned:
                            return joined.value
                case ir.NextStep():
                    self._next(frame, end)
                case ir.ReturnStep(value=value):
                    return self.operand(frame, value)
                case ir.RaiseStep(value=value, cause=cause):
                    why = self.operand(frame, cause) if cause is not None else None
                    raise Raised(self.exception(self.operand(frame, value), why))
                case ir.StopStep(what=what):
                    raise CannotFollow(what)

    def _watched(self, frame: Frame, condition: Any, end: ir.BranchStep, walk: Walk) -> Joined | None:
        """Branch; if the condition is one expression, whoever follows the path may choose the side, or both."""
        joined = walk.join(frame, condition) if isinstance(condition, Expr) else None
        if joined is not None:
            return joined
        walk.deciding = frame if isinstance(condition, Expr) else None
        try:
            taken = self.truth_of(condition)
        finally:
            walk.deciding = None
        walk.took(frame, taken)
        self._enter(frame, end.then if taken else end.orelse)
        return None

    def go(self, frame: Frame, block: int) -> None:
        """Control of the frame goes on with another block."""
        self._enter(frame, block)

    def act(self, frame: Frame, step: ir.IrStep) -> None:
        """Do what a step says, and nothing else."""
        self._actions[type(step)](frame, step)

    def _count(self, frame: Frame, step: ir.IrStep) -> None:
        self.steps += 1
        place = self.path.place
        if step.line and (step.line != place.line or place.file != frame.code.file):
            self.path.place = CodePlace(frame.code.file, step.line, "", frame.code.name, frame.code.line)
            here = (frame.code.file, step.line)
            self.lines.add(here)
            if len(self.line_trace) < LONGEST_WALK:
                self.line_trace.append(here)
            if self.walk is not None:
                self.walk.line(frame.code.file, step.line)
            if self.ends_here is not None and self.ends_here(self):
                raise BoundReached(Limit.CRITERION, place)
        if self.steps % 512 == 0 and time.monotonic() > self.path.deadline:
            raise BoundReached(Limit.TIME, place)
        if self.steps > STEPS:
            raise BoundReached(Limit.DEPTH, place)

    def _enter(self, frame: Frame, target: int) -> None:
        frame.block = frame.code.blocks[target]
        frame.index = 0
        if self.walk is not None:
            self.walk.block(frame)
        if frame.block.body_of is not None:
            self._begin_round(frame, frame.block.body_of)

    def _begin_loop(self, frame: Frame, step: ir.BeginLoopStep) -> None:
        frame.loops[step.head] = [0, self.mark()]

    def _begin_round(self, frame: Frame, head: int) -> None:
        loop = frame.loops.setdefault(head, [0, self.mark()])
        loop[0] += 1
        before, loop[1] = loop[1], self.mark()
        if loop[0] > self.k and not self._ends_by_itself(frame, head) and self.asked_since(before):
            raise BoundReached(Limit.LOOP, self.path.place)

    def mark(self) -> Mark:
        """How far the path is, for `asked_since`."""
        return self.path.decisions, len(self.path.unsure)

    def asked_since(self, mark: Mark) -> bool:
        """Whether something was decided about the inputs since then, other than which object is which."""
        return self.path.decisions > mark[0] or any(map(self.is_question, self.path.unsure[mark[1] :]))

    def is_question(self, condition: Expr) -> bool:
        """Whether a condition is one, whichever object is which."""
        return True

    def _ends_by_itself(self, frame: Frame, head: int) -> bool:
        end = frame.code.blocks[head].end
        return isinstance(end, ir.NextStep) and self.ends_by_itself(self.operand(frame, end.iterator))

    def _next(self, frame: Frame, end: ir.NextStep) -> None:
        walk = self.walk
        if walk is not None:
            walk.asking = frame
        try:
            value = self.advance(self.operand(frame, end.iterator))
        except Exhausted:
            if walk is not None:
                walk.asking = None
                walk.took(frame, False)
            self._enter(frame, end.done)
        else:
            if walk is not None:
                walk.asking = None
                walk.took(frame, True)
            frame.env[end.dst] = value
            self._enter(frame, end.body)

    def _check_recursion(self, frame: Frame) -> None:
        same = [f for f in self.frames if f.code is frame.code]
        if len(same) > self.k and self.asked_since(same[-1].mark):
            raise BoundReached(Limit.LOOP, self.path.place)

    # --- slots ---------------------------------------------------------------------------------------------

    def operand(self, frame: Frame, operand: ir.Operand) -> Any:
        if isinstance(operand, ir.Const):
            return operand.value
        try:
            return frame.env[operand]
        except KeyError:
            raise self.unbound(frame, operand) from None

    def _assign(self, frame: Frame, step: ir.AssignStep) -> None:
        frame.env[step.dst] = self.operand(frame, step.value)

    def _delete(self, frame: Frame, step: ir.DeleteStep) -> None:
        if step.name in frame.env:
            del frame.env[step.name]
        elif not step.quiet:
            raise self.unbound(frame, step.name)

    def _catch(self, frame: Frame, step: ir.CatchStep) -> None:
        frame.env[step.dst] = frame.error
