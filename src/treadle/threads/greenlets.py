"""Greenlets that strands run on: pooled, because making one costs more than an execution of a small test.

This file is never compiled: greenlet takes a suspended greenlet without a Python frame for one that is running.
"""

from __future__ import annotations

from treadle.core.operation import FINISH
from treadle.threads.carriers import GreenletExit, begin, getcurrent, greenlet, is_abandoned
from treadle.threads.lives import let_go
from treadle.threads.strands import Strand
from treadle.threads.unwinding import StrandEnd


class Worker:
    """A pooled greenlet that runs one strand after the other."""

    __slots__ = ("greenlet", "hub", "strand")

    def __init__(self, hub: greenlet) -> None:
        self.hub = hub
        self.strand: Strand | None = None
        self.greenlet = greenlet(self._loop, hub)

    def _loop(self) -> None:
        following = self.hub
        while True:
            try:
                following.switch()  # until there is a strand to run, which may also be ended before its first step
                strand = self.strand
                assert strand is not None
                execution = strand.execution
                begin(self.greenlet, strand.run)
                if execution.lets_go and not execution.ending:
                    let_go(execution, strand, last=True)
                if execution.ends_are_points and not execution.ending:
                    strand.pending = (FINISH, strand.treadle_name, None)
                    strand.touched = strand
                    execution.advance(strand)
                    if strand.index:
                        strand.thread = None
            except StrandEnd:
                pass
            except GreenletExit:
                return  # killed by the garbage collector, in whatever strand it runs: nobody is to be switched to
            except BaseException as error:
                assert self.strand is not None
                self.strand.exception = error
            if is_abandoned(self.greenlet):
                return
            strand = self.strand
            assert strand is not None
            execution = strand.execution
            strand.finished = True
            self.strand = None
            following = execution.left(strand, self)
            del strand, execution  # or what it had would die in the middle of the next execution


class Pool:
    """The greenlets of one campaign. Lives in the greenlet that made it, its hub."""

    __slots__ = ("free", "hub")

    def __init__(self) -> None:
        self.hub = getcurrent()
        self.free: list[Worker] = []

    def worker(self) -> Worker:
        if self.free:
            return self.free.pop()
        worker = Worker(self.hub)
        if getcurrent() is self.hub:
            worker.greenlet.switch()
        else:
            # greenlets that start from a deep stack are slow to switch: the hub starts this one for us
            self.hub.switch((getcurrent(), worker))
        return worker

    def close(self) -> None:
        for worker in self.free:
            worker.greenlet.throw()
        self.free.clear()
