"""Functions of strings that z3 does not have: strip, partition, the first word, lower, repr, int of a text.

Each is a node like any other. What it means is Python's own function, so that a value under a model is always right;
for z3 it is a new constant with a definition (`definitions`). A definition says nothing false, but may
leave something open: a model that Python does not confirm is refuted by that one instance, and z3 is asked again.

A separator is a known string that is not empty; the characters of `strip` are known, "" for white space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.node import BOOL, INT, REAL, STR, Expr, Integer, Real, Sort, Text, Truth, Value, node, parts
from treadle.symbolic.expr.terms import length

# --- what each function means on known values


def stripped(s: str, characters: str, sides: str) -> str:
    for side, method in (("l", str.lstrip), ("r", str.rstrip)):
        if side in sides:
            s = method(s, characters or None)
    return s


def part(s: str, separator: str, place: str) -> str:
    """`place`: what stands before or after the first separator, or the last one."""
    if place in ("before", "after"):
        return s.partition(separator)[0 if place == "before" else 2]
    return s.rpartition(separator)[0 if place == "before last" else 2]


def word(s: str) -> str:
    return next(iter(s.split(None, 1)), "")


def words(s: str) -> str:
    return next(iter(s.split(None, 1)[1:]), "")


def in_case(s: str, method: str) -> str:
    return str(getattr(s, method)())


def reads_as_int(s: str) -> bool:
    try:
        int(s)
    except ValueError:
        return False
    return True


def as_int(s: str) -> int:
    return int(s) if reads_as_int(s) else -1


def _float(s: str) -> float | None:
    try:
        return float(s)
    except ValueError:
        return None


def reads_as_finite(s: str) -> bool:
    number = _float(s)
    return number is not None and math.isfinite(number)


def reads_as_endless(s: str) -> bool:
    return _float(s) is not None and not reads_as_finite(s)


def as_fraction(s: str) -> Fraction:
    return Fraction(float(s)) if reads_as_finite(s) else Fraction(-1)


# --- the nodes


def _made(op: str, means: Callable[..., Any], args: tuple[Value, ...], sort: Sort) -> Expr | Any:
    return node(op, args, sort) if any(isinstance(a, Expr) for a in args) else means(*args)


def strip(s: Text, characters: str, sides: str) -> Text:
    """s without the characters at the left end ("l"), the right end ("r"), or both ("lr")."""
    if isinstance(s, Expr) and s.op == "strip" and s.args[1] == characters and set(sides) <= set(s.args[2]):
        return s
    return _made("strip", stripped, (s, characters, sides), STR)


def parted(s: Text, separator: str, place: str) -> Text:
    """Before, after, before last or after last: s.partition(separator)[0 or 2], s.rpartition(separator)[0 or 2]."""
    return _made("parted", part, (s, separator, place), STR)


def last_place(s: Text, separator: str) -> Integer:
    """s.rfind(separator) for a separator that is in s."""
    return length(parted(s, separator, "before last"))


def first_word(s: Text) -> Text:
    """s.split()[0], "" if there is none."""
    return _made("first_word", word, (s,), STR)


def other_words(s: Text) -> Text:
    """s.split(None, 1)[1], "" if there is none."""
    return _made("other_words", words, (s,), STR)


def recased(s: Text, method: str) -> Text:
    """s.lower(), s.upper(), s.casefold(), s.title(), s.capitalize(), s.swapcase()"""
    if isinstance(s, Expr) and s.op == "recased" and s.args[1] == method and method == "lower":
        return s
    return _made("recased", in_case, (s, method), STR)


def repr_(s: Text) -> Text:
    return _made("repr", repr, (s,), STR)


def is_int(s: Text) -> Truth:
    """Whether int(s) gives a number."""
    return _made("is_int", reads_as_int, (s,), BOOL)


def int_of(s: Text) -> Integer:
    """int(s) for a string already known to be a number."""
    return _made("int_of", as_int, (s,), INT)


def is_finite(s: Text) -> Truth:
    """Whether float(s) gives a number."""
    return _made("is_finite", reads_as_finite, (s,), BOOL)


def is_endless(s: Text) -> Truth:
    """Whether float(s) gives inf or nan."""
    return _made("is_endless", reads_as_endless, (s,), BOOL)


def float_of(s: Text) -> Real:
    """float(s) for a string already known to be a number."""
    return _made("float_of", as_fraction, (s,), REAL)


def changing(value: Value) -> Iterable[Expr]:
    """The strips and changes of case in an expression whose text is itself unknown: they may change nothing."""
    if isinstance(value, Expr):
        for inner in parts(value):
            if inner.op in ("strip", "recased") and inner.args[0].op == "var":
                yield inner
