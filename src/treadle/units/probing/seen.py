"""What an expression of the code is while a call runs, without running anything that could change the call.

Names, attributes, parts of containers, arithmetic on small values, and calls of what is known to change nothing.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import datetime
import operator
import re
import types
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any
from unittest.mock import NonCallableMock

_PURE = (
    *(len, type, str, int, abs, ord, chr, bool, repr, sorted, min, max, sum, tuple, list, set, float, bytes, frozenset),
    *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, Decimal, Fraction, Path, PurePath),
)
# whose methods change nothing
UNCHANGING = (
    *(str, bytes, int, float, tuple, frozenset, datetime.date, datetime.time, datetime.timedelta),
    *(Decimal, Fraction, PurePath, re.Match),
)
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.Invert: operator.invert, ast.Not: operator.not_}
# texts longer than this are not computed with
_LONGEST = 200


class Unseen(Exception):
    """An expression whose value cannot be told without running code."""


def value_of(node: ast.expr, frame: types.FrameType, asks: bool = True) -> Any:
    """What an expression is in a frame, as far as that changes nothing; stand-ins may be asked. Raises Unseen."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.NamedExpr(value=value):
            return value_of(value, frame, asks)
        case ast.Name(id=name):
            for names in (frame.f_locals, frame.f_globals, vars(builtins)):
                if name in names:
                    return names[name]
        case ast.Attribute(value=owner, attr=name):
            found = value_of(owner, frame, asks)
            if not asks and isinstance(getattr(type(found), name, None), property):
                raise Unseen
            with contextlib.suppress(Exception):
                return getattr(found, name)
        case ast.Subscript(value=owner, slice=key) if not isinstance(key, ast.Slice):
            found = value_of(owner, frame, asks)
            if isinstance(found, NonCallableMock) and asks:
                with contextlib.suppress(Exception):
                    return found[0]  # it is called, so that what it returns is a place
            if isinstance(found, dict | list | tuple | str | bytes | re.Match):
                with contextlib.suppress(Exception):
                    return found[value_of(key, frame, asks)]
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return tuple(value_of(part, frame, asks) for part in parts)
        case ast.Subscript(value=owner, slice=ast.Slice(lower=lower, upper=upper, step=step)):
            found = value_of(owner, frame, asks)
            if isinstance(found, list | tuple | str | bytes):
                ends = [value_of(end, frame, asks) if end is not None else None for end in (lower, upper, step)]
                with contextlib.suppress(Exception):
                    return found[slice(*ends)]
        case ast.UnaryOp(op=op, operand=inside) if type(op) in _UNARY:
            with contextlib.suppress(TypeError):
                return _UNARY[type(op)](_small(value_of(inside, frame, asks)))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            with contextlib.suppress(TypeError, ArithmeticError, ValueError):
                return _BINARY[type(op)](_small(value_of(left, frame, asks)), _small(value_of(right, frame, asks)))
        case ast.Call(func=func, args=args, keywords=named):
            return _returned(value_of(func, frame, asks), args, named, frame, asks)
    raise Unseen


def _small(value: Any) -> Any:
    """A plain value that is quickly computed with."""
    plain = isinstance(value, str | bytes) and len(value) < _LONGEST
    plain = plain or (isinstance(value, int | float) and abs(value) < 1e9)
    if plain or isinstance(value, datetime.date | datetime.timedelta | Decimal | Fraction):
        return value
    raise Unseen


def _returned(called: Any, args: list[ast.expr], named: list[ast.keyword], frame: types.FrameType, asks: bool) -> Any:
    """What a call gives that changes nothing but stand-ins."""
    if isinstance(called, NonCallableMock) and asks:
        with contextlib.suppress(Exception):
            return called()
    owner = getattr(called, "__self__", None)
    pure = called in _PURE if isinstance(called, type | types.BuiltinFunctionType) else False
    if pure or _changes_nothing(owner, called):
        given = [value_of(arg, frame, asks) for arg in args]
        with contextlib.suppress(Exception):
            return called(*given, **{one.arg or "": value_of(one.value, frame, asks) for one in named})
    raise Unseen


def _changes_nothing(owner: Any, method: Any) -> bool:
    name = getattr(method, "__name__", "")
    if isinstance(owner, PurePath):
        return hasattr(PurePath, name)  # those of Path ask the file system
    own = isinstance(method, types.BuiltinMethodType) or isinstance(owner, Fraction)
    return own and (isinstance(owner, UNCHANGING) or (isinstance(owner, dict) and name == "get"))


def outline(value: Any) -> str:
    """What is likely to matter of a value: its type, its size if that is small, the sign of a number."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return f"number {(value > 0) - (value < 0)}"
    if isinstance(value, str | bytes | list | tuple | dict | set | frozenset):
        return f"{type(value).__name__} {min(len(value), 3)}"
    return type(value).__name__
