"""What an attribute access on an object of some type means for the search, worked out once per type and name.

FIELD     data of the object itself: a point on (object, attribute)
CLASS     data kept on the class and perhaps hidden by the object's own: a point on both
CODE      a method, property or other descriptor: no point; its own code has points, if it is rewritten
ATOMIC    a method of a class that is not rewritten: the call is one operation on the whole object
CONTAINER a method of a built-in container: the call is one operation on the container
ADOPT     a real lock, queue, ...: its model takes its place
MODULE    a variable of a module
META      an attribute of a class
WHOLE     `__dict__`: the whole object
NONE      nothing to see
"""

from __future__ import annotations

import concurrent.futures
import enum
import functools
import queue
import threading
import types
from threading import Thread
from typing import Any, Final

from treadle.threads.containers import container_base
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import PLAIN
from treadle.threads.primitives.local import Local, RealLocal
from treadle.threads.primitives.locks import RealLock, RealRLock
from treadle.threads.primitives.queues import RealSimpleQueue
from treadle.threads.strands import SyncObject

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

# type -> attribute -> one of the above
SHAPES: Final[dict[type, dict[str, int]]] = {}

# The real things that a model replaces, found by identity.
ADOPTABLE: Final[tuple[type, ...]] = (RealLock, RealRLock, RealSimpleQueue, RealLocal, threading.Condition)

# Python classes whose own methods are under control: what they keep in themselves is the runtime's business.
_MODELLED: tuple[type, ...] = (
    Thread,
    threading.Condition,
    threading.Event,
    threading.Semaphore,
    threading.Barrier,
    queue.Queue,
    concurrent.futures.Future,
    concurrent.futures.Executor,
)
_MODELLED_MODULES = frozenset({"threading", "queue", "concurrent.futures._base", "concurrent.futures.thread"})

_CODE_TYPES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    classmethod,
    staticmethod,
    property,
    type,
)

# Types made in C whose values never change although they are not in PLAIN.
_IMMUTABLE_MODULES = frozenset(
    {"datetime", "decimal", "fractions", "uuid", "re", "_sre", "pathlib", "zoneinfo", "typing"}
)


def forget() -> None:
    """Forget what was worked out: other modules may be rewritten from now on."""
    SHAPES.clear()


def rewritten(cls: type) -> bool:
    """Was the module that defines this class rewritten?"""
    return cls.__module__ in REWRITTEN


def classify(kind: type, name: str) -> int:
    """Work out one entry of SHAPES."""
    how = _classify(kind, name)
    SHAPES.setdefault(kind, {})[name] = how
    return how


def _classify(kind: type, name: str) -> int:
    if kind is types.ModuleType:
        return MODULE
    if issubclass(kind, type):
        return NONE if issubclass(kind, enum.EnumMeta) or name.startswith("__") else META
    if issubclass(kind, ADOPTABLE):
        return ADOPT
    if kind is types.FunctionType and not name.startswith("__"):
        return FIELD  # a variable that a function keeps for itself
    if kind in PLAIN or issubclass(kind, (SyncObject, BaseException, Local, enum.Enum)):
        return NONE
    if name == "__dict__":
        return WHOLE
    if name.startswith("__") and name.endswith("__"):
        if name in vars(object):
            return CODE
        return CONTAINER if container_base(kind) is not None else _special_method(kind, name)
    if issubclass(kind, _MODELLED) and (not rewritten(kind) or _of_the_model(kind, name)):
        return CODE
    if isinstance(getattr(kind, "__getattribute__", None), types.FunctionType):  # built-in types have one of their own
        return CODE
    for cls in kind.__mro__:
        if name in vars(cls):
            return _class_level(kind, cls, vars(cls)[name])
    if kind.__module__ in _IMMUTABLE_MODULES:
        return NONE
    return FIELD


def _special_method(kind: type, name: str) -> int:
    """A method such as `__setitem__` that is called by its name."""
    method = getattr(kind, name, None)
    outside = isinstance(method, types.FunctionType) and method.__globals__.get("__name__") not in REWRITTEN
    return ATOMIC if outside and not rewritten(kind) and not issubclass(kind, _MODELLED) else CODE


def _of_the_model(kind: type, name: str) -> bool:
    """Does this attribute of a user's subclass of Thread, Queue, ... belong to the class it is derived from?"""
    bases = [cls for cls in kind.__mro__ if cls.__module__ in _MODELLED_MODULES]
    makers: list[Any] = [vars(cls)["__init__"] for cls in bases if "__init__" in vars(cls)]
    return any(name in vars(cls) for cls in bases) or any(name in make.__code__.co_names for make in makers)


def _class_level(kind: type, cls: type, value: Any) -> int:
    """The class has an attribute of that name."""
    if isinstance(value, types.MemberDescriptorType):
        return FIELD
    if (
        container_base(kind) is not None
        and container_base(cls) is not None
        and not isinstance(value, types.FunctionType)
    ):
        return CONTAINER
    if isinstance(value, _CODE_TYPES):
        if isinstance(value, (property, staticmethod, classmethod, type)):
            return CODE
        if isinstance(value, types.FunctionType):
            return CODE if value.__globals__.get("__name__") in REWRITTEN or rewritten(kind) else ATOMIC
        return NONE if cls.__module__ in _IMMUTABLE_MODULES else ATOMIC
    if isinstance(value, functools.cached_property):
        return FIELD  # kept in the object once it is made
    if hasattr(type(value), "__get__"):
        return CODE
    return CLASS
