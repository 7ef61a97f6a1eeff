"""`treadle unit` on functions that others wrote for other purposes: how many get tests, and how much do these reach?

The packages are the lines of unit_wild_packages.txt, chosen before any of their functions was looked at. The seed is
the hash of the commit that brought that file into the repository, so nobody chose the functions. A hundred times a
package is drawn, and then one of its functions and methods that have at least two branches (an `if`, `for`, `while` or
`match` of their own). What cannot be installed or imported is drawn again. `--seed` draws others to develop with, from
packages that the official draw does not contain.

    python -m benchmarks.unit_wild --part 1/4        (all of it: python -m benchmarks unit_wild)

A target gets the default options. Its tests then run in a fresh process under coverage.py, which says how many branches
of the function they reach: a target without tests reaches 0 %, and so does one whose command does not end in 90 s.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.environments import CHECKOUT, FOLDER
from benchmarks.rows import Rows

PACKAGES = Path(__file__).with_name("unit_wild_packages.txt")
DRAWN = 100
_MOST_SECONDS = 90.0
_PLACE = FOLDER / "unit_wild"
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


def official_seed() -> str:
    """The commit that brought the list of packages."""
    words = ["git", "log", "--diff-filter=A", "--format=%H", "--", str(PACKAGES)]
    return subprocess.run(words, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout.split()[-1]


@cache
def installed(package: str) -> Path | None:
    """The folder with the package and what it needs; None when it cannot be installed."""
    folder = _PLACE / "packages" / package
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


def can_be_had(one: Drawn) -> bool:
    """Whether the module can be imported here, and has the function of the file under this name; asked once."""
    answer = _PLACE / "had" / one.target.replace(":", "-")
    if not answer.exists():
        answer.parent.mkdir(parents=True, exist_ok=True)
        answer.write_text(str(_can_be_imported(one)))
    return answer.read_text() == "True"


def _can_be_imported(one: Drawn) -> bool:
    code = (
        "import importlib, inspect, operator, sys\n"
        "module, _, name = sys.argv[1].partition(':')\n"
        "found = importlib.import_module(module)\n"
        "for part in name.split('.'): found = inspect.getattr_static(found, part)\n"
    )
    words = [sys.executable, "-c", code, one.target]
    try:
        done = subprocess.run(words, env=variables(one), cwd=_PLACE, capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def draw(seed: str, number: int, apart: frozenset[str] = frozenset()) -> list[Drawn]:
    """So many functions by a seed, none of the packages in `apart`."""
    names = [name for name in PACKAGES.read_text(encoding="utf-8").split() if name not in apart]
    chance, found = random.Random(seed), []
    while len(found) < number:
        package, which = chance.choice(names), chance.random()
        folder = installed(package)
        own = functions(package, folder) if folder is not None else []
        one = own[int(which * len(own))] if own else None
        if one is not None and one not in found and can_be_had(one):
            found.append(one)
    return found


def packages_of(seed: str, number: int) -> frozenset[str]:
    """The packages of a draw, and half as many again, since what cannot be had is drawn again."""
    names, chance = PACKAGES.read_text(encoding="utf-8").split(), random.Random(seed)
    return frozenset([(chance.choice(names), chance.random())[0] for _ in range(number * 3 // 2)])


def measured(one: Drawn, number: int) -> dict[str, Any]:
    """One row: the command, then its tests in a fresh process."""
    folder = _PLACE / "runs" / f"{number}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    row: dict[str, Any] = {"number": number, "package": one.package, "target": one.target}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [sys.executable, "-m", "treadle", "unit", one.target, "--json", "--output", "test_wild.py"]
    out, error = _run(words, one, folder, _MOST_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["seconds"] = round(time.perf_counter() - start, 1)
    row["cpu"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    try:
        facts = json.loads(out)
    except ValueError:
        facts = {}
        row["said"] = (error.strip().splitlines() or ["it did not end"])[-1][-300:]
    tests, failed, branches = _judge(one, folder) if (folder / "test_wild.py").exists() else (0, 0, (0, 0))
    row |= {"tests": tests, "failed": failed, "covered": branches[0], "branches": branches[1]}
    row["percent"] = round(100 * branches[0] / branches[1], 1) if branches[1] else 0.0
    row["complete"] = bool(facts.get("complete"))
    row["wrong"] = len(facts.get("disagreements", ())) + len(facts.get("internal_errors", ()))
    if facts and row["percent"] < 100:
        row["said"] = {name: facts[name] for name in ("unsupported", "cut", "guesses", "left_out") if facts.get(name)}
    return row


def _judge(one: Drawn, folder: Path) -> tuple[int, int, tuple[int, int]]:
    """Tests, how many of them fail in a fresh process, branches of the function that they reach and all of them."""
    include = f"--include={one.file}"
    words = [
        sys.executable,
        "-m",
        "coverage",
        "run",
        "--branch",
        include,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    out, _ = _run([*words, "--rootdir", ".", "--confcutdir", ".", "-c", os.devnull, "test_wild.py"], one, folder, 300.0)
    last = out.strip().splitlines()[-1] if out.strip() else ""
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", last)}
    bad = counts.get("failed", 0) + counts.get("error", 0)
    _run([sys.executable, "-m", "coverage", "json", "-q", "-o", "coverage.json"], one, folder, 60.0)
    covered = [0, 0]
    if (folder / "coverage.json").exists():
        for entry in json.loads((folder / "coverage.json").read_text())["files"].values():
            for place, key in enumerate(("executed_branches", "missing_branches")):
                covered[place] = sum(one.lines[0] <= arc[0] <= one.lines[1] for arc in entry[key])
    return counts.get("passed", 0) + bad, bad if last else 1, (covered[0], sum(covered))


def _run(words: list[str], one: Drawn, where: Path, seconds: float) -> tuple[str, str]:
    pipe = subprocess.PIPE
    streams: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": pipe,
        "stderr": pipe,
        "text": True,
        "errors": "replace",
    }
    process = subprocess.Popen(words, cwd=where, env=variables(one), start_new_session=True, **streams)
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        return process.communicate()[0], "it did not end"


def tell(rows: list[dict[str, Any]]) -> None:
    """The figures over all rows."""
    tested = [row for row in rows if row["tests"]]
    complete = [row for row in rows if row["complete"]]
    said = [
        f"{len(rows)} targets",
        f"{len(tested)} with tests",
        f"mean branch coverage {statistics.mean(row['percent'] for row in rows):.1f} %",
        f"{sum(row['tests'] for row in rows)} tests",
        f"{sum(row['failed'] for row in rows)} of them fail in a fresh process",
        f"{len(complete)} complete",
        f"{sum(row['percent'] < 100 for row in complete)} of these beside a missed branch",
        f"{sum(row['wrong'] for row in rows)} wrong predictions and internal errors",
        f"median {statistics.median(row['seconds'] for row in rows):.1f} s",
        f"median CPU {statistics.median(row['cpu'] for row in rows):.1f} s",
    ]
    print(", ".join(said), file=sys.stderr)


def main(quick: bool = False, seed: str = "", number: int = DRAWN, part: str = "1/1") -> None:
    _PLACE.mkdir(parents=True, exist_ok=True)
    apart = packages_of(official_seed(), DRAWN) if seed else frozenset[str]()
    chosen = draw(seed or official_seed(), 5 if quick else number, apart)
    rows = Rows("unit_wild", ["target", "tests", "failed", "percent", "complete", "seconds", "cpu"])
    which, _, parts = part.partition("/")
    for place, one in enumerate(chosen):
        if place % int(parts) == int(which) - 1:
            rows.add(**measured(one, place))
    rows.table()
    tell(rows.rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How far treadle unit gets with functions of others.")
    parser.add_argument("--seed", default="", help="draw others, to develop with")
    parser.add_argument("--number", type=int, default=DRAWN, help="how many functions")
    parser.add_argument("--part", default="1/1", help="every so-manieth of them: 2/4")
    given = parser.parse_args()
    main(seed=given.seed, number=given.number, part=given.part)
