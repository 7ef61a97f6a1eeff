"""Calls that wait for each other."""

import threading
import time
from collections import defaultdict


class BufferOfOneCheck:
    """A fault: who is woken does not look again."""

    def __init__(self):
        self._condition = threading.Condition()
        self._items = []

    def put(self, item: int):
        with self._condition:
            self._items.append(item)
            self._condition.notify()

    def get(self) -> int:
        with self._condition:
            if not self._items:
                self._condition.wait()
            return self._items.pop(0)


class Buffer(BufferOfOneCheck):
    """None."""

    def put(self, item: int):
        super().put(item)

    def get(self) -> int:
        with self._condition:
            while not self._items:
                self._condition.wait()
            return self._items.pop(0)


class LostSignal:
    """A fault: what is set between the look and the wait is cleared."""

    def __init__(self):
        self._ready = threading.Event()
        self._items = []

    def put(self, item: int):
        self._items.append(item)
        self._ready.set()

    def get(self) -> int:
        while not self._items:
            self._ready.clear()
            self._ready.wait()
        return self._items.pop()


class TwoHold:
    """A fault: two can get hold of it."""

    def __init__(self):
        self._held = False

    def acquire(self):
        while self._held:
            time.sleep(0.001)
        self._held = True

    def release(self):
        self._held = False


class Range:
    """A fault: each step is locked, and low comes above high."""

    def __init__(self):
        self._low_lock, self._high_lock = threading.Lock(), threading.Lock()
        self._low, self._high = 0, 10

    def set_low(self, value: int):
        with self._high_lock:
            high = self._high
        if value > high:
            raise ValueError(value)
        with self._low_lock:
            self._low = value

    def set_high(self, value: int):
        with self._low_lock:
            low = self._low
        if value < low:
            raise ValueError(value)
        with self._high_lock:
            self._high = value

    def width(self):
        with self._low_lock, self._high_lock:
            return self._high - self._low


class Job:
    """None: that it runs is an answer."""

    def __init__(self):
        self._lock = threading.Lock()
        self.runs = 0

    def try_run(self) -> bool:
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self.runs += 1
            return True
        finally:
            self._lock.release()


class Listeners:
    """A fault: a list that is asked for replaces one that was filled meanwhile."""

    def __init__(self):
        self._lock = threading.Lock()
        self._of = defaultdict(list)

    def on(self, event: str, function):
        with self._lock:
            self._of[event].append(function)

    def listeners(self, event: str):
        return list(self._of[event])
