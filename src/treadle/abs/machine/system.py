"""An actor system at its start: the roots of the tree, from a method with unknown inputs or from the main block.

Also where targets are resolved: which class and method a user named, and why a method cannot be explored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from treadle.abs.language import types as T
from treadle.abs.language.errors import AbsPlace, AbsSource
from treadle.abs.language.model import AbsMethod, Class, Program
from treadle.abs.language.names import did_you_mean
from treadle.abs.language.types import Type
from treadle.abs.machine.code import Code
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.values import ObjectRef, Value
from treadle.core.errors import UsageError

_MAIN = Class("main", "", AbsPlace(AbsSource("<main>", ""), 1, 1))


@dataclass(slots=True)
class StartingState:
    """One starting state, with what a test must say about it."""

    state: State
    entry: ActorTask
    arguments: dict[str, Value] = field(default_factory=dict)
    extra: list[tuple[ActorTask, dict[str, Value]]] = field(default_factory=list)  # tasks already in the queue


def find_method(program: Program, name: str) -> tuple[Class, AbsMethod]:
    """The class and method called `Class.method`; the sentence of a failure names the nearest."""
    class_name, dot, method_name = name.rpartition(".")
    if not dot:
        named = program.class_named(name)
        whose = f"{name}.{next(iter(named.own))}" if named is not None and named.own else "Class.method"
        near = "" if named is not None else _classes(program, name)
        raise UsageError(f"'{name}' names no method; write {whose}{near}")
    cls = program.class_named(class_name)
    if cls is None:
        hint = did_you_mean(class_name, [c.name for c in program.classes])
        raise UsageError(f"{program.name} has no class '{class_name}'{hint or _classes(program, '')}")
    method = cls.own.get(method_name)
    if method is None:
        hint = did_you_mean(method_name, cls.own) or f"; it has: {', '.join(cls.own) or 'none'}"
        raise UsageError(f"class {cls.name} has no method '{method_name}'{hint}")
    return cls, method


def _classes(program: Program, name: str) -> str:
    near = did_you_mean(name, [c.name for c in program.classes]) if name else ""
    return near or f"; the classes are: {', '.join(c.name for c in program.classes) or 'none'}"


def check_can_be_unknown(machine: ActorMachine, cls: Class, method: AbsMethod) -> None:
    """An error for parameters that cannot be unknown, saying why."""
    for name, type_ in method.params:
        problem = _why_not(machine, T.settled(type_), set())
        if problem:
            raise UsageError(f"parameter '{name}' of {cls.name}.{method.name} cannot be unknown: {problem}")


def _why_not(machine: ActorMachine, type_: object, seen: set[str]) -> str:
    if not isinstance(type_, Type):
        return ""
    if type_.name == T.future(T.UNIT).name:
        return "a future exists only together with the task that fills it; pass the value instead"
    if type_.kind == "object":
        if not machine.image.implementing.get(type_.decl):
            return f"no class implements {type_}"
        return ""
    if type_.kind == "data" and type_.decl is not None and type_.name not in seen:
        if type_.decl.constructors or type_.name in _KNOWN:
            inner = seen | {type_.name}
            for arg in type_.args:
                why = _why_not(machine, arg, inner)
                if why:
                    return why
            for con in type_.decl.constructors:
                for param in con.params:
                    why = _why_not(machine, T.settled(param), inner)
                    if why:
                        return why
            return ""
        return f"type {type_} has no constructors"
    return ""


_KNOWN = {t.name for t in (T.INT, T.RAT, T.FLOAT, T.BOOL, T.STRING, T.UNIT)}


def unknown_root(machine: ActorMachine, cls: Class, method: str, queue: Sequence[str] = ()) -> StartingState:
    """A method on an actor with unknown fields and arguments, other methods waiting behind it (seed 002, 4.3)."""
    state = State(machine.paths.root)
    ref, fields = machine.unknowns.actor(cls, "s0")
    state.fields[ref] = fields
    state.assumed = {ref: fields}
    entry, arguments = _unknown_call(machine, ref, machine.image.methods[cls, method], "", "entry")
    tasks, extra = [entry], []
    for number, name in enumerate(queue, 1):
        task, given = _unknown_call(machine, ref, machine.image.methods[cls, name], f"q{number}.", "queue", number)
        tasks.append(task)
        extra.append((task, given))
    state.queues[ref] = tuple(tasks)
    return StartingState(state, entry, arguments, extra)


def _unknown_call(
    machine: ActorMachine, ref: ObjectRef, code: Code, prefix: str, *key: str | int
) -> tuple[ActorTask, dict[str, Value]]:
    arguments = {name: machine.unknowns.fresh(type_, prefix + name) for name, type_ in code.params}
    return call(machine, ref, code, list(arguments.values()), *key), arguments


def call(machine: ActorMachine, ref: ObjectRef, code: Code, arguments: Sequence[Value], *key: str | int) -> ActorTask:
    env = (ref, *arguments, *[None] * (code.slots - 1 - len(arguments)))
    return ActorTask(machine.interned.key(*key), ref, code, 0, env, 0, None)


def main_root(machine: ActorMachine, program: Program) -> StartingState:
    """The main block, as the only task of an object of its own."""
    if program.main is None or machine.image.main is None:
        raise UsageError(f"{program.name} has no main block; name a method to explore: {program.name}:Class.method")
    state = State(machine.paths.root)
    ref = machine.interned.ref(machine.interned.key("main"), _MAIN, False, "main")
    state.fields[ref] = ()
    entry = call(machine, ref, machine.image.main, [], "entry")
    state.queues[ref] = (entry,)
    return StartingState(state, entry)
