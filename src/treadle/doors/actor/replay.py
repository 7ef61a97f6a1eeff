"""Running a trail of an ABS model again: a main block in its order, or a case of a method from its inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from treadle.abs.explore.replaying import Replayed, follow, known_machine, known_root
from treadle.abs.machine.criteria import CriterionReached
from treadle.abs.machine.system import find_method
from treadle.core.choice import OptionDrawn, TaskChosen
from treadle.core.errors import UsageError
from treadle.core.result import Finding, Result
from treadle.core.trail import Trail
from treadle.doors.actor.case_trail import went_wrong
from treadle.doors.actor.loaded import AbsModel
from treadle.doors.actor.models import run_model
from treadle.doors.replay import file_from_here, result_of


def replay_trail(trail: Trail, run_test: Callable[[Trail], Result]) -> Result:
    """What `treadle replay` does with a trail of a model."""
    path, colon, method = trail.target.rpartition(":")
    if not colon or not path.endswith(".abs"):
        path, method = trail.target, ""
    path = file_from_here(path, trail.target)
    order = [choice for choice in trail.choices if isinstance(choice, TaskChosen)]
    start = time.perf_counter()
    try:
        run = _case_again(path, method, trail, order) if method else run_model(path, order=order)
    except (UsageError, CriterionReached) as error:
        raise UsageError(f"the trail no longer fits {path}, which has changed since: {error}") from None
    finding = None
    if run.deadlocked or run.failures:
        kind, message = went_wrong(run)
        told = f"order of tasks: {' '.join(map(str, order))}"
        finding = Finding(kind, message, replay=str(trail), trail=trail, explanation=told)
    result = result_of(trail, finding, start, f"one order of tasks, which does not fail: {run.outcome}")
    result.model = not method
    return result


def _case_again(path: str, method: str, trail: Trail, order: list[TaskChosen]) -> Replayed:
    model = AbsModel.load(path)
    machine = known_machine(model.image)
    cls, found = find_method(model.program, method)
    drawn = {c.what: c.value for c in trail.choices if isinstance(c, OptionDrawn)}
    objects: dict[str, tuple[str, Mapping[str, Any], str]] = {}
    for name, cls_name in _named(drawn, "object ").items():
        fields = _named(drawn, f"field {name}.")
        objects[name] = (str(cls_name), fields, str(drawn.get(f"group {name}", "")))
    queue = []
    for number in range(1, len(drawn) + 1):
        if f"waiting {number}" in drawn:
            queue.append((str(drawn[f"waiting {number}"]), _named(drawn, f"waiting {number} argument ")))
    root, names = known_root(machine, cls, found.name, _named(drawn, "argument "), objects, queue)
    return follow(machine, root, names, order)


def _named(drawn: Mapping[str, Any], start: str) -> dict[str, Any]:
    """What was drawn for the things whose names begin so, by the rest of their names."""
    return {what.removeprefix(start): value for what, value in drawn.items() if what.startswith(start)}
