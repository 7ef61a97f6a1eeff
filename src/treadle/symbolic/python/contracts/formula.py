"""A condition as one formula: evaluated without taking a path through it.

Running `a > 0 or b > 0` on the machine splits the path at `or`. A contract is not code whose paths anybody wants to
see, so what is free of effects and made of scalars is read off the syntax tree instead, and becomes one expression.
`NotPure` is raised for everything else; the caller then runs the condition like any other code. References may be
looked at where the condition certainly looks at them (the first operand of `and`), never behind a condition.

What can fail on some values (a division) is kept apart: `defined` says for which values nothing fails.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from treadle.core.parsing import mangle
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Truth, Value
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj, UnknownRef, looked_up
from treadle.symbolic.ir.machine import Environment, Raised
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine import binding, classes, operators
from treadle.symbolic.python.machine.equality import has_truth, identical
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import open_lists
from treadle.symbolic.python.values.kinds import as_int, is_string, is_truth_value, number_kind
from treadle.symbolic.python.values.values import PyValue


class NotPure(Exception):
    """The condition has to be run."""


@dataclass(slots=True)
class FormulaNames:
    """Where the names of an expression come from."""

    local: dict[str, Any]
    globals: dict[str, Any]
    outer: Environment | None = None
    owner: str | None = None  # the class whose body holds the expression, for __private names

    def mangled(self, name: str) -> str:
        return mangle(name, self.owner)


@dataclass(slots=True)
class ArgumentsByName:
    """The one parameter `_` of a condition: all arguments by name."""

    values: dict[str, Any] = field(default_factory=dict)


# Functions that a condition calls are read the same way; deeper than this it is no longer a condition.
_DEPTH = 8

_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/"}
_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def formula(vm: VM, node: ast.expr, names: FormulaNames) -> tuple[Truth, Truth]:
    """(the condition's truth, where it is defined) as expressions; `NotPure` if it has to be run."""
    reader = _Reader(vm, names)
    truth = reader.truth(node, True)
    return truth, x.and_(*reader.defined)


class _Reader:
    def __init__(self, vm: VM, names: FormulaNames, depth: int = 0) -> None:
        self.vm = vm
        self.names = names
        self.depth = depth
        self.defined: list[Truth] = []

    @contextmanager
    def _only_if(self, condition: Truth) -> Iterator[None]:
        """What is read here matters only where the condition holds."""
        outside, self.defined = self.defined, []
        try:
            yield
            inside = x.and_(*self.defined)
        finally:
            self.defined = outside
        self.defined.append(x.implies(condition, inside))

    # --- truth -------------------------------------------------------------------------------------------

    def truth(self, node: ast.expr, sure: bool) -> Truth:
        """bool(node); `sure`: the condition is certain to evaluate it."""
        if isinstance(node, ast.BoolOp):
            return self._junction(node, sure)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return x.not_(self.truth(node.operand, sure))
        if isinstance(node, ast.IfExp):
            either: Truth | Any = self._either(node, sure, self.truth)
            return either
        return self._truth_of(self.value(node, sure), sure)

    def _truth_of(self, value: PyValue, sure: bool) -> Truth:
        if isinstance(value, InstanceObj) and not has_truth(value.cls):
            return True
        if (
            _is_scalar(value)
            or isinstance(value, ListObj | DictObj | tuple)
            or (isinstance(value, UnknownRef) and sure)
        ):
            return self.vm.truth(value)
        raise NotPure

    def _junction(self, node: ast.BoolOp, sure: bool) -> Truth:
        is_and = isinstance(node.op, ast.And)
        join = x.and_ if is_and else x.or_
        so_far: Truth = is_and
        for operand in node.values:
            condition = so_far if is_and else x.not_(so_far)
            if condition is False:
                return so_far
            with self._only_if(condition):
                part = self.truth(operand, sure and condition is True)
            so_far = join(so_far, part)
        return so_far

    def _either(self, node: ast.IfExp, sure: bool, read: Any) -> Value | Any:
        test = self.truth(node.test, sure)
        if not isinstance(test, Expr):
            return read(node.body if test else node.orelse, sure)
        with self._only_if(test):
            yes = read(node.body, False)
        with self._only_if(x.not_(test)):
            no = read(node.orelse, False)
        return self._choice(test, yes, no)

    def _choice(self, test: Truth, yes: Any, no: Any) -> Value:
        try:
            if x.sort_of(yes) is x.sort_of(no):
                return x.ite(test, yes, no)
        except TypeError:
            pass
        raise NotPure

    # --- values ------------------------------------------------------------------------------------------

    def value(self, node: ast.expr, sure: bool) -> Any:
        if sure:
            return self._value(node, True)
        try:
            return self._value(node, False)
        except Raised:
            # it fails, but perhaps nobody gets there
            raise NotPure from None

    def _value(self, node: ast.expr, sure: bool) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._name(node.id)
            case ast.Attribute():
                return self._attribute(node, sure)
            case ast.BinOp():
                return self._binary(node, sure)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                operand = self._scalar(node.operand, sure)
                name = "neg" if isinstance(node.op, ast.USub) else "pos"
                return operators.unary(self.vm, name, operand)
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp():
                return self._boolean(node, sure)
            case ast.Compare():
                return self._compare(node, sure)
            case ast.IfExp():
                return self._either(node, sure, self.value)
            case ast.Call():
                return self._call(node, sure)
            case ast.Tuple() | ast.List() | ast.Set():
                return tuple(self.value(e, sure) for e in node.elts)
        raise NotPure

    def _scalar(self, node: ast.expr, sure: bool) -> PyValue:
        found = self.value(node, sure)
        if not _is_scalar(found):
            raise NotPure
        return found

    def _boolean(self, node: ast.expr, sure: bool) -> Truth:
        """`a and b` is one of its operands: the same as its truth only if all are truth values."""
        if isinstance(node, ast.BoolOp):
            for operand in node.values:
                call = isinstance(operand, ast.Call) and _called(operand) in ("bool", "isinstance", "implies")
                name = isinstance(operand, ast.Name) and is_truth_value(self._name(operand.id))
                if not (call or name or isinstance(operand, ast.Compare | ast.BoolOp | ast.UnaryOp)):
                    raise NotPure
        return self.truth(node, sure)

    def _name(self, name: str) -> PyValue:
        if name in self.names.local:
            return looked_up(self.names.local[name])
        outer = self.names.outer
        while outer is not None:
            if name in outer:
                return looked_up(outer[name])
            outer = outer.outer
        return self.vm.read_global(self.names.globals, self.names.mangled(name))

    def _object(self, node: ast.expr, sure: bool) -> PyValue:
        """A value that is looked into: an unknown reference is decided, if that is certain to happen."""
        found = self.value(node, sure)
        if isinstance(found, UnknownRef):
            if not sure:
                raise NotPure
            found = self.vm.force(found)
        return found

    def _attribute(self, node: ast.Attribute, sure: bool) -> PyValue:
        found = self._object(node.value, sure)
        name = self.names.mangled(node.attr)
        if isinstance(found, ArgumentsByName):
            if name not in found.values:
                raise NotPure
            return looked_up(found.values[name])
        if isinstance(found, InstanceObj):
            if len(found.classes) > 1 and not sure:
                raise NotPure
            raw = classes.lookup(found.cls, name)
            is_code = isinstance(raw, property | types.FunctionType) or hasattr(type(raw), "__get__")
            slot = isinstance(raw, types.MemberDescriptorType)
            if (is_code and not slot) or _looks_up(found.cls):
                raise NotPure
        elif not isinstance(found, type | types.ModuleType):
            raise NotPure
        return looked_up(self.vm.attribute(found, name))

    def _binary(self, node: ast.BinOp, sure: bool) -> PyValue:
        op = _BINARY.get(type(node.op))
        if op is None:
            raise NotPure
        a, b = self._scalar(node.left, sure), self._scalar(node.right, sure)
        if op in ("//", "%", "/") and (isinstance(a, Expr) or isinstance(b, Expr)):
            return self._divided(op, a, b)
        return self.vm.binary(op, a, b)

    def _divided(self, op: str, a: PyValue, b: PyValue) -> Value:
        if number_kind(a) != "int" or number_kind(b) != "int":
            raise NotPure
        a, b = as_int(a), as_int(b)
        if not isinstance(b, Expr) and b == 0:
            raise NotPure
        self.defined.append(x.ne(b, 0))
        if op == "/":
            return x.rdiv(x.to_real(a), x.to_real(b))
        return x.floordiv(a, b) if op == "//" else x.mod(a, b)

    # --- comparison --------------------------------------------------------------------------------------

    def _compare(self, node: ast.Compare, sure: bool) -> Truth:
        """a < b < c: every link, none twice."""
        left = self.value(node.left, sure)
        so_far: Truth = True
        for op, operand in zip(node.ops, node.comparators, strict=True):
            if so_far is False:
                return False
            with self._only_if(so_far):
                here = sure and so_far is True
                right = self.value(operand, here)
                link = self._link(op, left, right, here)
            so_far = x.and_(so_far, link)
            left = right
        return so_far

    def _link(self, op: ast.cmpop, a: PyValue, b: PyValue, sure: bool) -> Truth:
        if isinstance(op, ast.Is | ast.IsNot):
            same = self._identical(a, b, sure)
            return same if isinstance(op, ast.Is) else x.not_(same)
        if isinstance(op, ast.In | ast.NotIn):
            inside = self._member(a, b, sure)
            return inside if isinstance(op, ast.In) else x.not_(inside)
        if isinstance(op, ast.Eq | ast.NotEq):
            if not (_is_scalar(a) and _is_scalar(b)) and not _is_none_test(a, b, sure):
                raise NotPure
            same = self.vm.equal(a, b)
            return same if isinstance(op, ast.Eq) else x.not_(same)
        if not (_is_scalar(a) and _is_scalar(b)):
            raise NotPure
        found = self.vm.compare(_ORDER[type(op)], a, b)
        return found if isinstance(found, Expr) else bool(found)

    def _identical(self, a: PyValue, b: PyValue, sure: bool) -> Truth:
        known = not isinstance(a, UnknownRef) and not isinstance(b, UnknownRef)
        if known or _is_none_test(a, b, sure):
            return identical(self.vm, a, b)
        raise NotPure

    def _member(self, item: PyValue, container: PyValue, sure: bool) -> Truth:
        if isinstance(container, UnknownRef) or not _is_scalar(item):
            raise NotPure
        values: PyValue = container
        if isinstance(container, ListObj) and container.items is not None:
            values = tuple(open_lists.items(self.vm, container))
        elif isinstance(container, DictObj) and not container.open:
            values = tuple(entry[0] for entry in container.entries)
        if isinstance(values, tuple):
            if not all(map(_is_scalar, values)):
                raise NotPure
            return x.or_(*(self.vm.equal(value, item) for value in values))
        if is_string(values) and is_string(item):
            return x.contains(values, item)
        raise NotPure

    # --- calls -------------------------------------------------------------------------------------------

    def _call(self, node: ast.Call, sure: bool) -> Any:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            raise NotPure
        function = self.value(node.func, sure)
        if function is len and len(node.args) == 1:
            return self._length(node.args[0], sure)
        args = [self.value(a, sure) for a in node.args]
        if function in (abs, min, max, bool) and args and not node.keywords:
            return self._builtin(function, args)
        if isinstance(function, types.FunctionType) and self.depth < _DEPTH:
            named = {k.arg or "": self.value(k.value, sure) for k in node.keywords}
            return self._inline(function, args, named, sure)
        raise NotPure

    def _length(self, node: ast.expr, sure: bool) -> Integer:
        found = self._object(node, sure)
        if isinstance(found, ListObj | DictObj):
            return found.size()
        if is_string(found):
            return x.length(found)
        if isinstance(found, tuple):
            return len(found)
        raise NotPure

    def _builtin(self, function: PyValue, args: list[PyValue]) -> PyValue:
        if function is bool and len(args) == 1 and _is_scalar(args[0]):
            return self.vm.truth(args[0])
        if not all(number_kind(a) == "int" for a in args):
            raise NotPure
        numbers = [as_int(a) for a in args]
        if function is abs and len(args) == 1:
            return x.ite(x.lt(numbers[0], 0), x.neg(numbers[0]), numbers[0])
        if len(args) < 2:
            raise NotPure
        best = numbers[0]
        for number in numbers[1:]:
            better = x.lt(number, best) if function is min else x.gt(number, best)
            best = x.ite(better, number, best)
        return best

    def _inline(
        self, function: types.FunctionType, args: list[PyValue], named: dict[str, PyValue], sure: bool
    ) -> PyValue:
        """A function that is one expression, such as `implies`: the expression, with its parameters filled in."""
        body = source.returned_expression(function)
        code = function.__code__
        if body is None or code.co_flags & 0x0C or hasattr(function, "__wrapped__"):
            raise NotPure
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        local = dict(zip(parameters[: code.co_argcount], args, strict=False)) | named
        if len(args) > code.co_argcount or set(local) != set(parameters):
            raise NotPure
        self.vm.path.followed.add((code.co_filename, code.co_firstlineno))
        inner = _Reader(self.vm, names_of(self.vm, function, local), self.depth + 1)
        found = inner.value(body, sure)
        self.defined += inner.defined
        return found


def _called(node: ast.Call) -> str:
    name = node.func
    return name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""


def names_of(vm: VM, function: types.FunctionType, local: dict[str, PyValue]) -> FormulaNames:
    """The names of a real function's body."""
    return FormulaNames(local, function.__globals__, binding.enclosing(vm, function), source.class_around(function))


def _is_scalar(value: PyValue) -> bool:
    return isinstance(value, Expr) or number_kind(value) is not None or isinstance(value, str | None)


def _is_none_test(a: PyValue, b: PyValue, sure: bool) -> bool:
    """`ref is None`: decides about the reference, so only where that certainly happens."""
    return (a is None or b is None) and (sure or not (isinstance(a, UnknownRef) or isinstance(b, UnknownRef)))


def _looks_up(cls: type) -> bool:
    """Whether attributes are found by code of the class; deal.inv only wraps methods."""
    found = classes.lookup(cls, "__getattribute__")
    return isinstance(found, types.FunctionType) and not found.__module__.startswith("deal.")
