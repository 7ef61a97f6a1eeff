"""Virtual time: sleep, every clock of the time module, and what asks for the present date.

Time stands still while strands run, and moves on when all of them wait for it, or when one lets it pass
(`pass_time`), or, where the clock ticks, reads it: then reading a clock is an operation, before or behind that step.
The wall clock starts at a fixed moment, so that an execution is the same on every day. `datetime.now` belongs to a C
type, which takes no other attributes: it is replaced where rewritten code calls it, and, for all other code, in the
dictionary of that type.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import gc
import importlib.util
import sys
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from treadle.core.operation import READ, SLEEP, WRITE, YIELD
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand

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
_real_timer_init = timeit.Timer.__init__
_real_process_time = time.process_time
_real_process_time_ns = time.process_time_ns
_real_thread_time = time.thread_time
_real_thread_time_ns = time.thread_time_ns
_real_clock_gettime: Any = getattr(time, "clock_gettime", None)
_real_clock_gettime_ns: Any = getattr(time, "clock_gettime_ns", None)
_real_localtime = time.localtime
_real_gmtime = time.gmtime
_real_ctime = time.ctime
_real_strftime = time.strftime
_real_now = datetime.datetime.now
_real_utcnow: Any = datetime.datetime.utcnow
_real_datetime_today = datetime.datetime.today
_real_date_today = datetime.date.today


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


# What operations on the time are on, once somebody lets it pass.
CLOCK = "clock"


def pass_time(seconds: float) -> None:
    """Let so much time pass at once, whatever else is going on: one step, which a search puts before or behind a look
    at a clock. Outside of an exploration it sleeps."""
    strand = here()
    if strand is None:
        _real_sleep(seconds)
        return
    strand.execution.rebind(CLOCK)
    strand.access(WRITE, CLOCK, None)
    strand.execution.clock.now += seconds


# What time-machine keeps of journeys under way, as its versions call it.
_TRAVELLERS = ("traveller_stack", "coordinates_stack")


def travelling() -> bool:
    """Has the program set the clocks itself, below the functions of the time module (time-machine does so)?"""
    machine: Any = sys.modules.get("time_machine")
    return machine is not None and any(getattr(machine, name, ()) for name in _TRAVELLERS)


def _now(strand: Strand) -> float:
    strand.read_clock = True  # a loop that only watches the clock is waiting for time to pass
    clock = strand.execution.clock
    if clock.tick:
        strand.execution.rebind(CLOCK)
        strand.access(WRITE, CLOCK, None)
        clock.now += clock.tick
    elif CLOCK in strand.execution.rebound:
        strand.access(READ, CLOCK, None)
    return clock.now


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
    return _real_time() if strand is None or travelling() else _wall(strand)


def time_ns() -> int:
    strand = here()
    return _real_time_ns() if strand is None or travelling() else round(_wall(strand) * _NANO)


def process_time() -> float:
    strand = here()
    return _real_process_time() if strand is None else _now(strand)


def process_time_ns() -> int:
    strand = here()
    return _real_process_time_ns() if strand is None else round(_now(strand) * _NANO)


def thread_time() -> float:
    strand = here()
    return _real_thread_time() if strand is None else _now(strand)


def thread_time_ns() -> int:
    strand = here()
    return _real_thread_time_ns() if strand is None else round(_now(strand) * _NANO)


def clock_gettime(which: int, /) -> float:
    return _real_clock_gettime(which) if here() is None else clock_gettime_ns(which) / _NANO


def clock_gettime_ns(which: int, /) -> int:
    if here() is None:
        return int(_real_clock_gettime_ns(which))
    return time_ns() if which == time.CLOCK_REALTIME else monotonic_ns()


# ---------------------------------------------------------------------- the date, when none is given


def localtime(seconds: float | None = None, /) -> time.struct_time:
    return _real_localtime(time_() if seconds is None else seconds)


def gmtime(seconds: float | None = None, /) -> time.struct_time:
    return _real_gmtime(time_() if seconds is None else seconds)


def ctime(seconds: float | None = None, /) -> str:
    return _real_ctime(time_() if seconds is None else seconds)


def strftime(format: str, time_tuple: Any = None, /) -> str:
    return _real_strftime(format, localtime() if time_tuple is None else time_tuple)


def now(tz: datetime.tzinfo | None = None) -> datetime.datetime:
    strand = here()
    return _real_now(tz) if strand is None or travelling() else datetime.datetime.fromtimestamp(_wall(strand), tz)


def utcnow() -> datetime.datetime:
    if here() is None or travelling():
        return _real_utcnow()  # type: ignore[no-any-return]
    return now(datetime.UTC).replace(tzinfo=None)


def datetime_today() -> datetime.datetime:
    return _real_datetime_today() if here() is None else now()


def date_today() -> datetime.date:
    return _real_date_today() if here() is None else now().date()


# methods of C types -> what stands for them where rewritten code calls them
METHODS: dict[Any, Any] = {
    _real_now: now,
    _real_utcnow: utcnow,
    _real_datetime_today: datetime_today,
    _real_date_today: date_today,
}


def _now_of(cls: Any, tz: datetime.tzinfo | None = None) -> Any:
    strand = here()
    if strand is None or travelling():
        return _OF_TYPE["now"].__get__(None, cls)(tz)
    return cls.fromtimestamp(_wall(strand), tz)


def _utcnow_of(cls: Any) -> Any:
    strand = here()
    if strand is None or travelling():
        return _OF_TYPE["utcnow"].__get__(None, cls)()
    return cls.fromtimestamp(_wall(strand), datetime.UTC).replace(tzinfo=None)


# `today` asks time.time, which has its model
_OF_TYPE: dict[str, Any] = {name: vars(datetime.datetime)[name] for name in ("now", "utcnow")}


@functools.cache
def _let_time_machine_look() -> None:
    """time-machine exchanges these methods below Python, once. It must find those of C then: it does not ask whether
    they are, and would write into a function of ours."""
    if "time_machine" in sys.modules or importlib.util.find_spec("time_machine") is not None:
        machine = importlib.import_module("time_machine")
        with machine.travel(EPOCH):
            pass


@contextmanager
def dated() -> Iterator[None]:
    """The date is virtual also for code that is not rewritten: a library beside it has one present with the program."""
    _let_time_machine_look()
    attributes = next(iter(gc.get_referents(vars(datetime.datetime))), None)
    if not isinstance(attributes, dict) or attributes.get("now") is not _OF_TYPE["now"]:
        yield  # an interpreter that keeps them elsewhere, or somebody else has exchanged them
        return
    _exchange(attributes, {"now": classmethod(_now_of), "utcnow": classmethod(_utcnow_of)})
    try:
        yield
    finally:
        _exchange(attributes, _OF_TYPE)


def _exchange(attributes: dict[str, Any], others: dict[str, Any]) -> None:
    attributes.update(others)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime.datetime))  # what was looked up before is forgotten


def _timer_init(
    self: timeit.Timer, stmt: Any = "pass", setup: Any = "pass", timer: Any = _real_perf_counter, globals: Any = None
) -> None:
    """timeit has the real clock among the defaults of its functions."""
    _real_timer_init(self, stmt, setup, perf_counter if timer is _real_perf_counter else timer, globals)


PATCHES: list[tuple[Any, dict[str, Any]]] = [
    (timeit.Timer, {"__init__": _timer_init}),
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
            "process_time": process_time,
            "process_time_ns": process_time_ns,
            "thread_time": thread_time,
            "thread_time_ns": thread_time_ns,
            **(
                {"clock_gettime": clock_gettime, "clock_gettime_ns": clock_gettime_ns}
                if _real_clock_gettime_ns is not None
                else {}
            ),
            "localtime": localtime,
            "gmtime": gmtime,
            "ctime": ctime,
            "strftime": strftime,
        },
    ),
]
