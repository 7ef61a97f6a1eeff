"""Program points as a person writes them: `bank.py:57`, `bank.py:12,19`, or `57` for a line of the target's file.

Decides what such a place means (which statement of which function) and every way it can be wrong: no such file in the
program, a line without code, a line that runs at import. A line in the middle of a statement stands for the statement.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treadle.core.errors import UsageError
from treadle.symbolic.ir import flow
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.compile.statements import compile_function
from treadle.units.target import UnitTarget

_PLACE = re.compile(r"(?:(?P<file>.+\.py):)?(?P<lines>\d+(?:,\d+)*)")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Point:
    """One line that a test is to reach."""

    text: str
    file: str
    line: int
    # the lines of its statement on which something happens: any of them will do
    lines: tuple[int, ...]
    # control cannot come here, whatever the inputs
    dead: bool


def is_place(text: str) -> bool:
    """Whether an argument names lines rather than a target."""
    return _PLACE.fullmatch(text) is not None


def places(texts: Iterable[str | int]) -> list[tuple[str | None, int]]:
    """(file or None, line) of each place."""
    found: list[tuple[str | None, int]] = []
    for text in texts:
        match = _PLACE.fullmatch(str(text))
        if match is None:
            raise UsageError(f"'{text}' is not a program point; write FILE:LINE, for example bank.py:57")
        found.extend((match["file"], int(line)) for line in match["lines"].split(","))
    return list(dict.fromkeys(found))


def points_of(texts: Iterable[str | int], target: UnitTarget) -> list[Point]:
    """The points, each looked up in the program that the target belongs to."""
    return [_point(given, line, target) for given, line in places(texts)]


def _point(given: str | None, line: int, target: UnitTarget) -> Point:
    file = target.file if given is None else _file(given, target)
    text = f"{given or os.path.basename(file)}:{line}"
    try:
        tree, _ = source.tree_of(file)
    except source.NoSource as error:
        raise UsageError(f"{text}: {error}") from None
    tops = list(_outermost(tree))
    definition = next((d for d in tops if _first(d) <= line <= (d.end_lineno or d.lineno)), None)
    alive, dead = _code_lines(definition, file) if definition is not None else (set(), set())
    wanted = _statement_lines(definition, line, alive | dead) if definition is not None else ()
    if not wanted:
        raise UsageError(_no_code(text, line, file, tops, tree))
    return Point(text, file, line, tuple(sorted(wanted)), not set(wanted) & alive)


def _file(given: str, target: UnitTarget) -> str:
    """The loaded file that a name means: the target's own, else one whose path ends like that."""
    wanted = os.path.normpath(given).split(os.sep)
    loaded = {f for m in list(sys.modules.values()) if isinstance(f := getattr(m, "__file__", None), str)}
    absolute = os.path.abspath(given)
    if target.file == absolute or _ends_like(target.file, wanted):
        return target.file
    if absolute in loaded:
        return absolute
    found = sorted(f for f in loaded if _ends_like(f, wanted))
    near = [f for f in found if os.path.commonpath([os.path.dirname(target.file), f]) == os.path.dirname(target.file)]
    if len(found) == 1 or len(near) == 1:
        return (near or found)[0]
    if not found:
        raise UsageError(f"'{target.text}' does not use the file '{given}': no module that it imports comes from there")
    raise UsageError(f"'{given}' may be {' or '.join(found)}; write more of the path")


def _ends_like(file: str, wanted: Sequence[str]) -> bool:
    return file.split(os.sep)[-len(wanted) :] == list(wanted)


def _outermost(node: ast.AST) -> Iterable[Definition]:
    """The functions that are not inside another function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child
        else:
            yield from _outermost(child)


def _first(node: Definition | ast.stmt) -> int:
    """The first line of a statement, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def _code_lines(definition: Definition, file: str) -> tuple[set[int], set[int]]:
    """Lines on which something happens, nested functions included: those that control can come to, and dead ones."""
    alive: set[int] = set()
    every: set[int] = set()
    todo = [compile_function(definition, file)]
    while todo:
        code = todo.pop()
        alive |= flow.code_lines(code, ir.reachable(code))
        every |= flow.code_lines(code)
        todo.extend(s.function for block in code.blocks for s in block.steps if isinstance(s, ir.ClosureStep))
    return alive, every - alive


def _statement_lines(definition: Definition, line: int, code: set[int]) -> set[int]:
    """The lines with code that a line of a function stands for."""
    if isinstance(definition, ast.Lambda):
        return code & set(range(definition.lineno, (definition.end_lineno or definition.lineno) + 1))
    inside = [
        node
        for node in ast.walk(definition)
        if isinstance(node, ast.stmt) and node is not definition and _first(node) <= line <= (node.end_lineno or 0)
    ]
    if not inside:
        return set()
    statement = max(inside, key=lambda node: (node.lineno, -(node.end_lineno or 0)))
    if isinstance(statement, ast.Try) and line == statement.lineno:
        # the keyword does nothing: what follows it is what happens
        return _statement_lines(definition, statement.body[0].lineno, code)
    if line in code:
        return {line}
    if isinstance(statement, ast.Match):
        # a pattern that fits everything does nothing either
        case = next((c for c in statement.cases if c.pattern.lineno <= line < c.body[0].lineno), None)
        if case is not None:
            return _statement_lines(definition, case.body[0].lineno, code)
        return (
            code & set(range(statement.lineno, statement.cases[0].pattern.lineno))
            if line == statement.lineno
            else set()
        )
    parts: list[ast.stmt] = getattr(statement, "body", [])
    last = (parts[0].lineno - 1) if parts else (statement.end_lineno or statement.lineno)
    return code & set(range(statement.lineno, last + 1)) if line <= last else set()


def _no_code(text: str, line: int, file: str, tops: Sequence[Definition], tree: ast.Module) -> str:
    every: set[int] = set()
    for definition in tops:
        alive, dead = _code_lines(definition, file)
        every |= alive | dead
    before = max((n for n in every if n < line), default=None)
    after = min((n for n in every if n > line), default=None)
    near = [str(n) for n in (before, after) if n is not None]
    at_import = any(isinstance(n, ast.stmt) and line in _own_lines(n) for n in ast.walk(tree)) and not any(
        _first(d) <= line <= (d.end_lineno or d.lineno) for d in tops
    )
    why = "is not in a function: it runs when the module is imported" if at_import else "has no code"
    if not near:
        return f"{text} {why}, and no function of that file has any"
    return f"{text} {why}; the nearest line{'s' * (len(near) > 1)} with code: {' and '.join(near)}"


def _own_lines(statement: ast.stmt) -> range:
    """The lines of a statement, without those of the statements in it."""
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno or statement.lineno
    return range(_first(statement), max(last, statement.lineno) + 1)


def target_around(text: str) -> str:
    """The function that a point lies in, as a target: where only the point is named."""
    given, line = places([text])[0]
    if given is None:
        raise UsageError(f"'{text}': say in which file, for example bank.py:{line}, or name a target")
    if not os.path.isfile(given):
        raise UsageError(f"no file '{given}'")
    tree, _ = source.tree_of(os.path.abspath(given))

    def within(node: ast.AST, names: list[str]) -> str | None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                deeper = within(child, names)
                if deeper is not None:
                    return deeper
                continue
            first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
            if first <= line <= (child.end_lineno or child.lineno):
                if isinstance(child, ast.ClassDef):
                    return within(child, [*names, child.name])
                return ".".join([*names, child.name])
        return None

    found = within(tree, [])
    if found is None:
        raise UsageError(_no_code(text, line, os.path.abspath(given), list(_outermost(tree)), tree))
    return f"{given}:{found}"
