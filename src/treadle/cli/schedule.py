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
from treadle.cli.explore import terminal_line
from treadle.core.errors import UsageError
from treadle.core.result import Verdict
from treadle.doors.schedule import console as schedule_console
from treadle.doors.schedule import pytest_file as schedule_pytest
from treadle.doors.schedule.campaign import DEFAULT, MOST_EXECUTIONS, NAMES, check_options, check_schedules
from treadle.messages.result import OrderFinding, ScheduleResult
from treadle.pytest_plugin import Campaign
from treadle.report import coverage_curve, message_diagram, store
from treadle.report.progress import Progress


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
@click.option("--delivery", metavar="promised|causal", default="promised", help="What messages may overtake: see docs.")
@click.option("--behaviour", multiple=True, metavar="ATTR", help="An attribute that decides how messages are handled.")
@click.option("--seed", type=int, default=0, metavar="N", help="Seed of the program's random module.")
@click.option("--all", "every", is_flag=True, help="Go on after the first failure.")
@click.option(
    "--diagram", type=click.Path(path_type=Path), metavar="FILE", help="Sequence diagram of a failure (.svg)."
)
@click.option("--curve", type=click.Path(path_type=Path), metavar="FILE", help="Coverage by execution (.svg or .png).")
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="A failing order as a pytest file.")
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
    as_json: bool,
) -> int:
    """Try the orders of messages that a test of an actor program has not seen.

    Runs the test once, works out which messages could arrive the other way round, generates schedules that try them,
    and runs those. Works with Pykka, Thespian, and with queues that treadle.actors.mailbox names.
    """
    wanted = [name.strip().upper() for name in criteria.split(",") if name.strip()]
    check_options(wanted, executions, seconds, delivery)
    if diagram is not None and diagram.suffix != ".svg":
        raise UsageError(f"--diagram writes SVG: '{diagram}' must end in .svg")
    if curve is not None and curve.suffix not in (".svg", ".png"):
        raise UsageError(f"--curve writes SVG or PNG: '{curve}' must end in .svg or .png")
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
    )
    campaign = Campaign(search=search)
    with terminal_line() as stderr:
        campaign.progress = lambda test: Progress(test.rpartition("::")[2], stderr)
        outcome = collect.run(collect.Target(target), campaign)
    results: list[Any] = campaign.results
    return report(results, outcome.root, as_json, diagram, curve, write)


def report(
    results: Sequence[ScheduleResult],
    root: Path,
    as_json: bool,
    diagram: Path | None = None,
    curve: Path | None = None,
    write: Path | None = None,
) -> int:
    """Print and save; the worst verdict gives the exit code."""
    if as_json:
        facts = [result.to_json() for result in results]
        print(json.dumps(facts[0] if len(facts) == 1 else {"tests": facts}))
    for result in results:
        saved = _save(root, result)
        if not as_json:
            schedule_console.show(result, saved=saved)
        for said in _write_files(result, diagram, curve, write):
            if not as_json:
                print(f"  {said}")
    if not results:
        return 3
    codes = {result.verdict.exit_code for result in results}
    return 1 if 1 in codes else max(codes)


def _save(root: Path, result: ScheduleResult) -> str:
    for finding in result.findings:
        if finding.replay:
            try:
                return str(store.save(root, result.target, finding))
            except OSError as error:
                print(f"treadle: the failing execution was not saved: {error.strerror}", file=sys.stderr)
    return ""


def _write_files(result: ScheduleResult, diagram: Path | None, curve: Path | None, write: Path | None) -> list[str]:
    said = []
    failing = next((found for found in result.findings if isinstance(found, OrderFinding)), None)
    if curve is not None:
        coverage_curve.write(curve, result.curve, f"{result.target}: ordering goals covered")
        said.append(f"wrote {curve}")
    if diagram is not None:
        if failing is None:
            said.append(f"no failure, so {diagram} was not written")
        else:
            title = f"{result.target}: {failing.message}"
            diagram.write_text(message_diagram.svg(failing.schedule, failing.passing, title), encoding="utf-8")
            said.append(f"wrote {diagram}")
    if write is not None:
        if failing is None or result.verdict is not Verdict.FAILED:
            said.append(f"no failure, so {write} was not written")
        else:
            said.append(schedule_pytest.write(result.target, failing, write))
    return said
