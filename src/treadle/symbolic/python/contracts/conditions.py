"""Which conditions there are: the contracts of icontract and deal around a function or on a class, as plain data.

Both libraries keep their conditions on the wrappers that they put around a function; nothing here calls a library.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from dataclasses import dataclass
from typing import Any

from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile import source


@dataclass(frozen=True, slots=True)
class WrittenCondition:
    """A condition that is no function: the text of --pre, a leading assert."""

    node: ast.expr
    code: ir.CompiledFunction
    function: types.FunctionType  # whose names it uses


@dataclass(slots=True, eq=False)
class Condition:
    """One condition, wherever it was written."""

    kind: str  # 'precondition', 'postcondition', 'invariant', 'exceptions'
    origin: str  # as the user wrote it: icontract.require, deal.pre, assert, --pre
    test: Any  # a callable, or Written
    text: str
    file: str
    line: int
    # how the test is called: 'named' (the arguments it names), 'same' (as the function), 'short' (one `_`)
    calling: str = "named"
    error: Any = None
    # a message instead of a truth value means that it does not hold
    may_complain: bool = False
    # the exception that it raised instead of an answer, on some path
    failed: str = ""

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    @property
    def expression(self) -> ast.expr | None:
        """The condition as one expression over `names()`, if it is one."""
        if isinstance(self.test, WrittenCondition):
            return self.test.node
        found = source.returned_expression(self.test) if isinstance(self.test, types.FunctionType) else None
        if found is not None and self.may_complain:
            return _without_message(found)
        return found

    def attributes(self) -> list[str]:
        """The names that a condition reads off its one parameter `_`."""
        if not isinstance(self.test, types.FunctionType):
            return []
        parts = [n for n in ast.walk(source.node_of(self.test.__code__)) if isinstance(n, ast.Attribute)]
        return [n.attr for n in parts if isinstance(n.value, ast.Name) and n.value.id == "_"]

    def names(self) -> list[str]:
        """The parameters of the condition."""
        if isinstance(self.test, WrittenCondition):
            return [p.name for p in self.test.code.parameters]
        return list(inspect.signature(self.test).parameters)


# --- reading -----------------------------------------------------------------------------------------------

_LAYERS = {
    ("icontract._checkers", "decorate_with_checker.<locals>.wrapper"): "checker",
    ("icontract._checkers", "_decorate_with_invariants.<locals>.wrapper"): "invariant",
    ("icontract._checkers", "_decorate_new_with_invariants.<locals>.wrapper"): "new",
    ("deal._runtime._contracts", "Contracts._ensure_wrapped.<locals>.wrapper"): "deal",
}


def layer(function: Any) -> str:
    """Which library's wrapper a function is; '' for an ordinary function."""
    code = getattr(function, "__code__", None)
    if code is None or code.co_name != "wrapper":
        return ""
    return _LAYERS.get((function.__globals__.get("__name__", ""), code.co_qualname), "")


def cells(function: types.FunctionType) -> dict[str, Any]:
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}


def wrapped_by(wrapper: Any) -> Any:
    """What a contract wrapper wraps."""
    kind = layer(wrapper)
    if kind == "deal":
        return cells(wrapper)["contracts"].func
    if kind == "new":
        return cells(wrapper)["new_func"]
    return cells(wrapper)["func"]


def layers(decorated: object) -> list[Any]:
    """The contract wrappers around a function, from the outside in."""
    found = []
    current = decorated
    seen: set[int] = set()
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        if layer(current):
            found.append(current)
            current = wrapped_by(current)
        else:
            current = getattr(current, "__wrapped__", None)
    return found


def outermost(decorated: object) -> tuple[list[object], object]:
    """The contract wrappers that stand outside of every other decorator, and what they wrap."""
    found = []
    while layer(decorated):
        found.append(decorated)
        decorated = wrapped_by(decorated)
    return found, decorated


def _describe(test: object) -> tuple[str, str, int]:
    """(text, file, line) of a condition."""
    if isinstance(test, types.FunctionType):
        file, line = source.file_of(test.__code__), test.__code__.co_firstlineno
        try:
            node = source.node_of(test.__code__)
        except source.NoSource:
            return test.__name__, file, line
        if isinstance(node, ast.Lambda):
            return source_text(node.body, file), file, node.lineno
        return f"{test.__name__}({', '.join(inspect.signature(test).parameters)})", file, line
    name = getattr(test, "__qualname__", None) or type(test).__name__
    return name, "", 0


def source_text(node: ast.expr, file: str) -> str:
    """An expression as it is written, on one line."""
    segment = ast.get_source_segment("".join(linecache.getlines(file)), node)
    return segment if segment and "\n" not in segment else ast.unparse(node)


def _without_message(node: ast.expr) -> ast.expr:
    """`a > 0 or "a must be positive"` is `a > 0`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        last = node.values[-1]
        if isinstance(last, ast.JoinedStr) or (isinstance(last, ast.Constant) and isinstance(last.value, str)):
            rest = node.values[:-1]
            return rest[0] if len(rest) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), rest), node)
    return node


@functools.cache
def of_icontract(contract: Any, kind: str) -> Condition:
    text, file, line = _describe(contract.condition)
    origin = {"precondition": "require", "postcondition": "ensure"}.get(kind, kind)
    return Condition(kind, f"icontract.{origin}", contract.condition, text, file, line, "named", contract.error)


@functools.cache
def of_deal(validator: Any, kind: str, origin: str) -> Condition:
    test = validator.raw_validator
    text, file, line = _describe(test)
    try:
        short = list(inspect.signature(test).parameters) == ["_"]
    except (TypeError, ValueError):
        short = False
    found = Condition(
        kind, f"deal.{origin}", test, text, file, line, "short" if short else "same", validator.exception, True
    )
    if short and isinstance(test, types.FunctionType):
        found.text = found.text.replace("_.", "")
    expression = found.expression
    if expression is not None and expression is not source.returned_expression(test):
        found.text = source_text(expression, file).replace("_." if short else "\0", "")
    return found


def is_on(wrapper: Any) -> bool:
    """deal.disable() switches its contracts off while the program runs."""
    return layer(wrapper) != "deal" or bool(wrapper.__globals__["state"].debug)


def preconditions(wrapper: Any) -> list[list[Condition]]:
    """Groups of preconditions: those of one group hold, or those of another."""
    kind = layer(wrapper)
    if kind == "checker":
        groups = [[of_icontract(c, "precondition") for c in group] for group in wrapper.__preconditions__]
        return [group for group in groups if group]
    if kind == "deal" and is_on(wrapper):
        found = [of_deal(v, "precondition", "pre") for v in cells(wrapper)["contracts"].pres]
        return [found] if found else []
    return []


def postconditions(wrapper: Any) -> list[Condition]:
    kind = layer(wrapper)
    if kind == "checker":
        return [of_icontract(c, "postcondition") for c in wrapper.__postconditions__]
    if kind == "deal" and is_on(wrapper):
        contracts = cells(wrapper)["contracts"]
        found = [of_deal(v, "postcondition", "post") for v in contracts.posts]
        return found + [of_deal(v, "postcondition", "ensure") for v in contracts.ensures]
    return []


def as_written(cls: type) -> type:
    """The class that the user wrote: deal.inv puts one of its own in its place."""
    if "_deal_invariants" not in vars(cls):
        return cls
    return next((base for base in cls.__mro__[1:] if not base.__module__.startswith("deal.")), cls)


def has_invariants(cls: type) -> bool:
    return bool(getattr(cls, "__invariants__", None) or getattr(cls, "_deal_invariants", None))


def invariants(cls: type) -> list[Condition]:
    """What holds for every object of a class between calls."""
    found = [of_icontract(c, "invariant") for c in getattr(cls, "__invariants__", None) or ()]
    return found + [of_deal(v, "invariant", "inv") for v in getattr(cls, "_deal_invariants", ())]
