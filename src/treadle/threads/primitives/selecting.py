"""Waiting for several things of the outside at once: `select`, `poll`, `epoll` and the selectors.

Keeps, as `outside` does: none of them blocks; a look with no time is repeated whenever the strand could go on.
"""

from __future__ import annotations

import math
import select as select_module
import selectors
from collections.abc import Callable, Iterable
from typing import Any

from treadle.core.operation import GET
from treadle.threads.primitives.inside import here
from treadle.threads.primitives.outside import act, close_behind, descriptor_of, guard_of
from treadle.threads.strands import Strand
from treadle.threads.virtual_time import LATE

_real_select: Any = select_module.select
_real_poll: Any = getattr(select_module, "poll", None)
_real_epoll: Any = getattr(select_module, "epoll", None)


def select(readers: Any, writers: Any, failing: Any, timeout: float | None = None, /) -> Any:
    strand = here()
    if strand is None:
        return _real_select(readers, writers, failing, timeout)
    given = [list(group) for group in (readers, writers, failing)]
    try:
        # Asked once, as the real one does: `fileno` may be code of the program.
        numbers = [[descriptor_of(one) for one in group] for group in given]
    except AttributeError:
        return _real_select(*given, 0)  # which tells what is wrong with them
    found: Any = ([], [], [])

    def look() -> bool:
        nonlocal found
        found = _real_select(*numbers, 0)
        return any(found)

    _look_until(strand, look, "select", (number for group in numbers for number in group), timeout)
    return tuple(
        [one for one, number in zip(group, asked, strict=True) if number in ready]
        for group, asked, ready in zip(given, numbers, found, strict=True)
    )


def _look_until(
    strand: Strand, look: Callable[[], Any], what: str, descriptors: Iterable[int], timeout: float | None
) -> None:
    """Wait until a look finds something, at most so long; a timeout of nothing is one look."""
    look()  # what is wrong with the arguments is told here
    if timeout is not None and timeout <= 0:
        act(strand)
        strand.execution.clock.now += LATE  # or who looks until a deadline is behind him would look for ever
    else:
        strand.point(GET, guard_of(look, what, descriptors), timeout)
    look()


def _selecting(kind: Any) -> Any:
    real = vars(kind)["select"]

    def select(self: Any, timeout: float | None = None) -> Any:
        strand = here()
        if strand is None:
            return real(self, timeout)
        found: Any = []

        def look() -> Any:
            nonlocal found
            found = real(self, 0)
            return found

        descriptors = list(self.get_map() or ())
        _look_until(strand, look, f"{type(self).__name__}.select", descriptors, timeout)
        return found

    return select


class Poll:
    """In the place of `select.poll`, which is a function that makes objects of a type in C."""

    _make, _a_second = _real_poll, 1000.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._real = type(self)._make(*args, **kwargs)
        self._descriptors: set[int] = set()
        if here() is not None and hasattr(self._real, "close"):
            real = self._real
            close_behind(lambda: None if real.closed else real, type(real).close)

    def register(self, file: Any, *events: int, **named: int) -> None:
        self._real.register(file, *events, **named)
        self._descriptors.add(descriptor_of(file))

    def unregister(self, file: Any) -> None:
        self._real.unregister(file)
        self._descriptors.discard(descriptor_of(file))

    def poll(self, timeout: float | None = None) -> Any:
        return self._poll(timeout)

    def _poll(self, timeout: float | None, *most: int) -> Any:
        """A negative timeout is none, and what is less than a millisecond is one, as in the kernel."""
        strand = here()
        if strand is None:
            return self._real.poll(timeout, *most)
        found: Any = []

        def look() -> Any:
            nonlocal found
            found = self._real.poll(0, *most)
            return found

        milliseconds = None if timeout is None or timeout < 0 else math.ceil(timeout * 1000 / self._a_second)
        seconds = None if milliseconds is None else milliseconds / 1000
        _look_until(strand, look, type(self).__name__.lower(), self._descriptors, seconds)
        return found

    def __getattr__(self, name: str) -> Any:
        """`modify`, `close`, `fileno`, ...: nothing that waits."""
        return getattr(self._real, name)


class Epoll(Poll):
    """In the place of `select.epoll`, whose type in C cannot have other methods."""

    _make, _a_second = _real_epoll, 1.0

    @classmethod
    def fromfd(cls, descriptor: int) -> Epoll:
        made = cls.__new__(cls)
        made._real = _real_epoll.fromfd(descriptor)
        made._descriptors = {descriptor}  # what is registered there, nobody says
        return made

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> Any:
        return self._poll(timeout, maxevents)

    def __enter__(self) -> Epoll:
        return self

    def __exit__(self, *raised: object) -> None:
        self._real.close()


_SELECTORS = ("SelectSelector", "_PollLikeSelector", "EpollSelector", "KqueueSelector")

PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (
        select_module,
        {"select": select}
        | ({"poll": Poll} if _real_poll is not None else {})
        | ({"epoll": Epoll} if _real_epoll is not None else {}),
    ),
    *(
        (kind, {"select": _selecting(kind)})
        for kind in (getattr(selectors, name, None) for name in _SELECTORS)
        if kind is not None and "select" in vars(kind)
    ),
]
