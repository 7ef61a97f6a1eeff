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
