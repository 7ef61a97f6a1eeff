"""Values for the unknowns of a path: the same on every run, small, and not 0 where 1 will do (0 hides products)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from treadle.symbolic.actors.path import Path
from treadle.symbolic.expr import BOOL, INT, REAL, STR, Const, Expr, eq
from treadle.symbolic.meaning import evaluate

# How far from zero values are tried one by one when the unknowns have no range; the solver's own value comes after.
_FAR = 20
_FREE: dict[object, Const] = {INT: 1, BOOL: False, REAL: Fraction(1), STR: ""}

_known: dict[Path, dict[Expr, Const] | None] = {}


def labelled(path: Path, unknowns: Iterable[Expr]) -> dict[Expr, Const] | None:
    """A value for every unknown that satisfies the path; None if none could be found."""
    if path not in _known:
        if len(_known) > 10_000:
            _known.clear()
        _known[path] = _solve(path)
    found = _known[path]
    if found is None:
        return None
    free = {u: free_value(path, u) for u in unknowns if u not in found}
    return {**found, **free}


def free_value(path: Path, unknown: Expr) -> Const:
    """A value for an unknown the path says nothing about."""
    domain = path.owner.domain
    if unknown.sort is INT and domain is not None and not domain[0] <= 1 <= domain[1]:
        return domain[0]
    return _FREE.get(unknown.sort, 0)


def _solve(path: Path) -> dict[Expr, Const] | None:
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


def _candidates(path: Path, unknown: Expr) -> list[Const]:
    if unknown.sort is INT:
        low, high = path.owner.domain or (-_FAR, _FAR)
        return [*range(max(1, low), high + 1), *range(min(0, high), low - 1, -1)]
    if unknown.sort is BOOL:
        return [False, True]
    if unknown.sort is REAL:
        return [Fraction(1), Fraction(0), Fraction(2), Fraction(-1), Fraction(1, 2)]
    return ["", "a"] if unknown.sort is STR else []
