"""Trails of ABS models: those of a main block are its tasks in order, those of a method say its inputs first.

    OptionDrawn("object s0", "Fact")        an object that exists at the start, the receiver first
    OptionDrawn("group s1", "s0")           the object in whose group it lives
    OptionDrawn("field s0.r", 1)            what a field holds; values as tests write them
    OptionDrawn("argument n", 3)
    OptionDrawn("waiting 1", "Fact.rp")     a method in the queue behind it, and its arguments
    OptionDrawn("waiting 1 argument x", 2)
    TaskChosen("s0", "ft")                  then the tasks

Inputs are stored and not solved again: a case is replayed as it was written, also by a version that solves differently.
"""

from __future__ import annotations

from treadle.abs.explore.cases import ActorCase
from treadle.abs.explore.replaying import Replayed
from treadle.core.choice import Choice, OptionDrawn, TaskChosen
from treadle.core.trail import Trail


def trail_of_case(target: str, case: ActorCase) -> Trail:
    """The trail of a case of `model.abs:Class.method`, or of a run of a main block."""
    choices: list[Choice] = []
    for name, obj in case.initial.items():
        choices.append(OptionDrawn(f"object {name}", obj.cls))
        if obj.group:
            choices.append(OptionDrawn(f"group {name}", obj.group))
        choices += [OptionDrawn(f"field {name}.{field}", value) for field, value in obj.fields.items()]
    choices += [OptionDrawn(f"argument {name}", value) for name, value in case.arguments.items()]
    for number, item in enumerate(case.queue, 1):
        choices.append(OptionDrawn(f"waiting {number}", item["method"]))
        choices += [OptionDrawn(f"waiting {number} argument {n}", v) for n, v in item["arguments"].items()]
    choices += [TaskChosen.parse(step) for step in case.order]
    fails = case.outcome in ("failed", "deadlock")
    kind, message = went_wrong(case) if fails else ("", "")
    return Trail(target, tuple(choices), door="actor", kind=kind, message=message)


def went_wrong(run: ActorCase | Replayed) -> tuple[str, str]:
    """The kind of a failing run, and a sentence that says where."""
    if run.failures:
        kind = "assertion" if run.asserted else "exception"
        ends = [f"{what} in {where}" for what, where in zip(run.failures, run.failed_at, strict=True)]
        return kind, f"a task ends with {'; another with '.join(dict.fromkeys(ends))}"
    return "deadlock", f"nobody can go on: {'; '.join(run.waiting)}"
