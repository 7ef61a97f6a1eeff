"""What Treadle raises through the frames of the program under test, and catches again.

This file is never compiled: of a compiled exception mypyc takes the weak references for its own, and lets go of them
when it dies. A program that catches one of these may make such references, and so do the names of its objects.
"""

from __future__ import annotations


class StrandEnd(BaseException):
    """Thrown into a strand that must not go on, because its execution is over."""


class Asks(BaseException):
    """A container would ask one object whether it equals another; or run something else of the program."""
