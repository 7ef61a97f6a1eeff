"""Operators on values that may be unknown: arithmetic, order, equality. ABS division and remainder truncate."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from treadle.abs.machine.values import Fut, ObjectRef, Unknown, Value
from treadle.symbolic.expr import terms as E
from treadle.symbolic.expr.terms import Expr

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep


def is_real(value: Value) -> bool:
    """A rational or a floating-point number; an unknown one counts as a rational either way."""
    return isinstance(value, Fraction | float) or (isinstance(value, Expr) and value.sort is E.REAL)


def _floating(left: Value, right: Value) -> bool:
    """Both known and one of them floating-point: then so is the result."""
    return (type(left) is float or type(right) is float) and not isinstance(left, Expr) and not isinstance(right, Expr)


# Interleavings compute the same expressions again and again: each is built once. Forgotten when it grows too large.
_MOST_REMEMBERED = 200_000
_remembered: dict[tuple[Value, ...], Value] = {}


def _once(build: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def operate(left: Value, right: Value) -> Value:
        key = (build, type(left), left, type(right), right)  # 1 and Fraction(1) are equal, and not the same here
        found = _remembered.get(key)
        if found is None:
            if len(_remembered) > _MOST_REMEMBERED:
                _remembered.clear()
            found = _remembered[key] = build(left, right)
        return found

    return operate


def _aligned(left: Value, right: Value) -> tuple[Value, Value, bool]:
    """Both as rationals if one is."""
    if is_real(left) or is_real(right):
        return real(left), real(right), True
    return left, right, False


def real(value: Value) -> Value:
    if type(value) is float:
        return Fraction(value)
    return value if is_real(value) else E.to_real(value)


@_once
def _add(left: Value, right: Value) -> Value:
    if _floating(left, right):
        return float(left) + float(right)
    left, right, rational = _aligned(left, right)
    return E.radd(left, right) if rational else E.add(left, right)


def add(left: Value, right: Value) -> Value:
    return left + right if type(left) is int and type(right) is int else _add(left, right)


@_once
def _subtract(left: Value, right: Value) -> Value:
    if _floating(left, right):
        return float(left) - float(right)
    left, right, rational = _aligned(left, right)
    return E.rsub(left, right) if rational else E.sub(left, right)


def subtract(left: Value, right: Value) -> Value:
    return left - right if type(left) is int and type(right) is int else _subtract(left, right)


@_once
def _multiply(left: Value, right: Value) -> Value:
    if _floating(left, right):
        return float(left) * float(right)
    left, right, rational = _aligned(left, right)
    return E.rmul(left, right) if rational else E.mul(left, right)


def multiply(left: Value, right: Value) -> Value:
    return left * right if type(left) is int and type(right) is int else _multiply(left, right)


def negate(value: Value) -> Value:
    if type(value) is float:
        return -value
    return E.rneg(value) if is_real(value) else E.neg(value)


def _not_zero(run: MacroStep, value: Value) -> None:
    if run.truth(value == 0 if type(value) is float else E.eq(value, Fraction(0) if is_real(value) else 0)):
        raise run.throw("DivisionByZeroException")


def divide(run: MacroStep, left: Value, right: Value) -> Value:
    """Exact division, of the newer dialect: the result is a rational."""
    _not_zero(run, right)
    return float(left) / float(right) if _floating(left, right) else E.rdiv(real(left), real(right))


def quotient(run: MacroStep, left: Value, right: Value) -> Value:
    """Integer division, of the older dialect: rounds towards zero."""
    _not_zero(run, right)
    if type(left) is int and type(right) is int:
        return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    magnitude = E.floordiv(_magnitude(left), _magnitude(right))
    same_sign = E.eq(E.ge(left, 0), E.ge(right, 0))
    return E.ite(same_sign, magnitude, E.neg(magnitude))


def remainder(run: MacroStep, left: Value, right: Value) -> Value:
    """The sign follows the left side."""
    _not_zero(run, right)
    if _floating(left, right):
        return math.fmod(left, right)
    if is_real(left) or is_real(right):
        quotient_ = E.rdiv(real(left), real(right))
        whole = E.floor(quotient_) if run.truth(E.ge(quotient_, Fraction(0))) else E.neg(E.floor(E.rneg(quotient_)))
        return E.rsub(real(left), E.rmul(real(whole), real(right)))
    if type(left) is int and type(right) is int:
        return abs(left) % abs(right) * (1 if left >= 0 else -1)
    rest = E.mod(_magnitude(left), _magnitude(right))
    return E.ite(E.ge(left, 0), rest, E.neg(rest))


def _magnitude(value: Value) -> Value:
    """A term and not a branch: the sign of an unknown number is nobody's question here."""
    return E.ite(E.ge(value, 0), value, E.neg(value))


@_once
def _less(left: Value, right: Value) -> Value:
    if _floating(left, right):
        return float(left) < float(right)
    left, right, _ = _aligned(left, right)
    return E.lt(left, right)


def less(left: Value, right: Value) -> Value:
    return left < right if type(left) is int and type(right) is int else _less(left, right)


@_once
def _less_or_equal(left: Value, right: Value) -> Value:
    if _floating(left, right):
        return float(left) <= float(right)
    left, right, _ = _aligned(left, right)
    return E.le(left, right)


def less_or_equal(left: Value, right: Value) -> Value:
    return left <= right if type(left) is int and type(right) is int else _less_or_equal(left, right)


_OBJECTS = (ObjectRef, type(None))


def equal(run: MacroStep, left: Value, right: Value) -> Value:
    """Structural equality; what is unknown is built as far as the answer needs."""
    if left is right:
        return True
    if type(left) is int and type(right) is int:
        return left == right
    if type(left) is Unknown or type(right) is Unknown:
        unknown = left if type(left) is Unknown else right
        if unknown.type.kind == "object":
            return run.machine.unknowns.same(run, left, right)
        left, right = run.machine.unknowns.built(run, left), run.machine.unknowns.built(run, right)
        if left is right:
            return True
    if type(left) is tuple and type(right) is tuple:
        return _equal_data(run, left, right)
    if isinstance(left, _OBJECTS) or isinstance(right, _OBJECTS):
        return left is right
    if isinstance(left, Expr) or isinstance(right, Expr):
        return _same(left, right)
    return bool(left == right)


def before(run: MacroStep, left: Value, right: Value) -> Value:
    """The order on any two values of a type: numbers, strings; data by the constructors' names, then by arguments;
    null before all objects, objects and futures as they were made."""
    if type(left) is int and type(right) is int:
        return left < right
    if type(left) is Unknown or type(right) is Unknown:
        unknowns = run.machine.unknowns
        kind = (left if type(left) is Unknown else right).type.kind
        known = unknowns.decided if kind == "object" else unknowns.built
        left, right = known(run, left), known(run, right)
    if type(left) is tuple and type(right) is tuple:
        return _data_before(run, left, right)
    if isinstance(left, _MADE) or isinstance(right, _MADE):
        return left is not right and _age(run, left) < _age(run, right)
    if isinstance(left, bool) or isinstance(right, bool):
        return run.truth(right) and not run.truth(left)  # False before True
    return less(left, right)


_MADE = (ObjectRef, Unknown, Fut, type(None))


def _age(run: MacroStep, value: Value) -> tuple[tuple[int, int | str], ...]:
    if value is None:
        return ()
    if isinstance(value, Unknown) or (isinstance(value, ObjectRef) and value.assumed):
        return ((1, value.name),)  # it was there before anything was made
    return ((2, 0), *run.machine.interned.lineage(value.key))


def _data_before(run: MacroStep, left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    if left[0] is not right[0]:
        return bool(left[0].name < right[0].name)
    for a, b in zip(left[1:], right[1:], strict=True):
        if not run.truth(equal(run, a, b)):
            return run.truth(before(run, a, b))
    return False


@_once
def _same(left: Value, right: Value) -> Value:
    left, right, _ = _aligned(left, right)
    return E.eq(left, right)


_COLLECTIONS = ("ABS.StdLib.Set", "ABS.StdLib.Map")


def _equal_collections(run: MacroStep, left: Value, right: Value) -> bool:
    """Sets and maps are equal whatever the order in which they were filled."""
    mine, theirs = _elements(run, left), _elements(run, right)
    if len(mine) != len(theirs):
        return False
    return all(any(run.truth(equal(run, a, b)) for b in theirs) for a in mine)


def _elements(run: MacroStep, value: Value) -> list[Value]:
    found: list[Value] = []
    value = run.machine.unknowns.built(run, value)
    while len(value) > 1:
        found.append(value[1])
        value = run.machine.unknowns.built(run, value[2])
    return found


def _equal_data(run: MacroStep, left: tuple[Value, ...], right: tuple[Value, ...]) -> Value:
    if left[0] is not right[0]:
        return False
    if left[0].data.name in _COLLECTIONS:
        return _equal_collections(run, left, right)
    result: Value = True
    for a, b in zip(left[1:], right[1:], strict=True):
        same = equal(run, a, b)
        if same is False:
            return False
        if same is not True:
            result = E.and_(result, same)
    return result
