"""Spin loops: `while not flag: pass` waits until somebody changes what it reads.

The rewriter marks loops that only read. At the end of an iteration the strand waits (a SPIN operation) until another
strand performs an operation that depends on one of the reads of that iteration: going round earlier would read the
same again. A loop that reads the clock also goes on when nothing else can, with time moved on a little.
"""

from __future__ import annotations

from treadle.model.operation import SPIN
from treadle.runtime.strands import STATE, Strand, SyncObject
from treadle.search.dependency import READS, dependent

_FIRST_PAUSE = 0.001  # seconds of virtual time; doubles while the loop keeps spinning, so that an hour is soon over
_LONGEST_PAUSE = 3600.0


class Change(SyncObject):
    """Ready when something that a spinning strand read has been changed by another strand since."""

    __slots__ = ("cause", "reads", "seen", "strand")

    def __init__(self, strand: Strand) -> None:
        trace = strand.execution.trace
        step = strand.execution.step
        self.treadle_name = "spin"
        self.strand = strand
        self.reads = []
        start = strand.spin_from
        for number in range(start, step):
            index, op = trace[number]
            if index == strand.index and op[1] is not None and op[0] != SPIN:
                self.reads.append((number, op))
        self.seen = start
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


def spin() -> None:
    """The end of one iteration of a loop that only reads."""
    strand = STATE.strand
    if strand is None:
        return
    change = Change(strand)
    deadline = None
    if strand.read_clock:
        strand.spin_pause = min(max(strand.spin_pause * 2, _FIRST_PAUSE), _LONGEST_PAUSE)
        deadline = strand.execution.clock.now + strand.spin_pause
    went_on = strand.pause((SPIN, None, None), change, deadline)
    if went_on:
        strand.spin_pause = 0.0
    strand.read_clock = False
    strand.spin_from = strand.execution.step
