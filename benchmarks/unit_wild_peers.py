"""CrossHair and Pynguin beside `treadle unit` on typed functions that others wrote: tests, branches, mutants, seconds.

    python -m benchmarks.unit_wild_peers --number 30 [--seed mine] [--seconds 500]

The targets are the first of the draw (unit_wild_draw.py) all of whose parameters have hints, so that no tool has to
guess. Each tool gets its usual options and twenty seconds: CrossHair and Pynguin, each one process, by a clock that
counts processor time (subjects/processor_clock), Treadle, several processes, by the clock on the wall, which is never
more. Its tests are judged by the same process and coverage.py. A test of CrossHair that is not Python is left out of
its file and counted as failing. At most six mutants of each function, made by cosmic-ray's operators, are run with the
tests that pass on the original; one without an end counts as killed.

A row is kept when it is measured: what was stopped, or ended after `--seconds`, goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import environments
from benchmarks.rows import Rows
from benchmarks.unit import PEERS, REAL, parses
from benchmarks.unit_wild import judge, run
from benchmarks.unit_wild_draw import DRAWN, LISTS, PLACE, Drawn, draw

_SECONDS = "20"
_LONGEST = 300.0
_MUTANTS = 6
SUBJECTS = Path(__file__).parent / "subjects"
_BY_PROCESSOR_TIME = {"PYTHONPATH": str(SUBJECTS / "processor_clock")}


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
    words = [sys.executable, "-m", "treadle", "unit", one.target, "--seconds", _SECONDS, "--output", "test_peer.py"]
    run(words, one, folder, _LONGEST)
    return 0


def with_crosshair(one: Drawn, folder: Path, python: str) -> int:
    """Returns how many of its tests are not Python."""
    name = one.target.replace(":", ".")
    words = [python, "-m", "crosshair", "cover", name, "--example_output_format", "pytest"]
    out, _ = run([*words, "--per_condition_timeout", _SECONDS], one, folder, _LONGEST, _BY_PROCESSOR_TIME)
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
    words += ["--output-path", "pynguin", "--maximum-search-time", _SECONDS, "--seed", "1"]
    run(words, one, folder, _LONGEST, _BY_PROCESSOR_TIME)
    for written in (folder / "pynguin").glob("test_*.py"):
        (folder / "test_peer.py").write_text(written.read_text())
    return 0


def mutants_killed(one: Drawn, folder: Path, python: str) -> tuple[int, int]:
    """Of the mutants of a function, how many the tests that hold notice, and how many there are."""
    failing = [place for place in _failing(one, folder, {}) if place]
    words = [python, str(SUBJECTS / "wild_mutants.py"), str(one.file), *map(str, one.lines), str(_MUTANTS), str(folder)]
    run(words, one, folder, 120.0)
    mutants = sorted(folder.glob("mutant_*.py"))
    if not (folder / "test_peer.py").exists():
        return 0, len(mutants)
    without = [word for test in failing for word in ("--deselect", test)]
    return sum(bool(_failing(one, folder, {"TREADLE_MUTANT": str(m)}, without)) for m in mutants), len(mutants)


def _failing(one: Drawn, folder: Path, mutant: dict[str, str], without: Sequence[str] = ()) -> list[str]:
    """The tests that fail; [''] where they did not come to an end."""
    if not (folder / "test_peer.py").exists():
        return []
    variables_ = {"TREADLE_FILE": str(one.file), **mutant, "PYTHONPATH": str(SUBJECTS)} if mutant else {}
    words = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "--rootdir", "."]
    words += ["--confcutdir", ".", "-c", os.devnull, *(["-x", "-p", "wild_mutated"] if mutant else []), *without]
    out, _ = run([*words, "test_peer.py"], one, folder, 60.0, variables_)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)(?: - |$)", out, flags=re.M)
    return failed or ([] if re.search(r"\d+ (passed|deselected|xfailed)", out) else [""])


def measured(one: Drawn, tool: Callable[[Drawn, Path, str], int], python: str) -> dict[str, Any]:
    """One row."""
    folder = PLACE / "peers"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    broken = tool(one, folder, python)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    there = (folder / "test_peer.py").exists()
    tests, failed, (covered, all_) = judge(one, folder, "test_peer.py") if there else (0, 0, (0, 0))
    killed, mutants = mutants_killed(one, folder, python)
    return {
        "tool": tool.__name__.removeprefix("with_"),
        "target": one.target,
        "tests": tests + broken,
        "failed": failed + broken,
        "percent": round(100 * covered / all_, 1) if all_ else 0.0,
        "killed": killed,
        "mutants": mutants,
        "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
    }


def main(
    quick: bool = False,
    seed: str = "",
    number: int = 30,
    drawn: int = DRAWN,
    packages: int = 1,
    seconds: float = 1e9,
) -> None:
    os.environ["PYNGUIN_DANGER_AWARE"] = "1"  # it asks whether it may run the code
    python = environments.environment(sys.executable, *PEERS, *REAL)  # that of `benchmarks unit`
    chosen = [one for one in draw(seed, drawn, packages) if is_typed(one)][: 2 if quick else number]
    rows = Rows("unit_wild_peers", ["tool", "target", "tests", "failed", "percent", "killed", "mutants", "cpu"])
    kept = PLACE / "rows" / f"peers-{seed or packages}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    ends = time.monotonic() + seconds
    for one in chosen:
        for tool in (with_treadle, with_crosshair, with_pynguin):
            name = tool.__name__.removeprefix("with_")
            row = next((row for row in known if (row["tool"], row["target"]) == (name, one.target)), None)
            if row is None and time.monotonic() > ends:
                continue
            if row is None:
                row = measured(one, tool, python)
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            rows.add(**row)
    rows.table()
    for name in dict.fromkeys(row["tool"] for row in rows.rows):
        own = [row for row in rows.rows if row["tool"] == name]
        tested, failed = sum(row["tests"] > 0 for row in own), sum(row["failed"] for row in own)
        mean = statistics.mean(row["percent"] for row in own)
        middle = statistics.median(row["cpu"] for row in own)
        killed, mutants = (sum(row[column] for row in own) for column in ("killed", "mutants"))
        said = f"{tested} of {len(own)} with tests, {mean:.1f} % of branches, {failed} tests fail"
        print(
            f"{name}: {said}, {killed} of {mutants} mutants killed, median {middle:.1f} s of processor time",
            file=sys.stderr,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="treadle unit, CrossHair and Pynguin on typed functions of others.")
    parser.add_argument("--seed", default="", help="draw others, to develop with")
    parser.add_argument("--number", type=int, default=30, help="how many functions")
    parser.add_argument("--packages", type=int, default=1, choices=tuple(LISTS), help="from which list of packages")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing new after so many")
    parser.add_argument("--drawn", type=int, default=DRAWN, help="of how many that are drawn")
    main(**vars(parser.parse_args()))
