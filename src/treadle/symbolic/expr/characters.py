"""Character classes over ASCII: what isdigit, isspace and their like ask, and what a readable value is made of.

Each class is written as the inside of a regular expression's brackets; `translate` reads the same text for z3.
"""

from __future__ import annotations

import re

CLASSES = {
    "digit": "0-9",
    "alpha": "A-Za-z",
    "alnum": "0-9A-Za-z",
    "upper": "A-Z",
    "lower": "a-z",
    "space": "\t-\r\x1c- ",
    "ascii": "\t\n -~",
    "visible": "!-~",
    "printable": " -~",
    "not upper": "\t\n -@[-~",
    "not lower": "\t\n -`{-~",
}
MATCHERS = {name: re.compile(f"[{inside}]+") for name, inside in CLASSES.items()}

# What str.isspace calls white space, and strip and split remove: ASCII's first, then the rest of Unicode's.
UNICODE_SPACE = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# The greatest character that z3 knows.
_LAST = 0x2FFFF


def ranges(inside: str) -> list[tuple[int, int]]:
    """The ranges of code points that the inside of brackets stands for."""
    found: list[tuple[int, int]] = []
    i = 0
    while i < len(inside):
        high = i + 2 if inside[i + 1 : i + 2] == "-" else i
        found.append((ord(inside[i]), ord(inside[high])))
        i = high + 1
    return found


def complement(some: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Every character that is in none of the ranges."""
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(some):
        if low > start:
            found.append((start, low - 1))
        start = max(start, high + 1)
    return [*found, (start, _LAST)] if start <= _LAST else found
