"""`treadle explore`: a verdict over the interleavings of tests that already exist."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from treadle.cli import collect
from treadle.cli.output import annotate, machine_options, page_option, write_page, write_sarif
from treadle.cli.workforce import resume_option, workforce_options
from treadle.core.errors import UsageError
from treadle.core.packages import with_extra
from treadle.core.result import Finding, Result
from treadle.core.verdict import EXIT_INTERNAL, Verdict, worst, worst_exit_code
from treadle.pytest_plugin import Campaign
from treadle.report import console, store
from treadle.report.annotations import remarks
from treadle.report.explore_page import result_part
from treadle.report.progress import Progress
from treadle.report.terminal import PLAIN, harmless
from treadle.search import strategies
from treadle.threads.switching import MODELS
from treadle.threads.virtual_time import CLOCKS

# The options that also mean something for an ABS model, which runs no Python.
_MODELS_ONLY = {
    "reduce": "how a Python test is searched is said with --strategy",
    "tasks": "executions of a Python test are bounded with --executions",
    "actors": "executions of a Python test are bounded with --executions",
    "loop": "executions of a Python test are bounded with --operations",
    "self_calls": "Python calls its methods at once anyway",
    "goal": "explore finds every deadlock of a Python test anyway",
}
_FOR_MODELS = {"executions", "seconds", *_MODELS_ONLY}


@click.command()
@click.argument("target", metavar="PATH[::TEST]")
@click.option("--strategy", metavar="S", help=f"How to search: {', '.join(strategies.NAMES)}. Default: auto.")
@click.option("--executions", type=int, metavar="N", help="Stop after N executions.")
@click.option("--seconds", type=float, metavar="N", help="Stop after N seconds.")
@click.option("--operations", type=int, metavar="N", help="Stop an execution after N. Default: as long as it needs.")
@click.option("--preemptions", type=int, metavar="N", help="Only schedules with at most N preemptions.")
@click.option("--delays", type=int, metavar="N", help="Only schedules with at most N delays.")
@click.option("--timeouts", metavar="idle|any", help="When a timeout may fire: when nothing else can run, or any time.")
@click.option("--clock", metavar="still|ticking", help="Time stands still while threads run, or moves as it is read.")
@click.option("--any-order", is_flag=True, default=None, help="Also permute the steps of asyncio tasks that are ready.")
@click.option(
    "--cancel", metavar="never|at-await[:NAME,NAME]", help="Cancel a task (one of these) at one of its awaits, once."
)
@click.option("--seed", type=int, metavar="N", help="Seed of sampling and of the program's random module.")
@click.option("--granularity", metavar="messages|accesses", help="What is a step; messages is the default for actors.")
@click.option("--delivery", metavar="mailbox|causal|promised", help="What messages may overtake each other.")
@click.option("--switches", metavar="free|gil|auto", help="Where threads may switch: everywhere, or as CPython does.")
@click.option("--copies", type=click.IntRange(2), metavar="N", help="Run N copies of the test at once.")
@workforce_options
@resume_option
@click.option("--reduce", metavar="NAME", help="ABS models: which orders are left out, see docs/actor.md.")
@click.option("--tasks", type=click.IntRange(1), metavar="N", help="ABS models: at most N task switches per actor.")
@click.option("--actors", type=click.IntRange(1), metavar="N", help="ABS models: at most N actors per program point.")
@click.option("--loop", type=click.IntRange(1), metavar="N", help="ABS models: at most N loop turns in one step.")
@click.option("--self-calls", metavar="at-once|awaited", help="ABS models: how an actor's call on itself is run.")
@click.option("--goal", metavar="deadlock", help="ABS models: only executions that can still end in a deadlock.")
@click.option("--instrument", multiple=True, metavar="PKG", help="Also look inside this installed package. Repeatable.")
@click.option("--explain-pass", is_flag=True, help="Also print what the verdict rests on.")
@machine_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@page_option
def command(
    target: str,
    as_json: bool,
    page: Path | None,
    explain_pass: bool,
    strict: bool,
    form: str,
    sarif: Path | None,
    **given: Any,
) -> int:
    """Run a test under every schedule that can matter.

    PATH::TEST explores one test, whatever its decorators; PATH alone explores the tests of a file or folder that are
    decorated with @treadle.explore() or marked @pytest.mark.treadle. PATH may also be an ABS model (.abs).
    """
    options = {name: value for name, value in given.items() if value is not None and value != ()}
    copies = options.pop("copies", 0)
    check_options(**options)
    machines = Machines(form, sarif, strict)
    if target.partition("::")[0].endswith(".abs"):
        for name in options.keys() - _FOR_MODELS:
            raise UsageError(f"--{name.replace('_', '-')} means nothing for an ABS model; leave it out")
        models = with_extra("explore " + target, "treadle.doors.actor.models")
        return report([models.explore_model(target, **options)], Path.cwd(), as_json, page=page, machines=machines)
    _, colon, method = target.rpartition(".abs:")
    if colon and method and not method.startswith(":"):
        raise UsageError(f"explore runs the main block of a model; a method is for: treadle actor {target}")
    for name in options.keys() & _MODELS_ONLY.keys():
        raise UsageError(f"--{name.replace('_', '-')} is for ABS models; {_MODELS_ONLY[name]}")
    campaign = Campaign(options=options, copies=copies, saves=True)
    with terminal_line() as stderr:
        if as_json and "::" not in target:  # the object comes when the last test has ended
            campaign.ended = lambda result: print(
                harmless(f"{result.verdict.value}  {result.target}"), file=stderr, flush=True
            )
        campaign.progress = lambda test: Progress(test.rpartition("::")[2], stderr)
        outcome = collect.run(collect.Target(target), campaign)
    return report(
        campaign.results, outcome.root, as_json, outcome.skipped, outcome.problems, page, explain_pass, machines
    )


@dataclass(frozen=True, slots=True)
class Machines:
    """What else than a person is told."""

    form: str = "text"
    sarif: Path | None = None
    strict: bool = False


def check_options(
    strategy: str = "auto",
    executions: int | None = None,
    seconds: float | None = None,
    operations: int | None = None,
    preemptions: int | None = None,
    delays: int | None = None,
    timeouts: str = "idle",
    clock: str = "still",
    granularity: str = "accesses",
    delivery: str = "mailbox",
    switches: str = "free",
    **others: Any,
) -> None:
    """Refuse options that make no sense before any test is imported."""
    strategies.make(strategy, preemptions=preemptions, delays=delays)
    for name, budget in (("executions", executions), ("seconds", seconds), ("operations", operations)):
        if budget is not None and not budget > 0:
            raise UsageError(f"a budget of {budget:g} {name} leaves nothing to run; give more than 0")
    if timeouts not in ("idle", "any"):
        raise UsageError(f"--timeouts must be 'idle' or 'any', not '{timeouts}'")
    if clock not in CLOCKS:
        raise UsageError(f"--clock must be 'still' or 'ticking', not '{clock}'")
    if granularity not in ("messages", "accesses"):
        raise UsageError(f"--granularity must be 'messages' or 'accesses', not '{granularity}'")
    if delivery not in ("mailbox", "causal", "promised"):
        raise UsageError(f"--delivery must be 'mailbox', 'causal' or 'promised', not '{delivery}'")
    if switches not in MODELS:
        raise UsageError(f"--switches must be 'free', 'gil' or 'auto', not '{switches}'")


@contextmanager
def terminal_line() -> Iterator[IO[str]]:
    """stderr as it is now: pytest redirects the real one while tests run."""
    try:
        copy = os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding=sys.stderr.encoding, errors=PLAIN)
    except (OSError, ValueError):  # no stderr, or one that is not a file
        copy = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    with copy:
        yield copy


def report(
    results: Sequence[Result],
    root: Path,
    as_json: bool,
    skipped: Sequence[tuple[str, str]] = (),
    problems: Sequence[collect.TestProblem] = (),
    page: Path | None = None,
    explain_pass: bool = False,
    machines: Machines = Machines(),
) -> int:
    """Print the results and save what failed; return the worst exit code."""
    saved = [save_findings(root, result.target, result.findings) for result in results]
    if as_json:
        print(json.dumps(_as_one(results, problems)))
    else:
        for number, (result, paths) in enumerate(zip(results, saved, strict=True)):
            if number:
                print()
            console.show(result, saved=paths, explain_pass=explain_pass)
        for test, reason in skipped:
            print(harmless(f"skipped  {test}: {reason}"))
        for problem in problems:
            print(harmless(f"not explored  {problem.target}: {problem.message}"))
        if len(results) + len(problems) > 1:
            print(f"\n{_count(results, problems)}")
    write_page(page, [result_part(result) for result in results] if page is not None else [], as_json)
    for problem in problems:
        if problem.exit_code == EXIT_INTERNAL:
            traceback.print_exception(problem.error)
    told = remarks(results)
    write_sarif(machines.sarif, told)
    annotate(machines.form, told, as_json)
    codes = [r.verdict.exit_code for r in results] + [p.exit_code for p in problems]
    return worst_exit_code(codes, machines.strict)


def _count(results: Sequence[Result], problems: Sequence[collect.TestProblem]) -> str:
    numbers = Counter(result.verdict for result in results)
    parts = [f"{numbers[verdict]} {verdict.value}" for verdict in Verdict if numbers[verdict]]
    parts += [f"{len(problems)} not explored"] if problems else []
    return f"{len(results) + len(problems)} tests: {', '.join(parts)}"


def _as_one(results: Sequence[Result], problems: Sequence[collect.TestProblem]) -> dict[str, Any]:
    """One object: that of the only test, or the sum of several with each of them under `tests`."""
    if len(results) == 1 and not problems:
        return results[0].to_json()
    tests = [result.to_json() for result in results]
    return {
        "verdict": worst(result.verdict for result in results).value,
        "exhaustive": bool(results) and not problems and all(result.exhaustive for result in results),
        "executions": sum(result.executions for result in results),
        "seconds": round(sum(result.seconds for result in results), 3),
        "strategy": ", ".join(dict.fromkeys(result.strategy for result in results)),
        "atomic_modules": sorted({name for result in results for name in result.atomic_modules}),
        "findings": [{"target": test["target"], **finding} for test in tests for finding in test["findings"]],
        "tests": tests,
        "problems": [{"target": one.target, "message": one.message, "exit_code": one.exit_code} for one in problems],
    }


def save_findings(root: Path, target: str, findings: Sequence[Finding]) -> list[str]:
    """Keep every failing execution as a file; not being able to is said, and costs nothing else."""
    saved = []
    for finding in findings:
        if finding.replay:
            try:
                saved.append(str(store.save(root, target, finding)))
            except (OSError, UsageError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                print(
                    f"treadle: the failing execution was not saved in {root / store.FOLDER}: {reason}", file=sys.stderr
                )
    return saved
