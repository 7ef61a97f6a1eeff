"""Stable names: the same object has the same name in every execution, whatever the schedule and the address.

An object is named when a strand first meets it: by its class and how many of them that strand met before
(`Account#1`; `Account#T2.1` when strand T2 made it). That depends on the schedule only if two strands could be the
first to meet it, so whatever one strand hands to others is named at the hand-over: what it stores (`publish`), what a
new strand's function can reach (`announce`), and what is loaded from a named place (by its path, `Account#1.items`).
Module globals are named by module and variable before the first execution (`bank.ACCOUNTS`).

Most objects are only ever touched by the strand that met them first. When an execution is told to `skip_private`, they
need no points, and get none until a second strand touches one: then its name is remembered as shared, and the search
starts again with a point at every access to it (see `Execution.reveal`).
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Iterable
from typing import Any, Final

from treadle.threads.lives import FINALISERS
from treadle.threads.strands import Strand, SyncObject
from treadle.threads.unasked import BUILTINS, globals_of, home_of, is_a

# Types whose values cannot be changed by anybody, or that stand for code: never named, never a point.
PLAIN: Final[set[type]] = {
    int,
    float,
    complex,
    bool,
    str,
    bytes,
    type(None),
    type(Ellipsis),
    type(NotImplemented),
    range,
    slice,
    tuple,
    frozenset,
    type,
    object,
    types.FunctionType,
    *BUILTINS,
    types.MethodType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
    types.CodeType,
    types.FrameType,
    types.TracebackType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.CellType,
    types.ModuleType,
    types.GenericAlias,
    types.UnionType,
    functools.partial,
    property,
    staticmethod,
    classmethod,
    super,
}


# Through these, others reach what they carry: the variables of a closure, the object of a method, arguments, items.
CARRIERS: Final = {
    types.FunctionType,
    types.MethodType,
    *BUILTINS,
    types.MethodWrapperType,
    functools.partial,
    tuple,
    frozenset,
}
# What nobody can reach anything through.
INERT: Final = PLAIN - CARRIERS


class Named:
    """An object's name, who met it first, and whether other strands are known to touch it."""

    __slots__ = ("name", "owner", "shared")

    def __init__(self, name: str, owner: Strand | None, shared: bool) -> None:
        self.name = name
        self.owner = owner
        self.shared = shared


def is_private(strand: Strand, named: Named) -> bool:
    """Has nobody met this object but the thread of this strand?"""
    return named.owner is strand or (strand.of_thread is not None and named.owner is strand.of_thread)


def meet(strand: Strand, obj: Any) -> Named:
    """The record of an object, made now if it has none."""
    named = strand.execution.names.get(id(obj))
    if named is None:
        named = _remember(strand, obj, _lasting_name(obj) or strand.fresh(type(obj).__name__))
    return named


def _lasting_name(obj: Any) -> str:
    """The name of what is known by a name of its own, whoever meets it first: a function, the variables of a module."""
    if type(obj) is types.FunctionType:
        return obj.__qualname__
    if type(obj) is dict and type(obj.get("__name__")) is str and "__builtins__" in obj:
        return str(obj["__name__"])  # its keys are the variables of the module
    return str(getattr(type(obj), "treadle_location", ""))


def publish(strand: Strand, value: Any) -> None:
    """A strand makes a value reachable for others: from now on it, and what it carries with it, has a name."""
    kind = type(value)
    if kind in PLAIN:
        if kind in CARRIERS:
            announce(strand, value)
    elif id(value) not in strand.execution.names:
        if is_a(value, SyncObject):
            return
        _remember(strand, value, strand.fresh(kind.__name__))


def name_by_path(strand: Strand, value: Any, path: str, depth: int = 2) -> None:
    """A value was found at a named place: it, or what it carries, is named after that place."""
    kind = type(value)
    if kind in CARRIERS:
        if depth:
            for number, part in enumerate(carried(value)):
                if type(part) not in INERT and id(part) not in strand.execution.names:
                    name_by_path(strand, part, f"{path}.{number}", depth - 1)
    elif not is_a(value, SyncObject):
        _remember(strand, value, path)


def carried(value: Any) -> tuple[Any, ...]:
    """What others reach through a function or a tuple that they get, in a fixed order."""
    kind = type(value)
    if kind is tuple:
        return value  # type: ignore[no-any-return]
    if kind is frozenset:
        return tuple(value) if len(value) == 1 else ()  # the order of several may differ between executions
    if kind is types.FunctionType:
        return (*_variables(value), *(value.__defaults__ or ()))
    if kind is types.MethodType:
        return value.__self__, value.__func__
    if kind is functools.partial:
        return (value.func, *value.args, *value.keywords.values())
    return () if isinstance(value.__self__, types.ModuleType) else (value.__self__,)


def _variables(function: types.FunctionType) -> list[Any]:
    """The variables of a closure that have a value."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return found


def announce(strand: Strand, value: Any, depth: int = 4) -> None:
    """Name what others can reach through a function that they get: closure, arguments, bound object."""
    kind = type(value)
    if kind not in PLAIN:
        publish(strand, value)
    elif kind in CARRIERS and depth:
        for part in carried(value):
            announce(strand, part, depth - 1)


def names_of_globals(modules: Iterable[types.ModuleType]) -> tuple[dict[int, Named], list[Any]]:
    """The names of what module globals (and function defaults) refer to, and the objects, to keep them alive."""
    names: dict[int, Named] = {}
    keep: list[Any] = []

    def add(value: Any, name: str) -> None:
        if type(value) not in PLAIN and not is_a(value, (type, SyncObject)) and id(value) not in names:
            names[id(value)] = Named(name, None, True)
            keep.append(value)

    for module in modules:
        for variable, value in list(globals_of(module).items()):
            if variable.startswith(("__", "_treadle")):
                continue
            if is_a(value, type) and home_of(value) == module.__name__:
                for attribute, kept in list(type.__getattribute__(value, "__dict__").items()):
                    add(kept, f"{class_name(value)}.{attribute}")
                continue
            if is_a(value, types.FunctionType) and value.__module__ == module.__name__:
                for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
                    add(default, f"{value.__qualname__}.default")
                for cell in value.__closure__ or ():
                    try:
                        add(cell.cell_contents, f"{value.__qualname__}.closure")
                    except ValueError:
                        continue
            else:
                add(value, f"{module.__name__}.{variable}")
    return names, keep


def class_name(cls: type) -> str:
    """The name of a class as a place where attributes live."""
    return f"class {cls.__qualname__}"


def _remember(strand: Strand, obj: Any, name: str) -> Named:
    """Keep the name for as long as the object lives; an address may be used again afterwards."""
    execution = strand.execution
    kind = type(obj)
    if kind is types.GeneratorType or hasattr(kind, "__del__"):
        execution.rebind(FINALISERS)
    key = id(obj)
    names = execution.names
    shared = execution.shared
    named = names[key] = Named(name, strand.of_thread or strand, shared is None or name in shared)
    if kind.__weakrefoffset__:
        try:
            execution.references.append(weakref.ref(obj, _Forget(names, key)))
        except TypeError:
            execution.keep.append(obj)
    else:
        execution.keep.append(obj)
    return named


class _Forget:
    """Drops the name of an object that is gone."""

    __slots__ = ("key", "names")

    def __init__(self, names: dict[int, Named], key: int) -> None:
        self.names = names
        self.key = key

    def __call__(self, reference: object) -> None:
        self.names.pop(self.key, None)
