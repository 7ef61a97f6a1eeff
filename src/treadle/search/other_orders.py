"""Other linear orders of an execution's class: the same events, with independent neighbours swapped.

What an execution does must be decided by the order of its dependent events alone. `other_order` draws a schedule of the
same class, `class_of` tells classes apart, `swaps` leads from one order to another by swapping neighbours, so that the
pair that matters can be found by bisection.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from treadle.core.operation import Operation


def other_order(before: Sequence[int], chance: random.Random) -> list[int]:
    """The numbers of the events in some order that keeps the happens-before relation."""
    left = list(range(len(before)))
    done = 0
    order: list[int] = []
    while left:
        ready = [event for event in left if not before[event] & ~done & ~(1 << event)]
        event = chance.choice(ready)
        left.remove(event)
        done |= 1 << event
        order.append(event)
    return order


def class_of(trace: Sequence[tuple[int, Operation]], before: Sequence[int]) -> int:
    """A number that two executions have in common when they are of one class."""
    numbers: list[int] = []
    masks: dict[int, int] = {}  # strand -> its events so far
    for event, (strand, _) in enumerate(trace):
        past = before[event] & ~(1 << event)
        lasts = [(other, numbers[(past & mask).bit_length() - 1]) for other, mask in masks.items() if past & mask]
        mask = masks.get(strand, 0)
        masks[strand] = mask | (1 << event)
        numbers.append(hash((strand, mask.bit_count(), tuple(sorted(lasts)))))
    return hash(frozenset(numbers))


def swaps(start: Sequence[int], end: Sequence[int]) -> Iterator[tuple[int, int, list[int]]]:
    """The way from one order to another: (event that goes first now, event that it overtakes, the order)."""
    current = list(start)
    for place, event in enumerate(end):
        at = current.index(event)
        while at > place:
            current[at - 1], current[at] = current[at], current[at - 1]
            yield event, current[at], list(current)
            at -= 1


class Reservoir:
    """A few of the executions of a search, each as likely to be among them as any other."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.seen = 0
        self.kept: list[tuple[list[tuple[int, Operation]], list[int], dict[int, int]]] = []
        self.chance = random.Random(0)

    def offer(self, trace: list[tuple[int, Operation]], guards: list[int], spawned: dict[int, int]) -> None:
        self.seen += 1
        if len(self.kept) < self.size:
            self.kept.append((trace, guards, spawned))
        elif self.chance.random() * self.seen < self.size:
            self.kept[int(self.chance.random() * self.size)] = (trace, guards, spawned)
