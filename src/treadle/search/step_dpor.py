"""DPOR for steps of tasks beside threads (`any_order`): one execution per class, none of them in vain.

A step of a task is atomic against the steps of its own loop, and other threads interleave at its accesses to what they
share. So steps of one loop are like critical sections of one lock whose order only matters where they conflict; no
wakeup tree can tell, because what a step does is known when it has ended. Instead the classes that have been run are
kept, and a reversed race is run only if none of them contains it:

- an event is an operation, or the beginning of a step; what a step does between two of its events to objects that no
  other thread touches belongs to the first of the two (its *segment*). `before` orders events that are dependent;
- steps of one loop do not overlap: if an event of one comes after an event of another, all of it does (`_whole_steps`);
- a race is a pair of dependent events, the later of which could have come first; or two steps of one loop, whatever
  they do: then the later one begins first. Reversed, it is the *ideal* of all events that do not come after the earlier
  one, followed by the later one. Where that leaves several steps of a loop without their ends, one of them stays;
- each event is hashed with all that happens before it. An explored execution contains an ideal if it has the same hash
  for the last event of every strand in it, and has the next event, and the ends of open steps, behind it alone.

Why that is complete: let F be a class that was not run, and E one that was and has the longest beginning of F in common
with it. The next event of F is in a race in E with what it comes after there, and not in F. E's reversals are contained
in classes that were run, and each has that beginning and fewer events between it and that event. So one of them has a
longer beginning in common with F. And why it is optimal: what is run contains an ideal that no class before contains.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from mypy_extensions import mypyc_attr

from treadle.core.dependency import Footprint
from treadle.core.operation import CAUSE_BITS, STEP, Operation
from treadle.search.dpor import Dpor, _as_planned
from treadle.search.strategy import ExecutionSeen, StrandSeen


class TaskStepSeen(Protocol):
    """What is known of one step."""

    @property
    def begin(self) -> int:
        """Its first event."""

    @property
    def last(self) -> int:
        """Its last event."""

    @property
    def segments(self) -> Mapping[int, Footprint]:
        """Event of it -> what it did behind that event."""

    @property
    def turn(self) -> str:
        """Whose turn it was: the loop."""


class StepsSeen(Protocol):
    """What executions know of the steps of tasks."""

    @property
    def blocks(self) -> Mapping[int, TaskStepSeen]:
        """First event of a step -> that step."""

    @property
    def begins(self) -> Mapping[int, int]:
        """Event in the middle of a step -> its first event."""

    @property
    def causes(self) -> Mapping[int, int]:
        """Strand whose step was scheduled and never run -> the events that it comes after."""


class KnownClass:
    """A class that was run."""

    __slots__ = ("by_strand", "hashes", "steps", "whole")

    def __init__(
        self, by_strand: dict[int, list[int]], hashes: list[int], whole: list[int], steps: list[TaskStepSeen]
    ) -> None:
        self.by_strand = by_strand
        self.hashes = hashes
        self.whole = whole  # per event: what comes before it, where steps do not overlap
        self.steps = steps  # those with several events


class Reversal:
    """A race the other way round: the ideal as `(strand, events of it, hash of the last)`, the strand that goes next
    and how many events it has before, and how to get there."""

    __slots__ = ("count", "guards", "ideal", "sequence", "strand", "trace")

    def __init__(self, ideal: list[tuple[int, int, int]], strand: int, count: int) -> None:
        self.ideal = ideal
        self.strand = strand
        self.count = count
        self.trace: list[tuple[int, Operation]] = []
        self.guards: list[int] = []
        self.sequence: list[tuple[int, Operation]] = []


@mypyc_attr(allow_interpreted_subclasses=True)
class StepDpor(Dpor):
    """Explores every class of the orders of task steps and accesses of threads exactly once."""

    def __init__(self) -> None:
        super().__init__()
        self.reads_footprints = True
        self.explored: list[KnownClass] = []
        self.holding: dict[int, list[int]] = {}  # hash of an event -> the explored classes that have it
        self.todo: list[Reversal] = []
        self.sequence: list[tuple[int, Operation]] = []  # what comes after the plan
        self.hashes: list[int] = []
        self.whole: list[int] = []
        self.blocks: Mapping[int, TaskStepSeen] = {}
        self.begins: Mapping[int, int] = {}
        self.classes: set[int] = set()  # those that were run
        self.ran = 0  # that of the last execution

    @property
    def ordered(self) -> list[int]:
        """Per event of the last execution, what comes before it."""
        return self.whole

    # ------------------------------------------------------------------ the strategy's three methods

    def begin(self) -> bool:
        if not self.started:
            self.started = True
            return True
        while self.todo:
            reversal = self.todo.pop()
            if not self._is_explored(reversal):
                self.trace, self.guards = reversal.trace[:], reversal.guards[:]
                self.plan = [strand for strand, _ in self.trace]
                self.sequence = reversal.sequence
                return True
        self.exhausted = True
        return False

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        place = len(run.trace) - len(self.plan)
        if place < len(self.sequence):
            index, op = self.sequence[place]
            strand = run.by_index.get(index)
            able = strand is not None and not strand.finished and run.can_go(strand)
            found = strand.pending if strand is not None and able else None
            is_last = place + 1 == len(self.sequence)
            if found is not None and (found == op or (is_last and _as_planned(op, found))):
                return strand
            run.stop_reason = "blocked"
            self._cannot_be(run, index, op, found)
            return None
        return next((strand for strand in run.live if run.can_go(strand)), None)

    def end(self, run: ExecutionSeen) -> None:
        if run.stop_reason == "blocked":
            self.blocked += 1
            return
        self._clear()
        self.trace, self.guards = run.trace, run.guards
        steps = cast(StepsSeen, run)
        self.blocks, self.begins = steps.blocks, steps.begins
        races: list[tuple[int, int]] = []
        for number in range(len(self.trace)):
            self._link(number, run, races)
        self.whole = self._whole_steps()
        several = [block for block in self.blocks.values() if block.last != block.begin]
        explored = KnownClass(self.by_strand, self.hashes, self.whole, several)
        for value in self.hashes:
            self.holding.setdefault(value, []).append(len(self.explored))
        self.explored.append(explored)
        self.ran = hash(frozenset(self.hashes))
        self.classes.add(self.ran)
        for earlier, later in races:
            self._reverse(earlier, later, self.trace[later], self.forced[later])
        self._reverse_steps()
        for strand, op in run.unfinished:
            past = self._past(strand.index, run.spawned)
            if op[0] == STEP:
                self._race_unbegun(strand.index, op, past | self._after_causes(steps.causes[strand.index]))
            else:
                self._race_pending(strand.index, op, past)
        for strand, op in run.untaken:
            made = run.spawned[strand.index]
            self._race_pending(strand.index, op, self.before[made] if made >= 0 else 0)

    def progress(self) -> float:
        return len(self.explored) / (len(self.explored) + len(self.todo)) if self.explored else 0.0

    # ------------------------------------------------------------------ the order of events

    def _clear(self) -> None:
        self.before, self.ended, self.forced, self.hashes, self.fence = [], [], [], [], []
        self.by_strand, self.by_object, self.changes = {}, {}, {}
        self.segments: dict[str, dict[Any, list[tuple[bool, Any, int]]]] = {}  # loop -> object -> accesses
        self.everything: dict[str, int] = {}  # loop -> events that conflict with all its steps
        self.of_loop: dict[str, int] = {}  # loop -> events of its steps
        self.strand_masks: dict[int, int] = {}

    def _link(self, number: int, run: ExecutionSeen, races: list[tuple[int, int]]) -> None:
        strand, op = self.trace[number]
        if op[0] == STEP:
            past = self._past(strand, run.spawned) | self._after_causes(self.guards[number])
            self.before.append(past | (1 << number))
            self.forced.append(past)
            self.by_strand.setdefault(strand, []).append(number)
        else:
            super()._link(number, run, races)
        begin = number if number in self.blocks else self.begins.get(number, -1)
        if begin >= 0:
            self.before[number] |= self._after_segments(number, self.blocks[begin])
        self._hash(number, strand)

    def _after_causes(self, causes: int) -> int:
        """What happens before a step because it was scheduled then, and its loop was entered then."""
        past = 0
        while causes:
            event = (causes & ((1 << CAUSE_BITS) - 1)) - 1
            if event >= 0:
                past |= self.before[event]
            causes >>= CAUSE_BITS
        return past

    def _after_segments(self, number: int, block: TaskStepSeen) -> int:
        """The events of other steps of the loop that this one comes after by what is seen in their segments."""
        turn, segment = block.turn, block.segments.get(number)
        mine = self.everything.get(turn, 0)
        if segment is not None:
            if segment.everything:
                mine |= self.of_loop.get(turn, 0)
                self.everything[turn] = self.everything.get(turn, 0) | (1 << number)
            accesses = self.segments.setdefault(turn, {})
            for name, reads, key in segment.accesses:
                others = accesses.setdefault(name, [])
                for other_reads, other_key, other in others:
                    if not (reads and other_reads) and (key is None or other_key is None or key == other_key):
                        mine |= 1 << other
                others.append((reads, key, number))
        self.of_loop[turn] = self.of_loop.get(turn, 0) | (1 << number)
        past = 0
        for event in _bits(mine & ~(1 << number)):
            past |= self.before[event]
        return past

    def _hash(self, number: int, strand: int) -> None:
        past = self.before[number] & ~(1 << number)
        lasts = []
        for other, mask in self.strand_masks.items():
            last = (past & mask).bit_length() - 1
            if last >= 0:
                lasts.append((other, self.hashes[last]))
        lasts.sort()
        self.hashes.append(hash((strand, len(self.by_strand[strand]), tuple(lasts))))
        self.strand_masks[strand] = self.strand_masks.get(strand, 0) | (1 << number)

    def _whole_steps(self) -> list[int]:
        """Per event, what comes before it if steps of one loop do not overlap."""
        if not self.begins:
            return self.before
        whole = list(self.before)
        blocks = list(self.blocks.values())
        masks = {block.begin: 1 << block.begin for block in blocks}
        for number, begin in self.begins.items():
            masks[begin] |= 1 << number
        after: dict[int, int] = {}  # step -> what comes before its beginning because steps do not overlap
        changed = True
        while changed:
            changed = False
            for block in blocks:
                past = 0
                for number in _bits(masks[block.begin]):
                    past |= whole[number]
                new = 0
                for other in blocks:
                    if other.begin < block.begin and other.turn == block.turn and past & masks[other.begin]:
                        new |= whole[other.last]
                if new & ~whole[block.begin]:
                    after[block.begin] = after.get(block.begin, 0) | new
                    changed = True
            if changed:
                for number in range(len(whole)):
                    for begin, extra in after.items():
                        if (whole[number] >> begin) & 1:
                            whole[number] |= extra
        return whole

    # ------------------------------------------------------------------ races the other way round

    def _reverse_steps(self) -> None:
        """The next of two steps of one loop, neither of which has to be first, comes first."""
        for number, block in self.blocks.items():
            covered = 0
            forced = 0
            for event in _bits(self.forced[number]):
                forced |= self.whole[event]
            for begin in reversed(_bits(self.whole[number] & self.of_loop[block.turn])):
                other = self.blocks.get(begin)
                if other is None or begin == number or (covered >> begin) & 1:
                    continue
                covered |= self.whole[begin]
                if not (forced >> begin) & 1:
                    self.conflicts += 1
                    self._reverse(begin, number, self.trace[number], self.forced[number])

    def _race_unbegun(self, strand: int, op: Operation, past: int) -> None:
        """A step that was scheduled and never run could have come before any step of its loop."""
        for begin, block in self.blocks.items():
            if block.turn == op[1] and not (past >> begin) & 1:
                self._reverse(begin, len(self.trace), (strand, op), past)

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        every = 0
        for number in range(len(self.trace)):
            if not (self.whole[number] >> earlier) & 1:
                every |= 1 << number
        if forced & ~every:
            return
        if event[1][0] != STEP:
            self.reversed.add((self.trace[earlier][1], event[1]))
        own = self.begins.get(later, -1)
        turn = self.blocks[own].turn if own >= 0 else event[1][1] if event[1][0] == STEP else None
        for kept in self._ways_to_cut(every, own, turn):
            ideal = every
            for begin in self._cut(every):
                if begin not in kept:
                    ideal &= ~self._after(begin)
            if not forced & ~ideal:
                self._add(ideal, kept, event)

    def _cut(self, ideal: int) -> list[int]:
        """The steps that have begun in an ideal and do not end in it."""
        if not self.begins:
            return []
        return [
            begin
            for begin in set(self.begins.values())
            if (ideal >> begin) & 1 and not (ideal >> self.blocks[begin].last) & 1
        ]

    def _ways_to_cut(self, every: int, own: int, turn: str | None) -> Iterator[tuple[int, ...]]:
        """One step of each loop may stay open; that of the event that comes next has to, where it has begun."""
        by_turn: dict[str, list[int]] = {}
        for begin in self._cut(every):
            by_turn.setdefault(self.blocks[begin].turn, []).append(begin)
        if turn is not None:
            by_turn[turn] = [own]
        return itertools.product(*by_turn.values())

    def _after(self, event: int) -> int:
        return sum(1 << number for number in range(len(self.whole)) if (self.whole[number] >> event) & 1)

    def _add(self, ideal: int, kept: tuple[int, ...], event: tuple[int, Operation]) -> None:
        strand, _ = event
        parts: list[tuple[int, int, int]] = []
        count = 0
        for other, numbers in self.by_strand.items():
            inside = 0
            while inside < len(numbers) and (ideal >> numbers[inside]) & 1:
                inside += 1
            if inside:
                parts.append((other, inside, self.hashes[numbers[inside - 1]]))
            if other == strand:
                count = inside
        reversal = Reversal(parts, strand, count)
        if self._is_explored(reversal):
            return
        first: list[int] = []
        last: list[int] = []
        for number in _bits(ideal):
            is_late = any((self.whole[number] >> begin) & 1 for begin in kept if begin >= 0)
            (last if is_late else first).append(number)
        order = first + last
        place = 0
        while place < len(order) and order[place] == place:
            place += 1
        reversal.trace, reversal.guards = self.trace[:place], self.guards[:place]
        reversal.sequence = [*(self.trace[number] for number in order[place:]), event]
        self.todo.append(reversal)

    # ------------------------------------------------------------------ what has been run

    def _is_explored(self, reversal: Reversal) -> bool:
        """Does a class that was run begin with this ideal and this event?"""
        explored = self.explored
        numbers: Sequence[int] = range(len(explored))
        for _, _, value in reversal.ideal:
            holding = self.holding[value]
            if len(holding) < len(numbers):
                numbers = holding
        return any(self._contains(explored[number], reversal) for number in reversed(numbers))

    def _contains(self, explored: KnownClass, reversal: Reversal) -> bool:
        by_strand, hashes, whole = explored.by_strand, explored.hashes, explored.whole
        own = by_strand.get(reversal.strand)
        if own is None or len(own) <= reversal.count:
            return False
        ideal = 0
        for strand, count, value in reversal.ideal:
            events = by_strand.get(strand)
            if events is None or len(events) < count or hashes[events[count - 1]] != value:
                return False
            for event in events[:count]:
                ideal |= 1 << event
        event = own[reversal.count]
        if whole[event] & ~(ideal | (1 << event)):
            return False
        ideal |= 1 << event
        return not any(
            (ideal >> block.begin) & 1 and not (ideal >> block.last) & 1 and whole[block.begin] & ~ideal
            for block in explored.steps
        )


def _bits(mask: int) -> list[int]:
    """The numbers of the bits that are set, in order."""
    found: list[int] = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
