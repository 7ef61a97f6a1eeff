"""JDK 1.1.7, java.util.Vector (JDK-4334376): last_index_of reads the size before it takes the lock."""

import threading


class Vector:
    def __init__(self):
        self._lock = threading.RLock()
        self._data = [None] * 2
        self._count = 0

    def add(self, item: int):
        with self._lock:
            if self._count == len(self._data):
                self._data = self._data + [None] * len(self._data)
            self._data[self._count] = item
            self._count += 1

    def remove_all(self):
        with self._lock:
            self._data = [None] * 2
            self._count = 0

    def remove_last(self):
        with self._lock:
            if self._count == 0:
                raise IndexError("the vector is empty")
            self._count -= 1
            del self._data[self._count]

    def size(self):
        with self._lock:
            return self._count

    def last_index_of(self, item: int):
        return self._last_index_of(item, self._count - 1)

    def _last_index_of(self, item, index):
        with self._lock:
            if index >= self._count:
                raise ValueError(f"{index} >= {self._count}")
            for place in range(index, -1, -1):
                if self._data[place] == item:
                    return place
            return -1


class FixedVector(Vector):
    def last_index_of(self, item: int):
        with self._lock:
            return super().last_index_of(item)
