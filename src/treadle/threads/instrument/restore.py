"""Puts the module-level state of rewritten modules back, so that every execution starts from the same world.

A snapshot remembers, for everything mutable that can be reached from the globals of the given modules, which
objects it holds. Going back means: the same objects, with the same contents, at the same places.

Reached are: containers; instances of classes of those modules (their `__dict__` and slots) and the shared objects
of the standard library listed in `_STANDARD_STATE`; attributes of the modules' classes and functions; the code of
functions, closure cells and defaults; `functools` caches, which are emptied; `itertools.count`, which starts over;
generators of random numbers; what a `threading.local` holds for this thread.
Objects of other libraries keep their state. How one thing is compared and put back is in records.py.
"""

from __future__ import annotations

import _thread
import ast
import builtins
import functools
import itertools
import random
import threading
from array import array
from collections.abc import Callable, Iterable
from types import FunctionType, MappingProxyType, MethodType, MethodWrapperType, ModuleType
from typing import Any

from treadle.threads.instrument.records import (
    CONTAINERS,
    Attributes,
    BareFunction,
    Cell,
    ClassAttributes,
    Dict,
    FunctionRecord,
    Generator,
    ModuleRecord,
    Numbers,
    Record,
    RecordBlock,
    Records,
    instance_records,
)
from treadle.threads.unasked import globals_of, home_of

# Python classes of the standard library whose instances are state shared by threads, by their module.
_STANDARD_STATE = frozenset({"queue", "collections", "threading", "types", "weakref", "_weakrefset"})

# The generator of the module `random`, which every execution seeds anew.
_EVERYBODYS = random._inst
_LruCache = type(functools.lru_cache(lambda: None))
_NOTHING: list[tuple[object, object]] = []


class Snapshot:
    """The state of the globals of `modules` now, and what the records `beside` are about. `restore()` goes back to it,
    any number of times."""

    def __init__(self, modules: Iterable[ModuleType], *beside: Record) -> None:
        self._names: set[str] = set()
        self._globals: set[int] = set()
        # Keeps what was seen alive, so that an id stays the id of the same thing. Every module refers to the
        # built-ins, which are nobody's state.
        self._seen: dict[int, object] = {id(vars(builtins)): builtins}
        self._records = Records()
        self._numbers: list[Numbers | Generator] = []
        self._caches: list[Callable[[], None]] = []
        self._counts: list[_Count] = []
        for record in beside:
            self._records.append(record)
        self._records.learn()
        self.add(modules)

    def add(self, modules: Iterable[ModuleType]) -> None:
        """Remember more modules: as they were right after their import, if that was seen, or else as they are now.

        What is remembered already is put back first: `learn` takes what it sees for the state to go back to.
        """
        self.restore()
        new = [module for module in modules if id(globals_of(module)) not in self._globals]
        for module in new:
            fresh = _fresh.pop(id(globals_of(module)), None)
            if fresh is not None:
                fresh.restore()
            self._names.add(module.__name__)
            self._globals.add(id(globals_of(module)))
        pending: list[object] = []
        for module in new:
            self._seen[id(module)] = module
            self._record(ModuleRecord(module), pending)
            pending.append(type(module))  # a class of the module's own, where it put something else in its place
        while pending:
            self._look_into(pending.pop(), pending)
        self._records.learn()

    def restore(self) -> list[tuple[object, object]]:
        """Put back whatever is not as it was. What had to be exchanged, and for what."""
        exchanged = self._start_counts_over() if self._counts else _NOTHING
        for numbers in self._numbers:
            numbers.restore()
        self._records.reset()
        for clear in self._caches:
            clear()
        return exchanged

    def knows(self, thing: object) -> bool:
        """Was this reached from the globals when they were remembered?"""
        return id(thing) in self._seen

    def _start_counts_over(self) -> list[tuple[object, object]]:
        counted = [(count.counter, count) for count in self._counts if repr(count.counter) != count.start]
        counted = [(counter, count) for counter, count in counted if count.start_over()]
        for block in {block for _, count in counted for block in count.blocks}:
            block.reset()
        return [(counter, count.counter) for counter, count in counted]

    # -- finding what is mutable ----------------------------------------------------------------------------

    def _record(self, record: Record, pending: list[object]) -> None:
        block = self._records.append(record)
        for value in record.contents():
            pending.append(value)
            counter = _counter_of(value)
            if counter is not None:
                count = self._count(counter)
                count.holders.append((record, value))
                count.blocks.add(block)

    def _count(self, counter: itertools.count[Any]) -> _Count:
        for count in self._counts:
            if count.counter is counter:
                return count
        count = _Count(counter)
        self._counts.append(count)
        return count

    def _look_into(self, thing: Any, pending: list[object]) -> None:
        # By `type(thing)`, never `isinstance`: a proxy may answer for its `__class__` by running the program.
        kind = type(thing)
        if kind in _ATOMS or id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        for base, make in CONTAINERS:
            if issubclass(kind, base):
                self._record(make(thing), pending)
                break
        if issubclass(kind, bytearray | array):
            self._numbers.append(Numbers(thing))
        if issubclass(kind, random.Random) and not issubclass(kind, random.SystemRandom) and thing is not _EVERYBODYS:
            self._numbers.append(Generator(thing))
        for base, parts in _WRAPPERS:
            if issubclass(kind, base):
                pending.extend(parts(thing))
        if issubclass(kind, _thread._local):  # what this thread, in which main runs, has there
            self._record(Dict(_thread._local.__getattribute__(thing, "__dict__")), pending)
        if kind is FunctionType:
            self._look_into_function(thing, pending)
        elif kind is _LruCache:
            # Starts empty, in the first execution as in every other.
            thing.cache_clear()
            self._caches.append(thing.cache_clear)
            pending.append(thing.__wrapped__)
        elif issubclass(kind, type):
            if home_of(thing) in self._names:
                self._record(ClassAttributes(thing), pending)
        elif self._is_ours(thing):
            for record in instance_records(thing):
                self._record(record, pending)

    def _look_into_function(self, function: FunctionType, pending: list[object]) -> None:
        if id(function.__globals__) not in self._globals:
            if function.__globals__.get("__name__") not in self._names:
                return
            # of a module that put something else in its place
            self._globals.add(id(function.__globals__))
            self._record(Dict(function.__globals__), pending)
        if function.__dict__:
            self._record(Attributes(function), pending)
        self._record((FunctionRecord if function.__dict__ else BareFunction)(function), pending)
        for cell in function.__closure__ or ():
            if id(cell) not in self._seen:
                self._seen[id(cell)] = cell
                self._record(Cell(cell), pending)

    def _is_ours(self, thing: object) -> bool:
        kind = type(thing)
        if issubclass(kind, threading.Thread) and threading.Thread.is_alive(thing):  # type: ignore[arg-type]
            return False
        return home_of(kind) in _STANDARD_STATE or any(home_of(base) in self._names for base in kind.__mro__)


# The state of modules that were imported in the midst of an execution, which then went on to change it.
_fresh: dict[int, Snapshot] = {}


def remember_fresh(module: ModuleType) -> None:
    """`module` was imported just now, and not only loaded again; a snapshot that learns of it later goes back to this
    moment."""
    if id(globals_of(module)) not in _fresh:
        _fresh[id(globals_of(module))] = Snapshot([module])


def forget_fresh(module: ModuleType) -> None:
    _fresh.pop(id(globals_of(module)), None)


class _Count:
    """An `itertools.count`. It cannot be set back, so a new one takes its place wherever the old one was held."""

    def __init__(self, counter: itertools.count[Any]) -> None:
        self.counter = counter
        self.start = repr(counter)
        # Who holds the counter, or its bound `__next__`.
        self.holders: list[tuple[Record, object]] = []
        self.blocks: set[RecordBlock] = set()

    def start_over(self) -> bool:
        try:
            arguments = ast.literal_eval(self.start.removeprefix("count"))
        except (ValueError, SyntaxError):
            return False  # counts in steps of some other type of number
        fresh = itertools.count(*(arguments if isinstance(arguments, tuple) else (arguments,)))
        held: list[tuple[Record, object]] = []
        for holder, old in self.holders:
            new = fresh if old is self.counter else fresh.__next__
            holder.replace(old, new)
            held.append((holder, new))
        self.counter, self.holders = fresh, held
        return True


def _counter_of(value: Any) -> itertools.count[Any] | None:
    if type(value) is itertools.count:
        return value
    if type(value) is MethodWrapperType and type(value.__self__) is itertools.count:
        return value.__self__
    return None


# What an object of these types refers to, besides its own attributes.
_WRAPPERS: tuple[tuple[type, Callable[[Any], Iterable[object]]], ...] = (
    (tuple, tuple.__iter__),
    (frozenset, frozenset.__iter__),
    (staticmethod, lambda wrapper: (wrapper.__func__,)),
    (classmethod, lambda wrapper: (wrapper.__func__,)),
    (property, lambda wrapper: (wrapper.fget, wrapper.fset, wrapper.fdel)),
    (functools.cached_property, lambda wrapper: (wrapper.func,)),
    (functools.partial, lambda wrapper: (wrapper.func, wrapper.args, wrapper.keywords)),
    (functools.partialmethod, lambda wrapper: (wrapper.func, wrapper.args, wrapper.keywords)),
    (MethodType, lambda method: (method.__func__, method.__self__)),
    (MappingProxyType, lambda view: tuple(view.values())),
)

# Nothing can be changed through these; asked first, because most values are of these types.
_ATOMS = frozenset({int, str, bytes, float, complex, bool, type(None), type(...), range, slice, ModuleType})
