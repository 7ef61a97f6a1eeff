"""JFreeChart 0.9, NumberAxis (bug 278): the automatic range and the ticks are worked out in the fields themselves."""

import threading


class NumberAxis:
    def __init__(self):
        self._lower, self._upper = 0.0, 1.0
        self._margin = 0.5
        self._ticks = []
        self._lock = threading.RLock()

    def set_range(self, lower: float, upper: float):
        if lower >= upper:
            raise ValueError("a range needs lower < upper")
        self._lower = lower
        self._upper = upper

    def get_range(self):
        return self._lower, self._upper

    def refresh_ticks(self):
        self._ticks.clear()
        for number in range(3):
            self._ticks.append(self._lower + number * (self._upper - self._lower) / 2)

    def ticks(self):
        return tuple(self._ticks)


class FixedNumberAxis(NumberAxis):
    def set_range(self, lower: float, upper: float):
        with self._lock:
            super().set_range(lower, upper)

    def get_range(self):
        with self._lock:
            return super().get_range()

    def refresh_ticks(self):
        with self._lock:
            super().refresh_ticks()

    def ticks(self):
        with self._lock:
            return super().ticks()
