"""Chance: the random module, os.urandom and what is made of it (uuid, secrets, SystemRandom) draw the same numbers in
every execution.

Drawing is an operation: who draws first gets the first number. Generators that a program makes with a seed of its own
(`random.Random(7)`) are its own affair; one without a seed (`random.Random()`) gets its seed from here. Seeding costs
more than many an execution, so it is done only when somebody has drawn since the last time.

What a module draws while it is imported is drawn once, in whichever execution comes to the import first: it comes from
a generator of its own and is no operation, so that the executions after it, and a replay, do the same.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from treadle.core.operation import WRITE
from treadle.core.packages import import_runs
from treadle.threads.hooks.points import touch
from treadle.threads.primitives.inside import here
from treadle.threads.strands import STATE


class _Drawn:
    __slots__ = ("bytes", "imports", "moments", "seed")

    def __init__(self) -> None:
        self.seed: int | None = None  # what everything is freshly seeded with; None when it is not
        self.bytes = random.Random(0)  # where the operating system's random bytes come from in an execution
        self.imports = random.Random(0)  # for modules that are imported meanwhile
        self.moments = 0  # how many identifiers of a moment were made: no two are the same


DRAWN = _Drawn()
# Where numbers come from, by the names under which drawing one is an operation.
SOURCES: dict[str, random.Random] = {"random": random._inst, "os.urandom": DRAWN.bytes}

_real_urandom = os.urandom
_real_getrandom: Any = getattr(os, "getrandom", None)
_real_seed = random.Random.seed
# Not on every system: uuid1 then has nobody to ask.
_uuid: Any = importlib.import_module("_uuid") if importlib.util.find_spec("_uuid") else None
_real_time_of_uuid: Any = getattr(_uuid, "generate_time_safe", None)

# What uuid remembers so as never to give the same identifier twice.
_LAST_MOMENTS = {"_last_timestamp", "_last_timestamp_v6", "_last_timestamp_v7"}

# Between the first day of the Gregorian calendar and the first of Unix, in steps of 100 ns: times of uuid1 begin there.
_GREGORIAN = 0x01B21DD213814000


def fresh(seed: int) -> None:
    """Make every source of chance start from this seed."""
    if DRAWN.seed != seed:
        random.seed(seed)
        _real_seed(DRAWN.bytes, seed)
        DRAWN.moments = 0
        uuid: Any = sys.modules.get("uuid")
        for name in _LAST_MOMENTS & vars(uuid).keys() if uuid is not None else ():
            setattr(uuid, name, None)
        DRAWN.seed = seed


def drawn() -> bool:
    """Has anybody drawn since everything was seeded?"""
    return DRAWN.seed is None


def _drawing(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def draw(*args: Any, **kwargs: Any) -> Any:
        strand = STATE.strand
        if strand is not None:
            if import_runs("exec_module"):  # the body of a module draws
                return getattr(DRAWN.imports, original.__name__)(*args, **kwargs)
            strand.access(WRITE, "random", None)
        DRAWN.seed = None
        return original(*args, **kwargs)

    return draw


def _seeding(original: Callable[..., None]) -> Callable[..., None]:
    seed = _drawing(original)

    @functools.wraps(original)
    def seed_everybodys(a: Any = None, *args: Any, **kwargs: Any) -> None:
        """`random.seed()` asks the operating system."""
        inside = STATE.strand is not None and a is None
        seed(int.from_bytes(urandom(16), "big") if inside else a, *args, **kwargs)

    return seed_everybodys


def urandom(size: int, /) -> bytes:
    strand = here()
    if strand is None:
        return _real_urandom(size)
    if import_runs("exec_module"):
        return DRAWN.imports.randbytes(size)
    strand.access(WRITE, "os.urandom", None)
    DRAWN.seed = None
    return DRAWN.bytes.randbytes(size)


def getrandom(size: int, flags: int = 0) -> bytes:
    return urandom(size) if here() is not None else bytes(_real_getrandom(size, flags))


def _time_of_uuid() -> Any:
    """What uuid1 asks the C library for: a moment of virtual time, and an address that is no machine's."""
    if here() is None:
        return _real_time_of_uuid()
    drawn = urandom(2)
    DRAWN.moments += 1
    moment = (time.time_ns() // 100 + _GREGORIAN + DRAWN.moments).to_bytes(8, "big")
    high = bytes([0x10 | moment[0] & 0x0F, moment[1]])
    return moment[4:] + moment[2:4] + high + bytes([0x80 | drawn[0] & 0x3F, drawn[1]]) + b"\x01tread", None


@functools.wraps(_real_seed)
def _seed(self: random.Random, a: Any = None, *args: Any, **kwargs: Any) -> None:
    strand = here()
    if strand is not None:
        touch(strand, WRITE, self, None)
        a = int.from_bytes(urandom(16), "big") if a is None else a
    _real_seed(self, a, *args, **kwargs)


_METHODS = {
    name: value
    for name, value in vars(random).items()
    if getattr(value, "__self__", None) is random._inst and not name.startswith("_")
}

PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (random, {name: _drawing(method) for name, method in _METHODS.items()} | {"seed": _seeding(random.seed)}),
    (random.Random, {"seed": _seed}),
    (os, {"urandom": urandom} | ({"getrandom": getrandom} if _real_getrandom is not None else {})),
]


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """As it stands now: the module uuid, if it is there, and the compiled one that it is going to ask."""
    found = [(sys.modules.get("uuid"), "_generate_time_safe"), (_uuid, "generate_time_safe")]
    return [(module, {name: _time_of_uuid}) for module, name in found if getattr(module, name, None) is not None]
