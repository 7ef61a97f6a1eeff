"""The part of a page about an actor's method: an index over its cases, each as a sequence diagram with its queues."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase
from treadle.abs.explore.replaying import Replayed, StuckTask
from treadle.abs.explore.tree import TreeNode
from treadle.core.choice import TaskChosen
from treadle.core.verdict import EXIT_FAILED, EXIT_PASSED, Verdict
from treadle.doors.actor.case_trail import trail_of_case
from treadle.doors.actor.generated import GeneratedCases
from treadle.doors.actor.loaded import split_target
from treadle.doors.actor.models import replay_case
from treadle.doors.actor.picture import bars, panel
from treadle.doors.actor.table import summary, told_afterwards, told_inputs
from treadle.report import page
from treadle.report.tree_picture import MEANING, collapsed

# Cases that a page draws, and nodes of the tree that it shows: more nobody reads.
MOST_CASES = 300
_MOST_NODES = 5_000


def cases_part(made: GeneratedCases, curve: Sequence[tuple[int, int]] = ()) -> page.Part:
    """What a page shows of one method; `curve` holds states and tests as the exploration went on."""
    verdict = {EXIT_PASSED: None, EXIT_FAILED: Verdict.FAILED}.get(made.exit_code, Verdict.CUT)
    said = {EXIT_PASSED: "TESTS", EXIT_FAILED: "FAILED"}.get(made.exit_code, "CUT" if made.tests else "NOTHING")
    first, *more = summary(made)
    found = page.part("actor", made.target, verdict, said, first)
    found |= {
        "facts": more,
        "cases": [_case(made, case) for case in made.cases[:MOST_CASES]],
        "more": made.tests - made.rejected - min(len(made.cases), MOST_CASES),
        "tree": _tree(made.tree, [_MOST_NODES]) if made.tree is not None else None,
        "curves": {"tests": [[states, tests] for states, tests in (*curve, (made.states, made.tests))]},
    }
    return found


def _case(made: GeneratedCases, case: ActorCase) -> dict[str, Any]:
    concrete = made.style == "values"
    run = replay_case(made, case) if concrete else None
    return {
        "inputs": told_inputs(case),
        "order": " ".join(case.order),
        "afterwards": told_afterwards(case),
        "outcome": case.outcome,
        "condition": " and ".join(case.condition) or "always",
        "replay": f"treadle replay '{trail_of_case(made.target, case)}'" if concrete else "",
        "sequence": _sequence(run) if run is not None else None,
        "stuck": _stuck(made.target, run.stuck) if run is not None else [],
    }


def _stuck(target: str, tasks: Sequence[StuckTask]) -> list[dict[str, str]]:
    """Who cannot go on, and where, with the line of the model where that is all in one file."""
    path, _ = split_target(target)
    lines = linecache.getlines(path)
    alone = not any(line.lstrip().startswith("import ") for line in lines)
    found = []
    for task in tasks:
        source = lines[task.line - 1].strip() if alone and 0 < task.line <= len(lines) else ""
        place = f"{Path(path).name}:{task.line}" if alone else f"line {task.line}"
        found.append({"who": f"{task.actor}.{task.method}", "place": place, "source": source})
    return found


def _sequence(run: Replayed) -> dict[str, Any]:
    drawn = panel(run)
    return {
        "note": drawn.note,
        "columns": [{"name": name, "label": label} for name, label in drawn.columns.items()],
        "marked": None,
        "steps": [
            {
                "actor": bar.column,
                "task": bar.label,
                "title": f"{bar.column} runs {bar.label}",
                "arrows": [
                    {"from": one.source, "to": one.target, "label": one.label, "new": one.creates} for one in bar.arrows
                ],
                "queues": queues,
            }
            for bar, queues in zip(bars(run), _queues(run), strict=True)
        ],
        "waiting": drawn.waiting,
        "deadlock": drawn.deadlock,
    }


def _queues(run: Replayed) -> list[dict[str, list[str]]]:
    """For each step, the tasks of each actor behind it that were made and have not ended: those that run later."""
    made = {(event.target, event.method, event.number): event for event in run.events if event.number}
    steps = [TaskChosen.parse(label) for label in run.order]
    keys = [(step.actor, step.method, step.number) for step in steps]
    found = []
    for number in range(len(steps)):
        waiting: dict[str, list[str]] = {}
        for key in dict.fromkeys([*keys, *made]):
            event = made.get(key)
            born = -1 if event is None else event.step
            later, begun = key in keys[number + 1 :], key in keys[: number + 1]
            if born <= number and (later or (not begun and event is not None)):
                text = event.text if event is not None else key[1]
                waiting.setdefault(key[0], []).append(f"{text} (suspended)" if begun else text)
        found.append(waiting)
    return found


def _tree(node: TreeNode, room: list[int]) -> dict[str, Any]:
    """The tree with what was decided at each edge; steps that follow without a choice are one line."""
    node = collapsed(node)
    room[0] -= 1
    bad = {"deadlock": "bad", "test": "good", "state": "soft"}
    return {
        "label": node.label,
        "why": ", ".join(node.constraints),
        "mark": MEANING[node.status],
        "colour": bad.get(node.status, "warn"),
        "ends": [],
        "below": [_tree(child, room) for child in node.children if room[0] > 0],
    }
