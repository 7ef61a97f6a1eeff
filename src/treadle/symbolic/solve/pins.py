"""Unknowns whose value a condition names: put in everywhere, much of a path is decided without asking a solver.

Labels are tried one by one (`s == "ab"`), and where code picks values the path is full of such equations; for strings a
solver takes them apart slowly, while Python decides the rest of the path at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from treadle.symbolic.expr.meaning import substitute
from treadle.symbolic.expr.terms import BOOL, INT, Const, Expr, terms_of


def reduced(conditions: Sequence[Expr]) -> tuple[dict[Expr, Const], list[Expr]] | None:
    """The values that conditions name and what is left of the others; None if they contradict each other."""
    pins: dict[Expr, Const] = {}
    left = list(dict.fromkeys(conditions))
    while True:
        new: dict[Expr, Const] = {}
        for unknown, value in _named(left):
            if new.setdefault(unknown, value) != value:
                return None
        if not new:
            return pins, left
        pins.update(new)
        kept: dict[Expr, None] = {}
        for condition in left:
            rest = substitute(condition, new)
            if isinstance(rest, Expr):
                kept[rest] = None
            elif not rest:
                return None
        left = list(kept)


def _named(conditions: Iterable[Expr]) -> Iterable[tuple[Expr, Const]]:
    for c in conditions:
        if c.op == "and":
            yield from _named(c.args)
        elif c.op == "var" and c.sort is BOOL:
            yield c, True
        elif c.op == "not" and c.args[0].op == "var":
            yield c.args[0], False
        elif c.op == "streq" and c.args[0].op == "var" and isinstance(c.args[1], str):
            yield c.args[0], c.args[1]
        elif c.op == "eq0":
            constant, terms = terms_of(c.args[0])
            if len(terms) != 1:
                continue
            atom, factor = terms[0]
            if atom.op == "var" and (atom.sort is not INT or constant % factor == 0):
                yield atom, -constant // factor if atom.sort is INT else Fraction(-constant) / factor
            elif atom.op == "len" and atom.args[0].op == "var" and constant == 0:
                yield atom.args[0], ""
