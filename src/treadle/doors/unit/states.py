"""`--states built`: objects of test cases are made by calls, as users make them, where a way is found.

A case whose objects need fields to be set is looked at again: for each state that the constructor and the methods of
the class lead to (`ways`), its path is asked whether it can start there, and with which other inputs. The first that
fits takes the place of the values that the solver chose. Where none fits, the fields are set and the test says so.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
import time
from fractions import Fraction
from functools import cache
from typing import Any

from treadle.core.errors import UsageError
from treadle.doors.unit.replay import Changed, run_again
from treadle.doors.unit.result import Suite
from treadle.observe.effects import EffectGuard
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import substitute
from treadle.symbolic.expr.terms import Const, Expr
from treadle.symbolic.heap.aliasings import Aliasing
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.python.calls.locks import LOCKS
from treadle.symbolic.solve.label import label
from treadle.symbolic.testcase import CaseObject, Opaque, TestCase
from treadle.units.cases import Concrete
from treadle.units.explore import Session
from treadle.units.imports import Imports
from treadle.units.options import UnitOptions
from treadle.units.value_source import Builder
from treadle.units.ways import Way, ways_to

_KINDS = {x.INT: int, x.BOOL: bool, x.STR: str, x.REAL: float}
_TAKEN_OVER = ("arguments", "outcome", "after", "has_floats", "world", "violation", "undecided")

# States of an object about which the solver is asked, and the seconds that it has for each.
_MOST_ASKED = 10
_TIMEOUT = 0.5

_ways = cache(ways_to)


def build_states(suite: Suite, options: UnitOptions, ends: float = math.inf) -> None:
    """Finds calls for the objects of the cases that have not been looked at."""
    if options.states == "any" or options.allow_effects:
        return
    for explored in suite.explored:
        session: Session | None = None
        for case in explored.cases:
            if case.by_hand is not None or time.monotonic() > ends:
                continue
            case.by_hand = _needs_hand(case)
            if not case.by_hand:
                continue
            try:
                session = session or Session(explored.target, dataclasses.replace(explored.options, summaries=False))
                found = _built(session, case)
            except (Changed, UsageError):
                continue
            if found is not None:
                case.otherwise = dataclasses.replace(case)
                for name in _TAKEN_OVER:
                    setattr(case, name, getattr(found, name))
                case.by_hand = _needs_hand(case)


def undo(case: TestCase) -> bool:
    """The case without the calls, which did not lead to what was expected; whether there were any."""
    before = case.otherwise
    if before is None:
        return False
    for name in (*_TAKEN_OVER, "by_hand"):
        setattr(case, name, getattr(before, name))
    case.otherwise = None
    return True


def _needs_hand(case: TestCase) -> bool:
    builder = Builder(Imports(), set())
    try:
        with EffectGuard():
            for name, value in case.arguments.items():
                builder.build(name, value)
            builder.finish()
    except Exception:
        return False  # it cannot be written at all
    return builder.by_hand


def _built(session: Session, case: TestCase) -> TestCase | None:
    try:
        run, aliasing = run_again(session, case.trail, case.made)
    except Changed:  # it went through summaries
        run, aliasing = run_again(session, case.trail)
    fit = Fit(aliasing)
    for value in run.arguments.values():
        start = aliasing.value(value)
        if isinstance(start, InstanceObj) and start.is_input and start.number not in fit.images:
            fitting = ((way, fit.with_(start, state)) for way, state in _ways(aliasing.cls(start)))
            asked = itertools.islice(((way, further) for way, further in fitting if further is not None), _MOST_ASKED)
            for way, further in asked:
                if label(further.conditions, (), timeout=_TIMEOUT) is not None:
                    fit = further
                    fit.ways[start.number] = way
                    break
    model = fit.model(session) if fit.ways else None
    if model is None:
        return None
    return _Started(session, run, aliasing, fit).case(model)


class _Unfit(Exception):
    """A state in which the path does not start."""


class Fit:
    """What is known of the start of a path when some of its objects are in a certain state."""

    def __init__(self, aliasing: Aliasing) -> None:
        self.aliasing = aliasing
        self.pins: dict[Expr, Const] = {}
        self.conditions: list[Expr] = list(aliasing.conditions)
        # object of the path -> its state; name of a reference that the path never looked at -> what it leads to
        self.images: dict[int, CaseObject] = {}
        self.unlooked: dict[str, Any] = {}
        self.ways: dict[int, Way] = {}

    def with_(self, start: InstanceObj, state: CaseObject) -> Fit | None:
        """One object more in a state; None where the path plainly cannot start so."""
        made = Fit(self.aliasing)
        made.pins, made.images, made.unlooked = dict(self.pins), dict(self.images), dict(self.unlooked)
        made.conditions, made.ways = list(self.conditions), dict(self.ways)
        try:
            made.match(start, state)
            made.simplify()
        except _Unfit:
            return None
        return made

    def simplify(self) -> None:
        left = [substitute(condition, self.pins) for condition in self.conditions]
        if any(condition is False for condition in left):
            raise _Unfit
        self.conditions = [condition for condition in left if isinstance(condition, Expr)]

    def model(self, session: Session) -> dict[Expr, Const] | None:
        unknowns = [unknown for unknown in self.aliasing.unknowns if unknown not in self.pins]
        found = label(self.conditions, unknowns, domain=session.options.domain, words=session.words)
        return {**found, **self.pins} if found is not None else None

    def match(self, start: Any, state: Any) -> None:
        """Raises _Unfit where what the path starts with cannot be in this state."""
        start = self.aliasing.value(start)
        if isinstance(start, UnknownRef):
            self._unlooked(start, state)
        elif isinstance(start, tuple):
            self._agree(isinstance(state, tuple) and len(state) == len(start))
            for part, held in zip(start, state, strict=True):
                self.match(part, held)
        elif isinstance(start, Expr):
            self._equal(self.aliasing.shown(start), state)
        elif isinstance(start, Obj):
            self._object(start, state)
        elif isinstance(start, LOCKS):
            self._agree(state == Opaque(type(start).__name__))
        else:
            self._agree(type(start) is type(state) and bool(start == state))

    def _agree(self, holds: bool) -> None:
        if not holds:
            raise _Unfit

    def _equal(self, known: Any, state: Any) -> None:
        if not isinstance(known, Expr):
            self._agree(type(known) is type(state) and bool(known == state))
            return
        self._agree(_KINDS.get(known.sort) is type(state))
        value = Fraction(state) if type(state) is float else state
        if known.op == "var":
            self._agree(self.pins.setdefault(known, value) == value)
            return
        equation = x.eq(known, value)
        self._agree(equation is not False)
        self.conditions += [equation] if isinstance(equation, Expr) else []

    def _unlooked(self, start: UnknownRef, state: Any) -> None:
        name, options = self.aliasing.options(start)
        kind = state.kind if isinstance(state, CaseObject) else ""
        wanted = {"list": t.ListOf, "dict": t.DictOf}.get(kind)
        fits = (
            t.NONE in options if state is None else wanted is not None and any(isinstance(o, wanted) for o in options)
        )
        self._agree(fits and (state is None or _is_flat(state)))
        self.unlooked[name] = state

    def _object(self, start: Obj, state: Any) -> None:
        self._agree(isinstance(state, CaseObject) and start.is_input)
        before = self.images.setdefault(start.number, state)
        if before is not state:
            raise _Unfit
        others = [number for number, image in self.images.items() if image is state and number != start.number]
        self._agree(not others)
        if isinstance(start, InstanceObj):
            self._agree(state.kind == "instance" and state.cls is self.aliasing.cls(start))
            for name, value in self.aliasing.initial(start).items():
                self._agree(name in state.fields)
                if value is not MISSING:
                    self.match(value, state.fields[name])
        elif isinstance(start, ListObj):
            self._list(start, state)
        elif isinstance(start, DictObj):
            self._dict(start, state)
        else:
            raise _Unfit

    def _list(self, start: ListObj, state: CaseObject) -> None:
        self._agree(state.kind == "list" and _is_flat(state) and start.element is not None)
        self._equal(self.aliasing.shown(start.length), len(state.items))
        for index, element in self.aliasing.reads(start):
            place = substitute(self.aliasing.shown(index), self.pins)
            self._agree(isinstance(place, int) and 0 <= place < len(state.items))
            assert isinstance(place, int)
            self.match(element, state.items[place])

    def _dict(self, start: DictObj, state: CaseObject) -> None:
        """Of at most one entry, since the order of several would matter."""
        kind = ("frozenset" if start.frozen else "set") if start.keys_only else "dict"
        cls = collections.OrderedDict if start.ordered else None
        self._agree(state.kind == kind and state.cls is cls and start.open and _is_flat(state))
        self._agree(len(state.entries) <= 1 and len(start.source) <= len(state.entries))
        for (key, value), (held_key, held) in zip(start.source, state.entries, strict=False):
            self.match(key, held_key)
            if not start.keys_only:
                self.match(value, held)
        self._equal(self.aliasing.shown(start.extra), len(state.entries) - len(start.source))
        if not start.source:
            for absent in start.absent:
                for held_key, _ in state.entries:
                    apart = x.ne(self.aliasing.shown(absent), held_key)
                    self._agree(apart is not False)
                    self.conditions += [apart] if isinstance(apart, Expr) else []


def _is_flat(state: CaseObject) -> bool:
    parts = [*state.items, *(part for entry in state.entries for part in entry)]
    return not any(isinstance(part, CaseObject | Opaque | tuple) for part in parts)


class _Started(Concrete):
    """A path that starts with objects in known states."""

    def __init__(self, session: Session, run: Any, aliasing: Aliasing, fit: Fit) -> None:
        super().__init__(session.target, run, aliasing, session.options.domain, session.words)
        self.fit = fit
        for number, state in fit.images.items():
            if state.kind == "list":
                self._elements[number] = dict(enumerate(state.items))
        for name, state in fit.unlooked.items():
            self._given[name] = self._unknown_to_the_path(state)

    def _unknown_to_the_path(self, state: Any) -> Any:
        if not isinstance(state, CaseObject):
            return state
        self._defaults += 1
        node = dataclasses.replace(state, number=-self._defaults, is_input=True)
        self._before[node.number] = self._after[node.number] = node
        return node

    def before(self, value: Any) -> Any:
        found = super().before(value)
        if isinstance(found, CaseObject) and found.number in self.fit.ways:
            found.way = self.fit.ways[found.number]
        return found

    def _overwritten(self, node: CaseObject, value: InstanceObj, name: str) -> None:
        state = self.fit.images.get(value.number)
        if state is None:
            super()._overwritten(node, value, name)
        elif not isinstance(state.fields[name], CaseObject | Opaque | tuple):
            node.fields[name] = state.fields[name]

    def _unseen(self, value: DictObj, taken: set[Any]) -> list[tuple[Any, Any]]:
        state = self.fit.images.get(value.number)
        if state is None:
            return super()._unseen(value, taken)
        return [entry for entry in state.entries if entry[0] not in taken]
