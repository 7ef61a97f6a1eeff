"""Whether two integer expressions are the same polynomial: r * 3 * x and x * (3 * r) are, without asking a solver."""

from __future__ import annotations

from collections import Counter

from treadle.symbolic.expr.terms import Expr, Value, terms_of

# Expanding products can explode; expressions that get longer are left to the solver.
MOST_TERMS = 200

_Monomial = tuple[tuple[int, int], ...]  # (atom id, power), sorted
_cache: dict[Expr, dict[_Monomial, int] | None] = {}


def identical(left: Value, right: Value) -> bool:
    """True only if the two have the same value for every input."""
    if left is right:
        return True
    one, two = expanded(left), expanded(right)
    return one is not None and one == two


def expanded(value: Value) -> dict[_Monomial, int] | None:
    """The value as a sum of monomials; None if it is no integer polynomial or too long."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return {(): value} if value else {}
    if not isinstance(value, Expr) or value.sort.value != "int":
        return None
    if value not in _cache:
        _cache[value] = _expand(value)
    return _cache[value]


def _expand(value: Expr) -> dict[_Monomial, int] | None:
    if value.op == "sum":
        constant, terms = terms_of(value)
        total: Counter[_Monomial] = Counter({(): constant} if constant else {})
        for atom, coefficient in terms:
            inner = expanded(atom)
            if inner is None:
                return None
            for monomial, factor in inner.items():
                total[monomial] += factor * coefficient
        return _clean(total)
    if value.op == "mul":
        left, right = expanded(value.args[0]), expanded(value.args[1])
        if left is None or right is None or len(left) * len(right) > MOST_TERMS:
            return None
        total = Counter()
        for a, x in left.items():
            for b, y in right.items():
                powers = Counter(dict(a))
                powers.update(dict(b))
                total[tuple(sorted(powers.items()))] += x * y
        return _clean(total)
    return {((value.id, 1),): 1}


def _clean(total: Counter[_Monomial]) -> dict[_Monomial, int] | None:
    kept = {monomial: factor for monomial, factor in total.items() if factor}
    return kept if len(kept) <= MOST_TERMS else None
