"""A state of an actor system: immutable to everyone but the macro-step that is building it.

The parts are small dictionaries, copied at the start of a macro-step (a fraction of a microsecond each); the tasks and
field tuples inside are shared by all states.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from treadle.abs.machine.path import PathCondition
from treadle.abs.machine.values import FailedFuture, Fut, ObjectRef, Unknown, Value

if TYPE_CHECKING:
    from treadle.abs.machine.code import Code, TaskWait


class ActorTask:
    """One activation of a method: what it runs, where it stands, its variables. Never changed, only replaced.

    `serial` counts what it has made so far (tasks and objects), so that the next thing it makes gets the same identity
    in every order of the other tasks. `waiting` is the guard it is suspended at.
    """

    __slots__ = ("code", "env", "key", "pc", "serial", "this", "waiting", "wanted")

    def __init__(
        self,
        key: int,
        this: ObjectRef,
        code: Code,
        pc: int,
        env: tuple[Value, ...],
        serial: int,
        waiting: TaskWait | None,
        wanted: bool = True,
    ) -> None:
        self.key = key
        self.this = this
        self.code = code
        self.pc = pc
        self.env = env
        self.serial = serial
        self.waiting = waiting
        self.wanted = wanted  # somebody can ask for its result; of `o!m();` nobody can

    def __repr__(self) -> str:
        return f"{self.this}.{self.code.name}#{self.key}"


class TakenStep:
    """The last macro-step of a run and, through `before`, all earlier ones."""

    __slots__ = ("before", "picks", "sides", "task")

    def __init__(
        self,
        before: TakenStep | None,
        task: ActorTask,
        picks: tuple[int, ...],
        sides: tuple[tuple[Code, int, int], ...] = (),
    ) -> None:
        self.before = before
        self.task = task
        self.picks = picks
        self.sides = sides  # the branches that it came by, and where they led

    def all(self) -> list[TakenStep]:
        found: list[TakenStep] = []
        step: TakenStep | None = self
        while step is not None:
            found.append(step)
            step = step.before
        return found[::-1]


class State:
    """Actors, their queues and what is known; `assumed` is the set I of actors that must exist at the start."""

    __slots__ = (
        "active",
        "assumed",
        "bindings",
        "clock",
        "distinct",
        "fields",
        "futures",
        "groups",
        "last",
        "made",
        "next",
        "not_null",
        "observed",
        "output",
        "path",
        "queues",
        "switches",
    )

    def __init__(self, path: PathCondition) -> None:
        self.path = path
        self.fields: dict[ObjectRef, tuple[Value, ...]] = {}
        self.groups: dict[ObjectRef, ObjectRef] = {}  # objects that live in another one's group
        self.queues: dict[ObjectRef, tuple[ActorTask, ...]] = {}  # group -> tasks that do not run
        self.active: dict[ObjectRef, ActorTask] = {}  # group -> the task that holds it while it waits for a future
        self.next: dict[ObjectRef, int] = {}  # group -> key of the only task that may go on, after a call on itself
        self.futures: dict[Fut, Value] = {}
        self.observed: frozenset[Fut] = frozenset()  # futures whose exception reached somebody
        self.bindings: dict[Unknown, Value] = {}
        self.not_null: frozenset[Unknown] = frozenset()
        self.distinct: frozenset[tuple[Unknown, Unknown]] = frozenset()
        self.assumed: dict[ObjectRef, tuple[Value, ...]] = {}
        self.switches: dict[ObjectRef, int] = {}
        self.made: dict[int, int] = {}  # program point -> actors made there
        self.last: TakenStep | None = None
        self.output: tuple[str, ...] = ()
        self.clock: int | Fraction = 0

    def copy(self) -> State:
        new = State.__new__(State)
        new.path = self.path
        new.fields = self.fields.copy()
        new.groups = self.groups
        new.queues = self.queues.copy()
        new.active = self.active
        new.next = self.next
        new.futures = self.futures.copy()
        new.observed = self.observed
        new.bindings = self.bindings
        new.not_null = self.not_null
        new.distinct = self.distinct
        new.assumed = self.assumed
        new.switches = self.switches.copy()
        new.made = self.made
        new.last = self.last
        new.output = self.output
        new.clock = self.clock
        return new

    def failures(self) -> list[FailedFuture]:
        """The exceptions that ended a task and reached nobody."""
        return [v for f, v in self.futures.items() if type(v) is FailedFuture and f not in self.observed]

    def resolved(self, value: Value) -> Value:
        """The value with every decided unknown replaced."""
        while type(value) is Unknown:
            if value not in self.bindings:
                return value
            value = self.bindings[value]
        if type(value) is tuple and len(value) > 1:
            return (value[0], *[self.resolved(part) for part in value[1:]])
        return value
