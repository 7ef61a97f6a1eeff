"""Bit operations with a known operand are expressions: what they come to is what Python computes."""

from __future__ import annotations

import operator
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.symbolic.exploring import explored
from treadle.symbolic.expr import terms
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.python.machine import operators
from treadle.symbolic.solve.bounds import interval

x: Any = terms  # everything built here has an unknown in it, and is an Expr

A = x.var("a", x.INT)
OPERATORS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


def _built(op: str, mask: int) -> Any:
    no_machine: Any = None  # nothing is decided and nothing is picked
    return operators._integers(no_machine, op, A, mask)


@pytest.mark.parametrize("op", OPERATORS)
def test_small_numbers_exhaustively(op: str) -> None:
    for mask in range(-20, 21):
        made = _built(op, mask)
        assert [evaluate(made, {A: n}) for n in range(-40, 41)] == [OPERATORS[op](n, mask) for n in range(-40, 41)]


@given(st.sampled_from(sorted(OPERATORS)), st.integers(), st.integers(-(2**70), 2**70))
def test_any_number(op: str, mask: int, n: int) -> None:
    if len(operators._runs(mask)) <= operators.MOST_RUNS:
        assert evaluate(_built(op, mask), {A: n}) == OPERATORS[op](n, mask)


@pytest.mark.parametrize(("name", "paths"), {"flags": 4, "odd": 2, "toggled": 1, "byte": 3}.items())
def test_paths_are_followed(name: str, paths: int) -> None:
    found = explored(f"unit_arithmetic:{name}")
    assert (found.paths, found.seen.sampled) == (paths, [])


B = x.var("b", x.INT)


def test_two_small_unknowns_exhaustively() -> None:
    common: Any = operators._common(A, B, 4)
    pairs = [(a, b) for a in range(-8, 8) for b in range(-8, 8)]
    assert [evaluate(common, {A: a, B: b}) for a, b in pairs] == [a & b for a, b in pairs]


def test_bounds_follow_from_conditions() -> None:
    conditions: list[Any] = [x.ge(A, 2), x.lt(A, 7), x.le(B, A)]
    assert interval(conditions, A) == (2, 6)
    assert interval(conditions, B) == (-inf, 6)
    assert interval(conditions, x.sub(10, A)) == (4, 8)


@pytest.mark.parametrize(
    ("program", "results"),
    {
        "return 'in' if 0 <= a < 8 and 2**a > 100 else 'out'": {"in", "out"},
        "return 'in' if 0 <= a < 9 and 1 << a == 64 else 'out'": {"in", "out"},
        "return 'in' if 0 <= a < 5 and 300 >> a == 37 else 'out'": {"in", "out"},
        "return 'in' if 0 <= a < 16 and 0 <= b < 16 and a & b == 5 and a ^ b == 10 else 'out'": {"in", "out"},
        "return 'in' if -4 <= a < 4 and -4 <= b < 4 and a | b == -1 and a + b > 1 else 'out'": {"in", "out"},
        "return ('neg', 'zero', 'pos')[(a > 0) - (a < 0) + 1]": {"neg", "zero", "pos"},
    }.items(),
)
def test_what_the_path_bounds_is_followed(
    program: str, results: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"bounded_{abs(hash(program))}"
    (tmp_path / f"{name}.py").write_text(f"def f(a: int, b: int) -> str:\n    {program}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = explored(f"{name}:f")
    assert found.seen.sampled == []
    assert {case.outcome.value for case in found.cases} == results


@pytest.mark.parametrize(
    ("program", "results"),
    {"2**a == 1024": {10}, "1 << a == 4096": {12}, "3**a > 200 and a < 6": {5}}.items(),
)
def test_a_free_exponent_is_followed_while_it_is_small(
    program: str, results: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"free_{abs(hash(program))}"
    (tmp_path / f"{name}.py").write_text(f"def f(a: int) -> int:\n    return a if {program} else -9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = explored(f"{name}:f")
    assert {case.outcome.value for case in found.cases} - {-9, None} == results
    assert found.seen.sampled  # a greater one is picked


def test_a_power_is_shown_as_one() -> None:
    power: Any = 2**5
    for n in range(4, -1, -1):
        power = x.ite(x.eq(A, n), 2**n, power)
    assert str(x.gt(power, 7)) == "(2**a) >= 8"
    other = x.ite(x.eq(A, 0), 1, x.ite(x.eq(A, 1), 2, 3))
    assert "**" not in str(x.gt(other, 7))
