"""Mistakes that Treadle itself once made: each test is the smallest program that showed one."""

from __future__ import annotations

import collections
import contextvars
import functools
import queue
import sys
import threading
import types
import unittest.mock
import weakref
from typing import Any

import pytest

import treadle
from tests.threads.keeping_rlock import make_lock
from treadle.core.result import Result, Verdict
from treadle.threads.hooks.reach import OBJECT, kind_of


def executions(test: Any, **options: Any) -> int:
    """How many executions an exhaustive pass took."""
    result: Result = treadle.check(test, **options)
    assert result.verdict is Verdict.PASSED_EXHAUSTIVE, result.reason
    assert result.statistics["blocked"] == 0
    return result.executions


def test_methods_of_built_in_containers_are_points() -> None:
    def program() -> None:
        shared: list[int] = []
        treadle.parallel(lambda: shared.append(1), lambda: shared.append(2))

    assert executions(program) == 2


class Talkative:
    """Its __repr__ is code under test, with points of its own."""

    def __init__(self) -> None:
        self.value = 0

    def __repr__(self) -> str:
        self.value += 1
        return f"Talkative({self.value})"


def test_showing_a_value_runs_no_code_of_the_program() -> None:
    def program() -> None:
        box: dict[str, Any] = {"items": [Talkative(), functools.partial(Talkative().__repr__), slice(Talkative())]}
        box["count"] = -2

        def count() -> None:
            items = box["items"]
            box["count"] = box["count"] + len(items)

        treadle.parallel(count, count)
        assert box["count"] == 4

    (finding,) = treadle.check(program).findings
    assert finding.kind == "assertion"
    assert not [step for step in finding.steps if step.object.startswith("Talkative")]


def sizes_seen(look: Any) -> set[Any]:
    """What a strand sees of a dictionary with one key while another strand adds one, over all schedules."""
    seen = set()

    def program() -> None:
        shared = {"a": 1}

        def run() -> None:
            try:
                seen.add(look(shared))
            except RuntimeError:
                seen.add("changed")

        treadle.parallel(run, lambda: shared.update(b=2))

    assert executions(program) > 1
    return seen


def test_the_start_of_an_iteration_is_seen() -> None:
    assert sizes_seen(lambda shared: len([key for key in shared])) == {1, 2, "changed"}  # noqa: C416
    assert sizes_seen(lambda shared: len(list(shared))) == {1, 2}


def test_iterators_are_seen_through() -> None:
    def by_hand(shared: dict[str, int]) -> int:
        iterator = iter(shared)
        return [next(iterator, None) for _ in range(3)].index(None)

    assert sizes_seen(by_hand) == {1, 2, "changed"}
    assert sizes_seen(lambda shared: len([pair for pair in enumerate(shared.items())])) == {1, 2, "changed"}  # noqa: C416
    assert sizes_seen(lambda shared: [pair for pair in zip(shared, range(9), strict=False)][-1][0]) == {  # noqa: C416
        "a",
        "b",
        "changed",
    }


def test_showing_a_model_is_no_operation_on_it() -> None:
    def program() -> None:
        box: list[Any] = [threading.Barrier(2), threading.Event(), threading.Condition(), queue.Queue[int](), 0]

        def look() -> None:
            for thing in list(box[:4]):
                assert thing
            box[4] = box[4] + 1

        treadle.parallel(look, look)
        assert box[4] == 2

    (finding,) = treadle.check(program).findings
    assert not [step for step in finding.steps if step.operation == "looks at"]


def test_a_factory_imported_by_name_makes_models() -> None:
    """threading.RLock is a function, and its model a class."""

    def program() -> None:
        lock, shared = make_lock(), [0]

        def count() -> None:
            with lock:
                shared[0] += 1

        treadle.parallel(count, count)
        assert shared == [2]

    assert executions(program) == 2


def test_addresses_as_keys_mean_the_object() -> None:
    def program() -> None:
        keys = [Talkative() for _ in range(3)]
        by_address: dict[Any, int] = {}
        junk = []

        def count(key: Talkative) -> None:
            junk.append(object())  # moves the addresses of the next execution
            by_address[id(key)] = by_address.get(id(key), 0) + 1
            by_address[id(count), id(key)] = 0
            by_address[f"key@{id(key)}"] = 0

        treadle.parallel(lambda: count(keys[0]), lambda: count(keys[1]))
        assert by_address[id(keys[0])] == 1

    assert executions(program) > 1


def test_a_test_that_fails_before_its_first_operation() -> None:
    def program() -> None:
        raise ValueError("at once")

    (finding,) = treadle.check(program).findings
    assert finding.message == "ValueError: at once"


def test_special_methods_of_atomic_objects_are_points() -> None:
    def program() -> None:
        shared = weakref.WeakValueDictionary[int, Talkative]()
        one, two = Talkative(), Talkative()
        treadle.parallel(lambda: shared.__setitem__(1, one), lambda: shared.__setitem__(1, two))

    result = treadle.check(program)
    assert result.executions == 2
    assert result.verdict is Verdict.PASSED_WITHIN_BOUNDS  # its methods are Python code that is not rewritten
    assert "weakref.WeakValueDictionary.__setitem__" in result.reason


def test_what_a_stored_function_carries_has_one_name() -> None:
    """Whoever calls a handler first must not decide what the list behind it is called."""

    def program() -> None:
        seen: list[int] = []
        box = {"handler": lambda: seen.append(len(seen)), "pair": (1, Talkative())}

        def call() -> None:
            box["handler"]()  # type: ignore[operator]
            box["pair"][1].value += 1  # type: ignore[index]

        treadle.parallel(call, call)
        assert len(seen) == 2
        assert box["pair"][1].value == 2  # type: ignore[index]

    (finding,) = treadle.check(program).findings
    names = {step.object for step in finding.steps}
    assert not [name for name in names if name.startswith(("list#T", "Talkative#T"))]


def count_calls() -> None:
    count_calls.times = getattr(count_calls, "times", 0) + 1  # type: ignore[attr-defined]


def test_attributes_of_functions_are_points() -> None:
    def program() -> None:
        treadle.parallel(count_calls, count_calls)
        assert count_calls.times == 2  # type: ignore[attr-defined]

    (finding,) = treadle.check(program).findings
    assert finding.kind == "assertion"
    assert "count_calls.times" in finding.explanation


class Chained:
    """On Python 3.11 the lock of a cached property is one for all instances."""

    other: Chained | None = None

    @functools.cached_property
    def one(self) -> int:
        return 1 if self.other is None else self.other.two + 1

    @functools.cached_property
    def two(self) -> int:
        return 1 if self.other is None else self.other.one + 1


@pytest.mark.parametrize("instrument", [(), ("functools",)])
def test_what_a_class_keeps_is_named_after_the_class(instrument: tuple[str, ...]) -> None:
    def program() -> None:
        first, second = Chained(), Chained()
        first.other, second.other = Chained(), Chained()
        treadle.parallel(lambda: first.one, lambda: second.two)

    result = treadle.check(program, instrument=instrument)
    if sys.version_info >= (3, 12):
        assert not result.findings
        return
    (finding,) = result.findings
    assert finding.kind == "deadlock"
    assert treadle.replay(finding.replay, program).failed


def test_a_finding_inside_of_collections_is_told() -> None:
    """Following a trail counts operations, and must not count them by code that is rewritten just now."""

    def program() -> None:
        numbers = collections.UserList([1])
        treadle.parallel(lambda: numbers.append(2), lambda: numbers.extend([3]))
        assert numbers.data == [1, 2, 3]

    (finding,) = treadle.check(program, instrument="collections").findings
    assert treadle.replay(finding.replay, program).failed


def test_a_container_made_from_another_reads_it() -> None:
    def program() -> None:
        shared = [1]
        treadle.parallel(lambda: list(shared), lambda: shared.append(2))

    assert executions(program) == 2


def test_what_a_weak_reference_leads_to_has_one_name() -> None:
    def program() -> None:
        seen: list[int] = []

        def handler() -> None:
            seen.append(1)

        reference = [weakref.ref(handler)]
        treadle.parallel(lambda: reference[0]()(), lambda: reference[0]()())  # type: ignore[misc]
        assert len(seen) != 2

    (finding,) = treadle.check(program).findings
    assert "list#T" not in str([step.object for step in finding.steps])


def test_a_deadlock_in_a_finaliser_says_nothing_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The strand is ended inside `__del__`: CPython would print the exception that ends it."""
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def program() -> None:
        never = threading.Event()

        class Waits:
            def __del__(self) -> None:
                never.wait()

        def drop() -> None:
            made = Waits()
            del made

        treadle.parallel(drop, never.wait)

    (finding,) = treadle.check(program).findings
    assert finding.kind == "deadlock"
    assert told == []


class _Newest(queue.Queue[int]):
    """Keeps its items itself, in code that is rewritten."""

    def _init(self, maxsize: int) -> None:
        self.kept: list[int] = []
        self.most = maxsize

    def _qsize(self) -> int:
        return len(self.kept)

    def _put(self, item: int) -> None:
        self.kept.append(item)

    def _get(self) -> int:
        return self.kept.pop()


def test_a_queue_that_sets_up_its_own_storage() -> None:
    def program() -> None:
        channel = _Newest(2)
        treadle.parallel(lambda: channel.put(1), lambda: channel.put(2))
        assert channel.get() + channel.get() == 3

    assert executions(program) == 2


def test_a_class_that_names_no_module() -> None:
    """As those of protocol buffers."""
    nameless = type("Nameless", (), {"__module__": None})
    shared = [nameless(), nameless()]

    def main() -> None:
        def use() -> None:
            assert len(sorted(shared, key=id)) == 2

        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert kind_of(nameless) == OBJECT
    assert not treadle.check(main, executions=5).findings


# Of the parameters of the hooks that are given what the program gives to a call, and were taken for them.
_NAMES_OF_OURS = ("answers", "cache", "called", "container", "kind", "method", "obj", "operations", "strand", "via")


def test_a_program_may_name_its_arguments_as_treadle_does() -> None:
    given = dict.fromkeys(_NAMES_OF_OURS, "GET")

    @functools.lru_cache
    def cached(**named: str) -> int:
        return len(named)

    def program() -> None:
        seen: dict[str, str] = {}
        space = types.SimpleNamespace(call=functools.partial(dict, **given))
        context = contextvars.copy_context()

        def use() -> None:
            seen.update(**given)
            assert space.call(**given) == given == unittest.mock.Mock(return_value=given)(**given)
            assert cached(**given) == context.copy().run(cached, **given) == len(given)

        treadle.parallel(use, use)
        assert seen == given

    assert not treadle.check(program, executions=20).findings


TABLE = {number: number for number in range(6)}


def test_two_that_do_nothing_but_read_from_their_start_on_are_no_error() -> None:
    def read_on() -> int:
        return sum(TABLE[key] for _ in range(20) for key in TABLE)

    def program() -> None:
        treadle.parallel(read_on, read_on)

    assert treadle.check(program, executions=20).findings == []
