"""Reductions against brute force on random small programs: no outcome is lost, and each trace is run exactly once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.programs import Program, explore
from treadle.search.bounded import Bounded, TraceHash
from treadle.search.dfs import Dfs
from treadle.search.dpor import Dpor
from treadle.search.source_dpor import SourceDpor

MEMORY = st.one_of(
    st.tuples(st.just("read"), st.sampled_from("xy")),
    st.tuples(st.just("write"), st.sampled_from("xy"), st.integers(1, 3)),
    st.tuples(st.just("add"), st.sampled_from("xy")),
    st.tuples(st.just("copy"), st.sampled_from("xy"), st.sampled_from("xy")),
    st.tuples(st.just("sum"), st.just("m")),
)
BLOCKING = st.one_of(
    st.tuples(st.just("raise"), st.sampled_from("fg")),
    st.tuples(st.just("lower"), st.just("f")),
    st.tuples(st.just("wait"), st.sampled_from("fg")),
    st.tuples(st.just("look"), st.just("f")),
    st.tuples(st.just("put"), st.just("q"), st.integers(1, 3)),
    st.tuples(st.just("get"), st.just("q")),
    st.tuples(st.just("try"), st.sampled_from("lk")),
)


@st.composite
def locked(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    name = draw(st.sampled_from("lk"))
    inside = draw(st.lists(st.one_of(MEMORY, BLOCKING), max_size=1))
    return [("lock", name), *inside, ("unlock", name)]


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    first = draw(st.sampled_from("lk"))
    second = "k" if first == "l" else "l"
    return [("lock", first), ("lock", second), ("unlock", second), ("unlock", first)]


def strands(actions: st.SearchStrategy[list[tuple[Any, ...]]], most: int) -> st.SearchStrategy[Program]:
    body = st.lists(actions, min_size=1, max_size=most).map(lambda parts: [action for part in parts for action in part])
    return st.lists(body, min_size=2, max_size=3).filter(lambda program: sum(map(len, program)) <= 7)


PROGRAMS = st.one_of(
    strands(MEMORY.map(lambda action: [action]), 3),
    strands(st.one_of(MEMORY.map(lambda a: [a]), BLOCKING.map(lambda a: [a]), locked(), nested()), 3),
)


LOCKING = [("lock", "l"), ("unlock", "l")]


class Counting(Dfs):
    """Brute force that also counts the traces it meets."""

    def __init__(self) -> None:
        super().__init__()
        self.traces: set[int] = set()

    def end(self, run: Any) -> None:
        super().end(run)
        self.traces.add(TraceHash().upto(run))


class Reduced(Dpor):
    """Optimal DPOR that also counts the traces it meets."""

    def __init__(self) -> None:
        super().__init__()
        self.traces: set[int] = set()

    def end(self, run: Any) -> None:
        super().end(run)
        self.traces.add(TraceHash().upto(run))


@settings(max_examples=400)
@given(PROGRAMS)
@pytest.mark.slow
def test_dpor_runs_each_trace_once_and_loses_no_outcome(program: Program) -> None:
    everything = Counting()
    brute = explore(program, everything)
    reduction = Reduced()
    optimal = explore(program, reduction)
    assert optimal.outcomes == brute.outcomes
    assert optimal.blocked == 0
    assert reduction.traces == everything.traces
    assert optimal.executions == len(everything.traces)


@pytest.mark.parametrize(
    ("program", "traces"),
    [
        ([[("lock", "l"), ("put", "q", 1), ("unlock", "l")], [("put", "q", 1)], [("read", "x"), *LOCKING]], 4),
        ([[("raise", "g"), *LOCKING], [("lock", "l"), ("raise", "g"), ("unlock", "l")], [("raise", "g")]], 9),
        ([LOCKING, [("try", "l")], [("read", "x"), ("try", "l")]], 15),
        ([LOCKING, [*LOCKING, ("raise", "f")], [("read", "x"), ("try", "l")]], 10),
        ([LOCKING, [("try", "l")] * 3, [("read", "x"), ("try", "l"), ("try", "l")]], 513),
    ],
)
def test_a_reversed_step_is_not_held_back_by_what_is_left_out(program: Program, traces: int) -> None:
    """The second step of a race may come after a third one only by way of the first: reversed, it need not. If it were
    held back, traces would be run twice."""
    reduction, everything = Reduced(), Counting()
    assert explore(program, reduction).executions == traces
    explore(program, everything)
    assert reduction.traces == everything.traces


@pytest.mark.parametrize(
    ("program", "traces"),
    [
        ([[("lower", "f")], [("raise", "f"), ("wait", "f")], [("lower", "f")]], 10),
        ([[("lower", "f"), ("raise", "f")], [("write", "x", 3), ("raise", "f"), ("wait", "f")]], 5),
        ([[("raise", "f"), ("lower", "f")], [("wait", "f"), ("wait", "f")], [("lower", "f"), ("raise", "f")]], 27),
    ],
)
def test_a_wait_may_have_ended_before_its_event_was_cleared(program: Program, traces: int) -> None:
    """The last change before the wait does not tell: it may be one that came after the clearing."""
    reduction, everything = Reduced(), Counting()
    assert explore(program, reduction).executions == traces
    explore(program, everything)
    assert reduction.traces == everything.traces


@settings(max_examples=100)
@given(PROGRAMS)
@pytest.mark.slow
def test_source_dpor_loses_no_outcome(program: Program) -> None:
    assert explore(program, SourceDpor()).outcomes == explore(program, Dfs()).outcomes


@settings(max_examples=100)
@given(PROGRAMS, st.integers(0, 2))
@pytest.mark.slow
def test_a_bounded_search_finds_all_outcomes_within_its_bound(program: Program, bound: int) -> None:
    reduced = explore(program, Bounded("dpor", preemptions=bound))
    plain = explore(program, Bounded("dfs", preemptions=bound))
    assert reduced.outcomes == plain.outcomes
    assert reduced.executions <= plain.executions


# Four and five strands: what is left out there by mistake is not seen with fewer.
LARGER: list[tuple[Program, int]] = [
    (
        [
            [("lower", "f")],
            [("write", "x", 1)],
            [("copy", "x", "y"), ("look", "f")],
            [("add", "x"), ("copy", "x", "y"), ("copy", "y", "x")],
        ],
        76,
    ),
    (
        [
            [("raise", "f"), *LOCKING],
            [("add", "x"), ("lower", "f"), ("look", "f")],
            [("wait", "f"), *LOCKING],
            [("sum", "m")],
        ],
        14,
    ),
    (
        [
            [("put", "q", 1), ("try", "l")],
            [("copy", "y", "x"), ("raise", "f")],
            [("get", "q")],
            [("get", "q"), *LOCKING],
        ],
        4,
    ),
]


@pytest.mark.parametrize(("program", "classes"), LARGER)
@pytest.mark.slow
def test_every_class_of_larger_programs_is_run(program: Program, classes: int) -> None:
    """A reversal holds all of the execution that is independent of the earlier event; pending operations race as well
    where everybody is asleep."""
    counting = Counting()
    every = explore(program, counting, 50_000)
    assert every.exhausted
    assert len(counting.traces) == classes
    for reduced in (Dpor(), SourceDpor()):
        found = explore(program, reduced)
        assert (found.executions, found.outcomes) == (classes, every.outcomes)


def test_both_reductions_run_every_class_of_five_strands() -> None:
    program: Program = [
        [("lock", "k"), ("unlock", "k"), ("sum", "m"), ("get", "q")],
        [("try", "k"), ("lower", "f")],
        [("try", "k"), ("lower", "f")],
        [("add", "x")],
        [("try", "l"), ("copy", "x", "y")],
    ]
    assert explore(program, Dpor()).executions == explore(program, SourceDpor()).executions == 210
