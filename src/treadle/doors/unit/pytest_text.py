"""How a written test is worded: its name, the id of a row, its docstring, lines that are too long."""

from __future__ import annotations

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


def folded(line: str) -> str:
    """Break a long collection or call over lines, one element each."""
    if len(line) <= WIDTH:
        return line
    match = re.match(r"^(\w+ = )?(.*?[\[({])(.*)([\])}])$", line)
    if match is None or line.lstrip().startswith(("assert", "with")):
        return line
    start, opening, inner, closing = match.groups()
    parts = _split(inner)
    if parts is None or len(parts) < 2:
        return line
    return f"{start or ''}{opening}\n" + "".join(f"    {p},\n" for p in parts) + closing


def _split(inner: str) -> list[str] | None:
    """Elements at the top level of a collection's source; None if brackets do not balance."""
    parts: list[str] = []
    depth, quote, current = 0, "", ""
    i = 0
    while i < len(inner):
        c = inner[i]
        if quote:
            if c == "\\":
                current += inner[i : i + 2]
                i += 2
                continue
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth < 0:
                return None
        elif c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
            i += 1
            continue
        current += c
        i += 1
    if current.strip():
        parts.append(current.strip())
    return parts if depth == 0 and not quote else None
