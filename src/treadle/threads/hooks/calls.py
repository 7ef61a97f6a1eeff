"""Calls: what stands in the place of the function in `called(...)`.

Rewritten code is called as it is. A call into code that is not rewritten is atomic: one operation on the object it
belongs to and on the containers it is given.
"""

from __future__ import annotations

import builtins
import functools
import sys
import threading
import types
import weakref
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import containers, shapes
from treadle.threads.adopt import REPLACED, adopt
from treadle.threads.containers import container_base
from treadle.threads.hooks.points import found, include, perform, touch
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import INERT, PLAIN, Named, meet, publish
from treadle.threads.shapes import CLASS, FIELD, classify
from treadle.threads.strands import STATE, Strand, SyncObject

_FunctionType: Final = types.FunctionType

# Built-in functions that have hooks of their own: getattr, next, ...; filled by `stand_ins`.
STAND_INS: Final[dict[Any, Any]] = {}


def function(called: Any) -> Any:
    """The function in `called(...)`: itself when its code is rewritten, else what makes the call one operation."""
    strand = STATE.strand
    if strand is None:
        return called
    kind = type(called)
    if kind is _FunctionType:
        model = REPLACED.get(called)
        if model is not None:  # perhaps a class: threading.RLock is a function, its model is not
            return model
        module = called.__globals__.get("__name__")
        if module in REWRITTEN:
            return called
        return _outside(strand, called, module or "")
    if kind is types.MethodType:
        inner = called.__func__
        if type(inner) is not _FunctionType:
            return called
        model = REPLACED.get(inner)
        if model is not None:  # `done = event.set`, taken before the models came
            return types.MethodType(model, called.__self__)
        module = inner.__globals__.get("__name__") or ""
        if module in REWRITTEN or module.partition(".")[0] in _CONTROLLED:
            return called
        model = REPLACED.get(called)  # `from random import randrange`
        if model is not None:
            return model
        return functools.partial(atomic_method, called.__self__, inner.__name__, via=called)
    if kind is types.BuiltinFunctionType:
        owner = called.__self__
        if owner is None or type(owner) is types.ModuleType:
            special = STAND_INS.get(called) or REPLACED.get(called)
            if special is not None:
                return special
            return called if called in _HARMLESS else functools.partial(_atomic_call, called)
        if container_base(type(owner)) is not None:
            return functools.partial(container_call, owner, called.__name__, via=called)
        if isinstance(owner, shapes.ADOPTABLE):
            return getattr(adopt(owner), called.__name__)
        if type(owner) in PLAIN:
            return REPLACED.get(called) or functools.partial(_atomic_call, called)  # `datetime.now` is one of them
        return functools.partial(atomic_method, owner, called.__name__, via=called)
    if kind is types.WrapperDescriptorType or kind is types.MethodDescriptorType:
        return functools.partial(_unbound_call, called)
    if kind is type or isinstance(called, type):
        if called in _BUILDING:
            return functools.partial(_atomic_call, called)
        if issubclass(called, weakref.ref):
            return functools.partial(_weak_reference, called)
        return REPLACED.get(called, called)
    if kind is functools.partial:
        inner = function(called.func)
        return called if inner is called.func else functools.partial(inner, *called.args, **called.keywords)
    return called


# Modules whose calls are operations of the runtime itself, or have no effect on shared objects.
_CONTROLLED: Final = frozenset(
    {"treadle", "threading", "queue", "concurrent", "asyncio", "_pytest", "pytest", "pykka", "thespian"}
)


def _outside(strand: Strand, called: Any, module: str) -> Any:
    """A Python function that is not rewritten: atomic, and the report says so."""
    top = module.partition(".")[0]
    if top in _CONTROLLED:
        return called
    strand.execution.atomic.add(module)
    return functools.partial(_atomic_call, called)


def _unbound_call(method: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`dict.__getitem__(self, key)`, `object.__setattr__(self, name, value)`: a method of a C type, taken off it."""
    strand = STATE.strand
    if strand is not None and args:
        if container_base(type(args[0])) is not None:
            bound = method.__get__(args[0])
            return container_call(args[0], method.__name__, *args[1:], via=bound, **kwargs)
        if method in _ATTRIBUTE_ACCESS and len(args) > 1 and classify(type(args[0]), args[1]) in (FIELD, CLASS):
            touch(strand, _ATTRIBUTE_ACCESS[method], args[0], args[1])
    return method(*args, **kwargs)


_ATTRIBUTE_ACCESS: Final[dict[Any, int]] = {
    object.__getattribute__: READ,
    object.__setattr__: WRITE,
    object.__delattr__: WRITE,
}


def _weak_reference(kind: Any, /, obj: Any, *args: Any) -> Any:
    """A weak reference: who gets it reaches the object."""
    strand = STATE.strand
    if strand is not None:
        publish(strand, obj)
    return kind(obj, *args)


def container_call(obj: Any, method: str, /, *args: Any, via: Any = None, **kwargs: Any) -> Any:
    """A method call on a built-in container, as one read or write of it."""
    strand = STATE.strand
    if via is None:
        via = getattr(obj, method)
    if strand is None:
        return via(*args, **kwargs)
    base = container_base(type(obj))
    assert base is not None
    access = containers.method_access(obj, base, method, args)
    if access is None:
        return via(*args, **kwargs)
    owner = meet(strand, obj)
    operations: list[Operation] = []
    include(strand, operations, obj, access[0], access[1])
    for argument in (*args, *kwargs.values()) if kwargs else args:
        kind = type(argument)
        if kind not in INERT:
            publish(strand, argument)
            if (
                kind not in PLAIN
                and argument is not obj
                and container_base(kind) is not None
                and method in _TAKES_CONTENT
            ):
                include(strand, operations, argument, READ)
    perform(strand, operations)
    result = via(*args, **kwargs)
    if type(result) not in INERT:
        found(strand, result, _place(owner, method, args))
    elif strand.detail:
        strand.execution.saw(args[0] if args and access[0] == WRITE else result)
    return result


def _place(owner: Named, method: str, args: tuple[Any, ...]) -> str:
    """How what a container method returned is reached: `dict#1['k']`, `list#1.pop()`."""
    key = containers.simple_key(args[0]) if args else None
    return f"{owner.name}[{key!r}]" if key is not None else f"{owner.name}.{method}()"


_TAKES_CONTENT: Final = frozenset(
    {"extend", "extendleft", "update", "union", "difference", "intersection", "symmetric_difference", "issubset"}
    | {"issuperset", "isdisjoint", "difference_update", "intersection_update", "symmetric_difference_update"}
    | {"__add__", "__iadd__", "__or__", "__ior__", "__eq__", "__ne__", "__and__", "__sub__", "__xor__"}
)


def atomic_method(obj: Any, method: str, /, *args: Any, via: Any = None, **kwargs: Any) -> Any:
    """A method call on an object whose class is not rewritten: one operation on the whole object."""
    strand = STATE.strand
    called = getattr(obj, method) if via is None else via
    if strand is None:
        return called(*args, **kwargs)
    execution = strand.execution
    kind = type(obj)
    if kind.__module__ not in ("builtins", "collections"):
        execution.atomic.add(kind.__module__)
    operations: list[Operation] = []
    include(strand, operations, obj, WRITE)
    _add_arguments(strand, operations, args, kwargs, WRITE)
    perform(strand, operations)
    return called(*args, **kwargs)


def _atomic_call(called: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that is not rewritten: one operation on the containers and objects it is given."""
    strand = STATE.strand
    if strand is None:
        return called(*args, **kwargs)
    operations: list[Operation] = []
    _add_arguments(strand, operations, args, kwargs, READ if called in _READ_ONLY else WRITE)
    perform(strand, operations)
    return called(*args, **kwargs)


def _add_arguments(
    strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any], mode: int
) -> None:
    for argument in (*args, *kwargs.values()) if kwargs else args:
        kind = type(argument)
        if kind not in INERT and kind in PLAIN:
            publish(strand, argument)
            continue
        if kind in INERT or isinstance(argument, (SyncObject, BaseException, type, threading.Thread)):
            continue
        if kind in containers.VIEWS:
            argument = containers.view_source(argument)
        elif container_base(kind) is None:
            if isinstance(argument, shapes.ADOPTABLE) or not hasattr(argument, "__dict__"):
                publish(strand, argument)
                continue
            include(strand, operations, argument, READ)
            continue
        include(strand, operations, argument, mode)


# Built-in functions that only read what they are given.
_READ_ONLY: set[Any] = {len, sum, sorted, min, max, any, all, repr, str, list, tuple, set, dict, frozenset, bytes}
_READ_ONLY |= {reversed, iter, print, format, bool, ascii, *containers.COMBINING, *containers.CONTAINERS}
_BUILDING: set[Any] = {list, tuple, set, dict, frozenset, bytes, bytearray, bool, str}
_BUILDING |= {reversed, *containers.COMBINING, *containers.CONTAINERS}
_HARMLESS: set[Any] = {isinstance, issubclass, callable, hash, abs, divmod, pow, round, ord, chr, hex, bin, oct}
_HARMLESS |= {
    sys._getframe,
    input,
    open,
    globals,
    locals,
    sys.exc_info,
    compile,
    exec,
    eval,
    __import__,
    builtins.__build_class__,
}
