"""What writers of random ABS programs share, and the command that judges one program after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from random import Random

# Of one seed: the name of each program, and what is wrong with it or None if there is too much to try.
Judge = Callable[[int], Iterable[tuple[str, list[str] | None]]]


class ProgramWriter:
    """Random words, and names that are used once."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names = 0

    def one_of(self, *options: str) -> str:
        return self.random.choice(options)

    def name(self) -> str:
        self.names += 1
        return f"v{self.names}"


def judged(judge: Judge, wanted: int, first: int = 0) -> int:
    """Try programs until `wanted` of them were small enough to be judged; the number that differ."""
    done = wrong = 0
    seed = first
    while done < wanted:
        for name, found in judge(seed):
            done += found is not None
            if found:
                wrong += 1
                print(f"{name}: {found[0]}", flush=True)
        seed += 1
        if (seed - first) % 20 == 0 or done >= wanted:
            print(f"{done} programs judged, {wrong} differ; seeds {first} to {seed - 1}", flush=True)
    return wrong


def command(judge: Judge) -> None:
    """`WANTED [FIRST]`: how many programs, and the first seed."""
    sys.exit(1 if judged(judge, *map(int, sys.argv[1:])) else 0)
