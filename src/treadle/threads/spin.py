"""Spin loops: `while not flag: pass` waits until somebody changes what it reads.

The rewriter marks loops that only read. At the end of an iteration the strand waits (a SPIN operation) until another
strand performs an operation that depends on one of the reads of that iteration: going round earlier would read the
same again. A loop that reads the clock also goes on when nothing else can, with time moved on a little.
"""

from __future__ import annotations

from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from treadle.core.dependency import READS, dependent, only_reads
from treadle.core.operation import SPIN, TRY, Operation, parts
from treadle.threads.carriers import getcurrent
from treadle.threads.joined_steps import settle
from treadle.threads.strands import STATE, Strand, SyncObject

if TYPE_CHECKING:
    from treadle.threads.execution import Execution

_FIRST_PAUSE = 0.001  # seconds of virtual time; doubles while the loop keeps spinning, so that an hour is soon over
_LONGEST_PAUSE = 3600.0

# So many reads in a row of at most so few different things by one strand are taken for a loop that waits.
SAME_READS = 64
_FEW = 4
# A strand that has gone round so often, each time with so many reads, does not stop by itself before time passes.
_ROUNDS = 4
# If its variables change meanwhile, it may well: `for number in range(200)` reads the same and is soon over.
_ROUNDS_WITH_CHANGES = 128
_PLAIN: Final = frozenset({int, float, str, bytes, bool, type(None)})


class Change(SyncObject):
    """Ready when something that a strand read has been changed by another strand since."""

    __slots__ = ("cause", "reads", "seen", "strand")

    def __init__(self, strand: Strand, reads: list[tuple[int, Operation]]) -> None:
        self.treadle_name = "spin"
        self.strand = strand
        self.reads = reads  # (step, operation)
        self.seen = reads[0][0] if reads else strand.execution.step
        self.cause = -1

    def ready(self, kind: int, strand: Strand) -> bool:
        if self.cause >= 0:
            return True
        execution = self.strand.execution
        mine = self.strand.index
        for number in range(self.seen, execution.step):
            index, op = execution.trace[number]
            if index != mine and not READS[op[0]]:
                for when, read in self.reads:
                    if when < number and dependent(read, op):
                        self.cause = number
                        return True
        self.seen = execution.step
        return False

    def guards(self) -> int:
        return max(self.cause, 0)  # the search reads the cause of a SPIN here


def operations_since(strand: Strand, start: int) -> list[tuple[int, Operation]]:
    """What a strand did from a step of the execution on."""
    execution = strand.execution
    settle(execution)
    return [
        (number, part)
        for number in range(start, execution.step)
        for index, op in (execution.trace[number],)
        if index == strand.index
        for part in parts(op)
        if part[1] is not None
    ]


def seems_to_wait(run: Execution) -> bool:
    """A strand that has read the same few things again and again, while nobody changed anything, is probably waiting
    for them to change in a loop that the rewriter did not recognise: it goes on when they have, or nobody else can."""
    index = run.trace[-1][0]
    strand = run.by_index[index]
    if strand.loop is not None or strand.finished:
        return False
    mine: list[Operation] = []
    start = run.step
    first = max(run.step - SAME_READS * len(run.live), 0)  # others may go round as well
    while len(mine) < SAME_READS and start > first:
        start -= 1
        who, op = run.trace[start]
        if not only_reads(op):
            strand.rounds = 0 if who == index else strand.rounds
            return False
        if who == index:
            mine.append(op)
    if len(mine) < SAME_READS or len(set(mine)) > _FEW:
        return False
    strand.loop = Change(strand, operations_since(strand, start))
    before, strand.variables = strand.variables, _variables(strand)
    strand.changes = any(before.get(frame, values) != values for frame, values in strand.variables.items())
    return True


def _variables(strand: Strand) -> dict[int, list[Any]]:
    """The variables of the functions that a strand is in, objects by their addresses: what tells one iteration from
    another."""
    found = {}
    frame = _getframe() if strand.greenlet is getcurrent() else strand.greenlet.gr_frame
    while frame is not None:
        if not str(frame.f_globals.get("__name__")).startswith("treadle."):
            values = frame.f_locals.values()
            found[id(frame)] = [value if type(value) in _PLAIN else id(value) for value in values]
        frame = frame.f_back
    return found


def may_go_round(run: Execution, strand: Strand) -> bool:
    """May a strand that only reads the same again go on? When that changed, or when nobody else can go on: until it has
    done so for long, if somebody sleeps; then it is time that passes."""
    assert strand.loop is not None
    others = [other for other in run.live if other is not strand]
    if strand.loop.ready(0, strand):
        strand.rounds = 0
    elif any(other.loop is None and run.is_ready(other) for other in others):
        return False
    elif (
        strand.rounds < (_ROUNDS_WITH_CHANGES if strand.changes else _ROUNDS)
        or strand.went_round < run.clock.now
        or all(one.deadline is None for one in others)
    ):
        strand.rounds += 1
    else:
        return False
    strand.went_round = run.clock.now
    strand.loop = None
    return True


def spin_start() -> None:
    """A loop that only reads, as far as the rewriter can see, is about to begin."""
    strand = STATE.strand
    if strand is not None and not STATE.coasting:
        settle(strand.execution)
        _iterate(strand, _getframe(1))


def _iterate(strand: Strand, frame: FrameType) -> bool:
    """An iteration begins here; is it another loop than before?"""
    place = id(frame), frame.f_lineno
    other = strand.spin_place != place
    strand.spin_place = place
    strand.spin_from = strand.execution.step
    strand.spin_writes = strand.private_writes
    return other


def spin() -> None:
    """The end of one iteration of a loop that only reads.

    An iteration that changed something in a function it calls, be it shared or its own, is not waiting. One that read
    nothing shared, or the first one after a loop inside the loop, whose start is not known, gives way to others but may
    also go on when nobody else can.
    """
    strand = STATE.strand
    if strand is None:
        return
    execution = strand.execution
    execution.wake()
    frame = _getframe(1)
    changed = strand.private_writes != strand.spin_writes
    done = operations_since(strand, strand.spin_from)
    reads = [(number, op) for number, op in done if READS[op[0]] or op[0] == TRY]
    deadline = None
    first = _iterate(strand, frame)
    if not first and (changed or len(reads) < len(done)):
        return
    if strand.read_clock:
        strand.spin_pause = min(max(strand.spin_pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        deadline = execution.clock.now + strand.spin_pause
    elif first or not reads:
        deadline = execution.clock.now
    if strand.pause((SPIN, None, None), Change(strand, reads), deadline):
        strand.spin_pause = 0.0
    strand.read_clock = False
    _iterate(strand, frame)
