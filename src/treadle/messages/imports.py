"""Which modules a test's project imports, as its text says: at the top of a file or inside a function, used or not."""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType

from treadle.core.parsing import parsed
from treadle.threads.instrument.selection import ModuleSelection, file_of
from treadle.threads.unasked import home_of, is_a


def imported_by(module: ModuleType | None, selection: ModuleSelection) -> set[str]:
    """Dotted names that the test's module and the project's modules behind it import, or take their values from.

    A call of `mailbox` counts as `treadle.actors.mailbox`, under whatever name its module goes.
    """
    found: set[str] = set()
    if module is None:
        return found
    for value in list(vars(module).values()):  # text alone does not tell what a notebook's cells imported
        if is_a(value, (ModuleType, type, FunctionType, BuiltinFunctionType)):
            found |= {str(getattr(value, name, "")) for name in ("__name__", "__module__")}
        else:  # perhaps a proxy that must not be asked
            found.add(home_of(type(value)))
    seen: set[str] = set()
    pending = [(module.__name__, file_of(module))]
    while pending:
        name, file = pending.pop()
        if name in seen or not file or not selection.selects(name, file):
            continue
        seen.add(name)
        for one in _names(name, file):
            if one not in found:
                found.add(one)
                pending.append((one, _file(one)))
    return found


def _names(name: str, file: str) -> tuple[str, ...]:
    package = name if Path(file).name == "__init__.py" else name.rpartition(".")[0]
    try:
        return _names_in(Path(file).read_bytes(), package)
    except (OSError, SyntaxError, ValueError):
        return ()


@functools.lru_cache(maxsize=256)  # it is asked for several times in every check
def _names_in(source: bytes, package: str) -> tuple[str, ...]:
    return tuple(_names_of(parsed(source), package))


def _names_of(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif "mailbox" in (getattr(node, "attr", ""), getattr(node, "id", "")):
            yield "treadle.actors.mailbox"


def _file(name: str) -> str:
    """Where a module lives; nothing is imported to find out, so a package that is not imported hides its parts."""
    module = sys.modules.get(name)
    if module is not None:
        return file_of(module) or ""
    if "." in name and name.rpartition(".")[0] not in sys.modules:
        return ""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return ""
    return (spec.origin or "") if spec is not None else ""
