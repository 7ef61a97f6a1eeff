"""The heap solver: aliasing is carried along as conditions, and the path branches only where the program does.

The heap of a path has one object or list per reference that was dereferenced or compared. Two of them may be the
same one, and nobody decides that before it is asked: identity is an unknown of its own (sort REF, 0 is None), `a is b`
is an equality of two of them, and what is known of one object is a condition on the others:

- A write to `o.f` is seen through every `p` that may be `o`: `p.f` is from now on "the new value if p is o, else the
  old one": an `ite` for scalars of one sort, else an `Either`, a reference that is decided when it is used.
- What `p.f` held at the start is a new unknown; that it is the same as `o.f` if p is o is assumed, so congruence is
  the solver's work.
- Elements of lists are like fields: a write to `xs[i]` is seen at `ys[j]` if ys is xs and i == j, and what the two
  held at the start, and how long they were, is the same if they are.
- What the path finds out later works backwards: once `o is p` is decided, the two are merged, and the conditions in
  the values that depend on it collapse (`settled`).

Invariants: `fields` of every input object always holds what the field is now, seen through that reference; `writes`
of every input list has every write that may have been to it. A list that is more than written to (closed, appended
to, ...) is settled: the path has decided which of the others it is.

`symbolic.heap.aliasings` reads the aliasings that a finished path leaves open off the record kept here (`record`).
Which of the others a dict or set is, is decided when it is first dereferenced, as in `LazyHeap`. The method is that
of section 2.2 of Albert et al., "Test case generation by symbolic execution".
"""

from __future__ import annotations

import itertools
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import Rewriting
from treadle.symbolic.expr.terms import Expr, Integer, Truth, Value
from treadle.symbolic.heap.objects import (
    MISSING,
    DictObj,
    InstanceObj,
    LazyHeap,
    ListObj,
    Obj,
    Some,
    UnknownRef,
    Write,
    looked_up,
)
from treadle.symbolic.heap.open_values import (
    WITH_IDENTITY,
    Depends,
    Either,
    Entered,
    either,
    equal_starts,
    identity,
    is_plain,
)
from treadle.symbolic.path import About, Note


class SolverHeap(LazyHeap):
    postpones = True

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.path.doubts = self._doubts
        self.instances: list[InstanceObj] = []
        self.lists: list[ListObj] = []
        self.dicts: list[DictObj] = []  # and sets
        # an element of a list, as it was at the start -> where it was read
        self.elements: dict[Expr, tuple[ListObj, Value]] = {}
        self.record: list[Entered | Depends] = []
        # (object, field, value at the start) in the order in which fields were first read or written
        self.first: list[tuple[InstanceObj, str, Any]] = []
        self._log: dict[str, list[tuple[InstanceObj, Any]]] = {}
        self._deleted: dict[str, list[InstanceObj]] = {}
        # name of a reference -> the field where it was at the start
        self._fields: dict[str, tuple[InstanceObj, str]] = {}
        self._written: list[tuple[ListObj, Write]] = []
        self._entered: dict[Expr, Obj] = {}
        self._asked: set[str] = set()
        self._apart: set[frozenset[Expr]] = set()
        # what the conditions of the path say about identity, read as far as `_read`
        self._read = 0
        self._parent: dict[Expr, Expr] = {}
        self._different: set[frozenset[Expr]] = set()
        self._mentioned: set[Expr] = set()
        self._settling = Rewriting(self._known)
        # conditions on the indices of lists that a read has left open, and those of them that were decided later
        self._left_open: set[Expr] = set()
        self._decided: dict[Expr, bool] = {}
        self._at: int | None = None

    # --- what the path knows about identity ----------------------------------------------------------------

    def _root(self, unknown: Expr) -> Expr:
        while unknown in self._parent:
            unknown = self._parent[unknown]
        return unknown

    def _learn(self) -> None:
        conditions = self.path.conditions
        while self._read < len(conditions):
            condition = conditions[self._read]
            self._read += 1
            references = {v for v in condition.vars if v.sort is x.REF}
            if references:
                self._mentioned |= references
                self._fact(condition, True)

    def _fact(self, condition: Expr, holds: bool) -> None:
        if condition.op == "not":
            self._fact(condition.args[0], not holds)
        elif condition.op == ("and" if holds else "or"):
            for part in condition.args:
                self._fact(part, holds)
        elif condition.op == "same" and all(isinstance(a, Expr) for a in condition.args):
            if holds:
                self._unite(*condition.args)
            else:
                self._different.add(frozenset(map(self._root, condition.args)))
            self._settling = Rewriting(self._known)

    def _unite(self, a: Expr, b: Expr) -> None:
        a, b = self._root(a), self._root(b)
        if a is b:
            return
        one, other = self._entered.get(a), self._entered.get(b)
        if one is None or (other is not None and other.number < one.number):
            a, b, one, other = b, a, other, one
        self._parent[b] = a
        self._different = {frozenset(map(self._root, pair)) for pair in self._different}
        if one is not None and other is not None:
            self._merge(one, other)

    def _merge(self, kept: Obj, gone: Obj) -> None:
        """Two objects are one: from now on both names lead to the first."""
        self.merged[gone.number] = kept
        for number, obj in list(self.merged.items()):
            self.merged[number] = self.merged.get(obj.number, obj)
        if isinstance(kept, ListObj) and isinstance(gone, ListObj):
            kept.reads += gone.reads
        elif isinstance(kept, InstanceObj) and isinstance(gone, InstanceObj):
            self._merge_fields(kept, gone)

    def _merge_fields(self, kept: InstanceObj, gone: InstanceObj) -> None:
        shared = [name for name in gone.initial if name in kept.initial]
        starts = [(kept.initial[name], gone.initial[name]) for name in shared]
        for name, value in gone.fields.items():
            kept.fields.setdefault(name, value)
        for name, value in gone.initial.items():
            if kept.initial.setdefault(name, value) is MISSING:
                kept.initial[name] = value
        gone.fields, gone.initial = kept.fields, kept.initial
        kept.classes = tuple(c for c in kept.classes if c in gone.classes) or kept.classes
        gone.classes = kept.classes
        for one, other in starts:
            if is_plain(one) and is_plain(other):
                self._unite(x.var(one.name, x.REF), x.var(other.name, x.REF))

    @staticmethod
    def _alike(a: Obj, b: Obj) -> bool:
        """Whether their types have anything in common."""
        if isinstance(a, ListObj) or isinstance(b, ListObj):
            return isinstance(a, ListObj) and isinstance(b, ListObj) and a.element == b.element
        if isinstance(a, DictObj) and isinstance(b, DictObj):
            kinds = [(d.keys_only, d.frozen, d.ordered, d.key, d.value, d.record) for d in (a, b)]
            return kinds[0] == kinds[1]
        return isinstance(a, InstanceObj) and isinstance(b, InstanceObj) and any(c in b.classes for c in a.classes)

    def _compatible(self, a: Obj, b: Obj) -> bool:
        return self._alike(a, b) and self.may_alias(a.name, b.name)

    def known_same(self, a: Obj, b: Obj) -> bool | None:
        """Whether two inputs are one object, as far as the path says so literally; None: they may be."""
        self._learn()
        one, other = self._root(identity(a)), self._root(identity(b))
        if a is b or one is other:
            return True
        if frozenset((one, other)) in self._different or not self._compatible(a, b):
            return False
        return None

    def _known(self, part: Expr) -> Value:
        """A condition on identity, or on an index, that the path has decided."""
        if part in self._decided:
            return self._decided[part]
        if part.op == "same" and all(isinstance(a, Expr) for a in part.args):
            one, other = map(self._root, part.args)
            if one is other:
                return True
            if frozenset((one, other)) in self._different:
                return False
        return part

    def settled(self, value: Any) -> Any:
        if isinstance(value, Expr):
            self._learn()
            if self._parent or self._different or self._decided:
                return self._settling(value)
        elif isinstance(value, Either) and not value.resolved:
            condition = self.settled(value.condition)
            if not isinstance(condition, Expr):
                return self.settled(value.yes if condition else value.no)
        return value

    def _decide(self, condition: Truth) -> bool:
        """A question of aliasing, asked by a use: it is not the program's own, so loops do not count it."""
        condition = self.settled(condition)
        before = self.path.decisions
        answer = self.path.decide(condition)
        self.path.decisions = before
        self._learn()
        self.learn(condition, answer)
        return answer

    def learn(self, condition: Truth, holds: bool) -> None:
        """The path may have known it all along, if not in these words."""
        if isinstance(condition, Expr) and all(v.sort is x.REF for v in condition.vars):
            self._fact(condition, holds)

    def is_open(self, value: Any) -> bool:
        return isinstance(value, Expr) and self._question(value) is not None

    def _doubts(self, condition: Expr) -> bool | None:
        """Whether a condition may be none once aliasing and indices are decided, as lazily; None: it never is one."""
        if condition.vars and all(v.sort is x.REF for v in condition.vars):
            return None
        return condition not in self._left_open and self.is_open(condition)

    def decided(self, value: Any) -> Any:
        value = self.settled(value)
        while isinstance(value, Expr) and (question := self._question(value)) is not None:
            answer = self._decide(question)
            if question.op != "same":
                self._decided[question] = answer
                self._settling = Rewriting(self._known)
            value = self.settled(value)
        return value

    def _question(self, value: Expr) -> Expr | None:
        """A condition on identity, or on an index that a read has left open, inside an expression."""
        if value.op == "same" or value in self._left_open:
            return value
        if value.op == "var" or not (self._left_open or any(v.sort is x.REF for v in value.vars)):
            return None
        parts = [atom for atom, _ in value.args[1]] if value.op == "sum" else value.args
        inside = (self._question(part) for part in parts if isinstance(part, Expr))
        return next((found for found in inside if found is not None), None)

    def now(self, obj: Some) -> Some:
        self._learn()
        found: Any = self.merged.get(obj.number, obj)
        return found  # type: ignore[no-any-return]  # only objects of one kind are merged

    # --- references ----------------------------------------------------------------------------------------

    def is_none(self, ref: UnknownRef) -> bool:
        if isinstance(ref, Either):
            chosen = self.force(ref)
            return self.is_none(chosen) if isinstance(chosen, UnknownRef) else chosen is None
        if ref.resolved or not is_plain(ref):
            return super().is_none(ref)
        return self._ask_none(ref)

    def _ask_none(self, ref: UnknownRef) -> bool:
        if t.NONE not in ref.options:
            return False
        unknown = x.var(ref.name, x.REF)
        self._learn()
        before = len(self.path.story)
        free = unknown if unknown not in self._mentioned else None
        nothing = not self.path.decide(x.ne(unknown, 0), free)
        self.path.decisions += 1
        asked = len(self.path.story) > before
        del self.path.story[before:]
        self._asked.add(ref.name)
        if asked:
            self.path.note(Note(About.NONE if nothing else About.NOT_NONE, ref.name))
        if nothing:
            ref.resolved, ref.value = True, None
        else:
            ref.options = tuple(o for o in ref.options if o is not t.NONE)
        return nothing

    def force(self, ref: UnknownRef) -> Any:
        if ref.resolved:
            value = ref.value
            self._learn()
            return self.now(value) if isinstance(value, Obj) else value
        at = len(self.path.story)
        if isinstance(ref, Either):
            ref.value = ref.yes if self._decide(ref.condition) else ref.no
            ref.resolved = True
            return ref.value
        if not is_plain(ref):
            self._at = at
            value = super().force(ref)
            self._at = None
            return value
        if self._ask_none(ref):
            return None
        ref.value = self._enter(ref, at)
        ref.resolved = True
        return self.settle(ref.value) if isinstance(ref.value, DictObj) else self.now(ref.value)

    def _aliases(self, name: str, kind: t.Type) -> list[Any]:
        return [] if isinstance(kind, WITH_IDENTITY) else super()._aliases(name, kind)

    def fresh(self, kind: t.Type, name: str) -> Any:
        if isinstance(kind, WITH_IDENTITY):
            at = self._at if self._at is not None else len(self.path.story)
            self._at = None
            obj = self._enter(UnknownRef(name, (kind,)), at)
            return self.settle(obj) if isinstance(obj, DictObj) else obj
        return super().fresh(kind, name)

    def _enter(self, ref: UnknownRef, at: int) -> Any:
        """The object of a reference; it may be one of those that are there."""
        unknown = x.var(ref.name, x.REF)
        self._learn()
        found = self._entered.get(self._root(unknown)) or self._entered.get(unknown)
        if found is not None:
            return found
        told, self.on_input = self.on_input, None
        kind = next(o for o in ref.options if isinstance(o, WITH_IDENTITY))
        obj: InstanceObj | ListObj | DictObj = super().fresh(kind, ref.name)
        self.on_input = told
        among = [known for known in (*self.instances, *self.lists, *self.dicts) if self._compatible(known, obj)]
        if (among or t.NONE in ref.options) and len(self.path.story) == at:
            self.path.decisions += 1
        said, conditions, choices = len(self.path.story) - at, len(self.path.conditions), len(self.path.choices)
        self.record.append(Entered(ref, obj, among, t.NONE in ref.options, at, said, conditions, choices))
        self._entered[unknown] = self._entered[self._root(unknown)] = obj
        if t.NONE not in ref.options and ref.name not in self._asked:
            self.path.assume(x.ne(unknown, 0))
        if isinstance(obj, ListObj):
            self.lists.append(obj)
            self._keep_apart()
            self._compare_lists(obj)
            return self.now(obj)
        if isinstance(obj, DictObj):
            self.dicts.append(obj)
            self._keep_apart()
            return obj
        self.instances.append(obj)
        self._keep_apart()
        if told is not None:
            told(obj)
        return obj

    def _keep_apart(self) -> None:
        """Objects that cannot be one are told to the solver, where being the same is not simply having one class."""
        if not self.alias:
            return
        objects = self._objects()
        mixed = any(len(obj.classes) > 1 for obj in objects)
        of_one_kind: list[list[Any]] = [objects, self._lists(), self._dicts()]
        for b, a in itertools.chain(*(itertools.combinations(some, 2) for some in of_one_kind)):
            pair = frozenset((identity(a), identity(b)))
            alike = (mixed and isinstance(a, InstanceObj)) or self._alike(a, b)
            if alike and pair not in self._apart and not self._compatible(a, b):
                self._apart.add(pair)
                apart = x.ne(identity(a), identity(b))
                if self._may_be_none(a) and self._may_be_none(b):
                    apart = x.or_(apart, x.eq(identity(a), 0))
                self.path.assume(apart)

    def _may_be_none(self, obj: Obj) -> bool:
        """Whether the reference was only compared so far."""
        return any(r.obj is obj and r.may_be_none for r in self.record if isinstance(r, Entered))

    def _objects(self) -> list[InstanceObj]:
        return [obj for obj in self.instances if obj.number not in self.merged]

    def _lists(self) -> list[ListObj]:
        return [obj for obj in self.lists if obj.number not in self.merged]

    def _dicts(self) -> list[DictObj]:
        return [obj for obj in self.dicts if obj.number not in self.merged]

    def split(self, obj: InstanceObj, groups: Any) -> int:
        chosen = super().split(obj, groups)
        for gone in self.instances:
            if self.merged.get(gone.number) is obj:
                gone.classes = obj.classes
        if obj.is_input:
            self._keep_apart()
        return chosen

    def same(self, a: Any, b: Any, looks: bool = True) -> Truth | Any:
        if not looks:
            a, b = self._chosen(a), self._chosen(b)
            if a is b or self._is_one_reference(a, b):
                return True
            if a is None or b is None:
                other = b if a is None else a
                return isinstance(other, UnknownRef) and self.is_none(other)
        a, b = looked_up(a), looked_up(b)
        for value in (a, b):
            if not isinstance(value, InstanceObj | ListObj | DictObj) and not is_plain(value):
                return NotImplemented
            if isinstance(value, UnknownRef) and self._promised(value):
                return NotImplemented  # what its class promises holds only if it is not None
        objects = [self._enter(v, len(self.path.story)) if isinstance(v, UnknownRef) else self.now(v) for v in (a, b)]
        if not all(o.is_input for o in objects):
            return objects[0] is objects[1]
        known = self.known_same(*objects)
        one, other = (x.var(v.name, x.REF) for v in (a, b))
        if known is None:
            return x.eq(one, other)
        both_none = all(isinstance(v, UnknownRef) and t.NONE in v.options for v in (a, b))
        if known is False and both_none and frozenset(map(self._root, (one, other))) not in self._different:
            return x.and_(x.eq(one, 0), x.eq(other, 0))
        return known

    def _chosen(self, value: Any) -> Any:
        while isinstance(value, Either):
            value = self.force(value)
        return value

    def _is_one_reference(self, a: Any, b: Any) -> bool:
        """Whether two references that nobody has looked at are one field of one object, which decides it."""
        fields = [self._fields.get(v.name) for v in (a, b) if isinstance(v, UnknownRef) and not v.resolved]
        if len(fields) < 2 or any(x.var(v.name, x.REF) in self._entered for v in (a, b)):
            return False
        (one, name), (other, its) = (found or (None, "") for found in fields)
        if one is None or other is None or name != its:
            return False
        known = self.known_same(one, other)
        return known if known is not None else self._decide(x.eq(identity(one), identity(other)))

    def _promised(self, ref: UnknownRef) -> bool:
        return any(self.promises(c) for o in ref.options if isinstance(o, t.Instance) for c in self.subclasses(o.cls))

    def is_settled(self, obj: Obj) -> bool:
        return not obj.is_input or all(self.known_same(obj, other) is not None for other in self._others(obj))

    def settle(self, obj: Some) -> Some:
        if obj.is_input:
            for other in self._others(obj):
                if self.known_same(obj, other) is None:
                    self._decide(x.eq(identity(obj), identity(other)))
        settled: Some = self.shaped(self.now(obj))
        return settled

    def _others(self, obj: Obj) -> list[Any]:
        if isinstance(obj, InstanceObj):
            return self._objects()
        return self._lists() if isinstance(obj, ListObj) else self._dicts()

    # --- fields --------------------------------------------------------------------------------------------

    def first_read(self, obj: InstanceObj, name: str, kind: t.Type) -> Any:
        self._learn()
        if name in obj.fields:
            return obj.fields[name]
        if not self.beginning and self._is_one_of(obj, self._deleted.get(name, [])):
            return obj.fields.get(name, MISSING)
        start = self.field_at_start(kind, obj, name)
        if isinstance(start, UnknownRef):
            self._fields[start.name] = (obj, name)
        for other in self._objects():
            if other.initial.get(name, MISSING) is MISSING or self.known_same(obj, other) is not None:
                continue
            equal = equal_starts(start, other.initial[name])
            same = x.eq(identity(obj), identity(other))
            if equal is not None:
                self.path.assume(x.implies(same, equal))
            elif self._decide(same):
                return obj.fields[name]
        obj.initial[name] = start
        self.first.append((obj, name, start))
        obj.fields[name] = value = self.first_value(obj, name, start)
        return value

    def first_value(self, obj: InstanceObj, name: str, start: Any) -> Any:
        value = start
        for writer, written in self._log.get(name, ()) if not self.beginning else ():
            if self.known_same(obj, writer) is None:
                value = either(x.eq(identity(obj), identity(writer)), written, value)
        return value

    def write_field(self, obj: InstanceObj, name: str, value: Any) -> None:
        self._learn()
        if obj.is_input:
            if name in obj.fields and obj.fields[name] is value:
                return
            self._is_one_of(obj, self._deleted.get(name, []))
        if name not in obj.initial:
            obj.initial[name] = MISSING
            if obj.is_input:
                self.first.append((obj, name, MISSING))
        obj.fields[name] = value
        if obj.is_input:
            self._log.setdefault(name, []).append((obj, value))
            for other in self._objects():
                if name in other.fields and self.known_same(obj, other) is None:
                    same = x.eq(identity(obj), identity(other))
                    other.fields[name] = either(same, value, other.fields[name])

    def delete_field(self, obj: InstanceObj, name: str) -> None:
        super().delete_field(obj, name)
        if obj.is_input:
            self._deleted.setdefault(name, []).append(obj)

    def written_elsewhere(self, obj: InstanceObj, name: str) -> bool:
        if self.beginning:
            return False
        return self._is_one_of(obj, [writer for writer, _ in reversed(self._log.get(name, []))])

    def _is_one_of(self, obj: InstanceObj, others: list[InstanceObj]) -> bool:
        """Whether the object is one of these, which decides it."""
        for other in others:
            if self.known_same(obj, other) is None and self._decide(x.eq(identity(obj), identity(other))):
                return True
        return False

    # --- elements of lists ---------------------------------------------------------------------------------

    def perhaps(self, obj: ListObj) -> list[tuple[Truth, ListObj]]:
        others = [other for other in self._lists() if self.known_same(obj, other) is None]
        return [(x.eq(identity(obj), identity(other)), other) for other in others]

    def _compare_lists(self, obj: ListObj) -> None:
        """A list came into the heap: what it has in common with those that it may be."""
        for same, other in self.perhaps(obj):
            if self.known_same(obj, other) is not None:
                continue
            if other.is_as_given:
                self.path.assume(x.implies(same, x.eq(obj.length, other.length)))
            elif self._decide(same):
                return
        for writer, write in self._written:
            if self.known_same(obj, writer) is None:
                obj.writes.append(write._replace(condition=x.eq(identity(obj), identity(writer))))

    def element(self, obj: ListObj, index: Integer) -> Any:
        value = super().element(obj, index)
        if isinstance(value, Expr):
            self.elements[value] = (obj, index)
        return value

    def write_element(self, obj: ListObj, index: Integer, value: Any) -> None:
        super().write_element(obj, index, value)
        if obj.is_input:
            self._written.append((obj, Write(index, value)))
            for same, other in self.perhaps(obj):
                other.writes.append(Write(index, value, same))

    def postpone(self, conditions: list[Expr], unread: Any, is_new: bool) -> None:
        self.path.met(conditions)
        self._left_open.update(conditions)
        story, known, choices = len(self.path.story), len(self.path.conditions), len(self.path.choices)
        self.record.append(Depends(conditions, unread, is_new, story, known, choices))
