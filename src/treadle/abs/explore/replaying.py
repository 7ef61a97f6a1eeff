"""Running a written-down test again: known initial objects, known arguments, tasks in the given order.

The same machine as everywhere; a step that cannot be taken, or branches, means that the test does not fit the model any
more, and says which step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from treadle.abs.explore.cases import ActorCase, encoded
from treadle.abs.explore.tree import TreeExplorer
from treadle.abs.language import syntax as S
from treadle.abs.language import types as T
from treadle.abs.language.depth import deep_recursion
from treadle.abs.language.model import Class, Data, Program
from treadle.abs.language.parser import parse_expression
from treadle.abs.language.types import AnyType, Type, substituted
from treadle.abs.machine.criteria import Bounds, CriterionReached, OrderSelection, SelfCalls
from treadle.abs.machine.machine import ActorMachine, Image
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.system import StartingState, call, main_root
from treadle.abs.machine.values import FailedFuture, ObjectRef, Value, show
from treadle.core.choice import TaskChosen
from treadle.core.errors import UsageError


@dataclass(slots=True)
class ActorEvent:
    """Something another object notices: a call, a creation."""

    kind: str  # "call", "new"
    source: str
    target: str
    text: str
    step: int
    method: str = ""  # and number of the task, for calls
    number: int = 0


@dataclass(frozen=True, slots=True)
class StuckTask:
    """A task that cannot go on, and where."""

    actor: str
    method: str
    line: int

    def __str__(self) -> str:
        return f"{self.actor}.{self.where}"

    @property
    def where(self) -> str:
        return f"{self.method} at line {self.line}"


@dataclass(slots=True)
class Replayed:
    """What happened: final fields per object, the outcome, and the events for a picture."""

    final: dict[str, dict[str, Any]]
    outcome: str
    result: Any = None
    failures: list[str] = field(default_factory=list)
    failed_at: list[str] = field(default_factory=list)
    stuck: list[StuckTask] = field(default_factory=list)
    output: str = ""
    order: list[str] = field(default_factory=list)
    events: list[ActorEvent] = field(default_factory=list)
    classes: dict[str, str] = field(default_factory=dict)
    deadlocked: bool = False
    asserted: bool = False  # is one of the failures an assertion?

    @property
    def waiting(self) -> list[str]:
        return [str(task) for task in self.stuck]

    def same_as(self, case: ActorCase) -> bool:
        return (
            self.outcome == case.outcome
            and self.result == case.result
            and self.final == {name: obj.fields for name, obj in case.final.items()}
        )


class Replay:
    """One run under way."""

    def __init__(self, machine: ActorMachine, state: State, entry: ActorTask, names: dict[ObjectRef, str]) -> None:
        self.machine = machine
        self.state = state
        self.entry = entry
        self.names = names
        self.numbers: dict[int, int] = {}
        self.events: list[ActorEvent] = []
        self.order: list[str] = []
        self._counts: dict[tuple[str, str], int] = {}
        self._step = 0
        self._made = 0
        self.explorer = TreeExplorer(machine, entry.key)
        for queue in state.queues.values():
            for task in queue:
                self._number(task)
        machine.observer = self._observe

    def _number(self, task: ActorTask) -> int:
        key = (self.names[task.this], task.code.name)
        number = self._counts[key] = self._counts.get(key, 0) + 1
        self.numbers[task.key] = number
        return number

    def _observe(self, kind: str, what: Any) -> None:
        if kind == "new":
            source, ref = what
            self._made += 1
            self.names[ref] = f"r{self._made}"
            self.events.append(ActorEvent("new", self.names[source], self.names[ref], ref.cls.name, self._step))
        elif kind == "call":
            source, task = what
            number = self._number(task)
            args = ", ".join(show(v, self.names) for v in task.env[1 : 1 + len(task.code.params)])
            method = task.code.name
            ends = self.names[source], self.names[task.this]
            self.events.append(ActorEvent("call", *ends, f"{method}({args})", self._step, method, number))

    def runnable(self) -> list[ActorTask]:
        found = self.explorer.runnable(self.state)
        later = None if found else self.explorer.at_next_delay(self.state)
        if later is not None:
            self.state = later
            return self.runnable()
        return [task for tasks in found.values() for task in tasks]

    def name(self, task: ActorTask, picks: tuple[int, ...] = ()) -> TaskChosen:
        """What a step that runs this task is called."""
        number = self.numbers.get(task.key) or self._number(task)  # nobody calls an initialisation block
        return TaskChosen(self.names[task.this], task.code.name, number, picks)

    def run(self, task: ActorTask, picks: tuple[int, ...] = ()) -> None:
        """One macro-step."""
        self.state = self.machine.step_again(self.state, task, picks)
        assert self.state.last is not None
        self.order.append(str(self.name(task, self.state.last.picks)))
        self._step += 1

    def find(self, step: TaskChosen | str) -> tuple[ActorTask, tuple[int, ...]]:
        """The task a step of an order names."""
        try:
            wanted = step if isinstance(step, TaskChosen) else TaskChosen.parse(step)
        except ValueError:
            raise UsageError(f"'{step}' is no step of an order; steps look like s0.method or r1.method#2") from None
        runnable = self.runnable()
        for task in runnable:
            if self.name(task, wanted.picks) == wanted:
                return task, wanted.picks
        can = ", ".join(str(self.name(t)) for t in runnable) or "nothing"
        raise UsageError(f"step {self._step + 1} of the order, '{step}', cannot run there; what can run: {can}")

    def report(self) -> Replayed:
        state, names = self.state, self.names
        waiting = [*state.active.values(), *(t for queue in state.queues.values() for t in queue)]
        left_over = bool(self.runnable())
        failures = state.failures()
        deadlock = not left_over and any(
            t in state.active.values() or (t.waiting is not None and t.waiting.claims) for t in waiting
        )
        outcome = "failed" if failures else "deadlock" if deadlock else "waiting" if waiting else "completed"
        result = state.futures.get(self.machine.interned.future(self.entry.key))
        if isinstance(result, FailedFuture) or result == self.machine.image.constant("Unit"):
            result = None
        return Replayed(
            {
                names[ref]: dict(zip(ref.cls.field_names(), [encoded(v, names) for v in values], strict=True))
                for ref, values in state.fields.items()
            },
            "unfinished" if left_over else outcome,
            encoded(result, names),
            [show(one.exception, names) for one in failures],
            [one.place for one in failures],
            [StuckTask(names[t.this], t.code.name, t.code.lines[t.pc]) for t in waiting],
            "".join(state.output),
            self.order,
            self.events,
            {names[ref]: ref.cls.name for ref in state.fields},
            deadlock,
            any(one.is_assertion for one in failures),
        )


def known_machine(image: Image, bounds: Bounds | None = None, self_calls: SelfCalls = "awaited") -> ActorMachine:
    """A machine for known data. A given order is an order under awaited calls whichever way it was found."""
    selection = OrderSelection(reduce="none", self_calls=self_calls)
    return ActorMachine(image, bounds or Bounds(None, None, None, 0, None), selection, None)


def replayed(machine: ActorMachine, cls: Class, method: str, case: ActorCase) -> Replayed | None:
    """A case run again on a fresh machine; None if it cannot be."""
    fresh = known_machine(machine.image)
    objects = {name: (obj.cls, obj.fields, obj.group) for name, obj in case.initial.items()}
    queue = [(item["method"], item["arguments"]) for item in case.queue]
    try:
        root, names = known_root(fresh, cls, method, case.arguments, objects, queue)
        return follow(fresh, root, names, case.order)
    except (UsageError, CriterionReached):
        return None


def follow(
    machine: ActorMachine, root: StartingState, names: dict[ObjectRef, str], order: Sequence[TaskChosen | str]
) -> Replayed:
    """Run the tasks in the given order."""
    replay = Replay(machine, root.state, root.entry, names)
    with deep_recursion():
        for step in order:
            replay.run(*replay.find(step))
        return replay.report()


def follow_main(machine: ActorMachine, program: Program, order: Sequence[TaskChosen | str]) -> Replayed:
    root = main_root(machine, program)
    return follow(machine, root, {root.entry.this: "main"}, order)


def known_root(
    machine: ActorMachine,
    cls: Class,
    method: str,
    arguments: Mapping[str, Any],
    objects: Mapping[str, tuple[str, Mapping[str, Any], str]],
    queue: Sequence[tuple[str, Mapping[str, Any]]] = (),
) -> tuple[StartingState, dict[ObjectRef, str]]:
    """A starting state with known objects; the first one is the receiver of the method."""
    if not objects:
        raise UsageError("a test needs at least one initial object, the one whose method is called")
    classes = {c.name: c for c, _ in machine.image.methods} | {c.name: c for c in machine.image.creation}
    refs: dict[str, ObjectRef] = {}
    for name, (class_name, _, _) in objects.items():
        if class_name not in classes:
            raise UsageError(f"the model has no class '{class_name}' (object {name})")
        refs[name] = machine.interned.ref(machine.interned.key("s", name), classes[class_name], True, name)
    state = State(machine.paths.root)
    for name, (_, fields, group) in objects.items():
        ref = refs[name]
        unknown = set(fields) - set(ref.cls.field_names())
        if unknown:
            raise UsageError(f"class {ref.cls.name} has no field '{min(unknown)}' (object {name})")
        state.fields[ref] = tuple(decoded(fields.get(f), t, refs) for f, t in ref.cls.fields)
        state.assumed = {**state.assumed, ref: state.fields[ref]}
        if group:
            state.groups = {**state.groups, ref: refs[group]}
        else:
            state.queues[ref] = ()
    receiver = next(iter(refs.values()))
    code = machine.image.methods[cls, method]
    values = [decoded(arguments.get(name), type_, refs) for name, type_ in code.params]
    entry = call(machine, receiver, code, values, "entry")
    tasks = [entry]
    for number, (name, given) in enumerate(queue, 1):
        waiting = machine.image.methods[cls, name]
        values = [decoded(given.get(n), t, refs) for n, t in waiting.params]
        tasks.append(call(machine, receiver, waiting, values, "queue", number))
    home = state.groups.get(receiver, receiver)
    state.queues[home] = tuple(tasks)
    return StartingState(state, entry), {ref: name for name, ref in refs.items()}


def decoded(value: Any, type_: AnyType, objects: Mapping[str, ObjectRef]) -> Value:
    """A value of a test as the machine holds it."""
    if value is None or isinstance(value, bool | int):
        return value
    if not isinstance(value, str):
        raise UsageError(f"{value!r} is no value of a test: use int, bool, None or ABS text")
    if value in objects:
        return objects[value]
    with deep_recursion():
        return _evaluated(parse_expression(value), T.settled(type_), objects)


def _evaluated(exp: S.Exp, type_: AnyType, objects: Mapping[str, ObjectRef]) -> Value:
    match exp:
        case S.Literal_(value=value):
            return value
        case S.Null():
            return None
        case S.Var(name=name) if name in objects:
            return objects[name]
        case S.Unary(op="-"):
            return -_evaluated(exp.operand, type_, objects)
        case S.Binary(op="/"):
            return Fraction(_evaluated(exp.left, type_, objects), _evaluated(exp.right, type_, objects))
        case S.Con(name="True") | S.Con(name="False"):
            return exp.name == "True"
        case S.FunctionCall(name="list", args=[inner]):
            return _evaluated(inner, type_, objects)
        case S.Con() if isinstance(type_, Type) and isinstance(type_.decl, Data):
            con = next((c for c in type_.decl.constructors if c.name == exp.name), None)
            if con is not None and len(con.params) == len(exp.args):
                meaning = dict(zip(type_.decl.type_params, type_.args, strict=True))
                args = zip(exp.args, con.params, strict=True)
                return (con, *[_evaluated(a, T.settled(substituted(p, meaning)), objects) for a, p in args])
    raise UsageError(f"a value of a test cannot be understood as {type_}: {exp.at.source.text}")


def as_objects(initial: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[str, Mapping[str, Any], str]]:
    """Objects as tests write them: {"s0": {"class": "Fact", "fields": {...}}}."""
    found: dict[str, tuple[str, Mapping[str, Any], str]] = {}
    for name, told in initial.items():
        if "class" not in told:
            raise UsageError(f"object '{name}' of the initial state has no 'class'")
        found[name] = (told["class"], told.get("fields", {}), told.get("group", ""))
    return found
