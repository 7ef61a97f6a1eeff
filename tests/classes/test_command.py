"""`treadle class` as a person uses it: words, exit codes, JSON, and the file it writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import PROGRAMS

KEYS = {
    "target",
    "verdict",
    "seconds",
    "sequences",
    "tests_assembled",
    "interleavings_tried",
    "coverage",
    "faults",
    "warnings",
    "exhausted_pairs",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("class_bank.py", "class_longer.py", "class_bad.py", "class_broken.py"):
        shutil.copy(PROGRAMS / name, tmp_path)
    return tmp_path


def treadle(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "treadle", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environ, timeout=300, check=False)


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


# ---------------------------------------------------------------------- a fault, from start to end


@pytest.mark.slow
def test_the_written_tests_fail_now_replay_and_pass_when_the_class_is_fixed(folder: Path) -> None:
    done = treadle(folder, "class", "class_bank:Account", "--json")
    assert done.returncode == 1, done.stderr
    facts: dict[str, Any] = json.loads(done.stdout)
    assert set(facts) >= KEYS
    assert facts["verdict"] == "FAILED"
    fault = facts["faults"][0]
    assert set(fault) >= {"kind", "message", "methods", "locations", "replay", "test", "on"}
    assert fault["locations"] == [f"{folder / 'class_bank.py'}:14"]
    assert fault["test"] == "test_account_concurrent.py::test_deposit_and_deposit"
    written = folder / "test_account_concurrent.py"
    assert run_pytest(folder, str(written)).returncode == 1
    again = treadle(folder, "replay", fault["replay"])
    assert again.returncode == 1, again.stderr
    source = (folder / "class_bank.py").read_text()
    fixed = source.replace("class Account:", "class Broken:").replace("class SafeAccount:", "class Account:")
    (folder / "class_bank.py").write_text(fixed)
    passed = run_pytest(folder, str(written))
    assert passed.returncode == 0, passed.stdout


@pytest.mark.slow
def test_keep_green_turns_red_when_the_fault_is_gone(folder: Path) -> None:
    (folder / "tests").mkdir()
    assert treadle(folder, "class", "class_bank:Pool", "--keep-green").returncode == 1
    written = folder / "tests" / "test_pool_concurrent.py"
    assert "xfail(strict=True" in written.read_text()
    assert run_pytest(folder, str(written)).returncode == 0
    source = (folder / "class_bank.py").read_text()
    (folder / "class_bank.py").write_text(source.replace("self._used, self._free", "self._free, self._used"))
    assert run_pytest(folder, str(written)).returncode == 1


@pytest.mark.slow
def test_a_person_is_told_what_happened_where_and_how_to_see_it_again(folder: Path) -> None:
    text = treadle(folder, "class", "class_bank:Once").stdout
    assert "FAILED  class_bank:Once" in text
    assert "start || start: no order of the calls gives" in text
    assert "on a fresh Once()" in text
    assert "class_bank.py:" in text
    assert "treadle replay 'tr2:test_once_concurrent.py::test_start_and_start:" in text
    assert "wrote test_once_concurrent.py" in text


def test_a_class_without_faults_says_what_was_covered(folder: Path) -> None:
    done = treadle(folder, "class", "class_bank:SafeAccount")
    assert done.returncode == 0, done.stderr
    assert "PASSED-WITHIN-BOUNDS" in done.stdout
    assert "pairs exhausted" in done.stdout
    assert list(folder.glob("test_*")) == []


@pytest.mark.slow
def test_a_module_is_all_its_public_classes_ranked_by_findings(folder: Path) -> None:
    done = treadle(folder, "class", "class_bank", "--budget", "3s", "--json", "--output", "written")
    facts = json.loads(done.stdout)
    assert done.returncode == 1
    assert facts["verdict"] == "FAILED"
    counts = [len(one["faults"]) for one in facts["classes"]]
    assert counts == sorted(counts, reverse=True)
    assert {"class_bank:Account", "class_bank:SafeAccount"} <= {one["target"] for one in facts["classes"]}


@pytest.mark.slow
def test_setup_gives_fresh_objects(folder: Path) -> None:
    lines = ["from class_bank import Account", "", "def rich():", "    account = Account()"]
    lines += ["    account.deposit(50)", "    return account", ""]
    (folder / "make.py").write_text("\n".join(lines))
    done = treadle(folder, "class", "class_bank:Account", "--setup", "make.py:rich", "--methods", "withdraw", "--json")
    facts = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    assert "rich()" in (folder / "test_account_concurrent.py").read_text()
    assert facts["faults"][0]["message"].startswith("withdraw || withdraw")


# ---------------------------------------------------------------------- wrong use


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["class_bad:Colour"], "is an enum"),
        (["class_bad:Connection"], "cannot be built: Connection('a') raises ValueError: a real handle, please"),
        (["class_bad:Opaque"], "nothing in the pools fits parameter 'engine'"),
        (["class_bad:WritesFile"], "would write the file 'class_bad_output.txt'"),
        (["class_bad:Nothing"], "has no public method of its own"),
        (["class_bad:Nowhere"], "there is no 'Nowhere' in class_bad"),
        (["class_broken:X"], "it needs 'a_module_that_is_not_there', which is not installed"),
        (["not_there:X"], "there is no module 'not_there'"),
        (["collections:deque"], "is written in C: each of its methods is one atomic step"),
        (["class_bank.py"], "is a path; name the class as Python imports it"),
        (["class_bank:Account", "--budget", "soon"], "--budget must be a time such as 60s or 5m"),
        (["class_bank:Account", "--budget", "0s"], "leaves nothing to run"),
        (["class_bank:Account", "--methods", "depsit"], "did you mean 'deposit'?"),
        (["class_bank:Account", "--values", "amount"], "--values takes NAME=EXPRESSION"),
        (["class_bank:Account", "--values", "amount=)"], "is not a Python expression"),
        (["class_bank:Account", "--setup", "nowhere.py:make"], "there is no file 'nowhere.py'"),
        (["class_bank:Account", "--generator", "magic"], "--generator must be 'coverage' or 'random'"),
        (["class_bank:Account", "--prune", "D9"], "--prune has no strategy 'D9'"),
        (["class_bank:Account", "--atomic-set", "one"], "--atomic-set needs at least two fields"),
    ],
)
def test_wrong_use_is_one_sentence_and_exit_code_2(folder: Path, words: list[str], said: str) -> None:
    done = treadle(folder, "class", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_somebody_else_s_file_is_left_alone(folder: Path) -> None:
    (folder / "test_account_concurrent.py").write_text("# mine\n")
    done = treadle(folder, "class", "class_bank:Account")
    assert done.returncode == 2
    assert "was not written by treadle" in done.stderr
    assert (folder / "test_account_concurrent.py").read_text() == "# mine\n"


def test_a_place_that_cannot_be_written_to_does_not_hide_the_fault(folder: Path) -> None:
    (folder / "taken").write_text("a file, and no folder\n")
    done = treadle(folder, "class", "class_bank:Account", "--output", "taken/below")
    assert done.returncode == 1
    assert "deposit || deposit: no order of the calls gives balance == 1" in done.stdout
    assert "no test can be written to 'taken/below/test_account_concurrent.py': Not a directory" in done.stdout


def test_warnings_that_cannot_be_saved_are_told(folder: Path) -> None:
    (folder / ".treadle").write_text("a file, and no folder\n")
    done = treadle(folder, "class", "class_longer:Remembering")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no test can be written to '.treadle/warnings/test_remembering_warnings.py': Not a directory" in done.stdout


# ---------------------------------------------------------------------- warnings, longer tests, workers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Remembering", "Fetching"])
def test_a_warning_replays_and_is_no_test_of_the_project(folder: Path, name: str) -> None:
    done = treadle(folder, "class", f"class_longer:{name}", "--json")
    assert done.returncode == 0, done.stderr
    (warning,) = json.loads(done.stdout)["warnings"]
    again = treadle(folder, "replay", warning["replay"])
    assert again.returncode == 1
    assert "the schedule fails again" in again.stdout
    assert run_pytest(folder).returncode == 5  # nothing to collect


@pytest.mark.slow
def test_a_fault_of_two_calls_in_a_thread_is_written_as_a_test(folder: Path) -> None:
    done = treadle(folder, "class", "class_longer:Toggled")
    assert done.returncode == 1, done.stderr
    assert "T2: sout.add(); sout.add()" in done.stdout
    assert run_pytest(folder, "test_toggled_concurrent.py").returncode == 1
    assert treadle(folder, "class", "class_longer:Toggled", "--calls", "1").returncode == 0


def test_calls_out_of_range_are_refused(folder: Path) -> None:
    done = treadle(folder, "class", "class_longer:Toggled", "--calls", "9")
    assert (done.returncode, done.stderr.strip()) == (
        2,
        "treadle: --calls must be from 1 to 4, not 9: longer tests are not for people",
    )


@pytest.mark.slow
def test_workers_for_one_class(folder: Path) -> None:
    done = treadle(folder, "class", "class_bank:SafeAccount", "--workers", "2", "--json")
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["verdict"]) == (0, "PASSED-WITHIN-BOUNDS")
    assert facts["exhausted_pairs"] == facts["coverage"]["pairs"] == 19
