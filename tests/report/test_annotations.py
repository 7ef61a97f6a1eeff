"""What CI is told: annotations at the right lines, SARIF that others can read, and no pass where there is none."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sarif_pydantic import Sarif

from treadle.cli.schedule import schedule_remarks
from treadle.core.builds import EVERY
from treadle.core.result import Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.doors.actor.generated import generate
from treadle.doors.actor.table import case_remarks
from treadle.doors.class_.remarks import class_remarks
from treadle.messages.result import OrderFinding, ScheduleResult
from treadle.report.annotations import github, remarks, sarif


def lost_update(file: str) -> Result:
    steps = [
        Step("T1", "reads", "Account#1.balance", file, 12, "deposit", "0"),
        Step("T2", "writes", "Account#1.balance", file, 13, "deposit", "1"),
    ]
    found = Finding("assertion", "assert 1 == 2, 50%", replay="tr2:x", steps=steps, builds=EVERY)
    return Result(f"{file}::test_lost", Verdict.FAILED, 2, False, "dpor", 0.1, [found])


def cut() -> Result:
    return Result("tests/test_a.py::test_b", Verdict.CUT, 9, False, "dpor", 0.1, reason="time ran out")


def test_github_shows_a_finding_at_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (line,) = github(remarks([lost_update(str(tmp_path / "bank.py"))])).splitlines()
    assert line.startswith("::error file=bank.py,line=13,title=FAILED%3A test_lost::assertion: assert 1 == 2, 50%25%0A")
    assert line.endswith("%0Aon: every build%0Atreadle replay 'tr2:x'")


def test_what_the_program_says_does_not_steer_the_terminal() -> None:
    found = Finding("assertion", "\x1b[31mred\r\n::error::no", replay="tr2:x")
    told = github(remarks([Result("t.py::t", Verdict.FAILED, 2, False, "dpor", 0.1, [found])]))
    assert "\u241b[31mred\u240d%0A::error::no" in told
    assert told.isprintable()


def test_an_order_of_messages_stands_where_the_program_raised_it() -> None:
    inside = [Step("T1", "gets from", "Server", json.__file__, 1, "_actor_loop", "0")]  # a file of a library
    try:
        raise KeyError("anna")
    except KeyError as error:
        found = OrderFinding(
            "exception", "KeyError: 'anna'", exception=error, steps=inside, order=["text before logon"]
        )
    (told,) = remarks([Result("test_chat.py::test_chat", Verdict.FAILED, 2, False, "dpor", 0.1, [found])])
    assert told.file == __file__
    assert "all it takes: text before logon" in told.message


def test_sarif_names_a_file_by_a_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = json.loads(sarif(remarks([lost_update(str(tmp_path / "my tests" / "b\u00e4nk #1.py"))])))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20tests/b%C3%A4nk%20%231.py"


def test_what_was_cut_is_a_warning_without_a_line() -> None:
    told = github(remarks([cut()]))
    assert told.startswith("::warning file=tests/test_a.py,title=CUT%3A test_b::no failure so far, but time ran out")


def test_a_pass_is_not_annotated() -> None:
    assert remarks([Result("t.py::t", Verdict.PASSED_EXHAUSTIVE, 4, True, "dpor", 0.1)]) == []


def valid(text: str) -> Sarif:
    """A log that has what SARIF 2.1.0 requires (sections 3.13 to 3.28), and that others can read."""
    log = json.loads(text)
    assert log["version"] == "2.1.0"
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        ids = [rule["id"] for rule in driver["rules"]]
        assert len(ids) == len(set(ids))
        for result in run["results"]:
            assert ids[result["ruleIndex"]] == result["ruleId"]
            assert result["message"]["text"]
            assert result["level"] in ("none", "note", "warning", "error")
            for place in result["locations"]:
                physical = place["physicalLocation"]
                assert re.fullmatch(r"(file://)?[^\s\\<>|]+", physical["artifactLocation"]["uri"])
                assert physical.get("region", {"startLine": 1})["startLine"] >= 1
    return Sarif.model_validate(log)


def test_a_class_is_told_at_the_line_of_its_fault() -> None:
    place = "report/test_annotations.py:7"
    fault = {"kind": "linearizability", "message": "lost", "locations": [place], "replay": "tr2:x", "on": "PyPy"}
    facts = {"target": "tests.report.test_annotations:Account", "verdict": "FAILED", "faults": [fault], "reason": ""}
    told = class_remarks(facts)
    valid(sarif(told))
    assert (told[0].file, told[0].line) == (__file__, 7)
    assert "\non: PyPy\n" in told[0].message
    skipped = class_remarks(facts | {"faults": [], "verdict": "CUT", "reason": "the budget ran out"})
    assert [(one.level, one.rule, one.message) for one in skipped] == [("warning", "cut", "the budget ran out")]


def test_an_order_of_messages_is_told_where_it_fails() -> None:
    try:
        raise KeyError("anna")
    except KeyError as error:
        finding = Finding("exception", "KeyError: 'anna'", replay="tr2:x", exception=error)
    result = ScheduleResult("test_chat.py::test_chat", Verdict.FAILED, findings=[finding])
    told = schedule_remarks(result)
    valid(sarif(told))
    assert told[0].file == __file__
    assert [one.rule for one in schedule_remarks(ScheduleResult("test_chat.py::test_chat", Verdict.CUT))] == ["cut"]


def test_a_broken_contract_and_a_failing_case_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = "class C { Unit m(Int n) { assert n != 3; } } { }"
    Path("model.abs").write_text(f"module M;\n{model}\n")
    told = case_remarks(generate("model.abs:C.m", keep=None))
    valid(sarif(told))
    assert [(one.file, one.rule, one.message.splitlines()[0]) for one in told] == [("model.abs", "failed", "n = 3")]


def test_sarif_is_what_others_read() -> None:
    log = valid(sarif(remarks([lost_update("bank.py"), cut()])))
    (run,) = log.runs
    found, warned = run.results or []
    assert (found.rule_id, warned.rule_id) == ("treadle/assertion", "treadle/cut")
    (place,) = found.locations or []
    assert place.physical_location is not None
    assert place.physical_location.region is not None
    assert place.physical_location.region.start_line == 13


@pytest.mark.parametrize("name", ["explore", "class", "schedule", "unit", "actor"])
def test_every_command_that_finds_something_speaks_to_machines(name: str) -> None:
    command: Any = import_module(f"treadle.cli.{'class_' if name == 'class' else name}").command
    options = {word for option in command.params for word in option.opts}
    assert {"--strict", "--sarif", "--format"} <= options
