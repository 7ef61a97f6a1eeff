"""Sampling: at every point each strand that can go on is equally likely."""

from __future__ import annotations

import random

from mypy_extensions import mypyc_attr

from treadle.search.strategy import ExecutionSeen, OneExecution, StrandSeen, Strategy


@mypyc_attr(allow_interpreted_subclasses=True)
class RandomWalk(Strategy):
    """Uniform random choices; never exhausted."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.random = random.Random(seed)
        self.bits = self.random.getrandbits

    def begin(self) -> bool:
        self.trace, self.guards, self.drawn = [], [], []
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        return enabled[self.draw(len(enabled))] if enabled else None

    def draw(self, count: int) -> int:
        """As `random.randrange` does it, without its three calls for every step."""
        if count == 1:
            return 0
        size = (count - 1).bit_length()
        number = self.random.getrandbits(size)
        while number >= count:
            number = self.random.getrandbits(size)
        self.drawn.append(number)
        return number


class DrawnAgain(OneExecution):
    """The execution in which these numbers were drawn, wherever there was something to choose."""

    name = "drawn"

    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.numbers = list(reversed(numbers))

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not enabled:
            return None
        number = self.numbers.pop() if self.numbers and len(enabled) > 1 else 0
        return enabled[number if number < len(enabled) else 0]  # another number of strands: it is not the same
