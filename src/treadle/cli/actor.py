"""`treadle actor`: tests for an actor's method whose inputs, fields and partners are unknown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from treadle.abs.machine.criteria import REDUCTIONS, SELF_CALLS, Bounds, OrderSelection
from treadle.abs.machine.criteria import TreeProgress as Explored
from treadle.abs.machine.policies import parse_policies
from treadle.cli.sarif import check_sarif, sarif_option, write_sarif
from treadle.core.errors import InternalError, UsageError
from treadle.core.files import check_may_write, write_sealed
from treadle.doors.actor import models as door
from treadle.doors.actor import table as abs_table
from treadle.doors.actor.absunit import absunit_file
from treadle.doors.actor.index_page import index_page
from treadle.doors.actor.page import MOST_CASES, cases_part
from treadle.doors.actor.picture import picture
from treadle.doors.actor.pytest_file import cases_file
from treadle.doors.actor.table import MOST_ROWS, case_remarks
from treadle.report import page as pages
from treadle.report import tree_picture
from treadle.report.progress import Progress
from treadle.report.pytest_file import not_as_told, write_pytest_file


class _Limit(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer clicks
    """A number of one or more, or 'none' for no limit."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        if isinstance(value, int):
            return value
        if value == "none":
            return "none"
        if not re.fullmatch(r"\d+", str(value)) or int(value) < 1:
            self.fail(f"'{value}' is no limit: give a number of 1 or more, or 'none'", param, ctx)
        return int(value)


def parse_domain(text: str) -> tuple[int, int] | None:
    if text == "none":
        return None
    match = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"--domain '{text}' is no range; write LO..HI, such as -10..10, or none")
    return int(match[1]), int(match[2])


@click.command()
@click.argument("target", metavar="MODEL.abs[:CLASS.METHOD]")
@click.option("-k", "--loop", type=_Limit(), help="At most N turns of a loop and N nested recursive calls. Default: 2.")
@click.option("--tasks", type=_Limit(), help="At most N task switches per actor. Default: 10.")
@click.option("--actors", type=_Limit(), help="At most N unknown actors per call, N+1 per new. Default: 2.")
@click.option("--queue", type=click.IntRange(0), default=0, metavar="N", help="Up to N related methods in the queue.")
@click.option(
    "--pruning",
    type=click.IntRange(0, 3),
    default=3,
    help="Which methods --queue tries: 0 all, 3 fewest. Default: 3.",
)
@click.option("--alias/--no-alias", default=False, help="Whether unknown references may be the same object.")
@click.option(
    "--select-objects", type=click.Choice(["all", "round-robin"]), default="all", help="Which object is next."
)
@click.option(
    "--select-tasks",
    multiple=True,
    metavar="[CLASS=]all|fifo|lifo",
    help="Which task is next, for all actors or those of a class. Repeatable. Default: all.",
)
@click.option("--reduce", type=click.Choice(REDUCTIONS), default="independent", help="Which orders are left out.")
@click.option(
    "--self-calls",
    type=click.Choice(SELF_CALLS),
    default="at-once",
    help="Whether a call on the own actor runs at once or is waited for.",
)
@click.option("--domain", default="-10..10", metavar="LO..HI", help="The range of unknown integers, or none.")
@click.option(
    "--values",
    type=click.Choice(["values", "constraints", "hybrid"]),
    default="values",
    help="Tell inputs and outputs as values, as constraints, or as values only where the path asks for one.",
)
@click.option("--seconds", type=float, metavar="N", help="Stop after N seconds.")
@click.option("--states", type=int, metavar="N", help="Stop after N states.")
@click.option("--cases", "wanted", metavar="N|all|none", help="How many cases to tell and replay. All are counted.")
@click.option("--write", "where", type=click.Path(path_type=Path), metavar="FILE", help="Write the tests to FILE.")
@click.option("--format", "form", type=click.Choice(["pytest", "absunit"]), help="What to write. Default: pytest.")
@click.option("--pictures", type=click.Path(path_type=Path), metavar="DIR", help="A sequence diagram (SVG) per test.")
@click.option("--tree", type=click.Path(path_type=Path), metavar="FILE", help="The execution tree as .svg or .dot.")
@click.option("--force", is_flag=True, help="Replace files even if they were edited by hand.")
@click.option("--report", "page", type=click.Path(path_type=Path), metavar="FILE", help="Also write a page to look at.")
@sarif_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
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
    as_json: bool,
) -> int:
    """Explore a method of an ABS class with unknown arguments, fields and other actors, in all orders that matter.

    Without a method, the main block is explored. Prints the tests found: initial state, arguments, order of tasks and
    final state; --write makes a pytest file of them. Exit code 1: a test shows a deadlock or a failed assertion.
    """
    path, name = door.split_target(target)
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
    if page is not None:
        pages.check_writable(page)
    check_sarif(sarif)
    most = MOST_CASES if page is not None else MOST_ROWS
    keep = _cases(wanted, None if as_json or writing or pictures is not None else most)
    if writing and keep == 0:
        raise UsageError("--cases none leaves no tests to write")
    if tree is not None:
        check_may_write(tree, "--tree", force)
    defaults = Bounds() if name else door.MAIN_BOUNDS
    bounds = Bounds(
        _limit(loop, defaults.loop),
        _limit(tasks, defaults.tasks),
        _limit(actors, defaults.actors),
        queue,
        defaults.steps,
    )
    curve: list[tuple[int, int]] = []
    order, of_class = parse_policies(select_tasks)
    with Progress(target) as line:

        def told(progress: Explored) -> None:
            curve.append((progress.states, progress.tests))
            line(progress.tests, strategy=f"{progress.states} states")

        made = door.generate(
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
        )
    written = _write_tests(made, Path(path), where, form, force) if where is not None else []
    written += _write_pictures(made, Path(path), pictures, tree, force)
    if page is not None:
        pages.write(page, [cases_part(made, curve)])
    write_sarif(sarif, case_remarks(made))
    if as_json:
        print(json.dumps(made.to_json()))
    else:
        abs_table.show(made, rows=MOST_ROWS if wanted is None else max(len(made.cases), 1))
        for file in written:
            print(f"wrote {file}")
        if page is not None:
            print(f"report: {page}")
    return made.exit_code


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


def _write_tests(made: door.GeneratedCases, model: Path, where: Path, form: str | None, force: bool) -> list[Path]:
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
    made: door.GeneratedCases, model: Path, pictures: Path | None, tree: Path | None, force: bool
) -> list[Path]:
    drawn: dict[Path, str] = {}
    if pictures is not None:
        method = made.target.rpartition(".")[2] if ":" in made.target else "main"
        for number, case in enumerate(made.cases, 1):
            file = pictures / f"{model.stem}_{method}_{number}.svg"
            drawn[file] = picture(door.replay_case(made, case), title=f"test {number}")
        drawn[pictures / "index.html"] = index_page(made, [file.name for file in drawn])
    if tree is not None and made.tree is not None:
        drawn[tree] = (tree_picture.svg if tree.suffix == ".svg" else tree_picture.dot)(made.tree)
    for file in drawn:
        check_may_write(file, "--tree" if file == tree else "--pictures", force)
    for file, text in drawn.items():
        write_sealed(file, text, "--tree" if file == tree else "--pictures", force)
    return list(drawn)
