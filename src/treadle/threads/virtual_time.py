"""Virtual time: the clock of an execution, and how late a wait ends."""

from __future__ import annotations

from typing import Final

# Seconds after its deadline at which a wait ends: never early, and never to the point, as on real machines (this is
# what Linux takes by default). Programs ask whether ten sleeps of a tenth took more than a second.
LATE: Final = 0.000_05

# What a reading does to the clock: nothing, or it moves it on by as little as clocks can tell apart. Programs ask
# whether something took longer than no time at all.
CLOCKS: Final = ("still", "ticking")
TICK: Final = 0.000_001


class Clock:
    """Virtual time: it moves only when nothing else can, and then a little further than was asked for."""

    __slots__ = ("now", "start", "tick")

    def __init__(self, start: float = 1_000_000.0, tick: float = 0.0) -> None:
        self.start = start
        self.now = start
        self.tick = tick  # seconds by which each reading moves it on
