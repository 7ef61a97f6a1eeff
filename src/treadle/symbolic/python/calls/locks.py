"""Locks of the standard library: real objects of which the path keeps by itself who holds them.

A path has one thread. It takes a lock that is free; one that it holds already, and that is not reentrant, it would wait
for without end.
"""

from __future__ import annotations

import threading
from typing import Any

from treadle.symbolic.path import CannotFollow, CodePlace
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import PyValue

LOCK, REENTRANT = type(threading.Lock()), type(threading.RLock())
LOCKS = (LOCK, REENTRANT)


def use(vm: VM, lock: Any, name: str, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """lock.name(*args, **named)"""
    held = vm.held_locks.setdefault(id(lock), 0)
    if name == "locked" or (name == "acquire" and (args or named)):
        place = vm.path.place
        vm.path.sampled.append(CodePlace(place.file, place.line, "a lock that nobody else holds"))
    if name in ("acquire", "__enter__"):
        if held and isinstance(lock, LOCK):
            blocking = (*args, named.get("blocking", True))[0]
            if name == "acquire" and blocking is False:
                return False
            raise CannotFollow("waiting for a lock that the code itself holds, which would never end")
        vm.held_locks[id(lock)] = held + 1
        return True
    if name in ("release", "__exit__"):
        if not held:
            raise vm.mimic(type(lock)().release if isinstance(lock, REENTRANT) else threading.Lock().release)
        vm.held_locks[id(lock)] = held - 1
        return None
    if name == "locked":
        return held > 0
    raise CannotFollow(f"'{name}' of a lock")
