"""The end of an execution for the strands that are left: each is ended where it stands.

Keeps: a `finally` block of the program may do what does not block, but only so far, and nobody waits for a strand that
would not end.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

from treadle.threads import native_locals
from treadle.threads.carriers import greenlet
from treadle.threads.strands import STATE, Strand
from treadle.threads.unwinding import StrandEnd

_LAST_POINTS: Final = 200

# Greenlets that would not end. They are kept: the garbage collector would end them inside some other strand.
_GIVEN_UP: Final[list[greenlet]] = []


def throw_out(live: list[Strand]) -> None:
    """End every strand that is left."""
    usual = sys.unraisablehook
    sys.unraisablehook = functools.partial(_told, usual)
    try:
        for strand in live:
            if not strand.finished:
                STATE.strand = strand
                native_locals.show(strand)
                strand.greenlet.throw(StrandEnd)
    finally:
        sys.unraisablehook = usual


def _told(usual: Callable[[Any], Any], unraisable: Any) -> None:
    """What a finaliser raised that is being ended is no news: the end of its strand is ours."""
    if unraisable.exc_type is not StrandEnd:
        usual(unraisable)


def at_last_point(me: Strand) -> None:
    """This strand must not go on, but its `finally` blocks may do what does not block."""
    me.endings += 1
    if me.endings == 1 or me.endings > _LAST_POINTS:
        if me.endings > 2 * _LAST_POINTS:
            _GIVEN_UP.append(me.greenlet)  # a bare `except:` in a loop
            while True:
                me.execution.pool.hub.switch()
        raise StrandEnd
    if me.guard is not None and not me.guard.ready(me.waits, me):
        raise StrandEnd
