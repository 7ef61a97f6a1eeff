"""Where the path's values meet real ones: copies in, values out, and calls into code that cannot be followed.

Real mutable objects are never changed by a path: each path works on its own copies. A call into compiled code
gets known values, picked by the solver if need be (the path is then sampled); afterwards the copies of
mutable arguments are brought up to date. Code that reaches files, processes, the network or the clock is
refused unless allowed.
"""

from __future__ import annotations

import collections
import enum
import os
import types
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, FunctionObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir.machine import Exhausted, Raised
from treadle.symbolic.path import CannotFollow, PathEnd
from treadle.symbolic.python.machine import attributes, effects
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.types.heirs import is_plain_object
from treadle.symbolic.python.values import mappings, open_lists
from treadle.symbolic.python.values.kinds import builtin_type
from treadle.symbolic.python.values.values import (
    BoundMethod,
    BuiltinMethod,
    DictView,
    FunctionValue,
    GeneratorValue,
    IteratorValue,
    PartialValue,
    PyValue,
    RangeValue,
    SliceValue,
)


def lift(vm: VM, value: Any) -> Any:
    """A real value as the path sees it; mutable objects become the path's own copies, once."""
    kind = type(value)
    if kind in (int, float, str, bool, type(None), types.FunctionType, types.BuiltinFunctionType, type):
        return value
    if kind is tuple:
        return tuple(lift(vm, v) for v in value)
    if kind in (list, dict, set, frozenset, collections.OrderedDict):
        return _copy(vm, value)
    if kind is range:
        return RangeValue(value.start, value.stop, value.step)
    if kind is types.MethodType:
        return BoundMethod(value.__func__, lift(vm, value.__self__))
    if kind is slice:
        return SliceValue(value.start, value.stop, value.step)
    if isinstance(value, Obj | UnknownRef | Expr | type | types.ModuleType | enum.Enum | BaseException):
        return value
    if isinstance(value, Fraction) and kind is Fraction:
        return _instance(vm, value)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        named = _instance(vm, value)
        named.payload = tuple(lift(vm, v) for v in value)
        return named
    if value is os.environ and not vm.allow_effects:
        given = vm.world.stand_in(vm, value) if vm.world is not None else None
        if given is None:
            raise CannotFollow("the environment")
        return given
    if is_plain_object(kind):
        return _instance(vm, value)
    return value


def _copy(vm: VM, value: Any) -> Obj:
    found = vm.lifted.get(id(value))
    if found is not None:
        return found
    made: Obj = vm.new_list([]) if isinstance(value, list) else vm.new_dict([])
    vm.keep(value, made)
    if isinstance(made, ListObj):
        made.items = [lift(vm, v) for v in value]
    elif isinstance(made, DictObj):
        made.keys_only, made.frozen = not isinstance(value, dict), isinstance(value, frozenset)
        made.ordered = isinstance(value, collections.OrderedDict)
        pairs = value.items() if isinstance(value, dict) else dict.fromkeys(value).items()
        made.entries = [[lift(vm, k), lift(vm, v)] for k, v in pairs]
    return made


def _instance(vm: VM, value: PyValue) -> InstanceObj:
    found = vm.lifted.get(id(value))
    if found is None:
        found = InstanceObj(vm.heap.number(), (type(value),))
        vm.keep(value, found)
    assert isinstance(found, InstanceObj)
    return found


# --- values out ------------------------------------------------------------------------------------------


class Lowering:
    """Real values for a call into code that cannot be followed."""

    def __init__(self, vm: VM) -> None:
        self.vm = vm
        self.made: dict[int, tuple[Obj, Any]] = {}

    def unknowns(self, value: PyValue, found: dict[Expr, None], seen: set[int]) -> None:
        """Every unknown in a value; open containers are closed on the way, and it is decided which object is which."""
        value = self.vm.heap.decided(self.vm.force(value))
        if isinstance(value, InstanceObj | ListObj):
            value = self.vm.heap.settle(value)
        if isinstance(value, Expr):
            found[value] = None
        elif isinstance(value, tuple):
            for v in value:
                self.unknowns(v, found, seen)
        elif isinstance(value, Obj):
            if id(value) in seen:
                return
            seen.add(id(value))
            if isinstance(value, ListObj):
                for v in open_lists.items(self.vm, value):
                    self.unknowns(v, found, seen)
            elif isinstance(value, DictObj):
                for k, v in mappings.entries(self.vm, value):
                    self.unknowns(k, found, seen)
                    self.unknowns(v, found, seen)
            elif isinstance(value, InstanceObj):
                attributes.load_all(self.vm, value)
                for v in list(value.fields.values()):
                    self.unknowns(v, found, seen)
                self.unknowns(value.payload, found, seen)
        elif isinstance(value, RangeValue | SliceValue | DictView):
            for v in value.parts():
                self.unknowns(v, found, seen)

    def lower(self, value: PyValue, known: dict[Expr, PyValue]) -> Any:
        vm = self.vm
        value = vm.heap.settled(vm.force(value))
        if isinstance(value, Expr):
            picked = known[value]
            return float(picked) if isinstance(picked, Fraction) else picked
        if isinstance(value, tuple):
            return tuple(self.lower(v, known) for v in value)
        if isinstance(value, FunctionObj):
            raise CannotFollow("a function that is an input, given to compiled code")
        if isinstance(value, Obj):
            return self._object(value, known)
        if isinstance(value, RangeValue | SliceValue):
            return type(value.shown())(*(self.lower(v, known) for v in value.parts()))
        if isinstance(value, DictView):
            return getattr(self.lower(value.source, known), value.kind)()
        if isinstance(value, FunctionValue) and value.host is not None:
            return value.host
        if isinstance(value, FunctionValue | BoundMethod | PartialValue | BuiltinMethod):
            return self._callable(value, known)
        if isinstance(value, GeneratorValue | IteratorValue):
            return iter([self.lower(v, known) for v in self._drained(value)])
        return value

    def _drained(self, value: PyValue) -> list[PyValue]:
        iterator = self.vm.iterate(value)
        found: list[PyValue] = []
        while True:
            try:
                found.append(iterator.step())
            except Exhausted:
                return found
            if any(isinstance(v, Expr | Obj | UnknownRef) for v in found[-1:]):
                raise CannotFollow("an iterator of unknown values given to compiled code")
            if len(found) > 1000:
                raise CannotFollow("a long iterator given to compiled code")

    def _callable(self, value: PyValue, known: dict[Expr, PyValue]) -> PyValue:
        def call_back(*args: PyValue, **named: Any) -> PyValue:
            lifted = {k: self.vm.lift(v) for k, v in named.items()}
            result = self.vm.call_with(value, [self.vm.lift(a) for a in args], lifted)
            return lower_picking(self.vm, [result])[0]

        return call_back

    def _object(self, value: Obj, known: dict[Expr, PyValue]) -> Any:
        if id(value) in self.made:
            return self.made[id(value)][1]
        if isinstance(value, ListObj):
            items: list[PyValue] = []
            self.made[id(value)] = (value, items)
            items.extend(self.lower(v, known) for v in value.items or ())
            return items
        if isinstance(value, DictObj):
            pairs = {self.lower(k, known): self.lower(v, known) for k, v in value.entries}
            if value.keys_only and len(pairs) > 1 and not all(isinstance(key, int) for key in pairs):
                self.vm.path.fragile = True  # what the called code makes of the order, the real runs show
            real = builtin_type(value)(pairs)
            self.made[id(value)] = (value, real)
            return real
        assert isinstance(value, InstanceObj)
        if value.host is not None and not value.fields:
            return value.host
        if isinstance(value.payload, BaseException):
            return value.payload
        if issubclass(value.cls, BaseException):
            made: PyValue = value.cls.__new__(value.cls, *(self.lower(a, known) for a in value.fields.get("args", ())))
        elif value.payload is not None:
            made = _holding(value.cls, self.lower(value.payload, known))
        else:
            try:
                made = object.__new__(value.cls)
            except TypeError:
                raise CannotFollow(f"an object of type '{value.cls.__name__}' given to compiled code") from None
        self.made[id(value)] = (value, made)
        for name, field in value.fields.items():
            if name != "args":
                object.__setattr__(made, name, self.lower(field, known))
        return made

    def bring_back(self) -> None:
        """What the called code did to its mutable arguments."""
        for obj, real in list(self.made.values()):
            if isinstance(obj, ListObj) and obj.items is not None:
                obj.items[:] = [self._same(v) for v in real]
            elif isinstance(obj, DictObj) and not obj.frozen and isinstance(real, dict):
                if len(real) != len(obj.entries):
                    obj.entries = [[self.vm.lift(k), self._same(v)] for k, v in real.items()]
            elif isinstance(obj, DictObj) and isinstance(real, set) and len(real) != len(obj.entries):
                obj.entries = [[self.vm.lift(k), None] for k in real]

    def _same(self, real: PyValue) -> PyValue:
        """The path's object for a real one that came out of the call."""
        for obj, lowered in self.made.values():
            if lowered is real:
                return obj
        return self.vm.lift(real)


def _holding(cls: Any, content: Any) -> PyValue:
    """An object of a class that derives from a built-in one, with this content; its own __init__ has been followed."""
    holder: Any = type(content)
    if holder not in cls.__mro__:
        return cls.__new__(cls, content)
    made = holder.__new__(cls, content)
    if holder in (list, dict, set):
        holder.__init__(made, content)
    return made


def lower_picking(vm: VM, values: list[PyValue]) -> list[PyValue]:
    return _lower_all(vm, Lowering(vm), values, "a call that cannot be followed")


def _lower_all(vm: VM, lowering: Lowering, values: list[PyValue], what: str) -> list[PyValue]:
    found: dict[Expr, None] = {}
    seen: set[int] = set()
    for value in values:
        lowering.unknowns(value, found, seen)
    known: dict[Expr, PyValue] = {}
    if found:
        known = dict(zip(found, vm.path.pick(list(found), what), strict=True))
    return [lowering.lower(v, known) for v in values]


def call_real(vm: VM, function: Any, args: list[Any], named: dict[str, Any], what: str = "") -> Any:
    """Call real code with real values."""
    effects.check_effect(vm, function, len(args) + len(named))
    name = what or getattr(function, "__qualname__", getattr(function, "__name__", type(function).__name__))
    lowering = Lowering(vm)
    values = _lower_all(vm, lowering, [*args, *named.values()], f"a call of '{name}'")
    real_args, real_named = values[: len(args)], dict(zip(named, values[len(args) :], strict=True))
    try:
        with effects.no_effects(vm):
            result = function(*real_args, **real_named)
    except (Raised, PathEnd):
        raise
    except effects.OutsideEffect as effect:
        raise CannotFollow(f"'{name}' {effect}; pass --allow-effects to run it") from None
    except RecursionError:
        raise CannotFollow(f"'{name}' recurses too deeply") from None
    except (Exception, SystemExit) as error:
        lowering.bring_back()
        raise vm.host_error(error) from None
    lowering.bring_back()
    for obj, real in lowering.made.values():
        if real is result:
            return obj
    if isinstance(result, types.GeneratorType):
        raise CannotFollow(f"'{name}', a generator without source")
    return lift(vm, result)
