"""The fields of a class and their types: from its annotations, else from what its methods assign.

An object of the program under test is made field by field when they are read, so every field that some method
assigns to self has a type here.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import functools
import inspect
import logging
import re
import sys
import threading
import types
import typing
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.python.types import hints
from treadle.symbolic.python.types.assignments import always_assigns, assignments, is_managed, methods, receiver, slots
from treadle.symbolic.python.types.infer import infer_parameter

# Fields that start as None and link objects of one kind, in most programs that have them.
_LINKS = {*("next", "prev", "previous", "left", "right", "parent", "child", "head", "tail", "root")}
_LINKS |= {"first", "last", "node", "link"}


def field_types(cls: object) -> dict[str, t.Type]:
    """Field name -> type, inherited ones first; class-level constants and methods are not fields."""
    return _field_types(cls)


@functools.cache
def _field_types(cls: Any) -> dict[str, t.Type]:
    found: dict[str, t.Type] = {}
    for base in reversed(cls.__mro__):
        if base is object:
            continue
        found.update(_assigned(base, cls))
        found.update(_annotated(base))
    for name in slots(cls):
        found.setdefault(name, t.INT)
    return {name: _nullable_if_object(kind) for name, kind in found.items()}


def field_names(cls: type) -> list[str]:
    return list(field_types(cls))


def field_type(cls: type, name: str) -> t.Type | None:
    return field_types(cls).get(name)


def field_hint(cls: type, name: str) -> object:
    """The hint of a field: of the class, of an assignment, of the parameter that is assigned; None without one."""
    for base in cls.__mro__:
        if name in inspect.get_annotations(base):
            return hints.resolved_hints(base).get(name)
        for node, function in methods(base):
            for assigned, statement, value in assignments(node, base):
                if assigned == name and isinstance(statement, ast.AnnAssign):
                    return _hint_from_text(statement.annotation, function)
                if assigned == name and isinstance(value, ast.Name):
                    hint = hints.resolved_hints(function).get(value.id)
                    if hint is not None:
                        return hint
    return None


@functools.cache
def is_set_when_made(cls: Any, name: str) -> bool:
    """Whether the class or a constructor gives the field a value, as far as their text shows it."""
    for base in cls.__mro__:
        if name in vars(base) and not inspect.ismemberdescriptor(vars(base)[name]):
            return True
        if name in inspect.get_annotations(base) and dataclasses.is_dataclass(base):
            return True
        made = [node for node, _ in methods(base) if node.name in ("__init__", "__post_init__", "__new__")]
        if any(always_assigns(node, base, name) for node in made):
            return True
    return False


def is_guess(cls: type, name: str) -> bool:
    """Whether the type of a field rests on no annotation and on nothing that is assigned: int, or elements of int."""
    return name in _guessed(cls)


@functools.cache
def _guessed(cls: type) -> frozenset[str]:
    sure: set[str] = set()
    for base in cls.__mro__:
        if base is object:
            continue
        sure |= _annotated(base).keys()
        for node, function in methods(base):
            for name, statement, value in assignments(node, base):
                note = statement.annotation if isinstance(statement, ast.AnnAssign) else None
                declared = note is not None and _from_text(note, function) is not None
                said = _says_its_type(value, function, base) or isinstance(_of_library(value, function), t.Real)
                if declared or (not _is_none(value) and said):
                    sure.add(name)
    return frozenset(field_types(cls).keys() - sure)


def _says_its_type(value: ast.expr | None, function: types.FunctionType, base: type) -> bool:
    """Whether what is assigned shows its type and that of its elements."""
    if isinstance(value, ast.Name) and value.id in inspect.signature(function).parameters:
        hint = hints.resolved_hints(function).get(value.id)
        return hint is not None and hints.from_hint(hint) is not None
    kind = _value_type(value, function, base)
    if isinstance(kind, t.ListOf | t.DictOf | t.SetOf | t.TupleOf):
        parts = value.elts if isinstance(value, ast.List | ast.Set | ast.Tuple) else ()
        if isinstance(value, ast.Dict):
            parts = [part for part in (*value.keys, *value.values) if part is not None]
        return bool(parts) and all(_says_its_type(part, function, base) for part in parts)
    return kind is not None


@functools.cache
def sets_by_name(cls: Any) -> bool:
    """Whether the class makes fields that no name in its source shows: setattr, vars, __dict__, descriptors."""
    for base in cls.__mro__:
        if any(isinstance(getattr(type(value), "__set__", None), types.FunctionType) for value in vars(base).values()):
            return True
        for node, _ in methods(base):
            me = receiver(node)
            for part in ast.walk(node):
                match part:
                    case ast.Call(func=ast.Name(id="setattr" | "vars"), args=[ast.Name(id=name), *_]) if name == me:
                        return True
                    case ast.Attribute(value=ast.Name(id=name), attr="__dict__") if name == me:
                        return True
    return False


def _nullable_if_object(kind: t.Type) -> t.Type:
    return t.union(*(hints.nullable_object(o) for o in t.options(kind)))


def _annotated(cls: type) -> dict[str, t.Type]:
    own = inspect.get_annotations(cls)
    resolved = hints.resolved_hints(cls)
    found: dict[str, t.Type] = {}
    for name in own:
        hint = resolved.get(name)
        if hint is None or typing.get_origin(hint) is typing.ClassVar or hint is typing.ClassVar:
            continue
        kind = hints.from_hint(hint)
        if kind is not None and not is_managed(cls, name):
            default = cls.__dict__.get(name, inspect.Parameter.empty)
            found[name] = t.nullable(kind) if default is None else kind
    return found


def _assigned(base: type, cls: type) -> dict[str, t.Type]:
    """self.x = ... in the class's own methods."""
    found: dict[str, t.Type] = {}
    stated: set[str] = set()
    maybe_none: set[str] = set()
    for node, function in methods(base):
        for name, statement, value in assignments(node, base):
            declared = _from_text(statement.annotation, function) if isinstance(statement, ast.AnnAssign) else None
            kind = declared or _value_type(value, function, base) or _of_library(value, function)
            is_none = kind is t.NONE or _is_none(value)
            if is_none:
                maybe_none.add(name)
            if declared is not None and declared is not t.NONE:
                found[name] = declared  # whatever is assigned there
                stated.add(name)
            elif not is_none and kind is not None and name not in stated:
                before = found.get(name, _UNSURE)
                found[name] = kind if before is _UNSURE else _either(before, kind)
            elif not is_none and not isinstance(statement, ast.AugAssign):
                found.setdefault(name, _UNSURE)
    for name in maybe_none:
        kind = found.get(name)
        if kind is None or kind is _UNSURE:
            kind = t.Instance(base) if name.strip("_") in _LINKS else t.INT
        found[name] = t.nullable(kind)
    return {name: (t.INT if kind is _UNSURE else kind) for name, kind in found.items()}


_UNSURE = t.OneOf((), "unsure")


def _either(one: t.Type, other: t.Type) -> t.Type:
    """What a field may hold that is given both; of containers the first tells the elements, and of numbers the kind."""
    kinds = (t.ListOf, t.DictOf, t.SetOf, t.TupleOf)
    if any(isinstance(one, kind) and isinstance(other, kind) for kind in kinds) or {one, other} == {t.INT, t.FLOAT}:
        return one
    return t.union(one, other)


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _of_library(value: ast.expr | None, function: types.FunctionType) -> t.Type | None:
    """What a call of the standard library gives, `threading.Lock()` say."""
    match value:
        case ast.Call(func=ast.Name(id=name)):
            called = function.__globals__.get(name)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=name)):
            called = getattr(function.__globals__.get(owner), name, None)
        case _:
            return None
    module = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
    package = str(module).partition(".")[0]
    if called is collections.OrderedDict:
        return t.DictOf(t.STR, t.INT, True)
    if called is None or package not in sys.stdlib_module_names or package in ("builtins", "__main__"):
        return None
    arguments = [_argument(part, function) for part in value.args]
    usual = called in _MADE and not value.keywords and _UNKNOWN not in arguments
    return t.Real(f"{ast.unparse(value.func)}()", functools.partial(called, *arguments) if usual else None)


# What these give is the same for all objects of a class, and has no state that matters to one thread.
_MADE = (threading.Lock, threading.RLock, logging.getLogger, re.compile)
_UNKNOWN = object()


def _argument(node: ast.expr, function: types.FunctionType) -> object:
    """A constant, or a name of the module."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return function.__globals__.get(name, _UNKNOWN)
    return _UNKNOWN


def _from_text(annotation: ast.expr, function: types.FunctionType) -> t.Type | None:
    hint = _hint_from_text(annotation, function)
    return hints.from_hint(hint) if hint is not None else None


def _hint_from_text(annotation: ast.expr, function: types.FunctionType) -> object:
    quoted = annotation.value if isinstance(annotation, ast.Constant) else None
    text = quoted if isinstance(quoted, str) else ast.unparse(annotation)
    try:
        hint = eval(text, dict(function.__globals__))
    except Exception:
        return None
    return hints.with_references(hint, function.__globals__)


def _value_type(value: ast.expr | None, function: types.FunctionType, base: type) -> t.Type | None:
    """The type of what is assigned, as far as the text shows it."""
    if isinstance(value, ast.Name):
        signature = inspect.signature(function)
        if value.id in signature.parameters:
            return _parameter(function, value.id, signature.parameters[value.id])
    # `given or []`, `given if given is not None else []`: what is missing is replaced
    parts = [value.body, value.orelse] if isinstance(value, ast.IfExp) else []
    parts = value.values if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) else parts
    kinds = [kind for part in parts if (kind := _value_type(part, function, base)) is not None]
    if kinds:
        real = [kind for one in kinds for kind in t.options(one) if kind != t.NONE]
        return t.union(*real, *([t.NONE] if t.NONE in kinds else []))
    return literal_type(value, function.__globals__)


def _parameter(function: types.FunctionType, name: str, parameter: inspect.Parameter) -> t.Type | None:
    hint = hints.resolved_hints(function).get(name)
    kind = hints.from_hint(hint) if hint is not None else None
    if parameter.kind is parameter.VAR_KEYWORD:
        return t.DictOf(t.STR, kind or t.INT)
    if parameter.kind is parameter.VAR_POSITIONAL:
        return t.TupleOf((), kind or t.INT)
    if kind is None:
        kind = infer_parameter(function, name)
    if parameter.default is None and kind is not None:
        return t.nullable(kind)
    return kind


_CONSTRUCTORS: dict[str, t.Type] = {
    "int": t.INT,
    "len": t.INT,
    "str": t.STR,
    "float": t.FLOAT,
    "bool": t.BOOL,
    "set": t.SetOf(t.INT),
    "list": t.ListOf(t.INT),
    "sorted": t.ListOf(t.INT),
    "dict": t.DictOf(t.STR, t.INT),
}


def literal_type(value: ast.expr | None, names: dict[str, object]) -> t.Type | None:
    """The type of a literal or of a constructor call."""
    match value:
        case ast.Constant(value=bool()):
            return t.BOOL
        case ast.Constant(value=int()):
            return t.INT
        case ast.Constant(value=float()):
            return t.FLOAT
        case ast.Constant(value=str()):
            return t.STR
        case ast.Constant(value=None):
            return t.NONE
        case ast.List(elts=elements) | ast.ListComp(elt=elements):
            first = elements[0] if isinstance(elements, list) and elements else None
            return t.ListOf(literal_type(first, names) or t.INT)
        case ast.Dict(keys=keys, values=values):
            key = literal_type(keys[0], names) if keys else None
            return t.DictOf(key or t.STR, (literal_type(values[0], names) if values else None) or t.INT)
        case ast.DictComp():
            return t.DictOf(t.STR, t.INT)
        case ast.Set() | ast.SetComp():
            return t.SetOf(t.INT)
        case ast.Tuple(elts=elements):
            return t.TupleOf(tuple(literal_type(e, names) or t.INT for e in elements))
        case ast.UnaryOp(operand=operand):
            return literal_type(operand, names)
        case ast.Compare():
            return t.BOOL
        case ast.JoinedStr():
            return t.STR
        case ast.BinOp(left=left, right=right):
            kinds = [literal_type(left, names), literal_type(right, names)]
            if t.FLOAT in kinds or isinstance(value.op, ast.Div):
                return t.FLOAT
            return kinds[0] or kinds[1]
        case ast.Call(func=ast.Name(id=name)):
            if name in _CONSTRUCTORS:
                return _CONSTRUCTORS[name]
            found = names.get(name)
            return hints.from_class(found) if isinstance(found, type) else None
    return None
