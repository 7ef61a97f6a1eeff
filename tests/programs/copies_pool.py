"""A registry without a lock and one with a lock, for tests that are run as copies."""

import threading


class Registry:
    def __init__(self):
        self.made = {}

    def get(self, name):
        if name not in self.made:
            self.made[name] = object()
        return self.made[name]

    def drop(self, name):
        if name in self.made:
            del self.made[name]


class Locked(Registry):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def get(self, name):
        with self.lock:
            return super().get(name)

    def drop(self, name):
        with self.lock:
            super().drop(name)
