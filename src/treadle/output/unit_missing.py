"""`--missing`: only tests for paths that the project's own tests do not take.

The own tests are run once, in a process of their own, with `output.recorder`: it writes down the path of every call of
the targets, and the arcs between lines, which coverage.py turns into figures. The generated tests are run with the
same recorder; one whose call takes a path that the own tests have taken is left out. Lines and conditions cannot tell
apart paths that differ in aliasing only: where several generated tests take one path, the shape of the arguments
decides as well.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle.frontends.python.callgraph import world
from treadle.generate.unit_target import Target
from treadle.model.errors import InternalError, UsageError
from treadle.output.unit_check import Coverage, check_room, from_report, scratch
from treadle.output.unit_files import is_unedited
from treadle.output.unit_result import Suite

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
    coverage: Coverage = field(default_factory=Coverage)
    # (file, line): lines that were not run, or not reached from every condition before them
    uncovered: set[tuple[str, int]] = field(default_factory=set)
    # of the generated tests: how many there were, and how many take a path that is taken already
    paths: int = 0
    taken: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "tests": self.where,
            "ran": self.ran,
            "failed": self.failed,
            "branches": self.coverage.percent("branches"),
            "lines": self.coverage.percent("lines"),
            "paths": self.paths,
            "taken": self.taken,
            "missing": self.paths - self.taken,
        }


def own_tests(targets: Sequence[Target], output: Path, tests: str | os.PathLike[str] | None, append: bool) -> OwnTests:
    """Run the project's own tests; the file that is about to be replaced is not one of them."""
    if tests is not None and not os.path.exists(str(tests).partition("::")[0]):
        raise UsageError(f"--tests {tests}: no such file or folder")
    where = str(tests) if tests is not None else next((f for f in ("tests", "test") if os.path.isdir(f)), "")
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "treadle.output.recorder"]
    command += ["-p", "no:cacheprovider", *(["--no-cov"] if importlib.util.find_spec("pytest_cov") else [])]
    command += ["-p", "no:xdist"] if importlib.util.find_spec("xdist") else []
    if output.exists() and not append and is_unedited(output.read_text(encoding="utf-8")):
        command.append(f"--ignore={output}")
    found = OwnTests(where or "this folder")
    with scratch() as folder:
        done, data, tests_data = _record([*command, *([where] if where else [])], targets, folder, {})
        if tests_data is not None:
            found.ran, found.failed = tests_data["ran"], tests_data["failed"]
        if data is None or (done.returncode not in (0, 1, 5)):
            raise UsageError(f"your tests in {found.where} cannot be run: {_reason(done)}")
        for target, calls in data["calls"].items():
            found.calls[target] = {(path, shape) for _, path, shape in calls}
        _measure(found, data["arcs"], targets, folder)
    return found


def _record(
    command: list[str], targets: Sequence[Target], folder: Path, environment: dict[str, str]
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any] | None, dict[str, Any] | None]:
    files = {m.__file__ for t in targets for m in world(t.module) if m.__file__} | {t.file for t in targets}
    out = folder / "paths.json"
    wanted = {"targets": [(t.text, t.file, t.line) for t in targets], "files": sorted(files), "out": str(out)}
    request = folder / "record.json"
    request.write_text(json.dumps(wanted), encoding="utf-8")
    paths = [p for p in sys.path if p]
    if os.getcwd() not in paths:
        paths.insert(0, os.getcwd())
    everything = {
        **os.environ,
        **environment,
        "TREADLE_RECORD": str(request),
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "1",
    }
    try:
        done = subprocess.run(command, env=everything, capture_output=True, text=True, timeout=_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise UsageError(f"your tests did not finish in {_TIMEOUT} s; name some of them with --tests") from None
    check_room(done)
    results = Path(f"{out}.tests")
    read = [json.loads(f.read_text(encoding="utf-8")) if f.exists() else None for f in (out, results)]
    return done, read[0], read[1]


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """The line of pytest's output that says what is wrong."""
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = [line.removeprefix("E").strip() for line in said if line.startswith(("E  ", "ERROR", "INTERNALERROR"))]
    return (errors or said or [f"pytest ended with exit code {done.returncode}"])[0][:300]


def _measure(found: OwnTests, arcs: dict[str, list[list[int]]], targets: Sequence[Target], folder: Path) -> None:
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
    spans = {(os.path.realpath(t.file), t.file): [] for t in targets}  # type: dict[tuple[str, str], list[Target]]
    for target in targets:
        spans[os.path.realpath(target.file), target.file].append(target)
    for name, entry in report["files"].items():
        for (real, file), own in spans.items():
            if real == os.path.realpath(name):
                ends = [*entry["missing_lines"], *(after for _, after in entry["missing_branches"])]
                inside = [line for line in ends if any(_within(line, t) for t in own)]
                found.uncovered |= {(file, line) for line in inside}


def _within(line: int, target: Target) -> bool:
    first, last = target.body()
    return first <= line <= last


# --- what is missing ---------------------------------------------------------------------------------------


def drop_taken(suite: Suite, own: OwnTests) -> bool:
    """Leave out the cases whose path the own tests have taken; whether there were any."""
    own.paths = suite.tests
    if not suite.cases:
        return False
    taken = _taken_cases(suite, own)
    own.taken = len(taken)
    for explored in suite.explored:
        explored.cases = [c for c in explored.cases if id(c) not in taken]
    suite.cases = [c for c in suite.cases if id(c) not in taken]
    return bool(taken)


def _taken_cases(suite: Suite, own: OwnTests) -> set[int]:
    """The generated tests, run with the recorder, and compared."""
    targets = [e.target for e in suite.explored]
    with scratch() as folder:
        file = folder / "test_candidate.py"
        file.write_text(suite.source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-p", "treadle.output.recorder"]
        command += ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(folder), str(file)]
        quiet = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
        done, data, _ = _record(command, targets, folder, quiet)
    if data is None:
        raise InternalError(f"the generated tests could not be recorded:\n{(done.stdout + done.stderr)[-2000:]}")
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
        said.append(f"your tests: {percent:g} % of branches, {own.taken} of {own.paths} paths; {missing}")
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
    return own is not None and own.paths > 0 and own.taken == own.paths
