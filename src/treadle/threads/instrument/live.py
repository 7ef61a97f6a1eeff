"""Finds the live functions that were made from the source of some modules.

A function may be held by anything (a registry elsewhere, a closure, an instance), so only the garbage collector knows
all of them. Looking through everything it knows takes milliseconds, and a check needs that twice. So what a full look
found is kept, by weak references. What was made since then is young: it stays in the two younger generations of the
collector until these are collected into the oldest, which the collector counts. While those counts stand, a look at
the young objects is enough. A full look is for all modules that were ever asked for: others ask for those next.

Invariant: `functions_of` returns every live function of the modules, each once.
"""

from __future__ import annotations

import gc
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from types import CellType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary, ref

from treadle.threads.unasked import globals_of, is_a

Found = list[tuple[FunctionType, ModuleType]]

# From 3.14 on the collector has other generations: everything is looked at.
_HAS_GENERATIONS = sys.version_info < (3, 14)
# Without a GIL, 3.13 makes every function immortal when the first thread starts, and the collector forgets it.
_IMMORTAL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@dataclass
class _KnownFunctions:
    """The functions of one module, and when they were all of them."""

    collections: tuple[int, int, int]
    functions: dict[int, ref[FunctionType]]


_known: WeakKeyDictionary[ModuleType, _KnownFunctions] = WeakKeyDictionary()
_NEVER = (-1, -1, -1)


_frozen = False


def freeze() -> None:
    """From now on collections pass over what there is, until `thaw` or the next search for functions."""
    global _frozen
    gc.freeze()
    _frozen = True


def thaw() -> None:
    global _frozen
    if _frozen:
        gc.unfreeze()  # all of it is old now, also functions that nobody has asked for yet
        _frozen = False
        for known in _known.values():
            known.collections = _NEVER


def functions_of(modules: list[ModuleType]) -> Found:
    """Every live function that was made from the source of `modules`, or for one of their classes."""
    thaw()
    if not modules:
        return []
    if _IMMORTAL:
        return _belonging(_functions_among(_all_objects()), modules)
    before = _collections()
    if _HAS_GENERATIONS and all(module in _known and _known[module].collections == before for module in modules):
        young = _functions_among(_young_objects())
        if _collections() == before:
            _keep(_belonging(young, modules))
            return [pair for module in modules for pair in _still_alive(module)]
        before = _collections()
    functions = _functions_among(gc.get_objects())
    asked_for = set(modules)
    # last who was asked for: of two modules of one name it is the one that counts
    everywhere = [*(module for module in _known if module not in asked_for), *modules]
    if gc.get_freeze_count():  # what is frozen is in no generation; CPython 3.12 begins with some
        functions += reachable_functions(everywhere)
    for module in everywhere:
        _known[module] = _KnownFunctions(before, {})
    _keep(_belonging(functions, everywhere))
    return [pair for module in modules for pair in _still_alive(module)]


def collect(generation: int) -> None:
    """Collect, and go on knowing all functions: those that get old thereby are looked at before."""
    before = _collections()
    up_to_date = [module for module, known in _known.items() if known.collections == before]
    if not (_HAS_GENERATIONS and up_to_date and generation == 1):
        gc.collect(generation)
        return
    _keep(_belonging(_functions_among(_young_objects()), up_to_date))
    gc.collect(1)
    middle, old, hidden = before
    if _collections() == (middle + 1, old, hidden):  # nobody else has, meanwhile
        for module in up_to_date:
            _known[module].collections = (middle + 1, old, hidden)


def _young_objects() -> list[Any]:
    return gc.get_objects(0) + gc.get_objects(1)


def _collections() -> tuple[int, int, int]:
    """How often objects have become old, and how many of them are hidden."""
    _, middle, old = gc.get_stats()
    return middle["collections"], old["collections"], gc.get_freeze_count()


def _all_objects() -> list[Any]:
    """What the collector knows, and all that this and the modules lead to."""
    found = pending = [sys.modules, *gc.get_objects()]
    met = set(map(id, found))
    while pending:
        pending = list({id(thing): thing for thing in gc.get_referents(*pending) if id(thing) not in met}.values())
        met.update(map(id, pending))
        found += pending
    return found


def _functions_among(objects: list[Any]) -> list[FunctionType]:
    return [thing for thing in objects if type(thing) is FunctionType]


def _belonging(functions: Iterable[FunctionType], modules: list[ModuleType]) -> Found:
    by_globals = {id(globals_of(module)): module for module in modules}
    by_name = {module.__name__: module for module in modules}
    # A module that stands in the place of another one: the functions are those of that other one.
    in_place = {
        name: module
        for name, module in by_name.items()
        if "__file__" not in globals_of(module) and sys.modules.get(name) is module
    }
    found: dict[int, tuple[FunctionType, ModuleType]] = {}
    for function in functions:
        module = by_globals.get(id(function.__globals__))
        if module is None and function.__code__.co_filename[:1] == "<":
            # Generated for a class of the module, in a namespace of its own (attrs does so).
            module = by_name.get(str(function.__module__))
        if module is None and in_place:
            module = in_place.get(str(function.__globals__.get("__name__")))
        if module is not None:
            found[id(function)] = function, module
    return list(found.values())


def _keep(found: Found) -> None:
    for function, module in found:
        _known[module].functions[id(function)] = ref(function)


def _still_alive(module: ModuleType) -> Found:
    known = _known[module]
    alive = [(function, module) for reference in known.functions.values() if (function := reference()) is not None]
    if len(alive) < len(known.functions):
        known.functions = {id(function): ref(function) for function, _ in alive}
    return alive


def reachable_functions(modules: list[ModuleType]) -> list[FunctionType]:
    """The functions and methods that the globals of `modules` lead to."""
    found: dict[int, Any] = {}
    pending: list[Any] = [value for module in modules for value in globals_of(module).values()]
    while pending:
        thing = pending.pop()
        if id(thing) in found:
            continue
        found[id(thing)] = thing
        if type(thing) is FunctionType:
            pending.extend(_contents(cell) for cell in thing.__closure__ or ())
        elif is_a(thing, type):
            pending.extend(type.__getattribute__(thing, "__dict__").values())
        elif is_a(thing, (staticmethod, classmethod)):
            pending.append(thing.__func__)
        elif is_a(thing, property):
            pending.extend((thing.fget, thing.fset, thing.fdel))
    return [thing for thing in found.values() if type(thing) is FunctionType]


def _contents(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None
