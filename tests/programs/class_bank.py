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


class SealedLedger(Ledger):
    """The same, whose invariant has the name that nobody calls by accident."""

    invariant = None

    def __invariant__(self):
        return self._debit == self._credit
