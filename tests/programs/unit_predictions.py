"""Uses of the language that installed packages make and that were once predicted wrongly."""

import collections
import contextvars
import enum
import functools
import sys
import threading
import typing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NotRequired, Optional, Protocol, TypedDict, Union, runtime_checkable

import icontract


def iterable(value: int | list[int]) -> int:
    if isinstance(value, typing.Iterable):
        return 1
    return 2 if isinstance(value, Optional[int]) else 3


class Threes(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return other == 3


class Three(metaclass=Threes):
    pass


def is_three(n: int) -> bool:
    return isinstance(n, (str, Three))


@runtime_checkable
class Named(Protocol):
    name: str


class Person:
    def __init__(self, name: str) -> None:
        self.name = name


def named(value: Person) -> bool:
    return isinstance(value, Named)


def anything(value: Union[int, Any]) -> int:
    return 1 if value else 2


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs) * 2

    return wrapper


@twice
def half(n: int) -> int:
    return n // 2


@twice
@icontract.require(lambda n: n > 0)
def lowered(n: int) -> int:
    return n - 1


@contextmanager
def opened(n: int):
    if n > 3:
        raise ValueError("big")
    yield n


def entered(n: int) -> int:
    with opened(n) as m:
        return m + 1


class Interval(collections.namedtuple("IntervalBase", ["begin", "end", "data"])):
    __slots__ = ()

    def __new__(cls, begin, end, data=None):
        return super(Interval, cls).__new__(cls, begin, end, data)

    def is_null(self):
        return self.begin >= self.end


NOWHERE = Interval(0, 0)


def intervals(pairs: list[tuple[int, int]]):
    return [Interval(*pair) for pair in pairs if not Interval(*pair).is_null()]


def nowhere(n: int):
    return NOWHERE if n < 0 else Interval(n, NOWHERE.end)


class Table(dict):
    pass


class Row(list):
    def total(self):
        return sum(self)


def tables(n: int):
    table = Table(a=n)
    table["b"] = 2
    row = Row([n, 2])
    row.append(3)
    return str(table), str(row), row.total(), table


class Shelf:
    def __init__(self, /, size: int, *rest: int) -> None:
        self.size = size
        self.rest = rest

    def room(self) -> int:
        return self.size

    def double(self) -> int:
        return 2 * self.room()


class Attic(Shelf):
    """The target Shelf.double is not what an Attic has, while Attic.room is what Shelf.double may call."""

    def room(self) -> int:
        return self.size - 1


class Loft(Shelf):
    def double(self) -> int:
        return self.height


class Sorted:
    def __new__(cls, key: int):
        return object.__new__(SortedByKey) if key else object.__new__(cls)

    def __init__(self, key: int) -> None:
        assert not key


class SortedByKey(Sorted):
    def __init__(self, key: int) -> None:
        self.key = key


def sorted_by(key: int) -> bool:
    return isinstance(Sorted(key), SortedByKey)


class Pattern:
    def tips(self) -> int:
        if not hasattr(self, "children"):
            return 0
        return len(self.children)


class Parent(Pattern):
    def __init__(self, children: list[int]) -> None:
        self.children = children


class Doubled:
    """Keeps half of what it is given, in another field."""

    def __set__(self, obj, value):
        obj._half = value // 2

    def __get__(self, obj, owner):
        return 2 * obj._half


class Measure:
    size: Doubled = Doubled()

    def __init__(self, size: int) -> None:
        self.size = size


def measured(measure: Measure) -> int:
    return measure.size + 1


class Spec:
    def __init__(self, version: str, epoch: int) -> None:
        self.version = version
        self.epoch = epoch

    @property
    def canonical(self):
        return self.version, 10 // self.epoch

    def __hash__(self):
        return hash(self.canonical)

    def __eq__(self, other):
        return self.canonical == other.canonical


def unique(spec: Spec) -> int:
    return len(dict.fromkeys([spec]))


def different(n: int):
    return object.__ne__(Spec("1", 1), n), object.__eq__(Spec("1", 1), n)


class Plain:
    pass


def shown(a: Plain, b: Plain) -> str:
    if repr(a) == repr(b):
        raise ValueError(f"twice {a}")
    return str(a)


def number(text: str) -> float:
    return float(text.strip()) + 0.5


class Group:
    def __init__(self, size: int) -> None:
        self.size = size


class Walkable(Group):
    def __iter__(self):
        return iter(range(self.size))

    def __add__(self, other):
        return self.size

    def __call__(self):
        return 1


def walked(group: Group) -> list[int]:
    return [n for n in group]


def added(group: Group) -> int:
    return group() if callable(group) else group + 1


class Lenient(Group):
    def __init__(self, *args: int) -> None:
        object.__init__(self, *args)


def converted(n: int):
    return int(n, 2, 3)


SUPPRESS = "==none=="
EMPTY = ""


def suppressed(text: str) -> int:
    if text is SUPPRESS:
        return 1
    return 2 if text is EMPTY else 3


def mistaken(text: str, n: int) -> str:
    if n > 2:
        return text.replace("a", n)
    if n > 1:
        return text.find(("a", "b"))
    return text.startswith(("a", n)) if n else text.replace(n, "a")


def joined(names: int) -> str:
    return ", ".join(names)


def leave(n: int) -> int:
    if n > 3:
        sys.exit(n)
    try:
        sys.exit("no" if n < 0 else None)
    except SystemExit as error:
        return 1 if error.code else 2


class NoMembers(enum.Enum):
    pass


def member(value: NoMembers | int) -> bool:
    return isinstance(value, NoMembers)


OtherName = Plain
make_group = Group


def said(text: str, n: int) -> int:
    print(text)
    sys.stderr.writelines([text, "\n"])
    sys.stdout.flush()
    return sys.stdout.write(text if n else n)


def sorted_wrongly(numbers: list[int]) -> None:
    numbers.sort(None)


def asked_too_much(text: str) -> bool:
    return text.isdigit(1)


def names_of_parameters(n: int) -> dict[str, int]:
    return dict(vm=n, obj=2, function=3)


class Wide:
    def size(self) -> int:
        return 1


class Narrow(Wide):
    def size(self) -> int:
        return super(Narrow, self).size() + 1


def sized(wide: Wide) -> int:
    return Narrow.size(wide)  # type: ignore[arg-type]


class Corner(NamedTuple):
    """Is an input like any tuple."""

    x: int
    seen: list[int]
    name: str = ""


def cornered(corner: Corner) -> int:
    x, *_ = corner
    if x > 2:
        corner.seen.append(x)
    return len(corner.seen)


def renamed(corners: list[Corner]) -> Corner | None:
    for corner in corners:
        if corner.name == "a":
            return corner._replace(x=corner.x + 1)
    return None


class Film(TypedDict):
    """Is an input with these keys, of which one may be missing."""

    title: str
    year: NotRequired[int]


def dated(film: Film) -> Film:
    if film.get("year", 0) < 1888:
        film["year"] = 1888
    return film


def titled(one: Film, other: Film) -> str:
    one["title"] = "x"
    return other["title"]


def ended_early(n: int) -> int:
    ends: list[int] = []

    def numbers() -> Iterator[int]:
        try:
            yield 1
        finally:
            ends.append(1)

    for _ in numbers():
        if n > 3:
            break
    return len(ends)


def is_thousand(n: int) -> bool:
    thousand = 1000
    return n is thousand


class Tagged(str):
    def __repr__(self) -> str:
        return "tagged"


class Renamed(str):
    def __str__(self) -> str:
        return "renamed"


class Counted(int):
    def __repr__(self) -> str:
        return "counted"


def texts_of_heirs(s: str, n: int) -> str:
    tagged, counted, renamed = Tagged(s), Counted(n), Renamed(s)
    return f"{tagged}" + "%s" % tagged + str(counted) + "%s" % counted + f"{renamed}" + "%s" % renamed


class Ledger:
    def __init__(self, rows: list[int]) -> None:
        self.rows = rows
        self.rows.append(3)

    def size(self) -> int:
        return 0 if len(self.rows) == 0 else len(self.rows)


def caused(n: int) -> str:
    try:
        raise ValueError("inner") from (KeyError("outer") if n > 0 else None)
    except ValueError as error:
        return repr(error.__cause__)


def spread_in_a_set(xs: list[int]) -> int:
    return len({*xs})


class Named:
    def put(self, name: str, value: int) -> None:
        object.__setattr__(self, name, value)


class Notes:
    def __init__(self, lines=None) -> None:
        self.lines = lines if lines is not None else [""]

    def first(self) -> str:
        return self.lines[0] if self.lines else "none"


def grown_by_itself(xs: list[int], ys: list[int]) -> list[int]:
    """A list that grows while what it grows by looks at it, where both are one."""
    try:
        xs.extend(y // (3 - len(xs)) for y in ys)
    except ZeroDivisionError:
        return [-1]
    return xs


class Guarded:
    """Its methods take and give back a lock by themselves: what one does alone is not what it does behind another."""

    def __init__(self) -> None:
        self.ready()

    def ready(self) -> None:
        self.lock = threading.RLock()

    def take(self) -> None:
        self.lock.acquire()

    def give(self) -> None:
        self.lock.release()

    def handle(self, n: int) -> int:
        if n > 3:
            self.take()
            try:
                self.emit(n)
            finally:
                self.give()
        return n

    def emit(self, n: int) -> None:
        raise NotImplementedError


class Silent(Guarded):
    def emit(self, n: int) -> None:
        pass


def handled(ns: list[int], by: Guarded) -> int:
    return sum(by.handle(n) for n in ns)


class _Private:
    def counted(self, __n: int, *, __least: int = 2) -> int:
        def more() -> int:
            nonlocal __n
            __n += 1
            return __n

        return more() if __n > __least else __n


def _two(a, b=2, *, c, d=4):
    return a + b + c + d


def _placed(a, /, b):
    return a + b


def wrong_calls(n: int) -> object:
    """Which of two mistakes in a call is told is decided by the interpreter."""
    try:
        if n == 0:
            return _two(z=1)
        if n == 1:
            return _two(1, 2, 3, c=3)
        if n == 2:
            return _placed(a=1, b=2)
        return _placed(1, 2, 3, z=4)
    except TypeError as error:
        return str(error)


class Hex(bytes):
    def __repr__(self) -> str:
        return f"Hex('{self.hex()}')"


def hexed(n: int) -> list[bytes]:
    return [Hex(b"\x01")] if n > 0 else [b""]


class Ring:
    """An object of it asks for another one."""

    def __init__(self, inner):
        if not isinstance(inner, Ring):
            raise TypeError(inner)
        self.inner = inner

    def depth(self) -> int:
        return 1 if self.inner is self else 2


@functools.lru_cache
def _row(n: int) -> list[int]:
    return []


def rows(n: int) -> int:
    """The cache gives the very list again."""
    _row(n).append(1)
    return len(_row(n))


_LEVEL = contextvars.ContextVar("_LEVEL", default=0)


def _deeper() -> int:
    _LEVEL.set(_LEVEL.get() + 1)
    return _LEVEL.get()


def levels(n: int) -> int:
    before = _LEVEL.set(0)
    try:
        return _deeper() + _deeper() if n > 0 else _LEVEL.get()
    finally:
        _LEVEL.reset(before)
