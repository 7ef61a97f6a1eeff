"""One execution of a program whose event loops are under control.

Adds to the execution of threads: the loops that the program makes, what asyncio tells them has gone wrong, choices of
the program, and with `any_order` the steps of tasks as events (see `steps`).
"""

from __future__ import annotations

import asyncio.events as events
import asyncio.tasks as asyncio_tasks
import itertools
import sys
from dataclasses import replace
from typing import Any

from mypy_extensions import mypyc_attr

from treadle.core.names import label_of, split
from treadle.core.operation import MULTI, YIELD, Operation
from treadle.core.result import CHOOSES, Finding, Step
from treadle.search.strategy import Strategy
from treadle.tasks import oracles
from treadle.tasks.choices import OpenChoice, Option
from treadle.tasks.chosen_steps import time_has_moved
from treadle.tasks.environment import NO_TIMER, NOTHING_CANCELLED, CancelledTask
from treadle.tasks.futures import RECORDED, DrawnTask
from treadle.tasks.kept_locks import MadeLock
from treadle.tasks.network import Network
from treadle.tasks.running import RUNNING
from treadle.tasks.steps import Block, TaskStrand, described, task_name, task_of
from treadle.threads import native_locals
from treadle.threads.detail import describe, place_of, short, stack_of
from treadle.threads.execution import Execution
from treadle.threads.learning import ENDS
from treadle.threads.strands import AFTER_EXECUTION, STATE, Strand
from treadle.threads.unwinding import StrandEnd
from treadle.threads.virtual_time import Clock

# What asyncio does for itself, behind a line of the program: no step for a person.
_PLUMBING = ("loop#", "callbacks of ", "handle#", "Future", "Task#", "turn of ")


# As its base: mypyc would call `__init__` twice, and what the first call made would never be freed.
@mypyc_attr(allow_interpreted_subclasses=True)
class TaskExecution(Execution):
    """Runs one function, the threads it starts, and the event loops they run."""

    # set by the loom for every execution
    any_order = False
    public: set[str] | None = None  # with any_order: what several threads touch; the rest is seen in footprints only
    cancel = "never"
    test_file = ""  # where the test is written
    only_steps = False  # with any_order: one thread, and nobody asks what its steps do
    only_draws = False  # and which they were: `drawing`
    released = False  # does nobody look at it any more?
    main: Strand | None = None  # of one that was released: its only strand

    def set_up(self) -> None:
        self.loops: list[Any] = []
        self.tasks_named = 0  # where steps are only drawn: tasks that have a number for a name
        self.connected: Network | None = None  # made when it is used
        self.told: list[dict[str, Any]] = []  # what the exception handlers of loops were told
        self.unawaited: list[str] = []  # coroutines that nobody awaited
        self.left_pending: list[str] = []  # tasks whose loop was closed before they were done
        self.unretrieved: list[Any] = []  # futures with an exception that nobody looked at
        self.blocking: dict[str, float] = {}  # place -> seconds that a loop was kept from running
        self.replaced: set[str] = set()  # loops and policies that the program asked for
        self.made_locks: list[MadeLock] = []  # where something may be cancelled
        self.uncontrolled: set[str] = set()  # classes of event loops that the program made by itself
        self.cancellations = 0  # how often the search has cancelled a task
        self.cancelled: CancelledTask | None = None  # the last of them
        self.met: set[str] = set()  # names of the tasks that it could have cancelled, where it asks for names
        self.owners: dict[Any, Strand] = {}  # with any_order: name -> the thread that touched it first
        self.scheduled = itertools.count()  # numbers steps in the order in which asyncio would run them
        self.spins = False  # is there a loop that waits, which only its accesses tell?
        self.wants_strands = False  # has it come to something for which each task needs a strand?
        self.out_of_order = False  # was a step run before another that asyncio would have run first?
        self.running_step: dict[Strand, Block] = {}  # thread -> the step that its loop is in
        # in an execution that is shown: task -> the name of its column, and the other way round, and by step
        self.lanes: dict[Any, str] = {}
        self.lane_tasks: dict[str, Any] = {}
        self.lane_of: dict[int, str] = {}
        self.story: list[Any] = []  # and with any_order all accesses, also those that are no points
        self.begun: list[tuple[int, Step]] = []  # without: the steps of tasks, each with how many points came before
        self.called_unsafely = False  # has a thread scheduled something in the loop of another without waking it?
        self.chose_between_steps = False  # has an order of timers been chosen?
        self.blocks: dict[int, Block] = {}  # first event of a step -> that step
        self.begins: dict[int, int] = {}  # event in the middle of a step -> its first event
        self.causes: dict[int, int] = {}  # strand whose next step was never run -> the events that it comes after

    @property
    def network(self) -> Network:
        if self.connected is None:
            self.connected = Network()
        return self.connected

    @property
    def is_blank(self) -> bool:
        """May it be used again? Only when it has run to its end, nobody looks at it any more, and it left no trace but
        in what `renew` sets. To make a new one and to let the old one go takes as long as some steps."""
        return self.released and self.ended_well and self.main is not None and self.leaves_nothing(self.main)

    def leaves_nothing(self, main: Strand) -> bool:
        """Has it left no trace of itself, nor its only strand, but in what `renew` sets?"""
        return (
            self.only_draws
            and not (self.revealed or self.chose_between_steps or self.called_unsafely or self.values or self.lets_go)
            and not (self.assumed or self.hash_orders or self.in_steps or self.atomic)
            and not (self.watched or self.untaken or self.seen or self.met or self.owners)
            and not (self.uncontrolled or self.made_locks)
            and not (self.looping or self.woken or self.unrecorded)
            and self.connected is None
            and self.alarm is None
            and main.is_blank
        )

    def ends_here(self) -> bool:
        """Its main strand has come back from the test: would there be nothing to tell of it if it ended now?"""
        if self.stop_reason or self.locks or self.ends_are_points or len(self.strands) != 1 or self.troubled:
            return False
        for loop in self.loops:
            if loop.tasks or loop.failed:
                return False
        return self.leaves_nothing(self.strands[0])

    @property
    def is_usual(self) -> bool:
        """Is there nothing to tell of it but that it took place?"""
        return self.ended_well and not (self.revealed or self.uncontrolled or self.called_unsafely)

    def renew(self, picker: Strategy, limit: int, shared: set[str] | None) -> None:
        """From now on it is a new execution, of a search that draws: as if it had been made for that."""
        self.picker = picker
        self.plan = picker.plan
        self.planned = len(picker.plan)
        self.shared = self.public = shared
        self.ends_are_points = shared is None or ENDS in shared
        self.trace = picker.trace
        self.guards = picker.guards
        self.limit = limit
        self.spawned = {}  # that of the last one may be kept
        self.step = self.looked_at = self.running_foreground = self.tasks_named = 0
        self.alone = True
        self.ending = self.ended_well = self.released = False
        if self.clock.now != self.clock.start:
            self.clock = Clock(tick=self.clock.tick)
        if self.modules:
            self.modules = {}
        if self.deadlines:
            self.deadlines = set()
        if self.locks:
            self.locks = []
        self.scheduled = itertools.count()

    def begin_again(self, picker: Strategy, limit: int, shared: set[str] | None) -> None:
        """As `renew`, in the midst of its main strand."""
        for loop in self.loops:
            loop.release()
        self.loops.clear()
        self.forget()
        self.renew(picker, limit, shared)
        main = self.strands[0]
        main.renew()
        self.spawned[main.index] = -1
        self.running_foreground = 1
        _LOOPS.append(self.loops)

    def _new(self, index: int, name: str, thread: Any, run: Any, daemon: bool) -> Strand:
        main, self.main = self.main, None
        if main is None:
            return super()._new(index, name, thread, run, daemon)
        main.renew()
        main.thread, main.run = thread, run
        return main

    def run(self, main: Any, thread: Any = None) -> None:
        names = asyncio_tasks._task_name_counter  # type: ignore[attr-defined]
        if not self.only_draws:
            asyncio_tasks._task_name_counter = itertools.count(1).__next__  # type: ignore[attr-defined]
        policy = events._event_loop_policy  # type: ignore[attr-defined]
        _LOOPS.append(self.loops)
        RECORDED.futures = not self.only_steps
        try:
            super().run(main, thread)
        finally:
            RECORDED.futures = True
            asyncio_tasks._task_name_counter = names  # type: ignore[attr-defined]
            events._event_loop_policy = policy  # type: ignore[attr-defined]

    # ------------------------------------------------------------------ what several threads touch

    def is_shared(self, name: str) -> bool:
        if self.any_order:
            return self.public is None or name in self.public
        return self.shared is None or name in self.shared

    def reveal_name(self, name: str) -> None:
        """Something that was taken for private to a thread is not: this execution does not count."""
        if self.any_order:
            assert self.public is not None
            self.public.add(name)
        else:
            assert self.shared is not None
            self.shared.add(name)
        self.revealed = True

    def tells_ends_apart(self, queue: str) -> bool:
        return not self.any_order and super().tells_ends_apart(queue)

    def spawn(self, thread: Any, run: Any, name: str = "", daemon: bool = False) -> Strand:
        if self.only_steps:
            self.revealed = True  # what the steps do is seen by others: from now on it is recorded
            self.expire()
        return super().spawn(thread, run, name, daemon)

    def comes_to_spin(self) -> None:
        """A loop that waits is recognised by what it reads: from now on that is recorded."""
        self.spins = self.revealed = True
        self.give_up("blocked")

    def needs_strands(self) -> None:
        """Steps cannot just be drawn: from now on there is a strand for each task."""
        self.wants_strands = self.revealed = True
        self.give_up("blocked")

    def drawn_task(self) -> Any:
        """The task whose step is run, in an execution without strands for tasks."""
        running = [loop.running for loop in self.loops if type(loop.running) is DrawnTask]
        return running[0] if running else None

    def _is_public(self, thread: Strand, op: Operation) -> bool:
        kind, name, key = op
        if kind == MULTI:
            return True in [self._is_public(thread, part) for part in key]  # all of them are looked at
        if name is None or self.public is None or name in self.public:
            return True
        if self.owners.setdefault(name, thread) is thread:
            return False
        self.reveal_name(name)
        return True

    # ------------------------------------------------------------------ points

    def advance(self, me: Strand) -> None:
        if not self.any_order or self.ending:
            super().advance(me)
            if self.detail is not None and not self.ending:
                self._note_lane(me)
            return
        if self.only_steps and me.touched is None:
            return
        thread = me.of_thread or me
        block = self.running_step.get(thread)
        op = me.pending
        if me.touched is None:
            known = op[0] != MULTI and self.owners.get(op[1]) is thread and self.public is not None
            if (known and op[1] not in self.public) or not self._is_public(thread, op):  # type: ignore[operator]
                if block is not None:
                    block.add(op)
                if self.detail is not None:
                    self.story.append(describe(me))
                return
        super().advance(me)
        if self.detail is not None and me.step is not None:
            self.story.append(me.step)
        if block is not None:
            block.last = self.step - 1
            self.begins[block.last] = block.begin
            if op[0] == MULTI:  # parts of it may be on what no other thread touches
                block.add(op)

    def _note_lane(self, me: Strand) -> None:
        """Which task of its loop does this step?"""
        loop = RUNNING.get(me)
        task = None if loop is None or loop.running is None else task_of(loop.running)
        if task is not None and me.step is not None:
            self.lane_of[id(me.step)] = self._lane(task)

    def _lane(self, task: Any) -> str:
        """The name of the column of a task."""
        lane = self.lanes.setdefault(task, task_name(task))
        if self.lane_tasks.setdefault(lane, task) is not task:
            lane = self.lanes[task] = f"{lane}#{len(self.lanes)}"
            self.lane_tasks[lane] = task
        return lane

    def note_step(self, handle: Any) -> None:
        """A loop goes on with this handle, in an execution that is shown."""
        task = task_of(handle)
        if task is not None and self.detail is not None and not self.any_order and not self.ending:
            self.begun.append((len(self.detail), described(self._lane(task), task)))

    def shown(self, steps: list[Step]) -> list[Step]:
        """The steps of an execution as a person sees them: a task is a column of its own."""
        if not self.loops:
            return steps
        found = [
            replace(step, strand=self.lane_of.get(id(step), step.strand))
            for step in (self.story if self.any_order else self._with_steps_of_tasks(steps))
            if (step.operation == CHOOSES and step.object not in (NOTHING_CANCELLED, NO_TIMER))
            or (step.file and not step.object.startswith(_PLUMBING))
        ]
        called = {one.treadle_name: task_name(one.task) for one in self.strands if isinstance(one, TaskStrand)}
        names = _short_names([step.strand for step in found], called)
        return [replace(step, strand=names[step.strand], object=_readable(step.object, names)) for step in found]

    def _with_steps_of_tasks(self, steps: list[Step]) -> list[Step]:
        found: list[Step] = []
        told = 0
        for place, step in self.begun:
            found += [*steps[told:place], step]
            told = place
        return found + steps[told:]

    def saw(self, value: Any, owner: Any = None) -> None:
        super().saw(value, owner)
        if self.any_order and self.detail is not None and self.story and not self.story[-1].value:
            self.story[-1].value = short(value)

    def next_step(self, me: Strand) -> Strand:
        """The loop of this strand is between two steps: who of its strands goes on."""
        if self.ending:
            raise StrandEnd
        if self.detail is not None:
            me.step = describe(me)
        starter = self.starter
        if starter is not None:  # the thread is new, and this is its first point: back to the strand that made it
            self.starter = None
            STATE.strand = starter
            native_locals.show(starter)
            starter.greenlet.switch()
        else:
            chosen = self._choose()
            if chosen is None:
                self.pool.hub.switch()
            else:
                STATE.strand = chosen
                native_locals.show(chosen)
                if chosen.greenlet is not me.greenlet:
                    chosen.greenlet.switch()
        if self.ending:
            raise StrandEnd
        who = STATE.strand
        assert who is not None
        if self.detail is not None:
            self.detail.append(who.step)
            if who is not me:
                self.story.append(who.step)
        return who

    def give_up(self, why: str) -> None:
        """The running strand goes round without end: the execution stops here."""
        assert STATE.strand is not None
        if not self.ending:
            STATE.strand.pending = (YIELD, None, None)
            self.stop_reason = why
            self.pool.hub.switch()
        raise StrandEnd

    def _choose(self) -> Strand | None:
        while True:
            chosen = super()._choose()
            if not isinstance(chosen, Option):
                return chosen
            self._take(chosen)

    # ------------------------------------------------------------------ choices

    def offer(self, choice: OpenChoice, texts: list[str]) -> None:
        """Put the options of a choice among the strands."""
        for number, text in enumerate(texts):
            name = f"{choice.treadle_name}={number}"
            option = Option(self, self._index(name), choice, number, text)
            choice.options.append(option)
            self.live.append(option)
            self.by_index[option.index] = option
            self.spawned[option.index] = self.step - 1

    def _index(self, name: str) -> int:
        return self.indexes.setdefault(name, len(self.indexes))

    def _take(self, option: Option) -> None:
        option.choice.taken = option.number
        option.finished = True
        for other in option.choice.options:
            self.live.remove(other)
            if other is not option:
                self.untaken.append((other, other.pending))
        if self.detail is not None:
            self.detail.append(option.step)
            self.story.append(option.step)

    # ------------------------------------------------------------------ tasks

    def add_task(self, loop: Any, task: Any) -> TaskStrand:
        maker = STATE.strand
        assert maker is not None
        name = maker.fresh(task_name(task))
        strand = TaskStrand(loop, self._index(name), name, task)
        self.strands.append(strand)
        self.by_index[strand.index] = strand
        self.spawned[strand.index] = self.step - 1
        return strand

    def note_timer(self) -> None:
        """A loop is asked to do something later: threads beside it may be slower than that."""
        if not self.any_timeout:
            self.deadlines.add(place_of(sys._getframe()))

    def _fire(self, strand: Strand) -> Operation:
        waited = (strand.deadline or self.clock.now) - self.clock.now
        for loop in self.loops:
            # in the midst of a step: the strand itself, or one that cannot go on before time has passed
            is_own = loop.strand is (strand.of_thread or strand)
            if loop.running is not None and waited > 0 and (is_own or not self.any_timeout):
                stack = stack_of(loop.strand.greenlet.gr_frame or sys._getframe())
                place = f"{stack[0][0]}:{stack[0][1]}" if stack else loop.name
                self.blocking[place] = self.blocking.get(place, 0.0) + waited
        fired = super()._fire(strand)
        if self.any_order:
            for loop in self.loops:
                time_has_moved(loop)
        return fired

    # ------------------------------------------------------------------ the end

    def _end_all(self) -> None:
        self.limit = -1  # for steps that are drawn, where asyncio catches what ends a strand
        for loop in self.loops:
            if not self.only_steps:
                self.causes[loop.strand.index] = loop.turn.guards()
                self.causes |= {strand.index: strand.turn.guards() for strand in loop.strands}
            if loop._exception_handler is None and (loop.failed or loop.tasks):
                self.unretrieved += [future for future in loop.with_exception() if future._log_traceback]
        borrowed = [strand for strand in self.live if isinstance(strand, (Option, TaskStrand))] if self.live else []
        if borrowed:
            names = {strand.treadle_name for strand in borrowed}
            self.stuck = [one for one in self.stuck if one.strand not in names]
            for strand in borrowed:
                self.live.remove(strand)
        super()._end_all()

    def release(self) -> None:
        self.main = self.strands[0] if self.only_draws and len(self.strands) == 1 else None
        super().release()
        self.released = True
        for loop in self.loops:
            loop.release()
        self.loops.clear()

    @property
    def troubled(self) -> bool:
        return bool(
            self.told
            or self.unawaited
            or self.left_pending
            or self.unretrieved
            or self.blocking
            or self.replaced
            or (self.cancellations and self.made_locks)
            or super().troubled
        )

    def more_findings(self) -> list[Finding]:
        return oracles.findings(self)

    def more_warnings(self) -> list[Finding]:
        return oracles.warnings(self)


def _short_names(strands: list[str], called: dict[str, str]) -> dict[str, str]:
    """`update#test#1.1` and `update#test#1.2` as `update` and `update#2`, where they come first and second, or as they
    were called: some tasks get their name when their strand has one."""
    names: dict[str, str] = {}
    for strand in dict.fromkeys(strands):
        short = label_of(called.get(strand, strand))
        number = sum(label_of(other) == short for other in names.values()) + 1
        names[strand] = short if number == 1 else f"{short}#{number}"
    return names


def _readable(name: str, strands: dict[str, str]) -> str:
    """`dict#update#test#1.1.1['n']`, the first that `update#test#1.1` met, as `dict#update.1['n']`."""
    label, rest = split(name)
    whole = max((one for one in strands if rest.startswith(f"{one}.")), key=len, default="")
    return f"{label}#{strands[whole]}{rest[len(whole) :]}" if whole else name


_LOOPS: list[list[Any]] = []


def _end_tasks() -> None:
    """The execution is over: its tasks end with it, in silence."""
    while _LOOPS:
        for loop in _LOOPS.pop():
            asyncio_tasks._current_tasks.pop(loop, None)  # type: ignore[attr-defined]
            if not (loop.tasks or loop.failed):
                continue
            for task in loop.pending_tasks():
                task._log_destroy_pending = False
                _close(task._coro)
            for future in loop.with_exception():
                future._log_traceback = False
            loop.failed.clear()


AFTER_EXECUTION.append(_end_tasks)


def _close(coroutine: Any) -> None:
    """What a coroutine does when it is closed no longer counts."""
    try:
        coroutine.close()
    except BaseException:
        pass
