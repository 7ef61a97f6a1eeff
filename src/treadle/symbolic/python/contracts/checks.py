"""The state of contract checking on one path: what is assumed, what is in progress, what was found broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.heap.objects import InstanceObj
from treadle.symbolic.python.contracts.conditions import Condition

NOTHING: Any = object()


@dataclass(slots=True)
class BrokenCondition:
    """A condition that did not hold on this path."""

    condition: Condition
    of: str  # the function whose condition it is
    own: bool  # of the function under test itself
    returned: Any = NOTHING
    raised: str = ""  # the exception that the condition raised, or that was not declared
    where: str = ""  # the input whose invariant it is

    @property
    def has_returned(self) -> bool:
        return self.returned is not NOTHING


@dataclass(slots=True)
class ContractChecks:
    """The state of contract checking on one path."""

    # the preconditions of the function under test are assumed; else they are checked like any other
    assumed: bool = True
    target: Any = None  # the wrapped constructor under test, until it is called
    in_progress: list[Any] = field(default_factory=list)
    deal_off: int = 0
    broken: dict[int, BrokenCondition] = field(default_factory=dict)
    # the choices of the function under test itself: what follows decided its postconditions
    mark: int | None = None
    undecided: list[tuple[Condition, str]] = field(default_factory=list)
    # an input was left in a state that its class forbids, and nobody noticed
    left: BrokenCondition | None = None
    # objects met while an invariant was evaluated: theirs is assumed when the program looks at them
    pending: list[InstanceObj] = field(default_factory=list)
    in_invariant: int = 0


@dataclass(slots=True, eq=False)
class GuardedMethod:
    """A method of a class with deal.inv, taken from an object: called with checks before and after."""

    function: Any


def is_guarded(cls: type) -> bool:
    return bool(getattr(cls, "_deal_invariants", None))
