"""Classes whose calls would change the world, or end their process."""

import ctypes
import os


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


class Crashes:
    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1

    def crash(self):
        ctypes.string_at(0)
