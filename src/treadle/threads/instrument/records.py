"""One kind of mutable thing each: what it held, whether it still does, and how to put it back.

Contents are compared by identity, never with `==`: no code of the program runs, and two equal objects are not the
same object. Many records are first compared at once: `restore` follows every execution, and finds almost everything
unchanged.
"""

from __future__ import annotations

import random
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from ctypes import string_at
from gc import get_referents
from itertools import chain
from operator import is_
from types import CellType, FunctionType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any, ClassVar

from treadle.threads.unasked import globals_of, kept_attributes

MISSING: Any = object()

# Names in a module that belong to the interpreter: taking `__warningregistry__` away would show every warning
# again in every execution.
_INTERPRETER_NAMES = frozenset({"__warningregistry__", "__builtins__"})

View = Callable[[Any], Iterable[object]]


class Record:
    """One mutable thing (`holder`) and, for each of its views, the objects it held."""

    __slots__ = ("holder", "saved")

    views: ClassVar[tuple[View, ...]]
    # Does the holder have keys, which the garbage collector may not tell?
    named: ClassVar[bool] = False

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.remember()

    def now(self) -> list[tuple[Any, ...]]:
        return [tuple(view(self.holder)) for view in self.views]

    def remember(self) -> None:
        self.saved = self.now()

    def contents(self) -> Iterable[object]:
        """What it holds, to be looked into."""
        return chain.from_iterable(self.saved)

    def differs(self) -> bool:
        return any(
            len(now) != len(saved) or not all(map(is_, now, saved))
            for now, saved in zip(self.now(), self.saved, strict=True)
        )

    def names(self) -> dict[Any, Any]:
        """The dict of a record that is `named`."""
        return self.holder  # type: ignore[no-any-return]

    def referring(self) -> Iterable[object]:
        """The objects that refer to the contents, as the garbage collector sees it."""
        return (self.holder,)

    def reset(self) -> None:
        """Put the contents back. `saved` may change thereby, as when names come in another order now."""
        raise NotImplementedError

    def replace(self, old: object, new: object) -> None:
        """From now on `new` is what belongs where `old` was."""
        self.saved = [tuple([new if value is old else value for value in values]) for values in self.saved]


class Referents:
    """What some objects refer to, and a way to see at once whether it is still that.

    The garbage collector tells it for all of them in one call. CPython keeps the addresses of its items behind the head
    of a tuple: they are compared as one value.
    """

    __slots__ = ("_addresses", "_objects")

    def __init__(self, objects: Iterable[object]) -> None:
        self._objects = list(objects)
        self._addresses = self._now()

    def _now(self) -> bytes:
        items = tuple(get_referents(*self._objects))
        return string_at(id(items) + _HEAD, len(items) * _POINTER)

    def are_the_same(self) -> bool:
        return self._now() == self._addresses


class RecordBlock:
    """Some records of a snapshot, and a way to see at once whether any of them differs.

    Of dicts with string keys the garbage collector tells the values only, so keys are compared beside. Slots that are
    empty it leaves out, so each slot is looked at.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []

    def learn(self) -> None:
        """Look again at what the records hold; to be called when that has changed."""
        holders = [holder for record in self.records for holder in record.referring()]
        self._referents = Referents(chain.from_iterable((holder, BOUNDARY) for holder in holders))
        self._views = [dict.keys(record.names()) for record in self.records if record.named]
        self._owned = [(record.owner, record.holder) for record in self.records if isinstance(record, Attributes)]
        self._slots = [record for record in self.records if isinstance(record, Slot)]
        self._keys = [list(view) for view in self._views]

    def is_unchanged(self) -> bool:
        if not self._referents.are_the_same():
            return False
        # Only keys that are strings can differ by now: comparing them runs no code of the program.
        if [list(view) for view in self._views] != self._keys:
            return False
        for owner, attributes in self._owned:
            if _attributes(owner) is not attributes:
                return False
        return not self._slots or not any(slot.differs() for slot in self._slots)

    def reset(self) -> None:
        """Put back every record that differs."""
        for record in self.records:
            if record.differs():
                record.reset()
        self.learn()


class Records:
    """All records of a snapshot. They are compared block by block, so that what an execution changes costs no more than
    its blocks: a program may have hundreds of thousands of records."""

    def __init__(self) -> None:
        self._blocks: list[RecordBlock] = []

    def append(self, record: Record) -> RecordBlock:
        """Keep a record; the block that it is in."""
        if not self._blocks or len(self._blocks[-1].records) >= _BLOCK:
            self._blocks.append(RecordBlock())
        self._blocks[-1].records.append(record)
        return self._blocks[-1]

    def learn(self) -> None:
        for block in self._blocks:
            block.learn()

    def reset(self) -> None:
        for block in self._blocks:
            if not block.is_unchanged():
                block.reset()


# Records that are compared at once.
_BLOCK = 500

# Between what one holder refers to and what the next does.
BOUNDARY = (object(),)

_POINTER = tuple.__itemsize__
_HEAD = tuple.__basicsize__


# -- names ------------------------------------------------------------------------------------------------


class ModuleRecord(Record):
    """The globals of a module. Changed name by name: the module may be in use while it is put back."""

    __slots__ = ("module",)
    named = True
    views = (dict.values, dict.keys)

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        super().__init__(globals_of(module))

    def reset(self) -> None:
        names: dict[str, Any] = self.holder
        values, keys = self.saved
        before = dict(zip(keys, values, strict=True))
        for name in [name for name in names if name not in before]:
            if not self._stays(name, names[name]):
                del names[name]
        for name, value in before.items():
            if names.get(name, MISSING) is not value:
                names[name] = value
        if self.differs():
            self.remember()

    def _stays(self, name: str, value: object) -> bool:
        """A submodule stays imported, so it must stay an attribute of its package."""
        return name in _INTERPRETER_NAMES or sys.modules.get(f"{self.module.__name__}.{name}") is value


class ClassAttributes(Record):
    """The attributes of a class, through a view that stays up to date."""

    __slots__ = ("owner",)
    named = True
    views = (MappingProxyType.values, MappingProxyType.keys)

    def __init__(self, owner: type) -> None:
        self.owner = owner
        super().__init__(type.__getattribute__(owner, "__dict__"))

    def names(self) -> dict[Any, Any]:
        (behind_the_view,) = get_referents(self.holder)
        return behind_the_view  # type: ignore[no-any-return]

    def referring(self) -> Iterable[object]:
        return (self.names(),)

    def reset(self) -> None:
        if self.owner.__flags__ & _IMMUTABLE_TYPE:  # nobody can have changed it: it was asked for its annotations
            self.remember()
            return
        # `type` itself does it: a metaclass (as that of an Enum) may forbid or redefine changes.
        values, keys = self.saved
        before = dict(zip(keys, values, strict=True))
        for name in [name for name in self.holder if name not in before]:
            type.__delattr__(self.owner, name)
        for name, value in before.items():
            if self.holder.get(name, MISSING) is not value:
                type.__setattr__(self.owner, name, value)
        if self.differs():
            self.remember()


def _attributes(owner: object) -> dict[str, Any]:
    return object.__getattribute__(owner, "__dict__")  # type: ignore[no-any-return]


class Attributes(Record):
    """The `__dict__` of an instance or a function."""

    __slots__ = ("owner",)
    named = True
    views = (dict.values, dict.keys)

    def __init__(self, owner: object) -> None:
        self.owner = owner
        super().__init__(_attributes(owner))

    def referring(self) -> Iterable[object]:
        return self.owner, self.holder  # from 3.13 on the values may be kept in the owner

    def differs(self) -> bool:
        return _attributes(self.owner) is not self.holder or super().differs()

    def reset(self) -> None:
        if _attributes(self.owner) is not self.holder:
            with suppress(AttributeError, TypeError):  # an attribute that the program cannot set either
                object.__setattr__(self.owner, "__dict__", self.holder)
        values, keys = self.saved
        self.holder.clear()
        self.holder.update(zip(keys, values, strict=True))


def _function_parts(function: FunctionType) -> tuple[object, ...]:
    return function.__code__, function.__defaults__, function.__kwdefaults__


class FunctionRecord(Record):
    """What a function runs and its defaults: a decorator may compile the function when it is first called."""

    __slots__ = ()
    views: ClassVar[tuple[View, ...]] = (_function_parts,)

    def reset(self) -> None:
        code, defaults, keyword_defaults = self.saved[0]
        self.holder.__code__ = code
        self.holder.__defaults__ = defaults
        self.holder.__kwdefaults__ = keyword_defaults


def _function_attributes(function: FunctionType) -> Iterable[object]:
    return function.__dict__.values()


class BareFunction(FunctionRecord):
    """A function without attributes."""

    __slots__ = ()
    views = (_function_parts, _function_attributes)

    def referring(self) -> Iterable[object]:
        return self.holder, self.holder.__dict__

    def reset(self) -> None:
        super().reset()
        self.holder.__dict__.clear()


# -- containers -------------------------------------------------------------------------------------------


class Dict(Record):
    """A dict of any kind but OrderedDict. Kept as a dict, which is copied back without hashing a key anew."""

    __slots__ = ("copy",)
    named = True
    views = (dict.values, dict.keys)

    def remember(self) -> None:
        if type(self.holder).__iter__ is dict.__iter__:
            self.copy = dict.copy(self.holder)
        else:  # copying would loop over it with a method of the program
            self.copy = dict(dict.items(self.holder))
        super().remember()

    def replace(self, old: object, new: object) -> None:
        super().replace(old, new)
        self.copy.update(zip(self.saved[1], self.saved[0], strict=True))

    def reset(self) -> None:
        dict.clear(self.holder)
        dict.update(self.holder, self.copy)


class Ordered(Record):
    __slots__ = ()
    views = (OrderedDict.values, OrderedDict.keys)

    def reset(self) -> None:
        OrderedDict.clear(self.holder)
        for value, key in zip(*self.saved, strict=True):
            OrderedDict.__setitem__(self.holder, key, value)


class List(Record):
    __slots__ = ()
    views = (list.__iter__,)

    def reset(self) -> None:
        list.clear(self.holder)
        list.extend(self.holder, self.saved[0])


class Deque(Record):
    __slots__ = ()
    views = (deque.__iter__,)

    def reset(self) -> None:
        deque.clear(self.holder)
        deque.extend(self.holder, self.saved[0])


class Set(Record):
    """A set. It is rebuilt once at the start, so that its order of iteration is the same in every execution."""

    __slots__ = ("copy",)
    views = (set.__iter__,)

    def remember(self) -> None:
        self.copy: set[Any] = set()
        set.update(self.copy, self.holder)
        self.reset()
        super().remember()

    def reset(self) -> None:
        set.clear(self.holder)
        set.update(self.holder, self.copy)


class Numbers:
    """A bytearray or an array: it holds numbers, not objects, and is no record like the others."""

    __slots__ = ("copy", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = holder[:]

    def restore(self) -> None:
        if self.holder != self.copy:
            self.holder[:] = self.copy


class Generator:
    """A generator of random numbers: what it keeps in C, and the number that `gauss` has left."""

    __slots__ = ("holder", "state")

    def __init__(self, holder: random.Random) -> None:
        self.holder = holder
        self.state = random.Random.getstate(holder)

    def restore(self) -> None:
        if random.Random.getstate(self.holder) != self.state:
            random.Random.setstate(self.holder, self.state)


# -- single values ----------------------------------------------------------------------------------------


def _cell_contents(cell: CellType) -> tuple[object]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return (MISSING,)


class Cell(Record):
    """A closure variable."""

    __slots__ = ()
    views = (_cell_contents,)

    def reset(self) -> None:
        ((value,),) = self.saved
        if value is MISSING:
            del self.holder.cell_contents
        else:
            self.holder.cell_contents = value


def _slot_value(holder: tuple[MemberDescriptorType, object]) -> tuple[object]:
    member, owner = holder
    try:
        return (member.__get__(owner),)
    except AttributeError:
        return (MISSING,)


class Slot(Record):
    """One slot of one instance; the holder is the pair of both."""

    __slots__ = ()
    views = (_slot_value,)

    def referring(self) -> Iterable[object]:
        return ()

    def reset(self) -> None:
        ((value,),) = self.saved
        member, owner = self.holder
        with suppress(AttributeError, TypeError):  # read-only: a member of a type made in C
            if value is MISSING:
                member.__delete__(owner)
            else:
                member.__set__(owner, value)


# Py_TPFLAGS_HEAPTYPE: the class was made by a class statement, and its member descriptors are its `__slots__`.
_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9


def instance_records(thing: object) -> Iterator[Record]:
    """The records for the attributes of an instance."""
    if kept_attributes(thing) is not None:
        yield Attributes(thing)
    for base in type(thing).__mro__:
        if base.__flags__ & _HEAP_TYPE:
            for member in vars(base).values():
                if type(member) is MemberDescriptorType:
                    yield Slot((member, thing))


# The first that fits is taken.
CONTAINERS: tuple[tuple[type, type[Record]], ...] = (
    (OrderedDict, Ordered),
    (dict, Dict),
    (list, List),
    (deque, Deque),
    (set, Set),
)
