"""One kind of mutable thing each: what it held, whether it still does, and how to put it back.

Contents are compared by identity, never with `==`: no code of the program runs, and two equal objects are not the
same object. All records are first compared at once, in loops that run in C: `restore` follows every execution, and
almost always finds almost everything unchanged.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, repeat
from operator import is_
from types import CellType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any, ClassVar

MISSING: Any = object()

# Names in a module that belong to the interpreter: taking `__warningregistry__` away would show every warning
# again in every execution.
_INTERPRETER_NAMES = frozenset({"__warningregistry__", "__builtins__"})

View = Callable[[Any], Iterable[object]]


class Record:
    """One mutable thing (`holder`) and, for each of its views, the objects it held."""

    __slots__ = ("holder", "saved")

    views: ClassVar[tuple[View, ...]]
    # How many objects a view shows; None when that never changes.
    length: ClassVar[Callable[[Any], int] | None] = None

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

    def reset(self) -> bool:
        """Put the contents back. True if `saved` changed thereby, as when names come in another order now."""
        raise NotImplementedError

    def replace(self, old: object, new: object) -> None:
        """From now on `new` is what belongs where `old` was."""
        self.saved = [tuple([new if value is old else value for value in values]) for values in self.saved]


class Records:
    """All records of a snapshot, and what they hold laid out side by side."""

    def __init__(self) -> None:
        self._records: list[Record] = []

    def __len__(self) -> int:
        return len(self._records)

    def append(self, record: Record) -> None:
        self._records.append(record)

    def learn(self) -> None:
        """Lay out again what the records hold; to be called when that has changed."""
        self._records.sort(key=lambda record: type(record).__name__)
        groups = [list(group) for _, group in groupby(self._records, key=type)]
        counted = [(kind.length, group) for group in groups if (kind := type(group[0])).length is not None]
        self._length_functions = [length for length, _ in counted]
        self._counted = [[record.holder for record in group] for _, group in counted]
        self._lengths = [len(record.saved[0]) for _, group in counted for record in group]
        seen = [(number, view, group) for group in groups for number, view in enumerate(group[0].views)]
        self._views = [view for _, view, _ in seen]
        self._seen = [[record.holder for record in group] for _, _, group in seen]
        self._objects = [thing for number, _, group in seen for record in group for thing in record.saved[number]]
        owners = [record for record in self._records if isinstance(record, Attributes)]
        self._owners = [record.owner for record in owners]
        self._owned = [record.holder for record in owners]

    def are_unchanged(self) -> bool:
        # chain.from_iterable(map(map, functions, lists)) applies each function to every element of its list.
        lengths = chain.from_iterable(map(map, self._length_functions, self._counted))
        if list(lengths) != self._lengths:
            return False
        views = chain.from_iterable(map(map, self._views, self._seen))
        if not all(map(is_, chain.from_iterable(views), self._objects)):
            return False
        return all(map(is_, map(object.__getattribute__, self._owners, repeat("__dict__")), self._owned))

    def reset(self) -> None:
        """Put back every record that differs."""
        relearn = False
        for record in self._records:
            if record.differs():
                relearn |= record.reset()
        if relearn:
            self.learn()


# -- names ------------------------------------------------------------------------------------------------


class ModuleNames(Record):
    """The globals of a module. Changed name by name: the module may be in use while it is put back."""

    __slots__ = ("module",)
    views = (dict.values, dict.keys)
    length = dict.__len__

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        super().__init__(vars(module))

    def reset(self) -> bool:
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
            return True
        return False

    def _stays(self, name: str, value: object) -> bool:
        """A submodule stays imported, so it must stay an attribute of its package."""
        return name in _INTERPRETER_NAMES or sys.modules.get(f"{self.module.__name__}.{name}") is value


class ClassAttributes(Record):
    """The attributes of a class, through a view that stays up to date."""

    __slots__ = ("owner",)
    views = (MappingProxyType.values, MappingProxyType.keys)
    length = MappingProxyType.__len__

    def __init__(self, owner: type) -> None:
        self.owner = owner
        super().__init__(vars(owner))

    def reset(self) -> bool:
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
            return True
        return False


def _attributes(owner: object) -> dict[str, Any]:
    return object.__getattribute__(owner, "__dict__")  # type: ignore[no-any-return]


class Attributes(Record):
    """The `__dict__` of an instance or a function."""

    __slots__ = ("owner",)
    views = (dict.values, dict.keys)
    length = dict.__len__

    def __init__(self, owner: object) -> None:
        self.owner = owner
        super().__init__(_attributes(owner))

    def differs(self) -> bool:
        return _attributes(self.owner) is not self.holder or super().differs()

    def reset(self) -> bool:
        if _attributes(self.owner) is not self.holder:
            object.__setattr__(self.owner, "__dict__", self.holder)
        values, keys = self.saved
        self.holder.clear()
        self.holder.update(zip(keys, values, strict=True))
        return False


# -- containers -------------------------------------------------------------------------------------------


class Dict(Record):
    """A dict of any kind but OrderedDict. Kept as a dict, which is copied back without hashing a key anew."""

    __slots__ = ("copy",)
    views = (dict.values, dict.keys)
    length = dict.__len__

    def remember(self) -> None:
        self.copy = dict.copy(self.holder)
        super().remember()

    def replace(self, old: object, new: object) -> None:
        super().replace(old, new)
        self.copy.update(zip(self.saved[1], self.saved[0], strict=True))

    def reset(self) -> bool:
        dict.clear(self.holder)
        dict.update(self.holder, self.copy)
        return False


class Ordered(Record):
    __slots__ = ()
    views = (OrderedDict.values, OrderedDict.keys)
    length = dict.__len__

    def reset(self) -> bool:
        OrderedDict.clear(self.holder)
        for value, key in zip(*self.saved, strict=True):
            OrderedDict.__setitem__(self.holder, key, value)
        return False


class List(Record):
    __slots__ = ()
    views = (list.__iter__,)
    length = list.__len__

    def reset(self) -> bool:
        list.clear(self.holder)
        list.extend(self.holder, self.saved[0])
        return False


class Deque(Record):
    __slots__ = ()
    views = (deque.__iter__,)
    length = deque.__len__

    def reset(self) -> bool:
        deque.clear(self.holder)
        deque.extend(self.holder, self.saved[0])
        return False


class Set(Record):
    """A set. It is rebuilt once at the start, so that its order of iteration is the same in every execution."""

    __slots__ = ("copy",)
    views = (set.__iter__,)
    length = set.__len__

    def remember(self) -> None:
        self.copy: set[Any] = set()
        set.update(self.copy, self.holder)
        self.reset()
        super().remember()

    def reset(self) -> bool:
        set.clear(self.holder)
        set.update(self.holder, self.copy)
        return False


class Numbers:
    """A bytearray or an array: it holds numbers, not objects, and is no record like the others."""

    __slots__ = ("copy", "holder")

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.copy = holder[:]

    def restore(self) -> None:
        if self.holder != self.copy:
            self.holder[:] = self.copy


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

    def reset(self) -> bool:
        ((value,),) = self.saved
        if value is MISSING:
            del self.holder.cell_contents
        else:
            self.holder.cell_contents = value
        return False


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

    def reset(self) -> bool:
        ((value,),) = self.saved
        member, owner = self.holder
        if value is MISSING:
            member.__delete__(owner)
        else:
            member.__set__(owner, value)
        return False


# Py_TPFLAGS_HEAPTYPE: the class was made by a class statement, and its member descriptors are its `__slots__`.
_HEAP_TYPE = 1 << 9


def instance_records(thing: object) -> Iterator[Record]:
    """The records for the attributes of an instance."""
    try:
        has_attributes = type(_attributes(thing)) is dict
    except AttributeError:
        has_attributes = False
    if has_attributes:
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
