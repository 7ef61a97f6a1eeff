"""The part of a page about one explored test: its findings as lanes or sequences, or what its pass rests on."""

from __future__ import annotations

from typing import Any

from treadle.core.result import Finding, Result
from treadle.messages.result import OrderFinding
from treadle.report import page
from treadle.report.console import advice, replay_command, sentence, verdict
from treadle.report.lanes import files_of, lanes
from treadle.report.message_sequence import divergence
from treadle.report.progress import many
from treadle.report.raised import raised_at, raised_line
from treadle.report.repair import SEARCH_AGAIN
from treadle.report.sequence import sequence

# Receives of one execution that a page steps through.
MOST_RECEIVES = 400

_OTHER_ORDER = (
    "make it right in this order as well, or make the order impossible: ask and wait for the answer, or send both "
    f"in one message; then {SEARCH_AGAIN}"
)


def result_part(result: Result) -> page.Part:
    """What a page shows of one result."""
    said = f"{sentence(result)} [{result.strategy}, {result.seconds:.2f} s]"
    found = page.part("explore", result.target, result.verdict, verdict(result), said, advice(result))
    found["findings"] = [finding_part(finding) for finding in result.findings]
    found["evidence"] = _evidence(result)
    for finding in result.findings:
        add_sources(found, finding)
    return found


def finding_part(finding: Finding) -> dict[str, Any]:
    """What a page shows of one failure: the messages of actors as a sequence, anything else as lanes."""
    place = raised_at(finding)
    return {
        "kind": finding.kind,
        "message": finding.message,
        "raised": raised_line(finding),
        "raised_at": None if place is None else place[:2],
        "builds": "" if finding.builds is None else str(finding.builds),
        "replay": replay_command(finding) if finding.replay else "",
        "notes": finding.notes,
        "text": finding.explanation,
        **(_orders(finding) if isinstance(finding, OrderFinding) else _lanes(finding)),
    }


def add_sources(into: page.Part, finding: Finding) -> None:
    """The files that the page of a failure shows."""
    place = raised_at(finding)
    steps = () if isinstance(finding, OrderFinding) else (*finding.steps, *finding.nearest_pass)
    waiting = [one.stack[0][0] for one in finding.waiting if one.stack]
    page.add_sources(into, [*files_of(steps), *waiting, *([] if place is None else [place[0]])])


def _lanes(finding: Finding) -> dict[str, Any]:
    return lanes(finding.steps, finding.waiting, finding.nearest_pass, finding.started)


def _orders(finding: OrderFinding) -> dict[str, Any]:
    here, there = divergence(finding.schedule, finding.passing)
    numbered = (
        " (#1, #2, ...: in the order in which they were sent)" if any("#" in one for one in finding.order) else ""
    )
    passing = sequence(finding.passing[:MOST_RECEIVES], there, "this passes") if finding.passing else None
    return {
        "cause": f"all it takes: {', '.join(finding.order)}{numbered}" if finding.order else "",
        "repair": _OTHER_ORDER if finding.order else "",
        "notes": [*([finding.note] if finding.note else []), *finding.notes],
        "fails": sequence(finding.schedule[:MOST_RECEIVES], here, "this fails"),
        "passes": passing,
    }


# The figures of a search, in words; what is not among them is only in --json.
_FIGURES = {
    "strands": ("thread, task or actor took part", "threads, tasks or actors took part"),
    "longest": ("step in the longest schedule", "steps in the longest schedule"),
    "blocked": ("schedule was given up, because another one covers it", "schedules were given up, because others do"),
    "impossible": ("schedule cannot happen on this Python", "schedules cannot happen on this Python"),
    "total_runs": ("run of the test in all", "runs of the test in all, with those that only showed what is shared"),
    "estimate": ("execution estimated for the whole search", "executions estimated for the whole search"),
    "resumed": ("execution taken over from an earlier search", "executions taken over from an earlier search"),
}


_SWITCHED = {"free": "threads were switched before every access to what they share, as builds without a GIL do (free)"}


def _evidence(result: Result) -> dict[str, list[str]]:
    """What the verdict rests on, as lists with a title."""
    figures = {} if result.failed else result.statistics  # of a search that ended at a failure they tell little
    counts = [many(round(figures[name]), *words) for name, words in _FIGURES.items() if figures.get(name)]
    evidence = result.evidence
    if evidence is not None:
        classes = many(evidence.classes, "class of schedules was run", "classes of schedules were run")
        more = f"{many(evidence.checked, 'more execution')} looked for anything shared that had not been seen"
        counts[:0] = [
            f"{classes}: those of one class differ only in the order of steps that have nothing to do with each other",
            *([more] if evidence.checked else []),
        ]
    if result.verdict.is_pass and result.switches:
        counts.append(_SWITCHED.get(result.switches, f"threads were switched where they are there: {result.switches}"))
    return {
        "What the search did": counts,
        "Shared by several threads or tasks": [] if evidence is None else evidence.shared,
        "Run in both orders": [] if evidence is None else evidence.races,
        "Taken as one step": list(result.atomic_modules) if evidence is None else evidence.one_step,
        "Deadlines that struck only when nothing else could run": [] if evidence is None else evidence.deadlines,
        "Orders that hashes decided": [] if evidence is None else evidence.orders,
        "Warnings": [f"{warning.kind}: {warning.message}" for warning in result.warnings],
    }
