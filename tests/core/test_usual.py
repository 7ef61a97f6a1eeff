"""What fails no plain run has one name, whoever gives it."""

from __future__ import annotations

import pytest

from treadle.core import usual


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ({"message": "Task was destroyed but it is pending!"}, usual.TASK_LEFT),
        (
            {"message": "Task exception was never retrieved", "exception": KeyError("x")},
            "asyncio: never retrieved: builtins.KeyError",
        ),
        (
            {"message": "Exception in callback f()", "exception": KeyError("x")},
            "asyncio: in a callback: builtins.KeyError",
        ),
        ({"message": "something else"}, "asyncio: something else"),
    ],
)
def test_what_an_event_loop_is_told(context: dict[str, object], name: str) -> None:
    assert usual.told_to_loop(context) == name
