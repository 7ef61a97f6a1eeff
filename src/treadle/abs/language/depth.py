"""How deep nesting may go: lists are nested data, recursive functions are nested calls, long sums are nested trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

# A list of some ten thousand elements can be written down, walked by a recursive function and shown.
_RECURSION = 100_000


@contextmanager
def deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
