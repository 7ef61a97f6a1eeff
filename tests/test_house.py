"""The house stays in order: no import cycles, no imports hidden in functions, names that mean one thing, and nothing in
the compiled modules that mypyc refuses."""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import treadle

ROOT = Path(treadle.__file__).parent
# Optional at run time or not on every platform, and the modules of ours that need them.
EXTRAS = (
    "distributed",
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

# They say nothing: ran, known, kept, written what?
EMPTY_NAMES = {"Ran", "Known", "Kept", "Written"}


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
    assert cycles() == []


ENGINES = ("threads", "tasks", "messages", "classes", "observe", "symbolic", "units", "abs")
SIDEWAYS = {
    "tasks": {"threads"},
    "messages": {"threads", "tasks"},
    "classes": {"threads", "tasks", "observe"},
    "symbolic": {"observe"},
    "units": {"symbolic", "observe"},
    "abs": {"symbolic"},
}
DOORS_OF = {"class_": {"explore", "replay"}, "schedule": {"explore"}, "actor": {"replay"}}


def arrows(package: str) -> dict[str, set[str]]:
    """Which rooms of a package import from which others."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    edges = [(one, other) for one, others in GRAPH.items() for other in others]
    for one, other in edges:
        if one.startswith(package) and other.startswith(package):
            room, needed = (name.removeprefix(package).partition(".")[0] for name in (one, other))
            if room != needed:
                found[room].add(needed)
    return found


def test_the_arrows_between_engines_and_between_doors_are_those_of_the_design() -> None:
    """import-linter says which are forbidden; these are the ones that there are."""
    between = {room: others & {*ENGINES} for room, others in arrows("treadle.").items() if room in ENGINES}
    assert {room: others for room, others in between.items() if others} == SIDEWAYS
    assert arrows("treadle.doors.") == DOORS_OF


def test_imports_stand_at_the_top_of_a_module() -> None:
    assert [
        (name, other)
        for name, found in IMPORTS.items()
        for other, inside in found
        if inside and other.partition(".")[0] not in EXTRAS and other not in NEED_EXTRAS
    ] == []


def classes() -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)
    return found


def test_a_class_name_means_one_thing() -> None:
    public = {name: modules for name, modules in classes().items() if not name.startswith("_")}
    assert {name: modules for name, modules in public.items() if len(modules) > 1} == {}


@pytest.mark.parametrize("name", sorted(EMPTY_NAMES))
def test_a_class_name_says_what_it_is(name: str) -> None:
    assert [*classes().get(name, []), *classes().get(f"_{name}", [])] == []


_PATH = re.compile(r"`((?:\w+/)+(?:\w+(?:\.\w+)?)?|\w+\.py)`")


@pytest.mark.parametrize(
    ("page", "least"), [("docs/internals.md", 60), ("docs/design.md", 15), ("tests/README.md", 20)]
)
def test_every_path_that_a_page_names_is_there(page: str, least: int) -> None:
    top = ROOT.parents[1]
    named = _PATH.findall((top / page).read_text(encoding="utf-8"))
    assert len(named) >= least
    assert [name for name in named if not any((place / name).exists() for place in (ROOT, top, top / "tests"))] == []


def test_each_of_the_twelve_questions_has_one_file_as_its_answer() -> None:
    page = (ROOT.parents[1] / "docs" / "internals.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:3] for line in page.partition("## Twelve questions")[2].splitlines() if "? |" in line]
    answers = {question.strip(): _PATH.findall(answer)[0] for question, answer in rows}
    assert len(answers) == 12
    assert len(set(answers.values())) == 12
    assert [name for name in answers.values() if not (ROOT / name).is_file()] == []


def test_the_page_on_tests_names_every_folder() -> None:
    tests = Path(__file__).parent
    folders = {path.parent.name for path in tests.glob("*/*.py")}
    page = (tests / "README.md").read_text(encoding="utf-8")
    assert folders - set(re.findall(r"`([a-z_]+)/`", page)) == set()


# The engine rooms, and the folders whose tests talk to their modules.
ROOMS_TESTED = {
    "core": "core",
    "search": "search",
    "threads": "threads*",
    "tasks": "tasks",
    "classes": "classes",
    "observe": "observe",
    "symbolic": "symbolic",
    "units": "*unit*",
    "messages": "messages",
    "abs": "abs",
}


@pytest.mark.parametrize("room", ROOMS_TESTED)
def test_each_module_of_an_engine_room_is_imported_by_a_test_of_its_room(room: str) -> None:
    tests = Path(__file__).parent
    files = [file for folder in tests.glob(ROOMS_TESTED[room]) for file in folder.glob("*.py")]
    imported = {name for file in files for name, _ in imports(ast.parse(file.read_text(encoding="utf-8")))}
    modules = {name for name, path in MODULES.items() if path.stem != "__init__"}
    assert sorted(name for name in modules - imported if name.startswith(f"treadle.{room}.")) == []


def compiled_names() -> set[str]:
    """The modules that setup.py compiles."""
    whole = ast.parse((ROOT.parents[1] / "setup.py").read_text(encoding="utf-8"))
    lists = {ast.unparse(node.targets[0]): node.value for node in whole.body if isinstance(node, ast.Assign)}
    hot, cold = (
        {path for one in ast.literal_eval(lists[name]) for path in ROOT.glob(f"{one}.py")} for name in ("HOT", "COLD")
    )
    return {name_of(path) for path in hot - cold if path.name != "__init__.py"}


def test_nobody_inherits_from_a_compiled_class_that_does_not_allow_it() -> None:
    """mypyc refuses objects of such a class: a wheel breaks where the source runs."""
    compiled = compiled_names()
    assert compiled
    closed = {
        f"{name}.{node.name}"
        for name in compiled
        for node in TREES[name].body
        if isinstance(node, ast.ClassDef) and "mypyc_attr" not in "".join(map(ast.unparse, node.decorator_list))
    }
    heirs = []
    for name, tree in TREES.items():
        known = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in tree.body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and name not in compiled]
        bases = [(node.name, known.get(ast.unparse(base))) for node in classes for base in node.bases]
        heirs += [f"{name}.{heir} of {base}" for heir, base in bases if base in closed]
    assert heirs == []


def test_no_compiled_class_is_one_of_an_exception() -> None:
    """mypyc takes the weak references to such an object for its own, and frees them with it: memory is used twice."""
    found = [
        f"{name}.{node.name}"
        for name in sorted(compiled_names())
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ClassDef)
        if any(issubclass(getattr(builtins, ast.unparse(base), str), BaseException) for base in node.bases)
    ]
    assert found == []


@pytest.mark.slow
def test_mypyc_takes_the_modules_that_are_compiled(tmp_path: Path) -> None:
    """setup.py builds without compiled modules when mypyc refuses one, and says so only where nobody looks."""
    # what the others mean is the business of the type checker, and takes five times as long
    alone = ("--config-file=", "--follow-imports=skip", "--no-warn-return-any", "--no-warn-unused-ignores")
    code = "import setup, sys; print(len(setup.extensions(*sys.argv[2:], folder=sys.argv[1])))"
    words = [sys.executable, "-c", code, str(tmp_path), *alone]
    done = subprocess.run(words, cwd=ROOT.parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) > 30
