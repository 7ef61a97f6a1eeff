"""The paper's six subjects, re-created: the first fault comes by the first assembled test, the fixed class has none."""

from __future__ import annotations

import pytest

from tests.classes.drive import campaign
from treadle.core.result import Verdict

HOME = "benchmarks.subjects.classes."
SUBJECTS = {
    "int_range:IntRange": "linearizability",
    "as_map:AsMap": "exception",
    "vector117:Vector": "exception",
    "number_axis:NumberAxis": "linearizability",
    "logger:Logger": "exception",
    "vector142:Vector": "exception",
}


@pytest.mark.slow
@pytest.mark.parametrize("target", SUBJECTS)
def test_the_first_fault_comes_by_the_first_assembled_test(target: str) -> None:
    result = campaign(HOME + target)
    assert result.verdict is Verdict.FAILED
    assert result.faults[0].found_in_test == 1
    assert SUBJECTS[target] in {fault.kind for fault in result.faults}


@pytest.mark.slow
@pytest.mark.parametrize("target", SUBJECTS)
def test_the_fixed_class_has_no_fault(target: str) -> None:
    module, name = target.split(":")
    result = campaign(f"{HOME}{module}:Fixed{name}")
    assert result.faults == []
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
