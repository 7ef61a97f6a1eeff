"""What a suite takes for granted about its inputs: a guess is named, and the suite does not claim every path.

A hint, --types or a value that shows its type is taken at its word. Everything else is a guess: the type that a
parameter's uses suggest, the elements of a bare `list`, a few types for `object`, int for a field of which nothing is
known. So is what a hint allows and the explorer does not follow: a tuple for a Sequence, nan and inf, letters and
digits beyond ASCII's, a field that is not set.
"""

from __future__ import annotations

import collections.abc as abc
import inspect
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.python.calls.world import NOT_FOLLOWED
from treadle.symbolic.python.types import fields, hints
from treadle.symbolic.solve.regular import is_of_ascii
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.explore import ExploredTarget
from treadle.units.options import UnitOptions
from treadle.units.target import UnitTarget
from treadle.units.unfollowed import asked_in_vain, makes_floats

_BARE = (list, dict, set, frozenset, tuple)
# what is followed for an interface
_FOLLOWED: dict[type, str] = {
    **dict.fromkeys((abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection, abc.Reversible), "a list"),
    **dict.fromkeys((abc.Iterator, abc.Generator), "a list"),
    **dict.fromkeys((abc.Mapping, abc.MutableMapping), "a dict"),
    **dict.fromkeys((abc.Set, abc.MutableSet), "a set"),
}
# Operators of expressions, and the methods behind them, that ask for the class of a character.
_OF_CHARACTERS = {"in_class", "recased"}
_CHARACTER_METHODS = {
    *("isdigit", "isdecimal", "isnumeric", "isalpha", "isalnum", "isspace", "islower", "isupper", "istitle"),
    *("isidentifier", "isascii", "isprintable", "upper", "lower", "casefold", "title", "capitalize", "swapcase"),
}


def guesses_of(
    target: UnitTarget, options: UnitOptions, kinds: dict[str, t.Type], explored: ExploredTarget
) -> list[str]:
    """One sentence for each guess that the cases of a target rest on."""
    found = [*_parameters(target, options, kinds), *dict.fromkeys(_fields(explored.cases))]
    floats = any(case.has_floats for case in explored.cases) or makes_floats(target.function)
    if floats or _is_within(t.FLOAT, kinds.values()):
        found.append(f"floats of {target.name} are exact numbers: nan, inf and rounding are not followed")
    asked = {name for case in explored.cases for name in case.world}
    found += [f"{why} in {target.name} is not followed" for name, why in NOT_FOLLOWED.items() if name in asked]
    if _asks_for_characters(target.function.__code__) or any(map(_has_characters, _decided(explored))):
        found.append(f"letters and digits in texts of {target.name} are those of ASCII")
    return [*found, *asked_in_vain(target, kinds)]


def _is_within(wanted: t.Type, kinds: Iterable[t.Type]) -> bool:
    """Whether one of the types has the wanted one in it; fields of objects are not looked into."""
    for kind in kinds:
        inside: tuple[t.Type, ...] = ()
        match kind:
            case t.ListOf(element=element) | t.SetOf(element=element):
                inside = (element,)
            case t.DictOf(key=key, value=value):
                inside = (key, value)
            case t.TupleOf(elements=elements, rest=rest):
                inside = (*elements, *([rest] if rest is not None else []))
            case t.Union(options=inside):
                pass
            case t.FunctionOf(returns=returns):
                inside = (returns,)
        if kind == wanted or _is_within(wanted, inside):
            return True
    return False


def _asks_for_characters(code: types.CodeType) -> bool:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return bool(_CHARACTER_METHODS.intersection(code.co_names)) or any(map(_asks_for_characters, inner))


def _decided(explored: ExploredTarget) -> Iterator[Expr]:
    return (part for story, _ in explored.seen.ends for part in story if isinstance(part, Expr))


def _has_characters(part: Expr) -> bool:
    if part.op in ("matched", "group", "has_group", "group_start") and is_of_ascii(part.args[1], part.args[2]):
        return True
    return part.op in _OF_CHARACTERS or any(isinstance(a, Expr) and _has_characters(a) for a in part.args)


def _parameters(target: UnitTarget, options: UnitOptions, kinds: dict[str, t.Type]) -> Iterator[str]:
    resolved = hints.resolved_hints(target.function)
    of = f"of {target.name}"
    given = {parameter.name for parameter in target.parameters()}
    for parameter in inspect.signature(target.function).parameters.values():
        name, hint = parameter.name, resolved.get(parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD:
            yield f"nothing is given for **{name} {of}"
        if name in given and name not in kinds:
            yield f"'{name}' {of} always has its default; it has no hint that could be used"
        if name not in kinds or name in options.types:
            continue
        if not _has_default_in(kinds[name], parameter.default):
            yield f"the default of '{name}' {of} is not {kinds[name]}, and not followed"
        if hint is None or (hints.from_hint(hint) is None and hint not in (object, Any)):
            yield f"'{name}' {of} is {kinds[name]}; it has no hint that could be used"
        elif hint in (object, Any):
            yield f"'{name}' {of}, which may be anything, is {kinds[name]}"
        else:
            yield from (f"'{name}' {of} is {kinds[name]}: {why}" for why in left_open(hint))


def _has_default_in(kind: t.Type, default: Any) -> bool:
    """Whether a default is a value of the type, which the cases of the type then stand for."""
    if default is inspect.Parameter.empty:
        return True
    for option in t.options(kind):
        match option:
            case t.NoneType() if default is None:
                return True
            case t.Scalar(kind=scalar) if scalar in [base.__name__ for base in type(default).__mro__]:
                return True
            case t.Scalar(kind="float") if isinstance(default, int):
                return True
            case t.OneOf(values=values) | t.Samples(values=values) if any(type(v) is type(default) for v in values):
                return True
            case t.Instance(cls=cls) if isinstance(default, cls):
                return True
            case t.ListOf() | t.DictOf() | t.SetOf() | t.TupleOf():
                if str(option).partition("[")[0] in [base.__name__ for base in type(default).__mro__]:
                    return True
            case t.FunctionOf() if callable(default):
                return True
    return False


def left_open(hint: Any) -> Iterator[str]:
    """What a hint does not say, or allows and is not followed."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _BARE:
        yield f"the hint '{hint.__name__}' does not tell its elements"
    if typing.is_typeddict(hint) or (isinstance(hint, type) and issubclass(hint, tuple) and hint is not tuple):
        for part in hints.resolved_hints(hint).values():
            yield from left_open(part)
    if isinstance(hint, typing.TypeVar):
        yield from _type_variable(hint)
    if hint in (abc.Callable, typing.Callable) or origin is abc.Callable:
        yield "a function that raises is not followed"
    if hint in (abc.Callable, typing.Callable):
        yield "the hint 'Callable' does not tell its result"
    interface = origin or hint
    if isinstance(interface, type) and interface in _FOLLOWED:
        yield f"only {_FOLLOWED[interface]} is followed for {interface.__name__}"
        if not args:
            yield f"the hint '{interface.__name__}' does not tell its elements"
    if origin is typing.Literal:
        return
    if origin is abc.Callable:
        args = args[-1:]
    for part in args:
        if part is Ellipsis or part == ():
            continue
        if part in (object, Any):
            yield f"{getattr(part, '__name__', part)} may be anything"
        elif hints.from_hint(part) is None and origin is not typing.Annotated:
            yield f"{getattr(part, '__name__', part)} is not followed"
        elif origin is not typing.Annotated or part is args[0]:
            yield from left_open(part)


def _type_variable(hint: typing.TypeVar) -> Iterator[str]:
    if hint.__constraints__:
        first = hint.__constraints__[0]
        yield f"of {hint.__name__} only {getattr(first, '__name__', first)} is followed"
    elif hint.__bound__ is None:
        yield f"{hint.__name__} may be anything"


def _fields(cases: Iterable[TestCase]) -> Iterator[str]:
    for case in cases:
        for node in _objects(list(case.arguments.values())):
            for name in node.fields if node.cls is not None else ():
                assert node.cls is not None
                place = f"the field '{name}' of {node.cls.__name__}"
                if fields.is_guess(node.cls, name):
                    yield f"{place} is {fields.field_type(node.cls, name)}; {_HOW}"
                else:
                    yield from (f"{place}: {why}" for why in left_open(fields.field_hint(node.cls, name)))
                if not fields.is_set_when_made(node.cls, name):
                    yield f"{place}, which no constructor sets, is always set"


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
