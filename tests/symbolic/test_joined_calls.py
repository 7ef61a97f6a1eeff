"""Calls passed with all their ways at once: a search follows about as many paths as it writes tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.symbolic.exploring import explored, load
from tests.symbolic.random_programs import facts
from treadle.symbolic.expr.terms import Value
from treadle.symbolic.solve.solver import Answer, Solver, SolverVerdict


@pytest.mark.parametrize(
    ("target", "k", "tests"),
    [
        ("unit_paper:lcm", 1, 3),
        ("unit_paper:lcm", 3, 3),
        ("unit_paper:Rational.simplify", 1, 2),
        ("unit_paper:Rational.simplify", 3, 2),
        ("unit_joined:long_number", 2, 2),
        ("unit_joined:caught", 2, 3),
    ],
)
def test_local_paths_follow_no_more_paths_than_there_are_tests(target: str, k: int, tests: int) -> None:
    found = explored(target, k=k, select="local-paths")
    assert (len(found.cases), found.seen.runs) == (tests, tests)
    assert found.selection is not None
    assert found.selection.doubts == []


def test_thousands_of_ways_through_calls_are_a_few_paths() -> None:
    """Four ways through each of six calls; that a sum is never above 18 is found out once and not 4096 times."""
    found = explored("unit_joined:six_bands", select="local-paths")
    assert sorted(case.outcome.value for case in found.cases) == ["all but one", "other"]
    assert found.seen.runs <= 4


def test_a_line_behind_calls_is_refuted_at_once() -> None:
    lines = Path(load("unit_joined").__file__ or "").read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.strip() == 'return "never"')
    found = explored("unit_joined:six_bands", select="points", points=(str(line),))
    assert found.selection is not None
    assert (found.selection.verdict(0, 0), found.selection.loops, found.cases) == ("none", False, [])
    assert found.seen.runs <= 3


def test_ways_that_the_loop_bound_cuts_are_told() -> None:
    """Four digits need three rounds: with two there is no test, and a greater bound may find one."""
    found = explored("unit_joined:longer_number", k=2, select="local-paths")
    assert [case.outcome.value for case in found.cases] == [False]
    assert found.selection is not None
    assert found.selection.loops
    assert len(explored("unit_joined:longer_number", k=3, select="local-paths").cases) == 2


@pytest.mark.parametrize("name", ["known_rounds", "rounds_with_questions", "even", "through_many", "caught"])
@pytest.mark.parametrize("k", [1, 2])
def test_the_tests_are_some_of_those_of_all_paths(name: str, k: int) -> None:
    """The loop bound means the same: a round counts if something unknown was decided in it, in a callee as well."""
    every = [facts(case) for case in explored(f"unit_joined:{name}", k=k).cases]
    chosen = [facts(case) for case in explored(f"unit_joined:{name}", k=k, select="local-paths").cases]
    assert all(case in every for case in chosen)
    assert bool(chosen) == bool(every)


@pytest.mark.parametrize(
    ("name", "text"),
    [("counts_down", "return b"), ("counts_bands", "return 1"), ("many_digits", "return 1")],
)
@pytest.mark.parametrize("k", [1, 2])
def test_a_number_that_is_known_on_each_path_bounds_no_loop(name: str, text: str, k: int) -> None:
    """Passed at once, the conditions leave a number that is not known: a loop over it would be cut, and is not."""
    every = explored(f"unit_joined:{name}", k=k)
    first, last = every.target.body()
    lines = Path(every.target.file).read_text(encoding="utf-8").splitlines()
    line = next(n for n in range(first, last + 1) if lines[n - 1].strip() == text)
    found = explored(f"unit_joined:{name}", k=k, select="points", points=(str(line),))
    assert found.selection is not None
    reached = any(line in case.lines for case in every.cases)
    verdict = found.selection.verdict(0, found.selection.met(found.cases))
    assert (verdict, reached) == ("reached", True)


def test_where_the_solver_gives_up_behind_a_joined_call_the_call_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = [facts(case) for case in explored("unit_joined:through_many", select="branches").cases]
    check = Solver.check
    hard: list[Any] = []

    def gives_up(self: Solver, conditions: Any, extra: Value = True, *rest: Any, **named: Any) -> SolverVerdict:
        # what is known of a joined call has several parts; that of a way through it is a comparison
        if len(str(extra)) > 200:
            hard.append(extra)
            return SolverVerdict(Answer.UNKNOWN)
        return check(self, conditions, extra, *rest, **named)

    monkeypatch.setattr(Solver, "check", gives_up)
    found = explored("unit_joined:through_many", select="branches")
    assert hard
    assert found.selection is not None
    assert found.selection.doubts == []
    assert len(found.cases) == len(plain)
