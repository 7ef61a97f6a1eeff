"""A failure of an actor program, confirmed: in the fewest orders of messages, replayed from its trail, explained."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from treadle.core.builds import EVERY, Builds
from treadle.core.result import Finding
from treadle.core.trail import Trail
from treadle.doors.explore.told import same_failure
from treadle.messages.execution import MessageExecution
from treadle.messages.follow import FollowMessageTrail, FollowSchedule, message_choices
from treadle.messages.loom import MessageLoom
from treadle.messages.minimise import Attempt, Constraint, fewest_orders, in_words, one_order
from treadle.messages.oracles import judge
from treadle.messages.receive import Receive
from treadle.messages.result import OrderFinding
from treadle.report import message_sequence
from treadle.search.replay import FollowSteps

# A handler is never interrupted here, and an actor's thread can be switched before it takes its next message on every
# build; an order that queues inside a process do not give needs something else.
_OVERTAKES = "messages may overtake each other, as between processes"

# Notes of a finding that has no replay. Nothing that failed is lost.
_DIFFERS = (
    "it fails, and the same order of messages passed when it was run again: something besides messages decides (real "
    "time, addresses, files, other processes); there is no replay"
)
_UNRECORDED = "it fails, and could not be recorded: its trail does not show it again; there is no replay"


def settings_of(loom: MessageLoom) -> dict[str, Any]:
    """What a trail must say about how its execution was run."""
    settings: dict[str, Any] = {"granularity": "messages"}
    if loom.delivery != "promised":  # which is what trails meant before there was a choice
        settings["delivery"] = loom.delivery
    if loom.timeouts != "idle":
        settings["timeouts"] = loom.timeouts
    if loom.clock != "still":
        settings["clock"] = loom.clock
    if loom.seed:
        settings["seed"] = loom.seed
    if loom.queues:
        settings["queues"] = True
    return settings


class Confirmation:
    """Turns a failing execution into a finding that a person can use."""

    def __init__(self, loom: MessageLoom, target: str, settings: dict[str, Any], door: str = "explore") -> None:
        self.loom = loom
        self.target = target
        self.settings = settings
        self.door = door

    def confirm(
        self, finding: Finding, failing: MessageExecution, passing: Sequence[Sequence[Receive]] = ()
    ) -> OrderFinding:
        """Find the fewest orders that bring the failure about, and a trail that replays it."""

        def attempt(constraints: Sequence[Constraint]) -> MessageExecution | None:
            follow = FollowSchedule()
            follow.begin()
            run = self._run(follow, constraints)
            found = judge(run)
            kept = not any(constraint.given_up for constraint in constraints)
            return run if kept and found and same_failure(found[0], finding) else None

        order: list[str] = []
        shown = attempt([])
        simple = shown is not None
        if shown is None:
            single = one_order(failing, attempt)
            if single is not None:
                order, shown = single
        if shown is None:
            order, shown = self._fewest(failing, attempt)
        return self._replayed(finding, shown, order, passing, simple)

    def _fewest(self, failing: MessageExecution, attempt: Attempt) -> tuple[list[str], MessageExecution]:
        """No single order will do: as few as possible, by name if names tell the messages apart."""
        smaller = fewest_orders(failing, attempt)
        if smaller is None:
            return [], failing
        pairs, shown = smaller
        worded = in_words(pairs, shown, attempt)
        return worded if worded is not None else ([], shown)

    def _run(self, strategy: Any, constraints: Iterable[Constraint] = (), detail: bool = False) -> MessageExecution:
        before = self.loom.holding
        self.loom.orders, self.loom.holding = list(constraints), True
        try:
            run = self.loom.run(strategy, detail)
        finally:
            self.loom.orders, self.loom.holding = [], before
        assert isinstance(run, MessageExecution)
        return run

    def _replayed(
        self,
        finding: Finding,
        shown: MessageExecution,
        order: list[str],
        passing: Sequence[Sequence[Receive]],
        simple: bool,
    ) -> OrderFinding:
        names = {index: name for name, index in self.loom.indexes.items()}
        steps = FollowSteps([names[index] for index, _ in shown.trace])
        steps.begin()
        detailed = self._run(steps, detail=True)
        found = judge(detailed)
        if not found or not same_failure(found[0], finding):
            return _unrecorded(finding, shown, _DIFFERS)
        trail = Trail(
            self.target,
            message_choices(detailed, steps),
            door=self.door,
            settings=self.settings,
            kind=found[0].kind,
            message=found[0].message,
        )
        again = FollowMessageTrail(trail.choices)
        again.begin()
        replayed = judge(self._run(again, detail=True))
        if not replayed or again.mismatch or not same_failure(replayed[0], finding):
            return _unrecorded(found[0], detailed, _UNRECORDED)
        if not passing and not simple:
            passing = self._library_order()
        return _told(found[0], detailed, order, trail, passing)

    def _library_order(self) -> list[list[Receive]]:
        """The execution in the library's own order, if it passes."""
        follow = FollowSchedule()
        follow.begin()
        run = self._run(follow)
        return [] if judge(run) else [run.journal.receives()]


def _unrecorded(finding: Finding, run: MessageExecution, note: str) -> OrderFinding:
    receives = run.journal.receives()
    return OrderFinding(
        kind=finding.kind,
        message=finding.message,
        explanation=message_sequence.text(receives),
        exception=finding.exception,
        schedule=receives,
        notes=[note],
    )


def _told(
    finding: Finding, run: MessageExecution, order: list[str], trail: Trail, passing: Sequence[Sequence[Receive]]
) -> OrderFinding:
    receives = run.journal.receives()
    overtaken = run.journal.overtakings()
    note = ""
    if overtaken:
        late, early = overtaken[0]
        note = (
            f"{early.label} overtakes {late.label}, which was sent before it: messages between processes may do that, "
            "queues inside one process do not (--delivery mailbox leaves such orders out)"
        )
    nearest = max((list(other) for other in passing), key=lambda other: _common(receives, other), default=[])
    return OrderFinding(
        kind=finding.kind,
        message=finding.message,
        replay=str(trail),
        explanation=message_sequence.story(receives, nearest, order, note),
        exception=finding.exception,
        steps=list(run.detail or []),
        trail=trail,
        order=order,
        schedule=receives,
        passing=nearest,
        in_process=not overtaken,
        note=note,
        builds=Builds(only_if=_OVERTAKES) if overtaken else EVERY,
    )


def _common(one: Sequence[Receive], other: Sequence[Receive]) -> int:
    """How many events two executions have in common from the start."""
    count = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        count += 1
    return count
