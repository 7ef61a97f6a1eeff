"""The classes of a small program of tasks and threads, counted by enumerating every interleaving of its model.

A task is a list of steps, a step a list of accesses `("R" or "W", key)`; a thread is a list of accesses. Steps of tasks
are atomic against each other, threads interleave at every access. Two interleavings are of one class when every two
conflicting accesses of different strands come in the same order.
"""

from __future__ import annotations

Access = tuple[str, str]
Task = list[list[Access]]
Thread = list[Access]
Event = tuple[int, int, Access]  # strand, its how-manieth access, what it does


def classes(tasks: list[Task], threads: list[Thread]) -> set[frozenset[tuple[Event, Event]]]:
    found: set[frozenset[tuple[Event, Event]]] = set()
    flat = [
        [(access, number + 1 == len(step)) for step in task for number, access in enumerate(step)] for task in tasks
    ]
    flat += [[(access, True) for access in thread] for thread in threads]

    def go_on(done: list[int], inside: int | None, order: list[Event]) -> None:
        ended = True
        for strand, accesses in enumerate(flat):
            place = done[strand]
            if place == len(accesses) or (strand < len(tasks) and inside not in (None, strand)):
                continue
            ended = False
            access, last = accesses[place]
            busy = inside if strand >= len(tasks) else None if last else strand
            go_on([*done[:strand], place + 1, *done[strand + 1 :]], busy, [*order, (strand, place, access)])
        if ended:
            found.add(
                frozenset(
                    (one, other)
                    for place, one in enumerate(order)
                    for other in order[place + 1 :]
                    if one[0] != other[0] and one[2][1] == other[2][1] and "W" in (one[2][0], other[2][0])
                )
            )

    go_on([0] * len(flat), None, [])
    return found
