"""Equality of unknown strings: what actor programs ask of names and keys, decided without a solver.

Strings are never used up, so conditions that only say which strings are equal and which are different can hold together
unless a class of equal strings holds two constants, or two strings that must differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

from treadle.symbolic.expr.terms import STR, Const, Expr, Value


def decide(conditions: Sequence[Expr]) -> dict[Expr, Const] | bool | None:
    """A model, False if there is none, None if something else than equality is asked."""
    equal: list[tuple[Value, Value]] = []
    different: list[tuple[Value, Value]] = []
    for condition in conditions:
        if not _read(condition, equal, different):
            return None
    first: dict[Value, Value] = {}

    def root(value: Value) -> Value:
        while value in first:
            value = first[value]
        return value

    for left, right in equal:
        one, two = root(left), root(right)
        if one is two or one == two:
            continue
        if isinstance(one, str) and isinstance(two, str):
            return False
        first[two if isinstance(one, str) else one] = one if isinstance(one, str) else two
    if any(root(left) == root(right) for left, right in different):
        return False
    return _model([*equal, *different], root)


def _model(pairs: list[tuple[Value, Value]], root: Callable[[Value], Value]) -> dict[Expr, Const]:
    """Every class that holds no constant gets a text of its own."""
    texts: dict[Value, str] = {}
    taken = {value for pair in pairs for value in pair if isinstance(value, str)}
    names = (f"t{number}" for number in count() if f"t{number}" not in taken)
    model: dict[Expr, Const] = {}
    for value in (value for pair in pairs for value in pair if isinstance(value, Expr)):
        found = root(value)
        if found not in texts:
            texts[found] = found if isinstance(found, str) else next(names)
        model[value] = texts[found]
    return model


def _read(condition: Expr, equal: list[tuple[Value, Value]], different: list[tuple[Value, Value]]) -> bool:
    """Sort a condition into equalities and differences; False if it is something else."""
    if condition.op == "and":
        return all(isinstance(part, Expr) and _read(part, equal, different) for part in condition.args)
    into, inner = equal, condition
    if condition.op == "not":
        into, inner = different, condition.args[0]
    sides = _sides(inner)
    if sides is None or not all(_is_plain(side) for side in sides):
        return False
    into.append(sides)
    return True


def _sides(condition: Value) -> tuple[Value, Value] | None:
    """What an equality of strings compares; `x == ""` is kept as `len(x) == 0`."""
    if not isinstance(condition, Expr):
        return None
    if condition.op == "streq":
        return condition.args[0], condition.args[1]
    length = condition.args[0] if condition.op == "eq0" else None
    return (length.args[0], "") if isinstance(length, Expr) and length.op == "len" else None


def _is_plain(value: Value) -> bool:
    return isinstance(value, str) or (isinstance(value, Expr) and value.op == "var" and value.sort is STR)
