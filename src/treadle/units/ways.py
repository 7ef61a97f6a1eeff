"""Ways to make an object as its users do: the constructor, then methods, really called with small values.

The calls are made in a process of its own that may not change the world and is ended when it does not come back, so
that what they do to the module is not seen by anybody. Each state that is met is kept with the shortest way to it,
in an order that depends on the class alone.
"""

from __future__ import annotations

import collections
import inspect
import itertools
import math
import pickle
import signal
import sys
import time
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from treadle.observe.effects import EffectGuard
from treadle.observe.forked import answer_of_a_child, can_fork
from treadle.symbolic import types as t
from treadle.symbolic.testcase import CaseObject, Opaque
from treadle.units.value_source import parameter_type

# Calls after the constructor, objects made, states kept, values for a parameter, ways to call a method.
_MOST_CALLS = 2
_MOST_OBJECTS = 400
_MOST_STATES = 60
_MOST_VALUES = 5
_MOST_COMBINATIONS = 12
_MOST_PRODUCTS = 500
_LEFT_OUT = object()
# Lines that the calls of one way may take together: more is a way that waits for something.
_MOST_LINES = 20_000
# Of the clock: one that waits in compiled code, and after how many of these no more are tried.
_MOST_SECONDS = 5
_MOST_WAITING = 2
# For a machine that is busy; the work itself is bounded.
_PATIENCE = 60.0
_PLAIN: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, 0, -1),
    "bool": (True, False),
    "float": (1.5, 0.0),
    "str": ("a", "b", ""),
}


_UNTYPED: tuple[Any, ...] = (1, "a", [], None)


@dataclass(frozen=True, slots=True)
class Way:
    """The arguments of the constructor, then methods with theirs."""

    arguments: tuple[tuple[str, Any], ...]
    calls: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = ()

    def made(self, cls: type) -> Any:
        made = _called(cls, self.arguments)
        for method, arguments in self.calls:
            _called(getattr(made, method), arguments)
        return made


def _called(function: Any, arguments: tuple[tuple[str, Any], ...]) -> Any:
    """With arguments by position, those with a name by name; containers are new ones each time."""
    values = [(name, pickle.loads(pickle.dumps(value))) for name, value in arguments]
    return function(*(v for name, v in values if not name), **{name: v for name, v in values if name})


def ways_to(cls: type) -> list[tuple[Way, CaseObject]]:
    """States of objects of a class with the way to each, the shortest ways first; [] where none is found."""
    if not can_fork():
        return []
    return answer_of_a_child(lambda scratch: _met_by_calling(cls), _PATIENCE) or []


def _met_by_calling(cls: type) -> list[tuple[Way, CaseObject]]:
    signal.signal(signal.SIGALRM, _end_waiting)
    time.sleep = lambda seconds: None
    return list(_states(cls))


class _Waits(BaseException):
    """A way that takes too long; nobody catches it by mistake."""


def _end_waiting(number: int, frame: types.FrameType | None) -> None:
    raise _Waits


def _states(cls: type) -> Iterator[tuple[Way, CaseObject]]:
    """Breadth first; a state that was met before is not gone on from."""
    met: set[str] = set()
    level = [Way(arguments) for arguments in _arguments(cls, cls)]
    methods = {name: list(_arguments(method, cls)) for name, method in _methods(cls)}
    tried = waiting = 0
    for _ in range(_MOST_CALLS + 1):
        further: list[Way] = []
        for way in level:
            tried += 1
            try:
                state = _state(way, cls) if tried <= _MOST_OBJECTS and waiting <= _MOST_WAITING else None
            except _Waits:
                waiting += 1
                continue
            if state is None or (key := _key(state)) in met or len(met) >= _MOST_STATES:
                continue
            met.add(key)
            yield way, state
            further += [Way(way.arguments, (*way.calls, (m, given))) for m, ways in methods.items() for given in ways]
        level = further


def _state(way: Way, cls: type) -> CaseObject | None:
    lines = itertools.count()

    def count(frame: types.FrameType, event: str, argument: Any) -> Any:
        if next(lines) > _MOST_LINES:
            raise _Waits
        return count

    try:
        with EffectGuard() as guard:
            signal.alarm(_MOST_SECONDS)
            sys.settrace(count)
            try:
                made = way.made(cls)
            finally:
                sys.settrace(None)
                signal.alarm(0)
        state = None if guard.refused else _image(made, {}, 0)
        pickle.dumps(state)
    except (Exception, SystemExit):
        return None
    return state if isinstance(state, CaseObject) and type(made) is cls else None


def _methods(cls: type) -> Iterator[tuple[str, types.FunctionType]]:
    """Public methods, as the class defines them."""
    for name in dict.fromkeys(name for base in cls.__mro__[:-1] for name in vars(base)):
        method = inspect.getattr_static(cls, name)
        if isinstance(method, types.FunctionType) and (not name.startswith("_") or name == "__setitem__"):
            waits = inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method)
            if not waits and not inspect.isasyncgenfunction(method):
                yield name, method


def _arguments(function: Any, cls: type) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Some arguments of a function: what has a default keeps it first; nothing where a type is unknown."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return
    init = inspect.getattr_static(cls, "__init__", None) if function is cls else function
    own = [
        parameter
        for parameter in parameters[0 if function is cls else 1 :]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    choices = []
    for parameter in own:
        values = _values(parameter_type(cls, parameter.name, None if function is cls else function), init)
        left_out = [_LEFT_OUT] if parameter.default is not parameter.empty else []
        choices.append([*left_out, *itertools.islice(values, _MOST_VALUES)])
    places = itertools.islice(itertools.product(*(range(len(c)) for c in choices)), _MOST_PRODUCTS)
    # those near the first values before those far from them
    for chosen in sorted(places, key=lambda p: (sum(p), p))[:_MOST_COMBINATIONS]:
        given: list[tuple[str, Any]] = []
        for number, parameter in enumerate(own):
            value = choices[number][chosen[number]]
            by_name = parameter.kind is parameter.KEYWORD_ONLY or len(given) < number
            if value is not _LEFT_OUT:
                given.append((parameter.name if by_name else "", value))
        yield tuple(given)


def _values(kind: t.Type | None, function: Any) -> Iterator[Any]:
    """Small values of a type, those that the function mentions after the first."""
    if kind is None:
        yield from _UNTYPED  # the call itself tells whether it takes them
        return
    options = t.options(kind)
    code = getattr(function, "__code__", None)
    mentioned = [c for c in code.co_consts if type(c) in (int, str) and c not in (0, 1)] if code is not None else []
    for option in options:
        match option:
            case t.Scalar(kind=scalar):
                first, *others = _PLAIN[scalar]
                yield first
                yield from [c for c in mentioned if type(c).__name__ == scalar and c != first][:1]
                yield from others
            case t.OneOf(values=values) | t.Samples(values=values):
                yield from values[:2]
            case t.ListOf(element=element):
                yield []
                yield from ([one] for one in itertools.islice(_values(element, function), 1))
            case t.DictOf() if not option.ordered and not option.record:
                yield {}
            case t.SetOf(frozen=False):
                yield set()
    if t.NONE in options:
        yield None


def _image(value: Any, seen: dict[int, CaseObject], depth: int) -> Any:
    """A real value as test cases hold it; what they cannot hold is opaque."""
    if value is None or type(value) in (bool, int, str, bytes) or (type(value) is float and math.isfinite(value)):
        return value
    if id(value) in seen:
        return seen[id(value)]
    container = type(value) if type(value) in (list, dict, set, frozenset) else None
    ordered = type(value) is collections.OrderedDict
    kind = "dict" if ordered else container.__name__ if container is not None else None
    if type(value) is tuple and depth < 4:
        return tuple(_image(part, seen, depth + 1) for part in value)
    fields = _fields(value)
    if depth > 3 or (kind is None and (fields is None or isinstance(value, type | types.ModuleType))):
        return Opaque(type(value).__name__)
    cls = type(value) if kind is None or ordered else None
    node = seen[id(value)] = CaseObject(len(seen), kind or "instance", cls)
    if kind == "list":
        node.items = [_image(part, seen, depth + 1) for part in value]
    elif kind == "dict":
        node.entries = [(_image(k, seen, depth + 1), _image(v, seen, depth + 1)) for k, v in value.items()]
    elif kind is not None:
        node.entries = [(_image(k, seen, depth + 1), None) for k in value]
    else:
        assert fields is not None
        node.fields = {name: _image(part, seen, depth + 1) for name, part in fields.items()}
    return node


def _fields(value: Any) -> dict[str, Any] | None:
    """What an object holds by name; None for an object of compiled code."""
    slots = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ()) if name[:2] != "__"]
    held = getattr(value, "__dict__", None)
    if type(held) is not dict and not slots:
        return None
    return {**(held or {}), **{name: getattr(value, name) for name in slots if hasattr(value, name)}}


def _key(state: Any) -> str:
    if isinstance(state, CaseObject):
        parts = [state.items, state.entries, list(state.fields.items())]
        return f"{state.number}{state.kind}{state.cls}({','.join(_key(part) for inside in parts for part in inside)})"
    return f"({','.join(map(_key, state))})" if isinstance(state, tuple) else repr(state)
