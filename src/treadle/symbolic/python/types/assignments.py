"""The fields of a class by name: where its methods assign to self, what it annotates, its slots."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from collections.abc import Iterator, Sequence
from typing import Any

from treadle.core.parsing import mangle


def slots(cls: type) -> list[str]:
    names: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        names.extend([slots] if isinstance(slots, str) else list(slots))
    private = [mangle(n, cls.__name__) for n in names]
    return [n for n in private if n not in ("__dict__", "__weakref__")]


def methods(cls: type) -> list[tuple[ast.FunctionDef, Any]]:
    """The functions of a class with their text, the constructor first."""
    key: object = cls
    return _methods(key)


@functools.cache
def _methods(cls: Any) -> list[tuple[ast.FunctionDef, Any]]:
    found = []
    written = [part for v in vars(cls).values() for part in ((v.fget, v.fset) if isinstance(v, property) else (v,))]
    for function in written:
        if not isinstance(function, types.FunctionType) or function.__code__.co_filename.startswith("<"):
            continue
        try:
            node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            continue
        if isinstance(node, ast.FunctionDef):
            found.append((node, function))
    # the constructor decides before other methods do
    return sorted(found, key=lambda pair: pair[0].name != "__init__")


Assignment = ast.Assign | ast.AnnAssign | ast.AugAssign


def is_managed(cls: type, name: str) -> bool:
    """Whether a property or another descriptor written in Python stands for the attribute: it is not a field."""
    found = cls.__dict__.get(name)
    return isinstance(found, property) or isinstance(getattr(type(found), "__set__", None), types.FunctionType)


def receiver(node: ast.FunctionDef) -> str:
    parameters = [*node.args.posonlyargs, *node.args.args]
    return parameters[0].arg if parameters else ""


def always_assigns(node: ast.FunctionDef, base: type, name: str) -> bool:
    """Whether each way through a method that ends well gives self.name a value, as far as its text shows it."""
    given = [statement for assigned, statement, _ in assignments(node, base) if assigned == name]
    return _meets(node.body, given)


def _meets(body: list[ast.stmt], wanted: list[Assignment]) -> bool:
    for statement in body:
        if statement in wanted:
            return not isinstance(statement, ast.AnnAssign) or statement.value is not None
        match statement:
            case ast.Raise():
                return True
            case ast.If() if _meets(statement.body, wanted) and _meets(statement.orelse, wanted):
                return True
            case ast.With() if _meets(statement.body, wanted):
                return True
            case ast.Try():
                ends = [[*statement.body, *statement.orelse], *(handler.body for handler in statement.handlers)]
                if all(_meets(end, wanted) for end in ends) or _meets(statement.finalbody, wanted):
                    return True
            case ast.Match(cases=cases) if isinstance(cases[-1].pattern, ast.MatchAs) and not cases[-1].pattern.pattern:
                if all(_meets(case.body, wanted) for case in cases):
                    return True
        if any(isinstance(part, ast.Return) for part in ast.walk(statement)):
            return False
    return False


def assignments(node: ast.FunctionDef, base: object) -> Sequence[tuple[str, Assignment, ast.expr | None]]:
    """Each self.x = value in a method: the name, the statement, the value."""
    return _assignments(node, base)


@functools.cache
def _assignments(node: ast.FunctionDef, base: Any) -> Sequence[tuple[str, Assignment, ast.expr | None]]:
    return tuple(_all_assignments(node, base))


def _all_assignments(node: ast.FunctionDef, base: type) -> Iterator[tuple[str, Assignment, ast.expr | None]]:
    me = receiver(node)
    for statement in ast.walk(node):
        if not isinstance(statement, Assignment):
            continue
        targets: list[ast.expr]
        targets = [*statement.targets] if isinstance(statement, ast.Assign) else [statement.target]
        for target, value in _pairs(targets, statement.value):
            match target:
                case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner == me:
                    name = mangle(name, base.__name__)
                    if not is_managed(base, name):
                        yield name, statement, value


def mentioned_fields(cls: type) -> frozenset[str]:
    """The names of the fields, without their types: what they are may depend on classes that have such fields."""
    key: object = cls
    return _mentioned_fields(key)


@functools.cache
def _mentioned_fields(cls: Any) -> frozenset[str]:
    names = set(slots(cls))
    for base in cls.__mro__:
        if base is not object:
            names.update(inspect.get_annotations(base))
            names.update(name for node, _ in methods(base) for name, _, _ in assignments(node, base))
    return frozenset(names)


def _pairs(targets: list[ast.expr], value: ast.expr | None) -> list[tuple[ast.expr, ast.expr | None]]:
    found: list[tuple[ast.expr, ast.expr | None]] = []
    for target in targets:
        if isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
            if len(values) == len(target.elts):
                found.extend(zip(target.elts, values, strict=True))
        else:
            found.append((target, value))
    return found
