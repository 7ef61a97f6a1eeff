"""The aliasings that a finished path leaves open, one after the other, without running it again.

A path of the heap solver stands for many heaps. Here they are told apart as lazy initialisation would have: every
reference, in the order in which it entered the heap, is a new object, one of those before it, or None; every read
after writes at unknown indices saw one of them. What the path's conditions rule out is dropped. What is left is the
path as it would have been with that aliasing decided: its conditions, its story and its unknowns, under the names
that objects then have (`y.f` is `x.f` where y is x). A path of the lazy heap is its own only aliasing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

from treadle.core.choice import Choice, OptionDrawn, ReferenceAliases
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import Rewriting, evaluate
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.assumptions import Graph, broken
from treadle.symbolic.heap.objects import (
    MISSING,
    DictObj,
    Heap,
    InstanceObj,
    ListObj,
    Obj,
    UnknownRef,
    element_name,
    looked_up,
)
from treadle.symbolic.heap.open_values import Depends, Either, Entered
from treadle.symbolic.heap.solver import SolverHeap
from treadle.symbolic.path import About, Note, SymbolicPath
from treadle.symbolic.solve.solver import Answer, Solver
from treadle.symbolic.testcase import TestCase

# As in `TestCase.aliasing`.
AliasingNumbers = tuple[tuple[int, int], ...]


class Aliasing:
    """One aliasing of a path; this one is that of a heap on which everything is decided."""

    def __init__(self, heap: Heap, path: SymbolicPath) -> None:
        self.heap = heap
        self.path = path
        self.conditions: list[Expr] = path.conditions
        self.story: list[Expr | Note] = path.story
        self.unknowns: list[Expr] = heap.unknowns
        self.inputs: list[Obj] = heap.inputs
        self.numbers: AliasingNumbers = ()
        # the same, named: what a trail holds behind the choices of the path
        self.chosen: tuple[Choice, ...] = ()

    def value(self, value: Any) -> Any:
        """The value behind references, as far as they are known."""
        return looked_up(value)

    def options(self, ref: UnknownRef) -> tuple[str, tuple[t.Type, ...]]:
        """A reference that was never looked at: what it is called, and what it may be."""
        return ref.name, ref.options

    def shown(self, value: Value) -> Value:
        """An expression in the unknowns of this aliasing."""
        return value

    def title(self, obj: Obj) -> str:
        return obj.name

    def cls(self, obj: InstanceObj) -> type:
        return obj.cls

    def initial(self, obj: InstanceObj) -> dict[str, Any]:
        return obj.initial

    def fields(self, obj: InstanceObj) -> dict[str, Any]:
        return obj.fields

    def reads(self, obj: ListObj) -> list[tuple[Value, Any]]:
        """The elements of a list at the start, as far as the path looked at them, by index."""
        return obj.reads

    def writes(self, obj: ListObj) -> list[tuple[Value, Any]]:
        return [(write.index, write.value) for write in obj.writes]


def aliasings(heap: Heap, path: SymbolicPath, solver: Solver, start: AliasingNumbers = ()) -> Iterator[Aliasing]:
    """Every aliasing that the path leaves open, in the order in which lazy initialisation would meet them.

    They come in the order of their choices. With `start`, those before it are left out, without a question.
    """
    if not isinstance(heap, SolverHeap):
        yield Aliasing(heap, path)
        return
    if not any(isinstance(r, Depends) or r.among or r.may_be_none for r in heap.record):
        yield _NothingOpen(heap, path)
        return
    todo = [_Decided(heap, path)]
    while todo:
        here = todo.pop()
        if len(here.told) == len(heap.record):
            here.finish(solver)
            yield here
            continue
        record = heap.record[len(here.told)]
        found = list(here.alternatives(record))
        if len(found) > 1:
            for number, alternative in enumerate(found):
                alternative.numbers = (*here.numbers, (record.choices, number))
                alternative.chosen = (*here.chosen, here.choice(record, alternative, number))
        ahead = [a for a in reversed(found) if a.numbers >= start[: len(a.numbers)]]
        is_open = isinstance(record, Depends) or record.among or record.may_be_none
        todo.extend(a for a in ahead if not is_open or a.possible(solver))


def in_lazy_order(cases: list[TestCase]) -> list[TestCase]:
    """The cases of one target in the order in which lazy initialisation finds them, whatever the heap was."""
    picked = any(isinstance(one, OptionDrawn) and isinstance(one.value, tuple) for c in cases for one in c.choices)
    if picked or not any(case.aliasing for case in cases):
        return cases
    return sorted(cases, key=_interleaved)


def _interleaved(case: TestCase) -> list[int]:
    """Every choice, those about aliasing where they would have been made."""
    found: list[int] = []
    rest = list(case.aliasing)
    for number, taken in enumerate((*case.order, 0)):
        while rest and rest[0][0] <= number:
            found.append(rest.pop(0)[1])
        found.append(taken)
    return found


class _NothingOpen(Aliasing):
    """Every object of a path of the heap solver is known to be another one."""

    def __init__(self, heap: SolverHeap, path: SymbolicPath) -> None:
        super().__init__(heap, path)
        self.conditions = [c for c in path.conditions if not all(v.sort is x.REF for v in c.vars)]


class _Decided(Aliasing):
    """An aliasing of a path of the heap solver, decided one record of the heap after the other."""

    heap: SolverHeap

    def __init__(self, heap: SolverHeap, path: SymbolicPath) -> None:
        super().__init__(heap, path)
        # objects that are one, the first of them first; number of an object -> its place in that list
        self.classes: list[list[Obj]] = []
        self.titles: list[str] = []
        self.place: dict[int, int] = {}
        # name of a reference -> 0 for None, else 1 + place; and where in the story that was decided
        self.known: dict[str, int] = {}
        self.said_at: dict[str, int] = {}
        # a name that other names begin with -> what they begin with instead
        self.renaming: dict[str, str] = {}
        # conditions on indices that are decided; and the records that decided them
        self.facts: dict[Expr, bool] = {}
        self.since: dict[Expr, int] = {}
        # for each record: what is told in its place
        self.told: list[list[Expr | Note]] = []
        # elements of lists that are seen as they were at the start only if no write is -> whether they are
        self.seen: dict[Expr, bool] = {}
        # facts of later records are left out
        self._until: float = math.inf
        self._renew()

    def _copy(self) -> _Decided:
        other = _Decided(self.heap, self.path)
        other.classes = [list(members) for members in self.classes]
        other.titles, other.place, other.known = list(self.titles), dict(self.place), dict(self.known)
        other.renaming, other.facts, other.since = dict(self.renaming), dict(self.facts), dict(self.since)
        other.said_at = dict(self.said_at)
        other.told, other.seen = list(self.told), dict(self.seen)
        other.numbers, other.chosen = self.numbers, self.chosen
        other._renew()
        return other

    def _renew(self) -> None:
        """Something was decided: expressions read differently now."""
        self._rewriting = Rewriting(self._replaced)
        names = sorted(map(re.escape, self.renaming), key=len, reverse=True)
        self._pattern = re.compile(rf"(?<![\w.\])])({'|'.join(names)})(?=[.\[)])") if names else None

    def renamed(self, text: str) -> str:
        while self._pattern is not None:
            new = self._pattern.sub(lambda match: self.renaming[match.group(1)], text)
            if new == text:
                break
            text = new
        return text

    def shown(self, value: Value) -> Value:
        return self._rewriting(value)

    def _replaced(self, part: Expr) -> Value:
        if part in self.facts and self.since[part] <= self._until:
            return self.facts[part]
        if part.op != "var":
            return part
        if part in self.heap.elements:
            obj, index = self.heap.elements[part]
            return x.var(element_name(self.title(obj), self.shown(index)), part.sort)
        name = self.renamed(part.args[0])
        if part.sort is x.REF and name in self.known:
            return self.known[name]
        return x.var(name, part.sort) if name != part.args[0] else part

    # --- deciding ------------------------------------------------------------------------------------------

    def alternatives(self, record: Entered | Depends) -> Iterator[_Decided]:
        if isinstance(record, Depends):
            yield from self._which_write(record)
            return
        name = self.renamed(record.ref.name)
        if name in self.known:
            yield self._again(record, self.known[name])
            return
        among = dict.fromkeys(self.place[o.number] for o in record.among if o.number in self.place)
        aliases = [
            (place, self._alias(record, name, place))
            for place in among
            if self.heap.may_alias(name, self.titles[place])
        ]
        aliases = [(place, alias) for place, alias in aliases if alias._is_as_assumed()]
        yield self._fresh(record, name, [place for place, _ in aliases])
        yield from (alias for _, alias in aliases)
        if record.may_be_none:
            nothing = self._copy()
            nothing._decide(record, name, 0)
            nothing.told.append([Note(About.NONE, name)])
            nothing._renew()
            yield nothing

    def choice(self, record: Entered | Depends, decided: _Decided, number: int) -> Choice:
        """The choice by which an alternative was decided, the `number`-th at this record."""
        if isinstance(record, Depends):
            return OptionDrawn(f"the write seen by read {len(self.told)}", number)
        name = self.renamed(record.ref.name)
        known = decided.known[name]
        is_new = known > len(self.classes)
        return ReferenceAliases(name, "None" if not known else "new" if is_new else self.titles[known - 1])

    def _again(self, record: Entered, known: int) -> _Decided:
        """Another name of a reference that is decided."""
        other = self._copy()
        if known:
            other._join(record.obj, known - 1)
        other.told.append([])
        return other

    def _fresh(self, record: Entered, name: str, places: list[int]) -> _Decided:
        other = self._copy()
        other._decide(record, name, 1 + len(other.classes))
        other.classes.append([])
        other.titles.append(name)
        other._join(record.obj, len(other.classes) - 1)
        told = self.path.story[record.at : record.at + record.said]
        said = [self._noted(part) if isinstance(part, Note) else part for part in told]
        if record.may_be_none:
            said.append(Note(About.NOT_NONE, name))
        other.told.append([*said, *(Note(About.OTHER_OBJECT, name, self.titles[place]) for place in places)])
        other._renew()
        return other

    def _alias(self, record: Entered, name: str, place: int) -> _Decided:
        other = self._copy()
        other._decide(record, name, 1 + place)
        other._join(record.obj, place)
        other.renaming[name] = self.titles[place]
        other.told.append([Note(About.SAME_OBJECT, name, self.titles[place])])
        other._renew()
        return other

    def _decide(self, record: Entered, name: str, known: int) -> None:
        self.known[name] = known
        self.said_at[name] = record.at

    def _join(self, obj: Obj, place: int) -> None:
        self.place[obj.number] = place
        self.classes[place].append(obj)

    def _which_write(self, record: Depends) -> Iterator[_Decided]:
        """The last write first, then the others, then none of them."""
        here = self._copy()
        here.told.append([])
        if record.is_new:
            here.seen[record.unread] = False
        for write in record.writes:
            condition = here.shown(write)
            if not isinstance(condition, Expr):
                if condition:
                    break
                continue
            denied: Any = x.not_(condition)
            if denied not in here.told[-1]:
                yield here._with_fact(write, condition, True)
            here = here._with_fact(write, condition, False)
        else:
            if record.unread in here.seen:
                here.seen[record.unread] = True
        yield here

    def _with_fact(self, write: Expr, condition: Expr, holds: bool) -> _Decided:
        other = self._copy()
        # later values may depend on it in either form
        for one in (write, condition):
            for fact, true in ((one, holds), (x.not_(one), not holds)):
                if isinstance(fact, Expr):
                    other.facts[fact] = true
                    other.since.setdefault(fact, len(other.told) - 1)
        side = condition if holds else x.not_(condition)
        if isinstance(side, Expr) and side not in other.told[-1]:
            other.told[-1] = [*other.told[-1], side]
        other._renew()
        return other

    def _is_as_assumed(self) -> bool:
        """Whether the inputs, as far as they are decided, are such as the heap assumptions say."""
        assumed = self.heap.assumed
        if assumed is None:
            return True
        self._collect()
        graph = Graph(
            assumed.roots,
            lambda value, name: self._held(value).get(name),
            lambda value: self._held(value).values(),
            lambda value: found.number if isinstance(found := self.value(value), Obj) and found.is_input else None,
        )
        return not any(broken(one, graph) for one in assumed.assumptions)

    def _held(self, value: Any) -> dict[Any, Any]:
        """What an input object held at the start, by field or by position."""
        value = self.value(value)
        if isinstance(value, InstanceObj):
            return {name: start for name, start in self.initial(value).items() if start is not MISSING}
        if isinstance(value, ListObj):
            return dict(enumerate(element for _, element in self.reads(value)))
        if isinstance(value, DictObj):
            return dict(enumerate(part for pair in value.source for part in pair))
        return dict(enumerate(value)) if isinstance(value, tuple) else {}

    def possible(self, solver: Solver) -> bool:
        """Whether the path can be taken with what is decided so far; what the solver cannot tell is possible."""
        if not all(self._common(members) for members in self.classes):
            return False
        growing: list[Expr] = []
        # the values that the search had in hand fit many aliasings
        model: Any = {self.shown(v): value for v, value in (self.path.model or {}).items()}
        told = [part for parts in self.told for part in parts if isinstance(part, Expr)]
        for condition in itertools.chain(map(self.shown, self.path.conditions), told):
            if condition is False:
                return False
            if isinstance(condition, Expr) and condition not in growing:
                if model is None or not evaluate(condition, model):
                    verdict = solver.check(growing, condition)
                    if verdict.answer is Answer.UNSAT:
                        return False
                    model = verdict.model
                growing.append(condition)
        return True

    @staticmethod
    def _common(members: list[Obj]) -> list[type]:
        """The classes that all of them may have."""
        instances = [obj for obj in members if isinstance(obj, InstanceObj)]
        if not instances:
            return [list]
        return [cls for cls in instances[0].classes if all(cls in obj.classes for obj in instances)]

    # --- the path as it is then ----------------------------------------------------------------------------

    def finish(self, solver: Solver) -> None:
        for ref in self.heap.refs.values():
            if ref.resolved and ref.value is None:
                self.known.setdefault(self.renamed(ref.name), 0)
        self._renew()
        unread = {v for v, seen in self.seen.items() if not seen} | self._collect()
        entered = {record.obj.number for record in self.heap.record if isinstance(record, Entered)}
        containers = (*self.heap.lists, *self.heap.dicts)
        unread |= {x.var(f"len({o.name})", x.INT) for o in containers if o.number not in self.place}
        shown = (self.shown(v) for v in self.heap.unknowns if v not in unread and v.sort is not x.REF)
        self.unknowns = list(dict.fromkeys(v for v in shown if isinstance(v, Expr)))
        first = {members[0].number for members in self.classes}
        self.inputs = [o for o in self.heap.inputs if o.number in first or o.number not in entered]
        self._retell(solver, {self.shown(v) for v in unread} - set(self.unknowns))

    def _collect(self) -> set[Expr]:
        """What each object held at the start and holds now; gives the unknowns that the path never saw then."""
        self._start: list[dict[str, Any]] = [{} for _ in self.classes]
        self._now: list[dict[str, Any]] = [{} for _ in self.classes]
        unread: set[Expr] = set()
        for obj, name, start in self.heap.first:
            place = self.place.get(obj.number)
            if place is None:
                continue
            if self._start[place].setdefault(name, start) is MISSING and isinstance(start, Expr):
                unread.add(start)  # through another reference it had been written before
            if name in obj.fields:
                self._now[place].setdefault(name, obj.fields[name])
        self._named: dict[str, list[UnknownRef]] = {}
        for ref in self.heap.refs.values():
            self._named.setdefault(self.renamed(ref.name), []).append(ref)
        return unread

    def _retell(self, solver: Solver, unseen: set[Value]) -> None:
        """Conditions and story; a condition that the aliasing has made certain was never decided.

        What was assumed of unknowns that the path never saw (`unseen`) was never assumed.
        """
        decided = {part for part in self.path.story if isinstance(part, Expr)}
        records = list(zip(self.heap.record, self.told, strict=True))
        certain: set[tuple[int, Expr]] = set()
        kept: list[Expr] = []
        said: dict[Expr, Expr] = {}
        changed = False
        number = 0
        for i in range(len(self.path.conditions) + 1):
            while number < len(records) and records[number][0].conditions <= i:
                for side in records[number][1]:
                    if isinstance(side, Expr):
                        changed = True
                        if solver.check(kept, x.not_(side)).answer is Answer.UNSAT:
                            certain.add((number, side))
                        else:
                            kept.append(side)
                number += 1
            if i == len(self.path.conditions):
                break
            old = self.path.conditions[i]
            new = self._shown_before(number, old)
            if not isinstance(new, Expr) or all(v.sort is x.REF for v in new.vars) or not unseen.isdisjoint(new.vars):
                continue
            changed |= new is not old
            is_certain = changed and old in decided and solver.check(kept, x.not_(new)).answer is Answer.UNSAT
            if not is_certain and not (new in kept and old not in decided):
                kept.append(new)
                said[old] = new
        self._until = math.inf
        self._renew()
        self.conditions = kept
        self.story = []
        place = 0
        for number, (record, told) in enumerate(records):
            self._tell(place, record.at, said)
            self.story += [part for part in told if isinstance(part, Note) or (number, part) not in certain]
            place = record.at + (record.said if isinstance(record, Entered) else 0)
        self._tell(place, len(self.path.story), said)

    def _shown_before(self, number: int, condition: Expr) -> Value:
        """The condition as it was before the record of this number: what is decided there is news."""
        last = max(self.since.values(), default=-1)
        until = math.inf if number > last else number - 1
        if until != self._until:
            self._until = until
            self._renew()
        return self.shown(condition)

    def _tell(self, start: int, end: int, said: dict[Expr, Expr]) -> None:
        for place in range(start, end):
            part = self.path.story[place]
            if isinstance(part, Note):
                if not self._is_repeated(part, place):
                    self.story.append(self._noted(part))
            elif part in said:
                self.story.append(said[part])

    def _is_repeated(self, note: Note, place: int) -> bool:
        """Whether a note tells of None, when it is known already what the reference is."""
        of_none = note.about in (About.NONE, About.NOT_NONE)
        return of_none and self.said_at.get(self.renamed(note.name), math.inf) <= place

    def _noted(self, note: Note) -> Note:
        """A note in the names of this aliasing; what a type was narrowed to, or a length, is said of the object."""
        name, other = self.renamed(note.name), note.other
        if note.about in (About.TYPE, About.LENGTH):
            name = self.renaming.get(name, name)
        elif note.about in (About.SAME_OBJECT, About.OTHER_OBJECT):
            other = self.renamed(other)
        return Note(note.about, name, other)

    def value(self, value: Any) -> Any:
        while True:
            if isinstance(value, Either):
                value = value.yes if self.shown(value.condition) is True else value.no
            elif isinstance(value, UnknownRef):
                name = self.renamed(value.name)
                if name in self.known:
                    place = self.known[name] - 1
                    return self.classes[place][0] if place >= 0 else None
                looked_at = next((ref for ref in (value, *self._named.get(name, ())) if ref.resolved), None)
                if looked_at is None:
                    return value
                value = looked_at.value
            elif isinstance(value, Obj) and value.number in self.place:
                return self.classes[self.place[value.number]][0]
            else:
                return value

    def options(self, ref: UnknownRef) -> tuple[str, tuple[t.Type, ...]]:
        name = self.renamed(ref.name)
        others = self._named.get(name, ())
        return name, tuple(o for o in ref.options if all(o in other.options for other in others)) or ref.options

    def title(self, obj: Obj) -> str:
        place = self.place.get(obj.number)
        return self.titles[place] if place is not None else self.renamed(obj.name)

    def cls(self, obj: InstanceObj) -> type:
        place = self.place.get(obj.number)
        return self._common(self.classes[place])[0] if place is not None else obj.cls

    def initial(self, obj: InstanceObj) -> dict[str, Any]:
        place = self.place.get(obj.number)
        return self._start[place] if place is not None else obj.initial

    def fields(self, obj: InstanceObj) -> dict[str, Any]:
        place = self.place.get(obj.number)
        return self._now[place] if place is not None else obj.fields

    def reads(self, obj: ListObj) -> list[tuple[Value, Any]]:
        return [
            (index, element)
            for member in self._members(obj)
            for index, element in member.reads
            if not isinstance(element, Expr) or self.seen.get(element, True)
        ]

    def _members(self, obj: ListObj) -> list[ListObj]:
        place = self.place.get(obj.number)
        return [m for m in self.classes[place] if isinstance(m, ListObj)] if place is not None else [obj]

    def writes(self, obj: ListObj) -> list[tuple[Value, Any]]:
        return [(write.index, write.value) for write in obj.writes if self.shown(write.condition) is True]


__all__ = ["Aliasing", "AliasingNumbers", "aliasings", "in_lazy_order"]
