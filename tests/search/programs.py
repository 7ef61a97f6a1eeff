"""Tiny programs for the searches: strands that read and write named variables, take locks, wait for each other.

A program is a list of strands, a strand a list of actions. `explore` runs one under a strategy and collects what can
be seen of each execution (what was read, how it ended), so that searches can be compared with brute force.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from treadle.core.operation import ACQUIRE, GET, LOOK, READ, RELEASE, SIGNAL, TRY, WAIT, WRITE
from treadle.core.transition import Constants
from treadle.search.strategy import OneExecution, Strategy
from treadle.threads.execution import Execution
from treadle.threads.greenlets import Pool
from treadle.threads.strands import STATE, Strand, SyncObject
from treadle.threads.switching import ALL


def here() -> Strand:
    assert STATE.strand is not None
    return STATE.strand


class Lock(SyncObject):
    label = "Lock"
    in_c = True

    def __init__(self, name: str) -> None:
        self.treadle_name = name
        self.held: Strand | None = None

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.held is None

    def guards(self) -> int:
        return (1 << ACQUIRE) if self.held is None else 0


class Flag(SyncObject):
    label = "Flag"

    def __init__(self, name: str) -> None:
        self.treadle_name = name
        self.up = False

    def ready(self, kind: int, strand: Strand) -> bool:
        return self.up

    def guards(self) -> int:
        return (1 << WAIT) if self.up else 0


class Queue(SyncObject):
    label = "Queue"
    in_c = True

    def __init__(self, name: str) -> None:
        self.treadle_name = name
        self.items: list[int] = []

    def ready(self, kind: int, strand: Strand) -> bool:
        return bool(self.items)

    def guards(self) -> int:
        return (1 << GET) if self.items else 0


@dataclass
class World:
    """The shared state of one execution, and what its strands saw."""

    memory: dict[Any, int] = field(default_factory=dict)
    objects: dict[str, Any] = field(default_factory=dict)
    seen: dict[int, list[Any]] = field(default_factory=dict)

    def get(self, kind: type, name: str) -> Any:
        if name not in self.objects:
            self.objects[name] = kind(name)
        return self.objects[name]

    def act(self, number: int, action: tuple[Any, ...]) -> None:
        what, name, *rest = action
        me = here()
        seen = self.seen.setdefault(number, [])
        if what == "read":
            me.access(READ, "m", name)
            seen.append(self.memory.get(name, 0))
        elif what == "write":
            me.access(WRITE, "m", name)
            self.memory[name] = rest[0]
        elif what == "add":  # one atomic step
            me.access(WRITE, "m", name)
            self.memory[name] = self.memory.get(name, 0) + 1
        elif what == "copy":  # read one variable, write another
            me.access(READ, "m", name)
            value = self.memory.get(name, 0)
            me.access(WRITE, "m", rest[0])
            self.memory[rest[0]] = value + 1
        elif what == "sum":  # the whole memory at once
            me.access(READ, "m", None)
            seen.append(sum(self.memory.values()))
        elif what == "lock":
            me.point(ACQUIRE, self.get(Lock, name))
            self.get(Lock, name).held = me
        elif what == "unlock":
            lock = self.get(Lock, name)
            me.point(RELEASE, lock)
            lock.held = None
        elif what == "try":
            lock = self.get(Lock, name)
            me.point(TRY, lock)
            if lock.held is None:
                lock.held = me
                seen.append("got")
                me.point(RELEASE, lock)
                lock.held = None
            else:
                me.failed()
                seen.append("busy")
        elif what == "check":  # where an interpreter with a gil can switch
            me.checks = ALL
        elif what == "raise":
            me.point(SIGNAL, self.get(Flag, name))
            self.get(Flag, name).up = True
        elif what == "lower":
            me.point(SIGNAL, self.get(Flag, name))
            self.get(Flag, name).up = False
        elif what == "wait":
            me.point(WAIT, self.get(Flag, name))
        elif what == "look":
            me.point(LOOK, self.get(Flag, name))
            seen.append(self.get(Flag, name).up)
        elif what == "put":
            me.point(SIGNAL, self.get(Queue, name))
            self.get(Queue, name).items.append(rest[0])
        elif what == "get":
            me.point(GET, self.get(Queue, name))
            seen.append(self.get(Queue, name).items.pop(0))
        else:
            raise AssertionError(what)


Program = list[list[tuple[Any, ...]]]


@dataclass
class Explored:
    executions: int = 0
    blocked: int = 0
    outcomes: set[Hashable] = field(default_factory=set)
    exhausted: bool = False
    revealed: bool = False


def run_all(
    main: Callable[[World], None],
    strategy: Strategy,
    most: int = 200_000,
    gil: int = 0,
    constants: Constants | None = None,
    indexes: dict[str, int] | None = None,
    kind: type[Execution] = Execution,
) -> Explored:
    """Every execution of a program under a strategy; with a gil, what lies between two checks is one step."""
    found = Explored()
    pool = Pool()
    indexes = {} if indexes is None else indexes
    while found.executions < most and strategy.begin():
        world = World()
        plan, trace, guards = strategy.plan, strategy.trace, strategy.guards
        detail: list[Any] | None = [] if isinstance(strategy, OneExecution) else None
        more: dict[str, Any] = {"detail": detail, "shared": set(), "gil": gil, "constants": constants}
        run = kind(pool, strategy, plan, trace, guards, indexes, 10_000, **more)
        run.run(partial(main, world))
        if run.failure is not None:
            raise run.failure
        for strand in run.strands:
            if strand.exception is not None:
                raise strand.exception
        strategy.end(run)
        found.revealed |= run.revealed
        if run.stop_reason == "blocked":
            continue
        found.executions += 1
        seen = tuple(sorted((number, tuple(values)) for number, values in world.seen.items()))
        found.outcomes.add((run.stop_reason, tuple(sorted(world.memory.items(), key=repr)), seen))
    found.blocked = strategy.blocked
    found.exhausted = strategy.exhausted
    pool.close()
    return found


def in_parallel(*bodies: Callable[[], None]) -> None:
    """Start a strand for each body, and wait for all."""
    me = here()
    strands = [me.execution.spawn(None, body) for body in bodies]
    for strand in strands:
        me.point(WAIT, strand)


def explore(
    program: Program,
    strategy: Strategy,
    most: int = 200_000,
    gil: int = 0,
    constants: Constants | None = None,
    indexes: dict[str, int] | None = None,
    kind: type[Execution] = Execution,
) -> Explored:
    """A program given as lists of actions."""

    def main(world: World) -> None:
        def body(number: int) -> Callable[[], None]:
            def run() -> None:
                for action in program[number]:
                    world.act(number, action)

            return run

        in_parallel(*(body(number) for number in range(len(program))))

    return run_all(main, strategy, most, gil, constants, indexes, kind)


# ---------------------------------------------------------------------- the published programs


def readers(count: int) -> Program:
    """One writer of x, `count` readers of it."""
    return [[("write", "x", 1)], *[[("read", "x")] for _ in range(count)]]


def increments(strands: int, times: int = 1) -> Program:
    return [[("copy", "x", "x")] * times for _ in range(strands)]


def atomic_increments(strands: int) -> Program:
    return [[("add", "x")] for _ in range(strands)]


def locked_increments(strands: int) -> Program:
    return [[("lock", "l"), ("copy", "x", "x"), ("unlock", "l")] for _ in range(strands)]


def last_zero(count: int) -> Callable[[World], None]:
    """`count` writers a[j] = a[j-1] + 1, and one reader that scans from a[count] down to the first zero."""

    def main(world: World) -> None:
        memory = world.memory

        def writer(j: int) -> Callable[[], None]:
            return lambda: world.act(j, ("copy", j - 1, j))

        def reader() -> None:
            place = count
            while True:
                here().access(READ, "m", place)
                if memory.get(place, 0) == 0:
                    break
                place -= 1
            world.seen[0] = [place]

        in_parallel(reader, *(writer(j) for j in range(1, count + 1)))

    return main
