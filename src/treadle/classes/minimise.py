"""From a failing test to one that a person reads: fewer calls, shorter arguments, only what shows the fault.

Keeps: whatever is dropped, the smaller test was explored again and fails in the same way.
"""

from __future__ import annotations

import ast
import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from treadle.classes.calls import Argument, MethodCall, Value
from treadle.classes.interleavings import InterleavingExplorer, Witness
from treadle.classes.stage import NotPlayed, Test
from treadle.search.shrink import shrink

# Schedules of one candidate: the fault is known to be near.
_MOST = 400


def minimise(explorer: InterleavingExplorer, witness: Witness, may_go_on: Callable[[], bool]) -> Witness:
    """The smallest failing test found while it may go on."""
    witness = _only_what_shows(explorer, witness, may_go_on)
    return shrink(
        witness,
        lambda failing: _smaller(failing.test),
        lambda test: _fails_alike(explorer, test, witness, may_go_on),
        may_go_on,
    )


def _only_what_shows(explorer: InterleavingExplorer, witness: Witness, may_go_on: Callable[[], bool]) -> Witness:
    """Leave out every look at the object but the one that shows the violation."""
    test, (kind, number, _) = witness.test, witness.violation.where
    bare = test.but(omega=(), later=(), fields=())
    candidates = [bare]
    if kind == "observed":
        candidates.append(bare.but(omega=(test.omega[number],)))
    elif kind == "field":
        candidates.append(bare.but(fields=(test.fields[number],)))
    elif kind == "later":
        candidates.append(bare.but(later=(test.later[number],)))
        candidates.append(bare.but(later=test.later[: number + 1]))
    for candidate in candidates:
        found = _fails_alike(explorer, candidate, witness, may_go_on)
        if found is not None:
            return found
    return _fewer_looks(explorer, witness, may_go_on)


def _fewer_looks(explorer: InterleavingExplorer, witness: Witness, may_go_on: Callable[[], bool]) -> Witness:
    """Several looks together show it: leave out one after the other."""
    for kind in ("later", "omega", "fields"):
        for look in reversed(getattr(witness.test, kind)):
            fewer = tuple(one for one in getattr(witness.test, kind) if one != look)
            witness = _fails_alike(explorer, witness.test.but(**{kind: fewer}), witness, may_go_on) or witness
    return witness


def _smaller(test: Test) -> Iterator[Test]:
    """Tests with less before them, fewer calls in them, or plainer arguments."""
    if test.alpha:
        yield test.but(alpha=())
        for place in range(len(test.alpha)):
            yield test.but(alpha=test.alpha[:place] + test.alpha[place + 1 :])
    for thread, calls in enumerate(test.threads):
        if len(calls) > 1:
            for place in range(len(calls)):
                fewer = calls[:place] + calls[place + 1 :]
                yield test.but(threads=tuple(fewer if n == thread else c for n, c in enumerate(test.threads)))
        for changed in _one_plainer(calls):
            yield test.but(threads=tuple(changed if n == thread else c for n, c in enumerate(test.threads)))
    for changed in _one_plainer(test.alpha):
        yield test.but(alpha=changed)
    for (root,) in _one_plainer((test.root,)):
        yield test.but(root=root)


def _one_plainer(calls: tuple[MethodCall, ...]) -> Iterator[tuple[MethodCall, ...]]:
    for place, call in enumerate(calls):
        for plainer in _plainer(call):
            yield (*calls[:place], plainer, *calls[place + 1 :])


def _plainer(call: MethodCall) -> Iterator[MethodCall]:
    """The same call without one of its optional arguments, or with a shorter value for one of them."""
    for place, argument in enumerate(call.arguments):
        if argument.name:
            yield replace(call, arguments=call.arguments[:place] + call.arguments[place + 1 :])
        for value in shorter(argument.value):
            changed = (*call.arguments[:place], Argument(value, argument.name), *call.arguments[place + 1 :])
            yield replace(call, arguments=changed)


def shorter(value: Value) -> Iterator[Value]:
    """Values of the same kind with a shorter source, the shortest first."""
    try:
        tree = ast.parse(value.source, mode="eval").body
    except SyntaxError:  # the shared object itself
        return
    sources = {ast.unparse(node) for node in _less(tree)}
    for source in sorted(sources, key=lambda text: (len(text), text)):
        if len(source) < len(ast.unparse(tree)):
            yield Value(source, value.needs)


def _less(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression can become by taking something away: numbers become 1 or lose digits, texts lose their second
    half, containers lose an element, and so on inside."""
    if isinstance(node, ast.Constant):
        yield from map(ast.Constant, _less_of_constant(node.value))
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
        yield from _less(node.operand)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for place in range(len(node.elts)):
            fewer = node.elts[:place] + node.elts[place + 1 :]
            if fewer or not isinstance(node, ast.Set):
                yield _with(node, elts=fewer)
    elif isinstance(node, ast.Dict):
        for place in range(len(node.keys)):
            keys, values = node.keys[:place] + node.keys[place + 1 :], node.values[:place] + node.values[place + 1 :]
            yield _with(node, keys=keys, values=values)
    for name in ("elts", "args", "keys", "values"):
        inner = getattr(node, name, [])
        for place, part in enumerate(inner):
            for less in _less(part) if part is not None else ():
                yield _with(node, **{name: [*inner[:place], less, *inner[place + 1 :]]})


def _less_of_constant(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [1, value // 10] if value > 9 else []
    if isinstance(value, float):
        return [1.0, float(int(value))] if math.isfinite(value) else [1.0]
    if isinstance(value, str):
        return ["a", value[: len(value) // 2]] if len(repr(value)) > 3 else []
    if isinstance(value, bytes):
        return [b"a", value[: len(value) // 2]] if len(repr(value)) > 4 else []
    return []


def _with(node: ast.expr, **changes: Any) -> ast.expr:
    copied = copy.copy(node)
    for name, part in changes.items():
        setattr(copied, name, part)
    return copied


def _fails_alike(
    explorer: InterleavingExplorer, test: Test, witness: Witness, may_go_on: Callable[[], bool]
) -> Witness | None:
    try:
        explored = explorer.explore(test, _MOST, may_go_on, effect=witness.effect)
    except NotPlayed:
        return None  # a shorter value that the class does not take: the object cannot be made
    return next((found for found in explored.witnesses if found.effect == witness.effect), None)
