"""Classes that lose an update in a place that the state of an object does not always tell."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable


class Plain:
    """In a field."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> None:
        self._count = self._count + 1

    def count(self) -> int:
        return self._count


class OnTheClass:
    """In an attribute of the class."""

    kept = 0

    def add(self) -> None:
        OnTheClass.kept = OnTheClass.kept + 1

    def count(self) -> int:
        return OnTheClass.kept


_LEFT = [0]


class InTheModule:
    """In a list of the module."""

    def add(self) -> None:
        _LEFT[0] = _LEFT[0] + 1

    def count(self) -> int:
        return _LEFT[0]


class InAClosure:
    """In what a function remembers that is made anew by each call."""

    def __init__(self) -> None:
        self._give: Callable[[], int] = lambda: 0

    def add(self) -> None:
        now = self._give() + 1
        self._give = lambda: now

    def count(self) -> int:
        return self._give()


class InC:
    """In an object whose content only its own methods tell."""

    def __init__(self) -> None:
        self._text = io.StringIO()

    def add(self) -> None:
        now = self._text.getvalue()
        self._text.seek(0)
        self._text.write(now + "a")

    def count(self) -> int:
        return len(self._text.getvalue())


class InTheOrder:
    """In the order of an ordered dictionary, which is not that of its insertions."""

    def __init__(self) -> None:
        self._entries = OrderedDict.fromkeys("abc", 1)

    def turn(self) -> None:
        self._entries.move_to_end(next(iter(self._entries)))

    def first(self) -> str:
        return next(iter(self._entries))


class LeftLocked:
    """A lock of the class that stays taken."""

    _lock = threading.Lock()

    def __init__(self) -> None:
        self._busy = False

    def use(self) -> None:
        LeftLocked._lock.acquire()
        if not self._busy:
            LeftLocked._lock.release()

    def mark(self) -> None:
        self._busy = True
        self._busy = False
