"""What a campaign over a class found is reported: as a test, or with its schedule and the reason why there is none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.classes.drive import campaign, subject
from treadle.classes.result import ClassResult, Options
from treadle.cli.class_ import report
from treadle.core.verdict import Verdict
from treadle.doors.class_ import shown
from treadle.doors.class_.console import show
from treadle.doors.class_.page import class_part
from treadle.doors.class_.pytest_file import class_file
from treadle.report.fresh_process import run_python, run_tests


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def found(name: str) -> ClassResult:
    return campaign(f"class_handing_out:{name}", calls=1)


def test_a_pool_that_hands_out_one_object_twice() -> None:
    [fault] = found("ConnectionPool").faults
    assert fault.kind == "linearizability"
    assert fault.message.endswith(", as one object")


def test_get_or_create_that_makes_two_objects() -> None:
    [fault] = found("Registry").faults
    assert fault.kind == "linearizability"
    assert fault.message.endswith(", apart")


def test_a_lost_count_is_a_warning() -> None:
    result = found("Cache")
    assert result.faults == []
    lost = "get || get: no order of the calls leaves hits == 1"
    assert lost in [warning.message for warning in result.warnings]
    assert f"serializability: {lost}" in class_part(result)["warnings"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ConnectionPool", "Registry"])
def test_objects_without_a_source_form_are_written_and_their_tests_fail(tmp_path: Path, name: str) -> None:
    result = found(name)
    decided = shown.decide_faults(result, Options(), Path("test_x.py"))
    assert [fault.test for fault in result.faults] == [f"test_x.py::{test.name}" for test in decided.tests]
    file = tmp_path / "test_x.py"
    file.write_text(class_file(result, decided.tests, Options(), decided.trails).source(tmp_path))
    assert " is " in file.read_text()
    assert [ended.passed for ended in run_tests(file).values()] == [False]


def recorded(monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any]) -> ClassResult:
    result = found("ConnectionPool")
    monkeypatch.setattr(shown, "_record", lambda result, tests, *_: [answer for _ in tests])
    shown.decide_faults(result, Options(), Path("test_x.py"))
    return result


def test_a_fault_whose_test_cannot_be_run_stays_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = recorded(monkeypatch, {"problem": "No module named 'elsewhere'"})
    assert result.verdict is Verdict.FAILED
    assert report([result], as_json=False) == 1
    show(result)
    text = capsys.readouterr().out
    assert "T2 writes ConnectionPool#1._free between T1's read and write of it" in text
    assert "no test shows it: No module named 'elsewhere'" in text
    assert "replay: treadle replay 'tr2:class_handing_out:ConnectionPool:" in text
    assert "not settled (no test of its own shows it)" in " ".join(text.split())


def test_a_fault_that_every_schedule_of_its_test_denies_is_listed_and_no_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = recorded(monkeypatch, {"problem": "every schedule was run", "passed": True})
    assert result.faults == []
    assert result.verdict is Verdict.CUT
    assert report([result], as_json=False) == 3
    assert "unconfirmed: acquire || acquire" in capsys.readouterr().out


@pytest.mark.parametrize("trail", [True, False])
def test_two_findings_whose_tests_do_the_same_are_one_test(monkeypatch: pytest.MonkeyPatch, trail: bool) -> None:
    result = found("ConnectionPool")
    [fault] = result.faults
    result.faults.append(replace(fault, what=f"{fault.what} again"))
    schedule = str(fault.trail) if trail else ""
    monkeypatch.setattr(shown, "_record", lambda result, tests, *_: [{"replay": schedule} for _ in tests])
    monkeypatch.setattr(shown, "not_as_told", lambda *_: {})
    decided = shown.decide_faults(result, Options(), Path("test_x.py"))
    assert [test.name for test in decided.tests] == ["test_acquire_and_acquire"]
    [other] = result.faults[0].effects
    assert other.unwritten == "the calls are those of test_acquire_and_acquire, and fail as they do there"


def test_a_file_with_a_setup_can_import_it_whatever_is_installed(tmp_path: Path) -> None:
    result = ClassResult("queue:SimpleQueue", Verdict.FAILED, subject=subject("class_handing_out:Registry"))
    options = Options(setup_folder=tmp_path, setup_import="from make import rich", setup_call="rich()")
    source = class_file(result, [], options, {}).source(tmp_path)
    assert source.index("import sys\n") < source.index("sys.path.insert(")
    exec(compile(source, str(tmp_path / "test_x.py"), "exec"), {"__file__": str(tmp_path / "test_x.py")})


def test_a_pass_beside_nothing_to_explore_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    one = ClassResult("a:One", Verdict.PASSED_WITHIN_BOUNDS)
    other = ClassResult("a:Other", Verdict.NOTHING_TO_EXPLORE)
    assert report([one], as_json=False) == 0
    assert report([one, other], as_json=False) == 3
    assert report([one, other], as_json=True) == 3


_TOUCHES = """
import treadle

INSTRUMENT = []


def touch():
    open({path!r}, "w").close()


@treadle.follow("")
def test_touches():
    treadle.parallel(touch, touch)
"""


@pytest.mark.parametrize(("words", "allowed"), [((), False), (("allow-effects",), True)])
def test_looking_for_a_schedule_of_a_written_test_changes_no_files(
    tmp_path: Path, words: tuple[str, ...], allowed: bool
) -> None:
    target, file = tmp_path / "touched", tmp_path / "written.py"
    file.write_text(_TOUCHES.format(path=str(target)))
    done = run_python(["-m", "treadle.doors.class_.record", str(file), "test_x.py", "9", "{}", *words])
    assert ("it would write the file" in done.stdout) is not allowed
    assert not target.exists()
