"""Bit operations with a known operand are expressions: what they come to is what Python computes."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.symbolic.exploring import explored
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.python.machine import operators

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
