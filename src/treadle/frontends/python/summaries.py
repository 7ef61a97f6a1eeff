"""Summaries of Python functions: made on first need, composed at calls in place of running the function.

`Summaries` decides which calls are composed. Summaries are context-insensitive: a function is recorded on unknown
inputs of the kinds it is called with, callees first, because a call met while recording is composed in turn; what is
being recorded, and everything that calls it back, is run. So the functions of the call graph are done bottom-up, a
strongly connected component as one.

`Composition` walks a summary with actual arguments: conditions are rewritten in terms of them and decided on the
caller's path, fields and elements are read from the actual objects, and references are looked at in the caller's
heap, which is where the compatibility of the two heaps is checked. Nothing is changed before the leaf is reached.
Whatever does not fit (an int parameter that got a float, a leaf that must be seen in context, ...) raises `Restart`:
the path is walked again with this call run as usual. See `symbolic.summary` for the invariant that makes this sound.
"""

from __future__ import annotations

import enum
import inspect
import sys
import types
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from treadle.frontends.python import attributes, concrete, hints, infer, sequences
from treadle.frontends.python.fields import field_names
from treadle.frontends.python.heirs import known_subclasses
from treadle.frontends.python.values import Bound, FunctionValue, Range, Slice
from treadle.symbolic import expr as x
from treadle.symbolic import ir
from treadle.symbolic import types as t
from treadle.symbolic.expr import Expr
from treadle.symbolic.heap import DictObj, InstanceObj, LazyHeap, ListObj, Obj, Ref
from treadle.symbolic.machine import DEPTH, STEPS, Environment, Frame, Raised
from treadle.symbolic.meaning import substitute
from treadle.symbolic.path import Alternative, Cut, Impossible, Restart, Unsupported
from treadle.symbolic.show import show
from treadle.symbolic.solver import Solver
from treadle.symbolic.summary import (
    Case,
    Decide,
    Force,
    IsNone,
    Leaf,
    Node,
    Opaque,
    ReadField,
    ReadItem,
    RecordingHeap,
    RecordingPath,
    SetEnds,
    SetField,
    SetItems,
    Split,
    Summary,
    changes_of,
    insert,
)

if TYPE_CHECKING:
    from treadle.frontends.python.vm import VM

NOT_COMPOSED: Any = object()
# A function with more paths than this is summarised in part: calls that need the rest are run.
MOST_PATHS = 150
# Kinds of arguments a function is summarised for; one that is called in more ways is run.
MOST_SIGNATURES = 4
# Fewer steps than this are run faster than composed (measured: benchmarks/unit_summaries.py).
LEAST_STEPS = 12

_SORTS = {x.INT: t.INT, x.BOOL: t.BOOL, x.REAL: t.FLOAT, x.STR: t.STR}

T = TypeVar("T")


@dataclass(slots=True)
class Constant:
    """A parameter whose value is part of the signature: a class, a function, a flag."""

    value: Any


Signature = tuple[tuple[str, t.Type | Constant], ...]


class Summaries:
    """The summaries of one exploration, and how often they were used."""

    def __init__(self, k: int, *, allow_effects: bool = False, after: int = 0, store: Any = None) -> None:
        self.k = k
        self.allow_effects = allow_effects
        # a function is summarised when it has been called this often
        self.after = after
        self.store = store
        self.computed = self.reused = self.composed = self.restarted = 0
        self._known: dict[int, list[tuple[Signature, Summary | None]]] = {}
        self._calls: Counter[int] = Counter()
        self._recording: list[int] = []
        # call site -> compositions that held minus those that did not
        self._luck: Counter[Any] = Counter()
        self._declared: dict[int, dict[str, t.Type]] = {}

    # --- at a call ---------------------------------------------------------------------------------------

    def call(self, vm: VM, function: FunctionValue, env: Environment) -> Any:
        """The result of the call, its exception, or `NOT_COMPOSED`: run it."""
        code, key = function.code, id(function.code)
        if not vm.frames or code.is_generator or type(vm.heap) not in (LazyHeap, RecordingHeap):
            return NOT_COMPOSED
        vm.calls += 1
        if vm.calls in vm.run_plainly or vm.assigned or key in self._recording or _busy(vm):
            return NOT_COMPOSED
        self._calls[key] += 1
        if self._calls[key] <= self.after:
            return NOT_COMPOSED
        frame = vm.frames[-1]
        site = (id(frame.code), frame.block.number, frame.index, key)
        if self._luck[site] < -2:
            return NOT_COMPOSED
        summary = self._summary(vm, function, env)
        if summary is None or any(id(f.code) in summary.codes for f in vm.frames):
            return NOT_COMPOSED
        try:
            made = Composition(vm, summary).walk(env)
        except Restart:
            self._luck[site] -= 1
            self.restarted += 1
            vm.run_plainly.add(vm.calls)
            raise
        finally:
            vm._locate(frame)
        self._luck[site] = min(self._luck[site] + 1, 20)
        self.composed += 1
        return made

    def _summary(self, vm: VM, function: FunctionValue, env: Environment) -> Summary | None:
        signature = self._signature(function, env)
        if signature is None:
            return None
        known = self._known.setdefault(id(function.code), [])
        for other, summary in known:
            if _same_signature(other, signature):
                return summary
        if len(known) >= MOST_SIGNATURES:
            return None
        found: Summary | None = self.store.load(self, function, signature) if self.store is not None else None
        if found is not None:
            self.reused += 1
        else:
            found = self.record(function, signature, vm.path.deadline)
            if self.store is not None and found is not None:
                self.store.save(self, function, signature, found)
        if found is not None and (found.steps < LEAST_STEPS or all(leaf.kind == "plain" for leaf in found.leaves())):
            found = None
        known.append((signature, found))
        return found

    # --- the kinds of the arguments ----------------------------------------------------------------------

    def _signature(self, function: FunctionValue, env: Environment) -> Signature | None:
        """What the function is called with, as generally as it can be summarised; None: it cannot."""
        if function.host is None or (function.outer is not None and set(function.outer) - {"__class__"}):
            return None
        declared = self._declared.get(id(function.code))
        if declared is None:
            declared = self._declared[id(function.code)] = declared_types(function)
        found: list[tuple[str, t.Type | Constant]] = []
        unknown = False
        for parameter in function.code.parameters:
            kind = kind_of(env[parameter.name], declared.get(parameter.name))
            if kind is None:
                return None
            found.append((parameter.name, kind))
            value = env[parameter.name]
            unknown = unknown or not (isinstance(kind, Constant) or type(value) in (int, type(None)))
        return tuple(found) if unknown else None

    # --- recording ---------------------------------------------------------------------------------------

    def record(self, function: FunctionValue, signature: Signature, deadline: float = float("inf")) -> Summary | None:
        """Run the function by itself on every path; None when the time ran out."""
        recording = _Recording(self, function, signature, deadline)
        self._recording.append(id(function.code))
        try:
            summary = recording.summary()
        finally:
            self._recording.pop()
        if summary is not None:
            self.computed += 1
        return summary


def _busy(vm: VM) -> bool:
    """Contracts are being checked, which must happen step by step."""
    checks = vm.checks
    return bool(checks.in_progress or checks.in_invariant or checks.deal_off or checks.pending or checks.target)


def restarting(path: Any, run: Callable[[set[int]], T]) -> T:
    """Run a path; when a composition did not fit, again with that call run as usual."""
    run_plainly: set[int] = set()
    while True:
        try:
            return run(run_plainly)
        except Restart:
            path.rewind()


def declared_types(function: FunctionValue) -> dict[str, t.Type]:
    """Types of parameters from hints and use, every reference nullable: the most general inputs."""
    found: dict[str, t.Type] = {}
    resolved = hints.resolved_hints(function.host)
    for parameter in inspect.signature(function.host).parameters:
        kind = hints.from_hint(resolved[parameter]) if parameter in resolved else None
        if kind is None:
            kind = infer.infer_parameter(function.host, parameter)
        if kind is not None:
            found[parameter] = hints.parameter_type(kind, True)
    return found


def owner_of(function: Any) -> type | None:
    """The class in whose body a function was defined."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split(".")[:-1]:
        found = getattr(found, name, None)
    return found if isinstance(found, type) else None


def kind_of(value: Any, declared: t.Type | None) -> t.Type | Constant | None:
    """The formal parameter for an actual argument; None when there is none."""
    while isinstance(value, Ref) and value.resolved:
        value = value.value
    if isinstance(value, Expr):
        return _SORTS.get(value.sort)
    if type(value) is int:
        return t.INT
    options = t.options(declared) if declared is not None else ()
    if isinstance(value, Ref):
        fits = set(value.options) <= set(options)
        return declared if fits and declared is not None else t.union(*value.options, t.NONE)
    if value is None:
        return declared if t.NONE in options else Constant(None)
    if isinstance(value, InstanceObj):
        return _instance_kind(value, declared, options)
    if isinstance(value, ListObj):
        if any(isinstance(o, t.ListOf) for o in options):
            return declared
        return t.nullable(t.ListOf(value.element)) if value.element is not None else None
    if isinstance(value, tuple):
        return _tuple_kind(value)
    if isinstance(value, type | types.FunctionType | types.ModuleType | enum.Enum | bool | str | float):
        return Constant(value)
    return None


def _instance_kind(value: InstanceObj, declared: t.Type | None, options: tuple[t.Type, ...]) -> t.Type | None:
    if value.payload is not None or not concrete.is_plain_object(value.cls):
        return None
    if any(isinstance(o, t.Instance) and set(value.classes) <= set(known_subclasses(o.cls)) for o in options):
        return declared
    common = next((c for c in value.cls.__mro__ if set(value.classes) <= set(known_subclasses(c))), None)
    return t.nullable(t.Instance(common)) if common is not None and common is not object else None


def _tuple_kind(value: tuple[Any, ...]) -> t.Type | None:
    found: list[t.Type] = []
    for element in value:
        kind = kind_of(element, None)
        if kind is None or isinstance(kind, Constant):
            return None
        found.append(kind)
    return t.TupleOf(tuple(found))


def _same_signature(a: Signature, b: Signature) -> bool:
    for (_, left), (_, right) in zip(a, b, strict=True):
        if isinstance(left, Constant) and isinstance(right, Constant):
            same = left.value is right.value or (type(left.value) is type(right.value) and left.value == right.value)
        else:
            same = left == right
        if not same:
            return False
    return True


# --- recording one function ------------------------------------------------------------------------------


class _Recording:
    def __init__(self, owner: Summaries, function: FunctionValue, signature: Signature, deadline: float) -> None:
        self.owner = owner
        self.function = function
        self.signature = signature
        self.deadline = deadline
        self.formals: dict[str, Any] = {}
        self.codes: dict[int, ir.Function] = {}

    def summary(self) -> Summary | None:
        solver = Solver()
        root = Node()
        todo = [Alternative((), None)]
        done = 0
        while todo and done < MOST_PATHS:
            alternative = todo.pop()
            path = RecordingPath(solver, alternative.trail, alternative.model, self.deadline)
            leaf = restarting(path, lambda plain, path=path: self._leaf(path, plain))  # type: ignore[misc]
            if leaf is None:
                return None
            insert(root, path.events, leaf)
            todo.extend(path.alternatives)
            done += 1
        name = getattr(self.function.host, "__qualname__", self.function.name)
        made = Summary(name, self.formals, root, self.codes, whole=not todo)
        made.steps = min((leaf.steps for leaf in made.leaves() if leaf.kind in ("return", "raise")), default=0)
        return made

    def _leaf(self, path: RecordingPath, run_plainly: set[int]) -> Leaf | None:
        from treadle.frontends.python.recording import RecordingVM

        heap = RecordingHeap(path, subclasses=known_subclasses)
        vm = RecordingVM(path, heap, self.owner, run_plainly)
        env = Environment(self.function.outer)
        self.formals = {}
        for name, kind in self.signature:
            value = kind.value if isinstance(kind, Constant) else heap.declare(kind, name)
            self.formals[name] = env[name] = value
        leaf = Leaf("plain")
        try:
            leaf = self._ended(vm, Frame(self.function.code, env, self.function))
        except Restart:
            raise
        except Cut as cut:
            if cut.kind == "time":
                return None
            leaf = Leaf("cut" if cut.kind == "loop" else "plain", place=path.place, why=cut.kind)
        except Opaque as opaque:
            leaf = Leaf("plain", why=opaque.why)
        except (Unsupported, Impossible, RecursionError) as error:
            leaf = Leaf("plain", why=str(error))
        leaf.lines, leaf.followed = frozenset(vm.lines), frozenset(path.followed)
        leaf.steps, leaf.depth = vm.steps, vm.deepest
        self.codes |= vm.codes
        return leaf

    def _ended(self, vm: Any, frame: Frame) -> Leaf:
        try:
            kind, value = "return", vm.run(frame)
        except Raised as raised:
            kind, value = "raise", raised.value
        if vm.assigned or vm.touched or vm.lifted or vm.changed_hosts:
            raise Opaque("state of the module")
        if vm.checks != type(vm.checks)():
            raise Opaque("a contract")
        if vm.path.sampled or vm.path.fragile or vm.path.gave_up:
            raise Opaque("values that were picked")
        changes = changes_of(vm.heap, attributes._MISSING)
        holdable(value, set())
        for change in changes:
            for held in _held(change):
                holdable(held, set())
        return Leaf(kind, value, changes, case=describe(self.formals, vm, kind, value))


def _held(change: Any) -> list[Any]:
    if isinstance(change, SetField):
        return [change.value]
    if isinstance(change, SetItems):
        return list(change.items)
    return [*(v for _, v in change.writes), *change.head, *change.tail]


_PLAIN = (int, float, str, bytes, bool, type(None), Fraction, type, types.FunctionType, types.ModuleType, enum.Enum)


def holdable(value: Any, seen: set[int]) -> None:
    """Only what can be made again in another heap."""
    if isinstance(value, (Expr, Ref, *_PLAIN)) or value is NotImplemented or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, tuple):
        parts = list(value)
    elif isinstance(value, Bound):
        parts = [value.function, value.self]
    elif isinstance(value, Range | Slice):
        parts = [value.start, value.stop, value.step]
    elif isinstance(value, Obj) and value.is_input:
        parts = []
    elif isinstance(value, InstanceObj) and value.host is None and not isinstance(value.payload, BaseException):
        parts = [*value.fields.values(), value.payload]
    elif isinstance(value, ListObj) and value.host is None and value.items is not None:
        parts = value.items
    elif isinstance(value, DictObj) and value.host is None and not value.open:
        parts = [part for entry in value.entries for part in entry]
    elif isinstance(value, types.BuiltinFunctionType):
        parts = []
    else:
        raise Opaque(f"a {type(value).__name__.lower()} leaves the function")
    for part in parts:
        holdable(part, seen)


# --- composing -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Composition:
    """One walk through a summary with actual arguments."""

    vm: VM
    summary: Summary
    values: dict[Expr, Any] = field(default_factory=dict)
    refs: dict[str, Any] = field(default_factory=dict)
    objects: dict[str, Obj] = field(default_factory=dict)
    # actual object -> the input of the summary that it is
    names: dict[int, str] = field(default_factory=dict)
    # how many inputs of the summary one undecided reference of the caller is
    shared: Counter[int] = field(default_factory=Counter)
    # all lists met are of known length, or all are untouched inputs of unknown length
    open_lists: bool | None = None
    # some question of the summary needed no decision here: loops may run on where the summary was cut
    folded: bool = False

    def walk(self, env: Environment) -> Any:
        for name, formal in self.summary.formals.items():
            self._bind(formal, env[name])
        vm, path, values = self.vm, self.vm.path, self.values
        node = self.summary.root
        while node.leaf is None:
            event = node.event
            outcome: Any = None
            if type(event) is Decide:
                condition = substitute(event.condition, values)
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
                self._bind(event.made, self._field(self.objects[event.obj], event.name))
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

    # --- inputs of the summary, bound to what they are here ------------------------------------------------

    def _bind(self, formal: Any, actual: Any) -> None:
        if isinstance(formal, Expr):
            while isinstance(actual, Ref) and actual.resolved:
                actual = actual.value
            if not _fits(formal.sort, actual):
                raise Restart
            self.values[formal] = actual
        elif isinstance(formal, Ref):
            while isinstance(actual, Ref) and actual.resolved:
                actual = actual.value
            if isinstance(actual, Ref):
                if not set(actual.options) <= set(formal.options):
                    raise Restart
                self.shared[id(actual)] += 1
            self.refs[formal.name] = actual
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

    def _bind_instance(self, formal: InstanceObj, actual: Any) -> None:
        if not isinstance(actual, InstanceObj) or actual.payload is not None:
            raise Restart
        held = set(actual.fields) | set(getattr(actual.host, "__dict__", ()))
        if not set(actual.classes) <= set(known_subclasses(formal.cls)) or not held <= set(field_names(actual.cls)):
            raise Restart
        self._name(formal, actual)

    def _bind_list(self, formal: ListObj, actual: Any) -> None:
        if not isinstance(actual, ListObj):
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
        self._name(formal, actual)

    def _name(self, formal: Obj, actual: Obj) -> None:
        self.objects[formal.name] = actual
        self.names[id(actual)] = formal.name

    # --- events ------------------------------------------------------------------------------------------

    def _compare(self, counted: bool, before: int) -> None:
        """A decision that running the function by itself did not need could bound a loop that was not bounded."""
        here = self.vm.path.decisions > before
        if here and not counted:
            raise Restart
        self.folded = self.folded or counted is not here

    def _field(self, obj: Obj, name: str) -> Any:
        assert isinstance(obj, InstanceObj)
        if name in obj.fields:
            return obj.fields[name]
        before = self.vm.path.decisions
        try:
            value = attributes.get(self.vm, obj, name)
        except Raised:
            raise Restart from None
        self._compare(False, before)
        return value

    def _item(self, obj: Obj, index: int) -> Any:
        assert isinstance(obj, ListObj)
        if obj.items is not None:
            if index >= len(obj.items):
                raise Restart
            return obj.items[index]
        before = self.vm.path.decisions
        value = sequences._source(self.vm, obj, index)
        self._compare(False, before)
        return value

    def _unshared(self, ref: str) -> Any:
        """An undecided reference that stands for two inputs is equal to itself without a decision."""
        value = self.refs[ref]
        if isinstance(value, Ref) and not value.resolved and self.shared[id(value)] > 1:
            raise Restart
        return value

    def _force(self, event: Force) -> Any:
        before = self.vm.path.decisions
        value = self.vm.force(self._unshared(event.ref))
        self._compare(event.counted, before)
        if value is None:
            return "none"
        if isinstance(value, Obj) and id(value) in self.names:
            return ("is", self.names[id(value)])
        for position, formal in enumerate(event.made):
            if _same_kind(formal, value):
                self._bind(formal, value)
                return ("new", position)
        raise Restart

    def _split(self, event: Split) -> int:
        obj = self.objects[event.obj]
        assert isinstance(obj, InstanceObj)
        left = [(n, tuple(c for c in group if c in obj.classes)) for n, group in enumerate(event.groups)]
        possible = [(n, group) for n, group in left if group]
        if sum(len(group) for _, group in possible) != len(obj.classes):
            raise Restart
        if len(possible) == 1:
            self.folded = True
            return possible[0][0]
        return possible[self.vm.heap.split(obj, [group for _, group in possible])][0]

    # --- the end -----------------------------------------------------------------------------------------

    def _end(self, leaf: Leaf) -> Any:
        vm = self.vm
        if leaf.kind == "cut" and not self.folded:
            self._passed(leaf)
            vm.path.place = leaf.place
            raise Cut("loop", leaf.place)
        if leaf.kind not in ("return", "raise") or len(vm.frames) + leaf.depth >= DEPTH:
            raise Restart
        if vm.steps + leaf.steps > STEPS:
            raise Restart
        made: dict[int, Any] = {}
        value = self._value(leaf.value, made)
        ready = [(change, [self._value(v, made) for v in _held(change)]) for change in leaf.changes]
        for change, held in ready:
            self._apply(change, held)
        self._passed(leaf)
        if leaf.kind == "raise":
            raise Raised(value)
        return value

    def _passed(self, leaf: Leaf) -> None:
        """Book the lines and the work of the function as if it had been run."""
        self.vm.steps += leaf.steps
        self.vm.lines |= leaf.lines
        self.vm.path.followed |= leaf.followed
        self.vm.composed(self.summary, leaf)

    def _value(self, value: Any, made: dict[int, Any]) -> Any:
        """A value of the summary in the caller's terms; objects that the function made are made here."""
        if isinstance(value, Expr):
            return substitute(value, self.values)
        if isinstance(value, Ref):
            if value.name in self.refs:
                return self.refs[value.name]
            raise Restart
        if isinstance(value, tuple):
            return tuple(self._value(v, made) for v in value)
        if isinstance(value, Bound):
            return Bound(self._value(value.function, made), self._value(value.self, made))
        if isinstance(value, Range):
            return Range(self._value(value.start, made), self._value(value.stop, made), value.step)
        if isinstance(value, Slice):
            return Slice(*(self._value(v, made) for v in (value.start, value.stop, value.step)))
        if not isinstance(value, Obj):
            return value
        if value.is_input:
            return self.objects[value.name]
        if id(value) not in made:
            self._make(value, made)
        return made[id(value)]

    def _make(self, value: Obj, made: dict[int, Any]) -> None:
        number = self.vm.heap.number()
        if isinstance(value, ListObj):
            copy = made[id(value)] = ListObj(number, [])
            copy.items = [self._value(v, made) for v in value.items or ()]
        elif isinstance(value, DictObj):
            entries: list[list[Any]] = []
            mapping = made[id(value)] = DictObj(number, entries)
            mapping.keys_only, mapping.frozen = value.keys_only, value.frozen
            entries.extend([self._value(k, made), self._value(v, made)] for k, v in value.entries)
        else:
            assert isinstance(value, InstanceObj)
            instance = made[id(value)] = InstanceObj(number, value.classes)
            instance.payload = self._value(value.payload, made)
            instance.initial.update(dict.fromkeys(value.initial, attributes._MISSING))
            instance.fields.update({name: self._value(v, made) for name, v in value.fields.items()})

    def _apply(self, change: Any, held: list[Any]) -> None:
        vm, obj = self.vm, self.objects[change.obj]
        if isinstance(change, SetField):
            assert isinstance(obj, InstanceObj)
            attributes.plain_set(vm, obj, change.name, held[0])
            return
        assert isinstance(obj, ListObj)
        if isinstance(change, SetItems):
            if change.changed:
                sequences.changed(vm, obj)
                obj.items = held
            elif obj.items is None:
                obj.items = held
            return
        assert isinstance(change, SetEnds)
        sequences.changed(vm, obj)
        for (index, _), value in zip(change.writes, held, strict=False):
            sequences._write(vm, obj, index, value)
        rest = held[len(change.writes) :]
        head, tail = rest[: len(change.head)], rest[len(change.head) :]
        if obj.items is not None:
            obj.items[:] = [*head, *obj.items, *tail]
        else:
            obj.head[:0] = head
            obj.tail.extend(tail)


def _fits(sort: x.Sort, actual: Any) -> bool:
    """Whether a value can stand for an unknown of the sort, with all that follows being the same."""
    if isinstance(actual, Expr):
        return actual.sort is sort
    if sort is x.INT:
        return type(actual) is int
    if sort is x.BOOL:
        return type(actual) is bool
    # floats that are known are rounded, unknown ones are not; classes of characters are known over ASCII
    return sort is x.STR and type(actual) is str and actual.isascii()


def _same_kind(formal: Any, actual: Any) -> bool:
    if isinstance(formal, Expr):
        return _fits(formal.sort, actual)
    if isinstance(formal, InstanceObj) and isinstance(actual, InstanceObj):
        return set(actual.classes) <= set(known_subclasses(formal.cls))
    if isinstance(formal, tuple):
        return isinstance(actual, tuple) and len(actual) == len(formal)
    return type(formal) is type(actual)


# --- tables ----------------------------------------------------------------------------------------------


def describe(formals: dict[str, Any], vm: Any, kind: str, value: Any) -> Case:
    """The case of a finished path, in the columns of the paper."""
    told = _Telling()
    arguments = tuple(f"{name}={told.text(v)}" for name, v in formals.items())
    before = tuple(told.before(o) for o in vm.heap.inputs)
    result = told.text(value) if kind == "return" else ""
    exception = told.exception(value) if kind == "raise" else ""
    after = tuple(told.after(o) for o in vm.heap.inputs)
    made = tuple(told.made_objects())
    story = dict.fromkeys(part if isinstance(part, str) else show(part) for part in vm.path.story)
    return Case(arguments, result, before, (*after, *made), exception, tuple(story))


class _Telling:
    """Objects by name in a table: inputs by where they came from, new ones numbered."""

    def __init__(self) -> None:
        self.new: dict[int, Obj] = {}

    def text(self, value: Any) -> str:
        while isinstance(value, Ref) and value.resolved:
            value = value.value
        if isinstance(value, Expr):
            return show(value)
        if isinstance(value, Ref):
            return "_"  # never looked at
        if isinstance(value, Obj):
            if value.is_input:
                return value.name
            self.new.setdefault(id(value), value)
            return f"new{list(self.new).index(id(value)) + 1}"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))})"
        if isinstance(value, type | types.FunctionType):
            return value.__qualname__
        return repr(float(value)) if isinstance(value, Fraction) else repr(value)

    def exception(self, value: Any) -> str:
        args = value.fields.get("args", ()) if isinstance(value, InstanceObj) else ()
        cls = value.cls if isinstance(value, InstanceObj) else type(value)
        return f"{cls.__name__}({', '.join(self.text(a) for a in args)})"

    def before(self, obj: Obj) -> str:
        if isinstance(obj, InstanceObj):
            known = {n: v for n, v in obj.initial.items() if v is not attributes._MISSING}
            return f"{obj.name} -> {obj.cls.__name__}({self._pairs(known)})"
        if isinstance(obj, ListObj):
            items = ", ".join(f"{show(i) if isinstance(i, Expr) else i}: {self.text(v)}" for i, v in obj.reads)
            return f"{obj.name} -> list({items})"
        return f"{obj.name} -> {type(obj).__name__.removesuffix('Obj').lower()}"

    def after(self, obj: Obj) -> str:
        if isinstance(obj, InstanceObj):
            return f"{obj.name or self.text(obj)} -> {obj.cls.__name__}({self._pairs(obj.fields)})"
        if isinstance(obj, ListObj) and obj.items is not None:
            return f"{obj.name or self.text(obj)} -> [{', '.join(map(self.text, obj.items))}]"
        if isinstance(obj, ListObj) and (obj.writes or obj.head or obj.tail):
            written = ", ".join(f"{show(i) if isinstance(i, Expr) else i}: {self.text(v)}" for i, v in obj.writes)
            ends = [", ".join(map(self.text, part)) for part in (obj.head, obj.tail)]
            return f"{obj.name} -> [{ends[0]}] + list({written}) + [{ends[1]}]"
        if isinstance(obj, DictObj) and not obj.open:
            entries = (self.text(k) if obj.keys_only else f"{self.text(k)}: {self.text(v)}" for k, v in obj.entries)
            return f"{obj.name or self.text(obj)} -> {{{', '.join(entries)}}}"
        return self.before(obj)

    def made_objects(self) -> list[str]:
        done: list[str] = []
        while len(done) < len(self.new):
            done.append(self.after(list(self.new.values())[len(done)]))
        return done

    def _pairs(self, fields: dict[str, Any]) -> str:
        return ", ".join(f"{name}={self.text(value)}" for name, value in fields.items() if name != "args")


__all__ = ["NOT_COMPOSED", "Composition", "Constant", "Summaries", "restarting"]
