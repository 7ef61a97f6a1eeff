"""What a value leads to: the locations that code which is not rewritten may touch when it is given that value.

A walk over what the value refers to, by identity, in a fixed order and bounded. Containers, iterators and objects of
unknown types are one location each; a view (memoryview, mappingproxy, dict view, numpy view) is the object behind it;
code that is rewritten is never walked into, because its own accesses are seen when it runs.

Two widths: `content` is what printing, comparing or copying a value looks at, `everything` is what code that nobody
knows may get hold of.
"""

from __future__ import annotations

import concurrent.futures
import contextvars
import ctypes
import decimal
import enum
import gc
import io
import queue
import sys
import threading
import types
from typing import Any, Final

from treadle.core.names import of_module
from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import files, known, settings, without_gil
from treadle.threads.containers import VIEWS, container_base, simple_key, view_source
from treadle.threads.hooks.points import include, name_part, perform
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import CARRIERS, PLAIN, Named, carried, class_name, is_private, meet
from treadle.threads.primitives.local import Local, RealLocal
from treadle.threads.primitives.locks import RealLock, RealRLock
from treadle.threads.primitives.queues import RealSimpleQueue
from treadle.threads.strands import Strand, SyncObject
from treadle.threads.unasked import BUILTINS, globals_of, home_of

# What a type is for the walk.
NOTHING: Final = 0  # cannot be changed, or a model sees to it
CARRIER: Final = 1  # has no state of its own, but leads to others
WINDOW: Final = 2  # shows the state of another object
CONTAINER: Final = 3
ITERATOR: Final = 4  # made in C: its place is its state
GENERATOR: Final = 5
OWN: Final = 6  # an instance of a class that is rewritten
OBJECT: Final = 7  # of any other type

# So many objects are looked at for one call.
MOST_OBJECTS: Final = 200

_EMPTY: Final = contextvars.Context()
_KINDS: dict[type, int] = {}
_MOST_KINDS: Final = 10_000  # every mock has a class of its own, which would live on here
_MODELS: Final = (
    SyncObject,
    Local,
    RealLocal,
    RealLock,
    RealRLock,
    RealSimpleQueue,
    threading.Condition,
    threading.Event,
    threading.Semaphore,
    threading.Barrier,
    threading.Thread,
    queue.Queue,
    concurrent.futures.Future,
    concurrent.futures.Executor,
)
# Iterators over contexts: what they go over is a tree by addresses, which never changes.
_OVER_CONTEXTS: Final = frozenset(type(iter(show())) for show in (_EMPTY.keys, _EMPTY.values, _EMPTY.items))
_C_DATA: Final = ctypes.c_int.__mro__[-2]  # the base of all types of ctypes, which has no public name


class _Memory:
    """All memory that ctypes shows: which of its objects overlap, nobody can tell."""

    treadle_location = "ctypes memory"


MEMORY: Final = _Memory()


def forget() -> None:
    """Other modules may be rewritten from now on."""
    _KINDS.clear()


def kind_of(kind: type) -> int:
    """What a type is for the walk, worked out once."""
    try:
        return _KINDS[kind]
    except KeyError:
        if len(_KINDS) > _MOST_KINDS:
            _KINDS.clear()
        answer = _KINDS[kind] = _kind_of(kind)
        return answer


def _kind_of(kind: type) -> int:
    if kind in CARRIERS:
        return CARRIER
    if kind in PLAIN or issubclass(kind, (type, types.ModuleType, *known.IMMUTABLE, enum.Enum, *_MODELS)):
        return NOTHING
    if kind in VIEWS or kind in (memoryview, types.MappingProxyType) or _shows_memory(kind):
        return WINDOW
    if container_base(kind) is not None:
        return CONTAINER
    if kind is types.GeneratorType:
        return GENERATOR
    if issubclass(kind, (tuple, frozenset)):
        return CARRIER
    if home_of(kind) in REWRITTEN or home_of(kind).startswith("asyncio."):
        return OWN
    if home_of(kind).startswith("treadle.") and kind is not _Memory:
        return NOTHING
    if issubclass(kind, io.IOBase):
        return OBJECT
    return ITERATOR if _goes_on_in_c(kind) else OBJECT


def _goes_on_in_c(kind: type) -> bool:
    """Is it an iterator made in C? Nothing of the program is asked: a class may compute its attributes."""
    return type(type.__getattribute__(kind, "__dict__").get("__next__")) is types.WrapperDescriptorType


def _shows_memory(kind: type) -> bool:
    return issubclass(kind, _C_DATA) or (home_of(kind) == "numpy" and hasattr(kind, "base"))


def root_of(value: Any) -> Any:
    """The object whose state a view shows."""
    kind = type(value)
    if kind in VIEWS:
        return view_source(value)
    if kind is types.MappingProxyType:
        behind = gc.get_referents(value)
        return behind[0] if behind else value
    if isinstance(value, _C_DATA):
        return MEMORY
    if kind is memoryview:
        try:
            inner = value.obj
        except ValueError:  # released
            return value
        return root_of(inner) if kind_of(type(inner)) == WINDOW else inner
    while getattr(value, "base", None) is not None:
        value = value.base
    return value


def becomes_memory(strand: Strand, buffer: Any) -> None:
    """From now on ctypes shows the memory of this buffer, too."""
    buffer = root_of(buffer) if kind_of(type(buffer)) == WINDOW else buffer
    strand.execution.names[id(buffer)] = meet(strand, MEMORY)
    strand.execution.keep.append(buffer)


def take(strand: Strand, operations: list[Operation], value: Any, how: int) -> None:
    """Add what a listed function touches of one argument: iterators are used up, the rest is looked at."""
    kind = kind_of(type(value))
    if kind == NOTHING:
        return
    if kind in (ITERATOR, GENERATOR):
        advance(strand, operations, value)
    elif how == known.LOOKS:
        look(strand, operations, value, READ)
    else:
        content(strand, operations, value, READ)


def look(strand: Strand, operations: list[Operation], value: Any, mode: int) -> None:
    """Add the value itself, and not what is in it."""
    kind = kind_of(type(value))
    if kind == WINDOW:
        value = root_of(value)
        kind = kind_of(type(value))
    if kind == OBJECT:
        everything(strand, operations, value, mode)
    elif kind in (CONTAINER, WINDOW, ITERATOR):
        include(strand, operations, value, mode)


def advance(strand: Strand, operations: list[Operation], iterator: Any) -> None:
    """Add what taking an item from an iterator touches: its place, and what it takes the item from."""
    before = len(operations)
    include(strand, operations, iterator, WRITE)
    without_gil.note_next(strand, operations[before:], iterator)
    named = meet(strand, iterator)
    if type(iterator) is types.GeneratorType:
        if is_foreign(iterator):
            _run_on(strand, operations, iterator, named)
        return
    for number, source in enumerate(sources(iterator)):
        name_part(strand, source, f"{named.name}<{number}")
        kind = kind_of(type(source))
        if kind in (ITERATOR, GENERATOR):
            advance(strand, operations, source)
        elif kind == CARRIER:
            callback(strand, operations, source)
        elif kind == OBJECT:
            everything(strand, operations, source, WRITE)
        elif kind != OWN:
            look(strand, operations, source, READ)


def is_foreign(generator: types.GeneratorType[Any, Any, Any]) -> bool:
    """Is the code of a generator not rewritten, so that a step of it is a call into code that nobody sees?"""
    frame = generator.gi_frame
    return frame is not None and frame.f_globals.get("__name__") not in REWRITTEN


def _run_on(
    strand: Strand, operations: list[Operation], generator: types.GeneratorType[Any, Any, Any], named: Named
) -> None:
    """Add what a generator that is not rewritten may touch on its way to the next `yield`."""
    for value in _variables_of(strand, generator, named.name):
        everything(strand, operations, value, WRITE)
    assert generator.gi_frame is not None
    module = str(generator.gi_frame.f_globals.get("__name__"))
    if not known.in_modules(module, known.SELF_CONTAINED):
        include_module(strand, operations, module)
    if operations:
        strand.execution.assumed.add(f"{module}.{generator.__qualname__}")


def _variables_of(strand: Strand, generator: types.GeneratorType[Any, Any, Any], path: str) -> list[Any]:
    """What the variables of a suspended generator hold, and the generator that it has handed over to."""
    assert generator.gi_frame is not None
    found = [("", generator.gi_yieldfrom), *generator.gi_frame.f_locals.items()]
    for name, value in found:
        name_part(strand, value, f"{path}.{name}")
    return [value for _, value in found]


def sources(iterator: Any) -> list[Any]:
    """What an iterator made in C takes its items from, and the functions that it calls."""
    parts: list[Any] = []
    if type(iterator) in _OVER_CONTEXTS:
        return parts
    for part in gc.get_referents(iterator):
        if type(part) is tuple:  # how zip, map and chain keep theirs
            parts += _filled(part)
        elif kind_of(type(part)) != NOTHING:
            parts.append(part)
    return [part for part in parts if kind_of(type(part)) != NOTHING]


def _filled(items: Any) -> list[Any]:
    """What is in a list or tuple that an object in C keeps. A place may be empty (of TreeBuilder, or of zip_longest
    behind the end of the shorter ones): looking at that crashes."""
    return gc.get_referents(items)[::-1]


def callback(strand: Strand, operations: list[Operation], called: Any) -> None:
    """Add what a function that native code may call touches, unless its own code is seen."""
    for part, mode in _touched_by(called):
        everything(strand, operations, part, mode)


def _touched_by(called: Any) -> list[tuple[Any, int]]:
    """What a function that is not rewritten leads to, and what it may do to it."""
    kind = type(called)
    if kind is types.FunctionType:
        return [] if _own_code(called) else [(part, WRITE) for part in carried(called)]
    if kind is types.MethodType:
        return [] if _own_code(called.__func__) else [(called.__self__, WRITE), (called.__func__, WRITE)]
    if kind in BUILTINS or kind is types.MethodWrapperType:
        owner = called.__self__
        if isinstance(owner, types.ModuleType | type):
            return []
        return [(owner, READ if known.reads(type(owner), called.__name__) else WRITE)]
    return [(part, WRITE) for part in carried(called)] if kind in CARRIERS else []


def _own_code(function: Any) -> bool:
    return type(function) is types.FunctionType and function.__globals__.get("__name__") in REWRITTEN


def content(strand: Strand, operations: list[Operation], value: Any, mode: int) -> None:
    """Add the value and what is in it, as far as printing or comparing it would go."""
    _walk(strand, operations, value, mode, False)


def everything(strand: Strand, operations: list[Operation], value: Any, mode: int) -> None:
    """Add all that the value leads to."""
    _walk(strand, operations, value, mode, True)


def _walk(strand: Strand, operations: list[Operation], value: Any, mode: int, wide: bool) -> None:
    seen: set[int] = set()
    pending: list[tuple[Any, int]] = [(value, mode)]
    rebound = strand.execution.rebound
    while pending:
        one, how = pending.pop()
        kind = kind_of(type(one))
        if wide and rebound and (kind == OWN or isinstance(one, type)):
            _include_class(operations, one if isinstance(one, type) else type(one), rebound)
        if kind == NOTHING or id(one) in seen:
            continue
        seen.add(id(one))
        if len(seen) > MOST_OBJECTS:
            strand.execution.too_large(type(value).__name__)
            return
        if kind == WINDOW and root_of(one) is not one:
            pending.append((root_of(one), how))
        elif kind == CARRIER and callable(one):
            pending.extend(reversed(_touched_by(one)) if wide else ())
        elif kind == CARRIER:
            for part in list(carried(one) if type(one) in CARRIERS else one)[::-1]:
                pending.append((part, how))
        elif kind == GENERATOR:
            if wide:
                include(strand, operations, one, how)
                if is_foreign(one):
                    for part in _variables_of(strand, one, meet(strand, one).name)[::-1]:
                        pending.append((part, how))
        elif kind != OWN or wide or shown_natively(type(one)):
            for part in _visit(strand, operations, one, kind, how)[::-1]:
                pending.append((part, how))


def _include_class(operations: list[Operation], cls: type, rebound: set[str]) -> None:
    """Add what a class holds under names that are bound anew."""
    for base in cls.__mro__:
        if home_of(base) in REWRITTEN:
            kept = type.__getattribute__(base, "__dict__")
            operations += [(READ, class_name(base), name) for name in sorted(rebound.intersection(kept))]


def _visit(strand: Strand, operations: list[Operation], one: Any, kind: int, mode: int) -> list[Any]:
    """Add one object; what it refers to."""
    include(strand, operations, one, mode)
    if kind == OBJECT and home_of(type(one)) in known.WEAK_MODULES:
        strand.execution.read_lives(operations)
    elif kind == OBJECT and issubclass(type(one), io.IOBase):  # who refuses to tell its class is not asked
        files.include_object(strand, operations, one, mode)
    named = meet(strand, one)
    names = strand.execution.names
    parts = []
    for part, form, key in _parts(one, kind):
        if id(part) not in names:
            name_part(strand, part, named.name + form.format(simple_key(key) if form == _AT else key))
        parts.append(part)
    return parts


def shown_natively(kind: type) -> bool:
    """Is an instance of a rewritten class printed or compared by code that is not rewritten (a generated dataclass
    method of a class inside a function)?"""
    for name in ("__eq__", "__repr__"):
        method = getattr(kind, name, None)
        if type(method) is types.FunctionType and method.__code__.co_names and not _is_rewritten(method):
            return True
    return False


def _is_rewritten(function: types.FunctionType) -> bool:
    return any(name.startswith("_treadle_") for name in function.__code__.co_names)


# How a part is reached: the end of its path, which its key completes.
_AT: Final = "[{!r}]"


def _parts(obj: Any, kind: int) -> list[tuple[Any, str, Any]]:
    """What an object refers to, and how it is reached."""
    found: list[tuple[Any, str, Any]] = []
    if kind == CONTAINER:
        base = container_base(type(obj))
        if base is dict:
            for number, (key, value) in enumerate(dict.items(obj)):
                if kind_of(type(key)) != NOTHING:
                    found.append((key, ".key{}", number))
                if kind_of(type(value)) != NOTHING:
                    found.append((value, _AT, key))
        elif base is set:
            parts = [value for value in set.__iter__(obj) if kind_of(type(value)) != NOTHING]
            if len(parts) == 1:  # the order of several may differ between executions
                found.append((parts[0], ".item", None))
        elif base is not bytearray:
            for number, value in enumerate(_filled(obj) if type(obj) is list else base.__iter__(obj)):  # type: ignore[union-attr]
                if kind_of(type(value)) != NOTHING:
                    found.append((value, "[{}]", number))
    elif type(obj) is contextvars.Context:
        return _in_context(obj)
    elif type(obj) in _OVER_CONTEXTS:
        return found
    elif type(obj) is decimal.Context:  # what the collector sees of it differs between versions
        context: Any = obj  # whose attributes are no dictionaries, whatever their stubs say
        return [(context.flags, ".{}", "flags"), (context.traps, ".{}", "traps")]
    attributes = attributes_of(obj)
    if attributes is not None:
        for name, value in attributes.items():
            if kind_of(type(value)) != NOTHING:
                found.append((value, ".{}", name))
    if kind in (OBJECT, ITERATOR) and attributes is None:
        for number, value in enumerate(gc.get_referents(obj)):
            if type(value) is tuple:
                inside = enumerate(_filled(value))
                found += [(one, "<{}", f"{number}.{at}") for at, one in inside if kind_of(type(one)) != NOTHING]
            elif kind_of(type(value)) != NOTHING:
                found.append((value, "<{}", number))
    return found


def _in_context(context: contextvars.Context) -> list[tuple[Any, str, Any]]:
    """What the variables of a context hold, by name: their own order goes by their addresses."""
    variables = variables_of(context)
    names = [variable.name for variable in variables]
    return [
        (context[variable], _AT, variable.name)
        for variable in variables
        if names.count(variable.name) == 1 and kind_of(type(context[variable])) != NOTHING
    ]


def variables_of(context: contextvars.Context) -> list[contextvars.ContextVar[Any]]:
    """The variables of a context in an order that is the same in every execution."""
    return sorted(context, key=lambda variable: variable.name)


def attributes_of(obj: Any) -> dict[str, Any] | None:
    """The attributes that an object keeps in a dictionary, without asking the object."""
    try:
        attributes = object.__getattribute__(obj, "__dict__")
    except (AttributeError, TypeError):
        return None
    return attributes if type(attributes) is dict else None


def include_module(strand: Strand, operations: list[Operation], module: str, kind: int = WRITE) -> None:
    """Add the location that stands for the state of a module that is not rewritten."""
    places = strand.execution.modules
    named = places.get(module)
    if named is None:
        shared = strand.execution.shared
        name = of_module(module)
        named = places[module] = Named(name, strand.of_thread or strand, shared is None or name in shared)
    if not named.shared and not is_private(strand, named):
        strand.execution.reveal(named)
    if named.shared:
        operations.append((kind, named.name, None))
    _include_variables(strand, operations, module, kind)


def read_module(strand: Strand, module: str) -> None:
    """Data that a module of somebody else keeps is read past its functions, which may change it."""
    if known.keeps_data(module):
        operations: list[Operation] = []
        include_module(strand, operations, module, READ)
        perform(strand, operations)


def met_in_module(strand: Strand, module: str, path: str, value: Any) -> None:
    """The program has an object that a variable of a module which is not rewritten holds, or a class of it: calls into
    that module work on it as well, those before this one included."""
    if module in REWRITTEN or known.in_modules(module, known.SELF_CONTAINED):
        return
    name_part(strand, value, f"{module}.{path}")
    settings.container_met(module, value)
    strand.execution.rebind(_MET.format(module))
    strand.execution.rebind(_MET.format(f"{module}:{path}"))


_MET: Final = "met in {}"


def _include_variables(strand: Strand, operations: list[Operation], module: str, kind: int) -> None:
    rebound = strand.execution.rebound
    if _MET.format(module) not in rebound or module not in sys.modules:
        return
    start = _MET.format(f"{module}:")
    for path in sorted(name.removeprefix(start) for name in rebound if name.startswith(start)):
        value: Any = sys.modules[module]
        for name in path.split("."):
            value = (vars(value) if isinstance(value, type) else globals_of(value)).get(name)
        if kind_of(type(value)) in (CONTAINER, OBJECT):
            name_part(strand, value, f"{module}.{path}")
            include(strand, operations, value, kind)
