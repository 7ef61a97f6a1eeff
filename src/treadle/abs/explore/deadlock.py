"""Deadlock-guided testing: only executions that can still end in a deadlock are followed to their end.

After Albert, Gomez-Zamalloa and Isabel (Combining Static Analysis and Testing for Deadlock Detection, 2016), with a
simpler static part. A *candidate* is a cycle of classes in which a task of each can wait for a method of the next. It
is computed from the program text, by the type of what is waited for; a task that waits for a condition may wait for
anybody, and classes whose objects may share a group are one. A state is *hopeless* for a candidate when no task can
ever again wait at one of its edges, and is left when it is hopeless for all.

Keeps: nothing that can lead to a deadlock is left. Who waits for ever waits for a task that waits for ever, or whose
actor is held by one, until the circle closes or a condition is met; each of them stands at a place of a candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from treadle.abs.language.model import Class
from treadle.abs.language.types import NUMBERS, Type, settled
from treadle.abs.machine.code import Code, WaitsFor
from treadle.abs.machine.effects import Calls, places_from, remaining, targets
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.state import ActorTask, State

_Point = tuple[Code, int]
_Home = Class | None  # a class, or one that stands for all that may share a group; None is the main block


@dataclass(frozen=True, slots=True)
class CandidateCycle:
    """Classes that wait for each other in a circle, and the places where they do."""

    classes: tuple[_Home, ...]
    edges: tuple[frozenset[_Point], ...]

    def __str__(self) -> str:
        steps = []
        for cls, points in zip(self.classes, self.edges, strict=True):
            places = sorted({f"{code.name}:{code.lines[pc]}" for code, pc in points})
            steps.append(f"{_name(cls)} ({', '.join(places)})")
        return " -> ".join([*steps, _name(self.classes[0])])


def _name(home: _Home) -> str:
    return "main" if home is None else home.name


class DeadlockGoal:
    """Which states can still lead to a deadlock."""

    def __init__(self, machine: ActorMachine) -> None:
        self._machine = machine
        self._calls = Calls.of(machine.image)
        self._ahead: dict[_Point, frozenset[_Point]] = {}
        self.candidates = candidate_cycles(machine)

    def hopeless(self, state: State) -> bool:
        ahead: set[_Point] = set()
        for task in (*(t for queue in state.queues.values() for t in queue), *state.active.values()):
            ahead |= self._of_task(state, task)
        return not any(all(points & ahead for points in cycle.edges) for cycle in self.candidates)

    def _of_task(self, state: State, task: ActorTask) -> frozenset[_Point]:
        """Where the task, and whatever it causes, can still come to wait."""
        ahead = self._points(task.code, task.pc)
        if task.waiting is None or not task.waiting.claim_slots or task.waiting.conditions:
            return ahead
        if all(task.env[slot] in state.futures for slot in task.waiting.claim_slots):
            passed = targets(task.pc, task.code.effects[task.pc][1])  # its wait is over, though it has not gone on
            return frozenset[_Point]().union(*(self._points(task.code, pc) for pc in passed))
        return ahead

    def _points(self, code: Code, pc: int) -> frozenset[_Point]:
        found = self._ahead.get((code, pc))
        if found is None:
            image = self._machine.image
            caused = self._calls.reach(self._calls.of_effect(remaining(code, pc)))
            points = {(code, place) for place in places_from(code, pc) if place in code.waits}
            for method in caused:
                points |= {(image.methods[method], place) for place in image.methods[method].waits}
            for cls in {c for c, _ in caused} | set(remaining(code, pc).creates):
                points |= {(image.creation[cls], place) for place in image.creation[cls].waits}
            found = self._ahead[code, pc] = frozenset(points)
        return found


def candidate_cycles(machine: ActorMachine) -> list[CandidateCycle]:
    """Every simple cycle of classes whose tasks can wait for each other."""
    image = machine.image
    edges: dict[tuple[_Home, _Home], set[_Point]] = {}
    codes = [*image.methods.values(), *image.creation.values(), *([image.main] if image.main is not None else ())]
    home = _sharing_groups(codes)
    for code in codes:
        for pc, wanted in code.waits.items():
            for target in _waited_for(machine, wanted):
                edges.setdefault((home(code.cls), home(target)), set()).add((code, pc))
    order = list(dict.fromkeys(cls for edge in edges for cls in edge))
    found: list[CandidateCycle] = []

    def follow(path: list[_Home]) -> None:
        for following in order:
            if (path[-1], following) not in edges:
                continue
            if following is path[0]:
                steps = zip(path, [*path[1:], following], strict=True)
                found.append(CandidateCycle(tuple(path), tuple(frozenset(edges[step]) for step in steps)))
            elif following not in path and order.index(following) > order.index(path[0]):
                follow([*path, following])

    for first in order:
        follow([first])
    return found


def _sharing_groups(codes: list[Code]) -> Callable[[_Home], _Home]:
    """One class for all those whose objects may live in one group; None for those that the main block makes."""
    first: dict[Class, _Home] = {}

    def home(cls: _Home) -> _Home:
        while cls is not None and cls in first:
            cls = first[cls]
        return cls

    for code in codes:
        for made in code.makes_local:
            one, two = home(made), home(code.cls)
            if one is not None and one is not two:
                first[one] = two
            elif two is not None and one is not two:
                first[two] = one
    return home


def _waited_for(machine: ActorMachine, wanted: WaitsFor) -> set[Class]:
    """The classes that have a method which may be the one waited for."""
    image = machine.image
    if wanted.method:
        return {c for c in image.implementing.get(wanted.target, []) if (c, wanted.method) in image.methods}
    result = settled(wanted.result) if wanted.result is not None else None
    return {
        cls
        for cls, name in image.methods
        if not isinstance(result, Type) or _may_be(settled(cls.own[name].result), result)
    }


def _may_be(found: object, wanted: Type) -> bool:
    """Whether a future of the one result may be waited for as one of the other: an object may be of any interface."""
    if not isinstance(found, Type):
        return True
    return (
        found.kind == "parameter"
        or wanted.kind == "parameter"
        or found.kind == wanted.kind == "object"
        or found.name == wanted.name
        or (found in NUMBERS and wanted in NUMBERS)
    )
