"""What an expression is made of: sorts, nodes, and the table that keeps two equal nodes one object.

A node is built by `node`, which only the constructors of `expr` call: they know what simplifies. Its `order` says where
it stands among the operands of a sum or product, and depends on nothing that was built before it.
"""

from __future__ import annotations

import hashlib
import itertools
import weakref
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias


class Sort(Enum):
    INT = "int"
    BOOL = "bool"
    REAL = "real"
    STR = "str"
    REF = "ref"

    __hash__ = object.__hash__


INT, BOOL, REAL, STR, REF = Sort.INT, Sort.BOOL, Sort.REAL, Sort.STR, Sort.REF

Const = int | bool | Fraction | str
# What a constructor takes and gives, by sort: a known value or a node.
Integer: TypeAlias = "int | Expr"
Real: TypeAlias = "int | Fraction | Expr"
Truth: TypeAlias = "bool | Expr"
Text: TypeAlias = "str | Expr"
Value: TypeAlias = "Const | Expr"
Model = Mapping["Expr", Const]

DEFAULTS: dict[Sort, Const] = {INT: 0, BOOL: False, REAL: Fraction(0), STR: "", REF: 0}


class Expr:
    """One node. Compare with `is`."""

    __slots__ = ("__weakref__", "_order", "args", "id", "linear", "op", "sort", "vars")

    def __init__(self, op: str, args: tuple[Any, ...], sort: Sort, number: int) -> None:
        self.op = op
        self.args = args
        self.sort = sort
        self.id = number
        self._order: tuple[str, int, bytes] | None = None
        self.linear: bool = op not in _NONLINEAR and all(a.linear for a in children(self))
        if op == "var":
            self.vars: frozenset[Expr] = frozenset((self,))
        else:
            self.vars = frozenset().union(*(a.vars for a in children(self)))

    @property
    def order(self) -> tuple[str, int, bytes]:
        """Where the node stands among the operands of a sum: its first unknown, its depth, a digest of its structure.

        Nothing here depends on what was built before, so a path gives the same expressions in whatever process,
        and after whatever other paths, it is run.
        """
        if self._order is None:
            below = [e.order for e in children(self)]
            name = _rank(self.args[0]) if self.op == "var" else below[0][0] if below else ""
            known = [a for a in self.args if not isinstance(a, Expr)] if self.op != "sum" else [self.args[0]]
            known += [c for _, c in self.args[1]] if self.op == "sum" else []
            told = repr((self.op, self.sort.value, known, [digest for _, _, digest in below]))
            digest = hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            self._order = (name, 1 + max((depth for _, depth, _ in below), default=0), digest)
        return self._order

    def __repr__(self) -> str:
        return _printers[-1](self) if _printers else f"{self.op}{self.args}"

    def __bool__(self) -> bool:
        raise TypeError(f"an unknown value has no truth value by itself: {self!r}")


# `show` is a layer above: it knows the operators
_printers: list[Callable[[Expr], str]] = []


def print_with(show: Callable[[Expr], str]) -> None:
    """Say how nodes are printed."""
    _printers.append(show)


_NONLINEAR = frozenset({"mul", "div", "mod", "rmul", "rdiv"})
# Weak: a node lives as long as someone holds it, so a long run over many targets does not fill the memory.
_table: weakref.WeakValueDictionary[tuple[Any, ...], Expr] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def node(op: str, args: tuple[Any, ...], sort: Sort) -> Expr:
    key = (op, sort, *args)
    found = _table.get(key)
    if found is None:
        found = _table[key] = Expr(op, args, sort, next(_numbers))
    return found


def _rank(name: str) -> str:
    """By name, but the receiver first: people read self.x == other.x."""
    return f" {name}" if name.startswith("self") else name


def children(e: Expr) -> Iterable[Expr]:
    if e.op == "sum":
        return [atom for atom, _ in e.args[1]]
    return [a for a in e.args if isinstance(a, Expr)]


def var(name: str, sort: Sort) -> Expr:
    """The unknown called `name`; the same name and sort give the same unknown."""
    return node("var", (name,), sort)


def sort_of(value: object) -> Sort:
    if isinstance(value, Expr):
        return value.sort
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT
    if isinstance(value, Fraction):
        return REAL
    if isinstance(value, str):
        return STR
    raise TypeError(f"not a value of the expression language: {value!r}")


def is_linear(value: Value) -> bool:
    return value.linear if isinstance(value, Expr) else True


def parts(e: Expr) -> Iterable[Expr]:
    """An expression and everything in it, each once."""
    seen = {e}
    left = [e]
    while left:
        part = left.pop()
        yield part
        new = [c for c in children(part) if c not in seen]
        seen.update(new)
        left.extend(new)
