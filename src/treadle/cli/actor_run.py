"""`treadle actor`: tests for an actor's method whose inputs, fields and partners are unknown."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from treadle.abs.machine.criteria import Bounds, OrderSelection
from treadle.abs.machine.criteria import TreeProgress as Explored
from treadle.abs.machine.policies import parse_policies
from treadle.cli.output import write_page, write_sarif
from treadle.core.errors import InternalError, Unsupported, UsageError
from treadle.core.files import check_may_write, write_sealed
from treadle.core.verdict import worst_exit_code
from treadle.doors.actor import table as abs_table
from treadle.doors.actor.absunit import absunit_file
from treadle.doors.actor.generated import MAIN_BOUNDS, GeneratedCases, generate
from treadle.doors.actor.index_page import index_page
from treadle.doors.actor.loaded import split_target
from treadle.doors.actor.models import replay_case
from treadle.doors.actor.page import MOST_CASES, cases_part
from treadle.doors.actor.picture import picture
from treadle.doors.actor.pytest_file import cases_file
from treadle.doors.actor.table import MOST_ROWS, case_remarks
from treadle.report import tree_picture
from treadle.report.progress import Progress
from treadle.report.pytest_file import not_as_told, write_pytest_file
from treadle.search.cluster import Workforce


def parse_domain(text: str) -> tuple[int, int] | None:
    if text == "none":
        return None
    match = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"--domain '{text}' is no range; write LO..HI, such as -10..10, or none")
    return int(match[1]), int(match[2])


def run(
    target: str,
    loop: int | str | None,
    tasks: int | str | None,
    actors: int | str | None,
    queue: int,
    pruning: int,
    alias: bool,
    select_objects: Any,
    select_tasks: tuple[str, ...],
    reduce: Any,
    self_calls: Any,
    domain: str,
    values: Any,
    seconds: float | None,
    states: int | None,
    wanted: str | None,
    where: Path | None,
    form: str | None,
    pictures: Path | None,
    tree: Path | None,
    force: bool,
    page: Path | None,
    sarif: Path | None,
    strict: bool,
    as_json: bool,
    workers: int | None,
    cluster: str | None,
    ship: bool | None,
    resume: bool | None,
) -> int:
    """Explore, write what was asked for, and tell what came out."""
    path, name = split_target(target)
    workforce = Workforce.asked(workers, cluster, ship)
    if tree is not None and tree.suffix not in (".svg", ".dot"):
        raise UsageError(f"--tree writes .svg or .dot, not '{tree.name}'")
    writing = where is not None or form is not None
    if writing and values != "values":
        raise UsageError("tests are written with --values values; constraints and hybrid are for reading")
    if writing and not name:
        raise UsageError(f"tests are written for a method: {path}:Class.method")
    if writing:
        form = form or ("absunit" if where is not None and where.suffix == ".abs" else "pytest")
        where = where or Path(f"test_{Path(path).stem}_{name.rpartition('.')[2]}.{'py' if form == 'pytest' else 'abs'}")
        check_may_write(where, "--write", force)
    most = MOST_CASES if page is not None else MOST_ROWS
    keep = _cases(wanted, None if as_json or writing or pictures is not None else most)
    if writing and keep == 0:
        raise UsageError("--cases none leaves no tests to write")
    if tree is not None:
        check_may_write(tree, "--tree", force)
    defaults = Bounds() if name else MAIN_BOUNDS
    bounds = Bounds(
        _limit(loop, defaults.loop),
        _limit(tasks, defaults.tasks),
        _limit(actors, defaults.actors),
        queue,
        max(defaults.steps or 0, loop) if isinstance(loop, int) else defaults.steps,
    )
    curve: list[tuple[int, int]] = []
    order, of_class = parse_policies(select_tasks)
    with Progress(target) as line:

        def told(progress: Explored) -> None:
            curve.append((progress.states, progress.tests))
            line(progress.tests, strategy=f"{progress.states} states")

        made = generate(
            target,
            bounds=bounds,
            selection=OrderSelection(select_objects, order, reduce, alias, self_calls, of_class),
            domain=parse_domain(domain),
            style=values,
            seconds=seconds,
            states=states,
            record=tree is not None or page is not None,
            keep=keep,
            pruning=pruning,
            on_progress=told,
            workforce=workforce,
            resume=bool(resume),
        )
    if made.endless and not made.tests and not made.stopped:
        raise UsageError(made.endless)
    if made.refused and not made.tests:
        raise Unsupported(made.refused)
    written = _write_tests(made, Path(path), where, form, force) if where is not None else []
    written += _write_pictures(made, Path(path), pictures, tree, force)
    if as_json:
        sys.stdout.writelines(made.json_pieces())
        print()
    else:
        abs_table.show(made, rows=MOST_ROWS if wanted is None else max(len(made.cases), 1))
        for file in written:
            print(f"wrote {file}")
    write_page(page, [cases_part(made, curve)] if page is not None else [], as_json)
    write_sarif(sarif, case_remarks(made))
    return worst_exit_code([made.exit_code], strict)


def _cases(wanted: str | None, default: int | None) -> int | None:
    """How many cases are told; None for all."""
    if wanted is None:
        return default
    if wanted in ("all", "none"):
        return None if wanted == "all" else 0
    if not re.fullmatch(r"[0-9]{1,9}", wanted):
        raise UsageError(f"--cases is a number, 'all' or 'none', not '{wanted}'")
    return int(wanted)


def _limit(given: int | str | None, default: int | None) -> int | None:
    if given is None:
        return default
    return None if given == "none" else int(given)


def _write_tests(made: GeneratedCases, model: Path, where: Path, form: str | None, force: bool) -> list[Path]:
    """Write the tests; of pytest's only those that pass in a fresh process."""
    if not made.cases:
        raise UsageError(f"there are no tests to write to {where}: nothing was covered within the bounds")
    if form == "absunit":
        write_sealed(where, absunit_file(made, model), "--write", force)
        return [where]
    file = cases_file(made.target, made.cases, model)
    # all in one process: a model runs no Python of its own that one test could leave to another
    wrong = not_as_told(file, lambda ended: ended.passed, at_once=0)
    made.rejected += len(wrong)
    if len(wrong) == len(file.tests):
        test, why = next(iter(wrong.items()))
        raise InternalError(f"no test was written to {where}, each fails in a fresh process: {test}: {why}")
    write_pytest_file(where, file.only(file.tests.keys() - wrong.keys()), "--write", force)
    return [where]


def _write_pictures(
    made: GeneratedCases, model: Path, pictures: Path | None, tree: Path | None, force: bool
) -> list[Path]:
    drawn: dict[Path, str] = {}
    if pictures is not None:
        method = made.target.rpartition(".")[2] if ":" in made.target else "main"
        for number, case in enumerate(made.cases, 1):
            file = pictures / f"{model.stem}_{method}_{number}.svg"
            drawn[file] = picture(replay_case(made, case), title=f"test {number}")
        drawn[pictures / "index.html"] = index_page(made, [file.name for file in drawn])
    if tree is not None and made.tree is not None:
        drawn[tree] = (tree_picture.svg if tree.suffix == ".svg" else tree_picture.dot)(made.tree)
    for file in drawn:
        check_may_write(file, "--tree" if file == tree else "--pictures", force)
    for file, text in drawn.items():
        write_sealed(file, text, "--tree" if file == tree else "--pictures", force)
    return list(drawn)
