"""What a pass says of sleeps and time limits, which strike only when nothing else can run unless one asks otherwise."""

from __future__ import annotations

import threading
import time

import pytest

import treadle
from treadle import Verdict
from treadle.doors.explore.pass_check import PassCheck
from treadle.report.console import verdict
from treadle.threads.watchdog import OutOfTime


def _together(*functions: object) -> None:
    threads = [threading.Thread(target=function) for function in functions]  # type: ignore[arg-type]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _gives_up() -> None:
    lock, got = threading.Lock(), []

    def holder() -> None:
        with lock:
            got.append(1)

    def impatient() -> None:
        assert lock.acquire(timeout=0.001)
        got.append(2)
        lock.release()

    _together(holder, impatient)


def _bears_it() -> None:
    lock, got = threading.Lock(), []

    def holder() -> None:
        with lock:
            got.append(1)

    def patient() -> None:
        if lock.acquire(timeout=0.001):
            got.append(2)
            lock.release()

    _together(holder, patient)


def _sleeps_in_a_lock() -> None:
    lock, total = threading.Lock(), [0]

    def add() -> None:
        with lock:
            before = total[0]
            time.sleep(0.01)
            total[0] = before + 1

    _together(add, add)
    assert total == [2]


def _timer() -> None:
    lock, order = threading.Lock(), []

    def fire() -> None:
        with lock:
            order.append("fired")

    timer = threading.Timer(1, fire)
    timer.start()
    with lock:
        order.append("first")
    timer.join()
    assert order == ["first", "fired"]


def test_a_pass_that_rests_on_a_deadline_names_it_and_is_one_within_bounds() -> None:
    result = treadle.check(_gives_up)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert not result.exhaustive
    assert result.bounds == {"sleeps or timeouts that end early": 0}
    assert result.evidence is not None
    [place] = result.evidence.deadlines
    assert place.startswith("test_deadlines.py:")
    assert result.to_json()["evidence"]["deadlines"] == [place]
    assert verdict(result) == (
        "PASSED-WITHIN-BOUNDS (free; timeouts idle: 1 deadline never struck while something could run, "
        f"{place}; --timeouts any lets it)"
    )
    [warning] = result.warnings
    assert warning.kind == "early deadline"
    assert treadle.check(_gives_up, timeouts="any").verdict is Verdict.FAILED


def test_a_pass_that_bears_every_deadline_stays_exhaustive() -> None:
    for program in (_bears_it, _sleeps_in_a_lock):
        result = treadle.check(program)
        assert result.verdict is Verdict.PASSED_EXHAUSTIVE, result.reason
        assert result.evidence is not None
        assert not result.evidence.deadlines
        assert "deadlines strike at any time" in result.reason


def test_a_timer_is_named() -> None:
    result = treadle.check(_timer)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert result.evidence is not None
    assert result.evidence.deadlines == ["a timer"]


def test_when_time_runs_out_while_a_pass_is_checked_its_executions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PassCheck, "_walks", lambda check: (_ for _ in ()).throw(OutOfTime()))
    found = treadle.check(_bears_it)
    assert found.verdict is Verdict.CUT
    assert found.cut_by == "seconds"
    assert found.executions > found.statistics["checked"] >= 2
