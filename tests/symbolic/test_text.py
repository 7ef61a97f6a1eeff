"""Functions of strings: what z3 is told of them is true of Python's own, and enough to decide plain cases."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.symbolic.expr import terms, text
from treadle.symbolic.expr.meaning import evaluate, substitute
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import STR
from treadle.symbolic.solve.label import label
from treadle.symbolic.solve.solver import Answer, Solver

x: Any = terms  # everything built here has an unknown in it, and is an Expr

S = x.var("s", STR)

# what a node is built by, and Python's own function
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[str], str | int | bool | Fraction]]] = {
    "s.strip()": (lambda s: text.strip(s, "", "lr"), str.strip),
    "s.lstrip()": (lambda s: text.strip(s, "", "l"), str.lstrip),
    "s.rstrip('a,')": (lambda s: text.strip(s, "a,", "r"), lambda s: s.rstrip("a,")),
    "s.partition(',')[0]": (lambda s: text.parted(s, ",", "before"), lambda s: s.partition(",")[0]),
    "s.partition(',')[2]": (lambda s: text.parted(s, ",", "after"), lambda s: s.partition(",")[2]),
    "s.rpartition(',')[0]": (lambda s: text.parted(s, ",", "before last"), lambda s: s.rpartition(",")[0]),
    "s.rpartition(',')[2]": (lambda s: text.parted(s, ",", "after last"), lambda s: s.rpartition(",")[2]),
    "s.partition('aa')[2]": (lambda s: text.parted(s, "aa", "after"), lambda s: s.partition("aa")[2]),
    "s.rpartition('aa')[0]": (lambda s: text.parted(s, "aa", "before last"), lambda s: s.rpartition("aa")[0]),
    "s.split()[0]": (text.first_word, lambda s: (s.split() or [""])[0]),
    "s.split(None, 1)[1]": (text.other_words, lambda s: [*s.split(None, 1), "", ""][1]),
    "s.lower()": (lambda s: text.recased(s, "lower"), str.lower),
    "s.upper()": (lambda s: text.recased(s, "upper"), str.upper),
    "s.title()": (lambda s: text.recased(s, "title"), str.title),
    "s.swapcase()": (lambda s: text.recased(s, "swapcase"), str.swapcase),
    "repr(s)": (text.repr_, repr),
    "s is an int": (text.is_int, text.reads_as_int),
    "int(s)": (text.int_of, text.as_int),
    "s is a float": (text.is_finite, text.reads_as_finite),
    "float(s)": (text.float_of, text.as_fraction),
    "s is inf or nan": (text.is_endless, text.reads_as_endless),
}
TEXTS = st.text(alphabet="aAbZ,= \t\xa0-+_019'\\.e", max_size=6) | st.from_regex(
    r"[ +-]?[0-9]{0,2}\.?[0-9]e?[0-9]?", fullmatch=True
)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_reads_as_in_python(name: str) -> None:
    assert show(FUNCTIONS[name][0](S)) == name


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=10, deadline=None)
@given(value=TEXTS)
def test_what_z3_is_told_is_true(name: str, value: str) -> None:
    """With the string fixed, the true result is possible, and no other is."""
    build, python = FUNCTIONS[name]
    expected = python(value)
    node = build(S)
    assert evaluate(node, {S: value}) == expected
    assert substitute(node, {S: value}) == expected
    # not a plain equation, which would be put in before z3 is asked
    path = [x.or_(x.eq(S, value), x.eq(S, "?" + value)), x.not_(x.prefix(S, "?"))]
    assert Solver().check(path, x.eq(node, expected)).possible
    assert Solver().check(path, x.ne(node, expected)).answer is Answer.UNSAT


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=5, deadline=None)
@given(value=TEXTS)
def test_a_string_is_found_for_a_result(name: str, value: str) -> None:
    build, python = FUNCTIONS[name]
    longer = x.gt(x.length(S), len(value) - 1)
    path = [longer] if isinstance(longer, x.Expr) else []
    found = Solver().check(path, x.eq(build(S), python(value)))
    assert found.answer is not Answer.UNSAT


def test_compositions_are_decided() -> None:
    """A line of a configuration file: stripped, not a comment, with a key and a value that are stripped themselves."""
    line = text.strip(S, "", "lr")
    key, value = (text.strip(text.parted(line, "=", place), "", "lr") for place in ("before", "after"))
    path = [x.not_(x.eq(line, "")), x.not_(x.prefix(line, "#")), x.contains(line, "=")]
    assert Solver().check(path, x.and_(x.eq(key, "name"), x.eq(value, "me"))).possible
    assert Solver().check(path, x.prefix(key, " ")).answer is Answer.UNSAT
    assert Solver().check(path, x.contains(key, "=")).answer is Answer.UNSAT


def test_letters_are_told_apart_by_case() -> None:
    lower = text.recased(S, "lower")
    assert Solver().check([x.ne(S, "admin")], x.eq(lower, "admin")).possible
    assert Solver().check([], x.contains(lower, "A")).answer is Answer.UNSAT
    assert Solver().check([x.prefix(S, "X")], x.prefix(lower, "y")).answer is Answer.UNSAT


def test_letters_beyond_ascii_are_not_ruled_out() -> None:
    solver = Solver()
    solver.words = ("É",)
    assert solver.check([], x.eq(text.recased(S, "lower"), "é")).answer is not Answer.UNSAT


def test_values_for_a_test_are_found() -> None:
    number = text.int_of(text.strip(S, " ", "lr"))
    is_number = text.is_int(text.strip(S, " ", "lr"))
    assert isinstance(is_number, terms.Expr)
    found = label([is_number, x.gt(number, 41)], [S])
    assert found is not None
    value = found[S]
    assert isinstance(value, str)
    assert int(value.strip(" ")) > 41


def test_a_value_put_in_may_be_outside_of_what_a_function_is_for() -> None:
    """Behind a condition that has become false; nobody sees the result, but it must be one."""
    n = x.var("n", x.INT)
    for made in (x.ord_(S), x.str_to_int(S), x.at(S, n), x.substr(S, n, 2), x.index_of(S, "a", n), x.chr_(n)):
        for value, number in (("", -1), ("", 5), ("ab", -3)):
            model: dict[x.Expr, x.Const] = {S: value, n: number}
            assert substitute(made, model) == evaluate(made, model)
    assert Solver().check([x.eq(S, "")], x.gt(x.ord_(x.at(S, 0)), 5)).answer is Answer.UNSAT


def test_values_for_a_test_fulfil_every_condition() -> None:
    after = text.parted(S, ",", "after")
    path = [x.contains(S, ","), x.contains(after, ","), x.not_(x.contains(text.parted(after, ",", "after"), ","))]
    found = label(path, [S])
    assert found is not None
    assert str(found[S]).count(",") == 2
