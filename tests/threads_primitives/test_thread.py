"""Threads inside executions: starting, joining, names, exceptions, timers, locals, and what threading tells of them."""

from __future__ import annotations

import _thread
import contextvars
import gc
import sys
import threading
import time
import weakref
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, ByTurns, First, announced, execute, outcomes
from treadle.core.operation import LOOK, READ, WAIT, parts
from treadle.threads.primitives import thread as models


class Early(threading.Thread):
    """A subclass that was defined before anything was patched."""

    def __init__(self, number: int) -> None:
        super().__init__(name=f"early-{number}", daemon=True)
        self.number = number
        self.result: int | None = None

    def run(self) -> None:
        self.result = self.number * 2


MADE_OUTSIDE = threading.Lock()  # only to have something real beside


def test_subclasses_defined_before_work() -> None:
    def main() -> None:
        threads = [Early(number) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [thread.result for thread in threads] == [0, 2, 4]
        assert threads[0].name == "early-0"
        assert threads[0].daemon

    execute(main)


def test_a_thread_made_outside_may_be_started_inside() -> None:
    thread = Early(4)

    def main() -> None:
        thread.start()
        thread.join()

    kept = {thread}
    for _ in range(2):  # in each execution anew
        thread.result = None
        run = execute(main)
        assert thread.result == 8
        assert len(run.strands) == 2
    assert thread in kept
    assert not thread.is_alive()
    target = threading.Thread(target=list.append, args=([], 1))
    for _ in range(2):
        execute(lambda: target.start())
    target.start()
    target.join()


def test_sets_of_threads_are_looped_over_in_the_same_order_in_every_execution() -> None:
    orders: set[tuple[str, ...]] = set()
    keep = []
    for _ in range(10):
        execute(lambda: orders.add(tuple(thread.name for thread in {threading.Thread() for _ in range(6)})))
        keep.append([object() for _ in range(7)])  # so that addresses change
    assert len(orders) == 1


def test_names_and_identifiers_count_from_one_in_each_execution() -> None:
    def main() -> None:
        def work() -> None:
            pass

        threads = [threading.Thread(target=work), threading.Thread(), threading.Thread(target=work, name="mine")]
        for thread in threads:
            assert thread.ident is None
            thread.start()
        told.append([(thread.name, thread.ident, thread.native_id) for thread in threads])
        for thread in threads:
            thread.join()

    told: list[Any] = []
    execute(main)
    execute(main)
    assert told[0] == told[1] == [("Thread-1 (work)", 2, 2), ("Thread-2", 3, 3), ("mine", 4, 4)]


def test_threading_tells_of_strands() -> None:
    def main() -> None:
        assert threading.current_thread() is threading.main_thread()
        assert threading.get_ident() == threading.main_thread().ident == threading.get_native_id()
        gate = threading.Event()
        inside: list[Any] = []

        def work() -> None:
            inside.append((threading.current_thread(), threading.get_ident()))
            gate.wait()

        thread = threading.Thread(target=work)
        assert not thread.is_alive()
        assert threading.enumerate() == [threading.main_thread()]
        thread.start()
        assert thread.is_alive()
        assert threading.enumerate() == [threading.main_thread(), thread]
        assert threading.active_count() == 2
        gate.set()
        thread.join()
        assert not thread.is_alive()
        assert threading.active_count() == 1
        assert inside == [(thread, thread.ident)]
        assert repr(thread) == "<Thread(Thread-1 (work), stopped 2)>"
        assert repr(threading.main_thread()) == "<_MainThread(MainThread, started 1)>"

    for seed in range(20):
        execute(main, AtRandom(seed))


def test_wrong_use_is_told_as_cpython_tells_it() -> None:
    def messages() -> list[str]:
        said = []

        class Forgetful(threading.Thread):
            def __init__(self) -> None:
                pass

        done = threading.Thread(target=int)
        done.start()
        for call in (
            threading.Thread().join,
            done.start,
            threading.current_thread().join,
            Forgetful().start,
            Forgetful().join,
            lambda: setattr(done, "daemon", True),
        ):
            with pytest.raises(RuntimeError) as error:
                call()
            said.append(str(error.value))
        done.join()
        done.join()
        return said

    inside: list[str] = []
    execute(lambda: inside.extend(messages()))
    assert inside == messages()


def test_join_with_a_timeout_takes_virtual_time() -> None:
    def main() -> None:
        gate = threading.Event()
        thread = threading.Thread(target=gate.wait)
        thread.start()
        before = time.monotonic()
        thread.join(3600)
        assert round(time.monotonic() - before, 3) == 3600  # a wait ends a little late
        assert thread.is_alive()
        thread.join(0)
        thread.join(-1)
        gate.set()
        thread.join(10)
        assert not thread.is_alive()
        assert round(time.monotonic() - before, 3) == 3600

    execute(main)


def test_exceptions_stay_on_the_strand_and_go_to_the_hook_of_the_program(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Any] = []

    def fail() -> None:
        raise ValueError("no")

    def main() -> None:
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()
        silent = threading.Thread(target=sys.exit)
        silent.start()
        silent.join()

    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)
    run = execute(main)
    assert [repr(strand.exception) for strand in run.strands] == ["None", "ValueError('no')", "None"]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(threading, "excepthook", seen.append)
    execute(main)
    assert [(args.exc_type, args.thread.name) for args in seen] == [(ValueError, "Thread-1 (fail)")]


def test_threads_started_inside_threads() -> None:
    def main() -> int:
        lock = threading.Lock()
        leaves = 0

        def grow(depth: int) -> None:
            nonlocal leaves
            if not depth:
                with lock:
                    leaves += 1
                return
            children = [threading.Thread(target=grow, args=(depth - 1,)) for _ in range(2)]
            for child in children:
                child.start()
            for child in children:
                child.join()

        grow(3)
        return leaves

    assert outcomes(main, 20) == {8}


def test_daemons_are_inherited_and_ended_in_silence() -> None:
    ended: list[str] = []

    def main() -> None:
        begun = threading.Event()

        def forever() -> None:
            begun.set()
            try:
                assert threading.current_thread().daemon
                assert threading.Thread().daemon
                threading.Event().wait()
            finally:
                ended.append("ended")

        threading.Thread(target=forever, daemon=True).start()
        begun.wait()

    run = execute(main)
    assert run.stop_reason == ""
    assert ended == ["ended"]
    assert run.strands[1].exception is None


def test_other_threads_go_on_when_main_has_returned() -> None:
    done: list[int] = []

    def main() -> None:
        def slow() -> None:
            time.sleep(100)
            done.append(1)

        threading.Thread(target=slow).start()

    execute(main)
    assert done == [1]


def test_a_timer_fires_when_its_time_has_come() -> None:
    def main() -> None:
        fired: list[float] = []
        start = time.monotonic()

        def fire() -> None:
            fired.append(round(time.monotonic() - start, 3))  # a wait ends a little late

        timers = [threading.Timer(delay, fire) for delay in (30, 10, 20)]
        for timer in timers:
            timer.start()
        timers[2].cancel()
        for timer in timers:
            timer.join()
        assert fired == [10, 30]

    for seed in range(20):
        execute(main, AtRandom(seed))


def test_a_timer_that_fires_at_any_time_may_be_cancelled_or_not() -> None:
    def main() -> int:
        fired: list[int] = []
        timer = threading.Timer(1, fired.append, (1,))
        timer.start()
        timer.cancel()
        timer.join()
        return len(fired)

    def once(seed: int, any_timeout: bool) -> int:
        result: list[int] = []
        execute(lambda: result.append(main()), AtRandom(seed), any_timeout)
        return result[0]

    assert {once(seed, True) for seed in range(50)} == {0, 1}
    assert {once(seed, False) for seed in range(50)} == {0}


def test_context_variables_start_empty_in_a_new_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="default")

    def main() -> None:
        variable.set("main")
        seen: list[str] = []

        def work() -> None:
            seen.append(variable.get())
            variable.set("work")

        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert seen == (["default", "default"])
        assert variable.get() == "main"

    execute(main)
    assert variable.get() == "default"


def test_raw_threads() -> None:
    def main() -> None:
        lock = _thread.allocate_lock()
        lock.acquire()
        told: list[Any] = []

        def work(number: int, *, name: str) -> None:
            told.append((number, name, threading.current_thread().name, _thread.get_ident()))
            lock.release()

        ident = _thread.start_new_thread(work, (1,), {"name": "x"})
        lock.acquire()
        assert told == [(1, "x", "Dummy-1", ident)]
        with pytest.raises(TypeError, match="first arg must be callable"):
            _thread.start_new_thread(1, ())  # type: ignore[call-overload]
        with pytest.raises(TypeError, match="2nd arg must be a tuple"):
            _thread.start_new_thread(work, 1)  # type: ignore[call-overload]

    execute(main)


class Box:
    """Something that can be watched."""


def test_a_thread_that_has_ended_is_collected() -> None:
    def main() -> None:
        box = Box()
        reference = weakref.ref(box)
        thread = threading.Thread(target=lambda box: None, args=(box,))
        thread_reference = weakref.ref(thread)
        thread.start()
        thread.join()
        del box, thread
        gc.collect()
        assert reference() is None
        assert thread_reference() is None

    execute(main)


# ---------------------------------------------------------------------- threading.local


class Counting(threading.local):
    """Defined outside: a C type, with an __init__ that CPython calls once in every thread."""

    calls = 0

    def __init__(self, start: int = 10) -> None:
        type(self).calls += 1
        self.value = start


def test_each_strand_has_its_own_attributes() -> None:
    def main() -> None:
        local = threading.local()
        local.value = "main"
        seen: list[Any] = []

        def work(number: int) -> None:
            assert not hasattr(local, "value")
            local.value = number
            time.sleep(1)
            seen.append(local.value)
            assert vars(local) == {"value": number}
            del local.value
            with pytest.raises(AttributeError):
                local.value  # noqa: B018

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(seen) == [0, 1, 2]
        assert local.value == "main"

    for picker in (ByTurns(), First(), AtRandom(1)):
        run = execute(main, picker)
        assert [strand.exception for strand in run.strands if strand.exception] == []


def test_a_subclass_of_local_is_initialised_in_every_strand() -> None:
    def main() -> None:
        class Mine(threading.local):
            shared: list[int] = []

            def __init__(self, start: int) -> None:
                self.value = start

            def twice(self) -> int:
                return self.value * 2

        local = Mine(21)
        seen: list[int] = []

        def work() -> None:
            seen.append(local.twice())
            local.value = 0

        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert seen == [42, 42]
        assert local.value == 21

    execute(main)


def test_attributes_die_with_their_thread() -> None:
    def main() -> None:
        local = threading.local()
        references: list[Any] = []

        def work() -> None:
            local.box = Box()
            references.append(weakref.ref(local.box))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert references[0]() is None

    execute(main)


def test_local_refuses_what_cpython_refuses() -> None:
    def main() -> None:
        with pytest.raises(TypeError, match="Initialization arguments are not supported"):
            threading.local(1)  # type: ignore[call-arg]
        local = threading.local()
        with pytest.raises(AttributeError, match="read-only"):
            local.__dict__ = {}

    execute(main)
    main()


@pytest.mark.skipif(sys.version_info < (3, 14), reason="a thread is given its context from 3.14 on")
def test_a_thread_runs_in_the_context_that_it_is_given() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
    seen = []

    def main() -> None:
        context = contextvars.copy_context()
        context.run(variable.set, 7)
        given: dict[str, Any] = {"context": context}
        thread = threading.Thread(target=lambda: seen.append(variable.get()), **given)
        thread.start()
        thread.join()

    assert not execute(main, AtRandom(0)).stop_reason
    assert seen == [7]


def test_an_argument_that_nobody_knows_is_refused_as_by_cpython() -> None:
    unknown: dict[str, Any] = {"colour": 1}

    def main() -> None:
        with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
            threading.Thread(**unknown)

    assert not execute(main, AtRandom(0)).stop_reason


def test_who_counts_threads_looks_at_each_of_them_and_at_who_starts_more() -> None:
    def main() -> None:
        started = threading.Thread(target=int)
        started.start()
        started.join()
        assert models.active_count() == 1

    *_, looks = announced(main)
    assert {(kind, name) for kind, name, _ in parts(looks) if kind == LOOK} == {(LOOK, "main"), (LOOK, "T1")}
    assert [kind for kind, _, _ in parts(looks)].count(READ) == 1


def test_a_join_without_time_is_a_look_and_no_wait() -> None:
    def main() -> None:
        started = threading.Thread(target=int)
        started.start()
        started.join(0)
        started.join()

    assert [op[0] for op in announced(main) if op[1] == "T1"] == [LOOK, WAIT]
