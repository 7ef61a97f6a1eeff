"""The pytest plugin: how each test of tests/programs/plugin_cases.py ends, under plain pytest and under xdist."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

CASES = Path(__file__).parent.parent / "programs" / "plugin_cases.py"


class Session:
    """A run of pytest: its output, its exit code, and the word that -v shows for each test."""

    def __init__(self, *words: str) -> None:
        with tempfile.TemporaryDirectory() as folder:  # a project of its own, with no settings
            (Path(folder) / "pytest.ini").touch()
            shutil.copy(CASES, folder)
            command = [sys.executable, "-m", "pytest", "-v", "--no-header", *words, CASES.name]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        self.text = done.stdout
        self.errors = done.stderr
        self.code = done.returncode
        found = re.findall(r"^\w+\.py::(\S+) ([A-Z]+(?: \([^)]*\)?)?)", self.text, re.M)
        self.words = {test: "CUT" if word.startswith("CUT (") else word for test, word in found}  # a reason follows

    def failure(self, test: str) -> str:
        """What pytest prints about a test that failed."""
        match = re.search(rf"^_+ {re.escape(test)} _+$(.*?)(?=^_+ \S+ _+$|^=+ )", self.text, re.M | re.S)
        assert match is not None, test
        return match[1]


@pytest.fixture(scope="module")
def plain() -> Session:
    return Session()


@pytest.fixture(scope="module")
def explored() -> Session:
    return Session("--treadle")


pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("test", "word"),
    [
        ("test_fails", "FAILED"),
        ("test_passes", "PASSED (every schedule, 4 executions, free)"),
        ("test_marked", "PASSED"),  # once, as any other test: --treadle was not given
        ("test_cut", "CUT"),
        ("test_bounded", "PASSED (within preemptions <= 0, 2 executions, free)"),
        ("test_nothing", "FAILED"),
        ("test_deadlock", "FAILED"),
        ("test_expected_to_fail", "XFAIL"),
        ("test_skipped", "SKIPPED (unconditional skip)"),
        ("test_skips_itself", "SKIPPED (not now)"),
        ("test_fixture_is_new_in_every_execution", "PASSED (every schedule, 4 executions, free)"),
        ("test_fixture_fails", "FAILED"),
        ("test_builtin_fixtures", "PASSED (every schedule, 4 executions, free)"),
        ("test_one_folder_for_all_executions", "PASSED (every schedule, 4 executions, free)"),
        ("test_asks_for_a_fixture", "PASSED (every schedule, 4 executions, free)"),
        ("test_parameter_is_as_given[items0]", "PASSED (every schedule, 2 executions, free)"),
        ("test_parameter_is_as_given[items1]", "PASSED (every schedule, 2 executions, free)"),
        ("TestInClass::test_method", "PASSED (every schedule, 4 executions, free)"),
        ("Case::test_passes", "PASSED (every schedule, 4 executions, free)"),
        ("Case::test_fails", "FAILED"),
        ("Case::test_skips", "SKIPPED (not now)"),
        ("test_patched", "PASSED (every schedule, 4 executions, free)"),
        ("test_unknown_strategy", "FAILED"),
        ("test_unknown_option", "PASSED"),
        ("test_not_explored", "PASSED"),
    ],
)
def test_how_each_test_ends(plain: Session, test: str, word: str) -> None:
    assert plain.words[test] == word


def test_marked_tests_are_explored_when_asked(explored: Session) -> None:
    assert explored.words["test_marked"] == "FAILED"
    assert explored.words["test_not_explored"] == "PASSED"


def test_a_failure_shows_the_assertion_the_table_and_the_command(plain: Session) -> None:
    text = plain.failure("test_fails")
    assert "assert 1 == 2" in text
    assert "T2 writes Account#1.balance between T1's read and write of it" in text
    assert "replay: treadle replay 'tr2:" in text
    assert "explore/decorator.py" not in text


def test_the_summary_counts_the_verdicts(plain: Session) -> None:
    [line] = [line for line in plain.text.splitlines() if " explored: " in line]
    assert re.fullmatch(
        r"\d+ explored: \d+ every schedule, 1 within bounds, 1 nothing to explore, 1 cut, \d+ failed", line
    )


def test_a_failing_execution_is_saved(plain: Session) -> None:
    [line] = [line for line in plain.failure("test_fails").splitlines() if "saved: " in line]
    assert line.partition("saved: ")[2].startswith(".treadle/findings/test_fails-")


def test_only_the_failing_execution_is_heard(plain: Session) -> None:
    assert plain.failure("test_fails").endswith(
        "Captured stdout call -----------------------------\nin this execution\n"
    )


def test_a_deadlock_is_an_error_of_its_own(plain: Session) -> None:
    text = plain.failure("test_deadlock")
    assert text.lstrip().startswith("DeadlockError: ")
    assert "cycle: T1 -> Lock#2 -> T2 -> Lock#1 -> T1" in text


def test_one_schedule_only_fails_and_teaches(plain: Session) -> None:
    assert "start at least two threads" in plain.failure("test_nothing")


def test_wrong_options_are_one_sentence(explored: Session) -> None:
    assert "did you mean 'dpor'?" in explored.failure("test_unknown_strategy")
    assert "did you mean 'preemptions'?" in explored.failure("test_unknown_option")


def test_a_cut_search_has_its_own_count_and_section(plain: Session) -> None:
    assert re.search(r"\b1 cut\b", plain.text.splitlines()[-1])
    assert "searches that were cut: no failure so far, and no pass" in plain.text


def test_a_cut_search_alone_is_exit_0() -> None:
    session = Session("-k", "test_cut")
    assert session.code == 0
    assert "passed" not in session.text.splitlines()[-1]


@pytest.mark.parametrize(("words", "told"), [((), "skipped"), (("--treadle-strict",), "failure")])
def test_a_search_that_was_cut_is_no_pass_in_a_junit_file(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    file = tmp_path / "junit.xml"
    Session(f"--junitxml={file}", "-k", "test_cut", *words)
    (case,) = ElementTree.parse(file).iter("testcase")
    (outcome,) = (one for one in case if one.tag != "properties")
    assert outcome.tag == told
    assert "CUT: no failure so far" in outcome.attrib["message"] + (outcome.text or "")


def test_xdist_gives_the_same_outcomes(plain: Session) -> None:
    text = Session("-n", "2").text
    here, there = (one.splitlines()[-1].split(" in ")[0].strip("= ") for one in (plain.text, text))
    assert there == here
    assert "T2 writes Account#1.balance between T1's read and write of it" in " ".join(text.split())


def test_the_flag_does_not_swallow_the_path() -> None:
    assert Session("-k", "test_marked", "--treadle").words == {"test_marked": "FAILED"}


def test_the_flag_takes_a_strategy() -> None:
    assert Session("-k", "test_marked", "--treadle=random").words == {"test_marked": "FAILED"}


def test_an_unknown_strategy_stops_pytest() -> None:
    session = Session("--treadle=dopr")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert "did you mean 'dpor'?" in session.errors


OWN_INTERRUPT = """
import treadle

class Box:
    n = 0

@treadle.explore()
def test_interrupts_itself():
    box = Box()
    def add():
        box.n = box.n + 1
    treadle.parallel(add, add)
    if box.n != 2:
        raise KeyboardInterrupt("its own")

class TestStatic:
    @staticmethod
    @treadle.explore()
    def test_below(tmp_path):
        test_passes()

    @treadle.explore()
    @staticmethod
    def test_above(tmp_path):
        test_passes()

    @classmethod
    @treadle.explore()
    def test_of_the_class(cls, tmp_path):
        assert cls is TestStatic
        test_passes()

@treadle.explore()
def test_passes():
    box = Box()
    def write():
        box.n = 1
    treadle.parallel(write, write)
    assert box.n == 1
"""


@pytest.mark.slow
def test_a_keyboard_interrupt_of_the_test_itself_is_a_failure_and_static_tests_get_no_object(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").touch()
    (tmp_path / "test_own.py").write_text(OWN_INTERRUPT)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "exception: KeyboardInterrupt: its own" in done.stdout
    assert "5 explored: 4 every schedule, 1 failed" in done.stdout
    assert done.returncode == 1
