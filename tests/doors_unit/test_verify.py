"""Which tests land: all that pass alone and together, and the others are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import treadle
from tests.symbolic.exploring import PROGRAMS, load
from treadle.doors.unit import check as unit_check
from treadle.doors.unit import verify as unit_verify
from treadle.doors.unit.check import Checked, CodeCoverage, PassedBefore, check
from treadle.report.fresh_process import FreshOutcome


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(PROGRAMS))
    load("unit_growing")


@pytest.mark.slow
def test_tests_that_fail_now_and_then_cost_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each of four rounds another test fails: the rest is written, and has been run."""
    monkeypatch.setattr(unit_verify, "_ROUNDS", 2)
    whole = treadle.unit("unit_growing:stairs", k=1, write_file=False)
    rounds = 0

    def unsteady(source: str, *args: Any, **named: Any) -> Any:
        nonlocal rounds
        rounds += 1
        found = check(source, *args, **named)
        if rounds <= 4:
            test = found.passed.pop()
            found.failed[test] = FreshOutcome("failed", "AssertionError: now and then")
        return found

    monkeypatch.setattr(unit_verify, "check", unsteady)
    suite = treadle.unit("unit_growing:stairs", k=1, write_file=False)
    assert suite.tests == whole.tests - 4 > 0
    assert not suite.complete
    assert len(suite.disagreements) == 2
    named = [p.what for p in suite.unsupported]
    assert len(named) == 2
    assert all(what.startswith("a test does not pass every time, or not with the others: stairs(n=") for what in named)


def test_tests_that_never_pass_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_verify, "check", lambda *args, **named: Checked())
    suite = treadle.unit("unit_growing:straight", write_file=False, probe=False)
    assert (suite.tests, suite.complete) == (0, False)
    assert len(suite.disagreements) == 2


def test_what_the_program_says_does_not_decide_how_a_test_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even in words that could be ours."""
    said = FreshOutcome("failed", "AssertionError: it did not finish; pass --allow-effects")

    def failing(source: str, *args: Any, **named: Any) -> Checked:
        return Checked(failed=dict.fromkeys(check(source, *args, **named).passed, said))

    monkeypatch.setattr(unit_verify, "check", failing)
    suite = treadle.unit("unit_growing:straight", write_file=False, probe=False)
    assert [why for _, why in suite.disagreements] == [said.why, said.why]
    assert not suite.unsupported


_ENDS = """
import os

calls = []

def test_one():
    calls.append(1)
    assert calls

def test_two():
    calls.append(2)
    if len(calls) == 2:
        os._exit(0)

def test_three():
    calls.append(3)
"""


@pytest.mark.fresh
@pytest.mark.slow
def test_a_process_that_ends_too_early_proves_nothing() -> None:
    """Together, the last test comes first: the second ends the process, and the first has not been run."""
    checked = check(_ENDS, [])
    assert checked.passed == ["test_three"]
    assert sorted(checked.failed) == ["test_one", "test_two"]
    assert "the process ended before it did" in checked.failed["test_one"].why


@pytest.mark.fresh
@pytest.mark.slow
def test_an_own_test_that_ends_the_process_is_no_fault_of_the_new_ones() -> None:
    new = "def test_new():\n    assert True\n"
    mine = "import os\n\ndef test_mine():\n    os._exit(0)\n"
    assert check(new, [], whole=f"{new}\n{mine}").passed == ["test_new"]


def test_a_test_without_time_to_run_is_neither_wrong_nor_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_check, "_outcomes", lambda tests: {"test_new": FreshOutcome("passed")})
    monkeypatch.setattr(unit_check, "_together", lambda *args: ({}, CodeCoverage()))
    checked = check("", [], seconds=0)
    assert (checked.passed, checked.failed) == ([], {})
    assert "the process ended before it did" in check("", [], seconds=600).failed["test_new"].why


_COUNTED = """
from pathlib import Path

def test_one():
    Path("runs.txt").open("a").write("one ")

def test_two():
    Path("runs.txt").open("a").write("two ")
"""


@pytest.mark.fresh
@pytest.mark.slow
def test_what_has_passed_before_is_only_run_with_the_others() -> None:
    before = PassedBefore(alone=frozenset({"test_one"}), orders=frozenset({"test_one"}))
    assert sorted(check(_COUNTED, [], allow_effects=True, unordered=True, before=before).passed) == [
        "test_one",
        "test_two",
    ]
    alone, together, orders = ["two"], ["two", "one"], ["two"] * 5
    assert Path("runs.txt").read_text().split() == [*alone, *together, *orders]


@pytest.mark.fresh
@pytest.mark.slow
def test_a_file_is_checked_again_only_where_it_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first round loses one test: the others, as they were, are not run alone a second time."""
    asked: list[PassedBefore] = []

    def once_wrong(source: str, *args: Any, **named: Any) -> Any:
        asked.append(named["before"])
        found = check(source, *args, **named)
        if len(asked) == 1:
            found.failed[found.passed.pop()] = FreshOutcome("failed", "AssertionError: once")
        return found

    monkeypatch.setattr(unit_verify, "check", once_wrong)
    suite = treadle.unit("unit_growing:stairs", k=1, write_file=False)
    assert len(asked) == 2
    assert asked[0] == PassedBefore()
    assert 0 < len(asked[1].alone) <= suite.tests


def test_without_seconds_each_function_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unit_verify, "check", lambda *args, **named: Checked())
    apart = treadle.unit("unit_growing:straight", "unit_growing:stairs", write_file=False, probe=False)
    assert [e.options.seconds for e in apart.explored] == [20.0, 20.0]
