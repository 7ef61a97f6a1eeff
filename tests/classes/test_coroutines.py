"""Classes whose methods are coroutines: calls in tasks of one event loop, also cancelled; twins pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS, campaign
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


def test_a_fault_by_cancellation_says_who_is_cancelled() -> None:
    fault = campaign("class_coroutines:Held", calls=1).faults[0]
    assert fault.witness.test.cancels
    assert fault.explanation.endswith("T2 is cancelled at class_coroutines.py:69")
    assert fault.trail is not None
    assert fault.trail.settings["cancel"] == "at-await"


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
