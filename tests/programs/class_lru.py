"""A cache with expiry whose `put` takes the lock and whose `get` does not; and classes that are right in their way."""

import queue
import threading
import time
from collections import OrderedDict


class LRUCache:
    def __init__(self, capacity: int = 2, ttl: float = 60.0):
        self.capacity = capacity
        self.ttl = ttl
        self.hits = 0
        self._data: OrderedDict = OrderedDict()
        self._lock = threading.Lock()

    def put(self, key, value):
        with self._lock:
            self._data[key] = (value, time.monotonic() + self.ttl)
            self._data.move_to_end(key)
            if len(self._data) > self.capacity:
                self._data.popitem(last=False)

    def get(self, key):
        if key not in self._data:
            return None
        value, expires = self._data[key]
        if time.monotonic() > expires:
            del self._data[key]
            return None
        self._data.move_to_end(key)
        self.hits += 1
        return value


class Slots:
    """Refuses while somebody else is at it: it never says yes wrongly."""

    def __init__(self):
        self._busy = False
        self._taken = 0
        self._lock = threading.Lock()

    def take(self):
        with self._lock:
            if self._busy:
                raise queue.Full
            self._busy = True
        with self._lock:
            self._taken += 1
        with self._lock:
            self._busy = False

    def taken(self):
        with self._lock:
            return self._taken


class Sharded:
    """Counts. What `total` says is approximate while others add."""

    def __init__(self):
        self._parts = [0, 0]
        self._locks = [threading.Lock(), threading.Lock()]

    def add(self):
        for number in (0, 1):
            with self._locks[number]:
                self._parts[number] += 1

    def total(self):
        return self._parts[0] + self._parts[1]


class Chosen:
    """Takes a class, and needs what nobody can guess."""

    def __init__(self, cache_class=OrderedDict):
        self._cache = cache_class()
        self._lock = threading.Lock()

    def put(self, key):
        with self._lock:
            self._cache[key] = 1

    def load(self, source):
        with self._lock:
            self._cache = dict(source.fetch_everything())

    def size(self):
        with self._lock:
            return len(self._cache)


class Noisy:
    def __init__(self):
        self._calls = 0
        print("made")

    def call(self):
        print("called")
        self._calls = self._calls + 1
        return self._calls
