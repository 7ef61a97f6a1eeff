"""Functions and callable objects that do what an expression does, and are seen as that: getattr, next, itemgetter, ...

And those whose effect is more than what they are given: weak references tell of the lives of objects, print of a file,
a cache of the calls that were made before.
"""

from __future__ import annotations

import abc
import functools
import operator
import os
import sys
import weakref
from typing import Any

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import containers, without_gil
from treadle.threads.hooks import operators, reach
from treadle.threads.hooks.attributes import callee, delete, load, store
from treadle.threads.hooks.calls import CALLABLES, STAND_INS, function
from treadle.threads.hooks.items import del_item, inside, item, set_item
from treadle.threads.hooks.iteration import merge, next_item
from treadle.threads.hooks.points import during, include, perform, touch
from treadle.threads.lives import FINALISERS, found_dead, watch
from treadle.threads.names import INERT, PLAIN, class_name, meet, publish
from treadle.threads.strands import AFTER_EXECUTION, STATE, SyncObject


def _getattr(obj: Any, name: Any, *default: Any) -> Any:
    if not default:
        return load(obj, name)
    try:
        return load(obj, name)
    except AttributeError:
        return default[0]


def _hasattr(obj: Any, name: Any) -> bool:
    try:
        load(obj, name)
    except AttributeError:
        return False
    return True


def _setattr(obj: Any, name: Any, value: Any) -> None:
    store(value, obj, name)


def _vars(*args: Any) -> Any:
    return load(args[0], "__dict__") if args else vars()


def _id(obj: Any) -> int:
    """An address may become the key of a dictionary, and there means the object, in every execution."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        kind = type(obj)
        if kind not in PLAIN:
            name = getattr(obj, "treadle_name", "") if isinstance(obj, SyncObject) else meet(strand, obj).name
        else:
            name = getattr(obj, "__qualname__", "") or repr(obj)[:60] if kind is not tuple else ""
        containers.ADDRESSES[id(obj)] = f"id of {name or strand.fresh(kind.__name__)}"
    return id(obj)


def _isinstance(obj: Any, classes: Any) -> bool:
    _read_class(obj)
    if type(classes) is not type:
        _read_registry(classes)
        _read_members(obj, classes)
    return isinstance(obj, classes)


def _issubclass(cls: Any, classes: Any) -> bool:
    _read_registry(classes)
    return issubclass(cls, classes)


def _register(cls: Any, subclass: Any) -> Any:
    """`Shape.register(Circle)`: from now on, asking whether something is a Shape reads what is registered."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        strand.execution.rebind(_REGISTRY)
        strand.access(WRITE, class_name(cls), _REGISTRY)
    return _real_register(cls, subclass)


def _read_registry(classes: Any) -> None:
    strand = STATE.strand
    if strand is not None and not STATE.coasting and _REGISTRY in strand.execution.rebound:
        for cls in classes if type(classes) is tuple else (classes,):
            if isinstance(cls, abc.ABCMeta):
                strand.access(READ, class_name(cls), _REGISTRY)


def _read_members(obj: Any, classes: Any) -> None:
    """A protocol that is checked at run time asks for attributes of the object."""
    strand = STATE.strand
    if strand is None or STATE.coasting or type(obj) in INERT:
        return
    if any(getattr(cls, "_is_protocol", False) for cls in (classes if type(classes) is tuple else (classes,))):
        operations: list[Operation] = []
        reach.everything(strand, operations, obj, READ)
        perform(strand, operations)


_real_register = abc.ABCMeta.register
_REGISTRY = "what is registered"


def _type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1:
        _read_class(args[0])
    elif len(args) == 3:
        merge(args[2])
    return type(*args, **kwargs)


def _read_class(obj: Any) -> None:
    strand = STATE.strand
    if strand is not None and not STATE.coasting and "__class__" in strand.execution.rebound and type(obj) not in INERT:
        touch(strand, READ, obj, "__class__")


def _print(*args: Any, **kwargs: Any) -> None:
    """What is printed is read; the file is changed, also standard output when the program can read it again."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        operations: list[Operation] = []
        for argument in args:
            reach.content(strand, operations, argument, READ)
        file = kwargs.get("file")
        if file is not None:
            reach.everything(strand, operations, file, WRITE)
        else:
            if "sys.stdout" in strand.execution.rebound:
                operations.append((READ, "sys", "stdout"))
            if hasattr(sys.stdout, "getvalue"):
                include(strand, operations, sys.stdout, WRITE)
        during(strand, operations, print, *args, **kwargs)
        return
    print(*args, **kwargs)


def _input(*args: Any) -> Any:
    """A line is taken from standard input."""
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return input(*args)
    operations: list[Operation] = []
    if "sys.stdin" in strand.execution.rebound:
        operations.append((READ, "sys", "stdin"))
    reach.everything(strand, operations, sys.stdin, WRITE)
    return during(strand, operations, input, *args)


# ---------------------------------------------------------------------- callable objects


def _itemgetter(getter: Any, /, obj: Any) -> Any:
    found = tuple(item(obj, key) for key in getter.__reduce__()[1])
    return found[0] if len(found) == 1 else found


def _attrgetter(getter: Any, /, obj: Any) -> Any:
    found = tuple(functools.reduce(load, path.split("."), obj) for path in getter.__reduce__()[1])
    return found[0] if len(found) == 1 else found


def _methodcaller(caller: Any, /, obj: Any) -> Any:
    made_by, args = caller.__reduce__()
    kwargs: dict[str, Any] = {}
    if isinstance(made_by, functools.partial):
        args, kwargs = made_by.args, made_by.keywords
    return callee(obj, args[0])(*args[1:], **kwargs)


def _cached(treadle_cache: Any, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a function with a cache: reads and perhaps fills the entry for these arguments."""
    cache = treadle_cache
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return cache(*args, **kwargs)
    for argument in (*args, *kwargs.values()):
        publish(strand, argument)
    info = cache.cache_info()
    nearly_full = info.maxsize is not None and info.currsize + len(strand.execution.strands) >= info.maxsize
    key = containers.simple_key(args) if not kwargs and not nearly_full else None
    operations: list[Operation] = []
    include(strand, operations, cache, WRITE, key)
    without_gil.note_cached(strand, operations, cache)
    result = during(strand, operations, cache, *args, **kwargs)
    if strand.detail:
        strand.execution.saw(result)
    return result


def _dereference(treadle_reference: Any, /, *args: Any, **kwargs: Any) -> Any:
    reference = treadle_reference
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return reference(*args, **kwargs)
    operations: list[Operation] = []
    of_one = type(reference) is weakref.ref
    strand.execution.read_lives(operations, of_one)
    found = during(strand, operations, reference, *args, **kwargs)
    if of_one and found is None:
        found_dead(strand, reference)
    elif of_one:
        watch(strand, found, reference)
    return found


def _weak_reference(
    treadle_kind: Any, treadle_obj: Any, treadle_callback: Any = None, /, *args: Any, **kwargs: Any
) -> Any:
    """A weak reference: who gets it reaches the object. What it calls when the object dies is called as from here."""
    kind, obj, callback = treadle_kind, treadle_obj, treadle_callback
    strand = STATE.strand
    if strand is None or STATE.coasting:
        return kind(obj, callback, *args, **kwargs)
    publish(strand, obj)
    if callback is not None:
        strand.execution.rebind(FINALISERS)
    for value in (callback, *args, *kwargs.values()):
        publish(strand, value)
    made = kind(obj, None if callback is None else functools.partial(_call, callback), *args, **kwargs)
    if kind is weakref.ref:
        watch(strand, obj, made)
    return made


def _getenv(key: Any, default: Any = None) -> Any:
    """`os.getenv` reads `os.environ`. Programs also give it numbers for what is not there."""
    try:
        return item(os.environ, key)
    except KeyError:
        return default


def _set(obj: Any, key: Any, value: Any) -> None:
    set_item(value, obj, key)


def _in(container: Any, value: Any) -> bool:
    return inside(value, container)


def _call(treadle_called: Any, /, *args: Any, **kwargs: Any) -> Any:
    return function(treadle_called)(*args, **kwargs)


AFTER_EXECUTION.append(containers.ADDRESSES.clear)

STAND_INS.update(
    {
        getattr: _getattr,
        hasattr: _hasattr,
        setattr: _setattr,
        delattr: delete,
        vars: _vars,
        next: next_item,
        id: _id,
        isinstance: _isinstance,
        issubclass: _issubclass,
        abc.ABCMeta.register: _register,
        type: _type,
        print: _print,
        input: _input,
        os.getenv: _getenv,
        operator.getitem: item,
        operator.setitem: _set,
        operator.delitem: del_item,
        operator.contains: _in,
        operator.concat: operators.OPERATORS["add"],
        operator.iconcat: operators.INPLACE["iadd"],
        **{getattr(operator, name): hook for name, hook in operators.OPERATORS.items()},
        **{getattr(operator, name): hook for name, hook in operators.INPLACE.items()},
        **({operator.call: _call} if hasattr(operator, "call") else {}),
        weakref.ref: functools.partial(_weak_reference, weakref.ref),
        weakref.finalize: functools.partial(_weak_reference, weakref.finalize),
        weakref.proxy: functools.partial(_weak_reference, weakref.proxy),
    }
)
CALLABLES.update(
    {
        operator.itemgetter: _itemgetter,
        operator.attrgetter: _attrgetter,
        operator.methodcaller: _methodcaller,
        functools._lru_cache_wrapper: _cached,
        weakref.ref: _dereference,
        weakref.WeakMethod: _dereference,
        weakref.KeyedRef: _dereference,
    }
)
