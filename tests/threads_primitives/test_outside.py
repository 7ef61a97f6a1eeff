"""What was there before: real objects inside executions, and CPython's own back afterwards."""

from __future__ import annotations

import _queue
import _thread
import contextlib
import os
import queue
import socket
import sys
import threading
import time
import types
from concurrent.futures import Future, ThreadPoolExecutor
from os import _exit  # by name, on purpose
from time import monotonic, sleep  # by name, on purpose
from typing import Any

import pytest

import treadle
from tests.threads_primitives.running import AtRandom, execute, finish, outcomes, start
from treadle.core.errors import Unsupported
from treadle.threads.adopt import adopt
from treadle.threads.patches import patched
from treadle.threads.primitives import local, locks, queues
from treadle.threads.strands import current

LOCK = threading.Lock()
RLOCK = threading.RLock()
CONDITION = threading.Condition()
OVER_A_LOCK = threading.Condition(threading.Lock())
EVENT = threading.Event()
SEMAPHORE = threading.BoundedSemaphore(2)
BARRIER = threading.Barrier(2)
QUEUE: queue.Queue[int] = queue.Queue(2)
SIMPLE: queue.SimpleQueue[int] = queue.SimpleQueue()
FUTURE: Future[int] = Future()
POOL = ThreadPoolExecutor(2)
LOCAL = threading.local()


def snapshot() -> dict[str, Any]:
    """Everything that a patch could leave behind, by place and name."""
    places = [threading, _thread, queue, _queue, time, sys.modules["concurrent.futures"]]
    places += [sys.modules["concurrent.futures._base"], sys.modules["concurrent.futures.thread"], sys.modules[__name__]]
    seen = {f"{place.__name__}.{name}": id(value) for place in places for name, value in vars(place).items()}
    for cls in (
        threading.Thread,
        threading.Timer,
        threading.Condition,
        threading.Event,
        threading.Semaphore,
        threading.BoundedSemaphore,
        threading.Barrier,
        queue.Queue,
        Future,
        ThreadPoolExecutor,
    ):
        seen.update({f"{cls.__name__}.{name}": id(value) for name, value in vars(cls).items()})
    return seen


def test_everything_is_cpythons_own_again_afterwards() -> None:
    with patched():
        pass  # what stays in the classes for objects that are kept is put there once
    before = snapshot()
    with patched():
        assert threading.Lock is locks.Lock
        assert snapshot() != before
        with patched():
            pass
        assert threading.Lock is locks.Lock
    assert snapshot() == before
    with pytest.raises(ZeroDivisionError), patched():
        raise ZeroDivisionError
    assert snapshot() == before


def test_outside_an_execution_everything_is_real() -> None:
    def kinds() -> list[type]:
        makers: list[Any] = [threading.Lock, threading.RLock, queue.SimpleQueue, threading.local]
        return [type(make()) for make in makers]

    before = kinds()
    with patched():
        assert kinds() == before
        channel: queue.Queue[int] = queue.Queue(1)

        def produce() -> None:
            for number in range(3):
                channel.put(number)

        thread = threading.Thread(target=produce)
        thread.start()
        assert thread.ident not in (None, 1, 2)
        assert [channel.get(timeout=300) for _ in range(3)] == [0, 1, 2]
        thread.join()
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(abs, [-1, -2])) == [1, 2]
        began = time.monotonic()
        time.sleep(0.002)
        assert time.monotonic() > began
        condition = threading.Condition()
        with condition:
            assert not condition.wait(0.001)


def test_another_os_thread_lives_on_beside_an_execution() -> None:
    """A test runner's own threads use queues and events of CPython while executions run."""
    requests: queue.Queue[int | None] = queue.Queue()
    answers: list[tuple[Any, bool]] = []
    ready = threading.Event()

    def service() -> None:
        ready.set()
        while (number := requests.get()) is not None:
            lock = threading.Lock()
            answers.append((number, current() is not None and type(lock) is locks.Lock))

    thread = threading.Thread(target=service)
    thread.start()
    ready.wait()
    real_put, real_sleep = queue.Queue.put, time.sleep

    def main() -> None:
        for number in range(3):
            real_put(requests, number)
            real_sleep(0.001)
            threading.Event().set()

    execute(main)
    requests.put(None)
    thread.join()
    assert [number for number, _ in answers] == [0, 1, 2]
    assert not any(model for _, model in answers)


# ---------------------------------------------------------------------- objects made before


def test_a_real_lock_is_one_model_for_the_whole_execution() -> None:
    def main() -> int:
        total = 0

        def add() -> None:
            nonlocal total
            lock = adopt(LOCK)
            assert type(lock) is locks.Lock
            with lock:
                before = total
                with adopt(RLOCK), adopt(RLOCK):
                    pass
                total = before + 1

        finish(start(add, add))
        return total

    assert outcomes(main, 50) == {2}
    assert not LOCK.locked()


def test_a_real_lock_that_is_held_stays_held() -> None:
    def main() -> None:
        assert not adopt(LOCK).acquire(blocking=False)
        adopt(LOCK).release()
        assert adopt(LOCK).acquire(blocking=False)
        assert adopt(RLOCK).acquire(blocking=False)  # taken outside by what is now the main strand
        finish(start(lambda: seen.append(adopt(RLOCK).acquire(blocking=False))))

    seen: list[bool] = []
    with LOCK, RLOCK:
        execute(main)
        assert LOCK.locked()
    assert seen == [False]


def test_methods_taken_off_a_real_lock_are_adopted() -> None:
    acquire, release = LOCK.acquire, LOCK.release

    def main() -> None:
        adopt(acquire)()
        assert adopt(LOCK).locked()
        adopt(release)()
        assert not adopt(LOCK).locked()

    execute(main)


@pytest.mark.parametrize("condition", [CONDITION, OVER_A_LOCK])
def test_a_condition_made_before(condition: threading.Condition) -> None:
    def main() -> None:
        ready: list[int] = []

        def waiter() -> None:
            with condition:
                while not ready:
                    condition.wait()

        threads = start(waiter)
        with condition:
            ready.append(1)
            condition.notify_all()
        adopt(condition).acquire()
        condition.release()
        finish(threads)

    for seed in range(20):
        assert not execute(main, AtRandom(seed)).stop_reason
    with condition:
        assert not condition.wait(0.001)


def test_objects_made_before_are_as_they_were_after_each_execution() -> None:
    QUEUE.put(7)
    SIMPLE.put(8)
    LOCAL.value = "outside"

    def main() -> None:
        assert not EVENT.is_set()
        assert QUEUE.get() == 7
        QUEUE.task_done()
        QUEUE.put(1)
        QUEUE.put(2)
        assert QUEUE.full()
        simple = adopt(SIMPLE)
        assert simple.get() == 8
        simple.put(9)
        SEMAPHORE.acquire()
        FUTURE.set_result(5)
        assert adopt(LOCAL).value == "outside"
        adopt(LOCAL).value = "inside"
        threads = start(EVENT.set, BARRIER.wait)
        BARRIER.wait()
        EVENT.wait()
        finish(threads)
        BARRIER.abort()

    for seed in range(5):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
    assert not EVENT.is_set()
    assert QUEUE.get_nowait() == 7
    assert SIMPLE.get_nowait() == 8
    assert QUEUE.unfinished_tasks == 1
    QUEUE.task_done()
    assert not FUTURE.done()
    assert not BARRIER.broken
    assert LOCAL.value == "outside"
    assert repr(SEMAPHORE).endswith("value=2/2>")


def test_a_local_made_before_is_each_strands_own_where_it_is_adopted() -> None:
    class Mine(threading.local):
        __slots__ = ("kind",)

        def __init__(self, value: int, *, kind: Any) -> None:
            self.value = value
            self.kind = kind

    real = Mine(0, kind=Mine)

    def main() -> None:
        def work(number: int) -> None:
            assert adopt(real).value == 0
            adopt(real).value = number
            threading.Event().set()
            assert adopt(real).value == number

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        finish(threads)
        assert adopt(real).value == 0

    for seed in range(10):
        run = execute(main, AtRandom(seed))
        assert [strand.exception for strand in run.strands if strand.exception] == []


def test_a_pool_made_before_gets_workers_of_its_own_inside() -> None:
    POOL.submit(int).result()
    real_workers = set(POOL._threads)

    def main() -> None:
        assert [future.result() for future in [POOL.submit(pow, 2, n) for n in range(3)]] == [1, 2, 4]

    for seed in range(5):
        assert not execute(main, AtRandom(seed)).stop_reason
    assert POOL._threads == real_workers
    assert POOL.submit(pow, 2, 3).result() == 8
    POOL.shutdown()  # its thread would be seen by other tests


def test_functions_imported_by_name_are_replaced_in_their_modules() -> None:
    def main() -> None:
        before = monotonic()
        sleep(1000)
        assert round(monotonic() - before, 3) == 1000

    execute(main)


def test_functions_kept_elsewhere_are_replaced_where_rewritten_code_calls_them() -> None:
    kept = types.SimpleNamespace(lock=threading.Lock, rlock=threading.RLock, sleep=time.sleep, simple=queue.SimpleQueue)

    def main() -> None:
        assert type(adopt(kept.lock)()) is locks.Lock
        assert type(adopt(kept.rlock)()) is locks.RLock
        assert type(adopt(kept.simple)()) is queues.SimpleQueue
        adopt(kept.sleep)(1000)

    execute(main)
    assert adopt(kept.lock) is kept.lock


def test_methods_taken_off_before_are_adopted() -> None:
    set_it, start = EVENT.set, threading.Thread(target=int).start

    def main() -> None:
        adopt(start)()
        adopt(set_it)()
        assert EVENT.is_set()

    assert len(execute(main).strands) == 2
    assert not EVENT.is_set()


def test_starting_a_process_is_told_to_be_unsupported() -> None:
    import multiprocessing.pool

    def starts_a_process() -> None:
        multiprocessing.Process(target=int).start()

    for call in (lambda: os.fork(), starts_a_process, lambda: multiprocessing.pool.Pool(1)):
        with pytest.raises(Unsupported, match="Treadle runs the threads of one process"):
            execute(call)
    with multiprocessing.pool.ThreadPool(1) as pool:  # outside it is CPython's own
        assert pool.map(abs, [-1]) == [1]


def test_ending_the_process_is_told_to_be_unsupported() -> None:
    """Otherwise the search would end in silence, with the exit code of the program: os._exit(0) would be a pass."""
    for call in (lambda: os._exit(0), lambda: os.abort(), lambda: os.execl(sys.executable, sys.executable, "-c", "")):
        with pytest.raises(Unsupported, match="ends the whole process and the search with it"):
            execute(call)
    with pytest.raises(Unsupported, match=r"the program calls os\._exit\(\)"):
        execute(lambda: _exit(0))


def test_a_look_without_waiting_takes_time() -> None:
    """`Connection.poll` looks until its deadline is behind it, by a clock that stands still while strands run."""
    import multiprocessing

    def poll() -> None:
        reader, writer = multiprocessing.Pipe(duplex=False)
        with reader, writer:
            found.append(reader.poll())
            writer.send(1)
            found.append(reader.poll())

    found: list[Any] = []
    execute(poll)
    assert found == [False, True]


def test_adopting_anything_else_gives_it_back() -> None:
    def main() -> None:
        for thing in (1, "text", None, [], {}, object(), len, sorted, print, int, threading, threading.Event(), main):
            assert adopt(thing) is thing

    execute(main)


def test_subclasses_made_of_the_models_work_outside_too() -> None:
    made: list[Any] = []

    def main() -> None:
        class Mine(threading.local):
            value = 3

        assert issubclass(Mine, local.Local)
        made.append(Mine)

    execute(main)
    thing = made[0]()
    thing.value = 4
    assert thing.value == 4


def test_queues_and_futures_made_inside_may_be_used_afterwards() -> None:
    kept: list[Any] = []

    def main() -> None:
        channel: queue.Queue[int] = queue.Queue()
        channel.put(1)
        future: Future[int] = Future()
        future.set_result(3)
        condition = threading.Condition()
        kept.extend((channel, future, condition, threading.Semaphore(1), {future: "found"}))

    execute(main)
    channel, future, condition, semaphore, by_future = kept
    channel.put(2)
    assert [channel.get_nowait(), channel.get_nowait()] == [1, 2]
    assert channel.empty()
    assert future.result() == 3
    assert by_future[future] == "found"
    with condition:
        condition.notify_all()
    with semaphore:
        assert not semaphore.acquire(blocking=False)


def test_an_import_inside_an_execution_is_one_step() -> None:
    sys.modules.pop("colorsys", None)

    def main() -> None:
        import colorsys

        assert colorsys

    assert len(execute(main).trace) == len(execute(main).trace)


def test_a_file_of_a_socket_that_another_thread_reads_is_closed_when_that_is_done() -> None:
    """CPython's has a lock of OS threads, and the strands are all in one."""

    def test() -> None:
        one, other = socket.socketpair()
        with one, other, one.makefile("rb") as file:

            def read() -> None:
                with contextlib.suppress(ValueError):  # closed before
                    assert file.read() == b""

            reader = threading.Thread(target=read)
            reader.start()
            one.shutdown(socket.SHUT_RD)
            file.close()
            reader.join()

    result = treadle.check(test, executions=30)
    assert (result.verdict.is_pass, result.findings) == (True, [])
    assert result.executions > 1
