"""The random module: the same numbers in every execution.

Seeding costs more than many an execution, so it is done only when somebody has drawn a number since the last time.
Generators that a program makes itself (`random.Random(7)`) are its own affair.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

from treadle.core.operation import WRITE
from treadle.threads.strands import STATE


class _Drawn:
    __slots__ = ("seed",)

    def __init__(self) -> None:
        self.seed: int | None = None  # what the module is freshly seeded with; None when it is not


DRAWN = _Drawn()


def fresh(seed: int) -> None:
    """Make the module start from this seed."""
    if DRAWN.seed != seed:
        random.seed(seed)
        DRAWN.seed = seed


def _drawing(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def draw(*args: Any, **kwargs: Any) -> Any:
        strand = STATE.strand
        if strand is not None:
            strand.access(WRITE, "random", None)  # who draws first gets the first number
        DRAWN.seed = None
        return original(*args, **kwargs)

    return draw


_METHODS = {
    name: value
    for name, value in vars(random).items()
    if getattr(value, "__self__", None) is random._inst and not name.startswith("_")
}

PATCHES: list[tuple[Any, dict[str, Any]]] = [(random, {name: _drawing(method) for name, method in _METHODS.items()})]
