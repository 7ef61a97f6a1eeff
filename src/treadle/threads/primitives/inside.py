"""Are we inside an execution, and what must be put back when it ends?

Other OS threads (a progress bar, a test runner's own) go on using CPython's classes while an execution runs, so it is
not enough that some strand is running: the caller must be that strand. `here()` answers that.

Objects that were made outside an execution and are used inside it get a guard for its duration. Whoever puts one in
says with `at_end` how to take it out again; `reset` is called when the execution is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from treadle.threads.carriers import getcurrent
from treadle.threads.strands import AFTER_EXECUTION, STATE, Strand

_UNDO: list[Callable[[], None]] = []

# id of an object made outside -> (that object, kept alive; its model in this execution)
ADOPTED: dict[int, tuple[Any, Any]] = {}


def here() -> Strand | None:
    """The strand that calls, or None for code that runs outside the execution."""
    strand = STATE.strand
    if strand is None or strand.greenlet is not getcurrent():
        return None
    return strand


def at_end(undo: Callable[[], None]) -> None:
    """Call undo when the execution is over."""
    _UNDO.append(undo)


def reset() -> None:
    """The execution is over: every object made outside is again what it was before."""
    ADOPTED.clear()
    while _UNDO:
        _UNDO.pop()()


AFTER_EXECUTION.append(reset)


def put_back(thing: Any, *attributes: str) -> None:
    """Remember these attributes of an object made outside, and restore them at the end of the execution."""
    state = vars(thing)
    before = {name: state[name] for name in attributes if name in state}

    def undo() -> None:
        state.update(before)
        for name in attributes:
            if name not in before:
                state.pop(name, None)

    at_end(undo)


def name_made_outside(thing: Any, strand: Strand, label: str) -> str:
    """The name of an object that was made outside: that of the variable it lives in, where there is one."""
    named = strand.execution.names.get(id(thing))
    return strand.fresh(label) if named is None else named.name


def count_made(strand: Strand, what: str) -> int:
    """How many of them this execution has made, this one included: for names that count, as CPython's do."""
    made = strand.execution.strands[0].encounters
    count = made[what] = made.get(what, 0) + 1
    return count
