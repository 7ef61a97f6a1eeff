"""Interval reasoning: proves many conditions impossible from the bounds of single unknowns, without a solver.

`impossible` only ever answers "impossible" or "no idea". `single` looks for a value where there is one unknown only;
what it finds has been tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, inf

from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import INT, Expr, terms_of

# Rounds of propagation through sums. Bounds on one unknown settle in one round; chains a < b < c need one
# round per link, and longer chains are z3's to solve.
ROUNDS = 4


def impossible(conditions: Sequence[Expr], extra: Expr) -> bool:
    """Whether bounds alone show that no values satisfy all the conditions."""
    return _narrowed([*conditions, extra]) is None


def interval(conditions: Sequence[Expr], value: Expr) -> tuple[float, float]:
    """Bounds of an integer that follow from the conditions; infinite where none do."""
    low, high = _narrowed(conditions) or ({}, {})
    constant, terms = terms_of(value)
    least = most = float(constant)
    for atom, c in terms:
        ends = sorted((c * low.get(atom, -inf), c * high.get(atom, inf)))
        least, most = least + ends[0], most + ends[1]
    return least, most


def _narrowed(conditions: Sequence[Expr]) -> tuple[dict[Expr, float], dict[Expr, float]] | None:
    """The bounds of each unknown, lowest and highest; None on a contradiction."""
    forms = list(_integer_sums(conditions))
    low: dict[Expr, float] = {}
    high: dict[Expr, float] = {}
    holes: dict[Expr, set[int]] = {}
    for op, total in forms:
        constant, terms = terms_of(total)
        for atom, _ in terms:
            if atom.op == "len":
                low.setdefault(atom, 0)
        if op == "ne0" and len(terms) == 1 and abs(terms[0][1]) == 1:
            holes.setdefault(terms[0][0], set()).add(-constant * terms[0][1])
    for _ in range(ROUNDS):
        changed = False
        for op, total in forms:
            if op == "ne0":
                continue
            for sign in (1,) if op == "ge0" else (1, -1):
                verdict = _propagate(total, sign, low, high)
                if verdict is None:
                    return None
                changed |= verdict
        for atom, values in holes.items():
            while low.get(atom, -inf) in values:
                low[atom] += 1
                changed = True
            while high.get(atom, inf) in values:
                high[atom] -= 1
                changed = True
            if low.get(atom, -inf) > high.get(atom, inf):
                return None
        if not changed:
            break
    return low, high


def single(conditions: Sequence[Expr], extra: Expr) -> int | None:
    """A value of the one unknown that satisfies everything, if trying the ends of its interval finds one."""
    (unknown,) = extra.vars
    if unknown.sort is not INT:
        return None
    everything = [*conditions, extra]
    ends = {0}
    for _, total in _integer_sums(everything):
        constant, terms = terms_of(total)
        if len(terms) == 1 and terms[0][0] is unknown:
            edge = -constant // terms[0][1]
            ends.update((edge - 1, edge, edge + 1))
    for value in sorted(ends, key=lambda n: (abs(n), n)):
        if all(evaluate(c, {unknown: value}) for c in everything):
            return value
    return None


def _integer_sums(conditions: Iterable[Expr]) -> Iterable[tuple[str, Expr]]:
    for condition in conditions:
        op = condition.op
        if op == "and":
            yield from _integer_sums(condition.args)
        elif op in ("ge0", "eq0") and condition.args[0].sort is INT:
            yield op, condition.args[0]
        elif op == "not" and condition.args[0].op == "eq0" and condition.args[0].args[0].sort is INT:
            yield "ne0", condition.args[0].args[0]


def _propagate(total: Expr, sign: int, low: dict[Expr, float], high: dict[Expr, float]) -> bool | None:
    """Use sign * total >= 0 to narrow bounds; True if something narrowed, None on a contradiction."""
    constant, terms = terms_of(total)
    most: float = constant * sign  # the greatest value of the sum
    for atom, c in terms:
        coefficient = c * sign
        most += coefficient * (high.get(atom, inf) if coefficient > 0 else low.get(atom, -inf))
    if most < 0:
        return None
    changed = False
    for atom, c in terms:
        coefficient = c * sign
        own = coefficient * (high.get(atom, inf) if coefficient > 0 else low.get(atom, -inf))
        if most == inf and own != inf:
            continue
        rest = most - own if own != inf else _rest(terms, atom, sign, constant, low, high)
        if rest == inf:
            continue
        # coefficient * atom >= -rest
        if coefficient > 0:
            bound = ceil(-rest / coefficient) if abs(rest) < 2**50 else -inf
            if bound > low.get(atom, -inf):
                low[atom] = bound
                changed = True
        else:
            bound = floor(rest / -coefficient) if abs(rest) < 2**50 else inf
            if bound < high.get(atom, inf):
                high[atom] = bound
                changed = True
        if low.get(atom, -inf) > high.get(atom, inf):
            return None
    return changed


def _rest(
    terms: Iterable[tuple[Expr, int]],
    skip: Expr,
    sign: int,
    constant: int,
    low: dict[Expr, float],
    high: dict[Expr, float],
) -> float:
    total: float = constant * sign
    for atom, c in terms:
        if atom is not skip:
            coefficient = c * sign
            total += coefficient * (high.get(atom, inf) if coefficient > 0 else low.get(atom, -inf))
    return total
