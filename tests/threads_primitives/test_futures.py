"""Futures and thread pools inside executions."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, Future, ThreadPoolExecutor, as_completed
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, execute, inside, outcomes
from treadle.threads.primitives import futures as models
from treadle.threads.strands import Strand, current


def fail() -> None:
    raise ZeroDivisionError("fail")


def under_many_schedules(main: Any, count: int = 30) -> None:
    for seed in range(count):
        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
        assert [strand.exception for strand in run.strands if strand.exception] == []


def test_results_and_exceptions() -> None:
    def main() -> None:
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(pow, 2, number) for number in range(4)]
            assert [future.result() for future in futures] == [1, 2, 4, 8]
            failed = pool.submit(fail)
            with pytest.raises(ZeroDivisionError):
                failed.result()
            assert isinstance(failed.exception(), ZeroDivisionError)
            assert failed.done()
            assert not failed.running()
            assert not failed.cancelled()
            assert list(pool.map(str, range(3))) == ["0", "1", "2"]
        with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
            pool.submit(int)

    under_many_schedules(main)


class Falsy(Exception):
    def __bool__(self) -> bool:
        return False


def test_an_exception_that_is_false_is_raised_where_cpython_raises_it() -> None:
    def told() -> object:
        future: Future[int] = Future()
        future.set_exception(Falsy())
        try:
            return future.result()
        except Falsy:
            return Falsy

    seen = []
    assert not execute(lambda: seen.append(told()), AtRandom(0)).stop_reason
    assert seen == [told()]


def test_workers_are_named_and_started_as_cpython_does() -> None:
    def main() -> None:
        gate = threading.Barrier(3)

        def work() -> str:
            gate.wait()
            return threading.current_thread().name

        with ThreadPoolExecutor(3) as pool, ThreadPoolExecutor(1, thread_name_prefix="mine") as other:
            names = [pool.submit(work) for _ in range(3)]
            assert sorted(future.result() for future in names) == [f"ThreadPoolExecutor-0_{n}" for n in range(3)]
            assert other.submit(lambda: threading.current_thread().name).result() == "mine_0"

    under_many_schedules(main)


def test_an_idle_worker_is_used_again() -> None:
    def main() -> int:
        with ThreadPoolExecutor(5) as pool:
            for _ in range(3):
                pool.submit(int).result()
            return len(pool._threads)

    assert outcomes(main) == {1, 2, 3}  # a worker is idle a little later than its result is there


def test_a_result_may_not_come_in_time() -> None:
    def main() -> None:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(time.sleep, 10)
            with pytest.raises(TimeoutError):
                future.result(timeout=5)
            with pytest.raises(TimeoutError):
                future.exception(timeout=0)
            assert future.result(timeout=6) is None

    under_many_schedules(main, 10)


def test_cancelling_races_with_starting() -> None:
    def main() -> str:
        with ThreadPoolExecutor(1) as pool:
            ran: list[int] = []
            future = pool.submit(ran.append, 1)
            cancelled = future.cancel()
            if cancelled:
                with pytest.raises(concurrent.futures.CancelledError):
                    future.result()
            else:
                future.result()
        assert bool(ran) is not cancelled
        return "cancelled" if cancelled else "ran"

    assert outcomes(main) == {"cancelled", "ran"}


def test_shutdown_may_cancel_what_has_not_started() -> None:
    def main() -> None:
        pool = ThreadPoolExecutor(1)
        running, waiting = pool.submit(time.sleep, 1), pool.submit(int)
        time.sleep(0.5)
        pool.shutdown(wait=True, cancel_futures=True)
        assert running.done()
        assert waiting.cancelled()

    under_many_schedules(main, 10)


def test_callbacks_are_called_in_order_once() -> None:
    def main() -> None:
        called: list[int] = []
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(int)
            future.add_done_callback(lambda f: called.append(1))
            future.add_done_callback(lambda f: fail())
            future.add_done_callback(lambda f: called.append(f.result() + 2))
        assert called == [1, 2]

    under_many_schedules(main)


def test_a_future_of_the_programs_own() -> None:
    def main() -> None:
        future: Future[int] = Future()
        thread = threading.Thread(target=future.set_result, args=(42,))
        thread.start()
        assert future.result() == 42
        thread.join()
        with pytest.raises(concurrent.futures.InvalidStateError, match=r"FINISHED: <Future at 0x.* returned int>"):
            future.set_result(1)
        assert not future.cancel()
        started: Future[int] = Future()
        assert started.set_running_or_notify_cancel()
        with pytest.raises(RuntimeError, match="Future in unexpected state"):
            started.set_running_or_notify_cancel()

    under_many_schedules(main, 10)


def test_as_completed_gives_them_in_the_order_of_time() -> None:
    def main() -> None:
        with ThreadPoolExecutor(3) as pool:
            futures = {pool.submit(time.sleep, seconds): seconds for seconds in (3, 1, 2)}
            assert [futures[future] for future in as_completed(futures)] == [1, 2, 3]
            late = pool.submit(time.sleep, 10)
            with pytest.raises(TimeoutError, match=r"1 \(of 1\) futures unfinished"):
                list(as_completed([late], timeout=5))

    under_many_schedules(main, 10)


def test_as_completed_in_any_order_that_can_happen() -> None:
    def main() -> tuple[int, ...]:
        with ThreadPoolExecutor(2) as pool:
            futures = {pool.submit(int): number for number in range(2)}
            return tuple(futures[future] for future in as_completed(futures))

    assert outcomes(main) == {(0, 1), (1, 0)}


def test_wait_returns_when_it_is_told_to() -> None:
    def main() -> None:
        with ThreadPoolExecutor(3) as pool:
            slow, quick = pool.submit(time.sleep, 10), pool.submit(time.sleep, 1)
            done, rest = concurrent.futures.wait([slow, quick], return_when=FIRST_COMPLETED)
            assert (done, rest) == ({quick}, {slow})
            failing = pool.submit(fail)
            done, rest = concurrent.futures.wait([slow, failing], return_when=FIRST_EXCEPTION)
            assert (done, rest) == ({failing}, {slow})
            done, rest = concurrent.futures.wait([slow], timeout=1)
            assert (done, rest) == (set(), {slow})
            done, rest = concurrent.futures.wait([slow, quick, failing])
            assert not rest
            assert concurrent.futures.wait([]) == (set(), set())
            with pytest.raises(ValueError, match="Invalid return condition"):
                concurrent.futures.wait([slow], return_when="NEVER")

    under_many_schedules(main, 10)


def test_sets_of_futures_are_looped_over_in_the_same_order_in_every_execution() -> None:
    orders: set[tuple[int, ...]] = set()

    def main() -> None:
        futures: list[Future[int]] = [Future() for _ in range(6)]
        for future in futures:
            future.set_result(0)
        done, _ = concurrent.futures.wait(futures)
        orders.add(tuple(futures.index(future) for future in done))

    keep = []
    for _ in range(10):
        execute(main)
        keep.append([object() for _ in range(7)])  # so that addresses change
    assert len(orders) == 1


def test_a_pool_that_waits_for_itself_is_stuck() -> None:
    def main() -> int:
        pool = ThreadPoolExecutor(1)
        return pool.submit(lambda: pool.submit(int).result()).result()

    assert outcomes(main, 10) == {"stuck"}


def test_pools_inside_threads_inside_pools() -> None:
    def main() -> None:
        totals: list[int] = []

        def inner(number: int) -> int:
            with ThreadPoolExecutor(2) as pool:
                return sum(pool.map(lambda n: n * number, range(3)))

        def in_thread() -> None:
            with ThreadPoolExecutor(2) as pool:
                totals.append(sum(pool.map(inner, range(3))))

        threads = [threading.Thread(target=in_thread) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert totals == [9, 9]

    under_many_schedules(main, 10)


def test_what_was_submitted_is_done_although_nobody_waits() -> None:
    for seed in range(30):
        done: list[int] = []

        def main(done: list[int] = done) -> None:
            pool = ThreadPoolExecutor(2)
            for number in range(4):
                pool.submit(done.append, number)

        run = execute(main, AtRandom(seed))
        assert not run.stop_reason
        assert sorted(done) == [0, 1, 2, 3]


def test_a_failing_initializer_breaks_the_pool() -> None:
    def main() -> None:
        pool = ThreadPoolExecutor(1, initializer=fail)
        future = pool.submit(int)
        with pytest.raises(concurrent.futures.thread.BrokenThreadPool, match="initializer failed"):
            future.result()
        with pytest.raises(concurrent.futures.thread.BrokenThreadPool):
            pool.submit(int)

    under_many_schedules(main, 10)


def test_an_initializer_runs_in_every_worker() -> None:
    def main() -> None:
        local = threading.local()

        def prepare(value: int) -> None:
            local.value = value

        with ThreadPoolExecutor(2, initializer=prepare, initargs=(7,)) as pool:
            assert [future.result() for future in [pool.submit(lambda: local.value) for _ in range(3)]] == [7, 7, 7]

    under_many_schedules(main, 10)


@pytest.mark.parametrize("workers", [0, -1])
def test_a_pool_needs_workers(workers: int) -> None:
    def main() -> None:
        with pytest.raises(ValueError, match="max_workers must be greater than 0"):
            ThreadPoolExecutor(workers)
        with pytest.raises(TypeError, match="initializer must be a callable"):
            ThreadPoolExecutor(1, initializer=3)  # type: ignore[call-overload]

    execute(main)


class Settable(Future[int]):
    """Takes the lock of its own condition around operations that take it again, as CPython's RLock lets it."""

    def try_set(self, value: int) -> bool:
        with self._condition:
            if self.done():
                return False
            self.set_result(value)
            return True


def test_the_condition_of_a_future_is_taken_again_by_its_owner() -> None:
    def main() -> None:
        future = Settable()
        with ThreadPoolExecutor(2) as pool:
            won = [pool.submit(future.try_set, number) for number in (1, 2)]
            assert sorted(one.result() for one in won) == [False, True]
        assert future.result() in (1, 2)

    under_many_schedules(main)


def test_a_result_that_nobody_will_set_is_no_longer_waited_for_when_its_time_is_over() -> None:
    def main() -> tuple[bool, str]:
        future: Future[int] = Future()
        try:
            models.result_or_cancel(future, 3)
        except TimeoutError:
            pass
        return future.cancelled(), models.guard_of(future, _strand()).describe()

    assert inside(main) == (True, "cancelled")


def _strand() -> Strand:
    strand = current()
    assert strand is not None
    return strand
