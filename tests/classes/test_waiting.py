"""Calls that wait: what they do before another lets them go on is explored, and written tests let them wait."""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path

import pytest

from tests.classes.drive import PROGRAMS, campaign, kinds, subject
from tests.classes.test_command import run_pytest, treadle
from treadle.classes.calls import Argument, MethodCall, Value
from treadle.classes.linearizability import DEADLOCK, LIVELOCK, PENDING, WAITS, Outcome, judge, returned
from treadle.classes.orders import CallOrders
from treadle.classes.records import on_new_object
from treadle.classes.stage import Stage, Test
from treadle.core.operation import MULTI, READ
from treadle.core.verdict import Verdict
from treadle.doors.class_.waiting import WAITS as WAITING
from treadle.doors.class_.waiting import parallel_or_wait


def outcome(one: tuple[object, ...], other: tuple[object, ...], **more: object) -> Outcome:
    return Outcome(((one,), (other,)), **more)  # type: ignore[arg-type]


_BUFFER = MethodCall("constructor", "Buffer()", needs=("from class_waiting import Buffer",))
_GET = MethodCall("get", "{sout}.get()")
_PUT = MethodCall("put", "{sout}.put({args})", (Argument(Value("7")),))


def test_a_call_that_waits_goes_on_in_the_order_in_which_the_other_comes_later() -> None:
    with Stage(subject("class_waiting:Buffer")) as stage:
        orders = CallOrders(stage)
        outcomes: list[object] = []
        while orders.begin():
            found, run = stage.run_at_every_point(Test(_BUFFER, (), ((_GET,), (_PUT,))), orders)
            if run.revealed:
                orders, outcomes = CallOrders(stage), []
            elif found is not None:
                outcomes.append(found.threads)
    assert outcomes == [((returned(7),), (returned(None),))] * 2


def test_of_a_call_that_never_returns_what_it_did_and_waits_for_is_known() -> None:
    with Stage(subject("class_waiting:Buffer")) as stage:
        [record] = stage.run_sequence(_BUFFER, (_GET,)).calls
    assert record.happened == PENDING
    assert {name.partition("#")[0] for _, name, _ in record.operations if isinstance(name, str)} >= {"Condition"}


def test_what_a_call_made_itself_is_told_from_what_was_there() -> None:
    assert on_new_object((READ, "list#3", None), {"list": 2})
    assert not on_new_object((READ, "list#3", None), {"list": 3})
    assert not on_new_object(
        (MULTI, "", ((READ, "list#3", None), (READ, "Buffer#1.x", None))), {"list": 2, "Buffer": 1}
    )


def test_who_is_woken_and_does_not_look_again_fails() -> None:
    result = campaign("class_waiting:BufferOfOneCheck")
    assert {fault.message.partition(" (")[0] for fault in result.faults} == {
        "get || put; get: sout.get() raises IndexError: pop from empty list"
    }


def test_who_looks_again_does_not() -> None:
    result = campaign("class_waiting:Buffer")
    assert (result.verdict, result.faults) == (Verdict.PASSED_WITHIN_BOUNDS, [])


def test_a_call_that_must_wait_is_run_beside_the_one_that_lets_it_go_on() -> None:
    assert kinds(campaign("class_waiting:LostSignal", calls=1))["get || put"] == "deadlock"


def test_all_calls_come_back_and_in_every_order_one_waits_for_ever() -> None:
    both = outcome(returned(None), returned(None))
    waiting = [outcome(returned(None), PENDING, ending=DEADLOCK), outcome(PENDING, returned(None), ending=LIVELOCK)]
    found = judge(both, waiting)
    assert found is not None
    assert found.where == WAITS
    late = outcome(returned(None), returned(None), ending=LIVELOCK, late=True)
    found = judge(late, waiting)
    assert found is not None
    assert found.where == WAITS
    assert judge(both, [*waiting, both]) is None


def test_two_that_get_hold_of_one_lock() -> None:
    [fault] = campaign("class_waiting:TwoHold", calls=1).faults
    assert fault.message == "acquire || acquire: all calls return, and in every order of them one waits for ever"


def test_locked_steps_that_leave_the_object_as_no_order_does_are_a_fault() -> None:
    [fault] = campaign("class_waiting:Range", calls=1).faults
    assert sorted(fault.methods) == ["set_high", "set_low"]


def test_a_call_that_says_no_and_does_nothing_is_a_warning() -> None:
    result = campaign("class_waiting:Job")
    assert result.faults == []
    assert [warning.message.partition("; ")[2] for warning in result.warnings] == [
        "every step is locked, the whole is not atomic"
    ]


def test_nobody_waits_for_a_thread_that_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treadle.doors.class_.waiting._FOR_EVER", 0.01)
    never = threading.Event()
    assert parallel_or_wait(lambda: 1, never.wait) == [1, WAITING]
    never.set()
    with pytest.raises(ZeroDivisionError):
        parallel_or_wait(lambda: 1 // 0, lambda: 2)


@pytest.mark.slow
def test_a_written_test_in_which_a_call_may_wait_passes_when_the_class_is_fixed(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "class_waiting.py", tmp_path / "waiting.py")
    done = treadle(tmp_path, "class", "waiting:BufferOfOneCheck", "--output", ".", "--issue", "issue.md")
    assert done.returncode == 1, done.stdout + done.stderr
    [file] = tmp_path.glob("test_*.py")
    assert run_pytest(tmp_path, file.name).returncode == 1
    source = (tmp_path / "waiting.py").read_text()
    (tmp_path / "waiting.py").write_text(source.replace("if not self._items:", "while not self._items:"))
    assert run_pytest(tmp_path, file.name).returncode == 0
    program = re.search(r"```python\n(.*?)```", (tmp_path / "issue.md").read_text(), re.DOTALL)
    assert program is not None
    assert "treadle" not in program[1]
    compile(program[1], "issue", "exec")


@pytest.mark.slow
def test_a_test_that_compares_functions_fails_only_when_the_calls_overlap(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "class_waiting.py", tmp_path / "waiting.py")
    done = treadle(tmp_path, "class", "waiting:Listeners", "--output", ".", "--calls", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    [file] = tmp_path.glob("test_*.py")
    assert run_pytest(tmp_path, file.name).returncode == 1
    source = (tmp_path / "waiting.py").read_text()
    (tmp_path / "waiting.py").write_text(
        source.replace("return list(self._of[event])", "return list(self._of.get(event, ()))")
    )
    assert run_pytest(tmp_path, file.name).returncode == 0
