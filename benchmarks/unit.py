"""`treadle unit` against CrossHair and Pynguin: tests, how many hold, branches, mutants killed, seconds.

One module for all: `subjects/unit_subject.py` plus ten functions of real packages, whose source is taken from the
installed packages when the benchmark runs. Mutants are made by cosmic-ray's operators. Run:

    python -m benchmarks unit            (--quick: every third mutant, 3 s a function for CrossHair)

A suite is judged by the tests of it that pass on the original module in a fresh process in a shuffled order; only
those count for coverage and mutants. A mutant that is still running after 10 s counts as killed for everyone.
"""

from __future__ import annotations

import ast
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import environments
from benchmarks.rows import Rows

SUBJECT = Path(__file__).parent / "subjects" / "unit_subject.py"
RUNNER = Path(__file__).parent / "subjects" / "unit_mutants.py"
PEERS = ("crosshair-tool", "pynguin", "cosmic-ray", "coverage", "pytest")
REAL = ("inflection==0.5.1", "boltons==26.2.0", "more-itertools==11.2.1")
# module, functions: pure Python, each usable on its own
TAKEN = {
    "inflection": ("ordinal", "ordinalize", "dasherize", "camelize", "underscore"),
    "boltons.strutils": ("format_int_list", "parse_int_list", "is_ascii"),
    "more_itertools.recipes": ("nth_combination", "first_true"),
}
# what those functions use of their own modules
NEEDED = "import collections\nimport re\nfrom math import comb\n"


@dataclass
class Outcome:
    tool: str
    seconds: float
    tests: int = 0
    passing: int = 0
    branches: float = 0.0
    killed: int = 0
    mutants: int = 0
    note: str = ""
    cpu: float = 0.0
    broken: int = 0  # tests that are not even Python


def subject_source(python: str) -> str:
    """The module under test: ours, then the functions of real packages."""
    code = (
        "import importlib, inspect, json, sys\n"
        "taken = json.loads(sys.argv[1])\n"
        "out = {m: [inspect.getsource(getattr(importlib.import_module(m), n)) for n in names]"
        " for m, names in taken.items()}\n"
        "print(json.dumps(out))\n"
    )
    done = subprocess.run([python, "-c", code, json.dumps(TAKEN)], capture_output=True, text=True, check=True)
    sources = json.loads(done.stdout)
    parts = [SUBJECT.read_text(), NEEDED]
    return "\n\n".join([*parts, *(text for texts in sources.values() for text in texts)])


def functions(module: Path) -> list[str]:
    """Every function and method of the module, as CrossHair names them."""
    found = []
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.ClassDef):
            found += [f"{node.name}.{n.name}" for n in node.body if isinstance(n, ast.FunctionDef) and n.name[0] != "_"]
    return found


def with_treadle(folder: Path) -> Outcome:
    start = time.perf_counter()
    command = [sys.executable, "-m", "treadle", "unit", "subject", "--output", "test_treadle.py", "--force", "--json"]
    command += ["--select", "all-paths"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    outcome = Outcome("treadle", time.perf_counter() - start)
    if done.returncode not in (0, 1):
        outcome.note = done.stderr.strip()[-200:]
    else:
        found = json.loads(done.stdout)
        outcome.note = f"{len(found['disagreements'])} disagreements, {len(found['left_out'])} left out"
    return outcome


def with_crosshair(folder: Path, python: str, seconds: int) -> Outcome:
    """`crosshair cover` prints pytest code; one call for the whole module, one file for all functions."""
    start = time.perf_counter()
    parts: list[str] = []
    for name in functions(folder / "subject.py"):
        command = [python, "-m", "crosshair", "cover", f"subject.{name}", "--example_output_format", "pytest"]
        command += ["--per_condition_timeout", str(seconds)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        parts.append(_renamed(done.stdout, name))
    outcome = Outcome("crosshair cover", time.perf_counter() - start)
    imports = sorted({line for part in parts for line in part.splitlines() if re.match(r"(from|import) ", line)})
    bodies = ["\n".join(x for x in part.splitlines() if not re.match(r"(from|import) ", x)) for part in parts]
    tests = [f"def test_{t}" for body in bodies for t in re.split(r"^def test_", body, flags=re.M)[1:]]
    good = [test for test in tests if parses(test)]
    outcome.broken = len(tests) - len(good)
    (folder / "test_crosshair.py").write_text(
        "\n".join(["import pytest", "from subject import *", *imports, *good]) + "\n"
    )
    return outcome


def parses(test: str) -> bool:
    """A test that is no Python (an object's repr in it) would cost the whole file; it counts as written and failing."""
    try:
        ast.parse(test)
    except SyntaxError:
        return False
    return True


def _renamed(text: str, name: str) -> str:
    """Test names must not clash when the functions' tests are put in one file."""
    safe = name.replace(".", "_")
    numbers = iter(range(1, 10_000))
    return re.sub(r"^def (test_\w+)\(", lambda m: f"def {m[1]}_{safe}_{next(numbers)}(", text, flags=re.M)


def with_pynguin(folder: Path, python: str, seconds: int) -> Outcome:
    start = time.perf_counter()
    command = [python, "-m", "pynguin", "--project-path", ".", "--module-name", "subject", "--output-path", "pynguin"]
    command += ["--maximum-search-time", str(seconds), "--seed", "1"]
    environment = {**os.environ, "PYNGUIN_DANGER_AWARE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    outcome = Outcome(f"pynguin ({seconds} s)", time.perf_counter() - start)
    written = folder / "pynguin" / "test_subject.py"
    if written.exists():
        (folder / "test_pynguin.py").write_text(written.read_text())
    else:
        outcome.note = (done.stderr or done.stdout).strip()[-200:]
    return outcome


def judge(outcome: Outcome, folder: Path, python: str, file: str, every: int) -> None:
    """Tests that hold, branch coverage, mutants killed."""
    if not (folder / file).exists():
        return
    command = [python, str(RUNNER), file, str(every)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines:
        outcome.note = done.stderr.strip()[-300:]
        return
    found = json.loads(lines[-1])
    outcome.tests, outcome.passing = found["tests"] + outcome.broken, found["passing"]
    outcome.branches, outcome.killed, outcome.mutants = found["branches"], found["killed"], found["mutants"]


def main(quick: bool = False) -> None:
    peers = environments.environment(sys.executable, *PEERS, *REAL)
    folder = environments.FOLDER / "unit"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "subject.py").write_text(subject_source(peers))
    rows = Rows(
        "unit", ["tool", "functions", "tests", "pass", "branches %", "mutants killed", "of", "seconds", "cpu", "note"]
    )
    count = len(functions(folder / "subject.py"))
    runs: list[tuple[Callable[[], Outcome], str]] = [
        (lambda: with_treadle(folder), "test_treadle.py"),
        (lambda: with_crosshair(folder, peers, 3 if quick else 10), "test_crosshair.py"),
        (lambda: with_pynguin(folder, peers, 60), "test_pynguin.py"),
    ]
    for run, file in runs:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome = run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        judge(outcome, folder, peers, file, 3 if quick else 1)
        rows.add(
            tool=outcome.tool,
            functions=count,
            tests=outcome.tests,
            **{"pass": outcome.passing, "branches %": outcome.branches, "mutants killed": outcome.killed},
            of=outcome.mutants,
            seconds=round(outcome.seconds, 1),
            cpu=round(outcome.cpu, 1),
            note=outcome.note,
        )
    rows.table()


__all__ = ["main"]
