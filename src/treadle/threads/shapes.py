"""What an attribute access on an object of some type means for the search, worked out once per type and name.

FIELD     data of the object itself: a point on (object, attribute)
CLASS     data kept on the class and perhaps hidden by the object's own: a point on both
CODE      a method, property or other descriptor: no point; its own code has points, if it is rewritten
ATOMIC    a method of a class that is not rewritten: the call is one operation on the whole object
CONTAINER a method of a built-in container: the call is one operation on the container
ADOPT     a real lock, queue, ...: its model takes its place
MODULE    a variable of a module
META      an attribute of a class
NATIVE    data that a descriptor in C, or a property that is not rewritten, shows: a point on the whole object
WHOLE     `__dict__`: the whole object
PROXY     of a weak proxy or of `Generic[int]`: the object or class behind it has the attribute
STATE_OF_MODEL what a modelled object keeps of its state in an attribute: a look at the object
NONE      nothing to see
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import concurrent.futures.thread
import functools
import queue
import threading
import types
import weakref
from threading import Thread
from typing import Any, Final, SupportsAbs

from treadle.threads.containers import container_base
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.known import IMMUTABLE, TRANSPARENT_MODULES, in_modules, is_stranger
from treadle.threads.names import PLAIN
from treadle.threads.primitives.local import Local, RealLocal
from treadle.threads.primitives.locks import RealLock, RealRLock
from treadle.threads.primitives.queues import RealSimpleQueue
from treadle.threads.strands import SyncObject
from treadle.threads.unasked import home_of

NONE: Final = 0
FIELD: Final = 1
CLASS: Final = 2
CODE: Final = 3
ATOMIC: Final = 4
CONTAINER: Final = 5
ADOPT: Final = 6
MODULE: Final = 7
META: Final = 8
WHOLE: Final = 9
NATIVE: Final = 10
PROXY: Final = 11
STATE_OF_MODEL: Final = 12

# type -> attribute -> one of the above
SHAPES: Final[dict[type, dict[str, int]]] = {}
# Types no attribute of which is ADOPT or STATE_OF_MODEL, of those that were asked about.
NOT_MODELLED: Final[set[type]] = set()


# The type of `Generic[int]` of a class that is generic, which has no public name.
GENERIC_ALIAS: Final[Any] = type(SupportsAbs[int])

# The real things that a model replaces, found by identity.
ADOPTABLE: Final[tuple[type, ...]] = (RealLock, RealRLock, RealSimpleQueue, RealLocal, threading.Condition)

# Python classes whose own methods are under control: what they keep in themselves is the runtime's business.
MODELLED: tuple[type, ...] = (
    Thread,
    threading.Condition,
    threading.Event,
    threading.Semaphore,
    threading.Barrier,
    queue.Queue,
    concurrent.futures.Future,
    concurrent.futures.Executor,
    asyncio.AbstractEventLoop,
    asyncio.Handle,
    asyncio.futures._PyFuture,  # type: ignore[attr-defined]
)
_MODELLED_MODULES = frozenset(
    {"threading", "queue", "concurrent.futures._base", "concurrent.futures.thread"}
    | {"asyncio.base_events", "asyncio.events", "asyncio.futures", "asyncio.tasks", "asyncio"}
)

# What programs read of modelled objects without calling a method.
_DATA_OF_MODELS: Final[dict[type, frozenset[str]]] = {
    threading.Semaphore: frozenset({"_value"}),
    threading.Event: frozenset({"_flag"}),
    queue.Queue: frozenset({"queue", "unfinished_tasks", "is_shutdown"}),
}
_NAMES_OF_THREADS: Final = frozenset({"name", "_name"})

_METHODS_IN_C = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
)
_CODE_TYPES = (
    types.FunctionType,
    *_METHODS_IN_C,
    classmethod,
    staticmethod,
    property,
    type,
)


def forget() -> None:
    """Forget what was worked out: other modules may be rewritten from now on."""
    SHAPES.clear()
    NOT_MODELLED.clear()


def rewritten(cls: type) -> bool:
    """Was the module that defines this class rewritten?"""
    return home_of(cls) in REWRITTEN


def _never_changes(kind: type) -> bool:
    """A subclass in the program may keep data of its own beside a value that never changes."""
    return issubclass(kind, IMMUTABLE) and not rewritten(kind)


def classify(kind: type, name: str) -> int:
    """Work out one entry of SHAPES."""
    how = _classify(kind, name)
    SHAPES.setdefault(kind, {})[name] = how
    return how


def is_modelled(kind: type) -> bool:
    """Has it an attribute that is ADOPT or STATE_OF_MODEL?"""
    if issubclass(kind, (*ADOPTABLE, *_DATA_OF_MODELS)):
        return True
    NOT_MODELLED.add(kind)
    return False


def _classify(kind: type, name: str) -> int:
    if kind is types.ModuleType:
        return MODULE
    if issubclass(kind, type):
        return NONE if name.startswith("__") else META
    if issubclass(kind, ADOPTABLE):
        return ADOPT
    if kind in weakref.ProxyTypes or (issubclass(kind, GENERIC_ALIAS) and not name.startswith("__")):
        return PROXY
    if kind is types.MethodType and not name.startswith("__"):
        return PROXY  # what its function keeps
    if isinstance(getattr(kind, "__getattribute__", None), types.FunctionType) and name != "__dict__":
        return CODE  # its own code reads the attribute; built-in types have one of their own
    return plain_shape(kind, name)


def plain_shape(kind: type, name: str) -> int:
    """What an attribute of an instance is for whoever reads it past a `__getattribute__` of its class."""
    if kind is functools.partial and name == "keywords":
        return NONE
    if kind in (types.FunctionType, functools.partial) and (not name.startswith("__") or name == "__wrapped__"):
        return FIELD  # a variable that a function keeps for itself
    if kind in PLAIN or issubclass(kind, (SyncObject, Local)):
        return NONE
    if name == "__dict__":
        return WHOLE
    if name == "__class__":
        return FIELD
    if name.startswith("__") and name.endswith("__") and not issubclass(kind, BaseException):
        if name in vars(object):
            return CODE
        return CONTAINER if container_base(kind) is not None else _special_method(kind, name)
    if issubclass(kind, MODELLED) and _of_the_model(kind, name):
        if issubclass(kind, Thread) and name in _NAMES_OF_THREADS:
            return FIELD
        known = any(issubclass(kind, model) and name in data for model, data in _DATA_OF_MODELS.items())
        return STATE_OF_MODEL if known else CODE
    if _never_changes(kind):
        return NONE
    for cls in kind.__mro__:
        if name in vars(cls):
            return _class_level(kind, cls, vars(cls)[name])
    if not rewritten(kind) and is_stranger(getattr(kind, "__getattr__", None)):
        return NATIVE  # made up by its class, perhaps
    return FIELD


def _special_method(kind: type, name: str) -> int:
    """A method such as `__setitem__` that is called by its name."""
    method = getattr(kind, name, None)
    outside = not isinstance(method, types.FunctionType) or method.__globals__.get("__name__") not in REWRITTEN
    return ATOMIC if outside and method is not None and not issubclass(kind, MODELLED) else CODE


def _of_the_model(kind: type, name: str) -> bool:
    """Does this attribute of a Thread, Queue, ... belong to the class that a model stands for?"""
    return name.startswith("_treadle") or any(
        name in vars(cls) or name in _USED_BY_MODELS.get(cls, ())
        for cls in kind.__mro__
        if home_of(cls) in _MODELLED_MODULES
    )


def _used_by_models() -> dict[type, frozenset[str]]:
    """The attributes that the modelled classes use, from their own code, before models replace it."""
    found: dict[type, frozenset[str]] = {}
    for module in (threading, queue, concurrent.futures._base, concurrent.futures.thread):
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == module.__name__:
                code = [value.__code__ for value in vars(cls).values() if isinstance(value, types.FunctionType)]
                found[cls] = frozenset(name for one in code for name in one.co_names)
    return found


_USED_BY_MODELS: Final = _used_by_models()


def _class_level(kind: type, cls: type, value: Any) -> int:
    """The class has an attribute of that name."""
    if isinstance(value, types.MemberDescriptorType):
        return FIELD if rewritten(cls) or issubclass(kind, BaseException) else NATIVE
    if isinstance(value, types.GetSetDescriptorType):
        return FIELD if issubclass(kind, BaseException) else NONE if issubclass(cls, IMMUTABLE) else NATIVE
    if container_base(kind) is not None and isinstance(value, _METHODS_IN_C):
        return CONTAINER
    if isinstance(value, _CODE_TYPES):
        return _code(kind, cls, value)
    if isinstance(value, functools.cached_property):
        return FIELD  # kept in the object once it is made
    if hasattr(type(value), "__get__"):
        return CODE if _is_seen(type(value).__get__) or _makes_code(type(value)) else NATIVE
    return CLASS


def _code(kind: type, cls: type, value: Any) -> int:
    """A method, a property or a class inside a class."""
    if isinstance(value, property):
        return CODE if value.fget is None or _is_seen(value.fget) or issubclass(cls, IMMUTABLE) else NATIVE
    if isinstance(value, (staticmethod, classmethod, type)):
        return CODE
    if isinstance(value, types.FunctionType):
        return CODE if _is_seen(value) or _delegates(kind, cls) else ATOMIC
    return NONE if issubclass(cls, IMMUTABLE) else ATOMIC


def _makes_code(descriptor: type) -> bool:
    """Does a descriptor of this type stand for a function, and show no data: partialmethod, singledispatchmethod?"""
    return in_modules(home_of(descriptor), TRANSPARENT_MODULES | {"types", "unittest"})


def _is_seen(function: Any) -> bool:
    module = str(getattr(function, "__globals__", {}).get("__name__"))
    return module in REWRITTEN or in_modules(module, _CODE_OF_OTHERS)


# Code that the runtime controls itself.
_CODE_OF_OTHERS = frozenset({"treadle", "threading", "queue", "concurrent", "asyncio", "pykka", "thespian", "_pytest"})


def _delegates(kind: type, cls: type) -> bool:
    """Is this a method of a mixin, which does everything through methods of the class that are rewritten?"""
    return rewritten(kind) and all(
        rewritten(base) or base is object or in_modules(home_of(base), TRANSPARENT_MODULES | {"typing", "unittest"})
        for base in kind.__mro__
        if home_of(base) != "collections.abc"
    )
