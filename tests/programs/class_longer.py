"""Classes whose faults need more than two calls with plain values, and loops that wait."""

import threading


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


class Basket:
    def __init__(self):
        self._items = []

    def add(self, item: str):
        self._items.append(item)

    def items(self):
        return tuple(self._items)


class Shop:
    """Loses a sale, but only when something is sold."""

    def __init__(self):
        self._sold = 0

    def sell(self, basket: Basket):
        if basket.items():
            self._sold = self._sold + 1

    def sold(self):
        return self._sold


class Remembering:
    """Two private fields that no longer belong together: nobody can see it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._size = 0
        self._key = self._value = None

    def put(self, key: str, value: int):
        self._key = key
        self._value = value
        with self._lock:
            self._size += 1

    def size(self):
        with self._lock:
            return self._size


class Fetching:
    """A call that takes its lock twice on purpose."""

    def __init__(self):
        self._lock = threading.Lock()
        self._made = 0

    def fetch(self):
        with self._lock:
            number = self._made
        with self._lock:
            self._made += 1
        return number

    def made(self):
        with self._lock:
            return self._made


class Rates:
    """Does not take an empty list: a value must not be made shorter than the class allows."""

    def __init__(self, rates: list[int]):
        if not rates:
            raise ValueError("rates must not be empty")
        self.rates = rates
        self.used = 0

    def use(self):
        self.used = self.used + 1
