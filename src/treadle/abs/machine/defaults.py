"""Values of a type when nothing says which: what a variable holds before it is assigned, and the smallest value."""

from __future__ import annotations

from treadle.abs.language import types as T
from treadle.abs.language.model import Data
from treadle.abs.language.types import AnyType, Type, substituted
from treadle.abs.machine.values import Value


def default_value(type_: AnyType) -> Value:
    """What a variable holds before it is assigned: zero, false, the empty string, the first constant, or null."""
    known = T.settled(type_)
    if not isinstance(known, Type):
        return None
    if known.name in (T.INT.name, T.RAT.name, T.FLOAT.name):
        return 0
    if known == T.BOOL:
        return False
    if known == T.STRING:
        return ""
    if known.kind == "data" and isinstance(known.decl, Data):
        for con in known.decl.constructors:
            if not con.params:
                return (con,)
    return None


def smallest(type_: Type) -> Value:
    """Some small value of a data type about which nothing is known; null for references."""
    if type_.kind != "data" or not isinstance(type_.decl, Data):
        return None
    return _smallest_of(type_, 0)


def _smallest_of(type_: object, depth: int) -> Value:
    known = T.settled(type_) if isinstance(type_, Type) else type_
    if not isinstance(known, Type) or known.kind == "object":
        return None
    simple: dict[str, Value] = {T.INT.name: 1, T.RAT.name: 1, T.FLOAT.name: 1, T.BOOL.name: False, T.STRING.name: ""}
    if known.name in simple:
        return simple[known.name]
    if not isinstance(known.decl, Data) or not known.decl.constructors or depth > 20:
        return None
    meaning = dict(zip(known.decl.type_params, known.args, strict=True))
    con = min(known.decl.constructors, key=lambda c: (len(c.params), c.index))
    return (con, *[_smallest_of(substituted(p, meaning), depth + 1) for p in con.params])
