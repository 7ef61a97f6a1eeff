"""`treadle unit`: unit tests that cover every path of a function, up to a loop bound."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from treadle.cli.output import annotate, write_page, write_sarif
from treadle.core.errors import UsageError
from treadle.core.verdict import exit_code_of, worst_exit_code
from treadle.doors.unit import console as unit_report
from treadle.doors.unit import stubs as unit_stubs
from treadle.doors.unit.findings import contract_remarks
from treadle.doors.unit.missing import nothing_missing
from treadle.doors.unit.page import suite_parts
from treadle.doors.unit.result import Suite
from treadle.doors.unit.result_json import suite_facts
from treadle.doors.unit.selected import satisfied
from treadle.doors.unit.suite import unit
from treadle.observe.streams import protected_streams
from treadle.report.terminal import harmless
from treadle.units.points import is_place


def run(
    targets: tuple[str, ...],
    domain: str,
    kinds: tuple[str, ...],
    show: str | None,
    as_json: bool,
    select: str,
    reach: tuple[str, ...],
    page: Path | None,
    sarif: Path | None,
    form: str,
    strict: bool,
    **given: Any,
) -> int:
    """Write the tests and tell what came out."""
    optional = ("seconds", "workers", "cluster", "ship")
    options = {name: value for name, value in given.items() if value is not None or name not in optional}
    brief = select == "brief"
    select, points, targets = _selection("all-paths" if brief else select, reach, targets)
    with protected_streams(), _progress(as_json) as progress:
        suite = unit(
            *targets,
            domain=_domain(domain),
            types=_types(kinds),
            progress=progress,
            select=select,
            points=points,
            brief=brief,
            **options,
        )
    told = contract_remarks(suite)
    if as_json:
        print(json.dumps(suite_facts(suite).to_json(), indent=2))
    else:
        _print(suite, show)
    write_page(page, suite_parts(suite) if page is not None else [], as_json)
    write_sarif(sarif, told)
    annotate(form, told, as_json)
    return worst_exit_code([_exit_code(suite)], strict)


def _exit_code(suite: Suite) -> int:
    for warning in suite.warnings:
        print(f"treadle: {warning}", file=sys.stderr)
    if suite.disagreements:
        print("treadle: a prediction disagrees with the real run; please report it", file=sys.stderr)
    if suite.internal_errors and not suite.violations:
        print("treadle: some paths ended in an internal error of Treadle; please report it", file=sys.stderr)
    found = nothing_missing(suite) or suite.tests or suite.more is not None
    return exit_code_of(
        failed=bool(suite.violations),
        internal=bool(suite.internal_errors),
        unfinished=not (satisfied(suite) and found),
    )


def _selection(select: str, reach: tuple[str, ...], targets: tuple[str, ...]) -> tuple[str, list[str], tuple[str, ...]]:
    """The criterion, its points, and the other targets: `--select points a.py:5`, `points:a.py:5`, `--reach`."""
    word, points = select, list(reach)
    for mark in (":", "="):
        if select.startswith(f"points{mark}"):
            word, points = "points", [select.removeprefix(f"points{mark}"), *reach]
    if reach and word == "all-paths":
        word = "points"
    if word == "points":
        points += [text for text in targets if is_place(text)]
        targets = tuple(text for text in targets if not is_place(text))
    return word, points, targets


def _print(suite: Suite, show: str | None) -> None:
    if show is not None:
        shown = {
            "ir": unit_report.ir_text,
            "cases": unit_report.table,
            "tree": unit_report.tree,
            "summary": unit_stubs.table,
        }
        print(harmless(shown[show](suite)))
        print()
    print(harmless(unit_report.summary(suite)))


def _domain(text: str) -> tuple[int, int]:
    low, dots, high = text.partition("..")
    try:
        return (int(low), int(high)) if dots else (-abs(int(low)), abs(int(low)))
    except ValueError:
        raise UsageError(f"--domain {text}: write LO..HI, for example -10..10") from None


def _types(texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        for part in _split(text):
            name, equals, kind = part.partition("=")
            if not equals or not name.strip().isidentifier() or not kind.strip():
                raise UsageError(f"--types {text}: write NAME=TYPE, for example --types n=int")
            found[name.strip()] = kind.strip()
    return found


def _split(text: str) -> list[str]:
    """a=int,b=dict[str, int] at the commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p for p in parts if p.strip()]


@contextlib.contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    """A bar over the functions, and the number of cases found; only in a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("exploring", total=None)
        last, now = 0.0, ""

        def tell(target: str, number: int, total: int, cases: int) -> None:
            nonlocal last, now
            if target != now or time.monotonic() - last > 0.1:
                last, now = time.monotonic(), target
                bar.update(task, description=f"{target}: {cases} cases", completed=number, total=total)

        yield tell
