"""Methods that are called and never do their work: nothing is known of them."""

import threading


class Refusing:
    def __init__(self):
        self._lock = threading.Lock()
        self._count = 0

    def add(self):
        with self._lock:
            self._count += 1

    def count(self):
        with self._lock:
            return self._count

    def forge(self, token):
        if token != "open sesame 42":
            raise ValueError("wrong token")
        count = self._count
        self._count = count + 1


class Endless:
    def __init__(self):
        self._lock = threading.Lock()
        self._count = 0

    def add(self):
        with self._lock:
            self._count += 1

    def go_on(self):
        while True:
            self._count = self._count + 1


class TouchingAll:
    def __init__(self):
        self._cells = [0] * 500

    def raise_all(self):
        for number in range(500):
            self._cells[number] += 1

    def total(self):
        return sum(self._cells)
