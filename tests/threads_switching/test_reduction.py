"""What lies between two checks is one step of the search: compared with brute force on random small programs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.programs import Program, explore
from tests.search.test_brute_force import BLOCKING, MEMORY, Counting, Reduced, locked, nested, strands
from treadle.core.transition import Constants
from treadle.search.bounded import Bounded
from treadle.search.dfs import Dfs
from treadle.threads.switching import ALL

ONE = MEMORY.map(lambda action: [action])
CHECKED = st.one_of(ONE, ONE.map(lambda actions: [*actions, ("check", "")]))


@st.composite
def locked_with_checks(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """A lock taken and left with checks here and there."""
    actions = draw(locked())
    return [part for action in actions for part in ([action, ("check", "")] if draw(st.booleans()) else [action])]


PROGRAMS = st.one_of(
    strands(CHECKED, 4),
    strands(st.one_of(CHECKED, BLOCKING.map(lambda a: [a]), locked_with_checks(), nested()), 3),
)


@settings(max_examples=400)
@given(PROGRAMS)
@pytest.mark.slow
def test_dpor_runs_each_class_of_steps_once(program: Program) -> None:
    everything, reduction = Counting(), Reduced()
    brute = explore(program, everything, gil=ALL)
    optimal = explore(program, reduction, gil=ALL)
    assert optimal.outcomes == brute.outcomes
    assert reduction.traces == everything.traces
    assert reduction.surprise is None
    assert optimal.blocked == 0
    assert optimal.executions == len(everything.traces)


@settings(max_examples=200)
@given(PROGRAMS)
@pytest.mark.slow
def test_what_a_gil_allows_every_build_allows(program: Program) -> None:
    assert explore(program, Dfs(), gil=ALL).outcomes <= explore(program, Dfs()).outcomes


@settings(max_examples=300)
@given(PROGRAMS)
@pytest.mark.slow
def test_what_is_never_written_ends_no_step_before_a_lock(program: Program) -> None:
    """Constants are found out as the search goes on; once they are, no outcome is lost, and none is added."""
    constants = Constants()
    reduction = Reduced()
    found = explore(program, reduction, gil=ALL, constants=constants)
    while found.revealed:
        reduction = Reduced()
        found = explore(program, reduction, gil=ALL, constants=constants)
    assert found.outcomes == explore(program, Dfs(), gil=ALL).outcomes
    assert reduction.surprise is None
    assert found.blocked == 0


@settings(max_examples=100)
@given(PROGRAMS)
@pytest.mark.slow
def test_a_bound_that_leaves_nothing_out_loses_no_outcome(program: Program) -> None:
    bounded = explore(program, Bounded("dpor", preemptions=9), gil=ALL)
    assert bounded.outcomes == explore(program, Dfs(), gil=ALL).outcomes


@pytest.mark.parametrize(
    ("program", "with_gil", "without"),
    [
        ([[("copy", "x", "x")]] * 2, 2, 4),  # x += 1
        ([[("read", "x"), ("check", ""), ("write", "x", 1)]] * 2, 4, 4),
        ([[("copy", "x", "y"), ("copy", "y", "x")]] * 2, 2, 10),
        ([[("lock", "l"), ("copy", "x", "x"), ("unlock", "l")]] * 2, 2, 2),
        ([[("lock", "l"), ("check", ""), ("copy", "x", "x"), ("unlock", "l")]] * 2, 2, 2),
        ([[("copy", "x", "x")]] * 3, 6, 36),
    ],
)
def test_numbers_of_executions(program: Program, with_gil: int, without: int) -> None:
    reduction = Reduced()
    assert explore(program, reduction, gil=ALL).executions == with_gil
    assert explore(program, Reduced()).executions == without
