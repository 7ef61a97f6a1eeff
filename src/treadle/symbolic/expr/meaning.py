"""What an expression means: its value under a model, and itself with unknowns replaced.

`evaluate` is the solver chain's first stage, so it is kept plain and fast; it must agree with the translation
to z3 in `symbolic/solve/translate.py`, which a property test checks operator by operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.terms import DEFAULTS, INT, REF, Const, Expr, Model, Sort, Value, add, mul, radd, rmul

# looked up on every step of `evaluate`
_MEANING = {name: operator.means for name, operator in OPERATORS.items()}


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


def weighted_sum(constant: Any, terms: Iterable[tuple[Any, Any]], sort: Sort) -> Expr | Any:
    """constant + value * coefficient + ..., all of one sort."""
    total = constant
    for value, coefficient in terms:
        product: Any = mul(coefficient, value) if sort is INT else rmul(coefficient, value)
        total = add(total, product) if sort is INT else radd(total, product)
    return total


def substitute(value: Value, mapping: Mapping[Expr, Value]) -> Value:
    """The expression with unknowns replaced, simplified again on the way up."""
    if not isinstance(value, Expr) or not (value.vars & mapping.keys()):
        return value
    if value.op == "var":
        return mapping[value]
    if value.op == "sum":
        terms = [(substitute(atom, mapping), coefficient) for atom, coefficient in value.args[1]]
        return weighted_sum(value.args[0], terms, value.sort)
    return _built(value, [substitute(a, mapping) for a in value.args])


def _built(value: Expr, args: list[Value]) -> Value:
    if not any(isinstance(a, Expr) for a in args):
        # the constructors are for values that a program has computed, and these may be outside of what they allow
        known: Const = _MEANING[value.op](*args)
        return known
    if value.op in ("div", "mod", "rdiv") and args[1] == 0:
        # behind a condition that has become false: nobody sees this value
        return 0 if value.sort is INT else Fraction(0)
    return OPERATORS[value.op].build(*args)


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
            terms = [(self(atom), coefficient) for atom, coefficient in value.args[1]]
            return weighted_sum(value.args[0], terms, value.sort)
        args = [self(a) for a in value.args]
        if all(new is old for new, old in zip(args, value.args, strict=True)):
            return value
        # what has come about may be one of the parts to replace
        return self(_built(value, args))
