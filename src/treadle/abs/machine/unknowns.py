"""Unknown data: built only as far as the program looks (seed 000 Fig. 3, rules asy1 to asy3; lazy construction).

An unknown list is nothing until a `case` asks for its constructor; then there is one branch per constructor, with
unknown arguments. An unknown reference is nothing until it is compared or called; then it is null, one of the actors
already assumed to exist (only with aliasing), or one more actor that must have existed at the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treadle.abs.language import types as T
from treadle.abs.language.model import Class, Data, Interface
from treadle.abs.language.types import AnyType, Type, substituted
from treadle.abs.machine.values import ObjectRef, Unknown, Value
from treadle.core.errors import UsageError
from treadle.symbolic.expr import terms as E

if TYPE_CHECKING:
    from treadle.abs.machine.machine import ActorMachine, MacroStep

_SORTS = {
    T.INT.name: E.INT,
    T.BOOL.name: E.BOOL,
    T.RAT.name: E.REAL,
    T.FLOAT.name: E.REAL,
    T.STRING.name: E.STR,
}


class Unknowns:
    """Makes unknown values and decides them; one per machine."""

    def __init__(self, machine: ActorMachine) -> None:
        self._machine = machine
        self._built: dict[tuple[Unknown, int], Value] = {}  # unknown and constructor -> the value, always the same

    # ---- making

    def fresh(self, type_: AnyType, name: str) -> Value:
        """A value of the type about which nothing is known."""
        known = T.settled(type_)
        assert isinstance(known, Type)
        if known.name in _SORTS:
            return E.var(name, _SORTS[known.name])
        if known.kind == "data":
            if known.name == T.future(T.UNIT).name:
                return None  # a future exists only together with the task that fills it
            assert isinstance(known.decl, Data)
            if len(known.decl.constructors) == 1 and not known.decl.constructors[0].params:
                return (known.decl.constructors[0],)
        return self._machine.interned.unknown(name, known)

    def actor(self, cls: Class, name: str) -> tuple[ObjectRef, tuple[Value, ...]]:
        """An actor that exists at the start, all its fields unknown."""
        ref = self._machine.interned.ref(self._machine.interned.key("s", name), cls, True, name)
        return ref, tuple(self.fresh(type_, f"{name}.{field}") for field, type_ in cls.fields)

    # ---- data

    def built(self, run: MacroStep, value: Value) -> Value:
        """The value, constructed at least one level deep."""
        bindings = run.state.bindings
        while type(value) is Unknown:
            if value in bindings:
                value = bindings[value]
            elif value.type.kind == "data":
                value = self._construct(run, value)
            else:
                return value
        return value

    def _construct(self, run: MacroStep, unknown: Unknown) -> Value:
        data = unknown.type.decl
        assert isinstance(data, Data)
        if not data.constructors:
            raise UsageError(f"a value of type {unknown.type} cannot be unknown: the type has no constructors")
        which = run.choose(len(data.constructors)) if len(data.constructors) > 1 else 0
        value = self._built.get((unknown, which))
        if value is None:
            value = self._built[unknown, which] = self._value(unknown, data, which)
        run.state.bindings = {**run.state.bindings, unknown: value}
        return value

    def _value(self, unknown: Unknown, data: Data, which: int) -> Value:
        con = data.constructors[which]
        meaning = dict(zip(data.type_params, unknown.type.args, strict=True))
        args = [
            self.fresh(substituted(param, meaning), f"{unknown.name}.{field or index}")
            for index, (param, field) in enumerate(zip(con.params, con.fields, strict=True), 1)
        ]
        return (con, *args)

    # ---- references

    def decided(self, run: MacroStep, value: Value) -> Value:
        """A reference as far as it is known: an object, null, or an `Unknown` that is not null."""
        bindings = run.state.bindings
        while type(value) is Unknown and value in bindings:
            value = bindings[value]
        if type(value) is not Unknown or value in run.state.not_null:
            return value
        if run.choose(2) == 0:
            run.state.not_null = run.state.not_null | {value}
            return value
        run.state.bindings = {**bindings, value: None}
        return None

    def same(self, run: MacroStep, left: Value, right: Value) -> bool:
        """Whether two references are equal, deciding them as far as needed."""
        left, right = self.decided(run, left), self.decided(run, right)
        if left is right:
            return True
        if left is None or right is None:
            return False
        if type(left) is not Unknown and type(right) is not Unknown:
            return False
        if not run.machine.selection.alias:
            return False
        if type(left) is not Unknown:
            left, right = right, left
        assert type(left) is Unknown
        if type(right) is ObjectRef and right not in self._candidates(run, left):
            return False
        if type(right) is Unknown and (_pair(left, right) in run.state.distinct or not _meet(left, right, run)):
            return False
        if run.choose(2) == 0:
            run.state.bindings = {**run.state.bindings, left: right}
            return True
        if type(right) is Unknown:
            run.state.distinct = run.state.distinct | {_pair(left, right)}
        else:
            # remembered through a stand-in for the object: an unknown bound to it
            stand_in = self._machine.interned.unknown(f"={right.name}", right.cls.type)
            run.state.bindings = {**run.state.bindings, stand_in: right}
            run.state.distinct = run.state.distinct | {_pair(left, stand_in)}
        return False

    def receiver(self, run: MacroStep, value: Value, point: int) -> ObjectRef:
        """The object behind a receiver: known (asy1), one that exists (asy2), or one more (asy3)."""
        bindings = run.state.bindings
        while type(value) is Unknown and value in bindings:
            value = bindings[value]
        if value is None:
            raise run.throw("NullPointerException")
        if type(value) is ObjectRef:
            return value
        assert type(value) is Unknown
        existing = self._candidates(run, value) if run.machine.selection.alias else []
        classes = self.classes(value)
        which = run.choose(len(existing) + len(classes)) if len(existing) + len(classes) > 1 else 0
        if which < len(existing):
            ref = existing[which]
        else:
            run.count_actor(point, 0)
            cls = classes[which - len(existing)]
            ref, fields = self.actor(cls, value.name)
            if ref.cls is not cls:  # the same unknown as an object of another class, on another branch
                key = self._machine.interned.key("s", value.name, cls.name)
                ref = self._machine.interned.ref(key, cls, True, value.name)
            run.state.fields[ref] = fields
            run.state.queues[ref] = ()
            run.state.assumed = {**run.state.assumed, ref: fields}
            if run.machine.observer is not None:
                run.machine.observer("assumed", ref)
        run.state.bindings = {**run.state.bindings, value: ref}
        return ref

    def classes(self, unknown: Unknown) -> list[Class]:
        """The classes an unknown reference may be of."""
        target = unknown.type.decl
        assert isinstance(target, Interface | Class)
        found = run_classes(self._machine, target)
        if not found:
            raise UsageError(f"'{unknown.name}' cannot be unknown: no class implements {target.name}")
        return found

    def _candidates(self, run: MacroStep, unknown: Unknown) -> list[ObjectRef]:
        """Assumed actors the unknown may be equal to; actors made by `new` are always different."""
        target = unknown.type.decl
        state = run.state
        forbidden = {
            state.resolved(other)
            for pair in state.distinct
            if unknown in pair
            for other in pair
            if other is not unknown
        }
        return [ref for ref in state.assumed if target in ref.cls.supertypes() and ref not in forbidden]


def run_classes(machine: ActorMachine, target: Interface | Class) -> list[Class]:
    return machine.image.implementing.get(target, [])


def _pair(left: Unknown, right: Unknown) -> tuple[Unknown, Unknown]:
    return (left, right) if left.name <= right.name else (right, left)


def _meet(left: Unknown, right: Unknown, run: MacroStep) -> bool:
    """Whether one object can be of both types."""
    mine = run_classes(run.machine, left.type.decl)
    return any(cls in run_classes(run.machine, right.type.decl) for cls in mine)
