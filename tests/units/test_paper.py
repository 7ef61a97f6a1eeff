"""The exact results of the paper: how many cases, and which."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.symbolic.exploring import explored, load, trace
from treadle.units.explore import ExploredTarget


def _conditions(found: ExploredTarget) -> set[str]:
    return {case.condition for case in found.cases}


def test_int_exp_has_three_cases() -> None:
    found = explored("unit_paper:int_exp", k=1)
    assert found.paths == len(found.cases) == 3
    assert _conditions(found) == {"n < 0", "n >= 0 and n <= 0", "n >= 0 and n > 0 and n <= 1"}
    outcomes = {c.condition: (c.outcome.raises, c.outcome.value) for c in found.cases}
    assert outcomes["n < 0"] == (ArithmeticError, None)
    assert outcomes["n >= 0 and n <= 0"] == (None, 1)
    assert found.seen.cut == {"loop": 1}


@pytest.mark.parametrize(("heap", "paths"), [("lazy", 5), ("solver", 4)])
def test_mist_has_five_cases(heap: str, paths: int) -> None:
    found = explored("unit_paper:mist", k=1, heap=heap)
    assert (found.paths, len(found.cases)) == (paths, 5)
    assert _conditions(found) == {
        "r1 is not None and r1.f > 0 and r2 is not None and r2 is not r1",
        "r1 is not None and r1.f <= 0",
        "r1 is None",
        "r1 is not None and r1.f > 0 and r2 is None",
        "r1 is not None and r1.f > 0 and r2 is r1",
    }


@pytest.mark.parametrize(("heap", "paths"), [("lazy", 7), ("solver", 5)])
def test_rem_all_has_the_seven_cases_of_table_4(heap: str, paths: int) -> None:
    found = explored("unit_paper:List.rem_all", k=1, heap=heap)
    assert (found.paths, len(found.cases)) == (paths, 7)
    assert _conditions(found) == {
        "l is None",
        "l is not None and l.first is None",
        "l is not None and l.first is not None and self is not l and self.first is None and l.first.next is None",
        "l is not None and l.first is not None and self is not l and self.first is not None"
        " and l.first is not self.first and self.first.data != l.first.data"
        " and self.first.next is None and l.first.next is None",
        "l is not None and l.first is not None and self is not l and self.first is not None"
        " and l.first is not self.first and self.first.data == l.first.data"
        " and self.first.next is None and l.first.next is None",
        "l is not None and l.first is not None and self is not l and self.first is not None"
        " and l.first is self.first and self.first.next is None",
        "l is not None and l.first is not None and self is l and l.first.next is None",
    }


def test_rem_all_without_aliasing_has_five() -> None:
    found = explored("unit_paper:List.rem_all", k=1, alias=False)
    assert found.paths == 5
    assert not any(c.arguments["l"] is c.arguments["self"] for c in found.cases)


def test_simplify_has_the_five_cases_of_table_1() -> None:
    found = explored("unit_paper:Rational.simplify", k=1)
    assert found.paths == 5
    assert _conditions(found) == {
        "self.d == 0 and self.n < 0",
        "self.d == 0 and self.n >= 0 and self.n != 0",
        "self.d == 0 and self.n >= 0 and self.n == 0",
        "self.d != 0 and self.n % self.d == 0 and self.d < 0",
        "self.d != 0 and self.n % self.d == 0 and self.d >= 0",
    }
    raising = [c for c in found.cases if c.outcome.raises is not None]
    assert [c.outcome.raises for c in raising] == [ZeroDivisionError]


@pytest.mark.parametrize(("k", "paths"), [(1, 9), (2, 15), (3, 21)])
def test_lcm(k: int, paths: int) -> None:
    found = explored("unit_paper:lcm", k=k)
    assert found.paths == len(found.cases) == paths
    assert found.seen.gave_up == []


def test_abs_has_two_cases() -> None:
    found = explored("unit_paper:negative")
    assert _conditions(found) == {"x < 0", "x >= 0"}
    assert {c.symbolic.text for c in found.cases if c.symbolic is not None} == {"-x", "x"}


# name, box of each argument, k
_ARITHMETIC = [
    ("unit_paper:int_exp", (-4, 5), 1),
    ("unit_paper:int_exp", (-4, 5), 3),
    ("unit_paper:lcm", (-12, 13), 1),
    ("unit_paper:lcm", (-12, 13), 2),
    ("unit_paper:gcd", (-12, 13), 2),
    ("unit_paper:negative", (-4, 5), 1),
    ("unit_arithmetic:collatz_steps", (-2, 40), 3),
    ("unit_arithmetic:triangle", (-1, 6), 1),
    ("unit_arithmetic:divide", (-5, 6), 1),
    ("unit_arithmetic:count_down", (-3, 8), 2),
    ("unit_arithmetic:clamp", (-3, 4), 1),
    ("unit_arithmetic:grid", (-1, 5), 2),
]


@pytest.mark.parametrize(("target", "box", "k"), _ARITHMETIC)
def test_the_paths_generated_are_the_paths_taken(target: str, box: tuple[int, int], k: int) -> None:
    """All inputs of a small box, run for real, take exactly the paths that have a test; each path has one test."""
    module, name = target.split(":")
    function: Callable[..., Any] = getattr(load(module), name)
    found = explored(target, k=k)
    arity = function.__code__.co_argcount
    taken = set()
    for args in itertools.product(range(*box), repeat=arity):
        lines, rounds = trace(function, args)
        if all(n <= k for n in rounds.values()):
            taken.add(lines)
    generated = [trace(function, case.arguments.values())[0] for case in found.cases]
    assert set(generated) == taken
    if name != "triangle":  # `or` and chained comparisons take several paths through one line
        assert len(generated) == len(set(generated))


def test_recursion_is_bounded_like_a_loop() -> None:
    found = explored("unit_arithmetic:recursive_sum", k=2)
    assert sorted(c.arguments["n"] for c in found.cases) == [0, 1, 2]
    assert found.seen.cut == {"loop": 1}
