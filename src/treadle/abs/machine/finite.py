"""A small solver for linear conditions on integers of a finite range: the questions actor programs ask most.

Bounds are propagated to a fixpoint, then values are tried; it answers "yes, with these values", "no", or "too much
work", and then the general solver is asked. Order conditions such as x < y are decided without trying anything: the
least values that the bounds allow satisfy them.
"""

from __future__ import annotations

from collections.abc import Sequence

from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import INT, Const, Expr, terms_of

# Nodes of the search; beyond it z3 is faster.
MOST_NODES = 200

Model = dict[Expr, Const]
_Form = tuple[str, int, tuple[tuple[int, int], ...]]  # kind, constant, (variable, coefficient) pairs


def decide(conditions: Sequence[Expr], domain: tuple[int, int]) -> Model | bool | None:
    """A model, False if there is none, None if that takes too much work or is not in reach."""
    unknowns: dict[Expr, int] = {}
    forms: list[_Form] = []
    complete = True
    for condition in conditions:
        complete &= _linear(condition, unknowns, forms)
    if not unknowns:
        return None
    low, high = [domain[0]] * len(unknowns), [domain[1]] * len(unknowns)
    if not _propagate(forms, low, high):
        return False
    others = {v for c in conditions for v in c.vars if v not in unknowns}
    search = _Search(conditions, forms, list(unknowns))
    for values in (low, high):
        model = search.model(values)
        if not others and model is not None:
            return model
    if not complete or others:
        return None
    return search.run(low, high)


def _linear(condition: Expr, unknowns: dict[Expr, int], forms: list[_Form]) -> bool:
    """Add the condition as a form; False if it is of another kind."""
    if condition.op == "and":
        understood = [_linear(part, unknowns, forms) for part in condition.args]
        return all(understood)
    kind, inner = condition.op, condition
    if kind == "not":
        inner = condition.args[0]
        kind = "not " + inner.op
    if kind not in ("ge0", "eq0", "not eq0") or inner.args[0].sort is not INT:
        return False
    constant, terms = terms_of(inner.args[0])
    if any(atom.op != "var" for atom, _ in terms):
        return False
    pairs = tuple((unknowns.setdefault(atom, len(unknowns)), c) for atom, c in terms)
    forms.append((kind, constant, pairs))
    return True


def _propagate(forms: list[_Form], low: list[int], high: list[int]) -> bool:
    """Narrow the bounds as far as the forms do; False on a contradiction."""
    changed = True
    while changed:
        changed = False
        for kind, constant, pairs in forms:
            if kind == "not eq0":
                free = [pair for pair in pairs if low[pair[0]] < high[pair[0]]]
                fixed = constant + sum(c * low[v] for v, c in pairs if low[v] == high[v])
                if not free and fixed == 0:
                    return False
                if len(free) == 1:
                    changed |= _exclude(fixed, free[0], low, high)
                continue
            for sign in (1,) if kind == "ge0" else (1, -1):
                most = constant * sign
                for v, c in pairs:
                    most += c * sign * (high[v] if c * sign > 0 else low[v])
                if most < 0:
                    return False
                for v, c in pairs:
                    coefficient = c * sign
                    slack = most // abs(coefficient)  # how far this variable may be from its best value
                    if coefficient > 0:
                        if high[v] - slack > low[v]:
                            low[v] = high[v] - slack
                            changed = True
                    elif low[v] + slack < high[v]:
                        high[v] = low[v] + slack
                        changed = True
    return True


def _exclude(constant: int, pair: tuple[int, int], low: list[int], high: list[int]) -> bool:
    """coefficient * v != -constant, at the ends of the range."""
    v, coefficient = pair
    if constant % coefficient:
        return False
    value = -constant // coefficient
    if low[v] == value:
        low[v] += 1
        return True
    if high[v] == value:
        high[v] -= 1
        return True
    return False


class _Search:
    def __init__(self, conditions: Sequence[Expr], forms: list[_Form], unknowns: list[Expr]) -> None:
        self._conditions = conditions
        self._forms = forms
        self._unknowns = unknowns
        self._left = MOST_NODES

    def model(self, values: list[int]) -> Model | None:
        model: Model = dict(zip(self._unknowns, values, strict=True))
        return model if all(evaluate(c, model) for c in self._conditions) else None

    def run(self, low: list[int], high: list[int]) -> Model | bool | None:
        """Depth-first over values; None when the work limit is reached."""
        self._left -= 1
        if self._left < 0:
            return None
        model = self.model(low)
        if model is not None:
            return model
        open_ones = [v for v in range(len(low)) if low[v] < high[v]]
        if not open_ones:
            return False
        chosen = min(open_ones, key=lambda v: high[v] - low[v])
        least = low[chosen]  # the least value or a greater one: equal and different unknowns fall into place
        for lower, upper in ((least, least), (least + 1, high[chosen])):
            new_low, new_high = low.copy(), high.copy()
            new_low[chosen], new_high[chosen] = lower, upper
            if _propagate(self._forms, new_low, new_high):
                found = self.run(new_low, new_high)
                if found is not False:
                    return found
        return False
