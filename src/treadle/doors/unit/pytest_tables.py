"""Tests that differ in literals alone become one table: a function with `pytest.mark.parametrize`.

Decides which drafts belong together, which of their literals are columns, and what a column is called: after the
parameter, variable or field that it is given to, `expected` for what the call returns. A literal that is the same in
all rows stays where it is, unless it is an argument of the call under test.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from treadle.symbolic.testcase import TestCase

_MOST_COLUMNS = 7
_WIDEST = 90
# What is written as a call, and is a value all the same.
_VALUES = {"Decimal", "Fraction", "date", "datetime", "time", "timedelta", "float", "frozenset", "set", "Path", "UUID"}
_VALUES |= {"OrderedDict"}
_TAKEN = {"request", "monkeypatch", "pytest", "result", "caught"}


@dataclass(slots=True)
class Draft:
    """A test before it has its place: its lines, and how it calls what is tested."""

    case: TestCase
    lines: list[str]
    call: str


@dataclass(slots=True)
class Table:
    """Drafts that are one function; `rows` holds the values of each in the order of the columns."""

    drafts: list[Draft]
    columns: list[str]
    rows: list[list[str]]
    lines: list[str]
    # an input is compared with a copy of it
    copies: bool = False


@dataclass(slots=True)
class _Hole:
    node: ast.expr
    wanted: str
    # given to the call under test, and shown in every row
    argument: bool = False
    text: str = ""


def gathered(
    drafts: list[Draft], parameters: Callable[[str], list[str]], reserved: Callable[[], set[str]]
) -> Iterator[Draft | Table]:
    """The tables first, then the drafts that are like no other.

    `parameters` tells those of what a test calls, `reserved` which names a column must not have.
    """
    alike: dict[str, list[tuple[Draft, list[_Hole]]]] = {}
    for draft in drafts:
        if draft.case.violation is not None:
            continue  # a finding stands for itself
        holes, skeleton = _Reader(draft, parameters).read()
        alike.setdefault(skeleton, []).append((draft, holes))
    tables = [table for group in alike.values() if len(group) > 1 and (table := _table(group, reserved())) is not None]
    yield from tables
    placed = {id(draft) for table in tables for draft in table.drafts}
    yield from (draft for draft in drafts if id(draft) not in placed)


class _Reader:
    """Finds the literals of a draft, with what they would be called."""

    def __init__(self, draft: Draft, parameters: Callable[[str], list[str]]) -> None:
        self.source = "\n".join(draft.lines)
        self.called = draft.call.removeprefix("list(").partition("(")[0]
        self.parameters = parameters
        self.holes: list[_Hole] = []

    def read(self) -> tuple[list[_Hole], str]:
        tree = ast.parse(self.source)
        for statement in tree.body:
            self._statement(statement)
        for hole in self.holes:
            hole.text = ast.get_source_segment(self.source, hole.node) or ""
        return self.holes, _without(tree, {id(hole.node) for hole in self.holes})

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name) | ast.Attribute(attr=name)], value=value):
                self._expression(value, name)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=func, args=[error]))], body=body):
                if ast.unparse(func) == "pytest.raises":
                    self.holes.append(_Hole(error, "error"))
                for statement in body:
                    self._statement(statement)
            case ast.Assert(test=ast.Compare(left=left, comparators=[right])):
                self._expression(left, "value")
                self._expression(right, self._outcome(left))
            case ast.Expr(value=value):
                self._expression(value, "value")

    def _expression(self, node: ast.expr, wanted: str, argument: bool = False) -> None:
        if _is_literal(node):
            self.holes.append(_Hole(node, wanted, argument))
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            own = called == self.called
            names = self.parameters("" if own else called) if called not in ("pytest.approx", "list", "str") else []
            for i, part in enumerate(node.args):
                self._expression(part, names[i] if i < len(names) else wanted, own)
            for given in node.keywords:
                returned = given.arg in ("return_value", "side_effect")  # of a stand-in
                self._expression(given.value, f"{wanted}_value" if returned else given.arg or wanted, own)
        elif isinstance(node, ast.Subscript):
            self._expression(node.value, wanted)
            self._expression(node.slice, "key")
        elif isinstance(node, ast.List | ast.Tuple):
            for part in node.elts:
                self._expression(part, wanted)

    def _outcome(self, left: ast.expr) -> str:
        shown = ast.unparse(left)
        if shown in ("str(caught.value)", "caught.value"):
            return "message"
        if shown == "result" or shown.removeprefix("list(").startswith(self.called):
            return "expected"
        if isinstance(left, ast.Call) and left.args:
            return f"{_last(left.args[0])}_length"
        return f"{_last(left)}_after"


def _last(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lstrip("_")
        case ast.Subscript(value=value):
            return _last(value)
    return "value"


def _is_literal(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return all(map(_is_literal, parts))
        case ast.Dict(keys=keys, values=values):
            return all(part is not None and _is_literal(part) for part in (*keys, *values))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=named):
            return name in _VALUES and all(map(_is_literal, (*args, *(k.value for k in named))))
    return False


def _is_mutable(text: str) -> bool:
    parts = ast.walk(ast.parse(text, mode="eval"))
    return text == "set()" or any(isinstance(part, ast.List | ast.Dict | ast.Set) for part in parts)


def _without(tree: ast.AST, holes: set[int]) -> str:
    """What two tests must have in common to be one."""

    def shape(node: object) -> str:
        if isinstance(node, list):
            return f"[{','.join(map(shape, node))}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if id(node) in holes:
            return "_"
        return f"{type(node).__name__}({','.join(shape(getattr(node, name, None)) for name in node._fields)})"

    return shape(tree)


@dataclass(slots=True)
class _Columns:
    """Columns while a table is made: their names, and the text of each in every row."""

    taken: set[str]
    texts: dict[str, list[str]] = field(default_factory=dict)
    # which of them hold inputs
    given: set[str] = field(default_factory=set)

    def unchanged(self, texts: list[str]) -> str | None:
        """The input that these are, where it must not be compared with itself."""
        if not any(map(_is_mutable, texts)):
            return None
        return next((name for name in self.given if self.texts[name] == texts), None)

    def name(self, wanted: str, texts: list[str], given: bool) -> str:
        """The column for these texts, which may be there already: an input that is the same afterwards."""
        if not given and wanted not in ("expected", "message", "error"):
            for name in self.given:
                if self.texts[name] == texts and not any(map(_is_mutable, texts)):
                    return name
        base = wanted.lstrip("_") or "value"
        base = f"{base}_" if keyword.iskeyword(base) else base
        name, n = base, 1
        while name in self.taken or name in self.texts:
            n += 1
            name = f"{base}_{n}"
        self.texts[name] = texts
        if given:
            self.given.add(name)
        return name


def _table(group: list[tuple[Draft, list[_Hole]]], reserved: set[str]) -> Table | None:
    first, holes = group[0]
    lines = [line.encode() for line in first.lines]
    columns = _Columns(_TAKEN | reserved | _names("\n".join(first.lines)))
    whole: set[int] = set()  # lines that only say x = x
    copies: list[str] = []
    changes: list[tuple[_Hole, str]] = []
    for number, hole in enumerate(holes):
        texts = [own[number].text for _, own in group]
        if len(set(texts)) == 1 and not hole.argument:
            continue
        line = first.lines[hole.node.lineno - 1]
        is_input = hole.argument or not line.lstrip().startswith(("assert", "with"))
        assigned = line == f"{hole.wanted} = {hole.text}"
        if assigned:
            columns.taken.discard(hole.wanted)
        unchanged = None if is_input else columns.unchanged(texts)
        name = columns.name(hole.wanted, texts, is_input) if unchanged is None else f"{unchanged}_before"
        if unchanged is not None:
            copies.append(f"{name} = copy.deepcopy({unchanged})")
        if assigned and name == hole.wanted:
            whole.add(hole.node.lineno - 1)
        changes.append((hole, name))
    widest = max((len(text) for texts in columns.texts.values() for text in texts), default=0)
    if not columns.texts or len(columns.texts) > _MOST_COLUMNS or widest > _WIDEST:
        return None
    for hole, name in sorted(changes, key=lambda c: (c[0].node.lineno, c[0].node.col_offset), reverse=True):
        node = hole.node
        if node.lineno != node.end_lineno:
            return None
        old = lines[node.lineno - 1]
        lines[node.lineno - 1] = old[: node.col_offset] + name.encode() + old[node.end_col_offset :]
    kept = [line.decode() for number, line in enumerate(lines) if number not in whole]
    names = sorted(columns.texts, key=lambda name: name not in columns.given)
    rows = [[columns.texts[name][row] for name in names] for row in range(len(group))]
    return Table([draft for draft, _ in group], names, rows, [*dict.fromkeys(copies), *kept], bool(copies))


def hint(texts: list[str]) -> str:
    """The type of a column, for these literals."""
    return _hint([ast.parse(text, mode="eval").body for text in texts])


# Calls that make containers: of one kind of elements, or of keys and values.
_HOLDERS = ("set", "frozenset", "deque")
_MAPPINGS = ("OrderedDict", "defaultdict")


def _hint(values: list[ast.expr]) -> str:
    found: dict[str, None] = {}
    held: dict[str, list[ast.expr]] = {}
    pairs: dict[str, list[tuple[ast.expr, ast.expr]]] = {}
    for value in values:
        match value:
            case ast.List() | ast.Set():
                held.setdefault(type(value).__name__.lower(), []).extend(value.elts)
            case ast.Dict():
                pairs.setdefault("dict", []).extend(_pairs(value))
            case ast.Call(func=ast.Name(id=name), args=args) if name in _HOLDERS:
                parts = [part for one in args if isinstance(one, ast.List | ast.Set | ast.Tuple) for part in one.elts]
                held.setdefault(name, []).extend(parts)
            case ast.Call(func=ast.Name(id=name), args=args) if name in _MAPPINGS:
                pairs.setdefault(name, []).extend(p for one in args if isinstance(one, ast.Dict) for p in _pairs(one))
            case ast.UnaryOp(operand=ast.Constant(value=constant)) | ast.Constant(value=constant):
                found[type(constant).__name__ if constant is not None else "None"] = None
            case ast.Tuple(elts=[]):
                found["tuple[()]"] = None
            case ast.Tuple(elts=parts):
                found[f"tuple[{', '.join(_hint([part]) for part in parts)}]"] = None
            case ast.Call(func=func):
                found[ast.unparse(func)] = None
            case ast.Name() | ast.Attribute():
                found["type[BaseException]"] = None
    containers = [f"{kind}[{_hint(parts)}]" for kind, parts in held.items()]
    for kind, both in pairs.items():
        containers.append(f"{kind}[{_hint([key for key, _ in both])}, {_hint([value for _, value in both])}]")
    shown = [*containers, *sorted(found, key=lambda one: one == "None")]
    return " | ".join(shown) if 0 < len(shown) <= 3 else "object"


def _pairs(value: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    return [(key, part) for key, part in zip(value.keys, value.values, strict=True) if key is not None]


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
