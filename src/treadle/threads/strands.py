"""Strands: the threads of the program under test, and the point where each of them gives up control.

Inside an execution exactly one strand runs at a time, as a greenlet of one OS thread. It gives up control only at a
*point*, which comes BEFORE an operation: the strand announces the operation, the search chooses a strand, and the
chosen one performs its operation and runs on, undisturbed, to its own next point.

Invariant: every strand that is alive and not running has its next operation in `pending`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from mypy_extensions import mypyc_attr

from treadle.core.operation import BLOCKING, EVERY_KIND, FINE, LOOK, MULTI, READ, SPIN, TRY, WAIT, WRITE, Operation
from treadle.threads.carriers import finalises, getcurrent
from treadle.threads.switching import ALL

if TYPE_CHECKING:
    from treadle.core.result import Step
    from treadle.threads.carriers import greenlet
    from treadle.threads.execution import Execution
    from treadle.threads.greenlets import Worker


class AsRewritten(NamedTuple):
    """What a model does for the program (a thread calls its target), as operations: as if rewritten code did it."""

    function: Callable[[Any], Any] = lambda called: called  # in `called(...)`
    call: Callable[[Any, Any, Any], Any] = lambda called, args, kwargs: called(*args, **(kwargs or {}))
    load: Callable[[Any, str], Any] = getattr
    method: Callable[[Any, str], Any] = getattr  # in `obj.name(...)`
    taken: Callable[[Any], Any] = lambda items: items  # all at once
    each: Callable[[Any], Any] = lambda items: items  # one by one


class _State:
    """The running strand; None outside an execution. One slot that every hook reads."""

    __slots__ = ("coasting", "seen", "strand")
    strand: Strand | None
    # Does the running strand go on until it has to wait? Then nothing it does is a point, and nobody looks at it.
    coasting: bool
    # how models do what the program asked them for; set by the hooks
    seen: AsRewritten

    def __init__(self) -> None:
        self.strand = None
        self.coasting = False
        self.seen = AsRewritten()


STATE: Final = _State()

# What `threading.get_ident()` says in the main strand.
MAIN_IDENT: Final = 1

# Called when an execution is over and no strand runs any more: how the models put back what was made outside.
AFTER_EXECUTION: Final[list[Callable[[], None]]] = []


def current() -> Strand | None:
    """The strand that is running, or None outside an execution, where everything is CPython's own."""
    return STATE.strand


class Arrival(NamedTuple):
    """How a strand came to an operation: the versions that look before it, those that do if the strand waited for the
    lock that it took just before, and whether it found a lock held, and waits."""

    looks: int
    if_waited: int
    at_held_lock: bool


ARRIVED: Final = Arrival(ALL, 0, False)


@mypyc_attr(allow_interpreted_subclasses=True)
class SyncObject:
    """Base of everything that strands synchronise on: locks, queues, events, and the strands themselves.

    Contract: `ready` and `guards` are pure and cheap. `ready(kind, strand)` says whether a blocking operation may go
    on now for that strand; `guards()` has the bit `1 << kind` set for every blocking kind that would be ready for a
    strand that owns nothing.
    """

    __slots__ = ("treadle_name",)
    treadle_name: str
    label: ClassVar[str] = "Object"
    # Does `ready` depend on several objects? Then nobody can tell from one of them whether a strand could have gone on.
    of_several: ClassVar[bool] = False
    # Is CPython's own made in C? Its methods are then entered without a look at the eval breaker (see `switching`).
    in_c: ClassVar[bool] = False
    # Is it something real, outside of the execution, that gets ready by itself?
    outside: ClassVar[bool] = False

    def ready(self, kind: int, strand: Strand) -> bool:
        return True

    def guards(self) -> int:
        return EVERY_KIND

    def describe(self) -> str:
        return ""

    def waiting_tasks(self) -> list[str]:
        """Of a loop: its tasks that are not done, and what each waits for."""
        return []

    def of_this_process(self) -> bool:
        """Of something outside: can only strands of this execution make it ready?"""
        return False


@mypyc_attr(allow_interpreted_subclasses=True)
class Strand(SyncObject):
    """One thread of the program under test."""

    label = "Strand"

    # Slots, not a __dict__: with one, a compiled strand would let go of weak references to it (see `unwinding`).
    __slots__ = (
        "answers",
        "arrival",
        "changes",
        "checks",
        "children",
        "daemon",
        "deadline",
        "detail",
        "encounters",
        "endings",
        "exception",
        "execution",
        "failure_text",
        "finished",
        "greenlet",
        "guard",
        "held",
        "if_waited",
        "index",
        "loop",
        "of_thread",
        "pending",
        "place",
        "private_writes",
        "read_clock",
        "rounds",
        "run",
        "spin_from",
        "spin_pause",
        "spin_place",
        "spin_writes",
        "stands",
        "step",
        "thread",
        "timed_out",
        "touched",
        "variables",
        "waits",
        "went_round",
        "worker",
    )
    greenlet: greenlet
    worker: Worker
    pending: Operation
    place: tuple[str, int]  # of the last operation, where it is asked which objects are alive

    def __init__(self, execution: Execution, index: int, name: str, thread: Any, run: Any, daemon: bool) -> None:
        self.execution = execution
        self.index = index  # the same number for the same name in every execution of a campaign
        self.treadle_name = name
        self.thread = thread
        self.run = run
        self.daemon = daemon
        self.detail = execution.detail is not None or execution.values
        self.encounters: dict[Any, int] = {}
        # of a task: the strand that runs its loop; what is private to one is private to both
        self.of_thread: Strand | None = None
        self.guard: SyncObject | None = None  # what a blocking operation waits for
        # what native calls on this strand's stack are doing: each of its steps may be part of that
        self.held: tuple[Operation, ...] = ()
        # what `__hash__` and `__eq__` of keys have said to a native call that asks them (`hooks.keys`)
        self.answers: dict[tuple[int, ...], tuple[Any, ...]] | None = None
        self.touched: SyncObject | None = None  # the synchronisation object of the pending operation, None for memory
        self.pending = FINE
        self.waits = 0  # the kind of blocking operation that waits for `guard`
        self.deadline: float | None = None
        self.timed_out = False
        self.finished = False
        self.exception: BaseException | None = None
        self.failure_text = ""  # of that exception, as it was when the execution ended
        self.children = 0
        self.endings = 0
        self.place = ("", 0)
        self.read_clock = False
        self.spin_from = 0
        self.private_writes = 0  # how often it changed something that only it knows
        self.spin_pause = 0.0
        self.spin_place: tuple[int, int] | None = None  # frame and line of the loop
        self.spin_writes = 0  # private writes when the iteration began
        self.loop: SyncObject | None = None  # what a strand waits for that seems to go round in a loop that only reads
        self.variables: dict[int, list[Any]] = {}  # where it last seemed to wait in a loop
        self.changes = False  # did they change since the time before?
        self.rounds = 0  # how often it has gone round there since anything was changed
        self.went_round = 0.0  # when it last did
        self.checks = ALL  # the versions that could have switched since the last point; kept by marked code only
        self.if_waited = 0  # those that could have as well if it waited for the lock that it took
        self.arrival = ARRIVED
        self.stands = ALL  # under a gil: those that can switch at the point where it stands
        self.step: Step | None = None  # the pending operation with its place, in an execution that is shown

    @property
    def is_blank(self) -> bool:
        """Has it run to its end and left no trace of that but in what `renew` sets?"""
        return not (
            self.children
            or self.held
            or self.answers
            or self.exception is not None
            or self.endings
            or self.detail
            or self.daemon
            or self.of_thread is not None
            or self.variables
            or self.spin_from
            or self.spin_place is not None
            or self.loop is not None
            or self.if_waited
        )

    def renew(self) -> None:
        """From now on it is a new strand of its execution that has the same name and runs the same function."""
        self.encounters = {}
        self.guard = self.touched = None
        self.pending = FINE
        self.waits = 0
        self.deadline = None
        self.timed_out = self.finished = self.read_clock = False
        self.private_writes = 0
        self.checks = ALL

    def __repr__(self) -> str:
        return f"<strand {self.treadle_name}>"

    @property
    def name(self) -> str:
        return self.treadle_name

    @property
    def ident(self) -> int:
        """A number that is the same for this thread in every execution, as threading.get_ident() promises less."""
        return (self.of_thread or self).index + MAIN_IDENT

    # a strand is what others join: it is ready for a waiter when it has finished
    def ready(self, kind: int, strand: Strand) -> bool:
        return self.finished

    def guards(self) -> int:
        return (1 << WAIT) if self.finished else 0

    def point(self, kind: int, obj: SyncObject, timeout: float | None = None, end: str | None = None) -> bool:
        """The scheduling point before an operation on a synchronisation object, or on one `end` of a queue.

        True: the operation may be performed now. False: the time ran out first, and it must not be.
        """
        if self.greenlet is not getcurrent() and finalises() and (kind not in BLOCKING or obj.ready(kind, self)):
            return True  # a thread of a library dropped the last reference: to something that no strand has any more
        if self.held:  # an operation of this kind stands alone: what native calls did so far comes before it
            self.callback()
        try:
            name = obj.treadle_name
        except AttributeError:
            name = obj.treadle_name = self.fresh(obj.label)
        if STATE.coasting and (kind not in BLOCKING or obj.ready(kind, self)):
            return True
        self.pending = (kind, name, end)
        if type(obj) is Strand and (kind == LOOK or (timeout is not None and self.execution.any_timeout)):
            self.execution.watch_ends()
        self.touched = obj
        if not obj.in_c:
            self.checks = ALL
        if kind in BLOCKING:
            self.guard = obj
            self.waits = kind
            if timeout is not None:
                self.deadline = self.execution.clock.now + max(timeout, 0.0)
                self.execution.note_deadline()
                if self.execution.any_timeout:  # it never blocks: when it is not ready, its time runs out
                    self.pending = (LOOK if kind == WAIT else TRY, name, None)
        self.execution.advance(self)
        self.touched = self.guard = self.deadline = None
        if not obj.in_c:
            self.checks = ALL
        if self.timed_out:
            self.timed_out = False
            return False
        return True

    def access(self, kind: int, name: Any, key: Any) -> None:
        """The scheduling point before an access to memory."""
        if STATE.coasting:
            return
        self.pending = (kind, name, key)
        self.execution.advance(self)

    def look(self, versions: int) -> None:
        """These versions look at their eval breaker here. When a pass is checked, that is a point."""
        self.checks |= versions
        if versions & self.execution.looks_are_points:
            self.access(*FINE)

    def callback(self) -> None:
        """The scheduling point inside a native call on shared objects that runs the program's code: what the call does
        to them before and after may be seen apart."""
        if STATE.coasting:
            return
        self.pending = self.held[0] if len(self.held) == 1 else (MULTI, None, self.held)
        self.execution.advance(self)

    def failed(self) -> None:
        """The TRY or GET just performed did not get anything: it changed nothing."""
        self.execution.failed()

    def pause(self, op: Operation, guard: SyncObject | None, deadline: float | None) -> bool:
        """Wait at op until guard is ready (True) or the deadline comes (False)."""
        self.pending = op
        if deadline is not None and (op[0] != SPIN or self.read_clock):
            self.execution.note_deadline()
        self.waits = op[0]
        self.touched = self.guard = guard if guard is not None else _NEVER
        self.deadline = deadline
        self.checks = ALL
        self.execution.advance(self)
        self.touched = self.guard = self.deadline = None
        self.checks = ALL
        if self.timed_out:
            self.timed_out = False
            return False
        return True

    def fresh(self, label: str) -> str:
        """A name for an object that this strand made: by its kind and how many this strand made before."""
        count = self.encounters.get(label, 0) + 1
        self.encounters[label] = count
        if self.index == 0:
            return f"{label}#{count}"
        return f"{label}#{self.treadle_name}.{count}"


class _Never(SyncObject):
    __slots__ = ()

    def ready(self, kind: int, strand: Strand) -> bool:
        return False

    def guards(self) -> int:
        return 0


def with_held(op: Operation, held: tuple[Operation, ...]) -> Operation:
    """An access to memory together with what native calls on the stack are doing meanwhile."""
    if op[0] == MULTI:
        parts: tuple[Operation, ...] = op[2]
    elif op[0] in (READ, WRITE):
        parts = (op,)
    else:
        return op
    more = tuple(part for part in held if part not in parts)
    return (MULTI, None, parts + more) if more else op


_NEVER: Final = _Never()
_NEVER.treadle_name = "clock"
