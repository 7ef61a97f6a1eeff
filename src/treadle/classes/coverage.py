"""Sequential coverage M: the set of method call traces of a sequence (section 4.1, definitions 1 to 3).

An event is an access to a field by the place in the code that makes it, a lock acquired or released, or a method
entered or left; values and object identities do not count. The trace of a call is the list of its events; the order
of the outermost calls does not matter, so M is a set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from treadle.core.names import without_identity
from treadle.core.result import Step

# operation, what it works on without the identity of the object, file, line; or ("enter" | "exit", function, "", 0)
Event: TypeAlias = tuple[str, str, str, int]
Trace: TypeAlias = tuple[Event, ...]

_NOT_EVENTS = frozenset({"finishes", "yields"})
# Of a loop: the most events of one turn, and how often it counts at the most.
_LONGEST_LOOP = 12
_MOST_TURNS = 2


def trace_of(method: str, steps: Sequence[Step], ending: str = "") -> Trace:
    """The trace of one method call: its events between the entry and the exit of the outermost method."""
    events: list[Event] = [("enter", method, "", 0)]
    inside: list[str] = []
    for step in steps:
        if step.operation in _NOT_EVENTS:
            continue
        stack = [function for _, _, function in reversed(step.stack) if function != "<lambda>"]
        depth = 0
        while depth < min(len(inside), len(stack)) and inside[depth] == stack[depth]:
            depth += 1
        events += [("exit", name, "", 0) for name in reversed(inside[depth:])]
        events += [("enter", name, "", 0) for name in stack[depth:]]
        inside = stack
        events.append((step.operation, without_identity(step.object), step.file, step.line))
    events += [("exit", name, "", 0) for name in reversed(inside)]
    events.append(("exit", method, ending, 0))
    return tuple(folded(events))


def folded(events: list[Event]) -> list[Event]:
    """A loop counts as once, twice, or many times: otherwise a growing list would bring new traces for ever.

    The paper has no such rule; its subjects are cut off by the time budget instead.
    """
    for size in range(1, _LONGEST_LOOP + 1):
        kept: list[Event] = []
        place = 0
        while place < len(events):
            block = events[place : place + size]
            repeats = 1
            while events[place + repeats * size : place + (repeats + 1) * size] == block and len(block) == size:
                repeats += 1
            if repeats > _MOST_TURNS:
                kept += block * _MOST_TURNS
                place += repeats * size
            else:
                kept.append(events[place])
                place += 1
        events = kept
    return events
