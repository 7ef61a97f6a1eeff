"""A schedule that was found on the stage is handed on to the written test: nobody searches for it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.classes.drive import campaign
from treadle.classes.result import Options
from treadle.core.choice import CallComes, StrandRuns
from treadle.core.trail import Trail
from treadle.doors.class_ import record
from treadle.doors.class_.pytest_file import class_file
from treadle.doors.class_.test_source import write_test


@pytest.mark.parametrize(
    "target", ["class_bank:Account", "class_bank:Pool", "class_bank:Once", "class_bank:Ledger", "class_shapes:Tickets"]
)
def test_the_written_test_fails_along_the_schedule_that_was_found(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = campaign(target)
    taken: set[str] = set()
    tests = [write_test(result, fault, Options(), taken) for fault in result.faults]
    file = tmp_path / "test_written.py"
    file.write_text(class_file(result, tests, Options(), {}).source(tmp_path))
    monkeypatch.setattr(record, "check", _no_search)
    facts = record.record(file, "test_written.py", 1.0, {test.name: str(test.fault.trail) for test in tests})
    assert facts.keys() == {test.name for test in tests}
    calls = [choice for choice in result.faults[0].trail.choices if isinstance(choice, CallComes)]  # type: ignore[union-attr]
    assert [choice.thread for choice in calls] == [0, 1, 2]
    for name, fact in facts.items():
        trail = Trail.parse(fact["replay"])
        assert (trail.door, trail.target) == ("class", f"test_written.py::{name}")
        assert trail.only(StrandRuns)


def _no_search(*_: object, **__: object) -> None:
    raise AssertionError("a schedule that is known was searched for")
