"""From a finished path to a test case: values for its unknowns, the objects before the call and after it.

Everything is read off the path's heap under one canonical model: what input objects held at the start, what they
hold now, what was returned or raised. What the path never looked at gets a plain default.
"""

from __future__ import annotations

import collections
import enum
import math
import time
import types
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import evaluate
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import Const, Expr, Value
from treadle.symbolic.expr.text import changing
from treadle.symbolic.heap.aliasings import Aliasing, AliasingNumbers, aliasings
from treadle.symbolic.heap.objects import MISSING, DictObj, FunctionObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.path import Impossible, Limit, SymbolicPath, named, unforced
from treadle.symbolic.python.calls.locks import LOCK, LOCKS
from treadle.symbolic.python.calls.models_patterns import PatternMatch
from treadle.symbolic.python.calls.world import UnknownWorld
from treadle.symbolic.python.types.fields import field_type
from treadle.symbolic.python.values.kinds import is_string
from treadle.symbolic.python.values.list_methods import NotInList
from treadle.symbolic.python.values.values import (
    BoundMethod,
    BuiltinMethod,
    DictView,
    FunctionValue,
    GeneratorValue,
    IteratorValue,
    ProgramValue,
    RangeValue,
    SliceValue,
)
from treadle.symbolic.solve.label import label
from treadle.symbolic.solve.solver import Solver
from treadle.symbolic.testcase import Built, CallOutcome, CaseObject, Opaque, Patched, SymbolicResult, TestCase
from treadle.units.target import UnitTarget

if TYPE_CHECKING:
    from treadle.units.explore import FinishedPath


@dataclass(slots=True)
class Cases:
    """What one path gives: its test cases, how many could not be made, and where a limit ended them."""

    found: list[TestCase] = field(default_factory=list)
    unlabelled: int = 0
    # the first aliasing that is left for later, and the limit, as in `Exploration.cut`
    rest: AliasingNumbers | None = None
    limit: Limit = Limit.PATHS


def cases_of(
    target: UnitTarget,
    run: FinishedPath,
    path: SymbolicPath,
    solver: Solver,
    words: tuple[str, ...],
    most: int,
    start: AliasingNumbers = (),
) -> Cases:
    """The test cases of a finished path, one for each aliasing that it leaves open; `solver` tells which those are.

    With `start`, only those from that aliasing on.
    """
    cases = Cases()
    for aliasing in aliasings(run.vm.heap, path, solver, start):
        if len(cases.found) >= most or time.monotonic() > path.deadline:
            cases.rest, cases.limit = aliasing.numbers, Limit.PATHS if len(cases.found) >= most else Limit.TIME
            break
        case = Concrete(target, run, aliasing, solver.domain, words).case()
        if case is None:
            cases.unlabelled += 1
        else:
            cases.found.append(case)
    if not (cases.found or cases.unlabelled or cases.rest is not None):
        raise Impossible
    return cases


class _NoValue(Exception):
    """A value that no test can write down."""


class Concrete:
    """One aliasing of a path made concrete."""

    def __init__(
        self, target: UnitTarget, run: FinishedPath, aliasing: Aliasing, domain: tuple[int, int], words: tuple[str, ...]
    ) -> None:
        self.target = target
        self.run = run
        self.aliasing = aliasing
        self.path = aliasing.path
        self.domain = domain
        self.words = words
        self.model: dict[Expr, Const] = {}
        self._before: dict[int, CaseObject] = {}
        self._after: dict[int, CaseObject] = {}
        self._defaults = 0
        # what was given to references, elements and entries that the path never looked at
        self._given: dict[str, Any] = {}
        self._elements: dict[int, dict[int, Any]] = {}
        self._entries: dict[int, list[tuple[Any, Any]]] = {}
        self.has_floats = False

    def case(self, model: dict[Expr, Const] | None = None) -> TestCase | None:
        """With these values, or with those of the canonical model."""
        model = model or self._canonical()
        if model is None:
            return None
        self.model = model
        try:
            arguments = {name: self.before(value) for name, value in self.run.arguments.items()}
            world = self._world()
            outcome = self._outcome()
            after = self._final()
        except _NoValue:
            return None
        case = TestCase(
            self.target.text,
            arguments,
            outcome,
            after,
            self._conditions(),
            unforced(self.path.choices),
            tuple(self.path.order),
            bool(self.path.sampled),
            self._touches(),
            self._lines(),
            tuple(self.run.vm.line_trace),
            self.has_floats,
            self.path.fragile,
            self._symbolic(),
            aliasing=self.aliasing.numbers,
            world=world,
            trail=(*named(self.path), *self.aliasing.chosen),
            made=tuple(self.path.choices),
        )
        self.run.annotate(case, self)
        return case

    def _canonical(self) -> dict[Expr, Const] | None:
        hint = dict(self.path.model) if self.path.model is not None else None
        return label(
            self.aliasing.conditions,
            self.aliasing.unknowns,
            domain=self.domain,
            words=self.words,
            hint=hint,
            wishes=self._wishes(),
        )

    def _world(self) -> dict[str, Patched]:
        """What stands for the clock, chance and the environment on this path."""
        world = self.run.vm.world
        used = world.used if isinstance(world, UnknownWorld) else {}
        environment = next((given for given, _ in used.values() if isinstance(given, DictObj)), None)
        if environment is not None and not all(is_string(part) for pair in environment.entries for part in pair):
            raise _NoValue  # the real one would refuse what the code puts there
        return {name: Patched(self.before(given), tuple(places)) for name, (given, places) in used.items()}

    def _wishes(self) -> list[Any]:
        """A field that is written should change, and so should a text that is stripped: else the test sees nothing."""
        wishes: list[Any] = []
        shown = self.aliasing.shown
        for obj in self.aliasing.inputs:
            if isinstance(obj, InstanceObj):
                now = self.aliasing.fields(obj)
                for name, start in self.aliasing.initial(obj).items():
                    old, new = shown(start), shown(self.aliasing.value(now.get(name)))
                    if isinstance(old, Expr) and old is not new and _one_sort(old, new):
                        wishes.append(x.ne(old, new))
            elif isinstance(obj, ListObj):
                reads = self.aliasing.reads(obj)
                for index, written in self.aliasing.writes(obj):
                    was: Any = next((v for i, v in reads if shown(i) is shown(index) or shown(i) == shown(index)), None)
                    old, new = shown(was), shown(self.aliasing.value(written))
                    if isinstance(old, Expr) and _one_sort(old, new):
                        wishes.append(x.ne(old, new))
        outcome = shown(self.aliasing.value(self.run.value))
        for expression in (*self.aliasing.conditions, outcome):
            wishes.extend(x.ne(part, part.args[0]) for part in changing(expression))
        return list(dict.fromkeys(wishes))

    def _conditions(self) -> list[str]:
        return list(dict.fromkeys(show(part) if isinstance(part, Expr) else str(part) for part in self.aliasing.story))

    def _lines(self) -> tuple[int, ...]:
        return tuple(sorted(line for file, line in self.run.vm.lines if file == self.target.file))

    def _symbolic(self) -> SymbolicResult | None:
        if self.run.raised is not None:
            return None
        value = self.aliasing.shown(self.aliasing.value(self.run.value))
        made = isinstance(value, Obj) and not self.aliasing.title(value)
        return SymbolicResult(self._text(value), self._is_fixed(value), made)

    def _is_fixed(self, value: Any) -> bool:
        value = self.aliasing.shown(self.aliasing.value(value))
        if isinstance(value, tuple):
            return all(map(self._is_fixed, value))
        return type(value) in (int, bool, str, types.NoneType) or (type(value) is float and math.isfinite(value))

    def _text(self, value: Any) -> str:
        value = self.aliasing.shown(self.aliasing.value(value))
        if isinstance(value, Expr):
            return show(value)
        if isinstance(value, UnknownRef):
            return "?"
        if isinstance(value, Obj):
            return self.aliasing.title(value) or f"new {type(value).__name__.removesuffix('Obj').lower()}"
        if isinstance(value, tuple):
            return f"({', '.join(self._text(v) for v in value)})"
        if isinstance(value, int | str | float | type(None)):
            return repr(value)
        return type(value.shown() if isinstance(value, ProgramValue) else value).__name__

    # --- leaves ------------------------------------------------------------------------------------------

    def known(self, value: Value) -> Any:
        """An expression under the model."""
        return evaluate(self.aliasing.shown(value), self.model)

    def leaf(self, value: Any) -> Any:
        """A value without identity, under the model."""
        if isinstance(value, Expr):
            found = self.known(value)
            if value.sort is x.REAL:
                self.has_floats = True
                return float(found)
            return Opaque("str") if isinstance(found, str) and _stable(found) is None else found
        if isinstance(value, str) and _stable(value) is None:
            return Opaque("str")
        if isinstance(value, Fraction):
            self.has_floats = True
            return float(value)
        if isinstance(value, float):
            self.has_floats = True
            return value
        if isinstance(value, int | str | bytes | type(None) | enum.Enum | type | types.FunctionType | complex):
            return value
        if isinstance(value, RangeValue):
            return range(self.leaf(value.start), self.leaf(value.stop), value.step)
        if isinstance(value, SliceValue):
            return slice(self.leaf(value.start), self.leaf(value.stop), self.leaf(value.step))
        if isinstance(value, FunctionValue):
            return value.host if value.host is not None else Opaque("function")
        if isinstance(value, BoundMethod):
            return Opaque("method")
        if isinstance(value, BuiltinMethod):
            return Opaque("builtin_function_or_method")
        if isinstance(value, GeneratorValue | IteratorValue | DictView):
            return Opaque("")
        if isinstance(value, LOCKS):
            return Built("threading", "Lock" if isinstance(value, LOCK) else "RLock")
        return value

    def default(self, kind: t.Type) -> Any:
        """A value for something the path never looked at."""
        options = t.options(kind)
        kind = next((o for o in options if isinstance(o, t.Scalar | t.ListOf | t.DictOf | t.SetOf)), options[0])
        if t.NONE in options and not isinstance(kind, t.Scalar | t.ListOf | t.DictOf | t.SetOf):
            return None
        self._defaults += 1
        if isinstance(kind, t.Scalar):
            n = self._defaults
            self.has_floats |= kind.kind == "float"
            plain: dict[str, Any] = {"int": n, "bool": True, "float": n + 0.5, "str": "abcdefgh"[n % 8]}
            return plain[kind.kind]
        if isinstance(kind, t.ListOf | t.DictOf | t.SetOf):
            ordered = isinstance(kind, t.DictOf) and kind.ordered
            cls = collections.OrderedDict if ordered else None
            node = CaseObject(-self._defaults, _container(kind), cls, is_input=True)
            if isinstance(kind, t.DictOf):
                node.entries = [(key, self.default(value)) for key, value, _ in kind.entries]
            self._before[node.number] = self._after[node.number] = node
            return node
        if isinstance(kind, t.TupleOf):
            parts = tuple(self.default(e) for e in kind.elements)
            return parts if kind.named is None else CaseObject(-self._defaults, "held", kind.named, items=[parts])
        if isinstance(kind, t.FunctionOf):
            node = CaseObject(-self._defaults, "function", is_input=True)
            self._before[node.number] = self._after[node.number] = node
            return node
        if isinstance(kind, t.OneOf | t.Samples):
            return kind.values[0]
        if isinstance(kind, t.Instance):
            node = CaseObject(-self._defaults, "instance", kind.cls, is_input=True)
            self._before[node.number] = node
            self._after[node.number] = CaseObject(node.number, "instance", kind.cls, is_input=True)
            return node
        return None

    # --- before ------------------------------------------------------------------------------------------

    def before(self, value: Any) -> Any:
        """An argument, or something reachable from one, as it was before the call."""
        value = self.aliasing.value(value)
        if isinstance(value, UnknownRef):
            return self._unlooked_at(value)
        if isinstance(value, tuple):
            return tuple(self.before(v) for v in value)
        if not isinstance(value, Obj):
            return self.leaf(value)
        if value.number in self._before:
            return self._before[value.number]
        if isinstance(value, InstanceObj) and isinstance(value.payload, tuple):
            return CaseObject(value.number, "held", value.cls, items=[self.before(value.payload)])
        if not value.is_input:
            return self.after(value)
        if isinstance(value, InstanceObj):
            cls = self.aliasing.cls(value)
            node = self._before[value.number] = CaseObject(value.number, "instance", cls, is_input=True)
            for name, start in self.aliasing.initial(value).items():
                if start is not MISSING:
                    node.fields[name] = self.before(start)
                else:
                    self._overwritten(node, value, name)
            return node
        if isinstance(value, ListObj):
            node = self._before[value.number] = CaseObject(value.number, "list", is_input=True)
            node.items = self._source_items(value, self.before)
            return node
        if isinstance(value, FunctionObj):
            node = self._before[value.number] = CaseObject(value.number, "function", is_input=True)
            node.items = [self.before(result) for _, result in value.calls]
            return node
        assert isinstance(value, DictObj)
        if value.record is not None and not value.is_shaped:
            node = self._before[value.number] = self.default(value.record)
            return node
        node = self._before[value.number] = _dict_node(value)
        node.entries = [(self.before(k), self.before(v)) for k, v in value.source]
        node.entries += self._unseen(value, {k for k, _ in node.entries})
        return node

    def _overwritten(self, node: CaseObject, value: InstanceObj, name: str) -> None:
        """A field written before it was read: it starts as something else, so that the write shows."""
        kind = field_type(self.aliasing.cls(value), name)
        now = self.aliasing.fields(value)
        written = self.aliasing.value(now.get(name))
        if kind is None or name not in now or isinstance(written, Obj | UnknownRef | tuple):
            return
        start = self.default(kind)
        final = self.leaf(written)
        if type(start) is type(final) and start == final:
            start = self._another(kind, start)
        node.fields[name] = start

    def _another(self, kind: t.Type, value: Any) -> Any:
        """A value of the type that differs from the default one, where there is one."""
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return value + 1
        if isinstance(value, str):
            return value + "x"
        others = [o for o in t.options(kind) if o is not t.NONE]
        return self.default(others[0]) if value is None and others else value

    def _source_items(self, value: ListObj, read: Any) -> list[Any]:
        assert value.element is not None
        known = {self.known(index): element for index, element in self.aliasing.reads(value)}
        given = self._elements.setdefault(value.number, {})
        items = []
        for i in range(self.known(value.length)):
            if i not in known and i not in given:
                given[i] = self.default(value.element)
            items.append(read(known[i]) if i in known else given[i])
        return items

    def _unseen(self, value: DictObj, taken: set[Any]) -> list[tuple[Any, Any]]:
        """Entries that the path counted but never looked at."""
        if value.number in self._entries:
            return self._entries[value.number]
        missing = self.known(value.extra) if value.open else 0
        avoid = taken | {self.known(a) for a in value.absent if isinstance(a, Expr | int | str)}
        entries: list[tuple[Any, Any]] = []
        candidate = 0
        while len(entries) < missing and candidate < 10_000:
            candidate += 1
            is_text = any(o == t.STR for o in t.options(value.key or t.STR))
            key: Any = f"k{candidate}" if is_text else 100 + candidate
            if key not in avoid:
                entries.append((key, self.default(value.value) if value.value is not None else None))
        self._entries[value.number] = entries
        return entries

    def _unlooked_at(self, ref: UnknownRef) -> Any:
        name, options = self.aliasing.options(ref)
        if name not in self._given:
            self._given[name] = self.default(t.union(*options))
        return self._given[name]

    # --- after -------------------------------------------------------------------------------------------

    def after(self, value: Any) -> Any:
        """A value as it is after the call."""
        value = self.aliasing.value(value)
        if isinstance(value, UnknownRef):
            return self._unlooked_at(value)
        if isinstance(value, tuple):
            return tuple(self.after(v) for v in value)
        if not isinstance(value, Obj):
            return self.leaf(value)
        if value.number in self._after:
            return self._after[value.number]
        if isinstance(value, InstanceObj):
            return self._instance_after(value)
        if isinstance(value, ListObj):
            node = self._after[value.number] = CaseObject(value.number, "list", is_input=value.is_input)
            node.items = self._items_after(value)
            return node
        if isinstance(value, FunctionObj):
            node = self._after[value.number] = CaseObject(value.number, "function", is_input=True)
            node.entries = [(self.after(arguments), None) for arguments, _ in value.calls]
            return node
        assert isinstance(value, DictObj)
        if value.record is not None and not value.is_shaped:
            node = self._after[value.number] = self.before(value)
            return node
        node = self._after[value.number] = _dict_node(value)
        pairs = [(self.after(k), self.after(v)) for k, v in value.entries]
        unseen = self._unseen(value, {self.leaf(k) for k, _ in value.source if not isinstance(k, Obj | UnknownRef)})
        node.entries = [*pairs[: value.known], *(unseen if value.open else []), *pairs[value.known :]]
        return node

    def _instance_after(self, value: InstanceObj) -> Any:
        if value.host is not None and not value.fields:
            return value.host if not value.is_input else Opaque(value.cls.__name__)
        if value.cls is PatternMatch:
            return Opaque("re.Match")
        if isinstance(value.payload, BaseException):
            return Opaque(value.cls.__name__)
        cls = self.aliasing.cls(value)
        node = self._after[value.number] = CaseObject(value.number, "instance", cls, is_input=value.is_input)
        if value.payload is not None:
            node.kind = "held"
            node.items = [self.after(value.payload)]
        for name, held in self.aliasing.fields(value).items():
            node.fields[name] = self.after(held)
        return node

    def _items_after(self, value: ListObj) -> list[Any]:
        if value.items is not None:
            return [self.after(v) for v in value.items]
        source = self._source_items(value, self.after)
        for index, written in self.aliasing.writes(value):
            source[self.known(index)] = self.after(written)
        count = self.known(value.count)
        middle = source[value.start : value.start + count]
        return [*(self.after(v) for v in value.head), *middle, *(self.after(v) for v in value.tail)]

    # --- outcome -----------------------------------------------------------------------------------------

    def _outcome(self) -> CallOutcome:
        if self.run.raised is None:
            return CallOutcome(self.after(self.run.value), drained=self.run.drained)
        error = self.run.raised
        return CallOutcome(raises=error.cls, message=self._message(error), drained=self.run.drained)

    def _message(self, error: InstanceObj) -> str | None:
        """str(error), when it can be foretold."""
        if isinstance(error.payload, BaseException):
            return _stable(_text_of(error.payload))
        if isinstance(error.cls.__str__, types.FunctionType) or issubclass(error.cls, OSError | UnicodeError):
            return None
        args = error.fields.get("args", ())
        values: list[Any] = []
        for arg in args:
            if isinstance(arg, NotInList):
                return self._not_in_list(arg.value)
            found = self.after(arg)
            if isinstance(found, CaseObject | Opaque) or _holds_nodes(found):
                return None
            values.append(found)
        if self.has_floats and any(isinstance(v, float) for v in values):
            return None
        base = KeyError if issubclass(error.cls, KeyError) else Exception
        return _stable(str(base(*values)))

    def _not_in_list(self, value: Any) -> str | None:
        found = self.after(value)
        if isinstance(found, CaseObject | Opaque):
            return None
        try:
            [object()].index(found)
        except ValueError as error:
            return str(error)
        return None

    def _final(self) -> dict[int, CaseObject]:
        """Every object that existed before the call, as it is now."""
        for obj in self.aliasing.inputs:
            if obj.number in self._before:
                self.after(obj)
        return {number: node for number, node in self._after.items() if number in self._before}

    def _touches(self) -> list[tuple[str, str]]:
        vm = self.run.vm
        found: list[tuple[str, str]] = []
        places = [*vm.touched, *(vm.read_globals[h] for h in vm.changed_hosts if h in vm.read_globals)]
        for owner, name in places:
            if isinstance(owner, type):
                found.append((f"{owner.__module__}:{owner.__qualname__}", name))
            elif isinstance(owner, dict):
                found.append((str(owner.get("__name__", "")), name))
        return list(dict.fromkeys(found))


def _one_sort(old: Expr, new: Any) -> bool:
    try:
        return x.sort_of(new) is old.sort
    except TypeError:
        return False


def _container(kind: t.Type) -> str:
    if isinstance(kind, t.SetOf):
        return "frozenset" if kind.frozen else "set"
    return "dict" if isinstance(kind, t.DictOf) else "list"


def _dict_node(value: DictObj) -> CaseObject:
    kind = ("frozenset" if value.frozen else "set") if value.keys_only else "dict"
    cls = collections.OrderedDict if value.ordered else None
    return CaseObject(value.number, kind, cls, is_input=value.is_input)


def _holds_nodes(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(v, CaseObject | Opaque) or _holds_nodes(v) for v in value)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return " at 0x"  # an argument that cannot be shown: nothing can be said of the message


def _stable(message: str) -> str | None:
    """A text with an address in it changes from run to run."""
    return None if " at 0x" in message else message
