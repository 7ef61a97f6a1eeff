"""CrossHair and Pynguin beside `treadle unit` on typed functions that others wrote: tests, branches, seconds.

    python -m benchmarks.unit_wild_peers --number 30 [--seed mine]

The targets are the first of the draw (unit_wild_draw.py) all of whose parameters have hints, so that no tool has to
guess. Each tool gets its usual options and a limit; its tests are judged by the same process and coverage.py. A test
of CrossHair that is not Python is left out of its file and counted as failing. Mutants are not made here: these
functions need their packages around them, which the runner of `benchmarks unit` does not load.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import statistics
import sys
import time
from pathlib import Path

from benchmarks import environments
from benchmarks.rows import Rows
from benchmarks.unit import PEERS, REAL, parses
from benchmarks.unit_wild import judge, run
from benchmarks.unit_wild_draw import DRAWN, LISTS, PLACE, Drawn, draw

_CROSSHAIR_SECONDS = 10
_PYNGUIN_SECONDS = 60
_LONGEST = 300.0


def is_typed(one: Drawn) -> bool:
    """Whether every parameter of the function has a hint."""
    for node in ast.walk(ast.parse(one.file.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno == one.lines[0]:
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            method = "." in one.target.partition(":")[2]
            wanted = given[1:] if method and given and given[0].arg in ("self", "cls") else given
            return bool(wanted) and all(argument.annotation is not None for argument in wanted)
    return False


def with_treadle(one: Drawn, folder: Path, _: str) -> int:
    run([sys.executable, "-m", "treadle", "unit", one.target, "--output", "test_peer.py"], one, folder, _LONGEST)
    return 0


def with_crosshair(one: Drawn, folder: Path, python: str) -> int:
    """Returns how many of its tests are not Python."""
    name = one.target.replace(":", ".")
    words = [python, "-m", "crosshair", "cover", name, "--example_output_format", "pytest"]
    out, _ = run([*words, "--per_condition_timeout", str(_CROSSHAIR_SECONDS)], one, folder, _LONGEST)
    imports = sorted({line for line in out.splitlines() if re.match(r"(from|import) ", line)})
    tests = [f"def test_{number}{text}" for number, text in enumerate(re.split(r"^def test_\w*", out, flags=re.M)[1:])]
    tests = ["\n".join(x for x in test.splitlines() if not re.match(r"(from|import) ", x)) for test in tests]
    good = [test for test in tests if parses(test)]
    if good:
        (folder / "test_peer.py").write_text("\n".join(["import pytest", *imports, *good]) + "\n")
    return len(tests) - len(good)


def with_pynguin(one: Drawn, folder: Path, python: str) -> int:
    module = one.target.partition(":")[0]
    words = [python, "-m", "pynguin", "--project-path", str(one.folder), "--module-name", module]
    words += ["--output-path", "pynguin", "--maximum-search-time", str(_PYNGUIN_SECONDS), "--seed", "1"]
    run(words, one, folder, _LONGEST)
    for written in (folder / "pynguin").glob("test_*.py"):
        (folder / "test_peer.py").write_text(written.read_text())
    return 0


def main(quick: bool = False, seed: str = "", number: int = 30, drawn: int = DRAWN, packages: int = 1) -> None:
    os.environ["PYNGUIN_DANGER_AWARE"] = "1"  # it asks whether it may run the code
    python = environments.environment(sys.executable, *PEERS, *REAL)  # that of `benchmarks unit`
    chosen = [one for one in draw(seed, drawn, packages) if is_typed(one)][: 2 if quick else number]
    rows = Rows("unit_wild_peers", ["tool", "target", "tests", "failed", "percent", "seconds"])
    for one in chosen:
        for tool in (with_treadle, with_crosshair, with_pynguin):
            folder = PLACE / "peers"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            start = time.perf_counter()
            broken = tool(one, folder, python)
            seconds = time.perf_counter() - start
            there = (folder / "test_peer.py").exists()
            tests, failed, (covered, all_) = judge(one, folder, "test_peer.py") if there else (0, 0, (0, 0))
            percent = round(100 * covered / all_, 1) if all_ else 0.0
            name = tool.__name__.removeprefix("with_")
            counts = {"tests": tests + broken, "failed": failed + broken, "percent": percent}
            rows.add(tool=name, target=one.target, **counts, seconds=round(seconds, 1))
    rows.table()
    for name in dict.fromkeys(row["tool"] for row in rows.rows):
        own = [row for row in rows.rows if row["tool"] == name]
        tested, failed = sum(row["tests"] > 0 for row in own), sum(row["failed"] for row in own)
        mean = statistics.mean(row["percent"] for row in own)
        middle = statistics.median(row["seconds"] for row in own)
        said = (
            f"{tested} of {len(own)} with tests, {mean:.1f} % of branches, {failed} tests fail, median {middle:.1f} s"
        )
        print(f"{name}: {said}", file=sys.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="treadle unit, CrossHair and Pynguin on typed functions of others.")
    parser.add_argument("--seed", default="", help="draw others, to develop with")
    parser.add_argument("--number", type=int, default=30, help="how many functions")
    parser.add_argument("--packages", type=int, default=1, choices=tuple(LISTS), help="from which list of packages")
    parser.add_argument("--drawn", type=int, default=DRAWN, help="of how many that are drawn")
    main(**vars(parser.parse_args()))
