"""The functions of the standard library that ABS itself cannot write: characters, number representations, output."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from treadle.abs.machine import operators as O
from treadle.abs.machine.values import Unknown, Value, parts, to_string
from treadle.core.errors import Unsupported
from treadle.symbolic.expr import terms as E
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import Expr

if TYPE_CHECKING:
    from treadle.abs.machine.machine import MacroStep

# `random(n)` branches over its results; above this many the tree would only be wide.
MOST_RANDOM_VALUES = 64
_UNKNOWN_RATIONAL = "numerator and denominator of an unknown rational cannot be explored; give it a known one"


def _abs(run: MacroStep, x: Value) -> Value:
    zero = Fraction(0) if O.is_real(x) else 0
    return x if run.truth(O.less_or_equal(zero, x)) else O.negate(x)


def _pow(run: MacroStep, base: Value, exponent: Value) -> Value:
    exponent = _known(run, exponent)
    if exponent < 0:
        return O.divide(run, 1, _pow(run, base, -exponent))
    result: Value = 1
    for _ in range(exponent):
        result = O.multiply(result, base)
    return result


def _truncate(run: MacroStep, x: Value) -> Value:
    if type(x) is float:
        return int(x)
    if not O.is_real(x):
        return x
    if run.truth(E.ge(x, Fraction(0))):
        return E.floor(x)
    return E.neg(E.floor(E.rneg(x)))


def _floor(run: MacroStep, x: Value) -> Value:
    if type(x) is float:
        return math.floor(x)
    return E.floor(x) if O.is_real(x) else x


def _ceil(run: MacroStep, x: Value) -> Value:
    if type(x) is float:
        return math.ceil(x)
    return E.neg(E.floor(E.rneg(x))) if O.is_real(x) else x


def _numerator(run: MacroStep, x: Value) -> Value:
    if isinstance(x, Expr) and O.is_real(x):
        raise Unsupported(_UNKNOWN_RATIONAL)
    return x.numerator if O.is_real(x) else x


def _denominator(run: MacroStep, x: Value) -> Value:
    if isinstance(x, Expr) and O.is_real(x):
        raise Unsupported(_UNKNOWN_RATIONAL)
    return x.denominator if O.is_real(x) else 1


def _float(run: MacroStep, x: Value) -> Value:
    return O.real(x) if isinstance(x, Expr) else float(x)


def _rat(run: MacroStep, x: Value) -> Value:
    return O.real(x)


def _of_float(function: Callable[[float], float]) -> Callable[[MacroStep, Value], Value]:
    def apply(run: MacroStep, x: Value) -> Value:
        if isinstance(x, Expr):
            raise Unsupported(f"{function.__name__} of an unknown number cannot be explored; give it a known one")
        try:
            return function(float(x))
        except ValueError:
            raise run.throw("PatternMatchFailException") from None

    return apply


def _precedes(run: MacroStep, left: Value, right: Value) -> bool:
    """Whether the one is known to come before the other; never a branch, so that sets of unknowns cost nothing."""
    known = not any(isinstance(part, Expr | Unknown) for value in (left, right) for part in parts(value))
    return known and bool(O.before(run, left, right))


def _currentms(run: MacroStep) -> Value:
    return Fraction(run.state.clock)


def _to_string(run: MacroStep, value: Value) -> Value:
    value = run.state.resolved(value)
    if isinstance(value, str) or (isinstance(value, Expr) and value.sort is E.STR):
        return value
    if isinstance(value, Expr) and value.sort is E.BOOL:
        return "True" if run.truth(value) else "False"
    if isinstance(value, Expr) and value.sort is E.INT:
        return E.int_to_str(_known(run, value))
    return to_string(value)


def _known(run: MacroStep, value: Value) -> int:
    """A number that must be known here: the one of the path's model, assumed from now on."""
    if isinstance(value, Expr):
        value_in_model = evaluate(value, run.state.path.model)
        run.assume(E.eq(value, value_in_model))
        run.machine.paths.counts["made known"] += 1
        return int(value_in_model)
    return int(value)


def _substr(run: MacroStep, text: Value, start: Value, count: Value) -> Value:
    if isinstance(text, Expr) or isinstance(start, Expr) or isinstance(count, Expr):
        return E.substr(text, start, count)
    return text[start : start + count]


def _strlen(run: MacroStep, text: Value) -> Value:
    return E.length(text) if isinstance(text, Expr) else len(text)


def _print(run: MacroStep, text: Value) -> Value:
    run.state.output = (*run.state.output, text if isinstance(text, str) else to_string(text))
    return run.image.constant("Unit")


def _println(run: MacroStep, text: Value) -> Value:
    run.state.output = (*run.state.output, (text if isinstance(text, str) else to_string(text)) + "\n")
    return run.image.constant("Unit")


def _random(run: MacroStep, below: Value) -> Value:
    below = _known(run, below)
    if not 0 < below <= MOST_RANDOM_VALUES:
        said = f"random({below}): only 1 to {MOST_RANDOM_VALUES} different results are explored"
        raise Unsupported(f"{said}; let the model draw from fewer")
    picked = run.choose(below)
    run.picks.append(picked)
    return picked


BUILTINS: dict[str, Callable[..., Value]] = {
    "abs": _abs,
    "pow": _pow,
    "div": O.quotient,
    "truncate": _truncate,
    "floor": _floor,
    "ceil": _ceil,
    "numerator": _numerator,
    "denominator": _denominator,
    "float": _float,
    "rat": _rat,
    "sqrt": _of_float(math.sqrt),
    "log": _of_float(math.log),
    "exp": _of_float(math.exp),
    "precedes": _precedes,
    "currentms": _currentms,
    "toString": _to_string,
    "strlen": _strlen,
    "substr": _substr,
    "print": _print,
    "println": _println,
    "random": _random,
}
