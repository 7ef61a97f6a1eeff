"""What the tests of one exploration cover: methods that ran as tasks, sides of branches, tasks one after another.

Only what belongs to a test counts: steps of branches that were cut do not. Branches are those of statements (`if`,
`while`, `foreach`, `switch`, `catch`); conditions inside expressions and functions are not counted. What could be
covered is read off the program text from the starting method on: a side that no run can reach counts as missed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from treadle.abs.language.model import Class
from treadle.abs.machine.code import Code
from treadle.abs.machine.effects import Calls, CodeEffect, remaining, targets
from treadle.abs.machine.machine import Image
from treadle.abs.machine.state import State
from treadle.core.json_form import JsonForm


@dataclass(frozen=True, slots=True)
class CoveredShare(JsonForm):
    """How many of how many, and which are missing."""

    covered: int = 0
    of: int = 0
    missed: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.covered} of {self.of}"


@dataclass(frozen=True, slots=True)
class Interleavings(JsonForm):
    """Pairs of methods whose tasks followed each other on one actor, and those that did so in both orders."""

    pairs: int = 0
    both_orders: int = 0
    one_order: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ActorCoverage(JsonForm):
    tasks: CoveredShare = field(default_factory=CoveredShare)
    branches: CoveredShare = field(default_factory=CoveredShare)
    interleavings: Interleavings = field(default_factory=Interleavings)


class SentCoverage(NamedTuple):
    """What some tests cover, for another process: code by its number."""

    ran: frozenset[int] = frozenset()
    sides: frozenset[tuple[int, int, int]] = frozenset()
    pairs: frozenset[tuple[int, int]] = frozenset()


class CoverageCounter:
    """Adds up the tests below some starting states."""

    def __init__(self, image: Image, started: Iterable[Code]) -> None:
        self._reachable = _reachable(image, list(started))
        codes = dict.fromkeys([*image.methods.values(), *image.creation.values(), *self._reachable])
        self._codes = list(codes)
        self._numbers = {code: number for number, code in enumerate(self._codes)}
        self._ran: set[Code] = set()
        self._sides: set[tuple[Code, int, int]] = set()
        self._pairs: set[tuple[Code, Code]] = set()

    def add(self, test: State) -> None:
        """One test, given as the state in which it ends."""
        before: dict[object, tuple[int, Code]] = {}
        for step in test.last.all() if test.last is not None else ():
            task = step.task
            self._ran.add(task.code)
            self._sides.update(step.sides)
            actor = test.groups.get(task.this, task.this)
            if actor in before and before[actor][0] != task.key:
                self._pairs.add((before[actor][1], task.code))
            before[actor] = (task.key, task.code)

    def taken(self, keep: bool = False) -> SentCoverage:
        """What was added, to be sent; it is forgotten here unless it is to be kept."""
        number = self._numbers
        sent = SentCoverage(
            frozenset(number[code] for code in self._ran),
            frozenset((number[code], pc, to) for code, pc, to in self._sides),
            frozenset((number[one], number[other]) for one, other in self._pairs),
        )
        if not keep:
            self._ran, self._sides, self._pairs = set(), set(), set()
        return sent

    def join(self, sent: SentCoverage) -> None:
        """Add what tests cover that were run elsewhere."""
        codes = self._codes
        self._ran.update(codes[number] for number in sent.ran)
        self._sides.update((codes[number], pc, to) for number, pc, to in sent.sides)
        self._pairs.update((codes[one], codes[other]) for one, other in sent.pairs)

    def figures(self) -> ActorCoverage:
        methods = [code for code in self._reachable if _is_method(code)]
        sides = [(c, pc, to) for c in self._reachable for pc in c.forks for to in _targets_of(c, pc)]
        different = {(a, b) for a, b in self._pairs if a is not b}
        once = [(a, b) for a, b in different if (b, a) not in different]
        return ActorCoverage(
            _covered([(code.label, code in self._ran) for code in methods]),
            _covered([(_told_side(*side), side in self._sides) for side in sides]),
            Interleavings(
                len(once) + (len(different) - len(once)) // 2,
                (len(different) - len(once)) // 2,
                sorted(f"{a.label} before {b.label}" for a, b in once),
            ),
        )


def _reachable(image: Image, started: list[Code]) -> list[Code]:
    """The code that the text lets run from the starting code on: methods and the creation of objects."""
    effect = CodeEffect()
    for code in started:
        effect = effect.joined(remaining(code, 0))
    calls = Calls.of(image)
    found = dict.fromkeys(started)
    made: set[Class] = set(effect.creates)
    for method in sorted(calls.reach(calls.of_effect(effect)), key=lambda m: (m[0].name, m[1])):
        if method in image.methods:
            found[image.methods[method]] = None
            made |= remaining(image.methods[method], 0).creates
    todo = sorted(made, key=lambda cls: cls.name)
    while todo:
        creation = image.creation[todo.pop()]
        if creation not in found:
            found[creation] = None
            todo += remaining(creation, 0).creates
    return list(found)


def _is_method(code: Code) -> bool:
    """Neither the main block nor the creation of an object."""
    return code.cls is not None and code.name in code.cls.own


def _targets_of(code: Code, pc: int) -> list[int]:
    return list(dict.fromkeys(targets(pc, code.effects[pc][1])))


def _told_side(code: Code, pc: int, to: int) -> str:
    return f"{code.label}, line {code.lines[pc]}: {'yes' if to == pc + 1 else 'no'}"


def _covered(items: list[tuple[str, bool]]) -> CoveredShare:
    return CoveredShare(sum(done for _, done in items), len(items), sorted(name for name, done in items if not done))
