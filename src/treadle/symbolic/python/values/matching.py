"""Short strings that a regular expression matches, and some that it nearly does: read off its parsed form.

What cannot be read (look-around, conditional groups) is left out of the string, so not every one of them matches; they
are tried, not believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

_MOST = 6
_LONGEST = 60
_CATEGORIES = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}


def matching(pattern: object, flags: int = 0) -> list[str]:
    """A few strings for a pattern: the shortest, ones with each alternative, one without its last character."""
    if not isinstance(pattern, str | bytes):
        return []
    try:
        parsed = re._parser.parse(pattern, flags & ~re.DEBUG)
        texts = [_text(parsed, way, {}) for way in range(4)]
    except (re.error, ValueError, OverflowError, RecursionError):  # what Python itself refuses
        return []
    found = list(dict.fromkeys(text for text in texts if len(text) <= _LONGEST))
    return list(
        dict.fromkeys([*found[:_MOST], *(text[:-1] for text in found[:1]), *(f"{text} " for text in found[:1])])
    )


def _text(parsed: Iterable[Any], way: int, groups: dict[int, str]) -> str:
    return "".join(_part(str(op), argument, way, groups) for op, argument in parsed)


def _part(op: str, argument: Any, way: int, groups: dict[int, str]) -> str:
    match op:
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a1 ."[way % 4]
        case "IN":
            return _member(argument, way)
        case "BRANCH":
            options = argument[1]
            return _text(options[way % len(options)], way, groups)
        case "SUBPATTERN":
            inside = _text(argument[3], way, groups)
            if argument[0] is not None:
                groups[argument[0]] = inside
            return inside
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inside = argument
            times = min(max(least, way % 3 if way else least), int(most))
            return "".join(_text(inside, way, groups) for _ in range(times))
        case "ATOMIC_GROUP":
            return _text(argument, way, groups)
        case "GROUPREF":
            return groups.get(argument, "")
    return ""


def _member(options: Iterable[Any], way: int) -> str:
    """One character of a set."""
    given = [(str(op), argument) for op, argument in options]
    if given and given[0][0] == "NEGATE":
        excluded = {c for op, argument in given[1:] for c in _characters(op, argument)}
        return next((c for c in "ab1 -_.!\n" if c not in excluded), "~")
    found = [c for op, argument in given for c in _characters(op, argument)]
    return found[(way * 7) % len(found)] if found else ""


def _characters(op: str, argument: Any) -> Iterator[str]:
    if op == "LITERAL":
        yield chr(argument)
    elif op == "RANGE":
        low, high = argument
        yield from map(chr, range(low, min(high, low + 30) + 1))
    elif op == "CATEGORY":
        name = str(argument)
        yield from _CATEGORIES.get(name, "") or ("a" if name != "CATEGORY_NOT_WORD" else "-")
