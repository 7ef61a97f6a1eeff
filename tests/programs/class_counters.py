"""Counters whose count is all they have: it is what they are for, and no statistic."""

import threading


class Twice:
    """Calls its own method: that is no other state."""

    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1

    def add_twice(self):
        self.add()
        self.add()


class Guarded:
    """Has a lock, by any name, and forgets it once."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.n = 0

    def add(self):
        self.n += 1

    def add_two(self):
        with self.mutex:
            self.n += 1
            self.n += 1


class Taking(Guarded):
    def add_two(self):
        self.mutex.acquire()
        self.n += 1
        self.mutex.release()


class Slotted:
    """Its attribute is in a slot."""

    __slots__ = ("n",)

    def __init__(self):
        self.n = 0

    def add(self):
        self.n = self.n + 1
