"""Values for the unknowns of a path: the same on every run, small, and not 0 where 1 will do (0 hides products)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from treadle.abs.machine.path import PathCondition
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import BOOL, INT, REAL, STR, Const, Expr, eq

# How far from zero values are tried one by one when the unknowns have no range; the solver's own value comes after.
_FAR = 20
# What the path says nothing about: different small numbers, so that a test shows which one went where.
_FREE_INTEGERS = (1, 2, 3, 5, 7, 4, 6, 8, 9, 10, -1, -2, -3)

_known: dict[PathCondition, dict[Expr, Const] | None] = {}


def labelled(path: PathCondition, unknowns: Iterable[Expr]) -> dict[Expr, Const] | None:
    """A value for every unknown that satisfies the path; None if none could be found."""
    if path not in _known:
        if len(_known) > 10_000:
            _known.clear()
        _known[path] = _solve(path)
    found = _known[path]
    if found is None:
        return None
    model = dict(found)
    numbers = _free_integers(path)
    free = sorted((u for u in set(unknowns) if u not in model), key=lambda u: str(u.args[0]))
    for position, unknown in enumerate(u for u in free if u.sort is INT):
        model[unknown] = numbers[position % len(numbers)]
    for unknown in free:
        if unknown.sort is REAL:
            model[unknown] = Fraction(1)
        elif unknown.sort is not INT:
            model[unknown] = False if unknown.sort is BOOL else ""
    return model


def _free_integers(path: PathCondition) -> list[int]:
    if path.owner.domain is None:
        return list(_FREE_INTEGERS)
    low, high = path.owner.domain
    return [n for n in _FREE_INTEGERS if low <= n <= high] or [low]


def _solve(path: PathCondition) -> dict[Expr, Const] | None:
    unknowns = sorted({v for c in path.conditions for v in c.vars}, key=lambda v: str(v.args[0]))
    model: dict[Expr, Const] = {}
    here = path
    for unknown in unknowns:
        for value in (*_candidates(path, unknown), evaluate(unknown, here.model)):
            narrower = here.assume(eq(unknown, value))
            if narrower is not None:
                here = narrower
                model[unknown] = value
                break
    if all(evaluate(c, model) for c in path.conditions):
        return model
    model = {u: evaluate(u, path.model) for u in unknowns}
    return model if all(evaluate(c, model) for c in path.conditions) else None


def _candidates(path: PathCondition, unknown: Expr) -> list[Const]:
    if unknown.sort is INT:
        low, high = path.owner.domain or (-_FAR, _FAR)
        return [*range(max(1, low), high + 1), *range(min(0, high), low - 1, -1)]
    if unknown.sort is BOOL:
        return [False, True]
    if unknown.sort is REAL:
        return [Fraction(1), Fraction(0), Fraction(2), Fraction(-1), Fraction(1, 2)]
    return ["", "a"] if unknown.sort is STR else []
