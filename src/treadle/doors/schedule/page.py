"""The part of a page about a schedule campaign: failing orders beside passing ones, the tree of orders, the curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.doors.schedule.console import advice, facts, sentence
from treadle.messages.receive import Receive
from treadle.messages.result import OrderRun, ScheduleResult
from treadle.report import page
from treadle.report.explore_page import MOST_RECEIVES, add_sources, finding_part
from treadle.report.sequence import sequence, told

# What the criteria count, for who has not read about them (docs/schedule.md).
_MEANING = {
    "PR": "PR (one message before another)",
    "PCR": "PCR (one right after another)",
    "PMR": "PMR (around a change of handlers)",
    "PETR": "PETR (one type of message before another)",
    "PCETR": "PCETR (one type right after another)",
}


def schedule_part(result: ScheduleResult) -> page.Part:
    """What a page shows of one campaign."""
    said = f"{sentence(result)} [{result.seconds:.2f} s]"
    found = page.part("schedule", result.target, result.verdict, result.verdict.value, said, advice(result))
    found |= {
        "facts": facts(result),
        "findings": [finding_part(finding) for finding in result.findings],
        "runs": [_run(number, run) for number, run in enumerate(result.runs, 1)],
        "more": result.executions - len(result.runs),
        "tree": _tree(result.runs),
        "curves": {_MEANING.get(name, name): _points(result.curve, name) for name in (result.curve or [{}])[0]},
        "unfit": result.unfit,
        "warnings": [f"{warning.kind}: {warning.message}" for warning in result.warnings],
    }
    for finding in result.findings:
        add_sources(found, finding)
    return found


def _points(curve: Sequence[dict[str, int]], name: str) -> list[list[int]]:
    return [[number, row[name]] for number, row in enumerate(curve, 1)]


def _run(number: int, run: OrderRun) -> dict[str, Any]:
    return {"number": number, "ended": run.ended, "sequence": sequence(run.receives[:MOST_RECEIVES], note=run.ended)}


def _tree(runs: Sequence[OrderRun]) -> dict[str, Any]:
    """The orders of all executions, what they share from the start only once."""
    root: dict[str, Any] = {"ends": [], "below": []}
    for number, run in enumerate(runs, 1):
        here = root
        for event in run.receives[:MOST_RECEIVES]:
            here = _child(here, event)
        here["ends"].append(
            f"{run.ended} (execution {number})" if run.ended == "passed" else f"fails: {run.ended} (execution {number})"
        )
    return _joined(root)


def _child(node: dict[str, Any], event: Receive) -> dict[str, Any]:
    label = f"{event.actor} receives {told(event)}"
    for child in node["below"]:
        if child["hash"] == event.hash:
            found: dict[str, Any] = child
            return found
    made = {"label": label, "hash": event.hash, "ends": [], "below": []}
    node["below"].append(made)
    return made


def _joined(node: dict[str, Any]) -> dict[str, Any]:
    """Steps with one way to go on are one line."""
    label, below = node.get("label", ""), node["below"]
    while len(below) == 1 and not node["ends"] and label:
        node = below[0]
        label, below = f"{label} → {node['label']}", node["below"]
    return {"label": label, "ends": node["ends"], "below": [_joined(child) for child in below]}
