"""Mistakes that Treadle itself once made: each test is the smallest program that showed one."""

from __future__ import annotations

from typing import Any

import treadle
from treadle.model.result import Result, Verdict


def executions(test: Any, **options: Any) -> int:
    """How many executions an exhaustive pass took."""
    result: Result = treadle.check(test, **options)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE, result.reason
    assert result.statistics["blocked"] == 0
    return result.executions


def test_methods_of_built_in_containers_are_points() -> None:
    def program() -> None:
        shared: list[int] = []
        treadle.parallel(lambda: shared.append(1), lambda: shared.append(2))

    assert executions(program) == 2


class Talkative:
    """Its __repr__ is code under test, with points of its own."""

    def __init__(self) -> None:
        self.value = 0

    def __repr__(self) -> str:
        self.value += 1
        return f"Talkative({self.value})"


def test_showing_a_value_runs_no_code_of_the_program() -> None:
    def program() -> None:
        box: dict[str, Any] = {"items": [Talkative()], "count": 0}

        def count() -> None:
            items = box["items"]
            box["count"] = box["count"] + len(items)

        treadle.parallel(count, count)
        assert box["count"] == 2

    (finding,) = treadle.check(program).findings
    assert finding.kind == "assertion"
    assert "Talkative(" not in finding.explanation
