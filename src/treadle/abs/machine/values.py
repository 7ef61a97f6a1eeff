"""What a variable of an ABS program can hold at run time, and the few questions asked of any value.

    int, bool, str, Fraction     known numbers, truth values, strings, rationals
    Expr                         a number, truth value, string or rational in terms of the unknown inputs
    tuple                        a data value: its constructor first, then the arguments
    Ref, None                    an object, `null`
    Fut                          a future: the task that will fill it
    Unknown                      a data value or reference about which nothing is known yet

`Ref`, `Fut` and `Unknown` are identities: their keys are derived from who made them, never from a global counter, so
two orders of independent tasks lead to states that are equal, not just similar.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from treadle.abs.language.model import Class, Constructor
from treadle.abs.language.types import Type
from treadle.symbolic.expr.show import show as show_expression
from treadle.symbolic.expr.terms import Expr, terms_of

Value = Any


class ObjectRef:
    """An object: created by the program (`r`) or assumed to exist at the start (`s`)."""

    __slots__ = ("assumed", "cls", "key", "name")

    def __init__(self, key: int, cls: Class, assumed: bool, name: str) -> None:
        self.key = key
        self.cls = cls
        self.assumed = assumed
        self.name = name

    def __repr__(self) -> str:
        return self.name


class Fut:
    __slots__ = ("key",)

    def __init__(self, key: int) -> None:
        self.key = key

    def __repr__(self) -> str:
        return f"future {self.key}"


class Unknown:
    """A data value not constructed yet, or a reference not decided yet."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type_: Type) -> None:
        self.name = name
        self.type = type_

    def __repr__(self) -> str:
        return self.name


# What a failed assertion throws (StdLib.abs).
ASSERTION_FAILED: Final = "AssertionFailException"


class FailedFuture:
    """What a future holds when its task ended with an exception: that, and where it left the task."""

    __slots__ = ("exception", "place")

    def __init__(self, exception: Value, place: str) -> None:
        self.exception = exception
        self.place = place

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FailedFuture) and (self.exception, self.place) == (other.exception, other.place)

    def __hash__(self) -> int:
        return hash(("failure", self.exception))

    @property
    def is_assertion(self) -> bool:
        return bool(self.exception[0].name == ASSERTION_FAILED)


class Interned:
    """The tables behind the identities, one per exploration."""

    def __init__(self) -> None:
        self._keys: dict[tuple[Any, ...], int] = {}
        self._origins: list[tuple[Any, ...]] = []
        self._refs: dict[int, ObjectRef] = {}
        self._futures: dict[int, Fut] = {}
        self._unknowns: dict[str, Unknown] = {}

    def key(self, *parts: Any) -> int:
        found = self._keys.get(parts)
        if found is None:
            found = self._keys[parts] = len(self._keys)
            self._origins.append(parts)
        return found

    def origin(self, key: int) -> tuple[Any, ...]:
        """What a key was made of: who made the thing, and as which of its makings."""
        return self._origins[key]

    def lineage(self, key: int) -> tuple[tuple[int, int | str], ...]:
        """Who made the thing, all the way up: the same in every exploration, and older things come first."""
        maker, *rest = self._origins[key]
        if maker == "init":
            return self.lineage(rest[0])
        if isinstance(maker, str):
            return ((1, maker), *((1, str(part)) for part in rest))
        return (*self.lineage(maker), *((0, part) for part in rest))

    def ref(self, key: int, cls: Class, assumed: bool, name: str = "") -> ObjectRef:
        found = self._refs.get(key)
        if found is None:
            found = self._refs[key] = ObjectRef(key, cls, assumed, name)
        return found

    def future(self, key: int) -> Fut:
        found = self._futures.get(key)
        if found is None:
            found = self._futures[key] = Fut(key)
        return found

    def unknown(self, name: str, type_: Type) -> Unknown:
        found = self._unknowns.get(name)
        if found is None:
            found = self._unknowns[name] = Unknown(name, type_)
        return found


def parts(value: Value) -> Iterator[Value]:
    """The value and everything inside it."""
    yield value
    if type(value) is tuple:
        for part in value[1:]:
            yield from parts(part)


def show(value: Value, names: dict[ObjectRef, str] | None = None) -> str:
    """A value as ABS writes it; objects under the names given."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, Fraction):
        return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"
    if isinstance(value, Expr):
        return show_product(value) if value.op in ("mul", "sum") else show_expression(value)
    if isinstance(value, ObjectRef):
        return (names or {}).get(value, value.name or f"object {value.key}")
    if type(value) is tuple:
        return _show_data(value, names)
    if isinstance(value, FailedFuture):
        return f"failed with {show(value.exception, names)}"
    return repr(value)


_PRINTED_AS = {"ABS.StdLib.List": "list", "ABS.StdLib.Set": "set", "ABS.StdLib.Map": "map"}


def to_string(value: Value) -> str:
    """A value as the ABS tools print it: no spaces, sets and maps like lists, strings quoted inside of data."""
    if type(value) is not tuple:
        return show(value)
    collection = _PRINTED_AS.get(value[0].data.name)
    if collection is None:
        inside = ",".join(to_string(part) for part in value[1:])
        return f"{value[0].name}({inside})" if inside else str(value[0].name)
    elements = []
    while type(value) is tuple and len(value) > 1:
        elements.append(to_string(value[1]))
        value = value[2]
    return f"{collection}[{','.join(elements)}]"


def show_product(value: Expr) -> str:
    """A product of unknowns without inner brackets, factors in order of name: 6 * s0.r * x."""
    constant, terms = terms_of(value)
    if constant or len(terms) != 1:
        return show_expression(value)
    (atom, coefficient) = terms[0]
    factors: list[Expr] = [atom]
    names: list[str] = []
    while factors:
        factor = factors.pop()
        if factor.op == "sum":
            inner, inside = terms_of(factor)
            if not inner and len(inside) == 1:
                coefficient *= inside[0][1]
                factors.append(inside[0][0])
                continue
        if factor.op == "mul":
            factors += factor.args
        else:
            names.append(f"({show_expression(factor)})" if factor.op == "sum" else show_expression(factor))
    names.sort()
    return " * ".join(names if coefficient == 1 else [str(coefficient), *names])


def _show_data(value: tuple[Any, ...], names: dict[ObjectRef, str] | None) -> str:
    con: Constructor = value[0]
    elements = elements_of(value)
    if elements is not None:
        return f"list[{', '.join(show(e, names) for e in elements)}]"
    return f"{con.name}({', '.join(show(a, names) for a in value[1:])})" if len(value) > 1 else con.name


def elements_of(value: Value) -> list[Value] | None:
    """The elements of a list whose end is known; None for anything else."""
    found: list[Value] = []
    while type(value) is tuple and value[0].name == "Cons" and value[0].data.name == "ABS.StdLib.List":
        found.append(value[1])
        value = value[2]
    at_end = type(value) is tuple and value[0].name == "Nil" and value[0].data.name == "ABS.StdLib.List"
    return found if at_end else None
