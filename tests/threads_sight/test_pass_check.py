"""A pass checks itself: state that no hook sees is found by running classes in other orders and at finer points."""

from __future__ import annotations

import asyncio
import builtins
import enum
import importlib
import operator
import os
import threading
import types
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import treadle
from treadle import Verdict
from treadle.threads.hooks import HOOKS, checked
from treadle.threads.instrument.swap import install_hooks

# The modules of asyncio are taken to be under control, so nothing of this state is seen.
SOURCE = """
count = 0
def reset():
    global count
    count = 0
def bump():
    global count
    count += 1
    return count
"""


class Box:
    def __init__(self) -> None:
        self.a = self.b = 0


@pytest.fixture
def hidden() -> Any:
    module = types.ModuleType("asyncio.hidden_count")
    exec(compile(SOURCE, "hidden_count.py", "exec"), vars(module))
    return module


def test_a_value_that_the_class_does_not_decide_is_no_pass(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.a = hidden.bump()

        def other() -> None:
            box.b = hidden.bump()

        treadle.parallel(one, other)

    result = treadle.check(run)
    assert result.verdict is Verdict.CUT
    assert "share something that Treadle does not see" in result.reason
    assert result.executions > 500  # the rest was sampled
    assert "test_pass_check.py" in result.reason  # where


def test_a_failure_at_a_finer_point_is_a_finding_and_replays(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.a = 1
            hidden.bump()

        def other() -> None:
            assert hidden.bump() == 1

        treadle.parallel(one, other)

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert treadle.replay(result.findings[0].replay, run).verdict is Verdict.FAILED


def test_the_check_is_counted_apart() -> None:
    def run() -> None:
        box = Box()

        def write() -> None:
            box.a = 1

        treadle.parallel(write, write)

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE
    assert result.executions == 2
    assert result.statistics["checked"] >= 32


def test_within_bounds_is_not_checked_beyond_them() -> None:
    def run() -> None:
        box = Box()

        def up() -> None:
            box.a += 1

        treadle.parallel(up, up)
        assert box.a == 2

    assert treadle.check(run, preemptions=0).verdict is Verdict.PASSED_WITHIN_BOUNDS


# Hooks that can be switched off one by one: a program that then loses its failing schedule must not pass.
_OFF: dict[str, Callable[..., Any]] = {
    "_treadle_load": getattr,
    "_treadle_store": lambda value, obj, name: setattr(obj, name, value),
    "_treadle_item": operator.getitem,
    "_treadle_set_item": eval("lambda value, obj, key: obj.__setitem__(key, value)"),  # not rewritten with this file
    "_treadle_in": lambda value, container: value in container,
    "_treadle_function": lambda called: called,
    "_treadle_callee": getattr,
    "_treadle_iter": lambda iterable: iterable,
    "_treadle_show": lambda value: value,
    "_treadle_eq": lambda left, right: left == right,
    "_treadle_match": lambda value: value,
}


# All of them take minutes: `make conformance` asks for that.
_SHORT = ("_treadle_set_item", "_treadle_match")


@pytest.mark.slow
@pytest.mark.parametrize("name", _OFF if os.environ.get("TREADLE_CONFORMANCE") else _SHORT)
def test_with_any_one_hook_switched_off_nine_of_ten_false_passes_are_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table: Any = importlib.import_module("tests.programs.sight.table")
    for room in ("iterators", "attributes", "foreign"):
        importlib.import_module(f"tests.programs.sight.{room}")
    monkeypatch.setitem(HOOKS, name, _OFF[name])
    install_hooks(HOOKS)
    missed: list[str] = []
    caught = 0
    try:
        for program in table.FAILS:
            result = treadle.check(program, strategy="dpor")
            if result.verdict not in (Verdict.FAILED, Verdict.CUT):
                missed.append(program.__name__)
            elif result.statistics["checked"]:
                caught += 1
    finally:
        monkeypatch.undo()
        install_hooks(HOOKS)
    assert caught > 0
    assert caught >= 9 * len(missed), missed


def test_the_hooks_are_put_back() -> None:
    assert vars(builtins)["_treadle_load"] is HOOKS["_treadle_load"]


def test_a_pass_tells_what_it_rests_on() -> None:
    def run() -> None:
        box = Box()

        def write() -> None:
            box.a = 1

        def read() -> None:
            assert box.a in (0, 1)

        treadle.parallel(write, read)

    evidence = treadle.check(run).evidence
    assert evidence is not None
    assert evidence.classes == 2
    assert evidence.shared == ["Box#1"]
    assert evidence.races == ["Box#1.a: writes, then reads"]
    assert evidence.one_step == []


def test_code_of_a_library_inside_a_native_call_is_named() -> None:
    """Others may run between two comparisons of a sort, where no hook is."""

    def run() -> None:
        items = [Fraction(2), Fraction(1)]
        assert treadle.parallel(items.sort, lambda: items.count(Fraction(1)))[1] == 1

    result = treadle.check(run)
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS
    assert "fractions.Fraction.__lt__ inside list.sort" in result.reason


def test_keys_that_are_hashed_in_python_spoil_nothing() -> None:
    class Colour(enum.Enum):
        RED = 1

    def run() -> None:
        seen: dict[Any, int] = {Colour.RED: 0}
        lock = threading.Lock()

        def count() -> None:
            with lock:
                seen[Colour.RED] += 1

        treadle.parallel(count, count)
        assert seen[Colour.RED] == 2

    assert treadle.check(run).verdict is Verdict.PASSED_EXHAUSTIVE


def test_a_missing_item_is_a_switch_under_a_gil() -> None:
    """`Counter.__missing__` is Python code, so another thread may come between the read and the write."""

    def run() -> None:
        counts: Counter[str] = Counter()

        def count() -> None:
            counts["a"] += 1

        treadle.parallel(count, count)
        assert counts["a"] == 2

    assert treadle.check(run, switches="gil").verdict is Verdict.FAILED


@pytest.mark.parametrize("tells", [True, False])
def test_tasks_in_any_order_that_have_something_unseen_in_common_are_no_pass(hidden: Any, tells: bool) -> None:
    """What a task reads depends on it, or what it goes on to do."""

    async def tasks() -> None:
        hidden.reset()
        boxes = Box(), Box()

        async def one(box: Box) -> None:
            number = hidden.bump()
            if tells:
                box.a = number
            elif number == 2:
                await asyncio.sleep(0)

        started = [asyncio.create_task(one(box)) for box in boxes]
        for task in started:
            await task

    result = treadle.check(lambda: asyncio.run(tasks()), any_order=True, executions=50)
    assert (result.verdict, result.cut_by) == (Verdict.CUT, "unseen")


def test_tasks_in_any_order_that_share_nothing_pass_and_were_checked() -> None:
    async def tasks() -> None:
        async def one(box: Box) -> None:
            box.a = 1

        started = [asyncio.create_task(one(Box())) for _ in range(2)]
        for task in started:
            await task

    result = treadle.check(lambda: asyncio.run(tasks()), any_order=True)
    assert result.verdict.is_pass
    assert result.statistics["checked"] >= 32


def test_a_pass_under_a_gil_checks_itself_too(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.a = hidden.bump()

        def other() -> None:
            box.b = hidden.bump()

        treadle.parallel(one, other)

    result = treadle.check(run, switches="gil")
    assert result.verdict is Verdict.CUT
    assert "share something that Treadle does not see" in result.reason
    assert "test_pass_check.py" in result.reason


def test_a_failure_at_a_look_of_the_interpreter_is_a_finding_and_replays(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def one() -> None:
            box.a = len([hidden.bump()])

        def other() -> None:
            assert hidden.bump() == 2

        treadle.parallel(one, other)

    result = treadle.check(run, switches="gil")
    assert result.verdict is Verdict.FAILED
    assert result.statistics["checked"] > 0  # the search itself does not find it
    assert treadle.replay(result.findings[0].replay, run).verdict is Verdict.FAILED


def test_another_failure_that_the_check_finds_does_not_settle_where_the_first_can_happen(hidden: Any) -> None:
    def run() -> None:
        hidden.reset()
        box = Box()

        def count() -> None:
            box.a += 1

        def one() -> None:
            box.b = len([hidden.bump()])

        def other() -> None:
            assert hidden.bump() == 2

        treadle.parallel(count, count, one, other)
        if box.a != 2:
            raise LookupError

    finding = treadle.check(run, switches="free").findings[0]
    assert "LookupError" in finding.message
    assert finding.builds is not None
    assert finding.builds.possible == ()
    assert finding.builds.impossible == ()


@pytest.mark.parametrize("name", ["_treadle_load", "_treadle_item", "_treadle_set_item"])
def test_under_a_gil_a_hook_that_is_switched_off_makes_no_pass(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def attributes() -> None:
        box = Box()

        def read() -> None:
            assert abs(box.a) == 0

        treadle.parallel(read, lambda: setattr(box, "a", 1))

    def items() -> None:
        box = [0]

        def write() -> None:
            box[0] = 1

        def read() -> None:
            assert abs(box[0]) == expected

        treadle.parallel(read, write)

    # what is not seen is done at the start of its strand: a write before the read, a read before the write
    expected = int(name == "_treadle_set_item")
    run = items if "item" in name else attributes
    monkeypatch.setattr(
        "treadle.threads.loom.with_checks", lambda hooks: {**checked.with_checks(hooks), name: _OFF[name]}
    )
    assert treadle.check(run, switches="gil").verdict in (Verdict.FAILED, Verdict.CUT)
    monkeypatch.setattr("treadle.doors.explore.campaign.ScheduleSearch._to_be_checked", lambda *_: False)
    assert treadle.check(run, switches="gil").verdict is not Verdict.FAILED  # else the check was not needed
