"""A run of an ABS model as a panel of a sequence diagram: a bar per task, arrows for calls and creations."""

from __future__ import annotations

from treadle.abs.explore.replaying import Replayed
from treadle.core.choice import TaskChosen
from treadle.report.sequence_diagram import Arrow, Bar, Panel, svg


def picture(run: Replayed, title: str = "") -> str:
    """The run as an SVG document."""
    return svg(title, panel(run))


def panel(run: Replayed) -> Panel:
    columns = {name: name if cls == name else f"{name}: {cls}" for name, cls in run.classes.items()}
    waiting: dict[str, list[str]] = {}
    for task in run.stuck:
        waiting.setdefault(task.actor, []).append(task.where)
    return Panel(run.outcome, columns, bars(run), waiting, run.deadlocked)


def bars(run: Replayed) -> list[Bar]:
    """The tasks in the order in which they ran."""
    found = []
    for step, label in enumerate(run.order):
        name = TaskChosen.parse(label).actor
        sent = [e for e in run.events if e.step == step]
        found.append(
            Bar(
                name,
                label.removeprefix(f"{name}."),
                [Arrow(e.source, e.target, e.text, creates=e.kind == "new") for e in sent],
            )
        )
    return found
