"""Where an interpreter can switch threads: the rules of each supported version, and what they rest on.

CPython with the GIL switches threads where it looks at its *eval breaker*, and where C code gives the lock away. The
instructions that look, as the compiler writes them (Python/ceval.c of 3.11, Python/bytecodes.c from 3.12 on; from 3.13
on they are those with HAS_EVAL_BREAK_FLAG in pycore_opcode_metadata.h, which Python code cannot ask for):

    RESUME         a function, generator, class body is entered, or a generator goes on after a `yield`;
                   not after a `yield from` or `await` (its argument is 2 or 3)
    backward jump  the end of an iteration
    CALL...        after a callable that is not a Python function: one that is gets a frame of its own (RESUME looks)
                   and returns without a look

What the interpreter specialises later (CALL_LEN, CALL_LIST_APPEND, ...) may leave the look out; the first calls of a
function have it, so it counts. Versions differ in what the compiler makes of a program:

    3.11           a comprehension is a function of its own; later it is inlined
    3.11 to 3.13   `while` is tested again behind its body: the look, in the jump back, comes between test and body
    3.14           it jumps back to the one test, so the look comes before it (codegen_while in Python/codegen.c);
                   `with` calls `__enter__` by CALL, so it is followed by a look; before, by BEFORE_WITH, which has none

A set of versions is a mask, so that one run can say of each switch on which versions it can happen. Not among the
rules: a garbage collection, which on 3.11 can start at any allocation and run a finaliser in Python.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Final

from treadle.core.builds import VERSIONS

ALL: Final = (1 << len(VERSIONS)) - 1
# A comprehension is entered.
COMPREHENSION: Final = 1 << VERSIONS.index("3.11")
# `__enter__` of a type made in C returned.
ENTERED: Final = 1 << VERSIONS.index("3.14")

# The test of a `while` that held, and that was not its first; and the end of its body.
TESTED_AGAIN: Final = ALL & ~ENTERED
BODY_ENDED: Final = ALL & ~TESTED_AGAIN

# The models: `free` switches before every access; `gil` where this interpreter can; `auto` is one after the other.
MODELS: Final = ("free", "gil", "auto")

_CALLS: Final = frozenset({"CALL", "CALL_KW", "CALL_FUNCTION_EX", "PRECALL"})
_AFTER_YIELD_FROM: Final = 2  # arguments of RESUME from here on do not look
_WHERE: Final = 3  # the bits of the argument that say where a RESUME stands

Place = tuple[int, int]


def running() -> int:
    """The mask of the version that runs us: of the latest one that is known, when it is newer than all of them."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    return 1 << (VERSIONS.index(version) if version in VERSIONS else len(VERSIONS) - 1)


def running_name() -> str:
    return f"CPython {sys.version_info[0]}.{sys.version_info[1]}"


def versions_in(mask: int) -> tuple[str, ...]:
    return tuple(version for number, version in enumerate(VERSIONS) if mask >> number & 1)


def mask_of(versions: Sequence[str]) -> int:
    """The mask of versions by their names; names that are not known are none."""
    return sum(1 << number for number, version in enumerate(VERSIONS) if version in versions)


def looks(instruction: dis.Instruction) -> bool:
    """Does an instruction, as the compiler wrote it, look at the eval breaker?"""
    name = instruction.opname
    if name == "RESUME":
        return ((instruction.arg or 0) & _WHERE) < _AFTER_YIELD_FROM
    return name in _CALLS or ("JUMP_BACKWARD" in name and name != "JUMP_BACKWARD_NO_INTERRUPT")


class Loops:
    """The backward jumps of a module's plain code: where each starts, and where it leads.

    The compiler is free to test a `while` at its end, and does: then the look comes after the test, not before it.
    """

    def __init__(self, code: CodeType) -> None:
        self.known = True  # are there columns? (`-X no_debug_ranges` takes them away)
        self.jumps: list[tuple[Place, Place]] = []
        for one in code_objects(code):
            self._add(one)

    def _add(self, code: CodeType) -> None:
        instructions = list(dis.get_instructions(code))
        places = {one.offset: _place(one) for one in instructions}
        self.known = self.known and any(place is not None for place in places.values())
        for one in instructions:
            if "JUMP_BACKWARD" in one.opname and looks(one):
                start, end = places[one.offset], places.get(one.argval)
                if start is not None and end is not None:  # a jump that the compiler made up belongs to no `while`
                    self.jumps.append((start, end))

    def tested_at_the_end(self, loop: Place, body: Place, end: Place) -> bool | None:
        """Is a `while` that starts at `loop` and whose body reaches from `body` to `end` tested after its body, so that
        the look comes between the test and the body? None when the code does not tell."""
        if not self.known:
            return None
        return any(loop <= start < body <= target <= end for start, target in self.jumps)


def _place(instruction: dis.Instruction) -> Place | None:
    positions = instruction.positions
    if positions is None or positions.lineno is None or positions.col_offset is None:
        return None
    return positions.lineno, positions.col_offset


def code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)
