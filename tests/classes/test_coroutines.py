"""Classes whose methods are coroutines: calls in tasks of one event loop, also cancelled; twins pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS, always, campaign, subject
from treadle.classes.calls import Argument, MethodCall, Value
from treadle.classes.in_tasks import stage_of
from treadle.classes.interleavings import InterleavingExplorer
from treadle.classes.stage import Test
from treadle.core.result import Verdict


def slow(name: str) -> Any:
    return pytest.param(name, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Cache", {"linearizability"}),
        ("Pool", {"linearizability"}),
        ("Held", {"broken state", "deadlock"}),
    ],
)
def test_what_breaks_across_an_await_is_found(name: str, found: set[str]) -> None:
    result = campaign(f"class_coroutines:{name}", calls=1)
    assert {fault.kind for fault in result.faults} == found
    assert result.faults[0].explanation.split()[:2] == ["T1", "T2"]


@pytest.mark.parametrize("name", [slow("LockedCache"), "CountingPool", "Released", slow("Box"), "Register"])
def test_what_is_correct_passes_without_a_warning(name: str) -> None:
    result = campaign(f"class_coroutines:{name}", calls=1)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert not result.warnings


def test_a_call_that_another_one_cancels_is_no_fault() -> None:
    assert campaign("class_coroutines:ClosedMeanwhile", calls=1).faults == []


def test_a_fault_by_cancellation_says_who_is_cancelled() -> None:
    fault = campaign("class_coroutines:Held", calls=1).faults[0]
    assert fault.witness.test.cancels
    assert fault.explanation.endswith("T2 is cancelled at class_coroutines.py:70")
    assert fault.trail is not None
    assert fault.trail.settings["cancel"] == "at-await-in-test"


@pytest.mark.slow
@pytest.mark.parametrize(("buggy", "correct"), [("Cache", "LockedCache"), ("Held", "Released")])
def test_the_written_test_fails_on_the_class_and_passes_on_its_twin(tmp_path: Path, buggy: str, correct: str) -> None:
    program = (PROGRAMS / "class_coroutines.py").read_text()
    (tmp_path / "shared.py").write_text(program)
    words = ["treadle", "class", f"shared:{buggy}", "--budget", "4s", "--calls", "1"]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "with two tasks" in done.stdout
    [written] = tmp_path.glob("test_*_concurrent.py")
    assert "async def test_" in written.read_text()
    assert _pytest(tmp_path) == 1
    (tmp_path / "shared.py").write_text(f"{program}\n\n{buggy} = {correct}\n")
    assert _pytest(tmp_path) == 0


def _pytest(folder: Path) -> int:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--ignore=shared.py"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200, check=False).returncode


def test_a_fault_whose_steps_have_more_accesses_when_they_are_told_is_not_lost() -> None:
    result = campaign("class_coroutines:Handed", calls=1)
    assert [(fault.kind, fault.methods) for fault in result.faults] == [("broken state", ["async with"])]
    assert result.notes == []


def _explored(name: str, *calls: MethodCall, omega: MethodCall | None = None) -> list[tuple[str, bool]]:
    """What is wrong with two calls of a class, and whether one of them was cancelled."""
    lines = (f"from class_coroutines import {name}",)
    root = MethodCall("constructor", f"{name}()", needs=lines)
    with stage_of(subject(f"class_coroutines:{name}")) as stage:
        test = Test(root, (), tuple((call,) for call in calls), omega=(omega or _GET,))
        explored = InterleavingExplorer(stage).explore(test, 200, always)
    return [(one.violation.kind, one.test.cancels) for one in explored.witnesses]


_GET = MethodCall("get", "await {sout}.get({0})", (Argument(Value("'a'")),))
_FETCHING = MethodCall("fetching", "{sout}.fetching()")
_FORGET = MethodCall("forget", "{sout}.forget({0})", (Argument(Value("'a'")),), expression=False)


def test_a_call_that_waits_for_a_task_of_its_own_object_is_not_over_when_the_other_begins() -> None:
    assert _explored("Forgetting", _GET, _FORGET) == [("deadlock", False)]


def test_what_a_call_sees_while_another_waits_for_a_task_of_the_object_is_no_fault() -> None:
    assert _explored("Fetching", _GET, _FETCHING) == []


def test_a_task_that_is_none_of_the_calls_is_not_cancelled() -> None:
    """The last look at the object has a task of its own, which ends in no other way."""
    assert _explored("Fetching", _FETCHING, _FETCHING) == []


def test_a_time_limit_that_none_of_the_calls_set_does_not_run_out() -> None:
    limited = MethodCall("get", "await __import__('asyncio').wait_for({sout}.get('a'), 5)")
    assert _explored("Fetching", _FETCHING, _FETCHING, omega=limited) == []
