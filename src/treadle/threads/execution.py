"""One execution of the program under test, along a plan and then as the search chooses.

Keeps: one strand runs at a time; `trace[i]` is the i-th operation performed, by whom; the same choices give the same
trace. Strands switch to each other directly (no trip through a hub), and their greenlets are pooled: both matter for
speed, and decide most of the rate of a search.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, cast
from weakref import ref

from mypy_extensions import mypyc_attr

from treadle.core.errors import Unsupported
from treadle.core.operation import FAILED, MULTI, READ, TIMEOUT, WRITE, YIELD, Operation
from treadle.core.result import Finding, Step, Waiting
from treadle.core.transition import Constants, JoinedStep
from treadle.search.strategy import Strategy
from treadle.threads import native_locals
from treadle.threads.carriers import getcurrent, greenlet, main_context, os_thread
from treadle.threads.detail import describe, place_of, short, stack_of, waiting
from treadle.threads.diverged import Diverged
from treadle.threads.greenlets import Pool, Worker
from treadle.threads.joined_steps import arrives, goes_on, note_waits, note_writes, settle, was_as_planned
from treadle.threads.last_points import at_last_point, throw_out
from treadle.threads.learning import Learning
from treadle.threads.lives import let_go, may_end_one
from treadle.threads.names import Named
from treadle.threads.real_waits import becomes_ready, name_of, not_controlled, note_lost, waited_really
from treadle.threads.spin import SAME_READS, may_go_round, seems_to_wait
from treadle.threads.strands import AFTER_EXECUTION, STATE, Arrival, Strand, with_held
from treadle.threads.unwinding import StrandEnd
from treadle.threads.virtual_time import LATE, Clock

_OTHER_GREENLET: Final = (
    "the program switches greenlets of its own, as Treadle does for its threads; run it on OS threads instead, with "
    "TREADLE_STRANDS=threads in the environment"
)

# Operations before a second strand is made that are recorded: whatever main does until then comes before everything,
# and many thousand of them would only be the length of every trace.
ALONE_SEEN: Final = 2_000
# So many more are not looked at: what goes on after that may go on for ever, and comes to the limit.
_ALONE_UNSEEN: Final = 1_000_000


# Values that are the same whenever they are looked at.
_SCALARS: Final = frozenset({int, str, bytes, float, bool, complex, type(None)})


@mypyc_attr(allow_interpreted_subclasses=True)
class Execution(Learning):
    """Runs one function and every thread it starts, under control.

    `plan` lists the strands to choose, step by step; when it is used up, `picker.pick(self)` chooses. `trace` starts
    with the operations that the plan is known to perform, and each is checked.
    """

    __slots__ = (
        "alarm",
        "alone",
        "alone_until",
        "any_timeout",
        "arrivals",
        "atomic",
        "attributes_of",
        "beside",
        "by_index",
        "clock",
        "coast_after",
        "deadlines",
        "detail",
        "ended_well",
        "ending",
        "failure",
        "gil",
        "guards",
        "hash_orders",
        "held",
        "home",
        "in_steps",
        "indexes",
        "keep",
        "limit",
        "live",
        "locks",
        "looked_at",
        "looks_are_points",
        "looping",
        "modules",
        "names",
        "performed",
        "picker",
        "plan",
        "planned",
        "points_unswept",
        "pool",
        "references",
        "running_foreground",
        "seen",
        "spawned",
        "starter",
        "step",
        "stop_reason",
        "strands",
        "stuck",
        "trace",
        "transition",
        "unfinished",
        "unrecorded",
        "untaken",
        "values",
        "watched",
        "woken",
    )

    def __init__(
        self,
        pool: Pool,
        picker: Strategy,
        plan: list[int],
        trace: list[tuple[int, Operation]],
        guards: list[int],
        indexes: dict[str, int],
        limit: int,
        any_timeout: bool = False,
        detail: list[Any] | None = None,
        shared: set[str] | None = None,
        gil: int = 0,
        constants: Constants | None = None,
    ) -> None:
        Learning.__init__(self, shared, constants)
        self.pool = pool
        self.picker = picker
        self.plan = plan
        self.planned = len(plan)
        self.trace = trace
        self.guards = guards
        self.indexes = indexes
        self.limit = limit
        self.any_timeout = any_timeout
        self.detail = detail
        self.strands: list[Strand] = []
        self.live: list[Strand] = []
        self.by_index: dict[int, Strand] = {}
        self.spawned: dict[int, int] = {}  # strand -> the step of its creator during which it was made
        self.step = 0
        self.alone = True  # has there been one strand only, so far?
        self.unrecorded = 0  # operations of main alone, after many
        self.looked_at = 0
        self.looping = False  # was a strand held back because it seemed to wait in a loop?
        self.coast_after = -1  # operations of several strands after which nobody is interrupted; -1: no such
        self.alone_until = 0  # the last step at which there was one strand
        self.woken = False  # did it have to be looked at again, because a strand went round without waiting?
        self.clock = Clock()
        self.locks: list[ref[Any]] = []  # every lock that the strands made or met
        self.held: list[tuple[str, str]] = []  # locks that are held at the end, and by whom
        self.names: dict[int, Named] = {}
        self.modules: dict[str, Named] = {}  # the locations of modules that are not rewritten
        self.watched: dict[int, Any] = {}  # objects that weak references gave: `lives`
        # what was met, so that no address is used again; by weak references where that can be
        self.keep: list[Any] = []
        self.references: list[Any] = []
        self.points_unswept = 0  # since all that is kept was asked whether it is alone: `lives.let_go`
        self.attributes_of: dict[int, type] = {}  # dictionaries of attributes that were handed out, and of what
        self.values = False
        self.looks_are_points = 0  # of these versions
        self.alarm: float | None = None  # when the program gets a signal that it asked for
        self.home = os_thread()
        self.beside = ""  # a thread of the program that is not controlled
        # what each strand read and wrote, private objects included, and when, in an execution that records values
        self.seen: dict[str, list[tuple[str, int]]] = {}
        self.starter: Strand | None = None
        self.ending = False
        self.ended_well = False  # has everybody come to an end, and nobody raised? As almost always
        self.running_foreground = 0
        self.stop_reason = ""
        self.failure: BaseException | None = None
        self.atomic: set[str] = set()
        self.deadlines: set[tuple[str, int]] = set()  # where strands slept or waited with a time limit beside others
        self.hash_orders: set[tuple[str, int]] = set()  # where an order was used that hashes decide
        self.in_steps: set[tuple[Operation, str, int]] = set()  # calls that are several steps without a GIL
        self.unfinished: list[tuple[Strand, Operation]] = []  # strands left at the end, and what they were about to do
        self.untaken: list[tuple[Strand, Operation]] = []  # strands that others have excluded: options not taken
        self.stuck: list[Waiting] = []  # the strands of a deadlock
        self.arrivals: list[Arrival] = []  # of marked code: how each step was come to
        self.gil = gil  # 0: strands switch at every point; else where this version looks at its eval breaker
        self.transition: JoinedStep | None = None  # under a gil: what the last step of the search has done so far
        self.performed: list[int] = []  # and how many operations each step consists of
        self.set_up()

    def set_up(self) -> None:
        """What other kinds of executions know besides."""

    # ------------------------------------------------------------------ from outside

    def run(self, main: Callable[[], Any], thread: Any = None) -> None:
        """Run main and everything it starts, until all is done, stuck, or stopped."""
        strand = self._strand("main", thread, main, False)
        self.spawned[strand.index] = -1
        STATE.strand = strand
        native_locals.begin(strand)
        try:
            request = strand.greenlet.switch()
            while request:  # a strand asks for a new worker, started from here
                asking, worker = request
                worker.greenlet.switch()
                request = asking.switch()
            if self.transition is not None:
                settle(self)
            if self.locks:
                self.held = [
                    (lock.treadle_name, lock.owner.treadle_name)
                    for lock in [reference() for reference in self.locks]
                    if lock is not None and lock.owner is not None
                ]
            if self.live:
                self.unfinished = [(strand, strand.pending) for strand in self.live]
            if self.stop_reason == "stuck":
                self.stuck = [waiting(strand, self.live) for strand in self.live if not strand.daemon]
        finally:
            try:
                self._end_all()
            finally:
                STATE.strand = None
                STATE.coasting = False
                native_locals.end(strand)
                for undo in AFTER_EXECUTION:
                    undo()
                self.ended_well = not (self.stop_reason or self.unfinished or self.held or self.troubled)

    def _end_all(self) -> None:
        self.ending = True
        STATE.coasting = False
        if self.live:
            throw_out(self.live)
        STATE.strand = None  # what dies with the execution may have finalisers: they run outside
        self.forget()

    def forget(self) -> None:
        """What was met is met no more."""
        self.names.clear()
        self.references.clear()
        self.keep.clear()
        self.attributes_of.clear()

    def expire(self) -> None:
        """The time of the search is over: end at the next point."""
        STATE.coasting = False
        self.limit = -1

    def does_not_move(self) -> None:
        """The strand that runs does not move: the exception that it gets says where it stands."""

    def wake(self) -> None:
        """A strand goes round in a loop, and waits there for what others do: all of that is to be looked at. What
        changed since iterations under way began was not: it may be what is waited for."""
        for strand in self.live if STATE.coasting else ():
            strand.spin_place = None
        STATE.coasting, self.woken = False, True

    def release(self) -> None:
        """Nobody looks at this execution any more: without the cycle between it and its strands it goes at once, and
        not when the garbage collector comes round."""
        self.strands.clear()
        self.live.clear()
        self.by_index.clear()

    # ------------------------------------------------------------------ from strands

    def spawn(self, thread: Any, run: Callable[[], Any], name: str = "", daemon: bool = False) -> Strand:
        """Make a strand. It runs at once to its first point, where it waits to be chosen."""
        maker = STATE.strand
        assert maker is not None
        self.alone = False
        maker.children += 1
        prefix = "T" if maker.index == 0 else f"{maker.treadle_name}."
        strand = self._strand(f"{prefix}{maker.children}", thread, run, daemon)
        self.spawned[strand.index] = self.step - 1
        starter = self.starter  # the maker may itself be new, and not yet at its first point
        self.starter = maker
        coasting, STATE.coasting = STATE.coasting, False  # it has to stop at its first point
        STATE.strand = strand
        native_locals.show(strand)
        strand.greenlet.switch()
        STATE.coasting = coasting and not (self.ending or self.woken)
        self.starter = starter
        if self.ending:
            raise StrandEnd
        return strand

    def _strand(self, name: str, thread: Any, run: Callable[[], Any], daemon: bool) -> Strand:
        index = self.indexes.get(name)
        if index is None:
            index = self.indexes[name] = len(self.indexes)
        strand = self._new(index, name, thread, run, daemon)
        worker = self.pool.worker()
        worker.strand = strand
        strand.worker = worker
        strand.greenlet = worker.greenlet
        worker.greenlet.gr_context = None if name != "main" else main_context()
        self.strands.append(strand)
        self.live.append(strand)
        self.by_index[index] = strand
        if not daemon:
            self.running_foreground += 1
        return strand

    def _new(self, index: int, name: str, thread: Any, run: Callable[[], Any], daemon: bool) -> Strand:
        return Strand(self, index, name, thread, run, daemon)

    def advance(self, me: Strand) -> None:
        """Choose who goes next; return when it is me. My operation is in `me.pending`."""
        if STATE.coasting and me.touched is None:
            return
        if self.alone and self.step >= ALONE_SEEN and me.touched is None and self._passes_unrecorded():
            return
        if self.lets_go and not self.ending:
            let_go(self, me)
        if me.held:
            me.pending = with_held(me.pending, me.held)
        if self.lives:
            may_end_one(self, me)
        if self.detail is not None and not self.ending:
            me.step = describe(me)
        checks = me.checks | me.if_waited
        if self.constants is not None and not self.ending:
            arrives(me)
        me.checks = me.if_waited = 0
        if self.gil:
            me.stands = checks if me.guard is None or me.guard.ready(me.waits, me) else -1
        if self.gil and not checks & self.gil and not self.ending and goes_on(self, me):
            return
        if me.greenlet is not getcurrent():
            if os_thread() != self.home:  # it stops here, and whoever waits for it must not be told as a failure
                self.failure = not_controlled(name_of(os_thread()))
            raise self.failure or Unsupported(_OTHER_GREENLET)
        starter = self.starter
        if starter is not None:  # I am new, and this is my first point: back to the strand that made me
            self.starter = None
            STATE.strand = starter
            native_locals.show(starter)
            starter.greenlet.switch()
            if self.ending:
                at_last_point(me)
            elif self.detail is not None:
                self.picker.performs(me)
                self.detail.append(me.step)
            return
        if self.ending:
            at_last_point(me)
            return
        step = self.step
        chosen: Strand | None
        if step < self.planned and not self.gil:
            index, op = self.trace[step]
            chosen = self.by_index.get(index)
            if chosen is not None and chosen.guard is None and chosen.pending == op and not chosen.finished:
                self.step = step + 1
            else:
                chosen = self._choose()
        else:
            chosen = self._choose()
        if chosen is not me:
            if chosen is None:
                self.pool.hub.switch()
            else:
                STATE.strand = chosen
                native_locals.show(chosen)
                chosen.greenlet.switch()
            if self.ending:
                at_last_point(me)
                return
        if self.detail is not None:
            self.picker.performs(me)
            self.detail.append(me.step)

    def _passes_unrecorded(self) -> bool:
        """Main alone has done so much already that its next operation is none of the trace."""
        self.unrecorded += 1
        return self.limit >= 0 and not self.ending and self.unrecorded <= _ALONE_UNSEEN

    def left(self, me: Strand, worker: Worker) -> greenlet:
        """A strand is done: its greenlet goes back to the pool, and the one that is returned goes on."""
        pool = self.pool
        if self.ending:
            pool.free.append(worker)
            return pool.hub
        self.live.remove(me)
        if not me.daemon:
            self.running_foreground -= 1
        starter = self.starter
        if starter is not None:  # it ended without a single point
            self.starter = None
            pool.free.append(worker)
            STATE.strand = starter
            native_locals.show(starter)
            return starter.greenlet
        # the last one has nobody to hand on to
        over = self.running_foreground == 0 and self.step >= self.planned and not self.gil
        chosen = None if over else self._choose()
        pool.free.append(worker)
        if chosen is None:
            return pool.hub
        STATE.strand = chosen
        native_locals.show(chosen)
        return chosen.greenlet

    # ------------------------------------------------------------------ choosing

    def _choose(self) -> Strand | None:
        """The strand to go on, its operation recorded; None when the execution is over."""
        step = self.step
        chosen: Strand | None
        if self.gil:
            if not was_as_planned(self):
                return None
            note_waits(self)
        if step < self.planned:
            chosen = self.by_index.get(self.plan[step])
            expected = self.trace[step][1]
            if chosen is None or chosen.finished:
                return self.diverge(step, expected, None)
            op = chosen.pending
            begun = JoinedStep(op, 0) if self.gil else None
            if begun is not None and begun.begins(expected):
                op = expected
            if op != expected:
                if chosen.guard is not None and (chosen.guard.outside or not chosen.guard.ready(chosen.waits, chosen)):
                    op = self._fire(chosen)
                if op != expected:
                    return self.diverge(step, expected, op)
            elif chosen.guard is not None and not (
                chosen.guard.ready(chosen.waits, chosen) or becomes_ready(self, chosen, chosen.guard)
            ):
                if not self.any_timeout or chosen.deadline is None:
                    return self.diverge(step, expected, None)
                self._fire(chosen)
            self.step = step + 1
            if self.constants is not None:
                self.arrivals.append(chosen.arrival)
            if begun is not None:
                self.transition = begun if not chosen.timed_out else JoinedStep(op, 0)
                self.performed.append(1)
                note_writes(self, op)
            return chosen
        if self.running_foreground == 0:
            return None
        if STATE.coasting:
            last = self.by_index[self.trace[-1][0]]
            ready = last.guard is None or last.guard.ready(last.waits, last)  # and not: its time may run out
            if ready and not last.finished and last.pending[0] != YIELD and self.can_go(last):
                return last
        if step >= self.limit:
            self.stop_reason = "seconds" if self.limit < 0 else "limit"
            return None
        if step - self.looked_at >= SAME_READS:
            self.looked_at = step
            self.looping |= seems_to_wait(self)
        chosen = self._picked()
        if chosen is None:
            if self.stop_reason:
                if self.stop_reason == "blocked":
                    note_lost(self)
                return None
            if waited_really(self, self._earliest()):
                chosen = self._picked()
            if self.stop_reason:
                return None
            if chosen is None:
                chosen = self._earliest()
            if chosen is None:
                self.stop_reason = "stuck"
                return None
        touched = chosen.touched
        op = chosen.pending
        if touched is None:
            self.guards.append(0)
        else:
            self.guards.append(touched.guards())
            if chosen.guard is not None and not touched.ready(chosen.waits, chosen):
                op = self._fire(chosen)
        self.trace.append((chosen.index, op))
        if self.constants is not None:
            self.arrivals.append(chosen.arrival)
        self.step = step + 1
        if self.gil:
            self.transition = JoinedStep(op, self.guards[step])
            self.performed.append(1)
            note_writes(self, op)
        if self.coast_after >= 0 and self.coasted_from < 0:
            self._may_coast()
        return chosen

    def _picked(self) -> Strand | None:
        """It chooses among our own strands. (A `type: ignore` where it is asked a second time would make the compiler
        believe that it chooses nobody.)"""
        return cast("Strand | None", self.picker.pick(self))

    def _may_coast(self) -> None:
        """Let the strands go on unseen when the strategy interrupts nobody any more."""
        if len(self.live) == 1:
            self.alone_until = self.step
        elif self.step - self.alone_until >= self.coast_after and not (self.looping or self.woken):
            self.coasted_from = self.step
            STATE.coasting = True

    # ------------------------------------------------------------------ what an operation came to

    def failed(self) -> None:
        """The attempt just made did not get anything: it changed nothing."""
        if STATE.coasting:
            return
        transition = self.transition
        if transition is not None and len(transition.parts) > 1:
            transition.only_looked()
        else:
            self.guards[self.step - 1] |= FAILED

    # ------------------------------------------------------------------ loops and time

    def _fire(self, strand: Strand) -> Operation:
        """The time of a waiting strand runs out."""
        strand.timed_out = True
        if strand.deadline is not None and strand.deadline > self.clock.now:
            self.clock.now = strand.deadline + LATE
        if self.any_timeout:
            self.guards[self.step] |= FAILED
            return strand.pending
        return (TIMEOUT, strand.pending[1], strand.pending[0])

    def _earliest(self) -> Strand | None:
        """Nothing can run: the strand whose time runs out first."""
        best = None
        for strand in self.live:
            if strand.deadline is not None and (best is None or strand.deadline < best.deadline):  # type: ignore[operator]
                best = strand
        return best

    def note_deadline(self) -> None:
        """A strand sleeps or waits with a time limit: that may be over while others run, which only a search with
        `any_timeout` tries."""
        if len(self.strands) > 1 and not self.any_timeout:
            self.deadlines.add(place_of(sys._getframe()))

    def saw(self, value: Any, owner: Named | None = None) -> None:
        """The value that the last operation read or wrote, for the explanation."""
        strand = STATE.strand
        if self.values and strand is not None:
            kind = type(value)
            long = kind is int and value.bit_length() > 1000  # which Python refuses to write otherwise
            text = hex(value) if long else repr(value) if kind in _SCALARS else kind.__name__
            self.seen.setdefault(strand.treadle_name, []).append((text, len(self.detail or ())))
        if self.detail and (owner is None or owner.shared):
            last = self.detail[-1]
            if not last.value and last.performed[0] in (READ, WRITE, MULTI):  # later ones come from private objects
                last.value = short(value)

    def can_go(self, strand: Strand) -> bool:
        """Can this strand go on now?"""
        return self.is_ready(strand) and (strand.loop is None or may_go_round(self, strand))

    def is_ready(self, strand: Strand) -> bool:
        guard = strand.guard
        return guard is None or guard.ready(strand.waits, strand) or (self.any_timeout and strand.deadline is not None)

    @property
    def troubled(self) -> bool:
        """Did a strand end by an exception?"""
        return bool([strand for strand in self.strands if strand.exception is not None])

    def shown(self, steps: list[Step]) -> list[Step]:
        """The steps of an execution as a person sees them."""
        return steps

    def more_findings(self) -> list[Finding]:
        """What the ends of the strands do not tell: for executions of more than threads."""
        return []

    def more_warnings(self) -> list[Finding]:
        return []

    def enabled(self) -> list[Strand]:
        """The strands that can go on now, oldest first."""
        return [strand for strand in self.live if self.can_go(strand)]

    # ------------------------------------------------------------------ the end

    def diverge(self, step: int, expected: Operation, found: Operation | None) -> Strand | None:
        """It does not do what it was planned to do: nobody goes on."""
        if self.revealed:  # more is known than when it was planned: the search starts again anyway
            self.stop_reason = "blocked"
            return None
        names = {index: name for name, index in self.indexes.items()}
        strand = self.by_index.get(self.plan[step])
        place = ""
        if strand is not None and not strand.finished:
            stack = stack_of(strand.greenlet.gr_frame or sys._getframe())
            place = f"{stack[0][0]}:{stack[0][1]}" if stack else ""
        self.failure = Diverged(step, names[self.plan[step]], expected, found, place)
        self.stop_reason = "diverged"
        return None
