"""JDK 1.4.1, java.util.logging.Logger (JDK-4779253): the filter is looked at twice, and set without the lock."""

import threading


class Filter:
    def __init__(self, level: int):
        self.level = level

    def is_loggable(self, level):
        return level >= self.level


class Logger:
    def __init__(self):
        self._lock = threading.RLock()
        self._filter = None
        self._records = []

    def set_filter(self, new: Filter | None):
        self._filter = new

    def log(self, level: int, message: str):
        with self._lock:
            if self._filter is not None and not self._filter.is_loggable(level):
                return False
            self._records.append(message)
            return True

    def count(self):
        with self._lock:
            return len(self._records)


class FixedLogger(Logger):
    def set_filter(self, new: Filter | None):
        with self._lock:
            super().set_filter(new)
