"""How the result of a search is told to a person.

Decides the words of every verdict. Keeps: a search that was cut or bounded never sounds like one that saw everything,
and every failure comes with the command that shows it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import IO

from treadle.core.result import LOOP_TURNS, ONE_STEP, ORDERS, Evidence, Finding, Result, Verdict
from treadle.core.trail import Trail
from treadle.core.words import listed
from treadle.report.lines import Lines
from treadle.report.progress import many

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
    runs = many(result.executions, "execution")
    if result.verdict is Verdict.FAILED:
        return f"a schedule that fails was found after {runs}"
    if result.verdict is Verdict.PASSED_EXHAUSTIVE:
        return f"no schedule fails: every one was covered in {runs}"
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS and result.model:
        return f"no schedule that was run fails ({runs}), but {result.reason}"
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS:
        return _within_bounds(result, runs)
    if result.verdict is Verdict.CUT:
        return f"no failure so far, but {result.reason or f'the search ended after {runs}: not a pass'}"
    why = result.reason or "the test has one schedule and no conflict between strands"
    return f"{why}, so this says nothing about concurrency"


def _within_bounds(result: Result, runs: str) -> str:
    """The bounds, and what was taken for granted beside them."""
    parts = [f"no schedule that was run fails ({runs})"]
    if not result.bounds or result.bounds.keys() - {ONE_STEP, ORDERS}:
        parts = [f"no schedule with {bounds(result)} fails ({runs})", "schedules beyond that were not run"]
    if result.evidence is not None:
        calls = set(result.evidence.one_step) - set(result.atomic_modules)
        parts += [f"taken as one step on shared objects: {listed(calls)}"] if calls else []
        orders = listed(result.evidence.orders)
        parts += [f"hashes decide an order at {orders}, and other orders are not tried"] if orders else []
    return "; ".join(parts)


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


# What helps against that which cut a search.
_AFTER_A_CUT = {
    "seconds": "raise --seconds",
    "executions": "raise --executions",
    "operations": "raise --operations",
    "space": "search to the end with --strategy dpor",
    "interrupted": "let it run to its end",
    "workers": "go on with --resume when there are workers again",
}
_TOO_MANY_SCHEDULES = ("seconds", "executions", "space")


def advice(result: Result) -> str:
    """What to do next, or "" when nothing needs doing."""
    if result.model:
        return _advice_for_a_model(result)
    if result.verdict is Verdict.CUT:
        return _after_a_cut(result)
    if result.verdict is Verdict.PASSED_WITHIN_BOUNDS and result.atomic_modules:
        return (
            "no schedule switches inside of what was called as one step: if what you test is in an installed package, "
            f"look into it with --instrument {result.atomic_modules[0]}"
        )
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        if not result.switches and "granularity" not in result.statistics:  # one event loop, no thread
            return (
                "leave more open: --any-order permutes the steps of tasks, --timeouts any and --cancel at-await let "
                "time limits and cancellations strike at any await"
            )
        return (
            "start at least two threads that share something inside the test; if the shared code is in an installed "
            "package, name it with --instrument"
        )
    return ""


def _advice_for_a_model(result: Result) -> str:
    if result.verdict is Verdict.CUT and not result.cut_by and result.bounds.keys() == {LOOP_TURNS}:
        return "raise --loop if the loop comes to its end some time, or give it one"
    if result.verdict is Verdict.CUT:
        return f"{_AFTER_A_CUT.get(result.cut_by, 'raise --tasks or --actors')}, or make the model smaller"
    return "send a message in the main block: `object!method();`" * (result.verdict is Verdict.NOTHING_TO_EXPLORE)


def _after_a_cut(result: Result) -> str:
    """What helps against the limit that cut; messages know no preemptions."""
    if result.cut_by == "unseen":
        return "if what is shared is in an installed package, name it with --instrument"
    if result.cut_by == "repeated":
        return "let the test undo what it does, or name the installed package that keeps it with --instrument"
    if result.cut_by not in _AFTER_A_CUT:
        return ""
    ways = [_AFTER_A_CUT[result.cut_by]]
    bounded = result.statistics.get("granularity") or "preemptions" in result.bounds
    if result.cut_by in _TOO_MANY_SCHEDULES and not bounded:
        ways.append("bound the search with --preemptions 2")
    return " or ".join(ways) if result.cut_by == "interrupted" else ", ".join(ways) + ", or make the test smaller"


def bounds(result: Result) -> str:
    """`at most 2 preemptions`, `at most 1 delay`."""
    parts = []
    for name, value in result.bounds.items():
        if name in (ONE_STEP, ORDERS):
            continue
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
    out = Lines(file, width=width)
    out.say((verdict(result), _COLOUR[result.verdict]), f"  {result.target}", whole=True)
    out.say(f"{sentence(result)} [{result.strategy}, {result.seconds:.2f} s]", indent=2)
    for model in result.models:
        out.say(f"{model.switches}: {model.verdict.value}, {model.reason}", indent=2)
    for finding in result.findings:
        show_finding(out, finding)
    for path in saved:
        out.say(f"saved:  {path}", indent=2, whole=True)
    for warning in result.warnings:
        out.say(("warning: ", "yellow"), f"{warning.kind}: {warning.message}", indent=2)
    if result.atomic_modules:
        names = ", ".join(result.atomic_modules[:_MOST_MODULES])
        more = len(result.atomic_modules) - _MOST_MODULES
        tail = f" and {more} more" if more > 0 else ""
        out.say(f"called as one step each (not rewritten): {names}{tail}", indent=2)
    if explain_pass and result.evidence is not None:
        for indent, line in _evidence(result.evidence):
            out.say(line, indent=indent)
    hint = advice(result)
    if hint:
        out.say(f"next: {hint}", indent=2)


def _evidence(evidence: Evidence) -> Iterator[tuple[int, str]]:
    """What a verdict rests on, line by line, with how far in each stands."""
    classes = many(evidence.classes, "class of schedules was run", "classes of schedules were run")
    which = "it" if evidence.classes == 1 else "them"
    why = "" if evidence.checked else ": bounded searches, actors and tasks of one thread are not checked"
    yield 2, f"evidence: {classes}, and {evidence.checked or 'no'} more to check {which}{why}"
    lists = {
        "shared": evidence.shared,
        "run in both orders": evidence.races,
        "taken as one step on shared objects": evidence.one_step,
        "slept or waited with a time limit that ended only when nothing else could run": evidence.deadlines,
        "used an order that hashes decide": evidence.orders,
    }
    for title, names in lists.items():
        yield 4, f"{title}:{'' if names else ' nothing'}"
        yield from ((6, name) for name in names)


def replay_command(finding: Finding) -> str:
    """The command that shows a failure again, ready to be pasted into a shell."""
    text = finding.replay
    quoted = shlex.quote(text) if "'" in text else f"'{text}'"
    return f"treadle replay {quoted}"


def show_replay(result: Result, trail: Trail) -> None:
    """Print what one replayed execution did."""
    out = Lines()
    if result.failed:
        out.say(("FAILED", "bold red"), f"  {result.target}: the schedule fails again")
        for finding in result.findings:
            show_finding(out, finding, again=True)
        return
    never_did = trail.door == "actor" and not trail.kind  # a case of a model, as any other
    again = f"the same case again, {result.reason}" if never_did else "the same schedule no longer fails"
    out.say(("DID NOT FAIL", "bold green"), f"  {result.target}: {again}")
    out.say("this is one schedule; to see all of them:", indent=2)
    whole = "::" in result.target or result.model  # of a test, or a model
    out.say(f"treadle {'explore' if whole else trail.door} '{result.target}'", indent=2, whole=True)


def show_finding(out: Lines, finding: Finding, *, again: bool = False) -> None:
    """What went wrong, the schedule, where it can happen and, unless this is that, how to see it again."""
    out.print()
    first, *rest = finding.message.splitlines() or [""]
    out.say((f"{finding.kind}: ", "bold"), first, indent=2)
    for line in rest:
        out.say(line, indent=4)
    if finding.explanation:
        out.print()
        out.table(finding.explanation)
    out.print()
    for note in finding.notes:
        out.say(f"note: {note}", indent=2)
    if finding.builds is not None and not again:
        out.say(f"on: {finding.builds}", indent=2)
    if finding.replay and not again:
        out.say(f"replay: {replay_command(finding)}", indent=2, whole=True)
