"""Summaries of Python functions: made on first need, composed at calls in place of running the function.

`Summaries` decides which calls are composed. Summaries are context-insensitive: a function is recorded on unknown
inputs of the kinds it is called with, callees first, because a call met while recording is composed in turn; what is
being recorded, and everything that calls it back, is run. So the functions of the call graph are done bottom-up, a
strongly connected component as one.

Composition itself is in `composing`; `symbolic.summary` states the invariant.
"""

from __future__ import annotations

import enum
import types
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

from treadle.symbolic import types as t
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir.machine import Environment, Frame, Raised
from treadle.symbolic.path import Alternative, BoundReached, CannotFollow, Limit, PathEnd, Restart
from treadle.symbolic.python.calls.stubs import Stubs
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.summaries.composing import Composition
from treadle.symbolic.python.summaries.recording import RecordingVM
from treadle.symbolic.python.summaries.signatures import (
    ConstantArgument,
    Signature,
    declared_types,
    is_recordable,
    kind_of,
    same_signature,
)
from treadle.symbolic.python.summaries.store import SummaryStore
from treadle.symbolic.python.summaries.table import describe
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.python.values.values import (
    BoundMethod,
    FunctionValue,
    ProgramValue,
    PyValue,
    RangeValue,
    SliceValue,
)
from treadle.symbolic.solve.solver import Solver
from treadle.symbolic.summary.recording import NotSummarised, OpenHeap, RecordingHeap, RecordingPath, changes_of
from treadle.symbolic.summary.tree import Change, Summary, SummaryLeaf, SummaryNode, held_by, insert

# A function with more paths than this is summarised in part: calls that need the rest are run.
MOST_PATHS = 150
# Kinds of arguments a function is summarised for; one that is called in more ways is run.
MOST_SIGNATURES = 4
# Fewer steps than this are run as fast as composed: 40 calls of 8 steps in a row took 0.18 s run and 0.13 s composed.
LEAST_STEPS = 8


T = TypeVar("T")


class Summaries:
    """The summaries of one exploration, and how often they were used."""

    def __init__(
        self,
        k: int,
        *,
        allow_effects: bool = False,
        stubs: Stubs | None = None,
        after: int = 0,
        store: SummaryStore | None = None,
    ) -> None:
        self.k = k
        self.allow_effects = allow_effects
        self.stubs = stubs
        # a function is summarised when it has been called this often
        self.after = after
        self.store = store
        self.computed = self.reused = self.composed = 0
        self._known: dict[int, list[tuple[Signature, Summary | None]]] = {}
        self._calls: Counter[int] = Counter()
        self._recording: list[int] = []
        # call site -> compositions that held minus those that did not
        self._luck: Counter[PyValue] = Counter()
        self._rewritten: dict[tuple[PyValue, ...], PyValue] = {}
        self._declared: dict[int, dict[str, t.Type]] = {}

    def counts(self) -> dict[str, int]:
        return {"computed": self.computed, "reused": self.reused, "composed": self.composed}

    # --- at a call ---------------------------------------------------------------------------------------

    def call(self, vm: VM, function: FunctionValue, env: Environment) -> Any:
        """The result of the call, its exception, or `NOT_ANSWERED`: run it."""
        code, key = function.code, id(function.code)
        if not vm.frames or code.is_generator or vm.walk is not None:
            return NOT_ANSWERED  # guided generation follows every step
        vm.calls += 1
        if vm.calls in vm.run_plainly or vm.assigned or key in self._recording or is_busy(vm):
            return NOT_ANSWERED
        self._calls[key] += 1
        if self._calls[key] <= self.after:
            return NOT_ANSWERED
        frame = vm.frames[-1]
        site = (id(frame.code), frame.block.number, frame.index, key)
        if self._luck[site] < -2:
            return NOT_ANSWERED
        summary = self._summary(vm, function, env)
        if summary is None or any((f.code.file, f.code.line, f.code.name) in summary.codes for f in vm.frames):
            return NOT_ANSWERED
        number = vm.calls
        self.composed += 1
        try:
            made = Composition(vm, summary, rewritten=self._rewritten).walk(env)
        except Restart:  # raised on purpose where a summary does not fit; any other error is ours, and is seen
            self._luck[site] -= 1
            self.composed -= 1
            vm.run_plainly.add(number)
            raise
        finally:
            vm._locate(frame)
        self._luck[site] = min(self._luck[site] + 1, 20)
        return made

    def _summary(self, vm: VM, function: FunctionValue, env: Environment) -> Summary | None:
        signature = self._signature(function, env)
        if signature is None:
            return None
        known = self._known.setdefault(id(function.code), [])
        for other, summary in known:
            if same_signature(other, signature):
                return summary
        if len(known) >= MOST_SIGNATURES:
            return None
        found = self.store.load(self, function, signature) if self.store is not None else None
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
        if not is_recordable(function):
            return None
        declared = self._declared.get(id(function.code))
        if declared is None:
            declared = self._declared[id(function.code)] = declared_types(function)
        found: list[tuple[str, t.Type | ConstantArgument]] = []
        unknown = False
        for parameter in function.code.parameters:
            kind = kind_of(env[parameter.name], declared.get(parameter.name))
            if kind is None:
                return None
            found.append((parameter.name, kind))
            value = env[parameter.name]
            unknown = unknown or not (isinstance(kind, ConstantArgument) or type(value) in (int, type(None)))
        return tuple(found) if unknown else None

    # --- recording ---------------------------------------------------------------------------------------

    def record(
        self, function: FunctionValue, signature: Signature, deadline: float = float("inf"), table: bool = False
    ) -> Summary | None:
        """Run the function by itself on every path; None when the time ran out.

        `table`: with aliasing decided and cases in words, to be looked at and not to be composed.
        """
        recording = _Recording(self, function, signature, deadline, table)
        self._recording.append(id(function.code))
        try:
            summary = recording.summary()
        finally:
            self._recording.pop()
        if summary is not None:
            self.computed += 1
        return summary


def is_busy(vm: VM) -> bool:
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


# --- recording one function ------------------------------------------------------------------------------


class _Recording:
    def __init__(
        self, owner: Summaries, function: FunctionValue, signature: Signature, deadline: float, table: bool
    ) -> None:
        self.owner = owner
        self.table = table
        self.function = function
        self.signature = signature
        self.deadline = deadline
        self.formals: dict[str, PyValue] = {}
        self.codes: set[tuple[str, int, str]] = set()
        self.globals_read: dict[str, str] = {}

    def summary(self) -> Summary | None:
        solver = Solver()
        root = SummaryNode()
        todo = [Alternative(())]
        done = 0
        while todo and done < MOST_PATHS:
            alternative = todo.pop()
            path = RecordingPath(solver, alternative, self.deadline)
            leaf = restarting(path, lambda plain, path=path: self._leaf(path, plain))  # type: ignore[misc]
            if leaf is None:
                return None
            insert(root, path.events, leaf)
            todo.extend(path.alternatives)
            done += 1
        name = getattr(self.function.host, "__qualname__", self.function.name)
        made = Summary(name, self.formals, root, frozenset(self.codes), whole=not todo)
        made.globals_read = self.globals_read
        made.steps = max((leaf.steps for leaf in made.leaves() if leaf.kind in ("return", "raise")), default=0)
        return made

    def _leaf(self, path: RecordingPath, run_plainly: set[int]) -> SummaryLeaf | None:
        if self.table:
            heap = RecordingHeap(path, subclasses=known_subclasses)
        else:
            heap = OpenHeap(path, subclasses=known_subclasses, held=held)
        vm = RecordingVM(path, heap, self.owner, run_plainly)
        env = Environment(self.function.outer)
        self.formals = {}
        for name, kind in self.signature:
            value = kind.value if isinstance(kind, ConstantArgument) else heap.declare(kind, name)
            self.formals[name] = env[name] = value
        leaf = SummaryLeaf("plain")
        try:
            leaf = self._ended(vm, Frame(self.function.code, env, self.function))
        except Restart:
            raise
        except BoundReached as cut:
            if cut.bound is Limit.TIME:
                return None
            leaf = SummaryLeaf("cut" if cut.bound is Limit.LOOP else "plain", place=path.place, why=cut.bound)
        except NotSummarised as opaque:
            leaf = SummaryLeaf("plain", why=opaque.why)
        except CannotFollow as unsupported:
            leaf = SummaryLeaf("plain", why=unsupported.what)
        except (PathEnd, RecursionError) as end:
            # what the most general inputs run into may never happen at a call
            leaf = SummaryLeaf("plain", why=type(end).__name__)
        leaf.lines, leaf.followed = frozenset(vm.lines), frozenset(path.followed)
        leaf.steps, leaf.depth, leaf.stubs = vm.steps, vm.deepest, tuple(vm.stub_cases)
        self.codes |= vm.codes
        self.globals_read |= vm.globals_read
        return leaf

    def _ended(self, vm: Any, frame: Frame) -> SummaryLeaf:
        try:
            kind, value = "return", vm.run(frame)
        except Raised as raised:
            kind, value = "raise", raised.value
        case = describe(self.formals, vm, kind, value) if self.table else None
        try:
            changes = self._kept(vm, value)
            return SummaryLeaf(kind, value, changes, self._given_away(vm.heap), case=case)
        except NotSummarised as opaque:
            return SummaryLeaf("plain", why=opaque.why, case=case)

    def _kept(self, vm: Any, value: Any) -> tuple[Change, ...]:
        """What the path has done to its inputs, if that and its result can be made again elsewhere."""
        if vm.assigned or vm.touched or vm.lifted or vm.changed_hosts:
            raise NotSummarised("state of the module")
        if vm.held_locks:
            raise NotSummarised("a lock")
        if vm.gave_objects:
            raise NotSummarised("a cache")
        if vm.checks != type(vm.checks)():
            raise NotSummarised("a contract")
        if vm.path.sampled or vm.path.fragile or vm.path.gave_up:
            raise NotSummarised("values that were picked")
        changes = changes_of(vm.heap)
        holdable(value, set())
        for change in changes:
            for held in held_by(change):
                holdable(held, set())
        return changes

    def _given_away(self, heap: RecordingHeap) -> tuple[Obj, ...]:
        found = tuple(heap.given_away.values()) if isinstance(heap, OpenHeap) else ()
        for own in found:
            holdable(own, set())
        return found


_PLAIN = (int, float, str, bytes, bool, type(None), Fraction, type, types.FunctionType, types.ModuleType, enum.Enum)


def holdable(value: PyValue, seen: set[int]) -> None:
    """Only what can be made again in another heap."""
    if isinstance(value, (Expr, UnknownRef, *_PLAIN)) or value is NotImplemented or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, tuple):
        parts = list(value)
    elif isinstance(value, BoundMethod | RangeValue | SliceValue):
        parts = list(value.parts())
    elif isinstance(value, Obj) and value.is_input:
        parts = []
    elif isinstance(value, InstanceObj) and value.host is None:
        # a payload that is a real exception is never changed
        parts = [*value.fields.values(), *([] if isinstance(value.payload, BaseException) else [value.payload])]
    elif isinstance(value, ListObj) and value.host is None and value.items is not None:
        parts = value.items
    elif isinstance(value, DictObj) and value.host is None and not value.open:
        parts = [part for entry in value.entries for part in entry]
    elif isinstance(value, types.BuiltinFunctionType):
        parts = []
    else:
        raise NotSummarised(f"a value that is made by the function: {_kind_name(value)}")
    for part in parts:
        holdable(part, seen)


def _kind_name(value: PyValue) -> str:
    return type(value.shown() if isinstance(value, ProgramValue) else value).__name__.lower()


def held(value: PyValue) -> tuple[PyValue, list[Obj]]:
    """A value that is put into an input: objects of the function itself are emptied, and given beside it."""
    if isinstance(value, tuple):
        parts = [held(v) for v in value]
        return tuple(kept for kept, _ in parts), [own for _, owns in parts for own in owns]
    if not isinstance(value, Obj) or value.is_input:
        if isinstance(value, BoundMethod | RangeValue | SliceValue) or not isinstance(
            value, (Expr, UnknownRef, Obj, *_PLAIN)
        ):
            raise NotSummarised(f"a {_kind_name(value)} is put into an object that was given")
        return value, []
    if value.host is not None:
        raise NotSummarised("an object of the module is put into one that was given")
    made: Obj
    if isinstance(value, InstanceObj):
        made = InstanceObj(value.number, value.classes)
    elif isinstance(value, ListObj):
        made = ListObj(value.number, [])
    elif isinstance(value, DictObj):
        made = DictObj(value.number, [])
        made.keys_only, made.frozen, made.ordered = value.keys_only, value.frozen, value.ordered
    else:
        raise NotSummarised("a function is put into an object that was given")
    return made, [value]
