"""Following a known execution: step by step as a list of strands (for shrinking), or along a trail (for replay); and
the trail of an execution that was followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mypy_extensions import mypyc_attr

from treadle.core.choice import Choice, Stop, StrandRuns
from treadle.core.operation import MULTI, YIELD, location, parts, verb
from treadle.core.result import Step
from treadle.search.strategy import ExecutionSeen, OneExecution, StrandSeen


@mypyc_attr(allow_interpreted_subclasses=True)
class FollowSteps(OneExecution):
    """Runs along a list of strand names, passing over those that cannot go on, then without preemptions.

    Afterwards `preemptions` and `switches` say what the execution cost.
    """

    name = "steps"

    def __init__(self, steps: list[str]) -> None:
        super().__init__()
        self.steps = steps
        self.position = 0
        self.taken: list[str] = []
        self.preemptions = 0
        self.switches = 0
        self.preempted: set[int] = set()  # steps before which another strand was interrupted

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = {strand.treadle_name: strand for strand in run.enabled()}
        last = self.taken[-1] if self.taken else None
        chosen = None
        if not enabled:  # only a time-out can go on: that is one step, and the next ones are still to come
            self.position += 1
        while enabled and self.position < len(self.steps) and chosen is None:
            chosen = enabled.get(self.steps[self.position])
            self.position += 1
        if chosen is None:
            chosen = enabled.get(last or "") or next(iter(enabled.values()), None)
        name = chosen.treadle_name if chosen is not None else "*"
        if last is not None and name != last:
            self.switches += 1
            if last in enabled:
                self.preemptions += 1
                self.preempted.add(len(self.taken))
        self.taken.append(name)
        return chosen

    @property
    def cost(self) -> tuple[int, int, int]:
        """Fewest preemptions, then fewest switches, then shortest."""
        return self.preemptions, self.switches, len(self.taken)


class FollowCoasted(OneExecution):
    """Runs an execution that coasted again, with all that it does seen: as it ran up to there, and then one strand as
    long as it can go on, and where it cannot, who went on there. With `coast_after` it coasts again."""

    name = "coasted"

    def __init__(self, run: ExecutionSeen, coast_after: int = -1) -> None:
        super().__init__()
        self.coast_after = coast_after
        self.indexes = [index for index, _ in run.trace]
        self.coasted_from = run.coasted_from
        self.position = 0
        self.current = -1

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = {strand.index: strand for strand in run.enabled()}
        chosen = enabled.get(self.current)
        if chosen is None or self.position < self.coasted_from or chosen.pending[0] == YIELD:
            if self.position < len(self.indexes):
                self.current = self.indexes[self.position]
            self.position += 1
            chosen = enabled.get(self.current) or next(iter(enabled.values()), None)
        return chosen


@mypyc_attr(allow_interpreted_subclasses=True)
class FollowTrail(OneExecution):
    """Runs along a trail: each strand until its stop. `mismatch` says where the program no longer fits it.

    Needs an execution that records details: a stop is recognised by the function it is in. Other kinds of choices than
    StrandRuns are for subclasses, which know what strand they mean (`_strand_of`).

    `by_parts`: an operation of several accesses is also met as each of them. That is for trails from before more was
    seen: where one access was recorded, there may be several in one step now.
    """

    by_parts = False

    name = "replay"

    def __init__(self, turns: Sequence[Choice]) -> None:
        super().__init__()
        self.turns = turns
        self.position = 0
        self.seen: dict[str, dict[tuple[str, str, str], int]] = {}
        self.mismatch = ""
        self._counted = 0  # steps of the execution that are in `seen`
        # is told who goes on with the next step, before it does
        self.before_step: Callable[[ExecutionSeen, StrandSeen], None] | None = None
        self.on_its_stack: Callable[[StrandSeen], None] | None = None  # and again when it is there

    def performs(self, strand: StrandSeen) -> None:
        if self.on_its_stack is not None:
            self.on_its_stack(strand)

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        chosen = self._next(run)
        if self.before_step is not None and chosen is not None:
            self.before_step(run, chosen)
        return chosen

    def _next(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = {strand.treadle_name: strand for strand in run.enabled()}
        self._count(run)
        if not enabled:
            return None  # only a time-out can go on
        while self.position < len(self.turns):
            turn = self.turns[self.position]
            name, stop = self._strand_of(turn), _stop(turn)
            strand = enabled.get(name)
            if stop is not None and strand is not None and self._at(strand, stop):
                self.position += 1
                continue
            if strand is not None:
                return strand
            if stop is None:
                self.position += 1
                if name in self.seen:
                    continue
                self._unfit(run, turn, "is not there or cannot go on")
                return None
            self._unfit(run, turn, f"was to be interrupted where it {stop}, but never came there")
            return None
        return next(iter(enabled.values()), None)

    def left_over(self) -> str:
        """What of the trail the execution never came to, after its end; empty when all of it was followed."""
        for turn in self.turns[self.position :]:
            stop = _stop(turn)
            if stop is not None:
                return f"{self._said(turn)} was to be interrupted where it {stop}, but the test ended before"
            if self._strand_of(turn) not in self.seen:
                return f"{self._said(turn)} never ran"
        return ""

    def _strand_of(self, turn: Choice) -> str:
        """The name of the strand that a choice lets go on."""
        assert isinstance(turn, StrandRuns)
        return turn.strand

    def _said(self, turn: Choice) -> str:
        return f"strand {turn.strand}" if isinstance(turn, StrandRuns) else str(turn)

    def _count(self, run: ExecutionSeen) -> None:
        """How often each strand has performed each operation. One that a strand only stands before is not among them:
        it may still become another, as that of an event loop does when a callback comes before its next."""
        steps = run.detail or []
        for step in steps[self._counted :]:
            counts = self.seen.setdefault(step.strand, {})
            for name in self._names(step):  # a Counter would run code that `--instrument collections` rewrites
                counts[name] = counts.get(name, 0) + 1
        self._counted = len(steps)
        for strand in run.live:
            if strand.step is not None:
                self.seen.setdefault(strand.treadle_name, {})

    def _names(self, step: Step) -> set[tuple[str, str, str]]:
        """What a trail may call an operation."""
        names = {(step.operation, step.object, step.function)}
        if self.by_parts and step.performed[0] == MULTI:
            names |= {(verb(part), location(part), step.function) for part in parts(step.performed)}
        return names

    def _at(self, strand: StrandSeen, stop: Stop) -> bool:
        step = strand.step
        key = (stop.operation, stop.object, stop.function)
        return (
            step is not None
            and key in self._names(step)
            and self.seen[strand.treadle_name].get(key, 0) + 1 == stop.occurrence
        )

    def _unfit(self, run: ExecutionSeen, turn: Choice, why: str) -> None:
        self.mismatch = f"{self._said(turn)} {why}"
        run.stop_reason = "unfit"


def _stop(turn: Choice) -> Stop | None:
    return turn.until if isinstance(turn, StrandRuns) else None


def strand_runs(run: ExecutionSeen, shown: FollowSteps) -> tuple[StrandRuns, ...]:
    """The choices of a recorded execution, for a trail: each run of one strand, and what it was interrupted before.

    The execution must have recorded its details, and have been run along `shown`.
    """
    steps = run.detail or []
    found: list[StrandRuns] = []
    counts: dict[tuple[str, str, str, str], int] = {}
    for number, step in enumerate(steps):
        key = (step.strand, step.operation, step.object, step.function)
        counts[key] = counts.get(key, 0) + 1
        if number + 1 == len(steps) or steps[number + 1].strand == step.strand:
            continue
        found.append(StrandRuns(step.strand, _interrupted(run, shown, number, counts)))
    if steps:
        found.append(StrandRuns(steps[-1].strand))
    return tuple(found)


def _interrupted(
    run: ExecutionSeen, shown: FollowSteps, number: int, counts: dict[tuple[str, str, str, str], int]
) -> Stop | None:
    """What the strand of this step would have done next, if it could have gone on."""
    steps = run.detail or []
    strand = steps[number].strand
    if number + 1 not in shown.preempted:
        return None
    later = next((step for step in steps[number + 1 :] if step.strand == strand), None)
    if later is None:
        pending = next((s.step for s in run.strands if s.treadle_name == strand), None)
        if pending is None:
            return None
        later = pending
    nth = counts.get((strand, later.operation, later.object, later.function), 0) + 1
    return Stop(later.operation, later.object, later.function, nth)
