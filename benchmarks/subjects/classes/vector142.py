"""JDK 1.4.2, java.util.Vector (JDK-4791557): a bulk copy asks the other vector for its size, then for its elements."""

import threading
from typing import Self


class Vector:
    def __init__(self):
        self._lock = threading.RLock()
        self._data = []

    def add(self, item: int):
        with self._lock:
            self._data.append(item)

    def get(self, index: int):
        with self._lock:
            return self._data[index]

    def remove_all(self):
        with self._lock:
            self._data = []

    def size(self):
        with self._lock:
            return len(self._data)

    def contains_all(self, other: Self):
        for index in range(other.size()):
            if other.get(index) not in self.to_list():
                return False
        return True

    def to_list(self):
        with self._lock:
            return list(self._data)


class FixedVector(Vector):
    def contains_all(self, other: Self):
        with self._lock, other._lock:
            return super().contains_all(other)
