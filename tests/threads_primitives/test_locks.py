"""Lock, RLock, Condition, Event, Semaphore and Barrier: what CPython's own tests do not say."""

from __future__ import annotations

import _thread
import threading
from typing import Any

import pytest

from tests.threads_primitives.running import AtRandom, First, execute, outcomes
from treadle.core.operation import ACQUIRE, RELEASE, SIGNAL, TRY, WAIT
from treadle.threads.execution import Execution


def in_thread(function: Any, *args: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=args)
    thread.start()
    return thread


def kinds(run: Execution, name: str) -> list[int]:
    return [op[0] for _, op in run.trace if op[1] == name]


def test_one_point_per_lock_operation() -> None:
    def main() -> None:
        lock = threading.Lock()
        with lock:
            assert not lock.acquire(blocking=False)

    assert kinds(execute(main), "Lock#1") == [ACQUIRE, TRY, RELEASE]


def test_only_the_outermost_rlock_operations_are_points() -> None:
    def main() -> None:
        lock = threading.RLock()
        with lock, lock, lock:
            pass

    assert kinds(execute(main), "RLock#1") == [ACQUIRE, RELEASE]


def test_a_condition_wait_is_release_wait_acquire() -> None:
    def main() -> None:
        lock = threading.Lock()
        condition = threading.Condition(lock)

        def waiter() -> None:
            with condition:
                condition.wait()

        thread = in_thread(waiter)
        while not condition._waiters:  # type: ignore[attr-defined]
            with lock:
                pass
        with condition:
            condition.notify()
        thread.join()

    run = execute(main)
    waiter = [op[:2] for index, op in run.trace if index == 1 and op[1] in ("Lock#1", "Condition#1")]
    assert waiter == [
        (ACQUIRE, "Lock#1"),
        (RELEASE, "Lock#1"),
        (WAIT, "Condition#1"),
        (ACQUIRE, "Lock#1"),
        (RELEASE, "Lock#1"),
    ]
    assert kinds(run, "Condition#1").count(SIGNAL) == 1


@pytest.mark.parametrize("make", [lambda: threading.Lock(), lambda: threading.RLock()])
def test_two_locks_in_opposite_order_get_stuck_on_some_schedule(make: Any) -> None:
    def main() -> str:
        first, second = make(), make()

        def other() -> None:
            with first, second:
                pass

        thread = in_thread(other)
        with second, first:
            pass
        thread.join()
        return "done"

    assert outcomes(main) == {"done", "stuck"}


def test_a_stuck_strand_says_who_holds_the_lock() -> None:
    def main() -> None:
        lock = threading.Lock()
        lock.acquire()
        in_thread(lock.acquire).join()

    run = execute(main)
    assert run.stop_reason == "stuck"
    lock: Any = next(strand.guard for strand in run.strands if strand.index == 1)
    assert lock.describe() == "held by main"
    assert lock.owner is run.strands[0]


def test_the_messages_are_those_of_cpython() -> None:
    def messages() -> list[str]:
        said = []
        for lock, broken in ((threading.Lock(), "release"), (threading.RLock(), "release")):
            with pytest.raises(RuntimeError) as error:
                getattr(lock, broken)()
            said.append(str(error.value))
        for arguments in ((False, 1), (True, -2)):
            with pytest.raises(ValueError, match="timeout") as wrong:
                threading.Lock().acquire(*arguments)
            said.append(str(wrong.value))
        condition = threading.Condition()
        for method in (condition.wait, condition.notify, condition.notify_all):
            with pytest.raises(RuntimeError) as error:
                method()
            said.append(str(error.value))
        bounded = threading.BoundedSemaphore(1)
        with pytest.raises(ValueError, match="too many") as wrong:
            bounded.release()
        said.append(str(wrong.value))
        for call in (lambda: threading.Semaphore(-1), lambda: bounded.release(0), lambda: bounded.acquire(False, 1)):
            with pytest.raises(ValueError, match=r".") as wrong:
                call()
            said.append(str(wrong.value))
        return said

    inside: list[str] = []
    execute(lambda: inside.extend(messages()))
    assert inside == messages()


def test_a_model_passes_for_the_real_type() -> None:
    lock_type, rlock_type = type(threading.Lock()), type(threading.RLock())

    def main() -> None:
        assert isinstance(threading.Lock(), lock_type)
        assert isinstance(threading.RLock(), rlock_type)
        assert isinstance(_thread.allocate_lock(), lock_type)
        assert repr(threading.Lock()).startswith("<unlocked _thread.lock object at 0x")

    execute(main)


def test_a_lock_that_outlives_its_execution_still_works() -> None:
    kept: list[Any] = []
    execute(lambda: kept.extend((threading.Lock(), threading.RLock(), threading.Event())))
    lock, rlock, event = kept
    with lock:
        assert lock.locked()
        assert not lock.acquire(blocking=False)
        with pytest.raises(RuntimeError, match="no thread is left"):
            lock.acquire()
    with rlock, rlock:
        pass
    with pytest.raises(RuntimeError, match="no thread is left"):
        event.wait()
    event.set()
    assert event.wait()
    event.clear()
    assert not event.is_set()


def test_a_missed_notify_is_found() -> None:
    def main() -> str:
        condition = threading.Condition()

        def waiter() -> None:
            with condition:
                condition.wait()

        thread = in_thread(waiter)
        with condition:
            condition.notify()
        thread.join()
        return "woken"

    assert outcomes(main) == {"woken", "stuck"}


def test_notify_wakes_in_the_order_of_arrival() -> None:
    def main() -> None:
        condition = threading.Condition()
        woken: list[int] = []

        def waiter(number: int) -> None:
            with condition:
                waiting.append(number)
                condition.wait()
                woken.append(number)

        waiting: list[int] = []
        threads = [in_thread(waiter, number) for number in range(3)]
        for _ in threads:
            while True:
                with condition:
                    if len(waiting) == 3:
                        before = len(woken)
                        condition.notify()
                        break
            while len(woken) == before:
                with condition:
                    pass
        for thread in threads:
            thread.join()
        assert woken == waiting

    for seed in range(30):
        execute(main, AtRandom(seed))


def test_a_timed_out_waiter_may_take_a_notify_with_it() -> None:
    """As in CPython: it leaves the queue only when it has the lock again."""

    def main() -> str:
        condition = threading.Condition()
        results: dict[str, bool] = {}

        def waiter(name: str, timeout: float | None) -> None:
            with condition:
                results[name] = condition.wait(timeout)

        impatient = in_thread(waiter, "impatient", 1)
        patient = in_thread(waiter, "patient", 5)
        with condition:
            condition.notify()
        impatient.join()
        patient.join()
        return f"{results['impatient']} {results['patient']}"

    seen = {result for seed in range(300) for result in [_any_timeout_outcome(main, seed)]}
    assert "False False" in seen
    assert "True False" in seen


def _any_timeout_outcome(main: Any, seed: int) -> str:
    result: list[str] = []
    execute(lambda: result.append(main()), AtRandom(seed), any_timeout=True)
    return result[0]


def test_a_pulse_is_missed_only_by_who_comes_too_late() -> None:
    def main() -> str:
        event = threading.Event()
        thread = in_thread(event.wait)
        event.set()
        event.clear()
        thread.join()
        return "woken"

    assert outcomes(main) == {"woken", "stuck"}


def test_a_pulse_wakes_who_was_waiting_when_time_passed() -> None:
    import time

    def main() -> str:
        event = threading.Event()
        thread = in_thread(event.wait)
        time.sleep(1)
        event.set()
        event.clear()
        thread.join()
        return "woken"

    assert outcomes(main) == {"woken"}


def test_a_semaphore_lets_in_as_many_as_it_counts() -> None:
    def main() -> int:
        semaphore = threading.Semaphore(2)
        gate = threading.Lock()
        inside = most = 0

        def worker() -> None:
            nonlocal inside, most
            with semaphore:
                with gate:
                    inside += 1
                    most = max(most, inside)
                with gate:
                    inside -= 1

        for thread in [in_thread(worker) for _ in range(4)]:
            thread.join()
        return most

    assert outcomes(main) == {1, 2}


def test_a_subclass_may_take_the_lock_inside_a_semaphore() -> None:
    class Resizable(threading.Semaphore):
        def grow(self) -> None:
            with self._cond:  # type: ignore[attr-defined]
                self._value += 1
                self._cond.notify()  # type: ignore[attr-defined]

    def main() -> str:
        semaphore = Resizable(0)
        thread = in_thread(semaphore.acquire)
        semaphore.grow()
        thread.join()
        return "acquired"

    assert outcomes(main, 50) == {"acquired"}


def test_nobody_gets_into_a_barrier_while_its_action_runs() -> None:
    def main() -> None:
        lock = threading.Lock()
        seen: list[str] = []

        def action() -> None:
            with lock:
                seen.append("action")
            with lock:
                seen.append("end of action")

        barrier = threading.Barrier(2, action)

        def party() -> None:
            barrier.wait()
            seen.append("through")

        threads = [in_thread(party), in_thread(party)]
        for thread in threads:
            thread.join()
        assert seen == ["action", "end of action", "through", "through"]
        assert not barrier.broken

    for seed in range(30):
        execute(main, AtRandom(seed))


def test_a_failing_action_breaks_the_barrier() -> None:
    def main() -> None:
        def action() -> None:
            raise ZeroDivisionError

        barrier = threading.Barrier(2, action)
        raised: list[str] = []

        def party() -> None:
            try:
                barrier.wait()
            except Exception as error:
                raised.append(type(error).__name__)

        threads = [in_thread(party), in_thread(party)]
        for thread in threads:
            thread.join()
        assert sorted(raised) == ["BrokenBarrierError", "ZeroDivisionError"]
        assert barrier.broken

    for seed in range(20):
        execute(main, AtRandom(seed))


def test_a_strand_that_is_ended_leaves_its_with_blocks_in_peace() -> None:
    left: list[str] = []

    def main() -> None:
        condition = threading.Condition()

        def waiter() -> None:
            try:
                with condition:
                    condition.wait()
            except RuntimeError:
                left.append("wrong")
            finally:
                left.append("finally")

        in_thread(waiter).join()

    run = execute(main, First())
    assert run.stop_reason == "stuck"
    assert left == ["finally"]
    assert [strand.exception for strand in run.strands if strand.exception] == []
