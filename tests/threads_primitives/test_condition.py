"""A condition as CPython's, where its operations meet."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from tests.threads_primitives.running import First, execute, start
from treadle.core.operation import WAIT
from treadle.threads.primitives.condition import ConditionQueue
from treadle.threads.strands import current


def test_a_condition_over_a_lock_of_the_programs_own_waits_and_is_notified() -> None:
    class Own:
        """Delegates, as locks that count or log do."""

        def __init__(self) -> None:
            self.inner = threading.Lock()

        def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
            return self.inner.acquire(blocking, timeout)

        def release(self) -> None:
            self.inner.release()

        def __enter__(self) -> None:
            self.acquire()

        def __exit__(self, *error: object) -> None:
            self.release()

    seen: list[str] = []

    def main() -> None:
        condition = threading.Condition(Own())  # type: ignore[arg-type]

        def wait() -> None:
            with condition:
                seen.append("notified" if condition.wait(5) else "too late")

        (thread,) = start(wait)
        while not condition._waiters:  # type: ignore[attr-defined]
            threading.Event().wait(0.001)
        with condition:
            condition.notify()
        thread.join()

    execute(main, First())
    assert seen == ["notified"]


def test_waiting_and_notifying_without_the_lock_are_refused_as_by_cpython() -> None:
    def main() -> None:
        condition = threading.Condition()
        with pytest.raises(RuntimeError, match="cannot wait on un-acquired lock"):
            condition.wait()
        with pytest.raises(RuntimeError, match="cannot notify on un-acquired lock"):
            condition.notify()

    execute(main)


def test_who_is_stuck_at_a_condition_is_told_to_wait_for_a_notify() -> None:
    def main() -> None:
        condition = threading.Condition()
        with condition:
            condition.wait()

    run = execute(main)
    assert run.stop_reason == "stuck"
    assert (run.stuck[0].object, run.stuck[0].note) == ("Condition#1", "1 waiting, not notified")


def test_nobody_goes_on_before_a_notify_has_taken_it_out_of_the_queue() -> None:
    def main() -> None:
        me = current()
        assert me is not None
        waiting = ConditionQueue(deque([me]))
        assert not waiting.ready(WAIT, me)
        waiting.waiters.popleft()
        assert waiting.ready(WAIT, me)

    execute(main)
