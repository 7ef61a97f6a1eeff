"""Which heap assumptions hold for a target: from --assume, from `@treadle.assume`, and inferred on request.

What cannot be an assumption is one sentence: no such kind, no such parameter, no such field. A finished test case is
checked once more against all of them, whatever heap the path was explored with.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Sequence
from typing import Any

from treadle.core.assume import MARK
from treadle.core.errors import UsageError
from treadle.core.words import choices, hint
from treadle.symbolic import types as t
from treadle.symbolic.heap.assumptions import KINDS, Graph, HeapAssumption, broken
from treadle.symbolic.python.types import fields
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.testcase import CaseObject, TestCase
from treadle.units.target import UnitTarget, no_parameter

_EXAMPLE = 'write non_aliasing(a, b), non_sharing(a, b) or acyclic(a), for example --assume "acyclic(self)"'


def assumptions_of(target: UnitTarget, given: Sequence[str], types: dict[str, t.Type]) -> tuple[HeapAssumption, ...]:
    """Those of the command line and those of the decorator, checked against the parameters."""
    found = [parsed(text, f'--assume "{text}"') for text in given]
    for assumption in found:
        _check(assumption, target, types, f'--assume "{assumption}"')
    for text, on_class in _decorated(target):
        where = f"{target.file}:{target.line}: assume({text!r})"
        assumption = parsed(text, where)
        if on_class and not _fits(assumption, target):
            continue
        _check(assumption, target, types, where)
        found.append(assumption)
    return tuple(dict.fromkeys(_of_receiver(one, target) for one in found))


def _of_receiver(assumption: HeapAssumption, target: UnitTarget) -> HeapAssumption:
    """The receiver is called self, whatever the method calls it."""
    if target.receiver != "self":
        return assumption
    first = _parameters(target)[0]
    places = (place.partition(".") for place in assumption.locations)
    return HeapAssumption(assumption.kind, tuple(f"{'self' if a == first else a}{dot}{b}" for a, dot, b in places))


def _decorated(target: UnitTarget) -> list[tuple[str, bool]]:
    """(text, whether it is on the class) of every @treadle.assume."""
    found: list[tuple[str, bool]] = []
    current: Any = target.decorated
    while current is not None:
        found += [(text, False) for text in vars(current).get(MARK, ())] if hasattr(current, "__dict__") else []
        current = getattr(current, "__wrapped__", None)
    for base in target.cls.__mro__ if target.cls is not None else ():
        found += [(text, True) for text in vars(base).get(MARK, ())]
    return list(dict.fromkeys(found))


def parsed(text: str, where: str) -> HeapAssumption:
    """The assumption that a text means."""
    if not isinstance(text, str):
        raise UsageError(f"{where}: an assumption is a text; {_EXAMPLE}")
    try:
        # the paper writes non-aliasing
        node = ast.parse(re.sub(r"^\s*non-", "non_", text).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise UsageError(f"{where}: not an assumption; {_EXAMPLE}") from None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        raise UsageError(f"{where}: not an assumption; {_EXAMPLE}")
    kind = node.func.id
    if kind not in KINDS:
        raise UsageError(f"{where}: no assumption is called '{kind}'{choices(kind, KINDS)}")
    if len(node.args) != KINDS[kind]:
        wanted = "one place" if KINDS[kind] == 1 else "two places"
        raise UsageError(f"{where}: {kind} speaks of {wanted} in the heap, not {len(node.args)}; {_EXAMPLE}")
    return HeapAssumption(kind, tuple(_location(arg, where) for arg in node.args))


def _location(node: ast.expr, where: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise UsageError(f"{where}: '{ast.unparse(node)}' is no place in the heap; write a parameter, or a.first.next")
    return ".".join([node.id, *parts])


def _parameters(target: UnitTarget) -> list[str]:
    names = list(inspect.signature(target.function).parameters)
    return names[1:] if target.receiver in ("new", "cls") else names


def _fits(assumption: HeapAssumption, target: UnitTarget) -> bool:
    names = ["self" if target.receiver == "self" else "", *_parameters(target)]
    return all(location.partition(".")[0] in names for location in assumption.locations)


def _check(assumption: HeapAssumption, target: UnitTarget, types: dict[str, t.Type], where: str) -> None:
    names = _parameters(target)
    for location in assumption.locations:
        name, *parts = location.split(".")
        if name not in names:
            raise UsageError(f"{where}: {no_parameter(name, target.name, names)}")
        mine = target.receiver == "self" and name == names[0]
        kind = t.Instance(target.cls or object) if mine else types.get(name)
        for i, part in enumerate(parts):
            kind = _field(kind, part, ".".join([name, *parts[:i]]), where)
        if kind is not None and all(isinstance(o, t.Scalar | t.NoneType) for o in t.options(kind)):
            raise UsageError(f"{where}: '{location}' is {kind}, no object; assumptions speak of objects and containers")


def _field(kind: t.Type | None, name: str, owner: str, where: str) -> t.Type | None:
    """The type of a field; None if nothing is known of the owner."""
    classes = [o.cls for o in t.options(kind) if isinstance(o, t.Instance)] if kind is not None else []
    everything = [c for cls in classes for c in known_subclasses(cls)]
    if not everything:
        return None
    for cls in everything:
        found = fields.field_type(cls, name)
        if found is not None:
            return found
    known = sorted({f for cls in everything for f in fields.field_names(cls)})
    near = hint(name, known, f"; the fields of {classes[0].__name__} are {', '.join(known)}")
    raise UsageError(f"{where}: '{owner}' has no field '{name}'{near}")


def fitting(given: Sequence[str], targets: Sequence[UnitTarget]) -> dict[str, tuple[str, ...]]:
    """Target -> the assumptions that speak of its parameters; each must speak of some target's."""
    found: dict[str, tuple[str, ...]] = {}
    ready = [(text, parsed(text, f'--assume "{text}"')) for text in given]
    for target in targets:
        alone = len(targets) == 1
        found[target.text] = tuple(text for text, assumption in ready if alone or _fits(assumption, target))
    for text, assumption in ready:
        if not any(text in texts for texts in found.values()):
            _check(assumption, targets[0], {}, f'--assume "{text}"')
    return found


# --- finished cases --------------------------------------------------------------------------------------------


def hold_for(case: TestCase, assumptions: Sequence[HeapAssumption]) -> bool:
    """Whether the inputs of a test case are such as was assumed."""
    if not assumptions:
        return True
    graph = Graph(case.arguments, _stored, _held, lambda value: value.number if isinstance(value, CaseObject) else None)
    return not any(broken(one, graph) for one in assumptions)


def _stored(value: Any, name: str) -> Any:
    return value.fields.get(name) if isinstance(value, CaseObject) else None


def _held(value: Any) -> list[Any]:
    if isinstance(value, CaseObject):
        return [*value.fields.values(), *value.items, *(part for pair in value.entries for part in pair)]
    return list(value) if isinstance(value, tuple) else []
