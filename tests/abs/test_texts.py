"""Equality of unknown strings, compared with trying all texts of a small alphabet."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from treadle.abs.machine.texts import decide
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.terms import STR, Expr, eq, length, not_, var

UNKNOWNS = [var(f"text{n}", STR) for n in range(3)]
SIDES = [*UNKNOWNS, "a", ""]
# with five things compared, five texts are enough to make any two of them differ
TEXTS = ["a", "", "c", "d", "e"]


@given(st.lists(st.tuples(st.sampled_from(UNKNOWNS), st.sampled_from(SIDES), st.booleans()), min_size=1, max_size=6))
def test_agrees_with_trying_everything(asked: list[tuple[Expr, Expr | str, bool]]) -> None:
    conditions = [eq(left, right) if same else not_(eq(left, right)) for left, right, same in asked]
    plain = [c for c in conditions if isinstance(c, Expr)]
    possible = False not in conditions and any(
        all(evaluate(c, dict(zip(UNKNOWNS, texts, strict=True))) for c in plain) for texts in product(TEXTS, repeat=3)
    )
    if False in conditions:
        return
    answer = decide(plain)
    assert (answer is not False) == possible
    if isinstance(answer, dict):
        assert all(evaluate(c, answer) for c in plain)


def test_other_questions_are_not_answered() -> None:
    asked = eq(length(UNKNOWNS[0]), 3)
    assert isinstance(asked, Expr)
    assert decide([asked]) is None


def test_the_empty_text_is_a_text_like_others() -> None:
    """`x == ""` is kept as a question about the length of x."""
    one, other, _ = UNKNOWNS
    conditions = [c for c in (eq(one, ""), not_(eq(one, other))) if isinstance(c, Expr)]
    assert decide(conditions) == {one: "", other: "t0"}
    assert decide([*conditions, *(c for c in [eq(other, "")] if isinstance(c, Expr))]) is False
