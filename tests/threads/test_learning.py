"""What an execution learns about the program, and when it does not count any more."""

from __future__ import annotations

from typing import Any

import pytest

from treadle.core.operation import READ
from treadle.threads.learning import ENDS, STARTS, Learning
from treadle.threads.lives import LIVES
from treadle.threads.names import Named


def private(name: str) -> Named:
    return Named(name, None, False)


def test_an_object_that_a_second_strand_touches_is_shared_from_then_on() -> None:
    run, named = Learning(set(), None), private("Account#1")
    run.reveal(named)
    assert named.shared
    assert (run.shared, run.revealed) == ({"Account#1"}, True)


def test_what_is_met_while_nobody_looks_is_not_remembered() -> None:
    run, named = Learning(set(), None), private("Account#1")
    run.coasted_from = 5
    run.reveal(named)
    run.rebind("bank.RATE")
    run.watch_ends()
    assert named.shared
    assert (run.shared, run.rebound, run.revealed) == (set(), set(), False)


def test_a_name_that_is_known_to_be_bound_anew_is_no_news() -> None:
    run = Learning(set(), None)
    run.know_rebound({"bank.RATE"})
    run.rebind("bank.RATE")
    assert not run.revealed
    run.rebind("bank.FEE")
    assert run.revealed


@pytest.mark.parametrize(("shared", "known"), [(None, True), ({ENDS}, True), (set(), False)])
def test_the_ends_of_strands_matter_once_somebody_has_looked(shared: set[str] | None, known: bool) -> None:
    run = Learning(shared, None)
    run.watch_starts()
    assert run.ends_are_points
    assert STARTS in run.rebound
    assert run.shared is None or ENDS in run.shared
    assert Learning(shared, None).ends_are_points is known or shared == {ENDS}


def test_a_queue_that_is_used_as_a_whole_has_no_ends() -> None:
    run = Learning(set(), None)
    assert run.tells_ends_apart("Queue#1")
    run.as_a_whole("Queue#1")
    assert not run.tells_ends_apart("Queue#1")
    assert run.tells_ends_apart("Queue#2")


def test_a_look_at_which_objects_are_alive_is_a_read() -> None:
    run, operations = Learning(set(), None), list[Any]()
    run.read_lives(operations, of_one=True)
    assert operations == [(READ, LIVES, None)]
    assert run.rebound == {LIVES}
