"""`treadle try`: the first command in a project: a verdict for each of its tests that start threads, in one table."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import click
from rich.table import Table

from treadle.cli.output import page_option, write_page
from treadle.core.errors import UsageError
from treadle.core.verdict import Verdict, worst
from treadle.doors.explore import project
from treadle.report import page as pages
from treadle.report.fresh_process import scratch_folder
from treadle.report.lines import Lines
from treadle.report.progress import many
from treadle.report.terminal import harmless


@click.command()
@click.argument("target", metavar="PACKAGE_OR_FOLDER", default=".")
@click.option("--seconds", type=float, default=10.0, metavar="N", help="Seconds for each test. Default: 10.")
@click.option("--tests", type=click.IntRange(1), default=50, metavar="N", help="At most N tests. Default: 50.")
@click.option(
    "--once", type=float, default=600.0, metavar="N", help="Seconds for running all tests once. Default: 600."
)
@click.option("--instrument", multiple=True, metavar="PKG", help="Also look inside this installed package. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@page_option
def command(
    target: str,
    seconds: float,
    tests: int,
    once: float,
    instrument: tuple[str, ...],
    as_json: bool,
    page: Path | None,
) -> int:
    """Explore the tests of a project that start threads.

    Runs the tests that speak of threads once, as they are; explores those that pass and start a thread, each in a
    process of its own; prints what came out and what to do about it.
    """
    for budget in (seconds, once):
        if not budget > 0:
            raise UsageError(f"a budget of {budget:g} seconds leaves nothing to run; give more than 0")
    folder = _folder(target)
    root = project.root_of(folder)
    files = [Path(os.path.abspath(path)) for path in project.test_files(folder)]
    if not files:
        raise UsageError(f"there are no files with tests in '{target}' (test_*.py or *_test.py)")
    packages = [*project.installed_packages(root), *instrument]
    told = Lines(stderr=True)
    told.say((f"running the tests of {many(len(files), 'file')} once", "dim"))
    ran = project.run_once(files, once)
    found = ran.threaded
    for name in ran.slow:
        told.say((f"left out, it takes longer than {once / 4:g} s: {name}", "dim"))
    if ran.in_processes:
        count = many(len(ran.in_processes), "test")
        told.say((f"left out, only processes are started: {count}, {ran.in_processes[0]} first", "dim"))
    if not found and not ran.ended:
        raise UsageError(f"running the tests once took longer than {once:g} s: raise --once, or name a file with tests")
    if not found:
        raise UsageError(f"no test in '{target}' starts a thread when it is run: {_pytest_command(files)}")
    rows: list[project.Row] = []
    parts: list[pages.Part] = []
    with scratch_folder() as scratch:
        for number, test in enumerate(found[:tests], 1):
            told.say((f"{number} of {min(len(found), tests)}: {test.target}", "dim"))
            place = scratch / f"{number}.html" if page is not None else None
            rows.append(project.explore_alone(test, seconds, packages, place))
            parts += _parts(rows[-1], place) if place is not None else []
    left_out = len(found) - len(rows)
    if as_json:
        facts = {"left_out": left_out, "in_processes": ran.in_processes, "instrument": packages}
        print(json.dumps({"tests": [row.to_json() for row in rows], **facts}))
    else:
        _show(rows, left_out)
    write_page(page, parts, as_json)
    return exit_code(rows)


def _parts(row: project.Row, place: Path) -> list[pages.Part]:
    """What a page shows of one test: what its exploration wrote, or, where that is not the last word, the row."""
    written = pages.read(place) if place.exists() else []
    if any(one["ended"] == row.verdict for one in written):
        return written
    plain = pages.part("explore", row.target, None, row.verdict, row.todo)
    return [{**plain, "colour": "warn", "findings": [], "evidence": {}}]


def _folder(target: str) -> Path:
    path = Path(target)
    if path.exists():
        return path
    try:
        spec = importlib.util.find_spec(target)
    except (ImportError, ValueError, AttributeError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not places:
        raise UsageError(f"there is no folder '{target}', and no package of that name is installed")
    return Path(places[0])


def _pytest_command(files: list[Path]) -> str:
    names = " ".join(os.path.relpath(path) for path in files[:3])
    return f"see {os.path.basename(sys.executable)} -m pytest {names}"


def _show(rows: list[project.Row], left_out: int) -> None:
    out = Lines()
    table = Table(box=None, pad_edge=False)
    for name in ("test", "verdict", "builds", "time", "what to do"):
        table.add_column(name, overflow="fold", justify="right" if name == "time" else "left")
    for row in rows:
        table.add_row(
            *(harmless(text) for text in (row.target, row.verdict, row.builds, f"{row.seconds:.1f} s", row.todo))
        )
    out.print(table)
    verdicts = [row.verdict for row in rows]
    counted = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
    out.say(f"\n{many(len(rows), 'test')}: {counted}")
    if left_out:
        out.say(f"{left_out} more start threads: raise --tests")
    failed = [row for row in rows if row.verdict == "FAILED"]
    if failed:
        out.say(f"see why: treadle explore '{failed[0].target}'", whole=True)


def exit_code(rows: list[project.Row]) -> int:
    """1 when a test fails under some schedule, 0 when all pass, 3 otherwise."""
    endings = {verdict.value: verdict for verdict in Verdict}
    return worst(endings.get(row.verdict, Verdict.CUT) for row in rows).exit_code
