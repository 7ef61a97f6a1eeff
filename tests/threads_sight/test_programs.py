"""Adversarial programs with a known truth: those with a failing schedule are never called passed, the others pass."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle import Verdict

for room in ("iterators", "attributes", "foreign"):
    importlib.import_module(f"tests.programs.sight.{room}")
_TABLE: Any = importlib.import_module("tests.programs.sight.table")


@pytest.mark.parametrize("program", _TABLE.FAILS, ids=lambda program: program.__name__)
def test_finds_the_failing_schedule(program: Callable[[], None]) -> None:
    result = treadle.check(program, strategy="dpor")
    assert result.verdict is Verdict.FAILED, result.reason


@pytest.mark.parametrize("program", _TABLE.PASSES, ids=lambda program: program.__name__)
def test_passes(program: Callable[[], None]) -> None:
    result = treadle.check(program, strategy="dpor")
    assert result.verdict in (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE), result.reason


@pytest.mark.parametrize("program", _TABLE.BOUNDED, ids=lambda program: program.__name__)
def test_names_what_it_took_as_one_step(program: Callable[[], None]) -> None:
    result = treadle.check(program, strategy="dpor")
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS, result.reason
    assert _TABLE.NAMED[program] in result.reason
