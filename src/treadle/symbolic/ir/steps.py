"""The small language that every front end compiles to: functions as control-flow graphs of simple steps.

A `Function` owns numbered `Block`s; a block is a list of steps ended by exactly one terminator (`Jump`,
`Branch`, `Next`, `Return`, `Raise`, `Stop`). Values live in named slots: parameters and local names as
written, and temporaries `%1, %2, ...`. An operand is a slot name or a `Const`. Every step carries the source
line.

When a step of a block raises, control goes to the block's `handler` (or out of the function), with the
exception in the handler's `Catch` step. Loop heads are marked, with their source line: that is where
iterations are counted.

The language is shared: Python uses all steps but the last three; concurrent-object front ends add
`AsyncCall`, `Await` and `Get`. `show(function)` prints it, for `--show ir`.
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
class Step:
    """Base of everything in a block."""

    line: int


# --- steps -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Assign(Step):
    dst: str
    value: Operand


@dataclass(slots=True)
class Delete(Step):
    """The slot no longer has a value; quiet: it is fine if it had none."""

    name: str
    quiet: bool = False


@dataclass(slots=True)
class LoadGlobal(Step):
    dst: str
    name: str


@dataclass(slots=True)
class StoreGlobal(Step):
    name: str
    value: Operand


@dataclass(slots=True)
class LoadOuter(Step):
    """Read a name of an enclosing function."""

    dst: str
    name: str


@dataclass(slots=True)
class StoreOuter(Step):
    name: str
    value: Operand


@dataclass(slots=True)
class Op(Step):
    """A unary or binary operator: `+`, `<`, `not`, `is`, `in`, `truth`, ..."""

    dst: str
    op: str
    args: tuple[Operand, ...]


@dataclass(slots=True)
class GetField(Step):
    dst: str
    obj: Operand
    name: str


@dataclass(slots=True)
class SetField(Step):
    obj: Operand
    name: str
    value: Operand


@dataclass(slots=True)
class DelField(Step):
    obj: Operand
    name: str


@dataclass(slots=True)
class GetItem(Step):
    dst: str
    obj: Operand
    index: Operand


@dataclass(slots=True)
class SetItem(Step):
    obj: Operand
    index: Operand
    value: Operand


@dataclass(slots=True)
class DelItem(Step):
    obj: Operand
    index: Operand


@dataclass(slots=True)
class Call(Step):
    """`args` may hold ("*", operand); `named` may hold (None, operand) for `**operand`."""

    dst: str
    function: Operand
    args: tuple[Operand | tuple[str, Operand], ...]
    named: tuple[tuple[str | None, Operand], ...] = ()


@dataclass(slots=True)
class New(Step):
    """A new container or object of the named kind: list, tuple, dict, set, slice, text, or a class."""

    dst: str
    kind: str
    args: tuple[Any, ...]


@dataclass(slots=True)
class Closure(Step):
    """A function value: the code, the defaults, and the names it sees around it."""

    dst: str
    function: Function
    defaults: tuple[Operand, ...] = ()
    named_defaults: tuple[tuple[str, Operand], ...] = ()


@dataclass(slots=True)
class BeginLoop(Step):
    """A loop is entered from outside: its rounds are counted from here."""

    head: int


@dataclass(slots=True)
class Iterate(Step):
    """An iterator over the value."""

    dst: str
    value: Operand


@dataclass(slots=True)
class Unpack(Step):
    """Spread an iterable over slots; `star` is the index of the slot that takes the rest."""

    targets: tuple[str, ...]
    value: Operand
    star: int | None = None


@dataclass(slots=True)
class Catch(Step):
    """First step of a handler block: the exception that led here."""

    dst: str


@dataclass(slots=True)
class Yield(Step):
    """Hand a value to the consumer of a generator; `dst` receives what it sends back."""

    dst: str
    value: Operand


@dataclass(slots=True)
class AsyncCall(Step):
    """Add a task to another actor: `dst` receives the future."""

    dst: str
    obj: Operand
    method: str
    args: tuple[Operand, ...]


@dataclass(slots=True)
class Await(Step):
    """Release the actor until the guard holds."""

    guard: Any


@dataclass(slots=True)
class Get(Step):
    """Block the actor until the future has its value."""

    dst: str
    future: Operand


# --- terminators -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Jump(Step):
    target: int


@dataclass(slots=True)
class Branch(Step):
    condition: Operand
    then: int
    orelse: int


@dataclass(slots=True)
class Next(Step):
    """The head of a for loop: the iterator's next value into `dst`, or leave the loop."""

    dst: str
    iterator: Operand
    body: int
    done: int


@dataclass(slots=True)
class Return(Step):
    value: Operand


@dataclass(slots=True)
class Raise(Step):
    value: Operand
    cause: Operand | None = None


@dataclass(slots=True)
class Stop(Step):
    """A statement that no front end supports: the path ends here, as unsupported."""

    what: str


Terminator = Jump | Branch | Next | Return | Raise | Stop


# --- graphs ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Block:
    number: int
    steps: list[Step] = field(default_factory=list)
    end: Terminator | None = None
    handler: int | None = None
    # the source line of the loop whose head this block is
    loop: int | None = None
    # the head of the loop whose body begins here
    body_of: int | None = None


@dataclass(slots=True)
class Parameter:
    """One parameter; kind is 'plain', 'positional', 'keyword', 'rest' (*args) or 'named' (**kwargs)."""

    name: str
    kind: str = "plain"
    has_default: bool = False


@dataclass(slots=True)
class Function:
    name: str
    file: str
    line: int
    parameters: list[Parameter] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    is_generator: bool = False
    # the class whose body holds the function: for super() and private names
    owner: str | None = None

    def block(self) -> Block:
        new = Block(len(self.blocks))
        self.blocks.append(new)
        return new


def successors(block: Block) -> Iterator[int]:
    """Where control can go from a block, the handler last."""
    end = block.end
    if isinstance(end, Jump):
        yield end.target
    elif isinstance(end, Branch):
        yield end.then
        yield end.orelse
    elif isinstance(end, Next):
        yield end.body
        yield end.done
    if block.handler is not None:
        yield block.handler


# --- printing --------------------------------------------------------------------------------------------


def show(function: Function) -> str:
    """The whole graph as text, unreachable blocks left out."""
    reachable = _reachable(function)
    parameters = ", ".join(_parameter(p) for p in function.parameters)
    lines = [f"function {function.name}({parameters})    {function.file}:{function.line}"]
    nested: list[Function] = []
    for block in function.blocks:
        if block.number not in reachable:
            continue
        notes = ""
        if block.loop is not None:
            notes += f"  loop at line {block.loop}"
        if block.handler is not None:
            notes += f"  on exception -> b{block.handler}"
        lines.append(f"b{block.number}:{notes}")
        for step in (*block.steps, *([block.end] if block.end else [])):
            lines.append(f"    {step.line or '':>4}  {show_step(step)}")
            if isinstance(step, Closure):
                nested.append(step.function)
    for inner in nested:
        lines.extend(("", show(inner)))
    return "\n".join(lines)


def _reachable(function: Function) -> set[int]:
    seen: set[int] = set()
    todo = [0]
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo.extend(successors(function.blocks[number]))
    return seen


def _parameter(parameter: Parameter) -> str:
    stars = {"rest": "*", "named": "**"}.get(parameter.kind, "")
    return f"{stars}{parameter.name}{'=...' if parameter.has_default else ''}"


def _list(operands: Sequence[Any]) -> str:
    return ", ".join(_operand(o) for o in operands)


def _operand(operand: Any) -> str:
    if isinstance(operand, tuple):
        return "".join(_operand(part) for part in operand)
    return str(operand)


def show_step(step: Step) -> str:
    """One step in one line."""
    match step:
        case Assign(dst=dst, value=value):
            return f"{dst} = {value}"
        case Delete(name=name):
            return f"delete {name}"
        case LoadGlobal(dst=dst, name=name):
            return f"{dst} = global {name}"
        case StoreGlobal(name=name, value=value):
            return f"global {name} = {value}"
        case LoadOuter(dst=dst, name=name):
            return f"{dst} = outer {name}"
        case StoreOuter(name=name, value=value):
            return f"outer {name} = {value}"
        case Op(dst=dst, op=op, args=(a, b)):
            return f"{dst} = {a} {op} {b}"
        case Op(dst=dst, op=op, args=args):
            return f"{dst} = {op} {_list(args)}"
        case GetField(dst=dst, obj=obj, name=name):
            return f"{dst} = {obj}.{name}"
        case SetField(obj=obj, name=name, value=value):
            return f"{obj}.{name} = {value}"
        case DelField(obj=obj, name=name):
            return f"delete {obj}.{name}"
        case GetItem(dst=dst, obj=obj, index=index):
            return f"{dst} = {obj}[{index}]"
        case SetItem(obj=obj, index=index, value=value):
            return f"{obj}[{index}] = {value}"
        case DelItem(obj=obj, index=index):
            return f"delete {obj}[{index}]"
        case Call(dst=dst, function=function, args=args, named=named):
            named_text = [f"**{v}" if k is None else f"{k}={v}" for k, v in named]
            return f"{dst} = call {function}({', '.join([*map(_operand, args), *named_text])})"
        case New(dst=dst, kind=kind, args=args):
            return f"{dst} = new {kind}({_list(args)})"
        case Closure(dst=dst, function=function):
            return f"{dst} = function {function.name}"
        case BeginLoop(head=head):
            return f"begin loop b{head}"
        case Iterate(dst=dst, value=value):
            return f"{dst} = iterate {value}"
        case Unpack(targets=targets, value=value, star=star):
            names = [f"*{t}" if i == star else t for i, t in enumerate(targets)]
            return f"{', '.join(names)} = unpack {value}"
        case Catch(dst=dst):
            return f"{dst} = caught"
        case Yield(dst=dst, value=value):
            return f"{dst} = yield {value}"
        case AsyncCall(dst=dst, obj=obj, method=method, args=args):
            return f"{dst} = {obj}!{method}({_list(args)})"
        case Await(guard=guard):
            return f"await {guard}"
        case Get(dst=dst, future=future):
            return f"{dst} = {future}.get"
        case Jump(target=target):
            return f"goto b{target}"
        case Branch(condition=condition, then=then, orelse=orelse):
            return f"if {condition} goto b{then} else b{orelse}"
        case Next(dst=dst, iterator=iterator, body=body, done=done):
            return f"{dst} = next {iterator} goto b{body} else b{done}"
        case Return(value=value):
            return f"return {value}"
        case Raise(value=value):
            return f"raise {value}"
        case Stop(what=what):
            return f"unsupported: {what}"
    raise TypeError(f"not a step: {step!r}")
