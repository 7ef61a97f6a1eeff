"""Options of the decorator and the marker are checked as those of the command are."""

from __future__ import annotations

from typing import Any

import pytest

import treadle
from treadle.core.errors import UsageError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seconds": "5"}, "@treadle.explore: seconds must be a number, not '5'"),
        ({"executions": 2.5}, "@treadle.explore: executions must be a whole number, not 2.5"),
        ({"executions": True}, "@treadle.explore: executions must be a whole number, not True"),
        ({"instrument": 5}, "@treadle.explore: instrument must be a list of package names, not 5"),
        ({"any_order": 1}, "@treadle.explore: any_order must be true or false, not 1"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        treadle.explore(**options)
    assert str(refused.value) == said


def test_what_the_command_takes_is_taken() -> None:
    def test() -> None: ...

    assert callable(treadle.explore(seconds=5, executions=None, instrument="a", any_order=True)(test))
    assert callable(treadle.explore(instrument=("a", "b"), seconds=0.5)(test))


def test_the_decorator_keeps_the_type_of_the_test() -> None:
    @treadle.explore()
    def test(amount: int) -> str:
        return str(amount)

    told: str = test(1)  # mypy is the judge: the decorator is no Any
    assert told == "1"
