"""Reading source: parsing it while a program under test has left garbage behind, and the names that it means.

CPython 3.11 answers a parse during which another one runs, as a finaliser may do when the collector comes round, with
`SystemError: AST constructor recursion depth mismatch`. So the collector waits.
"""

from __future__ import annotations

import ast
import gc


def parsed(source: str | bytes, filename: str = "<unknown>") -> ast.Module:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source, filename)
    finally:
        if was_enabled:
            gc.enable()


def mangle(name: str, class_name: str | None) -> str:
    """The name that Python's compiler uses for a private name (`__x`) inside a class."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name
