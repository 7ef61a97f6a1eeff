"""Two threads trim one cache: both see one entry too many, both remove the oldest one, and the second fails."""

import threading

import treadle


class Cache:
    def __init__(self, most: int) -> None:
        self.most = most
        self.entries: dict[str, int] = {}

    def put(self, key: str, value: int) -> None:
        self.entries[key] = value
        if len(self.entries) > self.most:
            oldest = next(iter(self.entries))
            del self.entries[oldest]


class LockedCache(Cache):
    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.lock = threading.Lock()

    def put(self, key: str, value: int) -> None:
        with self.lock:
            super().put(key, value)


def test_buggy_cache() -> None:
    cache = Cache(most=1)
    cache.put("a", 1)
    treadle.parallel(lambda: cache.put("b", 2), lambda: cache.put("c", 3))
    assert len(cache.entries) == 1


def test_fixed_cache() -> None:
    cache = LockedCache(most=1)
    cache.put("a", 1)
    treadle.parallel(lambda: cache.put("b", 2), lambda: cache.put("c", 3))
    assert len(cache.entries) == 1
