"""Matches of a regular expression with an unknown text: whether there is one, its groups, and where they begin.

Each is a node like those of `text`: what it means is `re`'s own answer, what z3 is told of it is
in `solve.regular`. A pattern is known: its source, its flags, and `how` it is asked (match, fullmatch, search).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from treadle.symbolic.expr.node import BOOL, INT, STR, Expr, Sort, Value, node
from treadle.symbolic.expr.terms import Integer, Text, Truth


@functools.lru_cache(256)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _match(s: str, pattern: str, flags: int, how: str) -> re.Match[str] | None:
    found: re.Match[str] | None = getattr(_compiled(pattern, flags), how)(s)
    return found


def is_match(s: str, pattern: str, flags: int, how: str) -> bool:
    return _match(s, pattern, flags, how) is not None


def text_of_group(s: str, pattern: str, flags: int, how: str, group: int) -> str:
    found = _match(s, pattern, flags, how)
    return (found[group] or "") if found is not None else ""


def takes_part(s: str, pattern: str, flags: int, how: str, group: int) -> bool:
    found = _match(s, pattern, flags, how)
    return found is not None and found[group] is not None


def place_of_group(s: str, pattern: str, flags: int, how: str, group: int) -> int:
    found = _match(s, pattern, flags, how)
    return found.start(group) if found is not None else -1


def _made(op: str, means: Callable[..., Any], args: tuple[Value, ...], sort: Sort) -> Expr | Any:
    return node(op, args, sort) if isinstance(args[0], Expr) else means(*args)


def matched(s: Text, pattern: str, flags: int, how: str) -> Truth:
    """Whether there is a match."""
    return _made("matched", is_match, (s, pattern, flags, how), BOOL)


def group(s: Text, pattern: str, flags: int, how: str, number: int) -> Text:
    """The text of a group, 0 for the whole match; "" where there is none."""
    return _made("group", text_of_group, (s, pattern, flags, how, number), STR)


def has_group(s: Text, pattern: str, flags: int, how: str, number: int) -> Truth:
    """Whether a group takes part in the match."""
    return _made("has_group", takes_part, (s, pattern, flags, how, number), BOOL)


def group_start(s: Text, pattern: str, flags: int, how: str, number: int) -> Integer:
    """Where a group begins; -1 where there is none."""
    return _made("group_start", place_of_group, (s, pattern, flags, how, number), INT)
