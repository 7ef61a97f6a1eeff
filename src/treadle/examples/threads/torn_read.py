"""Torn read: a reader sees the new start of a range with its old end, because only the writer takes the lock."""

import threading

import treadle


class Window:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.start, self.end = 0, 10

    def move(self, by: int) -> None:
        with self.lock:
            self.start += by
            self.end += by

    def size(self) -> int:
        return self.end - self.start


class LockedWindow(Window):
    def size(self) -> int:
        with self.lock:
            return super().size()


def test_buggy_size() -> None:
    window = Window()
    _, size = treadle.parallel(lambda: window.move(5), window.size)
    assert size == 10


def test_fixed_size() -> None:
    window = LockedWindow()
    _, size = treadle.parallel(lambda: window.move(5), window.size)
    assert size == 10
