"""Small classes with and without thread-safety faults."""

import threading
import time


class Account:
    """A lost update."""

    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        self.balance = self.balance + amount

    def withdraw(self, amount):
        if self.balance >= amount:
            self.balance -= amount
            return True
        return False


class SafeAccount:
    def __init__(self):
        self.balance = 0
        self._lock = threading.Lock()

    def deposit(self, amount):
        with self._lock:
            self.balance = self.balance + amount

    def withdraw(self, amount):
        with self._lock:
            if self.balance >= amount:
                self.balance -= amount
                return True
            return False


class Pool:
    """Two locks in opposite order: a deadlock."""

    def __init__(self):
        self._free = threading.Lock()
        self._used = threading.Lock()
        self._items = 1

    def take(self):
        with self._free, self._used:
            self._items -= 1

    def give(self):
        with self._used, self._free:
            self._items += 1


class Ledger:
    """Two fields that belong together, and an invariant that says so."""

    def __init__(self):
        self._debit = 0
        self._credit = 0

    def book(self, amount: int):
        debit = self._debit + amount
        self._debit = debit
        credit = self._credit + amount
        self._credit = credit

    def invariant(self):
        return self._debit == self._credit


class Slots:
    """A free list that can hand out one place twice: a later call fails."""

    def __init__(self):
        self._free = [0, 1]
        self._taken = set()

    def take(self):
        if not self._free:
            return None
        place = self._free[-1]
        self._free.pop()
        return place


class Statistics:
    """The counter of calls is off: nobody is told by it, so this is a warning."""

    def __init__(self):
        self._lock = threading.Lock()
        self._items = {}
        self.lookups = 0

    def put(self, key: str, value: int):
        with self._lock:
            self._items[key] = value

    def get(self, key: str):
        self.lookups += 1
        with self._lock:
            return self._items.get(key)


class Mailbox:
    """Blocks on purpose: waiting for a message is not a deadlock."""

    def __init__(self):
        self._ready = threading.Condition()
        self._messages = []

    def send(self, message: str):
        with self._ready:
            self._messages.append(message)
            self._ready.notify()

    def receive(self):
        with self._ready:
            while not self._messages:
                self._ready.wait()
            return self._messages.pop(0)


class Immutable:
    def __init__(self, value: int):
        self._value = value

    def plus(self, other: int):
        return Immutable(self._value + other)

    def value(self):
        return self._value


class Cached:
    """A memo that two threads may fill at once: no visible effect."""

    def __init__(self):
        self._memo = None

    def answer(self):
        if self._memo is None:
            self._memo = 6 * 7
        return self._memo


class Once:
    """Checks, then acts: initialised twice."""

    def __init__(self):
        self._ready = False

    def start(self):
        if self._ready:
            return False
        self._ready = True
        return True


class Toggled:
    """A version of one bit: a call survives one change of it, and not two."""

    def __init__(self):
        self._lock = threading.Lock()
        self._version = False
        self._value = 0

    def add(self):
        while True:
            seen = self._version
            value = self._value + 1
            with self._lock:
                if self._version == seen:
                    self._value = value
                    self._version = not self._version
                    return

    def value(self):
        with self._lock:
            return self._value


class Counted(Toggled):
    """The same with a version that never comes back."""

    def add(self):
        while True:
            seen = int(self._version)
            value = self._value + 1
            with self._lock:
                if self._version == seen:
                    self._value = value
                    self._version = seen + 1
                    return


class Seats:
    """Fails only for long rows: the values that show it are long."""

    def __init__(self, rows: int):
        self.rows = rows
        self.taken = 0

    def take(self, names: list[str]):
        if len(names) > 1:
            self.taken = self.taken + 1
        return self.taken


class Polite:
    """Each gives way to the other, and both for ever."""

    def __init__(self):
        self._left = self._right = False

    def left(self):
        self._left = True
        while self._right:
            self._left = False
            self._left = True
        self._left = False

    def right(self):
        self._right = True
        while self._left:
            self._right = False
            self._right = True
        self._right = False


class Spinning:
    """A lock that is tried again and again, with a count of the trials: whoever waits writes, and gets it in the end."""

    def __init__(self):
        self._flag = threading.Lock()
        self._trials = 0
        self._total = 0

    def add(self):
        while not self._flag.acquire(False):
            self._trials += 1
        self._total += 1
        self._flag.release()
