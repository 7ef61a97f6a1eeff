"""Classes that cannot be tested as they are, each for another reason."""

import abc
import enum
import random
import threading
import uuid


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Colour(enum.Enum):
    RED = 1


class Connection:
    def __init__(self, handle):
        if not hasattr(handle, "fileno"):
            raise ValueError("a real handle, please")

    def send(self, text):
        return len(text)


class Opaque:
    def __init__(self, engine: "Engine"):
        self.engine = engine

    def go(self):
        return 1


class Engine(abc.ABC):
    @abc.abstractmethod
    def start(self): ...


class WritesFile:
    def __init__(self):
        with open("class_bad_output.txt", "w") as file:
            file.write("x")

    def go(self):
        return 1


class StartsThread:
    def __init__(self):
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self):
        self.done = True

    def go(self):
        return self.done


class Dice:
    def __init__(self):
        self._last = 0

    def roll(self):
        self._last = uuid.uuid4().int
        return self._last


class Nothing:
    """No public method at all."""

    _x = 1
