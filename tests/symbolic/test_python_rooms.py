"""The rooms of the Python machine import each other one way: no cycle, and nothing imported inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import treadle

SOURCE = Path(treadle.__file__).parent.parent
ROOM = SOURCE / "treadle" / "symbolic" / "python"
MODULES = {
    ".".join(p.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): p for p in ROOM.rglob("*.py")
}
# contract libraries that a project may have or not
EXTRAS = {"icontract", "deal"}


def _imported(node: ast.AST) -> Iterator[str]:
    """The modules that one statement imports; this package writes absolute imports only."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0
        for alias in node.names:
            inside = f"{node.module}.{alias.name}"
            yield inside if inside in MODULES else node.module or ""


def test_there_is_no_import_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        graph[name] = {other for node in nodes for other in _imported(node) if other in MODULES and other != name}
    order = list(TopologicalSorter(graph).static_order())  # raises CycleError and names the cycle
    assert order[-1].startswith("treadle.symbolic.python.")
    assert order.index("treadle.symbolic.python.machine.vm") < order.index("treadle.symbolic.python.machine.operators")


def test_only_optional_libraries_are_imported_inside_functions() -> None:
    found: set[str] = set()
    for path in MODULES.values():
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                found.update(other for node in ast.walk(function) for other in _imported(node))
    assert found == EXTRAS
