"""`treadle schedule`: few schedules of an actor test that raise ordering coverage, each of them run."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from treadle.cli import collect
from treadle.cli.explore import save_findings, terminal_line
from treadle.cli.output import annotate, machine_options, page_option, write_page, write_sarif
from treadle.cli.workforce import resume_option, workforce_options
from treadle.core.errors import UsageError
from treadle.core.files import check_may_write, write_sealed
from treadle.core.verdict import Verdict, worst, worst_exit_code
from treadle.doors.schedule import console as schedule_console
from treadle.doors.schedule import pytest_file as schedule_pytest
from treadle.doors.schedule.campaign import DEFAULT, MOST_EXECUTIONS, NAMES, check_options, check_schedules
from treadle.doors.schedule.page import schedule_part
from treadle.messages.result import OrderFinding, ScheduleResult
from treadle.pytest_plugin import Campaign
from treadle.report import coverage_curve, message_sequence
from treadle.report.annotations import Annotation, no_pass, of_finding
from treadle.report.progress import Progress
from treadle.search.cluster import Workforce


@click.command()
@click.argument("target", metavar="PATH::TEST")
@click.option(
    "--criteria",
    metavar="LIST",
    default=",".join(DEFAULT),
    help=f"Some of {', '.join(NAMES)}, in order. Default: {','.join(DEFAULT)}.",
)
@click.option("--executions", type=int, metavar="N", help=f"Stop after N executions. Default: {MOST_EXECUTIONS}.")
@click.option("--seconds", type=float, metavar="N", help="Stop after N seconds.")
@click.option("--delivery", metavar="mailbox|causal|promised", default="mailbox", help="What messages may overtake.")
@click.option("--behaviour", multiple=True, metavar="ATTR", help="An attribute that decides how messages are handled.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the program's random module.")
@workforce_options
@resume_option
@click.option("--all", "every", is_flag=True, help="Go on after the first failure.")
@click.option(
    "--diagram", type=click.Path(path_type=Path), metavar="FILE", help="Sequence diagram of a failure (.svg)."
)
@click.option("--curve", type=click.Path(path_type=Path), metavar="FILE", help="Coverage by execution (.svg).")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="A failing order as a pytest file.")
@click.option("--force", is_flag=True, help="Replace files even if they were edited by hand.")
@page_option
@machine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def command(
    target: str,
    criteria: str,
    executions: int | None,
    seconds: float | None,
    delivery: str,
    behaviour: tuple[str, ...],
    seed: int,
    every: bool,
    diagram: Path | None,
    curve: Path | None,
    write: Path | None,
    force: bool,
    page: Path | None,
    sarif: Path | None,
    form: str,
    strict: bool,
    as_json: bool,
    workers: int | None,
    cluster: str | None,
    ship: bool | None,
    resume: bool | None,
) -> int:
    """Try the orders of messages that a test of an actor program has not seen.

    Runs the test once, works out which messages could arrive the other way round, generates schedules that try them,
    and runs those. Works with Pykka, Thespian, and with the queues of threads and tasks.
    """
    wanted = [name.strip().upper() for name in criteria.split(",") if name.strip()]
    check_options(wanted, executions, seconds, delivery)
    for option, file in (("--diagram", diagram), ("--curve", curve), ("--write", write)):
        if file is not None and option != "--write" and file.suffix != ".svg":
            raise UsageError(f"{option} writes SVG: '{file}' must end in .svg")
        if file is not None:
            check_may_write(file, option, force)
    workforce = Workforce.asked(workers, cluster, ship)
    if "::" not in target:
        raise UsageError(f"name the test: {target}::test_something")
    search = functools.partial(
        check_schedules,
        criteria=wanted,
        executions=executions,
        seconds=seconds,
        delivery=delivery,
        behaviours=behaviour,
        seed=seed,
        first=not every,
        workforce=workforce,
        resume=bool(resume),
    )
    campaign = Campaign(search=search)
    with terminal_line() as stderr:
        campaign.progress = lambda test: Progress(test.rpartition("::")[2], stderr)
        outcome = collect.run(collect.Target(target), campaign)
    results: list[Any] = campaign.results
    code = report(results, outcome.root, as_json, diagram, curve, write, force)
    write_page(page, [schedule_part(result) for result in results] if page is not None else [], as_json)
    told = [one for result in results for one in schedule_remarks(result)]
    write_sarif(sarif, told)
    annotate(form, told, as_json)
    for problem in outcome.problems:
        print(f"treadle: {problem.target} was not run: {problem.message}", file=sys.stderr)
    return worst_exit_code([code, *(problem.exit_code for problem in outcome.problems)], strict)


def report(
    results: Sequence[ScheduleResult],
    root: Path,
    as_json: bool,
    diagram: Path | None = None,
    curve: Path | None = None,
    write: Path | None = None,
    force: bool = False,
) -> int:
    """Print and save; the worst verdict gives the exit code."""
    if as_json:
        facts = [result.to_json() for result in results]
        print(json.dumps(facts[0] if len(facts) == 1 else {"tests": facts}))
    for result in results:
        saved = save_findings(root, result.target, result.findings)
        if not as_json:
            schedule_console.show(result, saved=saved)
        for said in _write_files(result, diagram, curve, write, force):
            if not as_json:
                print(f"  {said}")
    return worst(result.verdict for result in results).exit_code


def schedule_remarks(result: ScheduleResult) -> list[Annotation]:
    """What a machine is told of one campaign."""
    found = [of_finding(result.target, result.verdict, finding) for finding in result.findings]
    said = f"{schedule_console.sentence(result)}; {schedule_console.advice(result)}".rstrip("; ")
    return found or no_pass(result.target, result.verdict, said)


def _write_files(
    result: ScheduleResult, diagram: Path | None, curve: Path | None, write: Path | None, force: bool
) -> list[str]:
    said = []
    failing = next((found for found in result.findings if isinstance(found, OrderFinding)), None)
    if curve is not None:
        drawn = coverage_curve.svg(result.curve, f"{result.target}: ordering goals covered")
        write_sealed(curve, drawn, "--curve", force)
        said.append(f"wrote {curve}")
    if diagram is not None:
        if failing is None:
            said.append(f"no failure, so {diagram} was not written")
        else:
            title = f"{result.target}: {failing.message}"
            drawn = message_sequence.diagram(failing.schedule, failing.passing, title)
            write_sealed(diagram, drawn, "--diagram", force)
            said.append(f"wrote {diagram}")
    if write is not None:
        if failing is None or result.verdict is not Verdict.FAILED:
            said.append(f"no failure, so {write} was not written")
        else:
            said.append(schedule_pytest.write(result.target, failing, write, force))
    return said
