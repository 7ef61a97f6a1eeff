"""What an unknown value may be: the types that inputs are made from.

A type says how to make a value when the program first looks at it. `Union` holds its possibilities in order;
None is a possibility like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Scalar:
    """One of 'int', 'bool', 'float', 'str'."""

    kind: str

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class NoneType:
    def __str__(self) -> str:
        return "None"


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of the class or of a subclass."""

    cls: type

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class ListOf:
    element: Type

    def __str__(self) -> str:
        return f"list[{self.element}]"


@dataclass(frozen=True, slots=True)
class TupleOf:
    """A fixed tuple, or with `rest` any number of one type; with `named`, one of that class of named tuples."""

    elements: tuple[Type, ...]
    rest: Type | None = None
    named: type | None = None

    def __str__(self) -> str:
        if self.named is not None:
            return self.named.__name__
        if self.rest is not None:
            return f"tuple[{self.rest}, ...]"
        return f"tuple[{', '.join(map(str, self.elements))}]"


@dataclass(frozen=True, slots=True)
class DictOf:
    key: Type
    value: Type
    # an OrderedDict
    ordered: bool = False
    # a TypedDict: its name, and its keys with their types and whether one may be missing
    record: str = ""
    entries: tuple[tuple[str, Type, bool], ...] = ()

    def __str__(self) -> str:
        if self.record:
            return self.record
        return f"{'OrderedDict' if self.ordered else 'dict'}[{self.key}, {self.value}]"


@dataclass(frozen=True, slots=True)
class SetOf:
    element: Type
    frozen: bool = False

    def __str__(self) -> str:
        return f"{'frozen' * self.frozen}set[{self.element}]"


@dataclass(frozen=True, slots=True)
class OneOf:
    """Exactly these values: literals, the members of an enum."""

    values: tuple[Any, ...]
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"Literal[{', '.join(map(repr, self.values))}]"


@dataclass(frozen=True, slots=True)
class Samples:
    """Values of a type that has no unknowns (bytes, functions): a few are tried, the suite is sampled."""

    values: tuple[Any, ...]
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Real:
    """An object of the standard library, such as a lock or a queue: no unknown one can be made.

    `made_by` makes the one that all objects of the class have; without it the path ends where the object is used.
    """

    name: str
    made_by: Callable[[], Any] | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FunctionOf:
    """A function that is an input: each call of it gives a new unknown of the type."""

    returns: Type

    def __str__(self) -> str:
        return f"Callable[..., {self.returns}]"


@dataclass(frozen=True, slots=True)
class Union:
    options: tuple[Type, ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.options))


Type = Scalar | NoneType | Instance | ListOf | TupleOf | DictOf | SetOf | OneOf | Samples | Real | FunctionOf | Union

INT, BOOL, FLOAT, STR = Scalar("int"), Scalar("bool"), Scalar("float"), Scalar("str")
NONE = NoneType()

REFERENCES = (Instance, ListOf, DictOf, SetOf)


def options(t: Type) -> tuple[Type, ...]:
    """The possibilities of a type, unions flattened."""
    if isinstance(t, Union):
        return tuple(dict.fromkeys(o for option in t.options for o in options(option)))
    return (t,)


def union(*types: Type) -> Type:
    flat = tuple(dict.fromkeys(o for t in types for o in options(t)))
    return flat[0] if len(flat) == 1 else Union(flat)


def nullable(t: Type) -> Type:
    """The type, or None."""
    return union(t, NONE)
