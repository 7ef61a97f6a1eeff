"""A counter that needs a GIL: `+= 1` reads and writes, and only CPython with the GIL never switches in between."""

import threading

import treadle


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self) -> None:
        self.count += 1


class LockedCounter(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()

    def add(self) -> None:
        with self.lock:
            self.count += 1


def test_buggy_counter() -> None:
    counter = Counter()
    treadle.parallel(counter.add, counter.add)
    assert counter.count == 2


def test_fixed_counter() -> None:
    counter = LockedCounter()
    treadle.parallel(counter.add, counter.add)
    assert counter.count == 2
