"""Python's type hints as types of unknown inputs.

None is added where a reference could be null: parameters that are objects or containers, and fields and elements
that are objects, whatever the hint promises (`none=False` takes hints at their word).
"""

from __future__ import annotations

import collections
import collections.abc as abc
import datetime
import enum
import inspect
import sys
import types
import typing
import uuid
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.python.types.heirs import is_plain_object, known_subclasses

_SCALARS: dict[Any, t.Type] = {int: t.INT, bool: t.BOOL, float: t.FLOAT, str: t.STR, type(None): t.NONE, None: t.NONE}
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Reversible, abc.Iterator)
_DICTS = (dict, collections.OrderedDict, abc.Mapping, abc.MutableMapping)
_SETS = (set, abc.Set, abc.MutableSet)
# Values of types that have no unknowns; the first is the plainest, the others differ from it in order, sign and truth.
_SAMPLES: dict[type, tuple[Any, ...]] = {
    bytes: (b"", b"a", b"ab"),
    Decimal: (Decimal("1.5"), Decimal(0), Decimal(-1)),
    datetime.date: (datetime.date(2020, 1, 2), datetime.date(2019, 12, 31), datetime.date(2024, 2, 29)),
    datetime.datetime: (datetime.datetime(2020, 1, 2, 3, 4), datetime.datetime(2019, 12, 31)),
    datetime.time: (datetime.time(3, 4), datetime.time(0)),
    datetime.timedelta: (datetime.timedelta(1), datetime.timedelta(0), datetime.timedelta(-1)),
    uuid.UUID: (uuid.UUID(int=1), uuid.UUID(int=2)),
    complex: (1j, 0j),
    Path: (Path("a.txt"), Path("b/c"), Path()),
    PurePath: (PurePath("a.txt"), PurePath("b/c"), PurePath()),
}


def from_hint(hint: object) -> t.Type | None:
    """The type that a hint means; None when it says nothing that inputs can be made from."""
    if hint in _SCALARS if _hashable(hint) else False:
        return _SCALARS[hint]
    if isinstance(hint, typing.TypeVar):
        bound = hint.__bound__
        if hint.__constraints__:
            return from_hint(hint.__constraints__[0])
        return from_hint(bound) if bound is not None and not isinstance(bound, typing.ForwardRef) else t.INT
    if isinstance(hint, typing.NewType):
        return from_hint(hint.__supertype__)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated or origin in (typing.Final, typing.ClassVar, typing.Required, typing.NotRequired):
        return from_hint(args[0]) if args else None
    if origin in (typing.Union, types.UnionType):
        found = [from_hint(a) for a in args]
        known = [f for f in found if f is not None]
        return t.union(*known) if known else None
    if origin is typing.Literal:
        given = tuple(a for a in args if a is not None)
        literal = [t.OneOf(given)] if given else []
        return t.union(*literal, *([t.NONE] if None in args else []))
    if origin is type or hint is type:
        return None
    container = origin or hint
    if _hashable(container):
        made = _container(container, args)
        if made is not None:
            return made
    if container is abc.Callable or container is typing.Callable:
        return t.FunctionOf((from_hint(args[1]) if len(args) == 2 else None) or t.INT)
    if isinstance(container, type) and container in _SAMPLES:
        return t.Samples(_SAMPLES[container], container.__name__)
    if isinstance(container, type):
        return from_class(container)
    return None


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _container(container: object, args: tuple[object, ...]) -> t.Type | None:
    if container in _LISTS or container in (typing.List, typing.Sequence, typing.Iterable):  # noqa: UP006
        return t.ListOf(_element(args, 0))
    if container in _DICTS:
        return t.DictOf(_element(args, 0, t.STR), _element(args, 1), container is collections.OrderedDict)
    if container in _SETS:
        return t.SetOf(_element(args, 0))
    if container is frozenset:
        return t.SetOf(_element(args, 0), True)
    if container is tuple:
        if len(args) == 2 and args[1] is ...:
            return t.TupleOf((), _element(args, 0))
        if args:
            return t.TupleOf(tuple(_element((a,), 0) for a in args if a != ()))
        return t.TupleOf((), t.INT)
    return None


def _element(args: tuple[object, ...], position: int, default: t.Type = t.INT) -> t.Type:
    if position >= len(args):
        return default
    found = from_hint(args[position])
    if found is None:
        return default
    return t.union(*(nullable_object(o) for o in t.options(found)))


def nullable_object(kind: t.Type) -> t.Type:
    return t.nullable(kind) if isinstance(kind, t.Instance) else kind


def from_class(cls: type) -> t.Type | None:
    """An instance of a class written in Python."""
    if issubclass(cls, enum.Enum):
        return t.OneOf(_members(cls), cls.__name__) if len(cls) else None
    if cls in _SCALARS:
        return _SCALARS[cls]
    if cls in (object, Fraction) or cls.__module__ == "typing" or issubclass(cls, BaseException):
        return None  # a Fraction stands for a float on a path
    if typing.is_typeddict(cls):
        return _typed_dict(cls)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(cls)
    if cls.__module__ == "numbers":
        return t.INT
    if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False):
        return t.Instance(cls) if known_subclasses(cls) != (cls,) else None
    return t.Instance(cls) if cls.__module__ != "builtins" and is_plain_object(cls) else None


def _typed_dict(cls: Any) -> t.Type | None:
    told = resolved_hints(cls)
    kinds = {key: from_hint(hint) for key, hint in told.items()}
    known = {key: nullable_object(kind) for key, kind in kinds.items() if kind is not None}
    if not known or len(known) < len(kinds) or len(cls.__optional_keys__) > _MOST_OPTIONAL:
        return None
    entries = tuple((key, kind, key in cls.__optional_keys__) for key, kind in known.items())
    return t.DictOf(t.STR, t.union(*known.values()), record=cls.__name__, entries=entries)


def _named_tuple(cls: Any) -> t.Type | None:
    """A class made by `NamedTuple`, whose fields have hints. A constructor of its own may refuse some objects."""
    told = resolved_hints(cls)
    kinds = [from_hint(told.get(name)) if name in told else None for name in cls._fields]
    plain = cls.__new__.__code__.co_filename.startswith("<")
    known = tuple(nullable_object(kind) for kind in kinds if kind is not None)
    return t.TupleOf(known, None, cls) if plain and len(known) == len(kinds) else None


def _members(cls: type[enum.Enum]) -> tuple[enum.Enum, ...]:
    """The members of an enum; those of a small set of flags with all that can be put together from them."""
    if not issubclass(cls, enum.Flag) or len(cls) > _MOST_FLAGS:
        return tuple(cls)
    found = [cls(0)]
    for flag in cls:
        found += [one | flag for one in found]
    return (*cls, *(one for one in dict.fromkeys(found) if one not in tuple(cls)))


# each doubles the values
_MOST_FLAGS = 4
_MOST_OPTIONAL = 5


def parameter_type(kind: t.Type, none: bool) -> t.Type:
    """A parameter of this type: references may be None."""
    if none and any(isinstance(o, t.REFERENCES) for o in t.options(kind)):
        return t.nullable(kind)
    return kind


def resolved_hints(function: object) -> dict[str, object]:
    """A function's or class's hints, strings evaluated one by one so that a bad one spoils only itself."""
    try:
        return typing.get_type_hints(function)
    except Exception:
        pass
    found: dict[str, object] = {}
    names = getattr(inspect.unwrap(function) if callable(function) else function, "__globals__", None)
    if names is None:
        names = vars(sys.modules.get(function.__module__, types.ModuleType("")))
    for name, hint in getattr(function, "__annotations__", {}).items():
        if isinstance(hint, str):
            try:
                hint = eval(hint, dict(names))
            except Exception:
                continue
        found[name] = hint
    return found


def with_references(hint: Any, names: dict[str, Any]) -> Any:
    """The hint with the classes that texts in it name, as in `list["Node"]`, as far as these are known."""
    try:
        return typing.get_type_hints(types.SimpleNamespace(__annotations__={"hint": hint}), dict(names))["hint"]
    except Exception:
        return hint


def parse(text: str, names: dict[str, object]) -> t.Type | None:
    """A type written on the command line."""
    scope = {**vars(typing), **names}
    return from_hint(eval(text, scope))
