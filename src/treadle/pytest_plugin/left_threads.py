"""The threads that a fixture started and that go on after its end: they are OS threads, which no execution controls.

Each execution sets such a fixture up anew, so those of the first time are not needed any more. They get a moment to end
by themselves, and are then told to, by an exception. One that waits in C for ever stays, and the engine knows of it.
"""

from __future__ import annotations

import ctypes
import sys
import time

_LOOK_EVERY = 0.005
# Seconds: threads that are asked to end often look every tenth of a second whether they are.
_BY_THEMSELVES = 0.5
# Seconds: a server of the standard library looks up from its wait every half of one.
_WHEN_TOLD = 1.0


def end_threads(idents: set[int]) -> None:
    if not _ended(idents, _BY_THEMSELVES):
        for ident in idents & sys._current_frames().keys():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(SystemExit))
        _ended(idents, _WHEN_TOLD)


def _ended(idents: set[int], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not idents.isdisjoint(sys._current_frames()):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_EVERY)
    return True
