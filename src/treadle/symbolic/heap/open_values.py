"""Values that depend on which objects are one, and the record of what a path has left open about that.

`heap.solver` makes them; `heap.aliasings` reads off the record which aliasings a finished path stands for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Truth, Value
from treadle.symbolic.heap.objects import Obj, UnknownRef

WITH_IDENTITY = t.Instance | t.ListOf | t.DictOf | t.SetOf


class Either(UnknownRef):
    """One of two values, depending on which objects are the same; decided when it is used."""

    __slots__ = ("condition", "no", "yes")

    def __init__(self, condition: Expr, yes: Any, no: Any) -> None:
        super().__init__("", ())
        self.condition, self.yes, self.no = condition, yes, no

    def __repr__(self) -> str:
        return f"<{self.yes!r} if {self.condition!r} else {self.no!r}>"


@dataclass(slots=True)
class Entered:
    """A reference came into the heap: lazily, it would have been decided here which object it is."""

    ref: UnknownRef
    obj: Obj
    # the objects in the heap that it may be
    among: list[Obj]
    # it was only compared: it may be None
    may_be_none: bool
    # where in the path's story and conditions this happened; what was said of it there, if it is no alias
    at: int
    said: int
    conditions: int
    # how many choices of the path came before
    choices: int


@dataclass(slots=True)
class Depends:
    """A read of a list element gave the value of one of these writes, or `unread`, what was there at the start.

    A write is given by the condition that it was this one, in the order in which they are tried.
    `is_new`: nobody had looked at that before.
    """

    writes: list[Expr]
    unread: Any
    is_new: bool
    at: int
    conditions: int
    choices: int


def is_plain(value: Any) -> bool:
    """A reference to an object or list of one type, or None: identity says all about it."""
    if not isinstance(value, UnknownRef) or isinstance(value, Either):
        return False
    kinds = [o for o in value.options if o is not t.NONE]
    return len(kinds) == 1 and isinstance(kinds[0], WITH_IDENTITY)


def identity(obj: Obj) -> Expr:
    """The unknown that says which object it is."""
    return x.var(obj.name, x.REF)


def either(condition: Truth, yes: Any, no: Any) -> Any:
    """`yes` if the condition holds, else `no`: one expression where both are scalars of one sort."""
    if not isinstance(condition, Expr):
        return yes if condition else no
    if yes is no or (type(yes) is type(no) and isinstance(yes, int | str) and yes == no):
        return yes
    one, other = _scalar(yes, no), _scalar(no, yes)
    if one is not None and other is not None and x.sort_of(one) is x.sort_of(other):
        return x.ite(condition, one, other)
    return Either(condition, yes, no)


def _scalar(value: Any, beside: Any) -> Value | None:
    """The value in the language of expressions; a known float only beside an unknown one, else it stays exact."""
    if isinstance(value, Expr) or type(value) in (int, bool, str):
        known: Value = value
        return known
    if type(value) is float and isinstance(beside, Expr) and value - value == 0:
        return Fraction(value)
    return None


def equal_starts(a: Any, b: Any) -> Truth | None:
    """That two values of the start are equal, as a condition; None where it is no condition."""
    if isinstance(a, Expr) and isinstance(b, Expr) and a.sort is b.sort:
        return x.eq(a, b)
    if is_plain(a) and is_plain(b):
        return x.eq(x.var(a.name, x.REF), x.var(b.name, x.REF))
    return None
