"""A step of the search that consists of several operations: what lies between two looks at the eval breaker.

Its footprint is one MULTI operation. Only its first part can be one that waits: a later one that could have waited is
an attempt (TRY), and one that had to wait ends the step as a LOOK. The guards of the parts are kept in one number,
`GUARD_WIDTH` bits for each, so that the search can ask in which state a part found its object.
"""

from __future__ import annotations

from typing import Final

from treadle.core.operation import (
    ACQUIRE,
    FINE,
    GET,
    GUARD_WIDTH,
    LOOK,
    MULTI,
    PUT,
    READ,
    RELEASE,
    SIGNAL,
    TRY,
    WRITE,
    Operation,
    location,
    parts,
)

# What can go on within a step. Everything else gives the lock away, or is the end of a strand.
JOINING: Final = frozenset({READ, WRITE, MULTI, LOOK, SIGNAL, TRY, RELEASE, ACQUIRE, GET, PUT})

_GUARDS: Final = (1 << 40) - 1  # without the mark for an attempt that failed: that is a LOOK here


class Constants:
    """What executions have shown of a program. What is read and never written: `self.lock` before it is taken.

    A step that only reads such places before it comes to a lock may as well end there: nobody can tell when it read
    them. That spares the search the executions in which it looks at the lock in vain. When one of them is written after
    all, `note` says so, and what was assumed no longer holds.

    And who waits for which locks, on which versions: who waited takes a lock without the GIL, and then waits for that,
    so others go on before its next operation.
    """

    def __init__(self) -> None:
        self.written: set[tuple[object, object]] = set()
        self.assumed: set[tuple[object, object]] = set()
        self.contended: dict[tuple[object, str], int] = {}

    def note(self, op: Operation) -> bool:
        """What an operation writes is no constant. False when it was taken for one."""
        holds = True
        for kind, name, key in parts(op):
            if kind == WRITE and (name, key) not in self.written:
                self.written.add((name, key))
                holds = holds and not any(
                    one == name and (key is None or other is None or other == key) for one, other in self.assumed
                )
        return holds

    def places(self) -> set[str]:
        """What is taken for a constant, as a person reads it: `Account#1.lock`."""
        return {location((READ, name, key)) for name, key in self.assumed if not self._is_written(name, key)}

    def only(self, accesses: list[Operation]) -> bool:
        """Do these accesses only read constants? They are taken for constants from now on if so."""
        accesses = [access for access in accesses if access != FINE]
        for kind, name, key in accesses:
            if kind != READ or key is None or self._is_written(name, key):
                return False
        self.assumed.update((name, key) for _, name, key in accesses)
        return True

    def _is_written(self, name: object, key: object) -> bool:
        return (name, key) in self.written or (name, None) in self.written


class JoinedStep:
    """The step that is being made."""

    __slots__ = ("found", "parts")

    def __init__(self, op: Operation, guards: int) -> None:
        self.parts: list[Operation] = []
        self.found: list[int] = []  # the guards that each part met
        self.add(op, guards)

    def add(self, op: Operation, guards: int) -> None:
        for part in parts(op):
            if part not in self.parts:
                self.parts.append(part)
                self.found.append(guards & _GUARDS)

    def only_looked(self) -> None:
        """The attempt that was added last did not get anything."""
        _, name, key = self.parts[-1]
        self.parts[-1] = (LOOK, name, key)

    def operation(self) -> Operation:
        return self.parts[0] if len(self.parts) == 1 else (MULTI, None, tuple(self.parts))

    def guards(self) -> int:
        packed = 0
        for place, bits in enumerate(self.found):
            packed |= bits << (place * GUARD_WIDTH)
        return packed

    def begins(self, planned: Operation) -> bool:
        """Can a step that was made before have begun like this?"""
        return parts(planned)[: len(self.parts)] == tuple(self.parts)
