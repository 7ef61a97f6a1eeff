"""Passing both sides of a condition at once, where nothing that is wanted lies on them.

    if a > 0:
        n += 1        on the way to a goal behind this, n is  n + ite(a > 0, 1, 0)

All paths want the two sides apart. A search for goals does not care which way such a condition goes, as long as the
goal is met in the end: the condition is not decided, the values that its sides leave are put together, and one path
stands for two. Thirteen such conditions in a row are one path instead of 8192, and a goal that cannot be met behind
them is refuted once.

Sides that come together again are joined there; sides that both return are joined in the value returned. Only sides
that do nothing but compute with integers and truth values are joined: they cannot raise, call, loop or touch the heap,
and what they compute stays linear, so that it is no harder to solve. Anything else takes the condition apart as usual.
A joined condition is an entry of the trail, so that the path repeats itself whatever the goals are by then.

A number that is known on each side is not known behind them: a loop that counts it down is bounded then, and was not
before. A path that a loop bound cuts in this way is taken again with all conditions apart (`Path.doubtful`).

A test is made of a plain path, the one that the values found take: `Path.apart`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treadle.core.choice import WaysJoined
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import BOOL, INT, Expr, Value
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.ir.machine import Environment, Frame, Raised
from treadle.symbolic.path import NOT_REPEATED, CannotFollow

if TYPE_CHECKING:
    from treadle.symbolic.ir.flow import Flow
    from treadle.symbolic.ir.machine import IrMachine

# Larger expressions cost more than the paths that they save.
_LARGEST = 400
_PLAIN_OPERATORS = {"+", "-", "*", "<", "<=", ">", ">=", "==", "!=", "neg", "pos", "not", "truth", "+=", "-=", "*="}
_DIVISIONS = {"//", "%", "//=", "%="}


BOTH_SIDES, SIDE_BY_SIDE = WaysJoined(True), WaysJoined(False)

# Steps of both sides together: more would be taken again and again by conditions that return early.
_MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True)
class Joined:
    """What two sides leave together: the slots of the frame, and the value if they return."""

    env: Environment
    value: Any = None
    returned: bool = False


class Apart(Exception):
    """The sides cannot be passed at once."""


def join(machine: IrMachine, frame: Frame, condition: Expr, flow: Flow, wanted: bool) -> Joined | None:
    """Pass both sides of the condition at the end of a block, if that is possible.

    `wanted` counts beyond the given trail: within it, the trail says what was done.
    """
    path = machine.path
    if path.replaying:
        wanted = path.ahead() == BOTH_SIDES
        if path.ahead() == SIDE_BY_SIDE:
            path.join(SIDE_BY_SIDE)
    wanted = wanted and not path.plain
    end = frame.block.end
    if not wanted or not isinstance(end, ir.BranchStep) or frame.code.is_generator or not _may_join(flow, frame.block):
        return None
    meeting = flow.meeting(frame.block.number)
    try:
        joined = _both(machine, frame, condition, end, meeting, flow, [_MOST_STEPS])
    except Apart:
        if path.replaying:
            raise CannotFollow(NOT_REPEATED) from None
        return None
    path.join(BOTH_SIDES, [condition])
    frame.env.clear()
    frame.env.update(joined.env)
    if meeting is not None:
        machine.go(frame, meeting)
    return joined


def _may_join(flow: Flow, block: ir.BasicBlock) -> bool:
    """Whether the sides consist of steps that can be joined at all."""
    found = flow.joinable.get(block.number)
    if found is None:
        inside = [flow.code.blocks[number] for number in flow.between(block.number)]
        found = flow.joinable[block.number] = all(map(_is_plain_block, inside))
    return found


def _is_plain_block(block: ir.BasicBlock) -> bool:
    if block.loop is not None or block.body_of is not None:
        return False
    if not isinstance(block.end, ir.JumpStep | ir.BranchStep | ir.ReturnStep):
        return False
    return all(
        step.op in _PLAIN_OPERATORS | _DIVISIONS
        if isinstance(step, ir.OpStep)
        else isinstance(step, ir.AssignStep | ir.LoadGlobalStep)
        for step in block.steps
    )


def _both(
    machine: IrMachine,
    frame: Frame,
    condition: Expr,
    end: ir.BranchStep,
    meeting: int | None,
    flow: Flow,
    left: list[int],
) -> Joined:
    if condition.sort is not BOOL or not condition.linear:
        raise Apart
    yes = _side(machine, frame, end.then, meeting, flow, left)
    no = _side(machine, frame, end.orelse, meeting, flow, left)
    if meeting is None:
        return Joined(frame.env, _value(condition, yes.value, no.value), returned=True)
    return Joined(_together(condition, yes.env, no.env))


def _side(machine: IrMachine, frame: Frame, number: int, meeting: int | None, flow: Flow, left: list[int]) -> Joined:
    """What the blocks from `number` on leave: up to, but without, the meeting point, or to the end of the function."""
    inner = Frame(frame.code, Environment(frame.env.outer), frame.function)
    inner.env.update(frame.env)
    while number != meeting:
        block = frame.code.blocks[number]
        left[0] -= 1 + len(block.steps)
        if block.body_of is not None or block.loop is not None or left[0] < 0:
            raise Apart
        for step in block.steps:
            _step(machine, inner, step)
        end = block.end
        if isinstance(end, ir.JumpStep):
            number = end.target
        elif isinstance(end, ir.ReturnStep) and meeting is None:
            return Joined(inner.env, _operand(machine, inner, end.value), returned=True)
        elif isinstance(end, ir.BranchStep):
            condition = _operand(machine, inner, end.condition)
            if isinstance(condition, bool):
                number = end.then if condition else end.orelse
                continue
            if not isinstance(condition, Expr):
                raise Apart
            nearer = flow.meeting(number)
            joined = _both(machine, inner, condition, end, nearer, flow, left)
            if nearer is None:
                return joined
            inner.env, number = joined.env, nearer
        else:
            raise Apart
    return Joined(inner.env)


def _step(machine: IrMachine, frame: Frame, step: ir.IrStep) -> None:
    if isinstance(step, ir.OpStep):
        values = [_operand(machine, frame, arg) for arg in step.args]
        if not all(map(is_number_or_truth, values)):
            raise Apart
        if step.op in _DIVISIONS:
            if not (type(values[1]) is int and values[1]):
                raise Apart
        elif step.op not in _PLAIN_OPERATORS or (step.op.startswith("*") and all(isinstance(v, Expr) for v in values)):
            raise Apart
    elif not isinstance(step, ir.AssignStep | ir.LoadGlobalStep):
        raise Apart
    try:
        machine.act(frame, step)
    except Raised:
        raise Apart from None


def _operand(machine: IrMachine, frame: Frame, operand: ir.Operand) -> Any:
    try:
        return machine.operand(frame, operand)
    except Raised:
        raise Apart from None


def is_number_or_truth(value: Any) -> bool:
    return type(value) in (int, bool) or (isinstance(value, Expr) and value.sort in (INT, BOOL))


def _together(condition: Expr, yes: Environment, no: Environment) -> Environment:
    found = Environment(yes.outer)
    for slot in (*yes, *(s for s in no if s not in yes)):
        if slot in yes and slot in no:
            found[slot] = _value(condition, yes[slot], no[slot])
        elif not slot.startswith("%"):
            raise Apart  # a name that is bound on one side only
    return found


def _value(condition: Expr, yes: Any, no: Any) -> Value:
    """What two sides leave, if that stays easy to solve."""
    found: Value = either(condition, yes, no)
    if not x.is_linear(found) or size_of(found) > _LARGEST:
        raise Apart
    return found


def either(condition: Expr, yes: Any, no: Any) -> Any:
    """One value if the condition holds, else the other."""
    if yes is no or (type(yes) is type(no) and is_number_or_truth(yes) and not isinstance(yes, Expr) and yes == no):
        return yes
    if not (is_number_or_truth(yes) and is_number_or_truth(no)) or x.sort_of(yes) is not x.sort_of(no):
        raise Apart
    if x.sort_of(yes) is INT:
        more = x.sub(yes, no)
        if not isinstance(more, Expr):
            return x.add(no, x.ite(condition, more, 0))
    return x.ite(condition, yes, no)


def size_of(value: Any, known: dict[Expr, int] | None = None) -> int:
    """How many nodes the expression has when it is written out."""
    known = {} if known is None else known
    if not isinstance(value, Expr):
        return 1
    if value not in known:
        parts = [atom for atom, _ in value.args[1]] if value.op == "sum" else value.args
        known[value] = 1 + sum(size_of(part, known) for part in parts)
    return known[value]
