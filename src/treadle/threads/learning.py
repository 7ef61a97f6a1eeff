"""What an execution learns about the program: which objects several strands touch, and which names are bound anew.

Keeps: an execution that learns something new does not count (`revealed`). What was taken for private or for a constant
before had no points, so the search starts again and knows it from the beginning.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from treadle.core.operation import READ, Operation
from treadle.core.transition import Constants
from treadle.threads.lives import EVERY, FINALISERS, LIVES
from treadle.threads.names import Named

# In the set of shared names: the ends of strands.
ENDS: Final = "the end of a strand"
# Among the names that are bound anew: their starts, where somebody asks which threads there are. The keys are the
# strands that start others.
STARTS: Final = "the start of a strand"


@mypyc_attr(allow_interpreted_subclasses=True)
class Learning:
    __slots__ = (
        "assumed",
        "coasted_from",
        "constants",
        "ends_are_points",
        "lets_go",
        "lives",
        "rebound",
        "revealed",
        "shared",
    )

    def __init__(self, shared: set[str] | None, constants: Constants | None) -> None:
        self.shared = shared  # names of objects that several strands touch; None: every access is a point
        # names of attributes and variables that are taken for code or constants, and yet are bound anew
        self.rebound: set[str] = set()
        self.lives = self.lets_go = False
        self.ends_are_points = shared is None or ENDS in shared
        self.revealed = False  # has this execution shown an object to be shared that was not known to be?
        self.coasted_from = -1  # the step from which on nothing was looked at; -1: everything was
        self.constants = constants
        self.assumed: set[str] = set()  # what was taken as one step on shared objects without being known to be one

    def reveal(self, named: Named) -> None:
        """A second strand touches an object that was taken for private: the accesses before were not points, so this
        execution does not count, and in the next ones they are."""
        named.shared = True
        if self.coasted_from < 0:  # names given later are of what happened to be met
            assert self.shared is not None
            self.shared.add(named.name)
            self.revealed = True

    def too_large(self, what: str) -> None:
        """Not all of what a call was given could be looked at."""
        self.assumed.add(f"a call that was given a {what} of many objects")

    def know_rebound(self, names: set[str]) -> None:
        """What earlier executions bound anew."""
        self.rebound = names
        self.lives = LIVES in names or EVERY in names
        self.lets_go = self.lives or FINALISERS in names

    def rebind(self, name: str) -> None:
        """A name is bound anew that is taken for code or a constant until then: reading it is an operation, too."""
        if name not in self.rebound and self.coasted_from < 0:
            self.rebound.add(name)
            self.revealed = True

    def tells_ends_apart(self, queue: str) -> bool:
        """May what is put into a queue and what is taken from it be operations on two things? Not where operations are
        joined to steps, which would need a cause for each of their parts."""
        return self.constants is None and f"all of {queue}" not in self.rebound

    def as_a_whole(self, queue: str) -> None:
        """A queue is used in a way that its two ends do not explain: each operation is on all of it."""
        self.rebind(f"all of {queue}")

    def read_lives(self, operations: list[Operation], of_one: bool = False) -> None:
        """Add a look at which objects are alive: at one of them, which is watched from then on, or at any."""
        self.rebind(LIVES if of_one else EVERY)
        operations.append((READ, LIVES, None))

    def watch_ends(self) -> None:
        """A strand looks whether another is alive: then the end of a strand is an operation that matters."""
        if not self.ends_are_points and self.coasted_from < 0:
            self.ends_are_points = True
            assert self.shared is not None
            self.shared.add(ENDS)
            self.revealed = True

    def watch_starts(self) -> None:
        """A strand asks which strands there are: then starting one is an operation that matters, and its end."""
        self.watch_ends()
        self.rebind(STARTS)
