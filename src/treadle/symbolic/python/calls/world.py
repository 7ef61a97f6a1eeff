"""The clock, chance, the environment and what is typed: unknown inputs, which a test gives through stand-ins.

A call of `time.monotonic` gives an unknown number, one of `random.randint(1, 6)` an unknown one in that range, and so
on; the test puts a stand-in that returns just these in the place of the function. It must stand where the code looks
the function up, so a function that reaches the code in another way (as a default, say) is none of these.
"""

from __future__ import annotations

import builtins
import os
import random
import sys
import time
import types
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.heap.objects import FunctionObj, ListObj, Obj
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine import calls
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.types import hints
from treadle.symbolic.python.values.kinds import as_int, as_real, is_int, is_string, number_kind
from treadle.symbolic.python.values.values import BoundMethod, FunctionValue, PyValue

# (machine, arguments, result, result of the call before): assumes what is known of the result
Known = Callable[[VM, list[Any], Any, Any], None]


@dataclass(frozen=True, slots=True)
class Question:
    """A function of the world: where it is found, what it gives, and what is known of that.

    Instead of the type of what it gives there may be a function that picks it from the arguments.
    """

    module: types.ModuleType
    name: str
    gives: t.Type
    known: Known = lambda vm, args, result, before: None
    picked: Callable[[VM, FunctionObj, list[Any]], Any] | None = None

    @property
    def home(self) -> str:
        return "os.path" if self.module is os.path else self.module.__name__


def _not_before(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    _no_arguments(vm, args, result, before)
    vm.path.assume(x.ge(result, before if before is not None else 0))


def _not_negative(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    _no_arguments(vm, args, result, before)
    vm.path.assume(x.ge(result, 0))


def _no_arguments(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    if args:
        raise CannotFollow("arguments for a function that takes none")


def _below_one(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    _not_negative(vm, args, result, before)
    vm.path.assume(x.lt(result, as_real(1)))


def _slept(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    value = vm.force(args[0]) if len(args) == 1 else None
    if not number_kind(value) or not vm.decide(x.ge(as_real(value), as_real(0))):
        raise CannotFollow("a time to sleep that is refused")


def _from_to(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    """random.randint(a, b)"""
    low, high = _numbers(vm, args, 2, 2)
    _within(vm, result, low, x.add(high, 1))


def _in_range(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    """random.randrange(stop) or (start, stop)"""
    limits = _numbers(vm, args, 1, 2)
    _within(vm, result, limits[0] if len(limits) == 2 else 0, limits[-1])


def _within(vm: VM, result: Any, low: Any, above: Any) -> None:
    if not vm.decide(x.lt(low, above)):
        raise CannotFollow("an empty range for random numbers")
    vm.path.assume(x.and_(x.le(low, result), x.lt(result, above)))


def _numbers(vm: VM, args: list[Any], least: int, most: int) -> list[Any]:
    values = [vm.force(a) for a in args]
    if not least <= len(values) <= most or not all(map(is_int, values)):
        raise CannotFollow("these arguments of a function that is random")
    return [as_int(v) for v in values]


def _between(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    """random.uniform(a, b)"""
    values = [vm.force(a) for a in args]
    if len(values) != 2 or not all(map(number_kind, values)):
        raise CannotFollow("these arguments of 'uniform'")
    a, b = map(as_real, values)
    up = x.and_(x.le(a, result), x.le(result, b))
    vm.path.assume(x.or_(up, x.and_(x.le(b, result), x.le(result, a))))


def _of_a_path(vm: VM, args: list[Any], result: Any, before: Any) -> None:
    if len(args) != 1 or not is_string(vm.force(args[0])):
        raise CannotFollow("a path that is no text")


def _chosen(vm: VM, given: FunctionObj, args: list[Any]) -> Any:
    """random.choice(options): the one at an unknown index"""
    options = vm.force(args[0]) if len(args) == 1 else ...
    if not isinstance(options, ListObj | tuple | None) and not is_string(options):
        raise CannotFollow("these arguments of 'choice'")
    size = vm.call(len, options) if options is not None else 0
    if not vm.decide(x.gt(size, 0)):
        if given.calls:  # a stand-in cannot raise after it has given something
            raise CannotFollow("'choice' of nothing, after it has chosen")
        raise vm.mimic(lambda: random.choice(() if options is not None else None))  # type: ignore[arg-type]
    index = vm.heap.value_of_type(t.INT, f"choice#{len(given.calls) + 1}")
    vm.path.assume(x.and_(x.ge(index, 0), x.lt(index, size)))
    result = vm.item(options, index)
    if isinstance(result, tuple) or (isinstance(result, Obj) and not result.is_input):
        raise CannotFollow("'choice' of what is no input, which no stand-in can give")
    return result


_UUIDS = hints.from_hint(uuid.UUID) or t.STR
_QUESTIONS = [
    *(Question(time, name, t.FLOAT, _not_before) for name in ("monotonic", "perf_counter", "process_time")),
    *(Question(time, f"{name}_ns", t.INT, _not_before) for name in ("monotonic", "perf_counter", "process_time")),
    Question(time, "time", t.FLOAT, _not_negative),
    Question(time, "time_ns", t.INT, _not_negative),
    Question(time, "sleep", t.NONE, _slept),
    Question(random, "random", t.FLOAT, _below_one),
    Question(random, "randint", t.INT, _from_to),
    Question(random, "randrange", t.INT, _in_range),
    Question(random, "uniform", t.FLOAT, _between),
    Question(random, "choice", t.NONE, picked=_chosen),
    Question(uuid, "uuid4", _UUIDS, _no_arguments),
    *(Question(os.path, name, t.BOOL, _of_a_path) for name in ("exists", "isfile", "isdir")),
    Question(os, "getpid", t.INT, _not_negative),
    Question(builtins, "input", t.STR),
]
# What they may do as well, and is not followed.
NOT_FOLLOWED = {"builtins.input": "an end of the input"}
_REAL = [(one, getattr(one.module, one.name)) for one in _QUESTIONS]
_BY_FUNCTION = {id(getattr(real, "__func__", real)): one for one, real in _REAL}
# whose methods the functions of the module `random` are
_CHANCE = getattr(random.randint, "__self__", None)


class UnknownWorld:
    """What one path has asked the world for."""

    def __init__(self) -> None:
        # name -> (what stands there, the places where it must stand)
        self.used: dict[str, tuple[Obj, dict[tuple[str, str], None]]] = {}

    def answer(self, vm: VM, function: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
        """What a function of the world gives, or `NOT_ANSWERED`."""
        if isinstance(function, BoundMethod) and function.self is not _CHANCE:
            return NOT_ANSWERED
        question = _BY_FUNCTION.get(id(function.function if isinstance(function, BoundMethod) else function))
        if question is None or named:
            return NOT_ANSWERED
        places = _places(vm, question)
        if not places:
            return NOT_ANSWERED
        name = f"{question.home}.{question.name}"
        given, known = self.used.get(name) or (vm.heap.fresh(t.FunctionOf(question.gives), question.name), {})
        assert isinstance(given, FunctionObj)
        before = given.calls[-1][1] if given.calls else None
        if question.picked is not None:
            result = question.picked(vm, given, args)
            given.calls.append((tuple(args), result))
        else:
            result = calls.unknown_function(vm, given, args, {})
            question.known(vm, args, result, before)
        self.used[name] = given, {**known, **dict.fromkeys(places)}
        return result

    def stand_in(self, vm: VM, value: object) -> Obj | None:
        """The environment, a dict of texts; None for anything else."""
        if value is not os.environ:
            return None
        places = [("os", "environ"), *_named(vm, value), *_in_classes(vm, value)]
        given, known = self.used.get("os.environ") or (vm.heap.fresh(t.DictOf(t.STR, t.STR), "environ"), {})
        self.used["os.environ"] = given, {**known, **dict.fromkeys(places)}
        return given


def _places(vm: VM, question: Question) -> list[tuple[str, str]]:
    """Where the code that calls has the function from."""
    host = next((f.function.host for f in reversed(vm.frames) if f.function.host is not None), None)
    code = getattr(host, "__code__", None)
    names = _names_in(code) if code is not None else set()
    found = [place for place in _named(vm, getattr(question.module, question.name)) if place[1] in names]
    home = [(question.home, question.name)] if question.name in names else []
    # the name may be that of an attribute: `random.choice` where the module has a `choice` as well
    return [*found, *home] if _named(vm, question.module) else found or home


def _named(vm: VM, value: object) -> list[tuple[str, str]]:
    """The names that the module of the running code has for a value."""
    function: FunctionValue = vm.frames[-1].function
    module = str(function.globals.get("__name__", ""))
    if module not in sys.modules:
        return []
    return [(module, name) for name, held in function.globals.items() if held is value]


def _in_classes(vm: VM, value: object) -> list[tuple[str, str]]:
    """The attributes of classes of that module, and of those they derive from, that hold a value."""
    classes = [one for one in vm.frames[-1].function.globals.values() if isinstance(one, type)]
    return [
        (f"{base.__module__}:{base.__qualname__}", name)
        for base in dict.fromkeys(base for cls in classes for base in cls.__mro__)
        for name, held in vars(base).items()
        if held is value
    ]


def _names_in(code: types.CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names_in, inner))
