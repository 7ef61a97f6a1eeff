"""`@treadle.assume("acyclic(self)")`: what is known about how the inputs of a function hang together.

The decorator only leaves a note on the function; it changes nothing when the program runs. `treadle unit` reads it.
Nothing is imported here, so a program that uses the decorator pays nothing for it.
"""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")

# where the note is kept
MARK = "__treadle_assumptions__"


class Assumption(str):
    """The text of an assumption; it can decorate a function by itself."""

    __slots__ = ()

    def __call__(self, decorated: T) -> T:
        return assume(self)(decorated)


def non_aliasing(a: str, b: str) -> Assumption:
    """The two are never the same object."""
    return Assumption(f"non_aliasing({a}, {b})")


def non_sharing(a: str, b: str) -> Assumption:
    """No object can be reached from both."""
    return Assumption(f"non_sharing({a}, {b})")


def acyclic(a: str) -> Assumption:
    """No object that can be reached from it can be reached from itself."""
    return Assumption(f"acyclic({a})")


class assume:
    """Heap assumptions of a function, or of the methods of a class."""

    def __init__(self, *assumptions: str) -> None:
        self.assumptions = assumptions

    def __call__(self, decorated: T) -> T:
        own: Any = vars(decorated).get(MARK, ())
        setattr(decorated, MARK, (*self.assumptions, *own))
        return decorated
