"""Time that passes beside the calls: entries that expire inside a call."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.classes.drive import always, campaign, subject
from treadle.classes.calls import Argument, MethodCall, Value
from treadle.classes.interleavings import Explored, InterleavingExplorer
from treadle.classes.result import Options
from treadle.classes.stage import Stage, Test
from treadle.classes.subject import TIME_PASSES
from treadle.doors.class_.pytest_file import class_file
from treadle.doors.class_.test_source import write_test


def call(form: str, value: str) -> MethodCall:
    return MethodCall(form.partition("(")[0], f"{{sout}}.{form}", (Argument(Value(value)),))


def explored(name: str, timed: bool = True) -> Explored:
    """`left('a')` beside `put('b')` where 'a' is in the cache, with or without time that passes."""
    stage = Stage(subject(f"class_expiry:{name}"))
    threads = ((call("left({0})", "'a'"),), (call("put({0})", "'b'"),), (TIME_PASSES,))[: 2 + timed]
    root = MethodCall("constructor", f"{name}()", needs=(f"from class_expiry import {name}",))
    with stage:
        return InterleavingExplorer(stage).explore(Test(root, (call("put({0})", "'a'"),), threads), 3_000, always)


def test_an_entry_expires_between_the_look_and_the_use() -> None:
    [witness] = [one for one in explored("ExpiringTwice").witnesses if one.violation.kind == "exception"]
    assert witness.violation.message == "KeyError: 'a'"
    assert explored("ExpiringTwice", timed=False).witnesses == []


def test_an_entry_that_expires_inside_one_call_at_a_time_is_no_fault() -> None:
    found = explored("Expiring")
    assert found.witnesses == []
    assert found.exhausted


@pytest.mark.slow
def test_a_campaign_lets_time_pass_and_writes_a_test_that_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.doors.class_.work_clock._AFTER_FAULT", 0.0)
    result = campaign("class_expiry:ExpiringTwice")
    [fault] = [fault for fault in result.faults if "time passes" in fault.methods]
    assert fault.kind == "exception"
    test = write_test(result, fault, Options(), set())
    assert "treadle.pass_time(" in class_file(result, [test], Options(), {}).source(tmp_path)
    assert "treadle.pass_time(" not in test.plain
