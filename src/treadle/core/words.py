"""Words that every message shares: hints at a word that was misspelt, and texts that are the same in every run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Final

# A longer list of choices is not read.
_MOST_NAMES: Final = 12
# Of more names than these, only the number is told.
_MOST_LISTED: Final = 5
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """The known word that is most like another; '' where none is so much `alike`, of 1."""
    return next(iter(difflib.get_close_matches(word, sorted(set(known)), 1, alike)), "")


def hint(word: str, known: Iterable[str], otherwise: str = "", alike: float = 0.6) -> str:
    """What is added to a sentence about an unknown word: the nearest known one, or something else."""
    near = nearest(word, known, alike)
    return f"; did you mean '{near}'?" if near else otherwise


def choices(word: str, known: Iterable[str]) -> str:
    """The same, or what there is."""
    names = list(known)
    more = ", ..." if len(names) > _MOST_NAMES else ""
    return hint(word, names, f"; there are: {', '.join(names[:_MOST_NAMES])}{more}")


def listed(names: Iterable[str]) -> str:
    """A few names, and how many more there are."""
    known = sorted(set(names))
    first = known[:_MOST_LISTED]
    return ", ".join(first) + (f" and {len(known) - len(first)} more" if len(known) > len(first) else "")


def has_address(text: str) -> bool:
    """Does it name the address of an object, which is another one each time?"""
    return _ADDRESS.search(text) is not None


def without_addresses(text: str) -> str:
    return _ADDRESS.sub("", text)
