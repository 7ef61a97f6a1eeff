"""The house stays in order: no import cycles, no imports hidden in functions, names that mean one thing.

What is not clean yet is listed here with its number. A number may only go down: who makes it smaller lowers it here.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import treadle

ROOT = Path(treadle.__file__).parent
# Optional at run time or not on every platform, and the modules of ours that need them.
EXTRAS = (
    "z3",
    "lark",
    "hypothesis",
    "coverage",
    "pykka",
    "thespian",
    "icontract",
    "deal",
    "pytest",
    "_pytest",
    "fcntl",
)
NEED_EXTRAS = ("treadle.messages.pykka", "treadle.messages.thespian")

# Rooms whose modules import each other in a circle, counting imports inside functions.
WITH_CYCLES = ("treadle.symbolic.expr.", "treadle.doors.unit.")

# Imports inside functions that no optional extra explains, by room.
INSIDE_FUNCTIONS = {
    "treadle.actors": 8,
    "treadle.doors": 6,
    "treadle.symbolic": 1,
}

# Names of public classes that two modules define.
DEFINED_TWICE = 0

# They say nothing: ran, known, kept, written what?
EMPTY_NAMES = {"Ran", "Known", "Kept", "Written"}
WITH_EMPTY_NAMES: set[str] = set()


def name_of(path: Path) -> str:
    return ".".join(("treadle", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py")) if "examples" not in path.parts}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imports(node: ast.AST, inside: bool = False) -> Iterator[tuple[str, bool]]:
    """What a module imports, and whether it does so inside a function; what is for type checkers alone is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name, inside) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield (whole if whole in MODULES else str(child.module)), inside
        elif not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(child, inside or function)


IMPORTS = {name: list(imports(tree)) for name, tree in TREES.items()}
GRAPH = {name: {other for other, _ in found if other in MODULES and other != name} for name, found in IMPORTS.items()}


def cycles() -> list[set[str]]:
    """The sets of modules that lead to each other."""
    reached: dict[str, set[str]] = {}
    for start in GRAPH:
        seen: set[str] = set()
        pending = list(GRAPH[start])
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += GRAPH[name]
        reached[start] = seen
    rings = {frozenset(other for other in seen if start in reached[other]) for start, seen in reached.items()}
    return [set(ring) for ring in rings if ring]


def test_no_module_leads_back_to_itself() -> None:
    rings = cycles()
    assert [
        ring for ring in rings if not any(all(name.startswith(room) for name in ring) for room in WITH_CYCLES)
    ] == []


def test_imports_stand_at_the_top_of_a_module() -> None:
    counts: Counter[str] = Counter()
    for name, found in IMPORTS.items():
        for other, inside in found:
            if inside and other.partition(".")[0] not in EXTRAS and other not in NEED_EXTRAS:
                counts[".".join(name.split(".")[:2])] += 1
    assert {room: count for room, count in counts.items() if count > INSIDE_FUNCTIONS.get(room, 0)} == {}


def classes() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(module)
    return found


def test_a_class_name_means_one_thing() -> None:
    twice = {name: modules for name, modules in classes().items() if len(modules) > 1}
    assert len(twice) <= DEFINED_TWICE, twice
    rooms = ("treadle.core", "treadle.search", "treadle.threads", "treadle.messages", "treadle.classes")
    clean = {name: [m for m in modules if m.startswith(rooms)] for name, modules in twice.items()}
    assert {name: modules for name, modules in clean.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("name", sorted(EMPTY_NAMES))
def test_a_class_name_says_what_it_is(name: str) -> None:
    assert set(classes().get(name, [])) <= WITH_EMPTY_NAMES


def test_the_files_that_the_internals_name_are_there() -> None:
    page = ROOT.parents[1] / "docs" / "internals.md"
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*/?[a-z_]*\.py)`", page.read_text(encoding="utf-8"))
    assert len(named) > 20
    outside = {"setup.py", "tests/test_house.py"}
    assert [name for name in named if name not in outside and not (ROOT / name).is_file()] == []
