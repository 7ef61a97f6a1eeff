"""Which functions of others `treadle unit` is measured with: a draw from packages by a seed, kept once it is made.

The packages are the lines of a list (unit_wild_packages.txt, ..._2.txt to ..._4.txt), chosen before any of their
functions was looked at. The seed is the hash of the commit that brought the list, so nobody chose the functions. A
hundred times a package is drawn, and then one of its functions and methods that have at least two branches (an `if`,
`for`, `while` or `match` of their own). What cannot be installed or imported is drawn again. Another seed draws others
to develop with, from packages that the official draw does not contain.

Each attempt is one line in a file of the seed, written when it is made: a draw that was stopped goes on where it was,
and one that is there already takes no time.
"""

from __future__ import annotations

import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.environments import CHECKOUT, FOLDER

LISTS = {number: f"unit_wild_packages{end}.txt" for number, end in ((1, ""), (2, "_2"), (3, "_3"), (4, "_4"))}
DRAWN = 100
PLACE = FOLDER / "unit_wild"
_NOT_THE_PACKAGE = re.compile(
    r"(^|[/_])(tests?|testing|_?vendor(ed)?|_distutils|conftest|__main__|examples?|docs)([/._]|$)"
)


@dataclass(frozen=True)
class Drawn:
    """A function: where it is installed, what it is called, which lines are its own."""

    package: str
    folder: Path
    file: Path
    target: str
    lines: tuple[int, int]


def names_in(number: int) -> list[str]:
    """The packages of a list."""
    return Path(__file__).with_name(LISTS[number]).read_text(encoding="utf-8").split()


def official_seed(number: int) -> str:
    """The commit that brought the list of packages."""
    words = ["git", "log", "--diff-filter=A", "--format=%H", "--", f"benchmarks/{LISTS[number]}"]
    return subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()[-1]


@cache
def installed(package: str) -> Path | None:
    """The folder with the package and what it needs; None when it cannot be installed."""
    folder = PLACE / "packages" / package
    if not (folder / "ready.txt").exists():
        shutil.rmtree(folder, ignore_errors=True)
        uv = shutil.which("uv")
        command = (
            [uv, "pip", "install", "-q", "--python", sys.executable]
            if uv
            else [sys.executable, "-m", "pip", "install", "-q"]
        )
        if subprocess.run([*command, "--target", str(folder), package], capture_output=True, check=False).returncode:
            return None
        (folder / "ready.txt").write_text(package)
    return folder


@cache
def functions(package: str, folder: Path) -> list[Drawn]:
    """The functions and methods of the package itself that have at least two branches."""
    wanted = re.sub(r"[-_.]+", "_", package).lower()
    records = [
        path
        for path in folder.glob("*.dist-info/RECORD")
        if path.parent.name.lower().split("-")[0].replace(".", "_") == wanted
    ]
    found = []
    for line in sorted({line.split(",")[0] for record in records for line in record.read_text().splitlines()}):
        if line.endswith(".py") and not line.startswith("..") and not _NOT_THE_PACKAGE.search(line):
            module = line.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if all(part.isidentifier() for part in module.split(".")):
                found += [
                    Drawn(package, folder, folder / line, f"{module}:{name}", lines)
                    for name, lines in _in_file(folder / line)
                ]
    return found


def _in_file(file: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and any(map(_branches, _own(one))):
                name = f"{node.name}.{one.name}" if isinstance(node, ast.ClassDef) else one.name
                yield name, (one.lineno, one.end_lineno or one.lineno)


def _branches(node: ast.AST) -> bool:
    always = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    return isinstance(node, ast.If | ast.For | ast.While | ast.Match | ast.AsyncFor) and not always


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, without functions in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield from _own(child)


def variables(one: Drawn) -> dict[str, str]:
    paths = os.pathsep.join([str(one.folder), str(CHECKOUT / "src")])
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def _can_be_imported(one: Drawn) -> bool:
    code = (
        "import importlib, inspect, operator, sys\n"
        "module, _, name = sys.argv[1].partition(':')\n"
        "found = importlib.import_module(module)\n"
        "for part in name.split('.'): found = inspect.getattr_static(found, part)\n"
    )
    words = [sys.executable, "-c", code, one.target]
    try:
        done = subprocess.run(words, env=variables(one), cwd=PLACE, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def draw(seed: str, number: int, packages: int = 1) -> list[Drawn]:
    """So many functions: the official draw without a seed, else others, of packages that the official one has not."""
    official = official_seed(packages)
    apart = _packages_of(official, names_in(packages), DRAWN) if seed else frozenset[str]()
    names = [name for name in names_in(packages) if name not in apart]
    chance, found = random.Random(seed or official), list[Drawn]()
    kept = PLACE / "draws" / f"{seed or official}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    made = iter(kept.read_text().splitlines() if kept.exists() else [])
    with kept.open("a", encoding="utf-8") as file:
        while len(found) < number:
            package, which = chance.choice(names), chance.random()
            line = next(made, None)
            if line is None:
                one = _attempt(package, which, found)
                file.write(json.dumps(asdict(one) if one is not None else None, default=str) + "\n")
                file.flush()
                print(f"\rdrawing: {len(found)} of {number}", end="", file=sys.stderr, flush=True)
            else:
                one = _read(json.loads(line))
            found += [one] if one is not None else []
    return found


def _attempt(package: str, which: float, found: list[Drawn]) -> Drawn | None:
    folder = installed(package)
    own = functions(package, folder) if folder is not None else []
    one = own[int(which * len(own))] if own else None
    return one if one is not None and one not in found and _can_be_imported(one) else None


def _read(kept: dict[str, Any] | None) -> Drawn | None:
    if kept is None:
        return None
    places = {"folder": Path(kept["folder"]), "file": Path(kept["file"]), "lines": tuple(kept["lines"])}
    return Drawn(**{**kept, **places})


def _packages_of(seed: str, names: list[str], number: int) -> frozenset[str]:
    """The packages of a draw, and half as many again, since what cannot be had is drawn again."""
    chance = random.Random(seed)
    return frozenset([(chance.choice(names), chance.random())[0] for _ in range(number * 3 // 2)])
