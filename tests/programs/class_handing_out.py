"""Classes that hand out objects, and one that counts."""

import threading


class Connection:
    """Compared by identity."""


class ConnectionPool:
    """Hands the same connection to two threads."""

    def __init__(self):
        self._free = [Connection(), Connection()]

    def acquire(self):
        connection = self._free[-1]
        self._free = self._free[:-1]
        return connection


class Registry:
    """Get-or-create without a lock: two threads get two objects for one name."""

    def __init__(self):
        self._made = {}

    def get(self, name: str):
        if name not in self._made:
            self._made[name] = Connection()
        return self._made[name]


class Cache:
    """Everything is locked but the statistics, which nobody reads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._kept = {}
        self.hits = 0

    def put(self, key: int, value: int):
        with self._lock:
            self._kept[key] = value

    def get(self, key: int):
        self.hits += 1
        with self._lock:
            return self._kept.get(key)


class Settings:
    """Hands out a value without a source form, which one of two calls loses."""

    def __init__(self):
        self._names = frozenset()

    def add(self, name: str):
        self._names = self._names | {name}

    def names(self):
        return Names(self._names)


class Names:
    def __init__(self, names):
        self.kept = sorted(names)

    def __eq__(self, other):
        return isinstance(other, Names) and self.kept == other.kept

    def __hash__(self):
        return hash(tuple(self.kept))
