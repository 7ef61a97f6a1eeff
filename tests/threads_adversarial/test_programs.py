"""Small programs with a known truth, written without knowledge of the hooks: no false pass, no false alarm.

CUT and PASSED-WITHIN-BOUNDS claim nothing, so they are right of every program; the budget is small.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import treadle
from treadle import Verdict

FILES = ("binding", "iterating", "library", "narrow", "objects", "waiting")
for _file in FILES:
    import_module(f"tests.programs.adversarial.{_file}")
_truth: Any = import_module("tests.programs.adversarial.truth")
FAILS: list[Callable[[], None]] = _truth.FAILS
HOLDS: list[Callable[[], None]] = _truth.HOLDS

CLAIMS_A_PASS = (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)

# Programs with a failing schedule that are passed today, and what is not seen. Who makes one of them seen takes it out.
WRONG_TODAY: dict[str, str] = {
    "standard_output_redirected": "contextlib.redirect_stdout writes sys.stdout in code that is not rewritten",
    "narrow_function_keyword_defaults": "writing into __kwdefaults__ of a function",
    "narrow_standard_output_redirected": "as standard_output_redirected",
    "narrow_warnings_caught": "warnings.catch_warnings writes warnings.filters in code that is not rewritten",
    "narrow_import_statement": "an import statement reads sys.modules",
    "narrow_list_of_a_queue": "the attribute queue of a queue",
    "narrow_unfinished_tasks_of_a_queue": "the attribute unfinished_tasks of a queue",
    "narrow_name_of_a_thread": "the name of a thread",
    "narrow_value_of_a_semaphore": "the attribute _value of a semaphore",
    "bounded_semaphore_released_too_often": "as narrow_value_of_a_semaphore",
}


def _explored(program: Callable[[], None]) -> Verdict:
    return treadle.check(program, executions=300).verdict


def _named(programs: list[Callable[[], None]]) -> list[Any]:
    return [pytest.param(program, id=program.__name__) for program in programs]


@pytest.mark.slow
@pytest.mark.parametrize("program", _named([p for p in FAILS if p.__name__ not in WRONG_TODAY]))
def test_a_program_with_a_failing_schedule_is_not_passed(program: Callable[[], None]) -> None:
    assert _explored(program) not in CLAIMS_A_PASS


@pytest.mark.parametrize("program", _named(HOLDS))
def test_a_program_without_a_failing_schedule_does_not_fail(program: Callable[[], None]) -> None:
    assert _explored(program) is not Verdict.FAILED


@pytest.mark.parametrize("program", _named([p for p in FAILS if p.__name__ in WRONG_TODAY]))
def test_what_is_passed_wrongly_is_listed(program: Callable[[], None]) -> None:
    assert _explored(program) in CLAIMS_A_PASS, f"{program.__name__} is right now: take it out of WRONG_TODAY"


def test_the_tables_are_whole() -> None:
    """Every name is one program, and every listed exception is among them."""
    names = [program.__name__ for program in FAILS + HOLDS]
    assert len(names) == len(set(names)) >= 280
    assert set(WRONG_TODAY) <= {program.__name__ for program in FAILS}
