"""Test cases: a leaf of the tree as initial state, arguments, order of tasks and final state (seed 000, Definition 4).

A case can be told in constraints (what must hold of the inputs, and the outputs in terms of them), in concrete values,
or both mixed: values where the path says something, names where anything will do.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from treadle.abs.explore.names import object_names, renamed, renamed_name
from treadle.abs.explore.tree import TreeLeaf
from treadle.abs.machine.defaults import smallest
from treadle.abs.machine.labels import labelled
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.state import State, TakenStep
from treadle.abs.machine.system import StartingState
from treadle.abs.machine.values import FailedFuture, ObjectRef, Unknown, Value, parts, show
from treadle.core.choice import TaskChosen
from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.symbolic.expr.meaning import evaluate, substitute
from treadle.symbolic.expr.show import show as show_expression
from treadle.symbolic.expr.terms import REAL, Const, Expr

Style = Literal["constraints", "values", "hybrid"]
Outcome = Literal["completed", "failed", "deadlock", "waiting"]
Fields = dict[str, Any]


@dataclass(slots=True)
class ObjectState(JsonForm):
    """One object of a state, as a test tells it."""

    cls: str = field(metadata=in_json_as("class"))
    fields: Fields
    # the object in whose group it lives, when not its own
    group: str = field(default="", metadata=in_json_as("group", if_any=True))


@dataclass(slots=True)
class ActorCase(JsonForm):
    """One test. Values are int, bool, None (null), or text in ABS syntax."""

    initial: dict[str, ObjectState]
    arguments: Fields
    order: list[str]
    final: dict[str, ObjectState]
    condition: list[str] = field(metadata=in_json_as("condition", lambda parts: " and ".join(parts) or "True"))
    outcome: Outcome
    # methods already waiting behind the one under test
    queue: list[dict[str, Any]] = field(default_factory=list, metadata=in_json_as("queue", if_any=True))
    result: Any = None
    failures: list[str] = field(default_factory=list, metadata=in_json_as("failures", if_any=True))
    failed_at: list[str] = field(default_factory=list, metadata=in_json_as("failed_at", if_any=True))
    waiting: list[str] = field(default_factory=list, metadata=in_json_as("waiting", if_any=True))
    asserted: bool = field(default=False, metadata=NOT_IN_JSON)  # is one of the failures an assertion?
    verified: bool = field(default=False, metadata=NOT_IN_JSON)  # run again on known data, and did what it says
    replay: str = field(default="", metadata=in_json_as("replay", if_any=True))


def encoded(value: Value, names: dict[ObjectRef, str]) -> Any:
    """A value as tests hold it: int, bool and None as themselves, everything else as ABS text."""
    if value is None or isinstance(value, bool | int):
        return value
    return show(value, names)


class CaseWriter:
    """Turns leaves into cases."""

    def __init__(self, machine: ActorMachine, style: Style) -> None:
        self._machine = machine
        self._style = style
        self._objects: dict[tuple[Any, ...], ObjectState] = {}  # equal objects of different cases are one

    def case(self, root: StartingState, leaf: TreeLeaf) -> ActorCase:
        state = leaf.state
        names = object_names(state)
        assumed = {ref: [state.resolved(v) for v in fields] for ref, fields in state.assumed.items()}
        arguments = {name: state.resolved(v) for name, v in root.arguments.items()}
        extra = [(t, {n: state.resolved(v) for n, v in given.items()}) for t, given in root.extra]
        stand_ins = self._stand_ins(state, assumed, names)
        inputs = [*assumed.values(), arguments.values(), *(given.values() for _, given in extra)]
        telling = self._telling(state, names, [v for values in inputs for v in values], stand_ins)
        case = ActorCase(
            {names[ref]: self._object(ref, values, state, names, telling) for ref, values in assumed.items()},
            {name: encoded(telling(v), names) for name, v in arguments.items()},
            order_labels(self._machine, state, names),
            {names[r]: self._object(r, fields, state, names, telling) for r, fields in state.fields.items()},
            # paths are shared by states that met their conditions in other orders: told in one of its own
            sorted(self._shown(state, names, c) for c in state.path.conditions) + self._references(state, names),
            _outcome(state, leaf),
            [
                {"method": t.code.name, "arguments": {n: encoded(telling(v), names) for n, v in g.items()}}
                for t, g in extra
            ],
        )
        entry = state.futures.get(self._machine.interned.future(root.entry.key))
        if entry is not None and not isinstance(entry, FailedFuture) and entry != self._machine.image.constant("Unit"):
            case.result = encoded(telling(entry), names)
        failed = state.failures()
        case.failures = [show(telling(one.exception), names) for one in failed]
        case.failed_at = [one.place for one in failed]
        case.asserted = any(one.is_assertion for one in failed)
        case.waiting = [f"{names[t.this]}.{t.code.name} at line {t.code.lines[t.pc]}" for t in leaf.waiting]
        for ref in stand_ins.values():
            if ref not in state.fields:
                case.final.setdefault(names[ref], case.initial[names[ref]])
        return case

    # ---- how values are told

    def _telling(
        self, state: State, names: dict[ObjectRef, str], inputs: list[Value], stand_ins: dict[Unknown, ObjectRef]
    ) -> Callable[[Value], Value]:
        unknowns = {p for v in inputs for p in parts(v) if isinstance(p, Expr)}
        model: dict[Expr, Const] | None = None
        if self._style != "constraints":
            model = labelled(state.path, {v for e in unknowns for v in e.vars})
        free = self._style == "hybrid"
        constrained = {v for c in state.path.conditions for v in c.vars}

        def tell(value: Value) -> Value:
            value = state.resolved(value)
            if type(value) is tuple:
                return (value[0], *[tell(part) for part in value[1:]])
            if type(value) is Unknown:
                if value in stand_ins:
                    return stand_ins[value]
                if self._style == "constraints":
                    return Unknown(renamed_name(value.name, state, names), value.type)
                return smallest(value.type)
            if isinstance(value, Expr):
                if model is None:
                    return renamed(value, state, names)
                if free and not value.vars <= constrained:
                    return renamed(substitute(value, {v: model[v] for v in value.vars & constrained}), state, names)
                known = evaluate(value, model)
                return known.numerator if value.sort is REAL and getattr(known, "denominator", 0) == 1 else known
            return value

        return tell

    def _object(
        self,
        ref: ObjectRef,
        values: Iterable[Value],
        state: State,
        names: dict[ObjectRef, str],
        telling: Callable[[Value], Value],
    ) -> ObjectState:
        told = {
            field: encoded(telling(value), names) for field, value in zip(ref.cls.field_names(), values, strict=True)
        }
        home = state.groups.get(ref)
        group = names[home] if home is not None else ""
        key = (ref.cls, group, *((type(value), value) for value in told.values()))
        return self._objects.setdefault(key, ObjectState(ref.cls.name, told, group))

    def _shown(self, state: State, names: dict[ObjectRef, str], condition: Expr) -> str:
        return sys.intern(show_expression(renamed(condition, state, names)))

    def _references(self, state: State, names: dict[ObjectRef, str]) -> list[str]:
        """What is decided about unknown references and data, in words."""
        told = []
        for unknown, value in state.bindings.items():
            if unknown.name.startswith("="):
                continue
            told.append(sys.intern(f"{renamed_name(unknown.name, state, names)} == {show(value, names)}"))
        told += [f"{renamed_name(u.name, state, names)} != null" for u in state.not_null if u not in state.bindings]
        return sorted(told)

    # ---- objects that must exist although nobody called them

    def _stand_ins(
        self, state: State, assumed: dict[ObjectRef, list[Value]], names: dict[ObjectRef, str]
    ) -> dict[Unknown, ObjectRef]:
        """References that are known not to be null and were never called: each gets an object."""
        found: dict[Unknown, ObjectRef] = {}
        for unknown in sorted(state.not_null, key=lambda u: u.name):
            if unknown in state.bindings:
                continue
            cls = self._machine.unknowns.classes(unknown)[0]
            ref, fields = self._machine.unknowns.actor(cls, unknown.name)
            found[unknown] = ref
            names[ref] = f"s{sum(r.assumed for r in names)}"
            assumed[ref] = list(fields)
        return found


def order_labels(machine: ActorMachine, state: State, names: dict[ObjectRef, str]) -> list[str]:
    """The macro-steps in order: object.method, with #n for the n-th task of that name to be created."""
    if state.last is None:
        return []
    steps = state.last.all()
    tasks = {step.task.key: step.task for step in steps}
    for task in [*(t for queue in state.queues.values() for t in queue), *state.active.values()]:
        tasks.setdefault(task.key, task)
    numbers: dict[int, int] = {}
    counts: dict[tuple[ObjectRef, str], int] = {}
    for task in sorted(tasks.values(), key=lambda t: _born(machine, t.key, steps)):
        counts[task.this, task.code.name] = numbers[task.key] = counts.get((task.this, task.code.name), 0) + 1
    return [
        sys.intern(str(TaskChosen(names[step.task.this], step.task.code.name, numbers[step.task.key], step.picks)))
        for step in steps
    ]


def _born(machine: ActorMachine, key: int, steps: list[TakenStep]) -> tuple[int, ...]:
    """When a thing was made in this run: the step, then the how-manieth making of its maker."""
    origin = machine.interned.origin(key)
    if origin[0] == "init":
        return _born(machine, origin[1], steps)
    if isinstance(origin[0], str):
        return -1, origin[1] if origin[0] == "queue" else 0
    maker, number = origin
    made_in = [i for i, step in enumerate(steps) if step.task.key == maker and step.task.serial < number]
    if not made_in:  # in the initialisation block, while its object was made
        return (*_born(machine, maker, steps), number)
    return (made_in[-1], number)


def _outcome(state: State, leaf: TreeLeaf) -> Outcome:
    if state.failures():
        return "failed"
    if leaf.deadlock:
        return "deadlock"
    return "waiting" if leaf.waiting else "completed"
