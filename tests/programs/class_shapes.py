"""Shared things of all shapes that people have, each with one fault, or with none where it says so."""

import asyncio
import contextlib
import functools
import threading


class Machine:
    """Made by its subclasses alone."""

    states = ()

    def __init__(self):
        if not self.states:
            raise TypeError("a machine needs states")
        self.steps = 0

    def advance(self):
        self.steps = self.steps + 1
        return self.steps


class Light(Machine):
    states = ("red", "green")


class Lazy:
    def __init__(self, factory):
        self._factory = factory
        self._made = None

    def get(self):
        if self._made is None:
            self._made = self._factory()
        return self._made


class OnItself:
    """Its methods are set by the constructor."""

    def __init__(self):
        self.count = 0
        self.bump = self._bump

    def _bump(self):
        self.count = self.count + 1


class MadeUp:
    """Its methods are made up when they are asked for."""

    def __init__(self):
        self._counts = {}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def count():
            self._counts[name] = self._counts.get(name, 0) + 1
            return self._counts[name]

        return count


class Pushes:
    def __init__(self):
        self.last = 0

    def push(self, *items):
        before = self.last
        self.last = before + len(items)
        return before


class Keeper(type):
    kept = {}

    def __call__(cls):
        if cls not in Keeper.kept:
            Keeper.kept[cls] = super().__call__()
        return Keeper.kept[cls]


class Only(metaclass=Keeper):
    def hello(self):
        return 1


class Slots:
    def __init__(self):
        self.free = 1

    @contextlib.contextmanager
    def slot(self):
        self.free = self.free - 1
        try:
            yield
        finally:
            self.free = self.free + 1


class Connection:
    def __init__(self, pool):
        self._pool = pool

    def close(self):
        self._pool._give_back(self)


class GoodPool:
    """No fault: it refuses who comes while its only connection is out."""

    def __init__(self):
        self._lock = threading.Lock()
        self._idle = [Connection(self)]

    def acquire(self):
        with self._lock:
            if not self._idle:
                raise RuntimeError("exhausted")
            return self._idle.pop()

    def _give_back(self, connection):
        with self._lock:
            self._idle.append(connection)


class BiggerPool(GoodPool):
    """An heir of a class that can be made itself."""

    def __init__(self):
        super().__init__()
        self._idle.append(Connection(self))


class Table:
    def __init__(self):
        self._rows = {}

    def add(self, key: str):
        self._rows[key] = 1

    def remove(self, key: str):
        self._rows.pop(key, None)

    def walk(self):
        for key in self._rows:
            yield key, self._rows[key]


class AsyncSlots:
    def __init__(self):
        self.free = 1

    async def __aenter__(self):
        free = self.free
        await asyncio.sleep(0)
        self.free = free - 1

    async def __aexit__(self, *error):
        self.free += 1


def memoize(function):
    known = {}

    @functools.wraps(function)
    def wrapper(key):
        if key not in known:
            known[key] = function(key)
        return known[key]

    return wrapper


def limited(most=1):
    def decorate(function):
        known = {}

        @functools.wraps(function)
        async def wrapper(key):
            if key not in known:
                value = await function(key)
                if len(known) >= most:
                    del known[next(iter(known))]
                known[key] = value
            return known[key]

        return wrapper

    return decorate


class NoneLeft(Exception):
    """An exception of the package's own."""


class Tickets:
    """The last ticket is looked for, and then taken."""

    def __init__(self) -> None:
        self.left = ["a"]

    def take(self) -> str:
        if not self.left:
            raise NoneLeft
        return self.left.pop()


class Bells:
    """Has a method for each of its bells, made by the constructor."""

    def __init__(self) -> None:
        self.times = {"small": 0}
        self.small = functools.partial(self._ring, "small")

    def _ring(self, bell: str) -> None:
        self.times[bell] += 1

    def rung(self) -> int:
        return self.times["small"]


class Named:
    """Its text has the address of the object in it."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.lock = threading.Lock()

    def name(self, name: str) -> None:
        with self.lock:
            self.names.append(name)

    def __str__(self) -> str:
        return f"{object.__str__(self)}, {len(self.names)} names"
