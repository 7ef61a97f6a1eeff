"""The pytest file of a class: where it goes, and how it is put together. `shown` decides which tests land in it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from treadle.classes.result import ClassResult, Options
from treadle.classes.subject import Subject
from treadle.core.errors import UsageError
from treadle.doors.class_.test_source import FaultTest, snake_case
from treadle.observe.parameters import IMPORT_FIRST
from treadle.report.pytest_file import PytestFile, module_folder
from treadle.tasks.environment import IN_TEST

# Where the tests of warnings go: pytest does not collect there by itself.
WARNINGS = Path(".treadle") / "warnings"

_ABOUT = "Each runs two {who} under the schedule that was found to break the class, and passes once it is fixed."
_PLAINLY = "# The same calls with nothing but {who}, for reading: which schedule they get is up to the machine."


def tests_path(subject: Subject, output: str) -> Path:
    """Where the file goes: as asked, or tests/ when there is such a folder."""
    if output.endswith(".py"):
        return Path(output)
    folder = Path(output) if output else Path("tests") if Path("tests").is_dir() else Path(".")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--output takes a folder for test_<class>_concurrent.py, or a .py file, not '{output}'")
    return folder / f"test_{snake_case(subject.name)}_concurrent.py"


def warnings_path(result: ClassResult) -> Path:
    assert result.subject is not None
    return WARNINGS / f"test_{snake_case(result.subject.name)}_warnings.py"


def shown_path(path: Path) -> str:
    """A path as a person here writes it."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def class_file(
    result: ClassResult,
    tests: Sequence[FaultTest],
    options: Options,
    trails: Mapping[str, str],
    keep_green: bool = False,
) -> PytestFile:
    """The file with these tests, each under its schedule."""
    assert result.subject is not None
    who = "tasks" if result.subject.in_tasks else "threads"
    needs = dict.fromkeys(line for test in tests for line in test.needs)
    imports = [line for line in needs if line.startswith(("import ", "from "))]
    folders = module_folder(result.target.partition(":")[0])
    folders += [options.setup_folder] if options.setup_folder is not None else []
    return PytestFile(
        title=f"Concurrent tests of {result.target}, written by `treadle class`.",
        about=_ABOUT.format(who=who),
        imports=[
            *(["import threading"] if who == "threads" else []),
            "import treadle",
            *imports,
            *(["import pytest"] if keep_green else []),
        ],
        first_imports=[f"import {name}" for name in IMPORT_FIRST],
        folders=folders,
        definitions=[
            f"INSTRUMENT = {list(result.subject.packages)!r}",
            *(line for line in needs if line not in imports),
        ],
        tests={test.name: _decorated(test, trails.get(test.name, ""), keep_green) for test in tests},
        appendix=[_PLAINLY.format(who=who), *(test.plain for test in tests)],
    )


def _decorated(test: FaultTest, trail: str, keep_green: bool) -> str:
    how = ", any_order=True" if test.in_tasks else ""
    how += f', cancel="{IN_TEST}"' if test.fault.witness.test.cancels else ""
    marks = [f"@treadle.follow({_wrapped(trail)}, instrument=INSTRUMENT{how})"]
    if keep_green:
        reason = f"not thread-safe: {test.fault.calls}"
        marks.insert(0, f"@pytest.mark.xfail(strict=True, reason={reason!r})")
    if test.fault.on:
        marks[:0] = textwrap.wrap(f"on: {test.fault.on}", 116, initial_indent="# ", subsequent_indent="# ")
    return "\n".join([*marks, test.source])


def _wrapped(trail: str) -> str:
    """A long string over several lines."""
    if len(trail) <= 90:
        return repr(trail)
    pieces = [trail[start : start + 100] for start in range(0, len(trail), 100)]
    return "\n    " + "\n    ".join(repr(piece) for piece in pieces)
