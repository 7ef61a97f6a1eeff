"""A loop that only reads waits until somebody changes what it reads."""

from __future__ import annotations

import threading
from functools import partial

import treadle
from tests.threads_primitives.running import First, execute
from treadle.core.operation import READ, SPIN, WAIT, WRITE
from treadle.threads.spin import SAME_READS, Change, operations_since, spin, spin_start
from treadle.threads.strands import Strand, current


def strand() -> Strand:
    running = current()
    assert running is not None
    return running


def write(key: str) -> None:
    strand().access(WRITE, "flags", key)


def test_only_a_change_by_another_strand_of_what_was_read_wakes() -> None:
    ready: list[bool] = []

    def main() -> None:
        me = strand()
        me.access(READ, "flags", "stop")
        change = Change(me, operations_since(me, 0))
        me.access(WRITE, "flags", "stop")  # its own
        ready.append(change.ready(0, me))
        for key in ("other", "stop"):
            other = me.execution.spawn(None, partial(write, key))
            me.point(WAIT, other)
            ready.append(change.ready(0, me))

    execute(main)
    assert ready == [False, False, True]


def test_a_marked_loop_goes_round_once_per_change() -> None:
    flags = {"stop": False}
    rounds = [0]

    def stop() -> None:
        for value in (False, True):
            strand().access(WRITE, "flags", "stop")
            flags["stop"] = value

    def main() -> None:
        me = strand()
        other = me.execution.spawn(None, stop)
        spin_start()
        while True:
            me.access(READ, "flags", "stop")
            if flags["stop"]:
                break
            rounds[0] += 1
            spin()
        me.point(WAIT, other)

    run = execute(main, First())
    assert rounds == [2]
    assert [op[0] for index, op in run.trace if index == 0].count(SPIN) == 2


def test_a_loop_that_nobody_marked_is_noticed_after_so_many_reads() -> None:
    flags = {"stop": False}

    def stop() -> None:
        strand().access(WRITE, "flags", "stop")
        flags["stop"] = True

    def main() -> None:
        me = strand()
        other = me.execution.spawn(None, stop)
        while not flags["stop"]:
            me.access(READ, "flags", "stop")
        me.point(WAIT, other)

    run = execute(main, First())
    assert run.looping
    assert [op[0] for index, op in run.trace if index == 0].count(READ) == SAME_READS + 1


def test_a_loop_of_many_reads_is_over_before_a_time_limit_strikes() -> None:
    seen: set[int] = set()

    def test() -> None:
        def look() -> None:
            for _number in range(1_000):
                assert len(seen) <= 2
                assert 7 not in seen, "a second read of each iteration"

        thread = threading.Thread(target=look)
        other = threading.Thread(target=seen.add, args=(1,))
        thread.start()
        other.start()
        thread.join(timeout=60)
        assert not thread.is_alive()
        other.join()

    assert not treadle.check(test, executions=20).failed


class Element:
    value = 3


class Kind(Element):
    pass


def test_who_goes_through_objects_that_all_read_alike_waits_for_nobody() -> None:
    def test() -> None:
        elements = [Kind() for _ in range(1_000)]
        done, waited = threading.Event(), list[bool]()

        def look() -> None:
            for element in elements:
                if element.value < 0:
                    return
            done.set()

        threads = [
            threading.Thread(target=lambda: waited.append(done.wait(timeout=60))),
            threading.Thread(target=look),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert waited == [True]

    assert not treadle.check(test, executions=20).failed
