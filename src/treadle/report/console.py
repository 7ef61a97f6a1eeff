"""How the result of a search is told to a person.

Decides the words of every verdict. Keeps: a search that was cut or bounded never sounds like one that saw everything,
and every failure comes with the command that shows it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import IO

from rich.console import Console
from rich.text import Text

from treadle.core.result import Evidence, Finding, Result, Verdict
from treadle.report.progress import count

_COLOUR = {
    Verdict.FAILED: "bold red",
    Verdict.PASSED_EXHAUSTIVE: "bold green",
    Verdict.PASSED_WITHIN_BOUNDS: "bold green",
    Verdict.CUT: "bold yellow",
    Verdict.NOTHING_TO_EXPLORE: "bold yellow",
}

# More names than this would bury the verdict; --json has them all.
_MOST_MODULES = 8
_MOST_DEADLINES = 3


def sentence(result: Result) -> str:
    """What the verdict says about the program, and nothing beyond it."""
    runs = f"{count(result.executions)} execution{'s' * (result.executions != 1)}"
    if result.verdict is Verdict.FAILED:
        return f"a schedule that fails was found after {runs}"
    if result.verdict is Verdict.PASSED_EXHAUSTIVE:
        return f"no schedule fails: every one was covered in {runs}"
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS:
        return f"no schedule with {bounds(result)} fails ({runs}); schedules beyond that were not run"
    if result.verdict is Verdict.CUT:
        return f"no failure so far, but {result.reason or f'the search ended after {runs}: not a pass'}"
    why = result.reason or "the test has one schedule and no conflict between strands"
    return f"{why}, so this says nothing about concurrency"


def verdict(result: Result) -> str:
    """The verdict, with what a step was in an actor program, and a pass with the model of switches that it is about:
    `PASSED-EXHAUSTIVE (messages)`, `PASSED-EXHAUSTIVE (messages and accesses; gil, CPython 3.12)`."""
    about = [str(result.statistics.get("granularity", ""))]
    about += [result.switches, _deadlines(result)] if result.verdict.is_pass else []
    said = "; ".join(part for part in about if part)
    return f"{result.verdict.value} ({said})" if said else result.verdict.value


def _deadlines(result: Result) -> str:
    """The sleeps and time limits that a pass rests on."""
    places = result.evidence.deadlines if result.evidence is not None else []
    if not places:
        return ""
    named = ", ".join(places[:_MOST_DEADLINES]) + (", ..." if len(places) > _MOST_DEADLINES else "")
    some = "1 deadline" if len(places) == 1 else f"{len(places)} deadlines"
    return f"timeouts idle: {some} never struck while something could run, {named}; --timeouts any lets it"


_ADVICE_FOR_MODELS = {
    Verdict.CUT: "raise --executions or --seconds, or make the model smaller",
    Verdict.NOTHING_TO_EXPLORE: "send a message in the main block: `object!method();`",
}


def advice(result: Result) -> str:
    """What to do next, or "" when nothing needs doing."""
    if result.target.endswith(".abs"):
        return _ADVICE_FOR_MODELS.get(result.verdict, "")
    if result.verdict is Verdict.CUT:
        return _after_a_cut(result)
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        return (
            "start at least two threads that share something inside the test; if the shared code is in an installed "
            "package, name it with --instrument"
        )
    return ""


def _after_a_cut(result: Result) -> str:
    """What helps against the limit that cut; messages know no preemptions."""
    ways = []
    if "interrupted" in result.reason:
        ways.append("let it run to its end")
    elif "time ran out" in result.reason or "seconds" in result.reason:
        ways.append("raise --seconds")
    elif "budget" in result.reason or "executions" in result.reason:
        ways.append("raise --executions")
    else:
        ways.append("raise --executions or --seconds")
    if not result.statistics.get("granularity"):
        ways.append("bound the search with --preemptions 2")
    return ", ".join(ways) + ", or make the test smaller"


def bounds(result: Result) -> str:
    """`at most 2 preemptions`, `at most 1 delay`."""
    parts = []
    for name, value in result.bounds.items():
        one = name[:-1] if name.endswith("s") and value == 1 else name
        parts.append(f"at most {value} {one}")
    return " and ".join(parts) or "the bounds given"


def show(
    result: Result,
    *,
    file: IO[str] | None = None,
    saved: Sequence[str] = (),
    width: int | None = None,
    explain_pass: bool = False,
) -> None:
    """Print one result. `saved` names the files that hold the failing executions."""
    console = Console(file=file, highlight=False, soft_wrap=True, width=width)
    head = Text.assemble((verdict(result), _COLOUR[result.verdict]), f"  {result.target}", overflow="fold")
    console.print(head)
    console.print(f"  {sentence(result)} [{result.strategy}, {result.seconds:.2f} s]", markup=False)
    for model in result.models:
        console.print(f"  {model.switches}: {model.verdict.value}, {model.reason}", markup=False)
    for finding in result.findings:
        _show_finding(console, finding)
        if finding.builds is not None:
            console.print(f"  on: {finding.builds}", markup=False)
        if finding.replay:
            console.print(f"  replay: {replay_command(finding)}", markup=False)
    for path in saved:
        console.print(f"  saved:  {path}", markup=False)
    for warning in result.warnings:
        console.print(Text.assemble(("  warning: ", "yellow"), f"{warning.kind}: {warning.message}"))
    if result.atomic_modules:
        names = ", ".join(result.atomic_modules[:_MOST_MODULES])
        more = len(result.atomic_modules) - _MOST_MODULES
        tail = f" and {more} more" if more > 0 else ""
        console.print(f"  called as one step each (not rewritten): {names}{tail}", markup=False)
    if explain_pass and result.evidence is not None:
        for line in _evidence(result.evidence):
            console.print(f"  {line}", markup=False)
    hint = advice(result)
    if hint:
        console.print(f"  next: {hint}", markup=False)


def _evidence(evidence: Evidence) -> Iterator[str]:
    """What a verdict rests on, line by line."""
    yield f"evidence: {evidence.classes} classes of schedules were run, and {evidence.checked} more to check them"
    lists = {
        "shared": evidence.shared,
        "run in both orders": evidence.races,
        "taken as one step on shared objects": evidence.one_step,
        "slept or waited with a time limit that ended only when nothing else could run": evidence.deadlines,
    }
    for title, names in lists.items():
        yield f"  {title}:{'' if names else ' nothing'}"
        yield from (f"    {name}" for name in names)


def replay_command(finding: Finding) -> str:
    """The command that shows a failure again, ready to be pasted into a shell."""
    text = finding.replay
    quoted = shlex.quote(text) if "'" in text else f"'{text}'"
    return f"treadle replay {quoted}"


def show_replay(result: Result, *, file: IO[str] | None = None) -> None:
    """Print what one replayed execution did."""
    console = Console(file=file, highlight=False, soft_wrap=True)
    if result.failed:
        console.print(Text.assemble(("FAILED", "bold red"), f"  {result.target}: the schedule fails again"))
        for finding in result.findings:
            _show_finding(console, finding)
        return
    console.print(
        Text.assemble(("DID NOT FAIL", "bold green"), f"  {result.target}: the same schedule no longer fails")
    )
    console.print("  this is one schedule; to see all of them:", markup=False)
    console.print(f"  treadle explore '{result.target}'", markup=False)


def _show_finding(console: Console, finding: Finding) -> None:
    console.print()
    first, *rest = finding.message.splitlines() or [""]
    console.print(Text.assemble((f"  {finding.kind}: ", "bold"), first))
    for line in rest:
        console.print(f"    {line}", markup=False)
    if finding.explanation:
        console.print()
        for line in finding.explanation.splitlines():
            console.print(f"    {line}".rstrip(), markup=False)
    console.print()
    for note in finding.notes:
        console.print(f"  note: {note}", markup=False)
