"""Google Commons 1.0, AbstractMultimap.AsMap (Guava issue 339): the map view of a multimap works without its lock."""

import threading


class AsMap:
    def __init__(self):
        self._submap = {}
        self._total = 0
        self._lock = threading.RLock()

    def put(self, key: str, value: int):
        with self._lock:
            self._submap.setdefault(key, []).append(value)
            self._total += 1

    def get(self, key: str):
        values = self._submap.get(key)
        return None if values is None else list(values)

    def remove(self, key: str):
        if key not in self._submap:
            return None
        values = self._submap.pop(key)
        self._total -= len(values)
        return values

    def size(self):
        return self._total

    def contains_key(self, key: str):
        return key in self._submap


class FixedAsMap(AsMap):
    def get(self, key: str):
        with self._lock:
            return super().get(key)

    def remove(self, key: str):
        with self._lock:
            return super().remove(key)

    def size(self):
        with self._lock:
            return super().size()
