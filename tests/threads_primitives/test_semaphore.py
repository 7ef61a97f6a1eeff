"""A modelled semaphore lives as long as CPython's own: programs keep them in weak dictionaries, and count them."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import treadle


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
