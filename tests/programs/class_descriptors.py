"""Descriptors: a class is judged through a client that uses it."""

import threading


class Counted:
    """Hands out numbers, two threads the same one."""

    def __init__(self):
        self.reads = 0

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        number = self.reads + 1
        self.reads = number
        return number


class Lazy:
    """One slot for the objects of all clients, which another method can empty at the wrong moment."""

    def __init__(self, fget, default):
        self.fget = fget
        self.default = default
        self.cache = []

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if not self.cache:
            self.cache.append(self.fget(instance))
        return self.cache[0]

    def expire(self):
        self.cache.clear()


class Guarded:
    """A field with a lock of its own."""

    def __init__(self):
        self._lock = threading.Lock()

    def __set_name__(self, owner, name):
        self._name = f"_{name}"

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with self._lock:
            return instance.__dict__.get(self._name, 0)

    def __set__(self, instance, value: int):
        with self._lock:
            instance.__dict__[self._name] = value
