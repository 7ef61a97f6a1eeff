"""Functions as inputs: predicates, callbacks, keys. What they return is explored; how they are called is asserted."""

from __future__ import annotations

from tests.symbolic.exploring import explored, load
from treadle.doors.unit.suite import unit


def test_what_a_predicate_answers_is_explored() -> None:
    found = explored("unit_functions:first_true", k=2, none=False)
    answers = {tuple(case.arguments["predicate"].items) for case in found.cases}
    assert answers == {(), (True,), (False,), (False, True), (False, False)}
    assert found.seen.complete


def test_a_parameter_that_is_called_is_a_function() -> None:
    found = explored("unit_functions:retry", k=2)
    outcomes = {(len(c.arguments["action"].items), c.outcome.raises) for c in found.cases}
    assert outcomes == {(0, ValueError), (1, None), (1, ValueError), (2, None), (2, ValueError)}


def test_an_optional_function_may_be_none() -> None:
    found = explored("unit_functions:twice")
    assert sorted(c.condition for c in found.cases) == ["f is None", "f is not None"]


def test_the_tests_say_how_the_function_is_called() -> None:
    load("unit_functions")
    suite = unit("unit_functions:twice", write_file=False)
    assert "from unittest.mock import Mock" in suite.source
    assert "assert [call.args for call in f.call_args_list] == [(2,), (3,)]" in suite.source
    assert suite.tests == 2
    assert not suite.disagreements


def test_what_only_a_real_function_has_is_not_foretold() -> None:
    found = explored("unit_functions:describe")
    assert found.cases == []
    assert ["the type of a function that is an input" in place.what for place in found.seen.unsupported] == [True]
