"""The small solver agrees with trying every value."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.abs.machine.finite import decide
from treadle.symbolic.expr import terms as E
from treadle.symbolic.expr.meaning import evaluate

UNKNOWNS = [E.var(name, E.INT) for name in ("p", "q", "r")]
DOMAIN = (-3, 3)


@st.composite
def conditions(draw: st.DrawFn) -> E.Value:
    total: E.Integer = draw(st.integers(-6, 6))
    for unknown in UNKNOWNS:
        total = E.add(total, E.mul(draw(st.integers(-2, 2)), unknown))
    compare = draw(st.sampled_from([E.ge, E.gt, E.eq, E.ne]))
    return compare(total, 0)


@settings(max_examples=300)
@given(st.lists(conditions(), min_size=1, max_size=5))
def test_against_all_values(given_conditions: list[E.Value]) -> None:
    known = [c for c in given_conditions if isinstance(c, E.Expr)]
    answer = decide(known, DOMAIN)
    truth = any(
        all(evaluate(c, dict(zip(UNKNOWNS, values, strict=True))) for c in known)
        for values in product(range(DOMAIN[0], DOMAIN[1] + 1), repeat=3)
    )
    if answer is False:
        assert not truth
    elif answer is not None:
        assert truth
        assert isinstance(answer, dict)
        assert all(evaluate(c, answer) for c in known)
        assert all(DOMAIN[0] <= v <= DOMAIN[1] for v in answer.values() if isinstance(v, int))
