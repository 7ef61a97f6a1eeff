"""The state of an object as plain data: two objects have equal fingerprints when nothing a program can reach differs.

An object graph becomes one nested tuple: objects are numbered in the order in which they are met, so cycles end and
aliasing shows; attributes and slots are sorted by name; dictionaries keep their order, which a program can see, sets
do not; locks and their like count by their state; functions and classes by their name without that of their module,
which is another one in a written test; weak references by what they refer to. What cannot be looked into (an object of
a C type with nothing but an address) counts by its type alone, so a fingerprint may take two states for one, never one
for two.

Code under test is not run: no `__eq__`, `__hash__`, `__repr__` or property of the program is called.
"""

from __future__ import annotations

import _random
import array
import asyncio
import asyncio.mixins
import collections
import concurrent.futures
import functools
import hashlib
import itertools
import queue
import threading
import types
import weakref
from collections.abc import Callable, Collection, Hashable
from typing import Any

from treadle.core.words import has_address, without_addresses
from treadle.threads.primitives.local import Local
from treadle.threads.strands import SyncObject
from treadle.threads.unasked import on_class

_ATOMS = (int, str, bytes, float, complex, bool, type(None), type(...), type(NotImplemented))
_BY_NAME = (types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_LAZY = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, zip, map, filter, enumerate, reversed)
# Types made in C whose repr tells all of their state.
_TOLD_BY_REPR = frozenset({"datetime", "decimal", "fractions", "uuid", "re", "pathlib", "zoneinfo", "builtins", "_io"})
# A graph deeper than this is told by type only from there on: the interpreter's own limit is not far.
_DEEPEST = 150

_CONTAINERS = (dict, list, tuple, set, frozenset, collections.deque)
_LOCKS: tuple[type, ...] = (type(threading.Lock()), type(threading.RLock()))


def fingerprint(
    obj: Any, without: Collection[str] = (), known: dict[int, str] | None = None, outside: bool = False
) -> Hashable:
    """The state of an object. `without` names attributes to leave out; `known` gives objects a name of their own.

    `outside` tells only what a user can compare: an object that does not define equality counts by its class.
    """
    return _Graph(frozenset(without), known or {}, outside).of(obj, 0)


def inner_state(obj: Any, without: Collection[str] = ()) -> Hashable:
    """The state of an object, or of a module or function that is itself the shared thing: its globals, its closure."""
    if isinstance(obj, types.ModuleType):
        return fingerprint(module_content(obj), without)
    if isinstance(obj, type):
        return fingerprint([class_content(one) for one in (obj, type(obj)) if _python(one)], without)
    return fingerprint(function_content(obj) if isinstance(obj, types.FunctionType) else obj, without)


def class_content(cls: type) -> dict[str, Any]:
    """What a class keeps that is state: no code, no descriptors."""
    return {
        name: value
        for name, value in vars(cls).items()
        if not name.startswith("__") and not callable(value) and not hasattr(type(value), "__get__")
    }


def function_content(function: types.FunctionType) -> dict[str, Any]:
    """The variables that a function, and those that it knows, hold on to."""
    found: dict[str, Any] = {}
    pending, seen = [function], {id(function)}
    while pending:
        one = pending.pop(0)
        held = {**dict(zip(one.__code__.co_freevars, one.__closure__ or (), strict=True)), **vars(one)}
        for name, kept in held.items():
            try:
                value = kept.cell_contents if isinstance(kept, types.CellType) else kept
            except ValueError:  # not bound yet
                continue
            if not isinstance(value, types.FunctionType):
                found[f"{one.__qualname__}.{name}"] = value
            elif id(value) not in seen:
                seen.add(id(value))
                pending.append(value)
    return found


def module_content(module: types.ModuleType) -> dict[str, Any]:
    """The globals of a module that are state: no code, no classes."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("__") and not callable(value) and not isinstance(value, type)
    }


def digest(state: Hashable) -> str:
    """A short name for a state, the same in every process."""
    return hashlib.sha256(repr(state).encode()).hexdigest()[:16]


def attributes_of(value: Any) -> dict[str, Any]:
    """What an object keeps in its slots and its `__dict__`."""
    found: dict[str, Any] = {}
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    found[name] = member.__get__(value)
                except AttributeError:
                    continue
    try:
        found.update(object.__getattribute__(value, "__dict__"))
    except (AttributeError, TypeError):  # none, or one that is not its own, as of a task that stands for another
        pass
    return found


def is_iterator_class(kind: type) -> bool:
    """Are objects of this class used up by looking at them?"""
    used_up = on_class(kind, "__next__") is not None and on_class(kind, "__iter__") is not None
    return issubclass(kind, _LAZY) or used_up


def is_iterator(value: Any) -> bool:
    """Is this a value that is used up by looking at it?"""
    return is_iterator_class(type(value))


class _Graph:
    def __init__(self, without: frozenset[str], known: dict[int, str], outside: bool = False) -> None:
        self.outside = outside
        self.without = without
        self.known = known
        self.numbers: dict[int, int] = {}
        self.keep: list[Any] = []
        self.untold: set[int] = set()  # objects that are not told by all of their state

    def of(self, value: Any, depth: int) -> Hashable:
        kind = type(value)
        if kind in _ATOMS:
            if kind is int and value.bit_length() > 1000:
                return ("int", hex(value))  # Python refuses to write very long ones otherwise
            return (kind.__name__, repr(value)) if kind in (bool, float) else value  # 1 == True == 1.0 in Python
        if self.known and id(value) in self.known:
            return ("known", self.known[id(value)])
        if isinstance(value, type):
            return ("class", value.__qualname__)
        if kind is types.ModuleType:
            return ("module", value.__name__)
        seen = self.numbers.get(id(value))
        if seen is not None:
            return ("again", seen)
        self.numbers[id(value)] = len(self.numbers)
        self.keep.append(value)
        if depth > _DEEPEST:
            self.untold.add(id(value))
            return ("deep", kind.__qualname__)
        return self._into(value, kind, depth + 1)

    def _into(self, value: Any, kind: type, depth: int) -> Hashable:
        for base, look in _LOOKS:
            if issubclass(kind, base):
                if look not in _TELL_ALL:
                    self.untold.add(id(value))
                return look(self, value, depth)
        if issubclass(kind, _BY_NAME):
            if getattr(value, "__closure__", None) or getattr(value, "__dict__", None):
                self.untold.add(id(value))
            return ("function", value.__qualname__)
        if issubclass(kind, _LAZY) or on_class(kind, "__next__") is not None:
            self.untold.add(id(value))
            return ("iterator", kind.__name__)
        if self.outside and on_class(kind, "__eq__") is object.__eq__:
            return ("object", kind.__qualname__)
        attributes = self.attributes(value, depth)
        if not attributes and kind.__module__ in _TOLD_BY_REPR:
            text = object.__repr__(value) if _python(kind) else repr(value)
            if has_address(text) and kind is not object:
                self.untold.add(id(value))
            return (kind.__qualname__, without_addresses(text))
        if _keeps_more(kind):
            self.untold.add(id(value))
        return (kind.__qualname__, *attributes)

    def attributes(self, value: Any, depth: int) -> tuple[Hashable, ...]:
        """What an object keeps in `__dict__` and slots, by name."""
        if self.outside and isinstance(value, _CONTAINERS):
            return ()
        found = attributes_of(value)
        return tuple((name, self.of(found[name], depth)) for name in sorted(found, key=str) if name not in self.without)

    def items(self, values: Any, depth: int) -> tuple[Hashable, ...]:
        return tuple(self.of(value, depth) for value in values)


class Told(_Graph):
    """The state of an object, and what of it is not told by its fingerprint."""

    def __init__(self, obj: Any) -> None:
        super().__init__(frozenset(), {})
        self.state = self.of(obj, 0)

    def of(self, value: Any, depth: int = 0) -> Hashable:
        return super().of(value, depth)


def _keeps_more(kind: type) -> bool:
    """Does an object of this type keep more than its attributes: is one of its bases made in C?"""
    return any(isinstance(vars(base).get("__new__"), types.BuiltinFunctionType) for base in kind.__mro__[:-1])


def _python(kind: type) -> bool:
    return bool(kind.__flags__ & (1 << 9))  # a heap type: its __repr__ may be the program's


def _dict(graph: _Graph, value: Any, depth: int) -> Hashable:
    kind = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict  # its order is its own
    pairs = tuple((graph.of(key, depth), graph.of(item, depth)) for key, item in list(kind.items(value)))
    factory = graph.of(value.default_factory, depth) if isinstance(value, collections.defaultdict) else None
    return (type(value).__qualname__, pairs, factory, *graph.attributes(value, depth))


def _list(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, graph.items(list.__iter__(value), depth), *graph.attributes(value, depth))


def _tuple(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, graph.items(tuple.__iter__(value), depth), *graph.attributes(value, depth))


def _deque(graph: _Graph, value: Any, depth: int) -> Hashable:
    content = graph.items(collections.deque.__iter__(value), depth)
    return (type(value).__qualname__, content, value.maxlen, *graph.attributes(value, depth))


def _set(graph: _Graph, value: Any, depth: int) -> Hashable:
    content = sorted((graph.of(item, depth) for item in list(value)), key=repr)
    return (type(value).__qualname__, tuple(content), *graph.attributes(value, depth))


def _view(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, graph.items(list(value), depth))


def _plain_repr(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, without_addresses(repr(value)))


def _kind_of_atom(graph: _Graph, value: Any, depth: int) -> Hashable:
    """The number or text that an instance of a subclass of int, str, ... stands for, and what else it keeps."""
    base: Any = next(base for base in _ATOMS if isinstance(value, base))
    kept = () if graph.outside else graph.attributes(value, depth)
    return (type(value).__qualname__, base.__repr__(value), *kept)


def _exception(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, graph.items(value.args, depth))


def _weak(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("weak reference", graph.of(value(), depth))


def _method(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("method", graph.of(value.__self__, depth), value.__func__.__qualname__)


def _partial(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("partial", graph.of(value.func, depth), graph.items(value.args, depth), graph.of(value.keywords, depth))


def _generator(graph: _Graph, value: Any, depth: int) -> Hashable:
    """A generator of random numbers: what it keeps in C as well, which is long."""
    return (type(value).__qualname__, hash(_random.Random.getstate(value)), *graph.attributes(value, depth))


def _lock(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("lock", "free" if repr(value).startswith("<unlocked") else "held")


def _model(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("lock", value.describe(), "held" if getattr(value, "owner", None) is not None else "free")


def _event(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("event", value._flag)


def _semaphore(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("semaphore", value._value)


def _queue(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__, graph.of(getattr(value, "queue", None), depth), getattr(value, "maxsize", 0))


def _future(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("future", value._state, graph.of(value._result, depth), graph.of(value._exception, depth))


def _handle(graph: _Graph, value: Any, depth: int) -> Hashable:
    """A callback that an event loop will run: whether it will, not when, and without the loop."""
    return (type(value).__qualname__, "cancelled" if value.cancelled() else "scheduled")


def _thread(graph: _Graph, value: Any, depth: int) -> Hashable:
    return ("thread", type(value).__qualname__)


def _of_event_loop(graph: _Graph, value: Any, depth: int) -> Hashable:
    """A lock, event, semaphore or queue of asyncio: without its loop, and without the lists of those who wait while
    they are empty, which are made when somebody first waits."""
    found = {name: kept for name, kept in attributes_of(value).items() if name != "_loop"}
    kept = {name: kept for name, kept in found.items() if name not in _WAITING or kept}
    return (type(value).__qualname__, *((name, graph.of(kept[name], depth)) for name in sorted(kept)))


_WAITING = frozenset({"_waiters", "_getters", "_putters"})


def _opaque(graph: _Graph, value: Any, depth: int) -> Hashable:
    return (type(value).__qualname__,)


Look = Callable[[_Graph, Any, int], Hashable]

# The first base that fits tells how to look into an object.
_LOOKS: list[tuple[Any, Look]] = [
    (dict, _dict),
    (list, _list),
    (tuple, _tuple),
    (collections.deque, _deque),
    ((set, frozenset), _set),
    ((bytearray, array.array, range, slice, itertools.count), _plain_repr),
    (_ATOMS[:6], _kind_of_atom),
    ((type({}.keys()), type({}.values()), type({}.items())), _view),
    (BaseException, _exception),
    (weakref.ref, _weak),
    (types.MethodType, _method),
    (functools.partial, _partial),
    (_random.Random, _generator),
    (_LOCKS, _lock),
    (SyncObject, _model),
    (threading.Event, _event),
    (threading.Semaphore, _semaphore),
    ((queue.Queue, queue.SimpleQueue), _queue),
    ((concurrent.futures.Future, asyncio.Future, asyncio.futures._PyFuture), _future),  # type: ignore[attr-defined]
    (asyncio.Handle, _handle),
    (asyncio.mixins._LoopBoundMixin, _of_event_loop),
    (asyncio.AbstractEventLoop, _opaque),
    (threading.Thread, _thread),
    ((threading.Condition, threading.Barrier, threading.local, Local, concurrent.futures.Executor), _opaque),
]

# These tell all that an object of their kind keeps.
_TELL_ALL = frozenset(
    {_dict, _list, _tuple, _deque, _set, _plain_repr, _view, _weak, _method, _partial, _lock, _model, _event}
    | {_semaphore, _queue, _kind_of_atom, _generator}
)
