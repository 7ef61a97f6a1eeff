"""`--missing`: only tests for paths that the project's own tests do not take.

The own tests are run once, in a process of their own, with `doors.unit.recorder`: it writes down the path of every call
of the targets, and the arcs between lines, which coverage.py turns into figures. The generated tests are run with the
same recorder; one whose call takes a path that the own tests have taken is left out. Lines and conditions cannot tell
apart paths that differ in aliasing only: where several generated tests take one path, the shape of the arguments
decides as well.

Of a selection (`--select`) those tests are left out that add nothing: to the local paths that the own tests take, to
the ways that their conditions go, or to the lines that they run; what is known of lines is not even looked for.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.core.errors import InternalError, UsageError
from treadle.core.files import is_unedited
from treadle.doors.unit.check import CodeCoverage, from_report
from treadle.doors.unit.result import Suite
from treadle.report.fresh_process import run_python, scratch_folder
from treadle.symbolic.python.machine.callgraph import world
from treadle.units.explore import ExploredTarget
from treadle.units.select import ALL_PATHS, NOTHING, AlreadyCovered, fewest
from treadle.units.target import UnitTarget

# A suite that takes longer is better measured once, by its owner; generating must stay a matter of minutes.
_TIMEOUT = 900
_MOST_NAMES = 5


@dataclass(slots=True)
class OwnTests:
    """What the project's own tests do."""

    where: str
    ran: int = 0
    failed: list[str] = field(default_factory=list)
    # target -> (path, shape of the arguments) of its calls
    calls: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    coverage: CodeCoverage = field(default_factory=CodeCoverage)
    # target -> the ways that its conditions went, as instructions
    ways: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    # (file, line): lines that were run on behalf of the targets
    lines: set[tuple[str, int]] = field(default_factory=set)
    # (file, line): lines that were not run, or not reached from every condition before them
    uncovered: set[tuple[str, int]] = field(default_factory=set)
    # how many paths, or goals of a selection, there are tests for, and how many of them the own tests have
    paths: int = 0
    taken: int = 0


def own_tests(
    targets: Sequence[UnitTarget],
    output: Path,
    tests: str | os.PathLike[str] | None,
    append: bool,
    select: str = ALL_PATHS,
) -> OwnTests:
    """Run the project's own tests; the file that is about to be replaced is not one of them."""
    if tests is not None and not os.path.exists(str(tests).partition("::")[0]):
        raise UsageError(f"--tests {tests}: no such file or folder")
    where = str(tests) if tests is not None else next((f for f in ("tests", "test") if os.path.isdir(f)), "")
    command = ["-m", "pytest", "-q", "--no-header", "-p", "treadle.doors.unit.recorder"]
    command += ["-p", "no:cacheprovider", *(["--no-cov"] if importlib.util.find_spec("pytest_cov") else [])]
    command += ["-p", "no:xdist"] if importlib.util.find_spec("xdist") else []
    if output.exists() and not append and is_unedited(output.read_text(encoding="utf-8")):
        command.append(f"--ignore={output}")
    found = OwnTests(where or "this folder")
    with scratch_folder() as folder:
        local = select == "local-paths"
        done, data, tests_data = _record([*command, *([where] if where else [])], targets, folder, {}, local)
        if tests_data is not None:
            found.ran, found.failed = tests_data["ran"], tests_data["failed"]
        if data is None or (done.returncode not in (0, 1, 5)):
            raise UsageError(f"your tests in {found.where} cannot be run: {_reason(done)}")
        for target, calls in data["calls"].items():
            found.calls[target] = {(path, shape) for _, path, shape in calls}
        for target, by_test in data["ways"].items():
            found.ways[target] = {(a, b) for ways in by_test.values() for a, b in ways}
        found.lines = {(file, n) for file, arcs in data["arcs"].items() for arc in arcs for n in arc if n > 0}
        _measure(found, data["arcs"], targets, folder)
    return found


def known_to(own: OwnTests, select: str) -> AlreadyCovered:
    """The goals that the own tests meet, as far as that is known before there are others to compare with."""
    if select == ALL_PATHS:
        return AlreadyCovered(first=frozenset(own.uncovered))
    return AlreadyCovered(lines=frozenset(own.lines)) if select != "local-paths" else NOTHING


def _record(
    command: list[str], targets: Sequence[UnitTarget], folder: Path, environment: dict[str, str], local: bool = False
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any] | None, dict[str, Any] | None]:
    files = {m.__file__ for t in targets for m in world(t.module) if m.__file__} | {t.file for t in targets}
    out = folder / "paths.json"
    watched = [(t.text, t.file, t.line) for t in targets]
    wanted = {"targets": watched, "files": sorted(files), "out": str(out), "local": local}
    request = folder / "record.json"
    request.write_text(json.dumps(wanted), encoding="utf-8")
    try:
        done = run_python(command, seconds=_TIMEOUT, environment={**environment, "TREADLE_RECORD": str(request)})
    except subprocess.TimeoutExpired:
        raise UsageError(f"your tests did not finish in {_TIMEOUT} s; name some of them with --tests") from None
    results = Path(f"{out}.tests")
    read = [json.loads(f.read_text(encoding="utf-8")) if f.exists() else None for f in (out, results)]
    return done, read[0], read[1]


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The line of pytest's output that says what is wrong."""
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in said if line.startswith(("E  ", "ERROR", "INTERNALERROR"))]
    return (errors or said or [f"pytest ended with exit code {done.returncode}"])[0][:300]


def _measure(found: OwnTests, arcs: dict[str, list[list[int]]], targets: Sequence[UnitTarget], folder: Path) -> None:
    import coverage

    files = sorted({t.file for t in targets})
    measure = coverage.Coverage(data_file=None, branch=True, include=files, config_file=False, cover_pylib=True)
    data = measure.get_data()
    data.add_arcs({file: [(a, b) for a, b in arcs.get(file, [])] for file in files})
    out = folder / "coverage.json"
    try:
        measure.json_report(outfile=str(out))
    except coverage.CoverageException:
        return
    report = json.loads(out.read_text(encoding="utf-8"))
    found.coverage = from_report(report, targets)
    spans: dict[tuple[str, str], list[UnitTarget]] = {(os.path.realpath(t.file), t.file): [] for t in targets}
    for target in targets:
        spans[os.path.realpath(target.file), target.file].append(target)
    for name, entry in report["files"].items():
        for (real, file), own in spans.items():
            if real == os.path.realpath(name):
                ends = [*entry["missing_lines"], *(after for _, after in entry["missing_branches"])]
                inside = [line for line in ends if any(_within(line, t) for t in own)]
                found.uncovered |= {(file, line) for line in inside}


def _within(line: int, target: UnitTarget) -> bool:
    first, last = target.body()
    return first <= line <= last


# --- what is missing ---------------------------------------------------------------------------------------


def drop_taken(suite: Suite, own: OwnTests) -> bool:
    """Leave out the cases that add nothing to the own tests; whether there were any."""
    own.taken = sum(e.selection.before.bit_count() for e in suite.explored if e.selection is not None)
    own.paths = own.taken + suite.tests
    if suite.select in ("statements", "points"):
        own.paths = own.taken + sum(_new_goals(suite, explored) for explored in suite.explored)
        return False
    if not suite.cases:
        return False
    data = _recorded(suite)
    taken = _covered_branches(suite, own, data) if suite.select == "branches" else _taken_cases(suite, own, data)
    own.taken += len(taken)
    for explored in suite.explored:
        if explored.selection is not None:
            explored.selection.before = explored.selection.met(c for c in explored.cases if id(c) in taken)
    for explored in suite.explored:
        explored.cases = [c for c in explored.cases if id(c) not in taken]
    suite.cases = [c for c in suite.cases if id(c) not in taken]
    return bool(taken)


def _new_goals(suite: Suite, explored: ExploredTarget) -> int:
    """How many goals the generated tests meet; those that were known are none of their business."""
    written = {id(case) for case in suite.cases}
    found = 0
    for case in explored.cases:
        found |= case.meets if id(case) in written else 0
    return found.bit_count()


def _recorded(suite: Suite) -> dict[str, Any]:
    """What the generated tests do, in the words of the recorder."""
    targets = [e.target for e in suite.explored]
    with scratch_folder() as folder:
        file = folder / "test_candidate.py"
        file.write_text(suite.source, encoding="utf-8")
        command = ["-m", "pytest", "-q", "--no-header", "-p", "treadle.doors.unit.recorder"]
        command += ["-p", "no:cacheprovider", "-c", os.devnull]
        command += ["--rootdir", str(folder), "--confcutdir", str(folder), str(file)]
        quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        done, data, _ = _record(command, targets, folder, quiet, suite.select == "local-paths")
    if data is None:
        raise InternalError(f"the generated tests could not be recorded:\n{(done.stdout + done.stderr)[-2000:]}")
    return data


def _covered_branches(suite: Suite, own: OwnTests, data: dict[str, Any]) -> set[int]:
    """The cases without which every condition still goes each way that it went."""
    numbers: dict[tuple[str, int, int], int] = {}
    bits: dict[int, int] = {}
    goals = {e.target.text: e.selection.goals for e in suite.explored if e.selection is not None}
    for case, test in zip(suite.cases, suite.names, strict=True):
        ways = {(a, b) for a, b in data["ways"].get(case.target, {}).get(test, ())} - own.ways.get(case.target, set())
        # a function without conditions has its statements as goals, and those that are met here are not known
        plain = {(-1, n) for n, goal in enumerate(goals[case.target]) if goal.edge is None and case.meets >> n & 1}
        bits[id(case)] = sum(1 << numbers.setdefault((case.target, *way), len(numbers)) for way in ways | plain)
    kept = {id(case) for case in fewest(suite.cases, lambda case: bits[id(case)])}
    return {id(case) for case in suite.cases} - kept


def _taken_cases(suite: Suite, own: OwnTests, data: dict[str, Any]) -> set[int]:
    """The cases whose path the own tests have taken."""
    # test -> the first call that it makes of its target
    ways: dict[tuple[str, str], tuple[str, str]] = {}
    for target, calls in data["calls"].items():
        for test, path, shape in calls:
            ways.setdefault((target, test), (path, shape))
    mine = [ways.get((case.target, test)) for case, test in zip(suite.cases, suite.names, strict=True)]
    alike = Counter((case.target, way[0]) for case, way in zip(suite.cases, mine, strict=True) if way is not None)
    found: set[int] = set()
    for case, way in zip(suite.cases, mine, strict=True):
        theirs = own.calls.get(case.target, set())
        if way is None:
            continue
        if alike[case.target, way[0]] > 1:
            if way in theirs:
                found.add(id(case))
        elif any(path == way[0] for path, _ in theirs):
            found.add(id(case))
    return found


def lines(suite: Suite) -> list[str]:
    """The part of the summary about the own tests."""
    own = suite.own_tests
    if own is None:
        return []
    said = []
    if not own.ran:
        said.append(f"no tests of your own were found in {own.where}: every path is missing")
    else:
        percent = own.coverage.percent("branches")
        missing = f"{suite.tests} test{'s' * (suite.tests != 1)} for what they miss"
        if own.paths and own.taken == own.paths:
            missing = "nothing is missing"
        noun = {ALL_PATHS: "paths", "local-paths": "local paths"}.get(suite.select, suite.select)
        of = f", {own.taken} of {own.paths} {noun}" if suite.select != "branches" else ""
        said.append(f"your tests: {percent:g} % of branches{of}; {missing}")
    if own.failed:
        names = ", ".join(own.failed[:_MOST_NAMES]) + (", ..." if len(own.failed) > _MOST_NAMES else "")
        one = len(own.failed) == 1
        said.append(
            f"{len(own.failed)} of your tests fail{'s' * one}, and {'counts' if one else 'count'} all the same: {names}"
        )
    return said


def nothing_missing(suite: Suite) -> bool:
    """The own tests take every path that there is a test for."""
    own = suite.own_tests
    doubts = any(e.selection is not None and e.selection.doubts for e in suite.explored)
    return own is not None and own.paths > 0 and own.taken == own.paths and not doubts
