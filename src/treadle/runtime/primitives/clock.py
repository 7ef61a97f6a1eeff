"""Virtual time: sleep, and every clock of the time module.

Time stands still while strands run, and moves on when all of them wait for it. The wall clock starts at a fixed moment,
so that an execution is the same on every day.
"""

from __future__ import annotations

import time
from typing import Any

from treadle.model.operation import SLEEP, YIELD
from treadle.runtime.primitives.inside import here
from treadle.runtime.strands import Strand

# 1 January 2025, 00:00 UTC: any fixed moment will do, a recent one surprises least
EPOCH = 1_735_689_600.0
_NANO = 1_000_000_000

_real_sleep = time.sleep
_real_monotonic = time.monotonic
_real_monotonic_ns = time.monotonic_ns
_real_time = time.time
_real_time_ns = time.time_ns
_real_perf_counter = time.perf_counter
_real_perf_counter_ns = time.perf_counter_ns


def sleep(seconds: float, /) -> None:
    strand = here()
    if strand is None:
        _real_sleep(seconds)
        return
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if seconds == 0:
        strand.access(YIELD, None, None)
    else:
        strand.pause((SLEEP, None, None), None, strand.execution.clock.now + seconds)


def _now(strand: Strand) -> float:
    strand.read_clock = True  # a loop that only watches the clock is waiting for time to pass
    return strand.execution.clock.now


def monotonic() -> float:
    strand = here()
    return _real_monotonic() if strand is None else _now(strand)


def monotonic_ns() -> int:
    strand = here()
    return _real_monotonic_ns() if strand is None else round(_now(strand) * _NANO)


def perf_counter() -> float:
    strand = here()
    return _real_perf_counter() if strand is None else _now(strand)


def perf_counter_ns() -> int:
    strand = here()
    return _real_perf_counter_ns() if strand is None else round(_now(strand) * _NANO)


def _wall(strand: Strand) -> float:
    return EPOCH + _now(strand) - strand.execution.clock.start


def time_() -> float:
    strand = here()
    return _real_time() if strand is None else _wall(strand)


def time_ns() -> int:
    strand = here()
    return _real_time_ns() if strand is None else round(_wall(strand) * _NANO)


PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (
        time,
        {
            "sleep": sleep,
            "monotonic": monotonic,
            "monotonic_ns": monotonic_ns,
            "perf_counter": perf_counter,
            "perf_counter_ns": perf_counter_ns,
            "time": time_,
            "time_ns": time_ns,
        },
    )
]
