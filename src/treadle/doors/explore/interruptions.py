"""Where a recorded schedule switches although its strand could go on, and which versions with a GIL can do so."""

from __future__ import annotations

from typing import NamedTuple

from treadle.core.result import Step
from treadle.search.replay import FollowSteps
from treadle.threads.execution import Execution
from treadle.threads.loom import Loom


def _later(run: Execution, number: int) -> Step | None:
    """The next operation of the strand of this step, done or still pending."""
    steps: list[Step] = run.detail or []
    strand = steps[number].strand
    for step in steps[number + 1 :]:
        if step.strand == strand:
            return step
    pending: Step | None = next((s.step for s in run.strands if s.treadle_name == strand), None)
    return pending


class Interruption(NamedTuple):
    """A switch although the strand could have gone on: its operations before and behind, and who can switch there."""

    before: Step
    behind: Step
    versions: int


def interruptions(run: Execution, shown: FollowSteps, loom: Loom) -> list[Interruption]:
    """The switches of a recorded execution of marked code that are no waits."""
    steps: list[Step] = run.detail or []
    constants = loom.constants.places() if loom.constants is not None else set()
    found: list[Interruption] = []
    for number in range(len(steps) - 1):
        later = _later(run, number) if number + 1 in shown.preempted else None
        if later is None:
            continue
        versions = later.checks
        # what it read of constants it can as well read behind the switch
        while steps[number].strand == later.strand and steps[number].object in constants and number:
            versions |= steps[number].checks
            number -= 1
        found.append(Interruption(steps[number], later, versions))
    return found
