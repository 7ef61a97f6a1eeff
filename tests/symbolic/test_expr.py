"""Expressions: equal ones are one object, trivial conditions decide themselves, text reads like Python."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.symbolic.expr import patterns, terms, text
from treadle.symbolic.expr.meaning import evaluate, substitute
from treadle.symbolic.expr.operators import OPERATORS
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import BOOL, INT, REAL, REF, STR, Expr
from treadle.symbolic.solve.translate import Translator

x: Any = terms  # everything built here has an unknown in it, and is an Expr

A, B, N = x.var("a", INT), x.var("b", INT), x.var("n", INT)
S, T = x.var("s", STR), x.var("t", STR)
P = x.var("p", BOOL)
R = x.var("r", REAL)


def test_equal_expressions_are_the_same_object() -> None:
    assert x.add(A, B) is x.add(B, A)
    assert x.gt(N, 0) is x.ge(N, 1)
    assert x.not_(x.gt(N, 0)) is x.le(N, 0)
    assert x.var("a", INT) is A


def test_known_values_stay_plain() -> None:
    assert x.add(2, 3) == 5
    assert x.sub(A, A) == 0
    assert x.floordiv(-7, 2) == -4
    assert x.mod(-7, 2) == 1
    assert x.eq(x.add(A, 1), A) is False
    assert x.concat("a", "b") == "ab"
    assert x.length(x.concat(S, "ab")) is x.add(x.length(S), 2)


def test_true_and_one_are_not_confused() -> None:
    assert x.ite(P, 1, 0) is not x.ite(P, True, False)
    assert x.ite(P, True, False) is P


def test_an_unknown_cannot_be_branched_on_by_accident() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(x.gt(A, 0))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (x.gt(N, 0), "n > 0"),
        (x.lt(N, 0), "n < 0"),
        (x.le(N, 0), "n <= 0"),
        (x.ge(N, 3), "n >= 3"),
        (x.ne(A, B), "a != b"),
        (x.eq(x.mod(A, B), 0), "a % b == 0"),
        (x.eq(x.length(S), 0), "len(s) == 0"),
        (x.prefix(S, "ab"), "s.startswith('ab')"),
        (x.not_(x.contains(S, "x")), "'x' not in s"),
        (x.or_(P, x.gt(N, 0)), "p or (n > 0)"),
        (x.ge(R, Fraction(1, 2)), "r >= 0.5"),
        (x.ne(x.add(x.ite(x.eq(N, 1), A, 7), 2), B), "b != (a if n == 1 else 7) + 2"),
    ],
)
def test_text(expression: Expr, text: str) -> None:
    assert show(expression) == text


small = st.integers(-6, 6)


@given(small, small)
def test_sums_products_and_floor_division_mean_what_python_means(a: int, b: int) -> None:
    model = {A: a, B: b}
    assert evaluate(x.sub(x.mul(A, 3), x.add(B, 7)), model) == a * 3 - (b + 7)
    assert evaluate(x.mul(A, B), model) == a * b
    for divisor in (-3, -1, 1, 2, 5):
        assert evaluate(x.floordiv(A, divisor), model) == a // divisor
        assert evaluate(x.mod(x.add(A, x.mul(B, 10)), divisor), model) == (a + b * 10) % divisor
    if b:
        assert evaluate(x.floordiv(A, B), model) == a // b
        assert evaluate(x.mod(A, B), model) == a % b


@given(small, small)
def test_substitution_agrees_with_evaluation(a: int, b: int) -> None:
    condition = x.or_(x.lt(x.mul(A, B), x.add(A, 4)), x.eq(x.mod(A, 3), 1))
    assert substitute(condition, {A: a, B: b}) == evaluate(condition, {A: a, B: b})


Q, SAME, OTHER = x.var("q", REAL), x.var("u", REF), x.var("w", REF)

# one node of every operator
SAMPLES: list[Any] = [
    *(x.mul(A, B), x.rmul(R, Q), x.floordiv(A, B), x.floordiv(A, 3), x.mod(A, B), x.mod(A, 3), x.rdiv(R, Q)),
    *(x.to_real(x.mul(A, B)), x.floor(R), x.ge(A, B), x.gt(R, Q), x.eq(A, B), x.eq(P, x.var("o", BOOL))),
    *(x.eq(SAME, OTHER), x.not_(P), x.and_(P, x.ge(A, 1)), x.or_(P, x.ge(A, 1)), x.ite(P, A, x.add(B, 1))),
    *(x.length(S), x.concat(S, T), x.eq(S, T), x.at(S, A), x.substr(S, A, B), x.contains(S, T), x.prefix(S, T)),
    *(x.suffix(S, T), x.index_of(S, T, A), x.replace_first(S, T, "b"), x.replace_all(S, T, "b"), x.str_lt(S, T)),
    *(x.str_le(S, T), x.int_to_str(A), x.str_to_int(S), x.ord_(S), x.chr_(A), x.in_class(S, "digit")),
    *(text.strip(S, "", "lr"), text.parted(S, ",", "before"), text.first_word(S), text.other_words(S)),
    *(text.recased(S, "lower"), text.repr_(S), text.is_int(S), text.int_of(S), text.is_finite(S)),
    *(text.is_endless(S), text.float_of(S), patterns.matched(S, "a+", 0, "match")),
    patterns.group(S, "(a)", 0, "match", 1),
    *(patterns.has_group(S, "(a)?", 0, "match", 1), patterns.group_start(S, "a", 0, "search", 0)),
]


def test_every_operator_is_built_read_and_known_to_z3() -> None:
    assert {sample.op for sample in SAMPLES} == set(OPERATORS)
    for sample in SAMPLES:
        assert all(unknown.args[0] in show(sample) for unknown in sample.vars), sample
        condition = sample if sample.sort is BOOL else x.eq(sample, x.var("result", sample.sort))
        assert Translator().assertions(condition), sample
