"""Classes that cannot be tested as they are, each for another reason."""

import enum
import random
import threading
import types
import uuid


class Colour(enum.Enum):
    RED = 1


class Connection:
    def __init__(self, handle):
        if not hasattr(handle, "fileno"):
            raise ValueError("a real handle, please")

    def send(self, text):
        return len(text)


class Opaque:
    def __init__(self, engine: types.FrameType):
        self.engine = engine

    def go(self):
        return 1


class WritesFile:
    def __init__(self):
        with open("class_bad_output.txt", "w") as file:
            file.write("x")

    def go(self):
        return 1


class Dice:
    def __init__(self):
        self._last = 0

    def roll(self):
        drawn = uuid.uuid4().int
        self._last = drawn
        return drawn


class Nothing:
    """No public method at all."""

    _x = 1
