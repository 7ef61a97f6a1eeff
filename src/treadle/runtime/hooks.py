"""The hooks that rewritten code calls: each shared access becomes a point, then happens as Python would do it.

Outside an execution every hook does what plain Python does. Inside, the rules are those of `shapes` (what an
attribute is), `containers` (what a method touches) and `names` (what an object is called). A call into code that is
not rewritten is atomic: one operation on the object it belongs to and on the containers it is given.
"""

from __future__ import annotations

import builtins
import functools
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from operator import contains as _contains
from operator import delitem as _delitem
from operator import getitem as _getitem
from operator import setitem as _setitem
from typing import Any

from treadle.model.operation import MULTI, READ, WRITE, Operation
from treadle.runtime import containers, shapes
from treadle.runtime.adopt import REPLACED, adopt
from treadle.runtime.containers import container_base
from treadle.runtime.instrument.swap import REWRITTEN
from treadle.runtime.names import INERT, PLAIN, Named, class_name, meet, name_by_path, publish
from treadle.runtime.shapes import ADOPT, ATOMIC, CLASS, CODE, CONTAINER, FIELD, META, MODULE, SHAPES, WHOLE, classify
from treadle.runtime.spin import spin
from treadle.runtime.strands import AFTER_EXECUTION, STATE, Strand, SyncObject

_FunctionType = types.FunctionType
_MISSING = object()


# ---------------------------------------------------------------------- attributes


def load(obj: Any, name: str) -> Any:
    """`obj.name`"""
    strand = STATE.strand
    if strand is None:
        return getattr(obj, name)
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if how == FIELD:
        execution = strand.execution
        names = execution.names
        owner = names.get(id(obj)) or meet(strand, obj)
        if owner.shared or _public(strand, owner):
            strand.pending = (READ, owner.name, name)
            execution.advance(strand)
        value = getattr(obj, name)
        if type(value) not in INERT and id(value) not in names:
            name_by_path(strand, value, f"{owner.name}.{name}")
        if strand.detail:
            execution.saw(value, owner)
        return value
    return _load(strand, obj, name, how)


def _public(strand: Strand, named: Named) -> bool:
    """Must an access to an object that is not known to be shared be a point? It is now shared if so."""
    if named.owner is strand:
        return False
    strand.execution.reveal(named)
    return True


def _touch(strand: Strand, kind: int, obj: Any, key: Any) -> Named:
    """An access to an object, as a point unless the object is private to this strand."""
    named = strand.execution.names.get(id(obj)) or meet(strand, obj)
    if named.shared or _public(strand, named):
        strand.pending = (kind, named.name, key)
        strand.execution.advance(strand)
    return named


def _load(strand: Strand, obj: Any, name: str, how: int) -> Any:
    """The less frequent ways to read an attribute."""
    execution = strand.execution
    if how == CLASS:
        owner = meet(strand, obj)
        home = next(cls for cls in type(obj).__mro__ if name in vars(cls))
        place = class_name(home)
        if name in getattr(obj, "__dict__", ()):
            _touch(strand, READ, obj, name)
        elif owner.shared or _public(strand, owner):
            strand.pending = (MULTI, None, ((READ, owner.name, name), (READ, place, name)))
            execution.advance(strand)
        else:
            strand.access(READ, place, name)
        return _found(strand, getattr(obj, name), f"{place}.{name}")
    if how == META:
        value = getattr(obj, name, _MISSING)
        if value is _MISSING or _constant(value) or not shapes.rewritten(obj):
            return getattr(obj, name)
        home = next((cls for cls in obj.__mro__ if name in vars(cls)), obj)
        strand.access(READ, class_name(home), name)
        return _found(strand, getattr(obj, name), f"{class_name(home)}.{name}")
    if how == MODULE:
        variables = vars(obj)
        if variables.get("__name__") not in REWRITTEN or _constant(variables.get(name)):
            value = getattr(obj, name)
            if container_base(type(value)) is not None:  # sys.modules, os.environ: not seen, but what is in it may be
                _found(strand, value, f"{variables.get('__name__')}.{name}")
            return value
        strand.access(READ, obj.__name__, name)
        return _found(strand, getattr(obj, name), f"{obj.__name__}.{name}")
    if how == WHOLE:
        owner = _touch(strand, READ, obj, None)
        attributes = obj.__dict__
        execution.names[id(attributes)] = owner  # its keys are the attributes
        execution.keep.append(attributes)
        return attributes
    if how == ADOPT:
        return getattr(adopt(obj), name)
    return getattr(obj, name)


def _found(strand: Strand, value: Any, path: str) -> Any:
    if type(value) not in INERT and id(value) not in strand.execution.names:
        name_by_path(strand, value, path)
    if strand.detail:
        strand.execution.saw(value)
    return value


def _constant(value: Any) -> bool:
    """Code and classes kept in a module or class: nobody exchanges them while the program runs."""
    return isinstance(value, (*_FUNCTIONS, type, types.ModuleType, property, classmethod, staticmethod))


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def store(value: Any, obj: Any, name: str) -> None:
    """`obj.name = value`"""
    strand = STATE.strand
    if strand is None:
        setattr(obj, name, value)
        return
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if how in (FIELD, CLASS):
        execution = strand.execution
        names = execution.names
        owner = names.get(id(obj)) or meet(strand, obj)
        if type(value) not in INERT and id(value) not in names:
            publish(strand, value)
        if owner.shared or _public(strand, owner):
            strand.pending = (WRITE, owner.name, name)
            execution.advance(strand)
        if strand.detail:
            execution.saw(value, owner)
    else:
        _before_store(strand, obj, name, how, value)
    setattr(obj, name, value)


def _before_store(strand: Strand, obj: Any, name: str, how: int, value: Any) -> None:
    publish(strand, value)
    if how == META:
        strand.access(WRITE, class_name(obj), name)
    elif how == MODULE:
        strand.access(WRITE, obj.__name__, name)
    elif how == WHOLE:
        _touch(strand, WRITE, obj, None)
    else:
        if how == ADOPT:
            adopt(obj)  # a threading.local shows the attributes of this strand from here on
        return
    if strand.detail:
        strand.execution.saw(value)


def delete(obj: Any, name: str) -> None:
    """`del obj.name`"""
    strand = STATE.strand
    if strand is not None:
        how = classify(type(obj), name)
        if how in (FIELD, CLASS):
            _touch(strand, WRITE, obj, name)
        else:
            _before_store(strand, obj, name, how, None)
    delattr(obj, name)


def callee(obj: Any, name: str) -> Any:
    """The function in `obj.name(...)`: what is called, or what makes the call one visible operation."""
    strand = STATE.strand
    if strand is None:
        return getattr(obj, name)
    kind = type(obj)
    try:
        how = SHAPES[kind][name]
    except KeyError:
        how = classify(kind, name)
    if how == CODE:
        return getattr(obj, name)
    if how == CONTAINER:
        return functools.partial(_container_call, obj, name)
    if how == ATOMIC:
        return functools.partial(_atomic_method, obj, name)
    if how == MODULE:
        return function(getattr(obj, name))
    if how in (FIELD, CLASS, META):
        return function(load(obj, name))
    if kind is super:
        method = getattr(obj, name)
        owner = getattr(method, "__self__", None)
        if type(method) is not types.MethodType and container_base(type(owner)) is not None:
            return functools.partial(_container_call, owner, name, via=method)
        return method
    found = _load(strand, obj, name, how)
    return function(found) if isinstance(obj, type) else found


# ---------------------------------------------------------------------- items


def item(obj: Any, key: Any) -> Any:
    """`obj[key]`"""
    strand = STATE.strand
    if strand is None:
        return obj[key]
    kind = type(obj)
    if kind in PLAIN:
        return obj[key]
    base = container_base(kind)
    if base is None:
        return _atomic_item(strand, obj, _getitem, key) if _foreign(kind) else obj[key]
    if _overridden(kind, base, "__getitem__"):
        return obj[key]
    mode, place = containers.item_access(obj, key) if base is dict else (READ, containers.index_key(key))
    owner = _touch(strand, mode, obj, place)
    return _found(strand, obj[key], f"{owner.name}[{place!r}]" if place is not None else f"{owner.name}[]")


def set_item(value: Any, obj: Any, key: Any) -> None:
    """`obj[key] = value`"""
    strand = STATE.strand
    if strand is None:
        obj[key] = value
        return
    kind = type(obj)
    base = container_base(kind)
    if base is None:
        publish(strand, value)
        if _foreign(kind):
            _atomic_item(strand, obj, _setitem, key, value)
        else:
            obj[key] = value
        return
    publish(strand, value)
    if not _overridden(kind, base, "__setitem__"):
        mode, place = containers.store_access(obj, key) if base is dict else (WRITE, containers.index_key(key))
        owner = _touch(strand, mode, obj, place)
        if strand.detail:
            strand.execution.saw(value, owner)
    obj[key] = value


def del_item(obj: Any, key: Any) -> None:
    """`del obj[key]`"""
    strand = STATE.strand
    if strand is not None:
        kind = type(obj)
        base = container_base(kind)
        if base is None:
            if _foreign(kind):
                _atomic_item(strand, obj, _delitem, key)
                return
        elif not _overridden(kind, base, "__delitem__"):
            _touch(strand, WRITE, obj, None)
    del obj[key]


def inside(value: Any, container: Any) -> bool:
    """`value in container`"""
    strand = STATE.strand
    if strand is None:
        return value in container
    kind = type(container)
    if kind in PLAIN:
        return value in container
    base = container_base(kind)
    if base is None:
        if kind in containers.VIEWS:
            use(container)
        elif _foreign(kind):
            return bool(_atomic_item(strand, container, _contains, value))
        return value in container
    if not _overridden(kind, base, "__contains__"):
        place = containers.simple_key(value) if base in (dict, set) else None
        _touch(strand, READ, container, place)
    return value in container


def _overridden(kind: type, base: type, method: str) -> bool:
    """Does a subclass of a container define this method in Python?"""
    return kind is not base and isinstance(getattr(kind, method, None), types.FunctionType)


def _foreign(kind: type) -> bool:
    """Not immutable, and its operators are not rewritten code: operators on it are atomic."""
    try:
        return _foreign_types[kind]
    except KeyError:
        method = getattr(kind, "__getitem__", None)
        code = isinstance(method, types.FunctionType) and method.__globals__.get("__name__") in REWRITTEN
        known = kind in PLAIN or issubclass(kind, (SyncObject, type, BaseException))
        answer = _foreign_types[kind] = not (code or known)
        return answer


_foreign_types: dict[type, bool] = {}


def _atomic_item(strand: Strand, obj: Any, action: Callable[..., Any], *args: Any) -> Any:
    mode = READ if action in (_getitem, _contains) else WRITE
    _touch(strand, mode, obj, None)
    return action(obj, *args)


# ---------------------------------------------------------------------- whole values


def use(value: Any) -> Any:
    """A value is used as a whole: compared, tested, formatted. For a container that reads all of it."""
    strand = STATE.strand
    if strand is None:
        return value
    kind = type(value)
    if kind in PLAIN:
        return value
    if container_base(kind) is not None:
        if not _overridden(kind, container_base(kind) or object, "__len__"):
            _touch(strand, READ, value, None)
    elif kind in containers.VIEWS:
        _touch(strand, READ, containers.view_source(value), None)
    return value


def iterate(iterable: Any) -> Any:
    """The iterable of a for loop or an unpacking: each `next` over a container is a point."""
    strand = STATE.strand
    if strand is None:
        return iterable
    kind = type(iterable)
    if kind in containers.ITERATORS:
        return _steps(iterable)
    if kind in PLAIN:
        return iterable
    base = container_base(kind)
    if base is not None:
        return iterable if _overridden(kind, base, "__iter__") else _steps(iterable, iterable)
    if kind in containers.VIEWS:
        return _steps(iterable, containers.view_source(iterable))
    return iterable


def _steps(iterable: Any, container: Any = None) -> Iterator[Any]:
    """The items one by one, from a container or from whatever an iterator takes them from."""
    iterator = None if container is not None else iter(iterable)
    count = 0
    while True:
        strand = STATE.strand
        if strand is None:
            yield from iterable if iterator is None else iterator
            return
        if container is not None:
            path = f"{_touch(strand, READ, container, None).name}[{count}]"
            if iterator is None:
                iterator = iter(iterable)  # with the first item: nothing comes between them
        else:
            path = _before_next(strand, iterator, count)
        try:
            value = next(iterator)  # type: ignore[arg-type]
        except StopIteration:
            return
        yield _found(strand, value, path)
        count += 1


def _before_next(strand: Strand, iterator: Any, count: int) -> str:
    """The point before an iterator gives its next item; how the item is reached."""
    sources = containers.iterated(iterator)
    operations: list[Operation] = []
    for source in sources:
        _include(strand, operations, source, READ)
    _perform(strand, operations)
    return f"{meet(strand, sources[0] if sources else iterator).name}[{count}]"


def _next(iterator: Any, *default: Any) -> Any:
    strand = STATE.strand
    if strand is None or type(iterator) not in containers.ITERATORS:
        return next(iterator, *default)
    path = _before_next(strand, iterator, 0)
    return _found(strand, next(iterator, *default), path)


# ---------------------------------------------------------------------- calls


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
        return functools.partial(_atomic_method, called.__self__, inner.__name__, via=called)
    if kind is types.BuiltinFunctionType:
        owner = called.__self__
        if owner is None or type(owner) is types.ModuleType:
            special = _SPECIAL.get(called) or REPLACED.get(called)
            if special is not None:
                return special
            return called if called in _HARMLESS else functools.partial(_atomic_call, called)
        if container_base(type(owner)) is not None:
            return functools.partial(_container_call, owner, called.__name__, via=called)
        if isinstance(owner, shapes.ADOPTABLE):
            return getattr(adopt(owner), called.__name__)
        if type(owner) in PLAIN:
            return REPLACED.get(called) or functools.partial(_atomic_call, called)  # `datetime.now` is one of them
        return functools.partial(_atomic_method, owner, called.__name__, via=called)
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
_CONTROLLED = frozenset(
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
            return _container_call(args[0], method.__name__, *args[1:], via=bound, **kwargs)
        if method in _ATTRIBUTE_ACCESS and len(args) > 1 and classify(type(args[0]), args[1]) in (FIELD, CLASS):
            _touch(strand, _ATTRIBUTE_ACCESS[method], args[0], args[1])
    return method(*args, **kwargs)


_ATTRIBUTE_ACCESS: dict[Any, int] = {
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


def _container_call(obj: Any, method: str, /, *args: Any, via: Any = None, **kwargs: Any) -> Any:
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
    _include(strand, operations, obj, access[0], access[1])
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
                _include(strand, operations, argument, READ)
    _perform(strand, operations)
    result = via(*args, **kwargs)
    if type(result) not in INERT:
        _found(strand, result, _place(owner, method, args))
    elif strand.detail:
        strand.execution.saw(args[0] if args and access[0] == WRITE else result)
    return result


def _place(owner: Named, method: str, args: tuple[Any, ...]) -> str:
    """How what a container method returned is reached: `dict#1['k']`, `list#1.pop()`."""
    key = containers.simple_key(args[0]) if args else None
    return f"{owner.name}[{key!r}]" if key is not None else f"{owner.name}.{method}()"


_TAKES_CONTENT = frozenset(
    {"extend", "extendleft", "update", "union", "difference", "intersection", "symmetric_difference", "issubset"}
    | {"issuperset", "isdisjoint", "difference_update", "intersection_update", "symmetric_difference_update"}
    | {"__add__", "__iadd__", "__or__", "__ior__", "__eq__", "__ne__", "__and__", "__sub__", "__xor__"}
)


def _atomic_method(obj: Any, method: str, /, *args: Any, via: Any = None, **kwargs: Any) -> Any:
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
    _include(strand, operations, obj, WRITE)
    _add_arguments(strand, operations, args, kwargs, WRITE)
    _perform(strand, operations)
    return called(*args, **kwargs)


def _atomic_call(called: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that is not rewritten: one operation on the containers and objects it is given."""
    strand = STATE.strand
    if strand is None:
        return called(*args, **kwargs)
    operations: list[Operation] = []
    _add_arguments(strand, operations, args, kwargs, READ if called in _READ_ONLY else WRITE)
    _perform(strand, operations)
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
            _include(strand, operations, argument, READ)
            continue
        _include(strand, operations, argument, mode)


def _include(strand: Strand, operations: list[Operation], obj: Any, kind: int, key: Any = None) -> None:
    """Add an access to an operation on several objects, unless the object is private to this strand."""
    named = meet(strand, obj)
    if named.shared or _public(strand, named):
        operations.append((kind, named.name, key))


def _perform(strand: Strand, operations: list[Operation]) -> None:
    if not operations:
        return
    strand.pending = operations[0] if len(operations) == 1 else (MULTI, None, tuple(operations))
    strand.execution.advance(strand)


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


def _getattr(obj: Any, name: str, *default: Any) -> Any:
    if not default:
        return load(obj, name)
    try:
        return load(obj, name)
    except AttributeError:
        return default[0]


def _hasattr(obj: Any, name: str) -> bool:
    try:
        load(obj, name)
    except AttributeError:
        return False
    return True


def _setattr(obj: Any, name: str, value: Any) -> None:
    store(value, obj, name)


def _vars(*args: Any) -> Any:
    return load(args[0], "__dict__") if args else vars()


def _id(obj: Any) -> int:
    """An address may become the key of a dictionary, and there means the object, in every execution."""
    strand = STATE.strand
    if strand is not None:
        kind = type(obj)
        if kind not in PLAIN:
            name = getattr(obj, "treadle_name", "") if isinstance(obj, SyncObject) else meet(strand, obj).name
        else:
            name = getattr(obj, "__qualname__", "") or repr(obj)[:60] if kind is not tuple else ""
        containers.ADDRESSES[id(obj)] = f"id of {name or strand.fresh(kind.__name__)}"
    return id(obj)


AFTER_EXECUTION.append(containers.ADDRESSES.clear)


_SPECIAL: dict[Any, Any] = {getattr: _getattr, hasattr: _hasattr, setattr: _setattr, delattr: delete, vars: _vars}
_SPECIAL[next] = _next
_SPECIAL[id] = _id


# ---------------------------------------------------------------------- variables


def load_global(variables: dict[str, Any], name: str) -> Any:
    """A module variable that functions rebind."""
    strand = STATE.strand
    if strand is not None:
        strand.access(READ, variables["__name__"], name)
    try:
        value = variables[name]
    except KeyError:
        try:
            value = vars(builtins)[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined", name=name) from None
    return value if strand is None else _found(strand, value, f"{variables['__name__']}.{name}")


def set_global(value: Any, variables: dict[str, Any], name: str) -> None:
    strand = STATE.strand
    if strand is not None:
        publish(strand, value)
        strand.access(WRITE, variables["__name__"], name)
        if strand.detail:
            strand.execution.saw(value)
    variables[name] = value


def del_global(variables: dict[str, Any], name: str) -> None:
    strand = STATE.strand
    if strand is not None:
        strand.access(WRITE, variables["__name__"], name)
    if name not in variables:
        raise NameError(f"name {name!r} is not defined", name=name)
    del variables[name]


def cell_read(label: str) -> None:
    """A variable shared by an outer and an inner function is about to be read."""
    strand = STATE.strand
    if strand is not None:
        strand.access(READ, label, None)


def cell_write(label: str) -> None:
    strand = STATE.strand
    if strand is not None:
        strand.access(WRITE, label, None)


def context(manager: Any) -> Any:
    """The object of a `with` statement."""
    if STATE.strand is not None and isinstance(manager, shapes.ADOPTABLE):
        return adopt(manager)
    return manager


STATE.visible = function

HOOKS: dict[str, Any] = {
    "_treadle_load": load,
    "_treadle_callee": callee,
    "_treadle_function": function,
    "_treadle_store": store,
    "_treadle_delete": delete,
    "_treadle_item": item,
    "_treadle_set_item": set_item,
    "_treadle_del_item": del_item,
    "_treadle_in": inside,
    "_treadle_use": use,
    "_treadle_iter": iterate,
    "_treadle_global": load_global,
    "_treadle_set_global": set_global,
    "_treadle_del_global": del_global,
    "_treadle_cell_read": cell_read,
    "_treadle_cell_write": cell_write,
    "_treadle_context": context,
    "_treadle_spin": spin,
}
