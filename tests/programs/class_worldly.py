"""Classes whose calls would change the world, or end their process."""

import ctypes
import os
import socket


class Store:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1

    def clean(self):
        os.remove("precious.txt")

    def export(self):
        """Writes only in a state that no trial of the single call meets."""
        if self.n > 1:
            with open("made.txt", "w") as file:
                file.write(str(self.n))
        return self.n


class Exports:
    """A fault, and one call that writes in a state that no trial of it meets."""

    def __init__(self):
        self._count = 0

    def note(self, key: str) -> int:
        if self._count > 1 and key == "b":
            with open("made.txt", "w") as file:
                file.write(key)
        count = self._count
        self._count = count + 1
        return count


class Crashes:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1

    def crash(self):
        ctypes.string_at(0)


class Ports:
    """Hands out ports, reserved ones first."""

    def __init__(self):
        self.reserved = []

    def reserve(self, port: int):
        self.reserved.append(port)

    def pick(self):
        if self.reserved:
            return self.reserved.pop()
        with socket.create_server(("localhost", 0)) as server:
            return server.getsockname()[1]


class Beside:
    """Numbers that two calls may both get, beside a call that asks the network."""

    def __init__(self):
        self.last = 0

    def number(self):
        self.last = self.last + 1
        return self.last

    def ask(self):
        try:
            socket.create_connection(("localhost", 9)).close()
        except OSError:
            self.last += 1
