"""Stepping through a schedule: the words of the prompt, and what stands where, in a process with a stdin."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

pytestmark = pytest.mark.slow


def found(cli: Cli, project: Path, test: str = "test_lost") -> str:
    """The file with the failing schedule of a test."""
    cli("explore", f"test_bank.py::{test}")
    (saved,) = (project / ".treadle" / "findings").iterdir()
    return str(saved)


def session(saved: str, *words: str, hook: str = "") -> str:
    """What is printed while these words are typed."""
    command = [sys.executable, "-m", "treadle", "replay", saved, "--debug"]
    environment = {**os.environ, **({"PYTHONBREAKPOINT": hook} if hook else {})}
    typed = "".join(f"{word}\n" for word in words)
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    return done.stdout


def test_steps_of_the_schedule_and_of_a_strand(cli: Cli, project: Path) -> None:
    text = session(found(cli, project), "s", "s", "n", "q")
    assert [line for line in text.replace("(treadle) ", "").splitlines() if line.startswith("step ")] == [
        "step 1: main writes Account#1.balance",
        "step 2: T1 reads Account#1.balance  <- clashes",
        "step 3: T2 reads Account#1.balance",
        "step 4: T2 writes Account#1.balance  <- clashes",
    ]
    assert "-> self.balance += amount" in text


def test_to_the_conflict_and_to_the_end(cli: Cli, project: Path) -> None:
    text = session(found(cli, project), "c", "c", "c", "c")
    steps = [line for line in text.replace("(treadle) ", "").splitlines() if line.startswith("step ")]
    assert [line.partition(":")[0] for line in steps] == ["step 1", "step 2", "step 4", "step 5"]
    assert "FAILED  test_bank.py::test_lost: the schedule fails again" in text


def test_values_frames_and_other_strands(cli: Cli, project: Path) -> None:
    text = session(found(cli, project), "c", "c", "p amount, self.balance", "shared", "strand", "strand main", "q")
    assert "(1, 0)" in text  # T1's frame: it has read 0 and not written yet, T2 has not written either
    assert "Account#1.balance = 0" in text
    assert "T1: writes Account#1.balance" in text
    assert "-> treadle.parallel(account.deposit, account.deposit, args=(1,))" in text


def test_the_debugger_that_the_person_prefers(cli: Cli, project: Path) -> None:
    (project / "mine.py").write_text(
        "import sys\n\n\ndef stop():\n    here = sys._getframe(1)\n"
        "    print('mine:', here.f_locals['strand'], here.f_locals['step'].operation, here.f_locals['shared'])\n"
    )
    text = session(found(cli, project), hook="mine.stop")
    assert "mine: T1 reads {'Account#1.balance': '0'}" in text


def test_pytest_replays_one_string_and_steps(cli: Cli, project: Path) -> None:
    saved = found(cli, project)
    text = cli("replay", saved, "--json").out
    string = next(part for part in text.split('"') if part.startswith("tr2:"))
    command = [sys.executable, "-m", "pytest", "--treadle-replay", string, "--pdb", "test_bank.py"]
    done = subprocess.run(command, input="s\nq\nq\n", capture_output=True, text=True, check=False)
    assert "step 2: T1 reads Account#1.balance  <- clashes" in done.stdout
    assert "deselected" in done.stdout


def test_a_string_of_a_test_that_is_not_there(cli: Cli, project: Path) -> None:
    saved = found(cli, project)
    string = next(part for part in cli("replay", saved, "--json").out.split('"') if part.startswith("tr2:"))
    (project / "test_other.py").write_text("def test_other():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "--treadle-replay", string, "test_other.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "--treadle-replay: the string belongs to test_bank.py::test_lost, which was not collected" in done.stderr


def test_json_and_a_prompt_exclude_each_other(cli: Cli, project: Path) -> None:
    answer = cli("replay", found(cli, project), "--debug", "--json")
    assert (answer.code, answer.err) == (
        2,
        "treadle: --debug asks a person, --json answers a machine; give one of them\n",
    )
