"""Values of test cases as text for people and for JSON, and rows of text as a table."""

from __future__ import annotations

from typing import Any

from treadle.symbolic.python.contracts.conditions import as_written
from treadle.symbolic.testcase import CaseObject, Opaque
from treadle.units.imports import Imports, NotWritable
from treadle.units.value_source import text


def plain(value: Any) -> Any:
    """A value for JSON and tables: JSON's own values as they are, objects as readable text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return shown(value)


def shown(value: Any, seen: tuple[int, ...] = ()) -> str:
    if isinstance(value, CaseObject):
        if value.number in seen:
            return "..."
        seen = (*seen, value.number)
        if value.kind == "function":
            return f"<function: {', '.join(shown(v, seen) for v in value.items)}>"
        if value.kind == "list":
            return f"[{', '.join(shown(v, seen) for v in value.items)}]"
        if value.kind == "dict":
            return "{" + ", ".join(f"{shown(k, seen)}: {shown(v, seen)}" for k, v in value.entries) + "}"
        if value.kind in ("set", "frozenset"):
            return "{" + ", ".join(shown(k, seen) for k, _ in value.entries) + "}" if value.entries else "set()"
        name = as_written(value.cls).__name__ if value.cls else "object"
        inner = [shown(v, seen) for v in value.items] + [f"{k}={shown(v, seen)}" for k, v in value.fields.items()]
        return f"{name}({', '.join(inner)})"
    if isinstance(value, tuple):
        inner_text = ", ".join(shown(v, seen) for v in value)
        return f"({inner_text},)" if len(value) == 1 else f"({inner_text})"
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    try:
        return text(value, Imports(), {})
    except NotWritable:
        return repr(value)


def aligned(rows: list[list[str]]) -> str:
    widths = [min(60, max(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
    lines = []
    for i, row in enumerate(rows):
        lines.append("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if i == 0:
            lines.append("  " + "  ".join("-" * width for width in widths))
    return "\n".join(lines)
