"""Where a value was drawn that is not the same in two executions."""

from __future__ import annotations

from treadle.threads.draws import NotedCall, draws


def call(place: str, given: int, got: int) -> NotedCall:
    return NotedCall(place, "drawn", given, got)


def test_the_call_that_was_given_the_same_is_blamed_and_not_what_it_had_effects_on() -> None:
    one = {"main": [call("a.py:1", 0, 7), call("a.py:2", 7, 14)]}
    other = {"main": [call("a.py:1", 0, 8), call("a.py:2", 8, 16)]}
    assert [str(found) for found in draws(one, other)] == ["a.py:1 (drawn)"]


def test_nobody_is_blamed_behind_the_place_where_the_executions_part() -> None:
    one = {"T1": [call("a.py:1", 0, 7), call("a.py:2", 0, 1)]}
    other = {"T1": [call("a.py:3", 0, 7), call("a.py:2", 0, 2)]}
    assert draws(one, other) == []


def test_a_strand_that_is_in_one_execution_only_says_nothing() -> None:
    assert draws({"T1": [call("a.py:1", 0, 7)]}, {}) == []
