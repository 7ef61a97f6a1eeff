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

FILES: tuple[str, ...] = (
    "binding",
    "called_back",
    "corners",
    "files",
    "iterating",
    "library",
    "looked_up",
    "narrow",
    "objects",
)
# The programs of these files are found broken by the search itself, and not by what checks a pass.
SEARCHED = (
    "alternating",
    "dying",
    "exchanged",
    "handed_over",
    "meeting",
    "other_ways",
    "plain_protocols",
    "plain_syntax",
    "plain_values",
    "reached_arguments",
    "reached_caches",
    "strange_library",
)
# Every path by which two threads reach one thing that its writers could think of.
REACHED: tuple[str, ...] = ("classes", "containers", "functions", "iterators", "loops", "modules", "settings")
REACHED += ("slots", "streams", "syntax", "threads", "tools")
FILES += (*(f"reached_{what}" for what in REACHED),)
FILES += ("strangers_language", "strangers_library", "strangers_objects", "strangers_streams", "waiting", *SEARCHED)
for _file in FILES:
    import_module(f"tests.programs.adversarial.{_file}")
_truth: Any = import_module("tests.programs.adversarial.truth")
FAILS: list[Callable[[], None]] = _truth.FAILS
HOLDS: list[Callable[[], None]] = _truth.HOLDS

# The programs of these files are found broken, not only not passed.
FOUND = ("corners", "files", "looked_up")
# And these.
FOUND_AS_WELL = ("defaultdict_counter", "defaultdict_userdict", "defaultdict_partial", "slot_descr", "enumerate")
CLAIMS_A_PASS = (Verdict.PASSED_EXHAUSTIVE, Verdict.NOTHING_TO_EXPLORE)


def _explored(program: Callable[[], None]) -> Verdict:
    return treadle.check(program, executions=500, builds=False).verdict


def _named(programs: list[Callable[[], None]]) -> list[Any]:
    return [pytest.param(program, id=program.__name__) for program in programs]


def _must_be_found(program: Callable[[], None]) -> bool:
    return program.__module__.rpartition(".")[2] in FOUND or program.__name__ in FOUND_AS_WELL


def _is_searched(program: Callable[[], None]) -> bool:
    return program.__module__.rpartition(".")[2] in SEARCHED


@pytest.mark.slow
@pytest.mark.parametrize("program", _named([one for one in FAILS if not _must_be_found(one) and not _is_searched(one)]))
def test_a_program_with_a_failing_schedule_is_not_passed(program: Callable[[], None]) -> None:
    assert _explored(program) not in CLAIMS_A_PASS


@pytest.mark.slow
@pytest.mark.parametrize("program", _named([one for one in FAILS if _must_be_found(one)]))
def test_both_accesses_are_seen(program: Callable[[], None]) -> None:
    assert _explored(program) is Verdict.FAILED


@pytest.mark.slow
@pytest.mark.parametrize("program", _named([one for one in FAILS if _is_searched(one)]))
def test_both_accesses_are_seen_by_the_search_itself(program: Callable[[], None]) -> None:
    result = treadle.check(program, executions=500, builds=False)
    assert (result.verdict, result.statistics["checked"]) == (Verdict.FAILED, 0)


@pytest.mark.parametrize("program", _named(HOLDS))
def test_a_program_without_a_failing_schedule_does_not_fail(program: Callable[[], None]) -> None:
    assert _explored(program) is not Verdict.FAILED


def test_the_tables_are_whole() -> None:
    """Every name is one program."""
    names = [program.__name__ for program in FAILS + HOLDS]
    assert len(names) == len(set(names)) >= 280
