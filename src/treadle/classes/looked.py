"""What looking at an object says, remembered by its state: most schedules of a test leave one of a few states.

Looking (observers, later calls, the class's own invariant) is most of the work of an execution, and what it says is
decided by what can be reached from the object, by which of the results are parts of it, and by the clock. That is only
known to be all where the threads changed nothing else: every write of theirs must be to an object whose state the
fingerprint tells, and what it cannot tell (an object made in C, a closure) must be what it was before they began. Locks
and semaphores count by how often they were taken and given back. Anything else, such as a queue, an event, a class
attribute or a thread of the object's own, and the object is looked at anew.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Hashable
from typing import Any

from treadle.core.dependency import READS
from treadle.core.operation import ACQUIRE, FINISH, RELEASE, SLEEP, SPIN, TRY, WRITE, YIELD, parts
from treadle.threads.execution import Execution
from treadle.threads.fingerprint import Told, module_content

_COUNTED = frozenset({ACQUIRE, RELEASE, TRY})
_HARMLESS = frozenset({FINISH, SLEEP, SPIN, YIELD})


def untold_before(sout: Any) -> frozenset[int]:
    """What a fingerprint of the object does not tell, before the threads begin."""
    return frozenset(_told(sout).untold)


def state_key(execution: Execution, sout: Any, results: list[Any], before: frozenset[int]) -> Hashable | None:
    """What decides all that looking at the object can say; None where it is not known to be all."""
    if len(execution.live) > 1:
        return None
    told = _told(sout)
    if not told.untold <= before:
        return None
    untold = set(told.untold)
    handed_out = told.of(results)
    names = execution.names
    tellable = {names[one].name for one in told.numbers if one in names and one not in untold}
    home = sout.__name__ if isinstance(sout, types.ModuleType) else None
    counted: Counter[tuple[str, int]] = Counter()
    for strand, operation in execution.trace:
        for kind, name, key in parts(operation) if strand else ():
            if READS[kind] or kind in _HARMLESS:
                continue
            if kind in _COUNTED:
                counted[name, kind] += 1
            elif kind != WRITE or not (name in tellable or (name == home and key in module_content(sout))):
                return None
    return told.state, handed_out, tuple(sorted(counted.items())), execution.clock.now


def _told(sout: Any) -> Told:
    return Told(module_content(sout) if isinstance(sout, types.ModuleType) else sout)
