"""The small language that functions of Python are compiled to: control-flow graphs of simple steps.

A `CompiledFunction` owns numbered `BasicBlock`s; a block is a list of steps ended by one terminator (`JumpStep`,
`BranchStep`, `NextStep`, `ReturnStep`, `RaiseStep`, `StopStep`). Values live in named slots: parameters and local names
as written, and temporaries `%1, %2, ...`. An operand is a slot name or a `Const`. Every step carries the source line.

When a step of a block raises, control goes to the block's `handler` (or out of the function), with the
exception in the handler's `CatchStep`. Loop heads are marked, with their source line: that is where
iterations are counted. `show(function)` prints it, for `--show ir`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Const:
    """A value known when compiling."""

    value: Any

    def __str__(self) -> str:
        return repr(self.value)


Operand = str | Const


@dataclass(slots=True)
class IrStep:
    """Base of everything in a block."""

    line: int


# --- steps -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class AssignStep(IrStep):
    dst: str
    value: Operand


@dataclass(slots=True)
class DeleteStep(IrStep):
    """The slot no longer has a value; quiet: it is fine if it had none."""

    name: str
    quiet: bool = False


@dataclass(slots=True)
class LoadGlobalStep(IrStep):
    dst: str
    name: str


@dataclass(slots=True)
class StoreGlobalStep(IrStep):
    name: str
    value: Operand


@dataclass(slots=True)
class LoadOuterStep(IrStep):
    """Read a name of an enclosing function."""

    dst: str
    name: str


@dataclass(slots=True)
class StoreOuterStep(IrStep):
    name: str
    value: Operand


@dataclass(slots=True)
class OpStep(IrStep):
    """A unary or binary operator: `+`, `<`, `not`, `is`, `in`, `truth`, ..."""

    dst: str
    op: str
    args: tuple[Operand, ...]


@dataclass(slots=True)
class GetFieldStep(IrStep):
    dst: str
    obj: Operand
    name: str


@dataclass(slots=True)
class SetFieldStep(IrStep):
    obj: Operand
    name: str
    value: Operand


@dataclass(slots=True)
class DelFieldStep(IrStep):
    obj: Operand
    name: str


@dataclass(slots=True)
class GetItemStep(IrStep):
    dst: str
    obj: Operand
    index: Operand


@dataclass(slots=True)
class SetItemStep(IrStep):
    obj: Operand
    index: Operand
    value: Operand


@dataclass(slots=True)
class DelItemStep(IrStep):
    obj: Operand
    index: Operand


@dataclass(slots=True)
class CallStep(IrStep):
    """`args` may hold ("*", operand); `named` may hold (None, operand) for `**operand`."""

    dst: str
    function: Operand
    args: tuple[Operand | tuple[str, Operand], ...]
    named: tuple[tuple[str | None, Operand], ...] = ()


@dataclass(slots=True)
class NewStep(IrStep):
    """A new container or object of the named kind: list, tuple, dict, set, slice, text, or a class."""

    dst: str
    kind: str
    args: tuple[Any, ...]


@dataclass(slots=True)
class ClosureStep(IrStep):
    """A function value: the code, the defaults, and the names it sees around it."""

    dst: str
    function: CompiledFunction
    defaults: tuple[Operand, ...] = ()
    named_defaults: tuple[tuple[str, Operand], ...] = ()


@dataclass(slots=True)
class BeginLoopStep(IrStep):
    """A loop is entered from outside: its rounds are counted from here."""

    head: int


@dataclass(slots=True)
class IterateStep(IrStep):
    """An iterator over the value."""

    dst: str
    value: Operand


@dataclass(slots=True)
class UnpackStep(IrStep):
    """Spread an iterable over slots; `star` is the index of the slot that takes the rest."""

    targets: tuple[str, ...]
    value: Operand
    star: int | None = None


@dataclass(slots=True)
class CatchStep(IrStep):
    """First step of a handler block: the exception that led here."""

    dst: str


@dataclass(slots=True)
class YieldStep(IrStep):
    """Hand a value to the consumer of a generator; `dst` receives what it sends back."""

    dst: str
    value: Operand


# --- terminators -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class JumpStep(IrStep):
    target: int


@dataclass(slots=True)
class BranchStep(IrStep):
    condition: Operand
    then: int
    orelse: int


@dataclass(slots=True)
class NextStep(IrStep):
    """The head of a for loop: the iterator's next value into `dst`, or leave the loop."""

    dst: str
    iterator: Operand
    body: int
    done: int


@dataclass(slots=True)
class ReturnStep(IrStep):
    value: Operand


@dataclass(slots=True)
class RaiseStep(IrStep):
    value: Operand
    cause: Operand | None = None


@dataclass(slots=True)
class StopStep(IrStep):
    """A statement that no front end supports: the path ends here, as unsupported."""

    what: str


Terminator = JumpStep | BranchStep | NextStep | ReturnStep | RaiseStep | StopStep


# --- graphs ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class BasicBlock:
    number: int
    steps: list[IrStep] = field(default_factory=list)
    end: Terminator | None = None
    handler: int | None = None
    # the source line of the loop whose head this block is
    loop: int | None = None
    # the head of the loop whose body begins here
    body_of: int | None = None


@dataclass(slots=True)
class IrParameter:
    """One parameter; kind is 'plain', 'positional', 'keyword', 'rest' (*args) or 'named' (**kwargs)."""

    name: str
    kind: str = "plain"
    has_default: bool = False


@dataclass(slots=True)
class CompiledFunction:
    name: str
    file: str
    line: int
    parameters: list[IrParameter] = field(default_factory=list)
    blocks: list[BasicBlock] = field(default_factory=list)
    is_generator: bool = False
    # the class whose body holds the function: for super() and private names
    owner: str | None = None

    def block(self) -> BasicBlock:
        new = BasicBlock(len(self.blocks))
        self.blocks.append(new)
        return new


def successors(block: BasicBlock) -> Iterator[int]:
    """Where control can go from a block, the handler last."""
    end = block.end
    if isinstance(end, JumpStep):
        yield end.target
    elif isinstance(end, BranchStep):
        yield end.then
        yield end.orelse
    elif isinstance(end, NextStep):
        yield end.body
        yield end.done
    if block.handler is not None:
        yield block.handler


# --- printing --------------------------------------------------------------------------------------------


def show(function: CompiledFunction) -> str:
    """The whole graph as text, unreachable blocks left out."""
    reached = reachable(function)
    parameters = ", ".join(_parameter(p) for p in function.parameters)
    lines = [f"function {function.name}({parameters})    {function.file}:{function.line}"]
    nested: list[CompiledFunction] = []
    for block in function.blocks:
        if block.number not in reached:
            continue
        notes = ""
        if block.loop is not None:
            notes += f"  loop at line {block.loop}"
        if block.handler is not None:
            notes += f"  on exception -> b{block.handler}"
        lines.append(f"b{block.number}:{notes}")
        for step in (*block.steps, *([block.end] if block.end else [])):
            lines.append(f"    {step.line or '':>4}  {show_step(step)}")
            if isinstance(step, ClosureStep):
                nested.append(step.function)
    for inner in nested:
        lines.extend(("", show(inner)))
    return "\n".join(lines)


def reachable(function: CompiledFunction) -> set[int]:
    """The blocks that control can come to from the entry."""
    seen: set[int] = set()
    todo = [0]
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo.extend(successors(function.blocks[number]))
    return seen


def _parameter(parameter: IrParameter) -> str:
    stars = {"rest": "*", "named": "**"}.get(parameter.kind, "")
    return f"{stars}{parameter.name}{'=...' if parameter.has_default else ''}"


def _list(operands: Sequence[Any]) -> str:
    return ", ".join(_operand(o) for o in operands)


def _operand(operand: Any) -> str:
    if isinstance(operand, tuple):
        return "".join(_operand(part) for part in operand)
    return str(operand)


def show_step(step: IrStep) -> str:
    """One step in one line."""
    match step:
        case AssignStep(dst=dst, value=value):
            return f"{dst} = {value}"
        case DeleteStep(name=name):
            return f"delete {name}"
        case LoadGlobalStep(dst=dst, name=name):
            return f"{dst} = global {name}"
        case StoreGlobalStep(name=name, value=value):
            return f"global {name} = {value}"
        case LoadOuterStep(dst=dst, name=name):
            return f"{dst} = outer {name}"
        case StoreOuterStep(name=name, value=value):
            return f"outer {name} = {value}"
        case OpStep(dst=dst, op=op, args=(a, b)):
            return f"{dst} = {a} {op} {b}"
        case OpStep(dst=dst, op=op, args=args):
            return f"{dst} = {op} {_list(args)}"
        case GetFieldStep(dst=dst, obj=obj, name=name):
            return f"{dst} = {obj}.{name}"
        case SetFieldStep(obj=obj, name=name, value=value):
            return f"{obj}.{name} = {value}"
        case DelFieldStep(obj=obj, name=name):
            return f"delete {obj}.{name}"
        case GetItemStep(dst=dst, obj=obj, index=index):
            return f"{dst} = {obj}[{index}]"
        case SetItemStep(obj=obj, index=index, value=value):
            return f"{obj}[{index}] = {value}"
        case DelItemStep(obj=obj, index=index):
            return f"delete {obj}[{index}]"
        case CallStep(dst=dst, function=function, args=args, named=named):
            named_text = [f"**{v}" if k is None else f"{k}={v}" for k, v in named]
            return f"{dst} = call {function}({', '.join([*map(_operand, args), *named_text])})"
        case NewStep(dst=dst, kind=kind, args=args):
            return f"{dst} = new {kind}({_list(args)})"
        case ClosureStep(dst=dst, function=function):
            return f"{dst} = function {function.name}"
        case BeginLoopStep(head=head):
            return f"begin loop b{head}"
        case IterateStep(dst=dst, value=value):
            return f"{dst} = iterate {value}"
        case UnpackStep(targets=targets, value=value, star=star):
            names = [f"*{t}" if i == star else t for i, t in enumerate(targets)]
            return f"{', '.join(names)} = unpack {value}"
        case CatchStep(dst=dst):
            return f"{dst} = caught"
        case YieldStep(dst=dst, value=value):
            return f"{dst} = yield {value}"
        case JumpStep(target=target):
            return f"goto b{target}"
        case BranchStep(condition=condition, then=then, orelse=orelse):
            return f"if {condition} goto b{then} else b{orelse}"
        case NextStep(dst=dst, iterator=iterator, body=body, done=done):
            return f"{dst} = next {iterator} goto b{body} else b{done}"
        case ReturnStep(value=value):
            return f"return {value}"
        case RaiseStep(value=value):
            return f"raise {value}"
        case StopStep(what=what):
            return f"unsupported: {what}"
    raise TypeError(f"not a step: {step!r}")
