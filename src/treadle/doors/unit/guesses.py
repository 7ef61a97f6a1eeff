"""What a suite takes for granted about types: a guess is named, and the suite does not claim every path.

A hint, --types or a value that shows its type is taken at its word. Everything else is a guess: the type that a
parameter's uses suggest, the elements of a bare `list`, a few types for `object`, int for a field of which nothing is
known.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from treadle.doors.unit.options import UnitOptions
from treadle.doors.unit.target import UnitTarget
from treadle.symbolic import types as t
from treadle.symbolic.python.types import fields, hints
from treadle.symbolic.testcase import CaseObject, TestCase

_BARE = (list, dict, set, frozenset, tuple)


def guesses_of(
    target: UnitTarget, options: UnitOptions, kinds: dict[str, t.Type], cases: Iterable[TestCase]
) -> list[str]:
    """One sentence for each guess that the cases of a target rest on."""
    return [*_parameters(target, options, kinds), *dict.fromkeys(_fields(cases))]


def _parameters(target: UnitTarget, options: UnitOptions, kinds: dict[str, t.Type]) -> Iterator[str]:
    resolved = hints.resolved_hints(target.function)
    of = f"of {target.name}"
    for parameter in inspect.signature(target.function).parameters.values():
        name, hint = parameter.name, resolved.get(parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD:
            yield f"nothing is given for **{name} {of}"
        if name not in kinds or name in options.types:
            continue
        if hint is None or (hints.from_hint(hint) is None and hint not in (object, Any)):
            yield f"'{name}' {of} is {kinds[name]}; it has no hint that could be used"
        elif hint in (object, Any):
            yield f"'{name}' {of}, which may be anything, is {kinds[name]}"
        else:
            yield from (f"'{name}' {of} is {kinds[name]}: {why}" for why in _left_open(hint))


def _left_open(hint: Any) -> Iterator[str]:
    """What a hint does not say, or says and is not tried."""
    if hint in _BARE:
        yield f"the hint '{hint.__name__}' does not tell its elements"
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        for part in args:
            if hints.from_hint(part) is None:
                yield f"{getattr(part, '__name__', part)} is not tried"
    if origin is not typing.Literal:
        for part in args:
            yield from _left_open(part)


def _fields(cases: Iterable[TestCase]) -> Iterator[str]:
    for case in cases:
        for node in _objects(list(case.arguments.values())):
            for name in node.fields if node.cls is not None else ():
                if node.cls is not None and fields.is_guess(node.cls, name):
                    yield f"the field '{name}' of {node.cls.__name__} is {fields.field_type(node.cls, name)}; {_HOW}"


_HOW = "annotate it to have others tried"


def _objects(todo: list[Any]) -> Iterator[CaseObject]:
    met: set[int] = set()
    while todo:
        value = todo.pop()
        if isinstance(value, tuple):
            todo.extend(value)
        elif isinstance(value, CaseObject) and value.number not in met:
            met.add(value.number)
            yield value
            todo += [*value.items, *value.fields.values(), *(part for entry in value.entries for part in entry)]
