"""Whether an object is alive, asked through a weak reference: who may end its life is found out."""

from __future__ import annotations

import gc
import io
import threading
import weakref
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import execute
from treadle.threads import lives
from treadle.threads.strands import current


class Node:
    value = 0


def together(*functions: Callable[[], Any]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def dropped_from_a_list(seen: list[bool], make: Callable[[Any], Any]) -> None:
    box, other = [Node()], [0]
    asks = make(box[0])

    def drop() -> None:
        other[0] += 1
        box.clear()
        other[0] += 1

    together(drop, lambda: seen.append(asks()))


def dropped_by_the_second(seen: list[bool], make: Callable[[Any], Any]) -> None:
    """Two have it: it dies where the last of them lets it go."""
    one, two = [Node()], list[Any]()
    two.append(one[0])
    asks = make(one[0])
    together(one.pop, two.clear, lambda: seen.append(asks()))


def dropped_when_asked_first(seen: list[bool], make: Callable[[Any], Any]) -> None:
    box = [Node()]
    asks = make(box[0])

    def ask_and_drop() -> None:
        seen.append(asks())
        box.clear()

    together(ask_and_drop, lambda: seen.append(asks()))


def by_a_reference(obj: Any) -> Callable[[], bool]:
    reference = weakref.ref(obj)
    return lambda: reference() is not None


def by_a_proxy(obj: Any) -> Callable[[], bool]:
    proxy = weakref.proxy(obj)

    def asks() -> bool:
        try:
            return bool(proxy.value == 0)
        except ReferenceError:
            return False

    return asks


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("make", [by_a_reference, by_a_proxy])
@pytest.mark.parametrize("program", [dropped_from_a_list, dropped_by_the_second, dropped_when_asked_first])
def test_both_answers_are_found(program: Callable[..., None], make: Callable[[Any], Any], alive: bool) -> None:
    def test() -> None:
        seen: list[bool] = []
        program(seen, make)
        assert (not alive) in seen if alive else True not in seen[-1:]

    assert treadle.check(test).verdict is treadle.Verdict.FAILED


def test_what_nobody_lets_go_costs_nothing() -> None:
    def test() -> None:
        node, counted = Node(), [0, 0]
        reference = weakref.ref(node)

        def count(which: int) -> None:
            for _ in range(5):
                assert reference() is node
                counted[which] += 1

        together(lambda: count(0), lambda: count(1))

    result = treadle.check(test)
    assert (result.verdict, result.executions) == (treadle.Verdict.NOTHING_TO_EXPLORE, 1)


def test_a_life_that_ends_after_a_lock_was_released_is_no_proof() -> None:
    def test() -> None:
        box, lock = [Node()], threading.Lock()
        reference = weakref.ref(box[0])

        def drop() -> None:
            with lock:
                mine = box.pop()
            with lock:
                pass
            del mine

        thread = threading.Thread(target=drop)
        thread.start()
        alive = reference() is not None
        thread.join()
        assert alive

    assert treadle.check(test).verdict is not treadle.Verdict.PASSED_EXHAUSTIVE


@pytest.mark.parametrize(("watched", "named"), [(True, False), (False, True)])
def test_a_life_that_ended_unwatched_is_told(watched: bool, named: bool) -> None:
    def main() -> None:
        strand, node = current(), Node()
        assert strand is not None
        reference = weakref.ref(node)
        if watched:
            lives.watch(strand, node, reference)
        del node
        lives.found_dead(strand, reference)

    run = execute(main)
    assert lives.EVERY in run.rebound
    assert bool(run.assumed) is named


def test_nothing_of_an_execution_dies_in_the_next_one() -> None:
    def test() -> None:
        archive = zipfile.ZipFile(io.BytesIO(), "w")  # takes its lock when it dies
        seen = []

        def write() -> None:
            for name in "ab":
                archive.writestr(name, b"")

        def look() -> None:
            for _ in "ab":
                seen.append(len(archive.namelist()))

        treadle.parallel(write, look)
        assert seen != [1, 2]

    assert treadle.check(test, builds=False).verdict is treadle.Verdict.FAILED


def test_a_program_that_collects_looks_at_what_it_made_and_not_at_all_that_was_there() -> None:
    """Else every execution of a test of leaks takes as long as a walk through all that was imported."""
    numbers: list[int] = []

    def collects() -> None:
        node = Node()
        node.me = node  # type: ignore[attr-defined]
        dies = weakref.ref(node)
        del node
        gc.collect()
        assert dies() is None
        numbers.append(gc.get_freeze_count())

    frozen, seen = gc.get_freeze_count(), len(gc.get_objects())
    assert not treadle.check(lambda: together(collects, collects), executions=50).findings
    assert max(numbers) > seen / 2
    assert gc.get_freeze_count() <= frozen

    def test() -> None:  # a function that nobody had asked for is found afterwards, although it is no longer young
        together(collects, lambda: None)

    assert not treadle.check(test, executions=5).findings
