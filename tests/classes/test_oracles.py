"""Judging an outcome against the orders of the calls, and predicting problematic interleavings."""

from __future__ import annotations

import pytest

from treadle.classes.linearizability import DEADLOCK, LIMIT, PENDING, Outcome, judge, returned
from treadle.classes.serializability import PATTERNS, conflict, problematic, races
from treadle.core.operation import ACQUIRE, READ, RELEASE, WRITE, Operation

RAISED = ("raised", "KeyError", "'a'")
RAISED_HERE = (*RAISED, "a.py:1")


def outcome(one: tuple[object, ...], other: tuple[object, ...], **more: object) -> Outcome:
    return Outcome(((one,), (other,)), **more)  # type: ignore[arg-type]


def test_an_outcome_that_one_order_gives_is_explained() -> None:
    orders = [outcome(returned(1), returned(2)), outcome(returned(2), returned(1))]
    assert judge(outcome(returned(2), returned(1)), orders) is None


def test_results_of_two_different_orders_do_not_mix() -> None:
    orders = [outcome(returned(1), returned(2)), outcome(returned(2), returned(1))]
    found = judge(outcome(returned(1), returned(1)), orders)
    assert found is not None
    assert found.kind == "linearizability"


def test_an_exception_that_some_order_gives_is_no_fault() -> None:
    orders = [outcome(returned(1), RAISED), outcome(RAISED, returned(1))]
    assert judge(outcome(("raised", "KeyError", "'b'", "a.py:1"), returned(1)), orders) is None
    found = judge(outcome(("raised", "IndexError", "", "a.py:1"), returned(1)), orders)
    assert found is not None
    assert found.kind == "exception"


def test_waiting_as_some_order_waits_is_no_deadlock() -> None:
    stuck = outcome(PENDING, returned(1), ending=DEADLOCK)
    assert judge(stuck, [outcome(returned(1), returned(2)), outcome(PENDING, returned(1), ending=DEADLOCK)]) is None
    found = judge(stuck, [outcome(returned(1), returned(2))])
    assert found is not None
    assert found.kind == "deadlock"


def test_inner_state_alone_is_a_warning() -> None:
    orders = [outcome(returned(1), returned(1), state="x")]
    found = judge(outcome(returned(1), returned(1), state="y"), orders)
    assert found is not None
    assert found.kind == "serializability"
    assert not found.is_fault


def test_a_later_call_that_fails_after_no_order_is_a_broken_state() -> None:
    orders = [outcome(returned(1), returned(1), later=(returned(None),))]
    found = judge(outcome(returned(1), returned(1), later=(RAISED,)), orders)
    assert found is not None
    assert found.kind == "broken state"


def test_an_order_that_did_not_come_to_an_end_explains_nothing_and_denies_nothing() -> None:
    endless = outcome(returned(1), PENDING, ending=LIMIT)
    assert judge(outcome(returned(1), returned(1), state=1), [endless]) is None
    assert judge(outcome(returned(1), RAISED_HERE), [endless]) is None
    assert judge(outcome(RAISED_HERE, returned(1)), [endless]) is not None


def test_values_that_something_else_decides_are_not_compared() -> None:
    orders = [outcome(returned(1), returned(2))]
    assert judge(outcome(returned(3), returned(4)), orders, values=False) is None


# ---------------------------------------------------------------------- prediction


def op(kind: int, field: str) -> Operation:
    return (kind, "Shared#1", field)


def lock(kind: int) -> Operation:
    return (kind, "Lock#1", None)


# one thread's accesses and the other's that match each pattern and none of the simpler ones
_MATCHING = {
    1: ("R1 W1", "w1"),
    2: ("R1 R1", "w1"),
    3: ("W1 W1", "r1"),
    4: ("W1 R1", "w1"),
    5: ("W1 W1", "w1"),
    6: ("W1 W2", "w1 w2"),
    7: ("W1 W2", "w2 w1"),
    8: ("W1 W2", "r1 r2"),
    9: ("W1 W2", "r2 r1"),
    10: ("R1 R2", "w1 w2"),
    11: ("R1 R2", "w2 w1"),
}


def operations(text: str) -> list[Operation]:
    return [op(READ if part[0].upper() == "R" else WRITE, part[1]) for part in text.split()]


def test_there_are_eleven_patterns() -> None:
    assert [number for number, _, _ in PATTERNS] == list(range(1, 12))
    assert sorted(_MATCHING) == list(range(1, 12))


@pytest.mark.parametrize("pattern", range(1, 12))
def test_each_pattern_is_found(pattern: int) -> None:
    mine, theirs = _MATCHING[pattern]
    found = problematic(operations(mine), operations(theirs), [frozenset("12")])
    assert pattern in {interleaving.pattern for interleaving in found}


@pytest.mark.parametrize("pattern", range(6, 12))
def test_two_locations_matter_only_in_one_atomic_set(pattern: int) -> None:
    mine, theirs = _MATCHING[pattern]
    assert pattern not in {one.pattern for one in problematic(operations(mine), operations(theirs))}


def test_a_common_lock_makes_it_infeasible() -> None:
    mine = [lock(ACQUIRE), op(READ, "y"), op(WRITE, "y"), lock(RELEASE)]
    theirs = [lock(ACQUIRE), op(WRITE, "y"), lock(RELEASE)]
    assert list(problematic(mine, theirs)) == []
    assert list(problematic(mine, theirs[1:2])) != []


def test_a_lock_given_back_in_between_does_not() -> None:
    mine = [lock(ACQUIRE), op(READ, "y"), lock(RELEASE), lock(ACQUIRE), op(WRITE, "y"), lock(RELEASE)]
    theirs = [lock(ACQUIRE), op(WRITE, "y"), lock(RELEASE)]
    assert [one.pattern for one in problematic(mine, theirs)] == [1]


def test_conflicts_and_races() -> None:
    write, read = [op(WRITE, "y")], [op(READ, "y")]
    assert conflict(write, read)
    assert not conflict(read, read)
    assert not conflict(write, [op(READ, "z")])
    locked = [lock(ACQUIRE), *write, lock(RELEASE)]
    assert races(write, locked)
    assert not races(locked, locked)
