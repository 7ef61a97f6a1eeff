"""What a test that explores itself raises."""

from __future__ import annotations

from typing import Any, assert_type

import pytest

import treadle
from treadle.core.errors import (
    AskNeverAnsweredError,
    DeadlockError,
    LeakedActorsError,
    LivelockError,
    TreadleError,
    UsageError,
)
from treadle.core.result import Finding, Result
from treadle.core.verdict import Verdict
from treadle.doors.explore.decorator import raise_for
from treadle.pytest_plugin.exploring import failure


def result(finding: Finding) -> Result:
    return Result("t.py::test_x", Verdict.FAILED, 1, False, "dpor", 0.0, [finding])


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("deadlock", DeadlockError),
        ("livelock", LivelockError),
        ("ask never answered", AskNeverAnsweredError),
        ("leaked actors", LeakedActorsError),
    ],
)
def test_the_exception_is_that_of_the_finding(kind: str, error: type[TreadleError]) -> None:
    finding = Finding(kind, "main waits", replay="tr1:x")
    with pytest.raises(TreadleError) as raised:
        raise_for(result(finding))
    assert raised.type is error
    assert type(failure(finding)) is error
    assert "treadle replay 'tr1:x'" in raised.value.__notes__[0]


@treadle.explore()
def with_options(amount: int) -> str:
    return str(amount)


@treadle.explore
def without(amount: int) -> str:
    return str(amount)


def checked_by_mypy() -> None:
    """Nobody calls this: an ignored error that is none, or another type, fails `make check`."""
    assert_type(with_options(3), str)
    assert_type(without(3), str)
    with_options("3")  # type: ignore[arg-type]
    without("3")  # type: ignore[arg-type]


def test_the_decorator_keeps_the_name_of_the_test() -> None:
    assert (with_options.__name__, without.__name__) == ("with_options", "without")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seconds": "5"}, "seconds must be a number, not '5'"),
        ({"executions": 2.5}, "executions must be a whole number, not 2.5"),
        ({"executions": True}, "executions must be a whole number, not True"),
        ({"instrument": 5}, "instrument must be a list of package names, not 5"),
        ({"instrument": ["a", 5]}, "instrument must be a list of package names"),
        ({"preemptions": "2"}, "preemptions must be a whole number, not '2'"),
        ({"any_order": 1}, "any_order must be true or false, not 1"),
    ],
)
def test_options_are_checked_like_those_of_the_command(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        treadle.explore(**options)
    with pytest.raises(UsageError, match=sentence):
        treadle.check(lambda: None, **options)
