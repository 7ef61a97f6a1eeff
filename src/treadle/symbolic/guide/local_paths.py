"""The trace generator for all local paths: one test for each way through the function itself, its callees left free.

A local trace is what is left of a path when everything that other functions do is sliced away (definition 6 of the
paper): the blocks that the target's own frames pass, where they raise, and how they are left. A frame of the target
that is called again by itself belongs to it, as the rules of a recursive method do.

The tree is walked depth first, as without a guide, and the first path of each local trace is kept: the tests are some
of those of all paths. What the guide saves is running the repetitions: conditions in callees are passed with both sides
at once where that is possible (`symbolic.joins`), and a partial trace is thrown away when every local trace that could
extend it has its test already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.core.choice import Choice, ConditionGoes
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.guide.guided import GivenUp, Guide, Walk
from treadle.symbolic.guide.joins import Joined, join
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.flow import Flow, FlowGoals
from treadle.symbolic.ir.machine import Frame, IrMachine
from treadle.symbolic.path import Alternative

# An element of a trace: a block that was entered; "call" and "return" of a frame of the target;
# ("raise", block, step, class) where a step raised, without the class where somebody else's code did.
Element = Any
# step -> the classes that it may raise, "" for any that a callee or a raise statement chooses; None: who knows
Raises = Callable[[ir.IrStep], frozenset[str] | None]

_RETURN = "return"
_CALL = "call"


class Covered(dict[Element, "Covered"]):
    """The local traces that have their test, as a tree; `closed` holds blocks from which nothing is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.closed: set[int] = set()

    def add(self, trace: Sequence[Element]) -> bool:
        """Whether the trace is new."""
        node, new = self, False
        for element in trace:
            if element not in node:
                node[element] = Covered()
                new = True
            node = node[element]
        return new

    def traces(self) -> Iterator[tuple[Element, ...]]:
        """The longest ones, which stand for their beginnings too."""
        for element, below in self.items():
            yield from ((element, *rest) for rest in below.traces()) if below else [(element,)]

    def find(self, trace: Iterable[Element]) -> Covered | None:
        """The place behind these elements, if some covered trace begins with them."""
        node: Covered | None = self
        for element in trace:
            node = node.get(element) if node is not None else None
        return node


@dataclass(frozen=True, slots=True)
class LocalProspect:
    """Where a partial trace goes on: its elements so far, and the step of the target that is being run."""

    trace: list[Element]  # grows with the path that left this behind
    length: int
    # the condition of the target that is being decided will lead here
    target: int | None
    block: int
    index: int


class LocalGuide(Guide):
    """Every local path of `code` has one test."""

    def __init__(self, code: ir.CompiledFunction, raises: Raises, *, recursive: bool) -> None:
        self.code = code
        self._raises = raises
        # a call may lead back here: what follows a place is then not known from the place alone
        self.recursive = recursive
        self.covered = Covered()
        self._todo: list[Alternative] = []
        self._flows: dict[int, Flow] = {}

    def flow(self, code: ir.CompiledFunction) -> Flow:
        """The control flow of a callee; there are no goals in it."""
        found = self._flows.get(id(code))
        if found is None:
            found = self._flows[id(code)] = Flow(code, FlowGoals(), lambda step: 0)
        return found

    def walk(self, machine: IrMachine) -> LocalWalk:
        return LocalWalk(machine, self)

    def offer(self, alternatives: Sequence[Alternative]) -> None:
        self._todo.extend(alternatives)

    def next_trace(self) -> Alternative | None:
        while self._todo:
            alternative = self._todo.pop()
            prospect = alternative.prospect
            if prospect is None or not self._closed(prospect):
                return alternative
        return None

    def _closed(self, prospect: LocalProspect) -> bool:
        node = self.covered.find(prospect.trace[: prospect.length])
        if prospect.target is None:
            return node is not None and self.closed(node, prospect.block, prospect.index)
        node = node.get(prospect.target) if node is not None else None
        return node is not None and self.closed(node, prospect.target, 0)

    def keep(self, walk: Any) -> None:
        self.covered.add(walk.trace)

    def pending(self) -> list[Alternative]:
        return list(reversed(self._todo))

    def closed(self, node: Covered, block: int, index: int) -> bool:
        """Whether every local trace that goes on from this step, after the elements down to `node`, has its test."""
        if self.recursive:
            return False
        todo = [(node, block, index)]
        passed: list[tuple[Covered, int]] = []
        while todo:
            node, block, index = todo.pop()
            if index == 0:
                if block in node.closed:
                    continue
                passed.append((node, block))
            following = self._following(node, block, index)
            if following is None:
                return False
            todo.extend(following)
        for node, block in passed:
            node.closed.add(block)
        return True

    def _following(self, node: Covered, block: int, index: int) -> list[tuple[Covered, int, int]] | None:
        """Where control may come next, each with its place among the covered traces; None: somewhere new."""
        here = self.code.blocks[block]
        found: list[tuple[Covered, int, int]] = []
        end = here.end
        steps: list[ir.IrStep] = [*here.steps, *([end] if end is not None else [])]
        for i in range(index, len(steps)):
            raises = self._raises(steps[i])
            if raises is None:
                return None
            for name in raises:
                after = node.get(("raise", block, i, name))
                if after is None:
                    return None
                if here.handler is not None:
                    if here.handler not in after:
                        return None
                    found.append((after[here.handler], here.handler, 0))
        if isinstance(end, ir.ReturnStep):
            return found if _RETURN in node else None
        if not isinstance(end, ir.JumpStep | ir.BranchStep | ir.NextStep):
            return found
        for target in ir.successors(ir.BasicBlock(block, end=end)):
            if target not in node:
                return None
            found.append((node[target], target, 0))
        return found


class LocalWalk(Walk):
    """The local trace of one path."""

    def __init__(self, machine: IrMachine, guide: LocalGuide) -> None:
        super().__init__(machine)
        self.guide = guide
        self.trace: list[Element] = []
        self._node: Covered | None = guide.covered
        self._own: list[Frame] = []  # frames of the target on the stack
        self._begun: list[Frame] = []  # those that have been entered before: generators are entered many times

    def _add(self, element: Element) -> None:
        self.trace.append(element)
        if self._node is not None:
            self._node = self._node.get(element)

    def enter(self, frame: Frame) -> None:
        if frame.code is self.guide.code:
            self._own.append(frame)
            if not any(frame is f for f in self._begun):
                if self._begun:
                    self._add(_CALL)
                self._begun.append(frame)

    def leave(self, frame: Frame) -> None:
        if frame.code is self.guide.code:
            self._own.pop()

    def block(self, frame: Frame) -> None:
        if frame.code is self.guide.code:
            self._add(frame.block.number)
            self._check(frame)

    def _check(self, frame: Frame) -> None:
        if self._node is None or self.path.replaying or len(self._own) != 1:
            return
        if self.guide.closed(self._node, frame.block.number, 0):
            raise GivenUp

    def raised(self, frame: Frame, error: Any) -> None:
        if frame.code is self.guide.code:
            index = frame.index
            steps = frame.block.steps
            theirs = index >= len(steps) and isinstance(frame.block.end, ir.RaiseStep)
            theirs = theirs or (index < len(steps) and isinstance(steps[index], ir.CallStep))
            name = "" if theirs else getattr(getattr(error, "cls", None), "__qualname__", "")
            self._add(("raise", frame.block.number, index, name))

    def returned(self, frame: Frame) -> None:
        if frame.code is self.guide.code:
            self._add(_RETURN)

    def join(self, frame: Frame, condition: Expr) -> Joined | None:
        """Which way a callee goes does not matter to the local trace."""
        if frame.code is self.guide.code or self.path.follow is not None:
            return None
        return join(self.machine, frame, condition, self.guide.flow(frame.code), True)

    def prospect(self, choice: Choice) -> LocalProspect | None:
        if len(self._own) != 1:
            return None
        frame = self._own[0]
        target = None
        end = frame.block.end
        if self.deciding is frame and isinstance(end, ir.BranchStep) and isinstance(choice, ConditionGoes):
            target = end.then if choice.way else end.orelse
        return LocalProspect(self.trace, len(self.trace), target, frame.block.number, frame.index)

    def selected(self) -> bool:
        return self.guide.covered.find(self.trace) is None

    def passes(self, function: Any) -> bool:
        return function.code is not self.guide.code and not self.guide.recursive
