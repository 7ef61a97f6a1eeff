"""Which methods are worth having in the queue of the method under test (seed 002, section 4.3).

`related(m)` starts from all methods of the class; pruning 1 drops those that leave the fields alone, pruning 2 keeps
only those that write fields themselves, pruning 3 only those that write a field which m uses before it gives the actor
away and reads again afterwards.
"""

from __future__ import annotations

from treadle.abs.language.model import Class
from treadle.abs.machine.code import Code
from treadle.abs.machine.effects import Calls, remaining, targets
from treadle.abs.machine.machine import Image


def related(image: Image, cls: Class, method: str, pruning: int = 3) -> list[str]:
    """The methods whose interleaving with the given one can show something new, in the order of the class."""
    names = [name for owner, name in image.methods if owner is cls]
    if pruning < 1:
        return names
    calls = Calls.of(image)
    impure = [name for name in names if _writes_through_calls(image, calls, cls, name)]
    if pruning < 2:
        return impure
    direct = [name for name in impure if remaining(image.methods[cls, name], 0).writes]
    if pruning < 3:
        return direct
    wanted = _used_across_release(image.methods[cls, method])
    return [name for name in direct if remaining(image.methods[cls, name], 0).writes & wanted]


def _writes_through_calls(image: Image, calls: Calls, cls: Class, name: str) -> bool:
    return any(
        remaining(image.methods[method], 0).writes for method in calls.reach({(cls, name)}) if method in image.methods
    )


def _used_across_release(code: Code) -> frozenset[str]:
    """The fields read or written before a release point and read after one."""
    before: set[str] = set()
    after: set[str] = set()
    for pc, (effect, _) in enumerate(code.effects):
        if effect.releases:
            before |= _used_before(code, pc) | effect.reads  # the guard itself is looked at first when it is reached
            after |= remaining(code, pc).reads
    return frozenset(before & after)


def _used_before(code: Code, release: int) -> set[str]:
    """The fields used by instructions from which the release point can be reached."""
    used: set[str] = set()
    for pc, (effect, _) in enumerate(code.effects):
        if pc != release and _reaches(code, pc, release):
            used |= effect.reads | effect.writes
    return used


def _reaches(code: Code, start: int, target: int) -> bool:
    seen: set[int] = set()
    todo = targets(start, code.effects[start][1])
    while todo:
        pc = todo.pop()
        if pc == target:
            return True
        if pc in seen or not 0 <= pc < len(code.instructions):
            continue
        seen.add(pc)
        todo += targets(pc, code.effects[pc][1])
    return False
