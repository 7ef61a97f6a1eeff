"""A fault that no test shows is replayed all the same: its calls are run again along its schedule."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.classes.drive import campaign
from treadle.classes.result import Fault, Options
from treadle.cli.main import main
from treadle.core.errors import UsageError
from treadle.core.result import Result
from treadle.core.trail import Trail
from treadle.core.verdict import Verdict
from treadle.doors.class_.replay import replay_trail, staged


def no_test(trail: Trail) -> Result:
    raise AssertionError(f"there is no test for {trail}")


def fault_of(target: str) -> Fault:
    return campaign(target, calls=1).faults[0]


@pytest.mark.parametrize(
    "target", ["class_handing_out:ConnectionPool", "class_handing_out:Registry", "class_bank:Account"]
)
def test_a_fault_without_a_test_is_shown_again(target: str) -> None:
    fault = fault_of(target)
    result = replay_trail(Trail.parse(staged(fault, Options())), no_test)
    assert result.verdict is Verdict.FAILED
    assert [(found.kind, found.message) for found in result.findings] == [(fault.kind, fault.message)]
    assert result.findings[0].explanation == fault.explanation


def test_a_class_that_was_mended_does_not_fail() -> None:
    """The same calls on the class with its lock: the schedule no longer fits, and that is no pass either."""
    trail = replace(Trail.parse(staged(fault_of("class_bank:Account"), Options())), target="class_bank:SafeAccount")
    settings = {**trail.settings, "test": trail.settings["test"].replace("Account", "SafeAccount")}
    with pytest.raises(UsageError, match="the trail no longer fits class_bank:SafeAccount"):
        replay_trail(replace(trail, settings=settings), no_test)


def test_the_command_takes_the_string(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["replay", staged(fault_of("class_handing_out:ConnectionPool"), Options()), "--json"])
    assert left.value.code == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["kind"] == "linearizability"


def test_calls_that_are_damaged_are_said_to_be() -> None:
    trail = Trail.parse(staged(fault_of("class_bank:Account"), Options()))
    with pytest.raises(UsageError, match="the calls in this trail of class_bank:Account are damaged"):
        replay_trail(replace(trail, settings={**trail.settings, "test": "{}"}), no_test)


def test_a_fault_of_an_object_from_a_factory(tmp_path: Path) -> None:
    (tmp_path / "made_for_replay.py").write_text(
        "from class_bank import Account\n\n\ndef rich():\n    return Account()\n"
    )
    options = Options(setup_folder=tmp_path, setup_import="from made_for_replay import rich", setup_call="rich()")
    string = staged(fault_of("class_bank:Account"), options)
    assert replay_trail(Trail.parse(string), no_test).verdict is Verdict.FAILED
