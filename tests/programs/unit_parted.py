"""Functions for several processes: many paths, few paths, and values that cannot travel between them."""

import random

NOTHING = object()


class Box:
    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.rest: "Box | None" = None


def switches(a: int, b: int, c: int, d: int, e: int, f: int, g: int) -> int:
    """2 ** 7 paths."""
    found = 0
    for weight, value in ((1, a), (2, b), (4, c), (8, d), (16, e), (32, f), (64, g)):
        if value > weight:
            found += weight
    return found


def deep(n: int, m: int) -> int:
    steps = 0
    while n > 0:
        if m > n:
            m -= 1
        n -= 1
        steps += 1
    return steps


def sizes(one: Box, other: Box) -> int:
    if one.size > other.size:
        one.size, other.size = other.size, one.size
    if one.rest is other:
        return -1
    return other.size - one.size


def sentinel(n: int):
    """Its result is an object that is only itself."""
    if n > 0:
        return NOTHING
    return random.Random(n).random if n == 0 else n


def spelled(text: str, n: int) -> str:
    if text.startswith("a") and n > 1:
        return text.upper()
    return text * n if n < 3 else ""


def unknown(thing):
    return thing.frobnicate()


def worded(text: str, other: str) -> int:
    """Questions that a solver of strings thinks about for a while."""
    if other.strip() in text and len(other) > 1:
        return 1
    return 2 if text.endswith("-" + other) else 3
