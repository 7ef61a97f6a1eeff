"""Caches whose entries expire: one that asks for the time and looks at the entry under its lock, one that lets go."""

from __future__ import annotations

import threading
import time


class Expiring:
    def __init__(self) -> None:
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def put(self, key: str) -> None:
        now = time.monotonic()
        with self._lock:
            for name in [name for name, until in self._until.items() if until <= now]:
                del self._until[name]
            self._until[key] = now + 10

    def left(self, key: str) -> bool:
        with self._lock:
            return key in self._until and time.monotonic() < self._until[key]


class ExpiringTwice(Expiring):
    def left(self, key: str) -> bool:
        with self._lock:
            found = key in self._until and time.monotonic() < self._until[key]
        if found:
            with self._lock:
                return self._until[key] > 0
        return False
