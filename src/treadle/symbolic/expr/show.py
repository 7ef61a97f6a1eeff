"""Expressions as text a programmer reads at once: Python's own notation, "n > 0" and not "n - 1 >= 0"."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.node import print_with
from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.terms import INT, Expr, Value, add, terms_of

# Classes of characters that Python has no method for.
_CLASSES = {
    "visible": "{0} is one word",
    "not upper": "{0} == {0}.lower()",
    "not lower": "{0} == {0}.upper()",
}
_PARTS = {
    "before": "{0}.partition({1})[0]",
    "after": "{0}.partition({1})[2]",
    "before last": "{0}.rpartition({1})[0]",
    "after last": "{0}.rpartition({1})[2]",
}
_NEGATED = {"==": "!=", "is": "is not", "<": ">=", "<=": ">", ">": "<=", ">=": "<", "in": "not in"}


def show(value: Value) -> str:
    """Readable text in Python's own notation."""
    return _show(value, False)


def _number(value: Any) -> str:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        as_float = float(value)
        if Fraction(as_float) == value:
            return repr(as_float)
        # 1/3 is told as it is, what comes of a rounded 0.1 is not
        return f"{value.numerator}/{value.denominator}" if value.denominator < 1000 else f"{as_float:.6g}"
    return repr(value)


def _show(value: Value, nested: bool) -> str:
    if not isinstance(value, Expr):
        return _number(value)
    op, args = value.op, value.args
    text = ""
    if op == "var":
        return str(args[0])
    if op == "sum":
        text = _show_sum(*terms_of(value))
    elif OPERATORS[op].infix:
        text = _show_relation(OPERATORS[op].infix, *args)
    elif op in ("ge0", "gt0", "eq0"):
        text = _show_comparison(op, args[0])
    elif op == "not":
        return _show_negation(args[0], nested)
    elif op in ("and", "or"):
        text = f" {op} ".join(_show(a, True) for a in args)
    elif op == "ite":
        text = _show_power(value)
        text = text or f"{_show(args[1], True)} if {_show(args[0], False)} else {_show(args[2], True)}"
    elif op == "concat":
        text = " + ".join(_show(a, True) for a in args)
    elif op == "substr":
        start, count = args[1], args[2]
        end = add(start, count)
        first = "" if start == 0 else show(start)
        return f"{_show(args[0], True)}[{first}:{show(end)}]"
    elif op == "index_of":
        rest = "" if args[2] == 0 else f", {show(args[2])}"
        return f"{_show(args[0], True)}.find({show(args[1])}{rest})"
    elif op in ("matched", "group", "has_group", "group_start"):
        shown = _show(args[0], False)
        if op == "matched":
            raw = f"r'{args[1]}'" if "'" not in args[1] and "\n" not in args[1] else repr(args[1])
            return f"re.{args[3]}({raw}, {shown})"
        which = f"group {args[4]} of {shown}" if args[4] else f"the match in {shown}"
        return {"group": which, "has_group": f"there is {which}", "group_start": f"the start of {which}"}[op]
    elif op == "strip":
        name = {"lr": "strip", "l": "lstrip", "r": "rstrip"}[args[2]]
        return f"{_show(args[0], True)}.{name}({show(args[1]) if args[1] else ''})"
    elif op == "parted":
        return _PARTS[args[2]].format(_show(args[0], True), show(args[1]))
    elif op == "recased":
        return f"{_show(args[0], True)}.{args[1]}()"
    elif op == "in_class":
        shown = _show(args[0], True)
        return _CLASSES[args[1]].format(shown) if args[1] in _CLASSES else f"{shown}.is{args[1]}()"
    else:
        call = OPERATORS[op].call.format(*(_show(a, op in ("at", "prefix", "suffix", "contains")) for a in args))
        return f"({call})" if nested and op == "contains" else call
    return f"({text})" if nested else text


def _show_sum(constant: Any, terms: Iterable[tuple[Expr, Any]]) -> str:
    text = ""
    # positive terms first: "x - y", not "-y + x"
    ordered = sorted(terms, key=lambda t: t[1] < 0)
    if len(ordered) == 1 and ordered[0][1] == 1 and not constant and ordered[0][0].op != "ite":
        return _show(ordered[0][0], False)
    for atom, coefficient in ordered:
        sign = "-" if coefficient < 0 else "+"
        size = abs(coefficient)
        term = _show(atom, True) if size == 1 else f"{_number(size)}*{_show(atom, True)}"
        text += f" {sign} {term}" if text else (f"-{term}" if sign == "-" else term)
    if constant or not text:
        sign = "-" if constant < 0 else "+"
        text += f" {sign} {_number(abs(constant))}" if text else _number(constant)
    return text


def _show_power(value: Value) -> str:
    """2**n, which is a case for each n; '' for anything else."""
    cases: dict[int, Any] = {}
    exponent: Expr | None = None
    while isinstance(value, Expr):
        if value.op != "ite" or value.args[0].op != "eq0":
            return ""
        constant, terms = terms_of(value.args[0].args[0])
        [(atom, coefficient), *others] = terms
        if others or coefficient not in (1, -1) or exponent not in (None, atom) or isinstance(value.args[1], Expr):
            return ""
        exponent, cases[int(-constant * coefficient)] = atom, value.args[1]
        value = value.args[2]
    cases[max(cases, default=0) + 1] = value
    base = cases.get(1, 0)
    if exponent is None or len(cases) < 3 or type(base) is not int or any(base**n != cases[n] for n in cases):
        return ""
    return f"{base}**{_show(exponent, True)}"


def _show_relation(symbol: str, left: Value, right: Value) -> str:
    is_none = symbol.startswith("is") and not isinstance(right, Expr) and right == 0
    return f"{_show(left, True)} {symbol} {'None' if is_none else _show(right, True)}"


def _show_comparison(op: str, value: Expr, negated: bool = False) -> str:
    """`sum >= 0` with its negative terms moved to the right: "a > b", "n <= 3"."""
    constant, terms = terms_of(value)
    left = [(a, c) for a, c in terms if c > 0]
    right = [(a, -c) for a, c in terms if c < 0]
    symbol = {"ge0": ">=", "gt0": ">", "eq0": "=="}[op]
    if op == "ge0" and value.sort is INT and constant == -1:
        symbol, constant = ">", 0
    if negated:
        symbol = _NEGATED[symbol]
    if not left:
        # 0 >= right - constant, read from the right
        flipped = {">=": "<=", ">": "<", "<=": ">=", "<": ">"}.get(symbol, symbol)
        return f"{_show_sum(0, right)} {flipped} {_number(constant)}"
    if not right:
        return f"{_show_sum(0, left)} {symbol} {_number(-constant)}"
    if constant > 0:
        return f"{_show_sum(constant, left)} {symbol} {_show_sum(0, right)}"
    return f"{_show_sum(0, left)} {symbol} {_show_sum(-constant, right)}"


def _show_negation(inner: Expr, nested: bool) -> str:
    if inner.op == "eq0":
        text = _show_comparison(inner.op, inner.args[0], negated=True)
    elif inner.op in OPERATORS and OPERATORS[inner.op].infix:
        text = _show_relation(_NEGATED[OPERATORS[inner.op].infix], *inner.args)
    elif inner.op == "contains":
        text = f"{_show(inner.args[1], True)} not in {_show(inner.args[0], True)}"
    else:
        return f"not ({show(inner)})" if inner.op in ("and", "or", "ite") else f"not {show(inner)}"
    return f"({text})" if nested else text


print_with(show)
