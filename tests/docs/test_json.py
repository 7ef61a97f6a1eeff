"""docs/json.md lists every field of every kind of result, and no other; every result can be encoded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from treadle.abs.machine.criteria import Bounds, Cuts, OrderSelection
from treadle.classes.result import ClassResult, Fault
from treadle.core.json_form import JsonForm, json_names
from treadle.core.result import Evidence, Finding, Result, Step
from treadle.core.verdict import Verdict
from treadle.doors.actor.generated import GeneratedCases
from treadle.doors.unit.result import Suite
from treadle.doors.unit.result_json import suite_facts
from treadle.messages import result as messages
from treadle.messages.result import OrderFinding, ScheduleResult
from treadle.symbolic.testcase import CallOutcome, TestCase

PAGE = (Path(__file__).parents[2] / "docs" / "json.md").read_text(encoding="utf-8")
KINDS: list[type[JsonForm]] = [Result, Evidence, Finding, Step, ScheduleResult, OrderFinding, ClassResult, Fault]
KINDS.append(next(kind for name, kind in vars(messages).items() if name.endswith("Coverage")))


def documented(kind: str) -> list[str]:
    """The fields of a table of the page."""
    table = PAGE.split(f"<!-- {kind} -->\n")[1].strip().split("\n\n")[0]
    return re.findall(r"^\| `([\w.]+)` \|", table, re.M)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_field_is_documented(kind: type[JsonForm]) -> None:
    assert documented(kind.__name__.removeprefix("Goal")) == json_names(kind)


def flat(document: dict[str, Any]) -> list[str]:
    return list(document)


def test_every_field_of_the_other_doors_is_documented() -> None:
    made = GeneratedCases("m.abs:C.m", [], 0, Cuts(), 0, 0.0, Bounds(), OrderSelection())
    assert documented("GeneratedCases") == flat(made.to_json())
    assert documented("Suite") == flat(suite_facts(Suite("m:f")).to_json())


def test_a_document_has_the_fields_of_its_kind_and_survives_json() -> None:
    step = Step("T1", "reads", "box#1", "a.py", 3, "add")
    finding = Finding("deadlock", "stuck", "tr2:x", "table", ValueError(), [step])
    result = Result("t", Verdict.FAILED, 3, False, "dpor", 0.12345, [finding], statistics={"rate": 1.23456})
    document = json.loads(json.dumps(result.to_json()))
    assert list(document) == json_names(Result)
    assert (document["verdict"], document["seconds"], document["statistics"]) == ("FAILED", 0.123, {"rate": 1.235})
    assert list(document["findings"][0]) == json_names(Finding)
    assert document["findings"][0]["operations"] == [
        {"strand": "T1", "operation": "reads", "object": "box#1", "file": "a.py", "line": 3}
    ]


def test_values_of_the_program_are_not_rounded() -> None:
    case = TestCase("m:f", {"x": 0.123456}, CallOutcome(value=0.654321), {}, ["x > 0"], ())
    suite = Suite("m:f", cases=[case], disagreements=[(case, "another value")], wrong_stubs=[(case, "another value")])
    told = suite_facts(suite).to_json()
    for found in (*told["cases"], *told["disagreements"], *told["stubs"]["wrong"]):
        assert (found["inputs"], found["outcome"]) == ({"x": 0.123456}, {"returns": 0.654321})


def test_objects_inside_are_nested() -> None:
    document = ClassResult("m:C", Verdict.CUT, pairs=2, traces=3).to_json()
    assert (document["coverage"]["pairs"], document["coverage"]["method_traces"]) == (2, 3)
    assert {name.partition(".")[0] for name in json_names(ClassResult)} == set(document)
