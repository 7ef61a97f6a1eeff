"""The rules of dependency and happens-before, and that what the compiled search has inlined says the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treadle.core.dependency import HappensBefore, dependent, only_reads, performed, same_place, synchronised
from treadle.core.operation import (
    ACQUIRE,
    FAILED,
    FINISH,
    GET,
    HEAD,
    LOOK,
    MULTI,
    PUT,
    READ,
    RELEASE,
    SIGNAL,
    TAIL,
    TIMEOUT,
    TRY,
    WAIT,
    WRITE,
    Operation,
    with_cause,
)
from treadle.search.bounded import TraceHash
from treadle.search.dpor import Dpor

STRANDS = {"main": 0, "T1": 1, "T2": 2}
KEYS = st.sampled_from([None, 1, 2])
MEMORY_ACCESS = st.tuples(st.sampled_from([READ, WRITE]), st.just("x"), KEYS)
SYNCHRONISING = st.tuples(
    st.sampled_from([LOOK, SIGNAL, TRY, TRY, RELEASE, ACQUIRE, GET, PUT, WAIT, FINISH]), st.just("l"), st.none()
)
SEVERAL = st.lists(MEMORY_ACCESS, min_size=1, max_size=3).map(lambda several: (MULTI, None, tuple(several)))
JOINING = st.tuples(st.just(WAIT), st.sampled_from(["T1", "T2"]), st.none())
OUT_OF_TIME = st.tuples(st.just(TIMEOUT), st.just("l"), st.just(ACQUIRE))
ENDS = st.sampled_from([(SIGNAL, "q", TAIL), (GET, "q", HEAD), (GET, "q", HEAD), (LOOK, "q", None), (TRY, "q", None)])
OPERATION: st.SearchStrategy[Operation] = st.one_of(MEMORY_ACCESS, SEVERAL, SYNCHRONISING, ENDS)

# strand, operation, and what its guards say: everything could have gone on, and an attempt may have been in vain
COULD = (1 << 17) - 1
IN_VAIN = st.sampled_from([COULD, COULD | FAILED])
EVENT = st.tuples(st.sampled_from([0, 1, 2]), OPERATION, IN_VAIN)
# on one object, so that half of them depend on each other
PAIR = st.one_of(
    *(
        st.tuples(*[st.tuples(st.just(strand), ops, IN_VAIN) for strand in (0, 1)])
        for ops in (SYNCHRONISING, SEVERAL, ENDS)
    )
)
ANY_EVENT = EVENT | st.tuples(st.sampled_from([0, 1, 2]), JOINING | OUT_OF_TIME, st.just(COULD))


def execution(events: list[tuple[int, Operation, int]]) -> Any:
    """What a strategy sees of an execution."""
    trace = [(strand, op) for strand, op, _ in events]
    return SimpleNamespace(
        trace=trace, guards=[guards for _, _, guards in events], spawned={0: -1, 1: -1, 2: -1}, indexes=STRANDS
    )


def with_causes(events: list[tuple[int, Operation, int]]) -> list[tuple[int, Operation, int]]:
    """The same, where each get comes after a put, while there are any."""
    puts = [number for number, (_, op, _) in enumerate(events) if op == (SIGNAL, "q", TAIL)]
    caused = []
    for number, (strand, op, guards) in enumerate(events):
        took = op == (GET, "q", HEAD) and not guards & FAILED and bool(puts) and puts[0] < number
        caused.append((strand, op, with_cause(guards, puts.pop(0)) if took else guards))
    return caused


def by_the_rule(run: Any) -> HappensBefore:
    return HappensBefore(run.trace, run.guards, run.spawned, run.indexes)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(ANY_EVENT, max_size=7))
def test_the_search_has_the_happens_before_of_the_rule(events: list[tuple[int, Operation, int]]) -> None:
    events = with_causes(events)
    run = execution(events)
    search = Dpor()
    search.trace, search.guards = run.trace, run.guards
    races: list[tuple[int, int]] = []
    for number in range(len(events)):
        search._link(number, run, races)
    assert search.before == by_the_rule(run).before
    for earlier, later in races:
        one, other = (performed(op, guards) for _, op, guards in (events[earlier], events[later]))
        assert events[earlier][0] != events[later][0]
        assert dependent(one, other)


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(EVENT, max_size=3), PAIR, st.lists(EVENT, max_size=2))
def test_swapping_neighbours_gives_an_equal_hash_exactly_when_they_commute(
    before: list[tuple[int, Operation, int]],
    pair: tuple[tuple[int, Operation, int], tuple[int, Operation, int]],
    after: list[tuple[int, Operation, int]],
) -> None:
    one, other = pair
    hashes = [TraceHash().upto(execution([*before, *two, *after])) for two in ((one, other), (other, one))]
    commute = not dependent(performed(one[1], one[2]), performed(other[1], other[2]))
    assert (hashes[0] == hashes[1]) is commute


@given(OPERATION, OPERATION)
def test_dependent_operations_touch_the_same_place_and_one_changes_it(one: Operation, other: Operation) -> None:
    assert dependent(one, other) is dependent(other, one)
    if dependent(one, other):
        assert same_place(one, other)
        assert not (only_reads(one) and only_reads(other))
    if synchronised(one, other):
        assert dependent(one, other)


@pytest.mark.parametrize(
    ("one", "other", "depend"),
    [
        ((READ, "x", 1), (READ, "x", 1), False),
        ((READ, "x", 1), (WRITE, "x", 1), True),
        ((WRITE, "x", 1), (WRITE, "x", 2), False),
        ((READ, "x", None), (WRITE, "x", 2), True),
        ((WRITE, "x", None), (WRITE, "y", None), False),
        ((LOOK, "l", None), (WAIT, "l", None), False),
        ((RELEASE, "l", None), (WAIT, "l", None), True),
        ((MULTI, None, ((READ, "x", 1), (WRITE, "x", 2))), (READ, "x", 1), False),
        ((MULTI, None, ((READ, "x", 1), (WRITE, "y", 2))), (READ, "y", 2), True),
        ((SIGNAL, "q", TAIL), (GET, "q", HEAD), False),
        ((SIGNAL, "q", TAIL), (SIGNAL, "q", TAIL), True),
        ((GET, "q", HEAD), (TRY, "q", None), True),
    ],
)
def test_which_operations_depend_on_each_other(one: Operation, other: Operation, depend: bool) -> None:
    assert dependent(one, other) is depend


def test_a_get_comes_after_the_put_of_what_it_takes() -> None:
    put, get = (SIGNAL, "q", TAIL), (GET, "q", HEAD)
    run = execution(with_causes([(0, put, 0), (0, put, 0), (1, get, 0), (0, put, 0), (1, get, 0)]))
    assert [f"{mask:b}"[::-1] for mask in by_the_rule(run).before] == ["1", "11", "101", "1101", "11101"]


def test_what_orders_events() -> None:
    """A strand's own events, its making, its end, and a time-out; an attempt in vain orders nothing."""
    run = execution(
        [
            (0, (WRITE, "x", None), 0),
            (1, (READ, "y", None), 0),
            (2, (TRY, "l", None), FAILED),
            (1, (TRY, "l", None), FAILED),
            (0, (WAIT, "T1", None), 0),
            (2, (TIMEOUT, "l", ACQUIRE), 0),
            (1, (READ, "z", None), 0),
        ]
    )
    run.spawned = {0: -1, 1: 0, 2: -1}
    assert [f"{mask:b}"[::-1] for mask in by_the_rule(run).before] == [
        "1", "11", "001", "1101", "11011", "111111", "1111111",
    ]  # fmt: skip
