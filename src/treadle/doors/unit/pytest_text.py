"""How a written test is worded: its name, the id of a row, its docstring, lines that are too long."""

from __future__ import annotations

import ast
import re

from treadle.units.value_source import quoted

WIDTH = 100
_ID_WIDTH = 70

_OPERATORS = {"==": "eq", "!=": "ne", "<=": "le", ">=": "ge", "<": "lt", ">": "gt", "+": "plus", "*": "times"}
_OPERATORS |= {"%": "mod", "//": "div", "/": "by"}


def words(condition: str) -> str:
    """A condition as part of a function's name: 'n >= 0' is n_ge_0."""
    for symbol, word in _OPERATORS.items():
        condition = condition.replace(f" {symbol} ", f" {word} ")
    condition = re.sub(r"(?<![\w])-(\d)", r"minus_\1", condition)
    return re.sub(r"\W+", "_", condition).strip("_").lower()[:60].rstrip("_")


_BOUND = re.compile(r"(.+) (>=|<=|>|<) (-?\d+)")


def telling(conditions: list[str]) -> list[str]:
    """The conditions of a path without those that follow from another: `n >= 0` beside `n > 3`, `x is not None` beside
    `x.f == 1`."""
    bounds = [bound for condition in conditions if (bound := _bound(condition)) is not None]

    def follows(place: int, condition: str) -> bool:
        others = [*conditions[:place], *conditions[place + 1 :]]
        if condition.endswith(" is not None"):
            name = re.escape(condition.removesuffix(" is not None"))
            return any(re.search(rf"(?<![\w.]){name}(?![\w])", other) for other in others)
        own = _bound(condition)
        return own is not None and any(bound[:2] == own[:2] and bound[2] > own[2] for bound in bounds)

    return [condition for place, condition in enumerate(conditions) if not follows(place, condition)]


def _bound(condition: str) -> tuple[str, str, int] | None:
    """`n > 3` as (n, upwards, 4): of the bounds in one direction the greatest says most."""
    found = _BOUND.fullmatch(condition)
    if found is None:
        return None
    left, sign, limit = found[1], found[2], int(found[3])
    return (left, ">", limit + (sign == ">")) if sign[0] == ">" else (left, "<", -limit + (sign == "<"))


def snake(name: str) -> str:
    """A name, or any text, as part of a function's name."""
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"[\W_]+", "_", name).strip("_").lower()


def identifier(condition: str, used: set[str]) -> str:
    base = condition.encode("ascii", "replace").decode().replace("[", "(").replace("]", ")").replace("::", ":")
    base = re.sub(r"[^ -~]", "?", base).replace("\\", "/")
    if len(base) > _ID_WIDTH:
        base = base[: _ID_WIDTH - 3].rstrip() + "..."
    name, n = base, 1
    while name in used:
        n += 1
        name = f"{base} #{n}"
    used.add(name)
    return name


def row(values: list[str], shown: str) -> str:
    line = f"        pytest.param({', '.join([*values, f'id={quoted(shown)}'])}),"
    if len(line) <= WIDTH:
        return line
    inner = [f"            {value}," for value in (*values, f"id={quoted(shown)}")]
    return "\n".join(["        pytest.param(", *inner, "        ),"])


def heading(name: str, parameters: list[str]) -> str:
    line = f"def {name}({', '.join(parameters)}) -> None:"
    if len(line) <= WIDTH:
        return line
    inside = f"    {', '.join(parameters)}"
    inside = inside if len(inside) <= WIDTH else "\n".join(f"    {one}," for one in parameters)
    return f"def {name}(\n{inside}\n) -> None:"


def docstring(condition: str) -> str:
    condition = condition.replace("\\", "\\\\").replace('"""', "'''")
    if condition.endswith('"'):
        condition += " "
    if len(condition) <= WIDTH - 10:
        return f'"""{condition}"""'
    lines: list[str] = []
    current = ""
    for part in condition.split(" and "):
        piece = part if not current else f" and {part}"
        if len(current) + len(piece) > WIDTH - 10 and current:
            lines.append(current)
            current = f"and {part}"
        else:
            current += piece
    lines.append(current)
    return '"""' + "\n".join(lines) + '\n"""'


def folded(line: str, width: int = WIDTH) -> str:
    """A statement that is too long, broken over lines: one element of its last collection or call each."""
    return "\n".join(_folded(line, width))


def _folded(text: str, width: int) -> list[str]:
    if len(text) <= width or not text.isascii():
        return [text]
    try:
        [statement] = ast.parse(text).body
    except (SyntaxError, ValueError):
        return [text]
    node = _last_value(statement)
    parts = _parts(node, text) if node is not None and node.end_col_offset == len(text) else []
    if not parts or node is None:
        return [text]
    opening = 1 + ((node.func.end_col_offset or 0) if isinstance(node, ast.Call) else node.col_offset)
    lines: list[str] = []
    for name, value in parts:
        inside = _folded(value, width - 5 - len(name))
        lines += [f"    {one}" for one in (name + inside[0], *inside[1:])]
        lines[-1] += ","
    return [text[:opening], *lines, text[-1]]


def _last_value(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Assert(test=ast.Compare(comparators=[*_, last])) | ast.Assert(test=last):
            return last
        case ast.Assign(value=last) | ast.Expr(value=last):
            return last
    return None


def _parts(node: ast.expr, text: str) -> list[tuple[str, str]]:
    """The elements of a collection or call: what stands before each, and its own text."""

    def said(part: ast.expr) -> str:
        return text[part.col_offset : part.end_col_offset]

    match node:
        case ast.Call(args=args, keywords=named):
            by_name = [(f"{one.arg}=" if one.arg else "**", said(one.value)) for one in named]
            return [*(("", said(one)) for one in args), *by_name]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return [(f"{said(key)}: " if key is not None else "**", said(value)) for key, value in pairs]
        case ast.List(elts=parts) | ast.Set(elts=parts):
            return [("", said(one)) for one in parts]
        case ast.Tuple(elts=parts) if text[node.col_offset] == "(":
            return [("", said(one)) for one in parts]
    return []
