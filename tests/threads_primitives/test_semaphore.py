"""A modelled semaphore lives as long as CPython's own: programs keep them in weak dictionaries, and count them."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import treadle
from tests.threads_primitives.running import execute
from treadle.core.operation import ACQUIRE
from treadle.threads.primitives.semaphore import SemaphoreGuard


@pytest.mark.parametrize("kind", [threading.Semaphore, threading.BoundedSemaphore])
def test_it_dies_with_its_last_reference(kind: type[threading.Semaphore]) -> None:
    def work() -> None:
        gc.disable()
        try:
            semaphore = kind()
            with semaphore:
                pass
            left = weakref.ref(semaphore)
            del semaphore
            assert left() is None
        finally:
            gc.enable()

    def test() -> None:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    assert not treadle.check(test, executions=1).findings


def test_an_acquire_is_possible_while_the_counter_is_above_zero() -> None:
    def main() -> None:
        semaphore = threading.BoundedSemaphore(1)
        guard = semaphore._cond  # type: ignore[attr-defined]
        assert type(guard) is SemaphoreGuard
        assert (guard.guards(), guard.describe()) == (1 << ACQUIRE, "counter at 1")
        semaphore.acquire()
        assert (guard.guards(), guard.describe()) == (0, "counter at 0")
        assert not semaphore.acquire(blocking=False)
        assert not semaphore.acquire(timeout=3)
        semaphore.release()
        with pytest.raises(ValueError, match="Semaphore released too many times"):
            semaphore.release()
        with pytest.raises(ValueError, match="n must be one or more"):
            semaphore.release(0)

    execute(main)
