"""Types of ABS and the two questions asked of them: does a value fit, and what is a type parameter here?

A type is a `Type` (a data type, an interface or class, a type parameter seen from inside) or a `Meta`, a hole that
`fits` fills while it compares. `fits` is what assignment allows: Int fits Rat, a class fits its interfaces, `null` fits
every object type, and data types are covariant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Type:
    name: str
    args: tuple[AnyType, ...] = ()
    kind: Literal["data", "object", "parameter", "null"] = "data"
    decl: Any = None  # model.Data, model.Interface or model.Class

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Type)
            and (self.name, self.kind) == (other.name, other.kind)
            and [pruned(a) for a in self.args] == [pruned(a) for a in other.args]
        )

    def __hash__(self) -> int:
        return hash((self.name, self.kind, len(self.args)))

    def __str__(self) -> str:
        name = self.name.rpartition(".")[2]
        return f"{name}<{', '.join(map(str, self.args))}>" if self.args else name


class Meta:
    """A type not known yet."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: AnyType | None = None

    def __str__(self) -> str:
        return str(self.value) if self.value is not None else "?"


AnyType = Type | Meta

_LIB = "ABS.StdLib."
INT = Type(_LIB + "Int")
RAT = Type(_LIB + "Rat")
FLOAT = Type(_LIB + "Float")
BOOL = Type(_LIB + "Bool")
STRING = Type(_LIB + "String")
UNIT = Type(_LIB + "Unit")
EXCEPTION = Type(_LIB + "Exception")
DESTINY = Type(_LIB + "Destiny")
NULL = Type("null", (), "null")
NUMBERS = (INT, RAT, FLOAT)
# older models write 2.5 for a rational
_WIDER = {INT.name: {RAT.name, FLOAT.name}, RAT.name: {FLOAT.name}, FLOAT.name: {RAT.name}}


def future(result: AnyType) -> Type:
    return Type(_LIB + "Fut", (result,))


def list_of(element: AnyType) -> Type:
    return Type(_LIB + "List", (element,))


def pruned(type_: AnyType) -> AnyType:
    """The type behind filled holes."""
    while isinstance(type_, Meta) and type_.value is not None:
        type_ = type_.value
    return type_


def settled(type_: AnyType) -> AnyType:
    """The type with every filled hole replaced, all the way down."""
    type_ = pruned(type_)
    if isinstance(type_, Meta) or not type_.args:
        return type_
    return Type(type_.name, tuple(settled(a) for a in type_.args), type_.kind, type_.decl)


def substituted(type_: AnyType, meaning: dict[str, AnyType]) -> AnyType:
    """The type with type parameters replaced."""
    type_ = pruned(type_)
    if isinstance(type_, Meta):
        return type_
    if type_.kind == "parameter":
        return meaning.get(type_.name, type_)
    if not type_.args:
        return type_
    return Type(type_.name, tuple(substituted(a, meaning) for a in type_.args), type_.kind, type_.decl)


def fits(actual: AnyType, expected: AnyType) -> bool:
    """Whether a value of the one type may stand where the other is expected; fills holes on both sides."""
    actual, expected = pruned(actual), pruned(expected)
    if actual is expected:
        return True
    if isinstance(expected, Meta):
        if isinstance(actual, Type) and actual.kind == "null":
            return True  # null alone does not say which object type
        expected.value = actual
        return True
    if isinstance(actual, Meta):
        actual.value = expected
        return True
    if actual.kind == "null":
        return expected.kind in ("object", "null") or expected.name in (_LIB + "Fut", DESTINY.name)
    if actual.kind == "object" and expected.kind == "object":
        return expected.decl in actual.decl.supertypes()
    if actual.name in _WIDER and expected.name in _WIDER[actual.name]:
        return True
    if expected.name == DESTINY.name and actual.name == _LIB + "Fut":
        return True  # every future is a Destiny
    if (actual.name, actual.kind, len(actual.args)) != (expected.name, expected.kind, len(expected.args)):
        return False
    return all(fits(a, e) or _related(a, e) for a, e in zip(actual.args, expected.args, strict=True))


def _related(a: AnyType, b: AnyType) -> bool:
    """A list built of two classes of one interface: the first element fixed the hole too narrowly."""
    a, b = pruned(a), pruned(b)
    return isinstance(a, Type) and isinstance(b, Type) and a.kind == b.kind == "object" and fits(b, a)
