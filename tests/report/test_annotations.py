"""What CI is told: annotations at the right lines, SARIF that others can read, and no pass where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sarif_pydantic import Sarif

from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.report.annotations import github, remarks, sarif, strict_code


def lost_update(file: str) -> Result:
    steps = [
        Step("T1", "reads", "Account#1.balance", file, 12, "deposit", "0"),
        Step("T2", "writes", "Account#1.balance", file, 13, "deposit", "1"),
    ]
    found = Finding("assertion", "assert 1 == 2, 50%", replay="tr2:x", steps=steps)
    return Result(f"{file}::test_lost", Verdict.FAILED, 2, False, "dpor", 0.1, [found])


def cut() -> Result:
    return Result("tests/test_a.py::test_b", Verdict.CUT, 9, False, "dpor", 0.1, reason="time ran out")


def test_github_shows_a_finding_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = github(remarks([lost_update(str(tmp_path / "bank.py"))])).splitlines()
    assert line.startswith("::error file=bank.py,line=13,title=FAILED%3A test_lost::assertion: assert 1 == 2, 50%25%0A")
    assert line.endswith("%0Atreadle replay 'tr2:x'")


def test_what_was_cut_is_a_warning_without_a_line() -> None:
    told = github(remarks([cut()]))
    assert told.startswith("::warning file=tests/test_a.py,title=CUT%3A test_b::no failure so far, but time ran out")


def test_a_pass_is_not_annotated() -> None:
    assert remarks([Result("t.py::t", Verdict.PASSED_EXHAUSTIVE, 4, True, "dpor", 0.1)]) == []


def test_sarif_is_what_others_read() -> None:
    log = Sarif.model_validate(json.loads(sarif(remarks([lost_update("bank.py"), cut()]))))
    (run,) = log.runs
    found, warned = run.results or []
    assert (found.rule_id, warned.rule_id) == ("treadle/assertion", "treadle/cut")
    (place,) = found.locations or []
    assert place.physical_location is not None
    assert place.physical_location.region is not None
    assert place.physical_location.region.start_line == 13


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(Verdict.CUT, 1), (Verdict.NOTHING_TO_EXPLORE, 1), (Verdict.PASSED_EXHAUSTIVE, 0)],
)
def test_strict_fails_whatever_is_no_pass(verdict: Verdict, code: int) -> None:
    assert strict_code([Result("t", verdict, 1, False, "dpor", 0.1)], verdict.exit_code) == code
