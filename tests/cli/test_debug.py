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


def session(saved: str, *words: str, debugger: str = "") -> str:
    """What is printed while these words are typed."""
    command = [sys.executable, "-m", "treadle", "replay", saved, "--debug"]
    typed = "".join(f"{word}\n" for word in words)
    environment = os.environ | {"PYTHONBREAKPOINT": debugger, "PYTHONPATH": os.getcwd()}
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


# Uses locks, memory of its own and the program's: none of that is a step of the schedule.
STOPPER = """
import sys
import threading

seen = []
lock = threading.Lock()

def stop():
    here = sys._getframe(1).f_locals
    with lock:
        seen.append(here["strand"])
    bank = sys.modules["test_bank"]
    account = bank.Account()
    account.deposit(len(seen))
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") != "test_bank":
        frame = frame.f_back
    print("stopped", len(seen), here["strand"], here["step"].operation, account.balance, "in", frame.f_code.co_name)
"""


def test_what_another_debugger_does_is_no_step(cli: Cli, project: Path) -> None:
    saved = found(cli, project)
    (project / "stopper.py").write_text(STOPPER)
    usual = [line for line in session(saved, *"ssssssssss").replace("(treadle) ", "").splitlines() if "step " in line]
    text = session(saved, debugger="stopper.stop")
    assert [line for line in text.splitlines() if "step " in line] == usual
    assert "stopped 2 T1 reads 2 in deposit" in text  # the strand that makes the step is on the stack
    assert text.count("stopped") == len(usual)
    assert "FAILED  test_bank.py::test_lost: the schedule fails again" in text


KIND = """
import pdb

class Pdb(pdb.Pdb):
    def print_stack_entry(self, frame_lineno, prompt_prefix=""):
        self.message(f"in {frame_lineno[0].f_code.co_name}, my way")

def set_trace():
    raise AssertionError("nobody calls this")
"""


def test_a_kind_of_pdb_has_the_words_of_a_schedule(cli: Cli, project: Path) -> None:
    saved = found(cli, project)
    (project / "kind.py").write_text(KIND)
    text = session(saved, "c", "shared", "q", debugger="kind.set_trace")
    assert "step 2: T1 reads Account#1.balance  <- clashes\nin deposit, my way\n" in text
    assert "Account#1.balance = 0" in text


def test_a_debugger_that_is_not_there_is_one_sentence(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved = found(cli, project)
    monkeypatch.setenv("PYTHONBREAKPOINT", "nonsense.set_trace")
    answer = cli("replay", saved, "--debug")
    assert answer.code == 2
    assert answer.err == (
        "treadle: PYTHONBREAKPOINT names nonsense.set_trace, which cannot be imported: No module named 'nonsense'\n"
    )


def test_json_and_a_prompt_exclude_each_other(cli: Cli, project: Path) -> None:
    answer = cli("replay", found(cli, project), "--debug", "--json")
    assert (answer.code, answer.err) == (
        2,
        "treadle: --debug asks a person, --json answers a machine; give one of them\n",
    )
