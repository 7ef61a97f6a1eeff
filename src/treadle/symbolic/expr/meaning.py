"""What an expression means: its value under a model, and itself with unknowns replaced.

`evaluate` is the solver chain's first stage, so it is kept plain and fast; it must agree with the translation
to z3 in `solver.py`, which a property test checks operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr import text
from treadle.symbolic.expr.terms import (
    DEFAULTS,
    INT,
    MATCHERS,
    REF,
    Expr,
    Model,
    Value,
    add,
    and_,
    at,
    chr_,
    concat,
    contains,
    eq,
    floor,
    floordiv,
    ge,
    gt,
    in_class,
    index_of,
    int_to_str,
    ite,
    length,
    mod,
    mul,
    not_,
    or_,
    ord_,
    prefix,
    radd,
    rdiv,
    replace_all,
    replace_first,
    rmul,
    str_le,
    str_lt,
    str_to_int,
    substr,
    suffix,
    to_real,
)


def _substr_value(s: str, start: int, count: int) -> str:
    return s[start : start + count] if 0 <= start <= len(s) and count > 0 else ""


def _find_value(s: str, part: str, start: int) -> int:
    return s.find(part, start) if 0 <= start <= len(s) else -1


# What each operator means on known values; division by zero is given a value (0) because a solver does too,
# and every path that divides carries the condition that the divisor is not 0.
_MEANING: dict[str, Callable[..., Any]] = {
    "mul": lambda a, b: a * b,
    "rmul": lambda a, b: a * b,
    "div": lambda a, b: a // b if b else 0,
    "cdiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b if b else 0,
    "cmod": lambda a, b: a % b,
    "rdiv": lambda a, b: Fraction(a) / b if b else Fraction(0),
    "to_real": Fraction,
    "floor": lambda a: a.numerator // a.denominator,
    "ge0": lambda a: a >= 0,
    "gt0": lambda a: a > 0,
    "eq0": lambda a: a == 0,
    "iff": lambda a, b: a == b,
    "same": lambda a, b: a == b,
    "not": lambda a: not a,
    "len": len,
    "concat": lambda *parts: "".join(parts),
    "streq": lambda a, b: a == b,
    "at": lambda s, i: s[i] if 0 <= i < len(s) else "",
    "substr": _substr_value,
    "contains": lambda s, part: part in s,
    "prefix": lambda s, start: s.startswith(start),
    "suffix": lambda s, end: s.endswith(end),
    "index_of": _find_value,
    "replace_first": lambda s, old, new: s.replace(old, new, 1),
    "replace_all": lambda s, old, new: s.replace(old, new),
    "strlt": lambda a, b: a < b,
    "strle": lambda a, b: a <= b,
    "int_to_str": str,
    "str_to_int": lambda s: int(s) if s.isascii() and s.isdigit() else -1,
    "ord": lambda c: ord(c) if len(c) == 1 else -1,
    "chr": lambda i: chr(i) if 0 <= i < 0x110000 else "",
    "in_class": lambda s, name: MATCHERS[name].fullmatch(s) is not None,
    **text.MEANING,
}

# How to build each operator again from its arguments, simplifying.
BUILD: dict[str, Callable[..., Value]] = {
    "mul": mul,
    "rmul": rmul,
    "div": floordiv,
    "cdiv": floordiv,
    "mod": mod,
    "cmod": mod,
    "rdiv": rdiv,
    "to_real": to_real,
    "floor": floor,
    "iff": eq,
    "same": eq,
    "not": not_,
    "and": and_,
    "or": or_,
    "ite": ite,
    "len": length,
    "concat": concat,
    "streq": eq,
    "at": at,
    "substr": substr,
    "contains": contains,
    "prefix": prefix,
    "suffix": suffix,
    "index_of": index_of,
    "replace_first": replace_first,
    "replace_all": replace_all,
    "strlt": str_lt,
    "strle": str_le,
    "int_to_str": int_to_str,
    "str_to_int": str_to_int,
    "ord": ord_,
    "chr": chr_,
    "in_class": in_class,
    **text.BUILD,
}


def other_identity(unknown: Expr) -> int:
    """An object that no other reference is: what a reference is when nothing is known of it."""
    return 1_000_000 + unknown.id


def evaluate(value: Value, model: Model) -> Any:
    """The value under a model; an unknown that the model leaves open takes its sort's default (0, "", an object)."""
    if not isinstance(value, Expr):
        return value
    op, args = value.op, value.args
    if op == "var":
        found = model.get(value)
        if found is None:
            return DEFAULTS[value.sort] if value.sort is not REF else other_identity(value)
        return found
    if op == "sum":
        total = args[0]
        for atom, coefficient in args[1]:
            total += coefficient * evaluate(atom, model)
        return total
    if op == "and":
        return all(evaluate(a, model) for a in args)
    if op == "or":
        return any(evaluate(a, model) for a in args)
    if op == "ite":
        return evaluate(args[1] if evaluate(args[0], model) else args[2], model)
    return _MEANING[op](*[evaluate(a, model) for a in args])


def substitute(value: Value, mapping: Mapping[Expr, Value]) -> Value:
    """The expression with unknowns replaced, simplified again on the way up."""
    if not isinstance(value, Expr) or not (value.vars & mapping.keys()):
        return value
    if value.op == "var":
        return mapping[value]
    if value.op == "sum":
        total = value.args[0]
        plus, times = (add, mul) if value.sort is INT else (radd, rmul)
        for atom, coefficient in value.args[1]:
            total = plus(total, times(coefficient, substitute(atom, mapping)))
        return total
    return _built(value, [substitute(a, mapping) for a in value.args])


def _built(value: Expr, args: list[Value]) -> Value:
    if value.op in ("ge0", "gt0", "eq0"):
        zero: Value = 0 if value.args[0].sort is INT else Fraction(0)
        return {"ge0": ge, "gt0": gt, "eq0": eq}[value.op](args[0], zero)
    if value.op in _MEANING and not any(isinstance(a, Expr) for a in args):
        # the constructors are for values that a program has computed, and these may be outside of what they allow
        return _MEANING[value.op](*args)
    if value.op in ("div", "mod", "rdiv") and args[1] == 0:
        # behind a condition that has become false: nobody sees this value
        return 0 if value.sort is INT else Fraction(0)
    return BUILD[value.op](*args)


class Rewriting:
    """Expressions with some of their parts replaced; `replaced(part)` gives the part itself where it stays."""

    def __init__(self, replaced: Callable[[Expr], Value]) -> None:
        self._replaced = replaced
        self._done: dict[Expr, Value] = {}

    def __call__(self, value: Value) -> Value:
        if not isinstance(value, Expr):
            return value
        found = self._done.get(value)
        if found is None:
            found = self._done[value] = self._rewritten(value)
        return found

    def _rewritten(self, value: Expr) -> Value:
        found = self._replaced(value)
        if found is not value or value.op == "var":
            return found
        if value.op == "sum":
            total = value.args[0]
            plus, times = (add, mul) if value.sort is INT else (radd, rmul)
            for atom, coefficient in value.args[1]:
                total = plus(total, times(coefficient, self(atom)))
            return total
        args = [self(a) for a in value.args]
        if all(new is old for new, old in zip(args, value.args, strict=True)):
            return value
        # what has come about may be one of the parts to replace
        return self(_built(value, args))
