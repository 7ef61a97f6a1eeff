"""Recordings for a class: its project's own tests, and the examples that its package brings with it.

Tests run in a process of their own, in a copy of their folder, which is gone afterwards; effects elsewhere are refused.
What could not be recorded is told in the notes of the result.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from treadle.classes.subject import Subject
from treadle.core.errors import UsageError
from treadle.observe.examples import write_examples
from treadle.observe.recorded import RecordedUse, from_json

# Seconds for the examples of a package: they are few and small.
_FOR_EXAMPLES = 5.0
# Seconds for a suite of tests, which is also no more than a third of the budget.
_FOR_TESTS = 20.0
# Seconds beyond its time for which a process may finish.
_PATIENCE = 10.0


def recorded_for(subject: Subject, given: str, budget: float) -> RecordedUse:
    """What the examples of the package show about the class, and the tests: those given, or the project's own."""
    found = RecordedUse()
    if given and not Path(given).exists():
        raise UsageError(f"--from-tests: there is no file or folder '{given}'")
    tests = given or _tests_of_project(subject)
    seconds = max(min(budget / 3, _FOR_TESTS), 1.0)
    with tempfile.TemporaryDirectory(prefix="treadle-", ignore_cleanup_errors=True) as folder:
        for package in subject.packages:
            examples = write_examples(package, subject.name, Path(folder))
            if examples:
                found.add(_record(Path(folder), subject.packages, examples, _FOR_EXAMPLES))
        found.problems.clear()  # an example that does not run is no news about the class
        if tests:
            copy = Path(folder) / "tests" / Path(tests).resolve().name
            copy.parent.mkdir()
            if Path(tests).is_dir():
                shutil.copytree(tests, copy, ignore=shutil.ignore_patterns("__pycache__", ".git"))
            else:
                shutil.copy(tests, copy)
            found.add(_record(Path(folder), subject.packages, _about(copy, subject), seconds))
    return found


def _tests_of_project(subject: Subject) -> str:
    """`tests` in this folder, if the class lives here and is not an installed one."""
    home = subject.cls if subject.is_module else sys.modules.get(subject.cls.__module__)
    file = Path(getattr(home, "__file__", None) or "/")
    here = file.is_relative_to(Path.cwd()) and not {"site-packages", ".venv"} & set(file.parts)
    return "tests" if here and Path("tests").is_dir() else ""


def _about(tests: Path, subject: Subject) -> list[Path]:
    """The files of tests that name the class, most often first, or all of them when none does."""
    name = re.compile(rf"\b{re.escape(subject.target.rpartition(':')[2].rpartition('.')[2])}\b")
    files = [*tests.rglob("test_*.py"), *tests.rglob("*_test.py")] if tests.is_dir() else []
    times = {file: len(name.findall(file.read_text(encoding="utf-8", errors="replace"))) for file in sorted(files)}
    return sorted(filter(times.__getitem__, times), key=lambda file: -times[file]) or [tests]


def _record(folder: Path, packages: tuple[str, ...], paths: list[Path], seconds: float) -> RecordedUse:
    out = folder / "recorded.json"
    out.unlink(missing_ok=True)
    words = [sys.executable, "-m", "treadle.observe.recorder", str(out), str(seconds), ",".join(packages)]
    said = ""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *filter(None, sys.path)])}
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [*words, *map(str, paths)],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=3 * seconds + _PATIENCE,
            check=False,
        )
        said = done.stderr.strip().splitlines()[-1] if done.returncode and done.stderr.strip() else ""
    if not out.exists():
        return RecordedUse(problems=[f"nothing could be recorded from the tests{': ' + said if said else ''}"])
    found = from_json(out.read_text(encoding="utf-8"))
    found.problems += [said] if said else []
    return found
