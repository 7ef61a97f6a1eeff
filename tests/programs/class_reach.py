"""Classes whose objects a program cannot simply make: they need subclasses, factories, threads, or other classes."""

from __future__ import annotations

import abc
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol, TypeVar


class Store(abc.ABC):
    @abc.abstractmethod
    def load(self) -> int: ...


class MemoryStore(Store):
    def __init__(self) -> None:
        self.kept = 0

    def load(self) -> int:
        return self.kept


class Counts:
    """Needs a store, and only a subclass of it can be made."""

    def __init__(self, store: Store) -> None:
        self.value = store.load()

    def add(self) -> int:
        self.value = self.value + 1
        return self.value


class Sink(Protocol):
    def size(self) -> int: ...


def open_sink() -> Sink:
    raise NotImplementedError


class Guarded:
    """Needs something that no class of the module is."""

    def __init__(self, sink: Sink) -> None:
        self.total = sink.size()

    def add(self) -> int:
        self.total = self.total + 1
        return self.total


class Meter(abc.ABC):
    """Abstract itself."""

    def __init__(self) -> None:
        self.value = 0

    @abc.abstractmethod
    def step(self) -> int: ...

    def turn(self) -> int:
        self.value = self.value + self.step()
        return self.value


Kind = TypeVar("Kind")


class Registry:
    """Get or create by class."""

    def __init__(self) -> None:
        self._made: dict[type, Any] = {}

    def get(self, cls: type[Kind]) -> Kind:
        if cls not in self._made:
            self._made[cls] = cls()
        return self._made[cls]  # type: ignore[no-any-return]


class Worker:
    """Has a thread of its own, and loses what is put in while it stops."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub
        self.open = True
        self.inbox: queue.Queue[Any] = queue.Queue()
        threading.Thread(target=self._work).start()

    def _work(self) -> None:
        while (answer := self.inbox.get()) is not None:
            answer.put("done")

    def ask(self) -> str:
        if not self.open:
            return "closed"
        answer: queue.Queue[str] = queue.Queue()
        self.inbox.put(answer)
        return answer.get()

    def stop(self) -> None:
        self.open = False
        self.inbox.put(None)


class Hub:
    """The program's own way to a worker."""

    def __init__(self, key: Hub | None) -> None:
        if key is not None:
            raise ValueError("a hub is made by nobody")

    @staticmethod
    def worker() -> Worker:
        return Worker(Hub(None))


class Busy:
    """A call of many operations, of which two are shared with others."""

    def __init__(self) -> None:
        self.total = 0

    def add(self) -> int:
        mine = {"a": 0}
        for _ in range(150):
            mine["a"] = mine["a"] + 1
        self.total = self.total + mine["a"]
        return self.total


class Twice:
    """Offers each of its methods as a coroutine, too."""

    def __init__(self) -> None:
        self._count = 0

    def add(self) -> int:
        self._count = self._count + 1
        return self._count

    async def add_async(self) -> int:
        return self.add()


class Applied:
    """Calls what it is given, and keeps nothing."""

    def apply(self, callback: Callable[[], object]) -> object:
        return callback()


def _checked(method: Callable[..., object]) -> Callable[..., object]:
    """A decorator that forgot functools.wraps."""

    def inner(self: object, *args: object, **kwargs: object) -> object:
        return method(self, *args, **kwargs)

    return inner


class Wrapped:
    """What its methods take is written on the functions behind the decorator."""

    def __init__(self) -> None:
        self._kept: dict[str, int] = {}

    @_checked
    def __setitem__(self, key: str, value: int) -> None:
        self._kept[key] = value

    @_checked
    def raise_by(self, key: str, amount: int) -> None:
        self._kept[key] = self._kept.get(key, 0) + amount


class Hand:
    def __init__(self) -> None:
        self.ready = False

    def is_ready(self) -> bool:
        return self.ready


class Crew:
    """Whether its hands were made ready, only they say."""

    def __init__(self) -> None:
        self._hands: set[Hand] = set()
        self._at_work = False

    @property
    def hands(self) -> set[Hand]:
        return self._hands

    def hire(self) -> None:
        hand = Hand()
        hand.ready = self._at_work
        self._hands = self._hands | {hand}

    def begin(self) -> None:
        for hand in self._hands:
            hand.ready = True
        self._at_work = True


class TwiceEach(Twice):
    """Also what it walks through."""

    def add_each(self) -> Iterator[int]:
        yield self.add()

    async def add_async_each(self) -> AsyncIterator[int]:
        yield self.add()


class Bucket(abc.ABC):
    """Is given by those who use a limiter."""

    @abc.abstractmethod
    def append(self, item: Any) -> None: ...

    @abc.abstractmethod
    def count(self) -> int: ...


class Limited:
    """Lets one through, as far as it can tell: `bucket` has no hint."""

    def __init__(self, bucket, capacity=1):  # type: ignore[no-untyped-def]
        self.bucket = bucket
        self.capacity = capacity

    def enter(self, item: int) -> bool:
        if self.bucket.count() >= self.capacity:
            return False
        self.bucket.append(item)
        return True


class Remembering:
    """Has a method that makes decorators."""

    def __init__(self) -> None:
        self.kept: dict[Any, Any] = {}

    def memoize(self, ttl: int = 10) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        def decorator(func: Callable[[], Any]) -> Callable[[], Any]:
            def remembered() -> Any:
                if ttl not in self.kept:
                    self.kept[ttl] = func()
                return self.kept[ttl]

            return remembered

        return decorator
