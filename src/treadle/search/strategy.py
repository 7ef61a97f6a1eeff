"""What a search strategy is: three methods and a plan; and all that it may know of an execution.

    begin()   prepares the next execution: sets `plan` (the strands to follow), `trace` and `guards` (what is known of
              those steps); False when there is nothing left to try
    pick(run) chooses a strand that can go on, beyond the plan; None when no strand can, or to give the execution up
              (then it sets run.stop_reason)
    end(run)  learns from the finished execution

Each strategy is one small file, cites its paper and says where it departs from it. To add one (PCT, say): a file beside
random_walk.py with a subclass of `Strategy`, and a line in strategies.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mypy_extensions import mypyc_attr

from treadle.core.operation import Operation
from treadle.core.result import Step


class GuardSeen(Protocol):
    """What a strand waits for."""

    @property
    def of_several(self) -> bool:
        """Does it depend on several objects, so that nobody can tell from one of them whether it could go on?"""


class StrandSeen(Protocol):
    """What a strategy may know of a strand."""

    @property
    def index(self) -> int:
        """The same number in every execution of a search."""

    @property
    def treadle_name(self) -> str:
        """The same name in every process: `main`, `T1`, `T1.2`."""

    @property
    def pending(self) -> Operation:
        """What it does next."""

    @property
    def finished(self) -> bool: ...

    @property
    def guard(self) -> GuardSeen | None: ...

    @property
    def step(self) -> Step | None:
        """The pending operation with its place, in an execution that records details."""


class ExecutionSeen(Protocol):
    """What a strategy may know of an execution. Event i is the i-th operation that was performed."""

    stop_reason: str  # set by a strategy that gives the execution up

    @property
    def trace(self) -> list[tuple[int, Operation]]:
        """Who did what."""

    @property
    def guards(self) -> list[int]:
        """Per event: which blocking operations could have gone on before it; of a SPIN, the event that it waited for;
        FAILED for an attempt in vain."""

    @property
    def spawned(self) -> dict[int, int]:
        """Strand -> the event of its creator during which it was made, -1 before the first."""

    @property
    def indexes(self) -> dict[str, int]:
        """The strands' numbers by their names."""

    @property
    def by_index(self) -> Mapping[int, StrandSeen]: ...

    @property
    def strands(self) -> Sequence[StrandSeen]: ...

    @property
    def live(self) -> Sequence[StrandSeen]:
        """The strands that have not finished, oldest first."""

    @property
    def unfinished(self) -> Sequence[tuple[StrandSeen, Operation]]:
        """After the end: the strands that were left, and what they were about to do."""

    @property
    def untaken(self) -> Sequence[tuple[StrandSeen, Operation]]:
        """Strands that others have excluded: the options of a choice that were not taken."""

    @property
    def ends_are_points(self) -> bool:
        """Does somebody look whether strands are alive?"""

    @property
    def looping(self) -> bool:
        """Was a strand held back because it seemed to wait in a loop?"""

    @property
    def coasted_from(self) -> int:
        """The event from which on strands went on unseen, and only waits are told; -1 when all is."""

    @property
    def detail(self) -> list[Step] | None:
        """Per event, what it did and where, in an execution that records details."""

    def enabled(self) -> Sequence[StrandSeen]:
        """The strands that can go on now, oldest first."""

    def can_go(self, strand: Any) -> bool:
        """Can this strand (one of this execution's own) go on now?"""


@mypyc_attr(allow_interpreted_subclasses=True)
class Strategy:
    """Base of all strategies. `exhausted` is true only when every schedule it stands for has been run."""

    name = ""

    def __init__(self) -> None:
        self.plan: list[int] = []
        self.trace: list[tuple[int, Operation]] = []
        self.guards: list[int] = []
        self.exhausted = False
        self.bounded = False  # did a bound keep something from being run?
        self.bounds: dict[str, int] = {}  # the bounds that were asked for
        self.blocked = 0  # executions that were given up as redundant
        # Pairs of dependent operations of different strands that no start or join puts in order; 1 where nobody counts:
        # nothing to explore is said only by a strategy that knows.
        self.conflicts = 1
        # Races that were also run the other way round: the operation that came first, and the one that came second.
        self.reversed: set[tuple[Operation, Operation]] = set()
        # What the operations before do not explain, so that something shared is not seen: a strand, the operation that
        # was due, and what it does instead (None: it cannot go on; the same: it would only repeat what was run).
        self.surprise: tuple[str, Operation, Operation | None] | None = None
        # Was this execution drawn while a systematic search goes on? It is then no part of what that search counts.
        self.beside = False
        # Does it only draw, from now on? Then an execution that shows more to be shared is one of them all the same.
        self.draws_only = False
        # Operations of several strands after which it interrupts nobody any more, -1 when it may: who goes on then does
        # so unseen until it has to wait.
        self.coast_after = -1
        # Does it need to know what each step of a task did? Who only draws schedules does not.
        self.reads_footprints = False
        # Random bits that decide who goes on, whoever the strands are. None when it has to look at them.
        self.bits: Callable[[int], int] | None = None
        self.drawn: list[int] = []  # the numbers that it gave in this execution, where there was a choice

    def begin(self) -> bool:
        raise NotImplementedError

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        raise NotImplementedError

    def performs(self, strand: StrandSeen) -> None:
        """In an execution that records details: a strand is about to perform its step, and is on the stack."""

    def end(self, run: ExecutionSeen) -> None:
        """Learn from the execution that just ended."""

    def progress(self) -> float:
        """The share of the space that is done, 0 when nobody can say."""
        return 0.0


@mypyc_attr(allow_interpreted_subclasses=True)
class OneExecution(Strategy):
    """A strategy of one execution."""

    def __init__(self) -> None:
        super().__init__()
        self.done = False

    def begin(self) -> bool:
        if self.done:
            return False
        self.done = True
        return True
