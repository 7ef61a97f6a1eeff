"""What counts as the same place: one attribute of one object, one key or index of one container, the whole of it."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle import Verdict


class Pair:
    shared = 0

    def __init__(self) -> None:
        self.left = 0
        self.right = 0


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left = 0
        self.right = 0


@pytest.mark.parametrize("cls", [Pair, Slotted])
def test_different_attributes_commute(cls: type) -> None:
    def run() -> None:
        pair: Any = cls()

        def left() -> None:
            pair.left = 1

        def right() -> None:
            pair.right = 1

        treadle.parallel(left, right)

    assert treadle.check(run).executions == 1


@pytest.mark.parametrize("cls", [Pair, Slotted])
def test_the_same_attribute_does_not(cls: type) -> None:
    def run() -> None:
        pair: Any = cls()

        def left() -> None:
            pair.left = 1

        treadle.parallel(left, left)

    assert treadle.check(run).executions == 2


def test_different_objects_commute() -> None:
    def run() -> None:
        pairs = [Pair(), Pair()]

        def write(number: int) -> None:
            pairs[number].left = 1

        treadle.parallel(lambda: write(0), lambda: write(1))

    assert treadle.check(run).executions == 1


def test_different_indexes_of_one_list_commute_and_the_same_does_not() -> None:
    def different() -> None:
        items = [0, 0]

        def write(index: int) -> None:
            items[index] = 1

        treadle.parallel(lambda: write(0), lambda: write(1))

    def same() -> None:
        items = [0, 0]

        def write(index: int) -> None:
            items[index] = 1

        treadle.parallel(lambda: write(0), lambda: write(0))

    assert treadle.check(different).executions == 1
    assert treadle.check(same).executions == 2


def test_different_keys_of_one_dict_commute_but_length_depends_on_every_key() -> None:
    def keys() -> None:
        table = {"a": 0, "b": 0}

        def write(key: str) -> None:
            table[key] = 1

        treadle.parallel(lambda: write("a"), lambda: write("b"))

    def length() -> None:
        table = {"a": 0, "b": 0}

        def write() -> None:
            table["a"] = 1

        treadle.parallel(write, lambda: len(table))

    assert treadle.check(keys).executions == 1
    assert treadle.check(length).executions == 2


@pytest.mark.parametrize(
    "make",
    [list, deque, lambda: [1], lambda: deque([1])],
    ids=["list", "deque", "filled list", "filled deque"],
)
def test_two_appends_are_run_in_both_orders(make: Callable[[], Any]) -> None:
    def run() -> None:
        items = make()
        treadle.parallel(lambda: items.append(1), lambda: items.append(2))

    assert treadle.check(run).executions == 2


def test_a_bound_method_of_a_container_is_seen() -> None:
    def run() -> None:
        items: list[int] = []
        threads = [threading.Thread(target=items.append, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert items == [0, 1]

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert result.executions == 2


def test_truth_of_a_container_is_a_read_of_it() -> None:
    def run() -> None:
        items = [1]
        taken = []

        def take() -> None:
            if items:
                taken.append(items.pop())

        treadle.parallel(take, take)

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert "IndexError" in result.findings[0].message


def test_iteration_is_one_read_per_step() -> None:
    def run() -> None:
        table = {1: 1, 2: 2}

        def walk() -> None:
            for _ in table:
                pass

        def grow() -> None:
            table[3] = 3

        treadle.parallel(walk, grow)

    result = treadle.check(run)
    assert "changed size during iteration" in result.findings[0].message


@pytest.mark.parametrize("view", ["keys", "values", "items"])
def test_iteration_over_a_view_sees_the_dictionary(view: str) -> None:
    def run() -> None:
        table = OrderedDict([(1, 1), (2, 2)]) if view == "keys" else {1: 1, 2: 2}

        def walk() -> None:
            for _ in getattr(table, view)():
                pass

        def grow() -> None:
            table[3] = 3

        treadle.parallel(walk, grow)

    assert treadle.check(run).verdict is Verdict.FAILED


def test_membership_and_deletion() -> None:
    def run() -> None:
        table = {"k": 1}

        def drop() -> None:
            if "k" in table:
                del table["k"]  # noqa: RUF051

        treadle.parallel(drop, drop)

    assert "KeyError" in treadle.check(run).findings[0].message


def test_a_class_attribute_is_shared_by_instances_that_do_not_hide_it() -> None:
    def run() -> None:
        one, two = Pair(), Pair()

        def bump() -> None:
            Pair.shared += 1

        def read() -> None:
            assert one.shared + two.shared in (0, 2)

        treadle.parallel(bump, read)

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED  # between the two reads
    assert Pair.shared == 0  # module state is put back


COUNTER = 0


def test_a_global_that_functions_rebind() -> None:
    def run() -> None:
        def bump() -> None:
            global COUNTER
            COUNTER += 1

        treadle.parallel(bump, bump)
        assert COUNTER == 2

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert result.findings[0].kind == "assertion"
    assert COUNTER == 0


def test_a_closure_variable_that_inner_functions_rebind() -> None:
    def run() -> None:
        count = 0

        def bump() -> None:
            nonlocal count
            count += 1

        treadle.parallel(bump, bump)
        assert count == 2

    assert treadle.check(run).verdict is Verdict.FAILED


def test_getattr_setattr_hasattr_and_dict_are_accesses() -> None:
    def run() -> None:
        pair = Pair()

        def once() -> None:
            if not hasattr(pair, "made"):
                setattr(pair, "made", getattr(pair, "left") + 1)  # noqa: B009, B010
                pair.__dict__["left"] = pair.left + 1

        treadle.parallel(once, once)
        assert pair.left == 1

    assert treadle.check(run).verdict is Verdict.FAILED


def test_atomic_code_is_one_operation_on_what_it_is_given() -> None:
    def run() -> None:
        import heapq

        heap: list[int] = []
        seen: list[int] = []

        def push() -> None:
            heapq.heappush(heap, 2)

        def look() -> None:
            seen.append(len(heap))

        treadle.parallel(push, look)
        assert seen == [1]

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert result.executions == 2


def test_an_object_handed_over_late_is_still_seen() -> None:
    """The list is private to the main strand at first; that must not hide what happens to it later."""

    def run() -> None:
        box: dict[str, list[int]] = {}
        ready = threading.Event()

        def reader() -> None:
            ready.wait()
            items = box["items"]
            if items:
                items.pop()

        thread = threading.Thread(target=reader)
        thread.start()
        items = [1]
        items.append(2)
        box["items"] = items
        ready.set()
        while items:
            items.pop()
        thread.join()

    result = treadle.check(run)
    assert result.verdict is Verdict.FAILED
    assert "pop from empty list" in result.findings[0].message
