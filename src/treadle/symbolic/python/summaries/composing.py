"""Composing a summary with a caller's state: one walk from the root of the tree to a leaf.

Conditions are rewritten in terms of the actual arguments and decided on the caller's path, fields are read from and
written to the actual objects, and references are looked at and compared in the caller's heap, which is where the
compatibility of the two heaps is checked. Two inputs of the summary may be one object here. Whatever does not fit (an
int parameter that got a float, a leaf that must be seen in context, ...) raises `Restart`: the path is walked again
from its start with this call run as usual. See `symbolic.summary` for the invariant that makes this sound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import substitute
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef, looked_up
from treadle.symbolic.ir.machine import DEPTH, STEPS, Environment, Raised
from treadle.symbolic.path import BoundReached, Limit, Restart
from treadle.symbolic.python.machine import attributes
from treadle.symbolic.python.machine.equality import equal, identical
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.types.fields import field_names
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.python.values import open_lists
from treadle.symbolic.python.values.values import BoundMethod, PyValue, RangeValue, SliceValue
from treadle.symbolic.summary.tree import (
    Decide,
    Force,
    IsNone,
    ReadField,
    ReadItem,
    Same,
    SetEnds,
    SetItems,
    Settled,
    Split,
    Summary,
    SummaryLeaf,
    WroteField,
    held_by,
)


@dataclass(slots=True)
class Composition:
    """One walk through a summary with actual arguments."""

    vm: VM
    summary: Summary
    values: dict[Expr, Any] = field(default_factory=dict)
    refs: dict[str, Any] = field(default_factory=dict)
    objects: dict[str, Obj] = field(default_factory=dict)
    # actual list -> the input of the summary that it is
    names: dict[int, str] = field(default_factory=dict)
    # how many inputs of the summary one undecided reference of the caller is
    shared: Counter[int] = field(default_factory=Counter)
    # number in the summary -> the object that is made here in its place
    made: dict[int, Obj] = field(default_factory=dict)
    # of those, the ones that are in the heap already and get their contents in the end
    empty: dict[int, Obj] = field(default_factory=dict)
    # all lists met are of known length, or all are untouched inputs of unknown length
    open_lists: bool | None = None
    # expressions over actual values, kept from one composition to the next
    rewritten: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    # some question of the summary needed no decision here: loops may run on where the summary was cut
    folded: bool = False

    def walk(self, env: Environment) -> PyValue:
        for name, formal in self.summary.formals.items():
            self._bind(formal, env[name])
        vm, path = self.vm, self.vm.path
        node = self.summary.root
        while node.leaf is None:
            event = node.event
            outcome: Any = None
            if type(event) is Decide:
                condition = self._rewritten(event.condition)
                self.folded = self.folded or vm.heap.is_open(condition)
                if not isinstance(condition, Expr):
                    self.folded = True
                    outcome = bool(condition)
                elif event.certain:
                    [outcome] = node.children
                    path.certain(condition, outcome)
                else:
                    path.place = event.place
                    outcome = path.decide(condition)
            elif type(event) is ReadField:
                self._bind(event.made, self._field(self._object(event.obj), event.name))
            elif type(event) is WroteField:
                attributes.plain_set(vm, self._object(event.obj), event.name, self._begun(event.value))
            elif type(event) is Settled:
                value = self._value(event.value)
                if (vm.heap.decided(value) if event.wholly else vm.heap.settled(value)) is not value:
                    raise Restart
            elif type(event) is Same:
                self._compare_objects(event)
            elif type(event) is ReadItem:
                self._bind(event.made, self._item(self.objects[event.obj], event.index))
            elif type(event) is Force:
                outcome = self._force(event)
            elif type(event) is IsNone:
                before = path.decisions
                outcome = vm.is_none(self._unshared(event.ref))
                self._compare(event.counted, before)
            elif type(event) is Split:
                outcome = self._split(event)
            found = node.children.get(outcome)
            if found is None:
                raise Restart
            node = found
        return self._end(node.leaf)

    def _rewritten(self, value: Expr) -> PyValue:
        """An expression of the summary over the caller's values; paths that share a prefix ask for it again."""
        key = (value, *(self.values[v] for v in value.vars))
        found = self.rewritten.get(key)
        if found is None:
            found = self.rewritten[key] = substitute(value, self.values)
        return found

    # --- inputs of the summary, bound to what they are here ------------------------------------------------

    def _bind(self, formal: PyValue, actual: PyValue) -> None:
        if isinstance(formal, Expr):
            actual = looked_up(actual)
            if not _fits(formal.sort, actual):
                raise Restart
            self.values[formal] = actual
        elif isinstance(formal, UnknownRef):
            # the reference itself, also where it is known what it refers to: writing it back changes nothing
            self.refs[formal.name] = actual
            actual = looked_up(actual)
            if isinstance(actual, UnknownRef):
                if not set(actual.options) <= set(formal.options):
                    raise Restart
                self.shared[id(actual)] += 1
        elif isinstance(formal, tuple):
            if not isinstance(actual, tuple) or len(actual) != len(formal):
                raise Restart
            for part, value in zip(formal, actual, strict=True):
                self._bind(part, value)
        elif isinstance(formal, ListObj):
            self._bind_list(formal, actual)
        elif isinstance(formal, InstanceObj):
            self._bind_instance(formal, actual)
        elif isinstance(formal, Obj) or (formal is None and actual is not None):
            raise Restart

    def _bind_instance(self, formal: InstanceObj, actual: PyValue) -> None:
        actual = self.vm.force(actual) if isinstance(actual, InstanceObj) else actual
        if not isinstance(actual, InstanceObj) or actual.payload is not None:
            raise Restart
        held = set(actual.fields) | set(getattr(actual.host, "__dict__", ()))
        if not set(actual.classes) <= set(known_subclasses(formal.cls)) or not held <= set(field_names(actual.cls)):
            raise Restart
        self.objects[formal.name] = actual

    def _bind_list(self, formal: ListObj, actual: PyValue) -> None:
        # a summary knows which of its lists are one; where the heap leaves that open, the call is run
        if not isinstance(actual, ListObj) or not self.vm.heap.is_settled(actual):
            raise Restart
        is_open = actual.items is None
        untouched = not (actual.head or actual.tail or actual.start or actual.writes)
        if is_open and (actual.element != formal.element or actual.count is not actual.length or not untouched):
            raise Restart
        if self.open_lists is None:
            self.open_lists = is_open
        if self.open_lists is not is_open:
            raise Restart
        assert isinstance(formal.length, Expr)
        self.values[formal.length] = actual.size()
        self.objects[formal.name] = actual
        self.names[id(actual)] = formal.name

    def _object(self, name: str) -> InstanceObj:
        found = self.vm.force(self.objects[name])
        assert isinstance(found, InstanceObj)
        return found

    # --- events ------------------------------------------------------------------------------------------

    def _compare(self, counted: bool, before: int) -> None:
        """A decision that running the function by itself did not need could bound a loop that was not bounded."""
        here = self.vm.path.decisions > before
        if here and not counted:
            raise Restart
        self.folded = self.folded or counted is not here

    def _compare_objects(self, event: Same) -> None:
        left, right = self._value(event.left), self._value(event.right)
        self.values[event.made] = (equal if event.looks else identical)(self.vm, left, right)
        # a list that came into the heap by this may be one that was known to be another
        if not all(self.vm.heap.is_settled(o) for o in self.objects.values() if isinstance(o, ListObj)):
            raise Restart

    def _field(self, obj: InstanceObj, name: str) -> PyValue:
        if name in obj.fields:
            return self.vm.heap.settled(obj.fields[name])
        before = self.vm.path.decisions
        try:
            value = self.vm.attribute(obj, name)
        except Raised:
            raise Restart from None
        self._compare(False, before)
        return value

    def _item(self, obj: Obj, index: int) -> PyValue:
        assert isinstance(obj, ListObj)
        if obj.items is not None:
            if index >= len(obj.items):
                raise Restart
            return obj.items[index]
        before = self.vm.path.decisions
        value = open_lists.source(self.vm, obj, index)
        self._compare(False, before)
        return value

    def _unshared(self, ref: str) -> PyValue:
        """An undecided reference to a list that stands for two inputs is equal to itself without a decision."""
        value = self.refs[ref]
        if isinstance(value, UnknownRef) and not value.resolved and self.shared[id(value)] > 1:
            to_objects = all(isinstance(o, t.Instance | t.NoneType) for o in value.options)
            if not to_objects:
                raise Restart
        return value

    def _force(self, event: Force) -> PyValue:
        before = self.vm.path.decisions
        value = self.vm.force(self._unshared(event.ref))
        if isinstance(value, ListObj) and not self.vm.heap.is_settled(value):
            raise Restart
        self._compare(event.counted, before)
        if value is None:
            return "none"
        if any(value is other for other in self.empty.values()):
            raise Restart  # made and put there by the function itself, through another reference
        if isinstance(value, Obj) and id(value) in self.names:
            return ("is", self.names[id(value)])
        for position, formal in enumerate(event.made):
            if _same_kind(formal, value):
                self._bind(formal, value)
                return ("new", position)
        raise Restart

    def _split(self, event: Split) -> int:
        obj = self._object(event.obj)
        left = [(n, tuple(c for c in group if c in obj.classes)) for n, group in enumerate(event.groups)]
        possible = [(n, group) for n, group in left if group]
        if sum(len(group) for _, group in possible) != len(obj.classes):
            raise Restart
        if len(possible) == 1:
            self.folded = True
            return possible[0][0]
        return possible[self.vm.heap.split(obj, [group for _, group in possible])][0]

    # --- the end -----------------------------------------------------------------------------------------

    def _end(self, leaf: SummaryLeaf) -> PyValue:
        vm = self.vm
        if leaf.kind == "cut" and not self.folded:
            self._passed(leaf)
            vm.path.place = leaf.place
            raise BoundReached(Limit.LOOP, leaf.place)
        if leaf.kind not in ("return", "raise") or len(vm.frames) + leaf.depth >= DEPTH:
            raise Restart
        if vm.steps + leaf.steps > STEPS:
            raise Restart
        for own in leaf.made:
            self._fill(self.empty.pop(own.number), own)
        value = self._value(leaf.value)
        ready = [(change, [self._value(v) for v in held_by(change)]) for change in leaf.changes]
        for change, held in ready:
            self._apply(change, held)
        self._passed(leaf)
        if leaf.kind == "raise":
            raise Raised(value)
        return value

    def _passed(self, leaf: SummaryLeaf) -> None:
        """Book the lines and the work of the function as if it had been run."""
        self.vm.steps += leaf.steps
        self.vm.lines |= leaf.lines
        self.vm.path.followed |= leaf.followed
        self.vm.stub_cases.update(dict.fromkeys(leaf.stubs))
        self.vm.composed(self.summary, leaf)

    def _value(self, value: PyValue) -> Any:
        """A value of the summary in the caller's terms; objects that the function made are made here."""
        if isinstance(value, Expr):
            return self._rewritten(value)
        if isinstance(value, UnknownRef):
            if value.name in self.refs:
                return self.refs[value.name]
            raise Restart
        if isinstance(value, tuple):
            return tuple(self._value(v) for v in value)
        if isinstance(value, BoundMethod | RangeValue | SliceValue):
            return type(value)(*(self._value(v) for v in value.parts()))
        if not isinstance(value, Obj):
            return value
        if value.is_input:
            return self.objects[value.name]
        if value.number not in self.made:
            self._fill(self._begin(value), value)
        return self.made[value.number]

    def _begun(self, value: PyValue) -> PyValue:
        """The same for a value that is put into the heap on the way: what is in its objects follows in the end."""
        if isinstance(value, tuple):
            return tuple(self._begun(v) for v in value)
        if isinstance(value, Obj) and not value.is_input and value.number not in self.made:
            self.empty[value.number] = self._begin(value)
        return self._value(value)

    def _begin(self, value: Obj) -> Obj:
        number = self.vm.heap.number()
        made: Obj
        if isinstance(value, ListObj):
            made = ListObj(number, [])
        elif isinstance(value, DictObj):
            made = DictObj(number, [])
            made.keys_only, made.frozen, made.ordered = value.keys_only, value.frozen, value.ordered
        else:
            assert isinstance(value, InstanceObj)
            made = InstanceObj(number, value.classes)
        self.made[value.number] = made
        return made

    def _fill(self, made: Obj, value: Obj) -> None:
        if isinstance(value, ListObj):
            assert isinstance(made, ListObj)
            made.items = [self._value(v) for v in value.items or ()]
        elif isinstance(value, DictObj):
            assert isinstance(made, DictObj)
            made.entries.extend([self._value(k), self._value(v)] for k, v in value.entries)
        else:
            assert isinstance(made, InstanceObj)
            assert isinstance(value, InstanceObj)
            payload = value.payload
            made.payload = payload if isinstance(payload, BaseException) else self._value(payload)
            made.initial.update(dict.fromkeys(value.initial, MISSING))
            made.fields.update({name: self._value(v) for name, v in value.fields.items()})

    def _apply(self, change: Any, held: list[Any]) -> None:
        vm, obj = self.vm, self.objects[change.obj]
        assert isinstance(obj, ListObj)
        if isinstance(change, SetItems):
            if change.changed:
                open_lists.changed(vm, obj)
                obj.items = held
            elif obj.items is None:
                obj.items = held
            return
        assert isinstance(change, SetEnds)
        open_lists.changed(vm, obj)
        for (index, _), value in zip(change.writes, held, strict=False):
            open_lists.write(vm, obj, index, value)
        rest = held[len(change.writes) :]
        head, tail = rest[: len(change.head)], rest[len(change.head) :]
        if obj.items is not None:
            obj.items[:] = [*head, *obj.items, *tail]
        else:
            obj.head[:0] = head
            obj.tail.extend(tail)


def _fits(sort: x.Sort, actual: PyValue) -> bool:
    """Whether a value can stand for an unknown of the sort, with all that follows being the same."""
    if isinstance(actual, Expr):
        return actual.sort is sort
    if sort is x.INT:
        return type(actual) is int
    if sort is x.BOOL:
        return type(actual) is bool
    # floats that are known are rounded, unknown ones are not; classes of characters are known over ASCII
    return sort is x.STR and type(actual) is str and actual.isascii()


def _same_kind(formal: PyValue, actual: PyValue) -> bool:
    if isinstance(formal, Expr):
        return _fits(formal.sort, actual)
    if isinstance(formal, InstanceObj) and isinstance(actual, InstanceObj):
        return set(actual.classes) <= set(known_subclasses(formal.cls))
    if isinstance(formal, tuple):
        return isinstance(actual, tuple) and len(actual) == len(formal)
    return type(formal) is type(actual)
