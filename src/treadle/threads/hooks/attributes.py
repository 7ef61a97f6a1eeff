"""Attributes: `obj.name` read, written, deleted, and called. What an attribute is, `shapes` decides."""

from __future__ import annotations

import functools
import types
from typing import Any, Final

from treadle.core.operation import MULTI, READ, WRITE
from treadle.threads import shapes
from treadle.threads.adopt import adopt
from treadle.threads.containers import container_base
from treadle.threads.hooks.calls import atomic_method, container_call, function
from treadle.threads.hooks.points import found, public, touch
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import INERT, class_name, meet, name_by_path, publish
from treadle.threads.shapes import ADOPT, ATOMIC, CLASS, CODE, CONTAINER, FIELD, META, MODULE, SHAPES, WHOLE, classify
from treadle.threads.strands import STATE, Strand

_MISSING: Final = object()


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
        if owner.shared or public(strand, owner):
            strand.pending = (READ, owner.name, name)
            execution.advance(strand)
        value = getattr(obj, name)
        if type(value) not in INERT and id(value) not in names:
            name_by_path(strand, value, f"{owner.name}.{name}")
        if strand.detail:
            execution.saw(value, owner)
        return value
    return _load(strand, obj, name, how)


def _load(strand: Strand, obj: Any, name: str, how: int) -> Any:
    """The less frequent ways to read an attribute."""
    execution = strand.execution
    if how == CLASS:
        owner = meet(strand, obj)
        home = next(cls for cls in type(obj).__mro__ if name in vars(cls))
        place = class_name(home)
        if name in getattr(obj, "__dict__", ()):
            touch(strand, READ, obj, name)
        elif owner.shared or public(strand, owner):
            strand.pending = (MULTI, None, ((READ, owner.name, name), (READ, place, name)))
            execution.advance(strand)
        else:
            strand.access(READ, place, name)
        return found(strand, getattr(obj, name), f"{place}.{name}")
    if how == META:
        value = getattr(obj, name, _MISSING)
        if value is _MISSING or _constant(value) or not shapes.rewritten(obj):
            return getattr(obj, name)
        home = next((cls for cls in obj.__mro__ if name in vars(cls)), obj)
        strand.access(READ, class_name(home), name)
        return found(strand, getattr(obj, name), f"{class_name(home)}.{name}")
    if how == MODULE:
        variables = vars(obj)
        if variables.get("__name__") not in REWRITTEN or _constant(variables.get(name)):
            value = getattr(obj, name)
            if container_base(type(value)) is not None:  # sys.modules, os.environ: not seen, but what is in it may be
                found(strand, value, f"{variables.get('__name__')}.{name}")
            return value
        strand.access(READ, obj.__name__, name)
        return found(strand, getattr(obj, name), f"{obj.__name__}.{name}")
    if how == WHOLE:
        owner = touch(strand, READ, obj, None)
        attributes = obj.__dict__
        execution.names[id(attributes)] = owner  # its keys are the attributes
        execution.keep.append(attributes)
        return attributes
    if how == ADOPT:
        return getattr(adopt(obj), name)
    return getattr(obj, name)


def _constant(value: Any) -> bool:
    """Code and classes kept in a module or class: nobody exchanges them while the program runs."""
    return isinstance(value, (*_FUNCTIONS, type, types.ModuleType, property, classmethod, staticmethod))


_FUNCTIONS: Final = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


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
        if owner.shared or public(strand, owner):
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
        touch(strand, WRITE, obj, None)
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
            touch(strand, WRITE, obj, name)
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
        return functools.partial(container_call, obj, name)
    if how == ATOMIC:
        return functools.partial(atomic_method, obj, name)
    if how == MODULE:
        return function(getattr(obj, name))
    if how in (FIELD, CLASS, META):
        return function(load(obj, name))
    if kind is super:
        method = getattr(obj, name)
        owner = getattr(method, "__self__", None)
        if type(method) is not types.MethodType and container_base(type(owner)) is not None:
            return functools.partial(container_call, owner, name, via=method)
        return method
    found = _load(strand, obj, name, how)
    return function(found) if isinstance(obj, type) else found
