"""What looking at an object says, remembered by its state: most schedules of a test leave one of a few states.

Looking (observers, later calls, the class's own invariant) is most of the work of an execution, and what it says is
decided by what can be reached from the object, by which of the results are parts of it, and by the clock. That is only
known to be all where the state tells whatever the threads changed: every object that they wrote to is told by a
fingerprint or gone, and what no fingerprint tells (an object made in C, a closure) is what it was before they began.
Locks and semaphores count by how often they were taken and given back. Anything else, such as a queue, an event, a
class attribute or a thread of the object's own, and the object is looked at anew.
"""

from __future__ import annotations

import itertools
import sys
import types
import weakref
from collections import Counter
from collections.abc import Hashable
from typing import Any

from treadle.core.dependency import READS
from treadle.core.names import is_made, module_of
from treadle.core.operation import ACQUIRE, FINISH, RELEASE, SLEEP, SPIN, TRY, WRITE, YIELD, parts
from treadle.threads.execution import Execution
from treadle.threads.fingerprint import Told, module_content
from treadle.threads.primitives import chance

_COUNTED = frozenset({ACQUIRE, RELEASE, TRY})
_HARMLESS = frozenset({FINISH, SLEEP, SPIN, YIELD})
# References to an object that nobody holds but the execution, as sys.getrefcount counts here: its list, two names, the
# argument.
_NOBODY = 4


def untold_before(sout: Any) -> frozenset[int]:
    """What a fingerprint of the object does not tell, before the threads begin."""
    return frozenset(_told(sout).untold)


def state_key(execution: Execution, sout: Any, beside: list[Any], before: frozenset[int]) -> Hashable | None:
    """What decides all that looking at the object can say; None where it is not known to be all. `beside` are the
    results of the calls and their arguments, which may be parts of the object, or hold some."""
    if len(execution.live) > 1:
        return None
    told = _told(sout)
    if not told.untold <= before:
        return None
    others = [told.of(beside)]
    written, counted = _written(execution)
    if written is None:
        return None
    if isinstance(sout, types.ModuleType):
        written -= {(sout.__name__, name) for name in module_content(sout)}
    names = execution.names
    tellable = {names[one].name for one in told.numbers if one in names and one not in told.untold}
    left = {name for name, _ in written} - tellable
    alive = _alive(execution, left) if left else {}
    for name in sorted(left):
        untold = len(told.untold)
        state = _state_of(name, alive, told)
        if state is None or len(told.untold) > untold or any(id(one) in told.untold for one in alive.get(name, ())):
            return None
        others.append(state)
    return told.state, tuple(others), tuple(sorted(counted.items())), execution.clock.now


def _told(sout: Any) -> Told:
    return Told(module_content(sout) if isinstance(sout, types.ModuleType) else sout)


def _written(execution: Execution) -> tuple[set[tuple[str, Any]] | None, Counter[tuple[str, int]]]:
    """What the threads wrote to, and how often they took and gave back each lock; None for what they did otherwise."""
    written: set[tuple[str, Any]] = set()
    counted: Counter[tuple[str, int]] = Counter()
    for strand, operation in execution.trace:
        for kind, name, key in parts(operation) if strand else ():
            if READS[kind] or kind in _HARMLESS:
                continue
            if kind in _COUNTED:
                counted[name, kind] += 1
            elif kind == WRITE:
                written.add((name, key if isinstance(key, str) else None))
            else:
                return None, counted
    return written, counted


def _alive(execution: Execution, wanted: set[str]) -> dict[str, list[Any]]:
    """The objects of these names that somebody can still reach."""
    found: dict[str, list[Any]] = {}
    names = execution.names
    for kept in itertools.chain(execution.references, execution.keep):
        value = kept() if type(kept) is weakref.ref else kept
        named = names.get(id(value))
        if named is not None and named.name in wanted:
            if type(kept) is not weakref.ref and sys.getrefcount(value) <= _NOBODY:
                continue
            found.setdefault(named.name, []).append(value)
    return found


def _state_of(name: str, alive: dict[str, list[Any]], told: Told) -> Hashable | None:
    """The state of what the threads wrote to beside the object; None where it cannot be told."""
    if name in alive:
        return told.of(alive[name])
    if name in chance.SOURCES:
        return hash(chance.SOURCES[name].getstate())
    if module_of(name):
        module = sys.modules.get(module_of(name))
        return told.of(module_content(module)) if module is not None else None
    return "gone" if is_made(name) else None
