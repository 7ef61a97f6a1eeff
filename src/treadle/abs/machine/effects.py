"""What code does to its actor and to others, read off the program text: the ground of every reduction.

`Effect` is one summary; an instruction has one, and so has everything a task may still do from a place on. Reading and
writing fields decides task independence; calls decide who may receive tasks; blocking and polling say that waiting for
a future matters. Summaries only ever over-approximate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treadle.abs.language import syntax as S
from treadle.abs.language.check import children
from treadle.abs.language.model import Class, Interface

if TYPE_CHECKING:
    from treadle.abs.machine.code import Code
    from treadle.abs.machine.machine import Image

_NONE: frozenset[Any] = frozenset()


@dataclass(frozen=True, slots=True)
class CodeEffect:
    reads: frozenset[str] = _NONE
    writes: frozenset[str] = _NONE
    calls: frozenset[tuple[Interface | Class, str]] = _NONE
    creates: frozenset[Class] = _NONE
    blocks: bool = False  # may hold the actor while it waits for a future
    polls: bool = False  # looks whether a future is there
    releases: bool = False  # may give the actor away in the middle

    def joined(self, other: CodeEffect) -> CodeEffect:
        return CodeEffect(
            self.reads | other.reads,
            self.writes | other.writes,
            self.calls | other.calls,
            self.creates | other.creates,
            self.blocks or other.blocks,
            self.polls or other.polls,
            self.releases or other.releases,
        )


def fields_read(exp: S.Exp) -> frozenset[str]:
    """The fields an expression looks at."""
    found: set[str] = set()
    if isinstance(exp, S.Field) or (isinstance(exp, S.Var) and exp.kind == "field"):
        found.add(exp.name)
    if isinstance(exp, S.CaseExp):
        for branch in exp.branches:
            found |= _pattern_fields(branch.pattern)
    for child in children(exp):
        found |= fields_read(child)
    return frozenset(found)


def _pattern_fields(pattern: S.Pattern) -> set[str]:
    if isinstance(pattern, S.VarPattern) and pattern.bound and pattern.kind == "field":
        return {pattern.name}
    if isinstance(pattern, S.ConPattern):
        return set().union(*(_pattern_fields(p) for p in pattern.args))
    return set()


def effect_of(*exps: S.Exp) -> CodeEffect:
    """Reading only: effects inside the expressions have instructions of their own."""
    return CodeEffect(reads=frozenset().union(*(fields_read(e) for e in exps)))


def remaining(code: Code, pc: int) -> CodeEffect:
    """Everything a task may still do from an instruction on."""
    found = code.after.get(pc)
    if found is None:
        found = CodeEffect()
        for here in places_from(code, pc):
            found = found.joined(code.effects[here][0])
        code.after[pc] = found
    result: CodeEffect = found
    return result


def places_from(code: Code, pc: int) -> set[int]:
    """The instructions that a task may still come to, this one included."""
    seen: set[int] = set()
    todo = [pc]
    while todo:
        here = todo.pop()
        if here not in seen and 0 <= here < len(code.instructions):
            seen.add(here)
            todo += targets(here, code.effects[here][1])
            if here in code.handlers:
                todo.append(code.handlers[here][0])
    return seen


def targets(here: int, jumps: tuple[Any, ...]) -> list[int]:
    """Where an instruction can go: the next one, unless it says otherwise; (None,) means nowhere."""
    if not jumps:
        return [here + 1]
    return [j if isinstance(j, int) else j.pc for j in jumps if j is not None]


class Calls:
    """Which methods a method can cause to run, through any number of calls (the chains Ch of seed 000)."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._direct: dict[tuple[Class, str], set[tuple[Class, str]]] = {}
        self._reach: dict[tuple[Class, str], frozenset[tuple[Class, str]]] = {}
        for cls, name in image.methods:
            self._direct[cls, name] = self.of_effect(remaining(image.methods[cls, name], 0))

    @classmethod
    def of(cls, image: Image) -> Calls:
        """The calls of a program, worked out once."""
        if image.calls is None:
            image.calls = cls(image)
        return image.calls

    def of_effect(self, effect: CodeEffect) -> set[tuple[Class, str]]:
        """The methods called directly, whatever class the receiver turns out to have; `new` runs init and `run`."""
        found = self._called(effect)
        made: set[Class] = set()
        todo = list(effect.creates)
        while todo:
            cls = todo.pop()
            if cls in made:
                continue
            made.add(cls)
            if (cls, "run") in self._image.methods:
                found.add((cls, "run"))
            creation = remaining(self._image.creation[cls], 0)
            found |= self._called(creation)
            todo += creation.creates
        return found

    def _called(self, effect: CodeEffect) -> set[tuple[Class, str]]:
        methods, implementing = self._image.methods, self._image.implementing
        return {
            (c, name) for target, name in effect.calls for c in implementing.get(target, []) if (c, name) in methods
        }

    def reach(self, first: set[tuple[Class, str]]) -> frozenset[tuple[Class, str]]:
        """The given methods and all they can cause."""
        found: set[tuple[Class, str]] = set()
        for method in first:
            known = self._reach.get(method)
            if known is None:
                seen: set[tuple[Class, str]] = set()
                todo = [method]
                while todo:
                    here = todo.pop()
                    if here not in seen:
                        seen.add(here)
                        todo += self._direct.get(here, ())
                known = self._reach[method] = frozenset(seen)
            found |= known
        return frozenset(found)

    def leading_to(self, first: set[tuple[Class, str]], target: Class) -> frozenset[tuple[Class, str]]:
        """The methods on a chain from the given ones to some method of the target class."""
        return frozenset(
            m for m in self.reach(first) if any(c is target for c, _ in self.reach(self._direct.get(m, set())))
        )
