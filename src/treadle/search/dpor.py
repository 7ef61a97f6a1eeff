"""Optimal dynamic partial-order reduction: one execution per Mazurkiewicz trace, none of them blocked.

Abdulla, Aronsson, Jonsson, Sagonas, "Source Sets: A Foundation for Optimal Dynamic Partial Order Reduction", JACM 2017,
Algorithm 2, with the paper's names: races, notdep, weak initials, wakeup trees, sleep sets. It departs in four places:

- happens-before is kept as one bit mask of event numbers per event, which makes every question about it one shift;
- races are looked for only with events that are new in this execution: the others were handled when they were new;
- a step that was foretold and cannot be made is a `surprise`, and the search no proof, unless it waits for one of
  several things: whether it could have gone first is not known of such a step, and the execution was tried in vain;
- steps of tasks (STEP) are known in full only when they have ended: their footprints are what conflicts, sleep, and is
  reversed. No other step of the loop comes between the first and the last event of one (`blocks`), so a race in the
  middle of a step that needs another one first is reversed where the step began. A step that comes earlier than it did
  may do something else: where it is not known to be redundant it is run, and may turn out to be (`blocked`);
- operations that are still pending at the end (a strand in a deadlock, a daemon) take part in races like events, and
  a race with a blocking operation counts only if that could have gone first (`dependency.reversible`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mypy_extensions import mypyc_attr

from treadle.core.dependency import ENABLED_BY, READS, Footprint, dependent, dependent_on, performed, reversible
from treadle.core.operation import (
    CAUSE_BITS,
    FAILED,
    FINISH,
    GUARD_WIDTH,
    MULTI,
    SPIN,
    STEP,
    TIMEOUT,
    TRY,
    WAIT,
    Operation,
)
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

# What a step did that is begun in a sequence and does not end in it: nobody knows yet.
UNFINISHED = Footprint()
UNFINISHED.everything = True


class Branch:
    """A node of a wakeup tree: the strand to run next, what it is about to do, and how to go on."""

    __slots__ = ("children", "known", "op", "strand")

    def __init__(self, strand: int, op: Operation) -> None:
        self.strand = strand
        self.op = op
        self.children: list[Branch] = []
        self.known: Footprint | None = None  # all that a step of a task did from here, in any execution so far


class SearchNode:
    """The state before one event of the current execution."""

    __slots__ = ("done", "sleep", "tree")

    def __init__(self, sleep: dict[int, Operation], tree: list[Branch]) -> None:
        self.sleep = sleep  # strands whose next step was explored from here, or from an equivalent place
        self.tree = tree  # wakeup tree: what is still to be explored from here, the first branch being run
        self.done = 0  # branches explored


# a step of a wakeup sequence: strand, operation, its happens-before mask, its number in the execution it comes from
Step = tuple[int, Operation, int, int]


@mypyc_attr(allow_interpreted_subclasses=True)
class Dpor(Strategy):
    """Explores by optimal DPOR, oldest strand first."""

    name = "dpor"

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[SearchNode] = []
        self.before: list[int] = []  # before[j]: mask of the events that happen before event j, and j itself
        self.forced: list[int] = []  # forced[j]: those of them that come before j whatever it races with
        self.by_strand: dict[int, list[int]] = {}
        self.by_object: dict[Any, list[int]] = {}  # the events on each object
        self.changes: dict[Any, list[int]] = {}  # those of them that do not only read
        self.fence: list[int] = []  # events that everything else is ordered with: time-outs
        self.blocks: Mapping[int, Any] = {}  # first event of a step -> its last event and its footprint
        self.begins: Mapping[int, int] = {}  # event in the middle of a step -> the first one
        self.started = False
        self.conflicts = 0

    # ------------------------------------------------------------------ the strategy's three methods

    def begin(self) -> bool:
        if not self.started:
            self.started = True
            return True
        return self._backtrack()

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        depth = len(run.trace)
        if depth < len(self.nodes):  # where we backtracked to: its next branch is due
            node = self.nodes[depth]
        else:
            node = self._enter(run)
            self.nodes.append(node)
        if node.tree:
            branch = node.tree[0]
            strand = run.by_index.get(branch.strand)
            if strand is not None and strand.finished:
                strand = None
            if strand is not None and run.can_go(strand):
                if not _as_planned(branch.op, strand.pending):
                    self._cannot_be(run, branch.strand, branch.op, strand.pending)
                return strand
            run.stop_reason = "blocked"
            if strand is None or strand.guard is None or not strand.guard.of_several:
                self._cannot_be(run, branch.strand, branch.op, None)
            return None
        asleep = -1
        for strand in run.live:
            if run.can_go(strand):
                if strand.index not in node.sleep:
                    node.tree.append(Branch(strand.index, strand.pending))
                    return strand
                asleep = strand.index
        if asleep >= 0:
            run.stop_reason = "blocked"
            self._all_asleep(run, asleep, node.sleep[asleep])
        return None  # otherwise only a time-out can go on from here, which leaves nothing to choose

    def _all_asleep(self, run: ExecutionSeen, strand: int, op: Operation) -> None:
        """Whoever can go on would only repeat what was run from an equivalent place. Wakeup trees never lead there,
        unless a step did something else than foretold."""
        if not self.blocks:
            self._cannot_be(run, strand, op, op)

    def _cannot_be(self, run: ExecutionSeen, strand: int, planned: Operation, found: Operation | None) -> None:
        """Not what the executions before foretold: swapping steps that seem independent changed something. (A loop that
        is held back is no such thing: it could go on, and bounds the search.)"""
        if self.surprise is None and not run.looping:
            name = next(name for name, index in run.indexes.items() if index == strand)
            self.surprise = (name, planned, found)

    def end(self, run: ExecutionSeen) -> None:
        trace: list[tuple[int, Operation]] = run.trace
        self.trace, self.guards = trace, run.guards
        blocked = run.stop_reason == "blocked"
        self.blocked += blocked
        del self.nodes[len(trace) + blocked :]
        self.blocks, self.begins = run.blocks, run.begins
        for begin, block in run.blocks.items():
            self._widen(begin, block)
        races: list[tuple[int, int]] = []
        for number in range(len(self.before), len(trace)):
            self._link(number, run, races)
        for earlier, later in races:
            self._reverse(earlier, later, trace[later], self.forced[later])
        if not blocked:
            for strand, op in run.unfinished:
                past = self._past(strand.index, run.spawned)
                self._race_pending(strand.index, op, past, getattr(strand, "causes", 0))
            for strand, op in run.untaken:  # whatever came after the choice has nothing to do with it
                made = run.spawned[strand.index]
                self._race_pending(strand.index, op, self.before[made] if made >= 0 else 0)

    def progress(self) -> float:
        """The share of the tree that is done, as if all branches of a node were of one size."""
        done, weight = 0.0, 1.0
        for node in self.nodes:
            total = node.done + len(node.tree)
            if total:
                weight /= total
                done += weight * node.done
        return done

    # ------------------------------------------------------------------ walking the tree

    def _widen(self, begin: int, block: Any) -> None:
        """A step from this node did what it did before, or also something else: remember all of it."""
        tree = self.nodes[begin].tree if begin < len(self.nodes) else []
        if tree:
            branch = tree[0]
            if branch.known is None:
                branch.known = Footprint()
            branch.known.include(block.footprint)

    def _enter(self, run: ExecutionSeen) -> SearchNode:
        """The node after the last event: its sleep set and wakeup tree follow from the node before."""
        trace: list[tuple[int, Operation]] = run.trace
        if not trace:
            return SearchNode({}, [])
        parent = self.nodes[-1]
        strand, op = trace[-1]
        sleep = parent.sleep
        if sleep:
            op = performed(op, run.guards[-1])
            if op[0] == STEP:  # what it does, its accesses and its end will tell
                sleep = {q: step for q, step in sleep.items() if q != strand}
            else:
                sleep = {q: step for q, step in sleep.items() if q != strand and not dependent(step, op)}
            for block in run.closed:
                ended = (STEP, block.turn, block.footprint)
                sleep = {q: step for q, step in sleep.items() if not dependent(step, ended)}
            if run.blocks:
                sleep = {q: step for q, step in sleep.items() if not self._comes_too_late(q, step, op, run)}
        return SearchNode(sleep, parent.tree[0].children if parent.tree else [])

    def _is_interrupted(self, sleeper: int, step: Operation, place: int, sequence: list[Step]) -> bool:
        """Is a step that sleeps begun in this sequence, but not ended, after another step of its loop? As a whole it
        might come first; interrupted, perhaps not."""
        begun = [number for strand, op, _, number in sequence if strand == sleeper and op[2] is UNFINISHED]
        if not begun:
            return False
        block = self.blocks[begun[0]]
        if block.last == sequence[-1][3] and block.footprint.has_all_of(step[2]):
            return False  # nothing of it is left that could be interrupted
        since = self._asleep_since(sleeper, step, place)
        return any(self.trace[number][1] == (STEP, step[1], None) for number in range(since, place))

    def _asleep_since(self, sleeper: int, step: Operation, depth: int) -> int:
        """The first of the nodes up to this one at which a strand has slept all the time."""
        while depth and self.nodes[depth - 1].sleep.get(sleeper) is step:
            depth -= 1
        return depth

    def _comes_too_late(self, sleeper: int, step: Operation, op: Operation, run: ExecutionSeen) -> bool:
        """A step that sleeps would come first and see what the last event, of another thread, has changed: that is
        not possible if the event comes after another step of the same loop."""
        if step[0] != STEP or op[0] == STEP or not step[2].meets(op):
            return False
        depth = self._asleep_since(sleeper, step, len(run.trace) - 1)
        after: list[tuple[int, Operation]] = []  # events since then that come after another step of the loop
        for number in range(depth, len(run.trace)):
            strand, event = run.trace[number]
            if event[0] == STEP and number in run.blocks:
                event = (STEP, event[1], run.blocks[number].footprint)
            if (event[0] == STEP and event[1] == step[1]) or any(
                strand == other or dependent_on(event, earlier) for other, earlier in after
            ):
                after.append((strand, event))
        return bool(after) and after[-1][1] is run.trace[-1][1]

    def _backtrack(self) -> bool:
        """Forget the events that are fully explored, and plan the next branch. False when none is left."""
        nodes = self.nodes
        while nodes:
            depth = len(nodes) - 1
            node = nodes[depth]
            if node.tree:
                finished = node.tree.pop(0)
                node.done += 1
                if finished.known is not None:
                    finished.op = (STEP, finished.op[1], finished.known)
                elif depth < len(self.before):
                    finished.op = self._seen(depth)
                node.sleep = {**node.sleep, finished.strand: finished.op}
            self._forget(depth)
            if node.tree:
                self.trace = self.trace[:depth]
                self.guards = self.guards[:depth]
                self.plan = [strand for strand, _ in self.trace]
                return True
            nodes.pop()
        self.exhausted = True
        return False

    def _forget(self, depth: int) -> None:
        """Take the events from depth on out of the indexes."""
        while len(self.before) > depth:
            number = len(self.before) - 1
            strand, (kind, name, key) = self.trace[number]
            self.before.pop()
            self.forced.pop()
            self.by_strand[strand].pop()
            if kind == MULTI:
                for part_kind, part, _ in key:
                    self._unregister(part_kind, part)
            elif name is not None:
                self._unregister(kind, name)
            if self.fence and self.fence[-1] == number:
                self.fence.pop()

    # ------------------------------------------------------------------ happens-before and races

    def _seen(self, number: int) -> Operation:
        """What an event turned out to be: an attempt that failed was only a look."""
        op = self.trace[number][1]
        if op[0] == STEP and number in self.blocks:
            return (STEP, op[1], self.blocks[number].footprint)
        return performed(op, self.guards[number])

    def _past(self, strand: int, spawned: dict[int, int]) -> int:
        """The events that happen before the next step of a strand whatever it does: its own, its creator's."""
        own = self.by_strand.get(strand)
        if own:
            past = self.before[own[-1]]
        else:
            made = spawned[strand]
            past = self.before[made] if made >= 0 else 0
        if self.fence:
            past |= (2 << self.fence[-1]) - 1
        return past

    def _link(self, number: int, run: ExecutionSeen, races: list[tuple[int, int]]) -> None:
        """Place a new event in the happens-before order and note the races it ends."""
        strand, op = self.trace[number]
        kind, name, key = op
        forced = past = self._past(strand, run.spawned)
        if kind == TIMEOUT:
            self.fence.append(number)
            forced = past = (1 << number) - 1
            if name is not None:
                self._register(kind, name, number)
        elif kind == MULTI:
            for part in key:
                past = self._conflicts(number, strand, part, past, races)
            for part in key:  # not before: the parts of one event are not in order
                self._register(part[0], part[1], number)
        elif kind == SPIN:
            past |= self.before[self.guards[number]]
        elif kind == STEP:
            forced = past = self._whole_steps(past | self._after_causes(self.guards[number], name), name)
            past = self._step_conflicts(number, strand, name, past, races)
            self._register(kind, name, number)
        elif name is not None:
            if kind == WAIT and name in run.indexes:  # for a strand: all of it happens before
                joined = self.by_strand.get(run.indexes[name])
                if joined:
                    past |= self.before[joined[-1]]
                    forced = past
            past = self._conflicts(number, strand, op, past, races)
            self._register(kind, name, number)
        self.before.append(past | (1 << number))
        self.forced.append(forced)
        self.by_strand.setdefault(strand, []).append(number)
        if number in self.begins:
            self._order_step(number)

    def _after_causes(self, causes: int, turn: Any) -> int:
        """What happens before a step because it was scheduled then, and its loop was entered then."""
        past = 0
        while causes:
            event = (causes & ((1 << CAUSE_BITS) - 1)) - 1
            if event >= 0:
                past |= self._until_end(event, turn)
            causes >>= CAUSE_BITS
        return past

    def _until_end(self, event: int, turn: Any) -> int:
        """What has happened when another step of the same loop can follow an event: all of the step it is part of."""
        begin = self.begins.get(event, event)
        block = self.blocks.get(begin)
        return self.before[block.last if block is not None and block.turn == turn else event]

    def _step_conflicts(self, number: int, strand: int, turn: Any, past: int, races: list[tuple[int, int]]) -> int:
        """Go back over the steps of the same loop; return what now happens before this one."""
        step = self._seen(number)
        covered = past
        for event in reversed(self.by_object.get(turn, ())):
            if self.trace[event][0] == strand or not dependent(self._seen(event), step):
                continue
            until = self._until_end(event, turn)
            if not (covered >> event) & 1:
                self.conflicts += 1
                races.append((event, number))
                covered |= until
            past |= until
        return self._whole_steps(past, turn)

    def _order_step(self, number: int) -> None:
        """An event in the middle of a step comes after another step of the loop, by way of another thread: then so does
        all of its step, and what came after the beginning of it."""
        begin, before = self.begins[number], self.before
        turn = self.blocks[begin].turn
        new = 0
        for event in self.by_object[turn]:
            if event < begin and (before[number] >> event) & 1 and not (before[begin] >> event) & 1:
                new |= self._until_end(event, turn)
        if new:
            for event in range(begin, number + 1):
                if (before[event] >> begin) & 1:
                    before[event] |= new

    def _whole_steps(self, past: int, turn: Any) -> int:
        """A step of a loop comes after all of another one if it comes after part of it."""
        for event in reversed(self.by_object.get(turn, ())):
            if (past >> event) & 1:
                past |= self._until_end(event, turn)
        return past

    def _register(self, kind: int, name: Any, number: int) -> None:
        self.by_object.setdefault(name, []).append(number)
        if not READS[kind]:
            self.changes.setdefault(name, []).append(number)

    def _unregister(self, kind: int, name: Any) -> None:
        self.by_object[name].pop()
        if not READS[kind]:
            self.changes[name].pop()

    def _conflicts(self, number: int, strand: int, op: Operation, past: int, races: list[tuple[int, int]]) -> int:
        """Go back over the events on the same object; return what now happens before this operation."""
        kind, name, key = op
        events = (self.changes if READS[kind] else self.by_object).get(name)
        if not events:
            return past
        trace, before, guards = self.trace, self.before, self.guards
        reads = READS[kind] or bool(kind == TRY and number < len(guards) and guards[number] & FAILED)
        covered = past  # what is ordered before this operation without the race in question
        for event in reversed(events):
            other, (other_kind, _, other_key) = trace[event]
            guard = guards[event]
            if other_kind == MULTI:
                part = _part(trace[event][1], name, bool(reads), key)
                if part is None:
                    continue
                other_kind, other_key, place = part
                guard >>= place * GUARD_WIDTH
            other_reads = READS[other_kind] or (other_kind == TRY and guards[event] & FAILED)
            if reads and other_reads:
                continue
            if key is not None and other_key is not None and key != other_key and other_kind != TIMEOUT:
                continue
            passed_over = False
            if other != strand and not (covered >> event) & 1:
                self.conflicts += other_kind != FINISH
                if reversible(guard, kind):
                    races.append((event, number))
                    covered |= before[event]
                elif kind in ENABLED_BY:
                    passed_over = True
                else:
                    covered |= before[event]
            past |= before[event]
            if not passed_over and not other_reads and (other_key is None or other_key == key):
                break  # everything earlier on this key happens before that one
        return past

    def _race_pending(self, strand: int, op: Operation, past: int, causes: int = 0) -> None:
        """Races that an operation would end which was never performed: the strand is stuck, or was not waited for."""
        races: list[tuple[int, int]] = []
        number = len(self.trace)
        forced = past
        if op[0] == SPIN:
            return
        if op[0] == STEP:  # it was never run: it could have come before the step that ended the loop
            forced = past = self._whole_steps(past | self._after_causes(causes, op[1]), op[1])
            for event in self.by_object.get(op[1], ()):
                block = self.blocks.get(event)
                if block is not None and block.ends_loop and not (past >> event) & 1:
                    self._reverse(event, number, (strand, op), forced)
            return
        for part in op[2] if op[0] == MULTI else (op,):
            if part[1] is not None:
                past = self._conflicts(number, strand, part, past, races)
        for earlier, _ in races:
            self._reverse(earlier, number, (strand, op), forced)

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        """See to it that the race is also run the other way round."""
        place, sequence = self._reversal_at(earlier, later, event, forced)
        node = self.nodes[place]
        busy = {block.turn for begin, block in self.blocks.items() if begin < place <= block.last}
        for sleeper, op in node.sleep.items():
            if op[0] == STEP and (op[1] in busy or self._is_interrupted(sleeper, op, place, sequence)):
                continue  # whether it would come first is not known before the step has ended that is under way
            if _weak_initial(sleeper, op, sequence) is not None:
                return
        _insert(node.tree, sequence, node.tree[0] if node.tree else None)
        self.reversed.add((self.trace[earlier][1], event[1]))

    def _reversal_at(
        self, earlier: int, later: int, event: tuple[int, Operation], forced: int
    ) -> tuple[int, list[Step]]:
        """How the race goes the other way round, and from which event on."""
        if not self.blocks:
            return earlier, self._reversal(earlier, later, event, forced)
        place, avoided = earlier, 1 << earlier
        found: tuple[int, list[Step]] | None = None
        while place >= 0:
            sequence, in_the_way = self._without_overlap(place, avoided, later, event, forced)
            if sequence is not None and (found is None or in_the_way < 0):
                found = place, sequence
            place = in_the_way  # from there on nothing has to be left out, if the race can be reversed there at all
            avoided |= 1 << max(place, 0)
        if found is None:  # every order of the steps is ruled out, and nobody knows why there is a race
            self.surprise = self.surprise or ("a step", event[1], None)
            return earlier, [(event[0], event[1], 0, later)]
        return found

    def _without_overlap(
        self, place: int, avoided: int, later: int, event: tuple[int, Operation], forced: int
    ) -> tuple[list[Step] | None, int]:
        """As `_reversal`, where steps of one loop do not overlap. A step that depends on what is avoided is left out as
        a whole, and so is one that would have to wait for one that has begun before the place and cannot end: then the
        beginning of that one is returned, too (-1: there is none). None when the later event needs what is left out."""
        strand, op = event
        before, trace = self.before, self.trace
        sequence: list[Step] = []
        busy: dict[Any, int] = {}  # loop -> the step in it that has begun and cannot end
        for begin, block in self.blocks.items():
            if begin < place <= block.last and self._is_cut(begin, place, avoided):
                busy[block.turn] = begin
        out = 0  # events that are left out
        in_the_way = -1
        for number in range(place, min(later, len(trace))):
            if before[number] & avoided:
                continue
            if before[number] & out:
                out |= 1 << number
                continue
            seen = self._seen(number)
            if seen[0] == STEP:
                cut = self._is_cut(number, number + 1, avoided)
                if seen[1] in busy or (cut and not (forced >> number) & 1):
                    if not cut and -1 < busy.get(seen[1], -1) < place:
                        in_the_way = max(in_the_way, busy[seen[1]])
                    out |= 1 << number
                    continue
                if cut:
                    busy[seen[1]] = number
                if cut or self.begins.get(later) == number:
                    seen = (STEP, seen[1], UNFINISHED)  # it may go on in another way
            sequence.append((trace[number][0], seen, before[number], number))
            if dependent(seen, op):
                forced |= before[number]
        if forced & (out | avoided) or (op[0] == STEP and op[1] in busy):
            return None, max([in_the_way, *(begin for begin in busy.values() if begin < place)])
        sequence.append((strand, op, forced, later))
        return sequence, in_the_way

    def _is_cut(self, begin: int, start: int, avoided: int) -> bool:
        """Does a step, from an event on, depend on what is avoided?"""
        block = self.blocks.get(begin)
        return block is not None and any(
            self.begins.get(number) == begin and bool(self.before[number] & avoided)
            for number in range(start, min(block.last + 1, len(self.before)))
        )

    def _reversal(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> list[Step]:
        """How the race goes the other way round, after the events before `earlier`: those that do not depend on it,
        then the later event. That one no longer comes after what only the earlier event put before it."""
        strand, op = event
        before, trace = self.before, self.trace
        sequence: list[Step] = []  # the paper's v = notdep(e, E).e'
        for number in range(earlier + 1, min(later, len(trace))):
            if not (before[number] >> earlier) & 1:
                seen = self._seen(number)
                sequence.append((trace[number][0], seen, before[number], number))
                if dependent(seen, op):
                    forced |= before[number]
        sequence.append((strand, op, forced, later))
        return sequence


def _as_planned(planned: Operation, found: Operation) -> bool:
    """Is this the operation that a wakeup sequence foresaw? It is on the same object; how much of the object it touches
    may depend on the operation that it was reversed with."""
    if planned[0] == found[0] == MULTI:
        return True
    if planned[0] == MULTI or found[0] == MULTI:
        several, one = (planned, found) if planned[0] == MULTI else (found, planned)
        return any(part[1] == one[1] for part in several[2])
    return bool(planned[1] == found[1])


def _part(op: Operation, name: Any, reads: bool, key: Any) -> tuple[int, Any, int] | None:
    """The access of a multiple operation to an object that an operation on a key of it depends on; the one that changes
    all of the key, if there is one: what is earlier happens before that. And the place of its first access to it."""
    found: tuple[int, Any] | None = None
    first = -1
    for place, (kind, part, other_key) in enumerate(op[2]):
        if part != name:
            continue
        if first < 0:
            first = place
        if (reads and READS[kind]) or (key is not None and other_key is not None and key != other_key):
            continue
        if not READS[kind] and (other_key is None or other_key == key):
            return kind, other_key, first
        found = kind, other_key
    return None if found is None else (found[0], found[1], first)


def _weak_initial(strand: int, op: Operation, sequence: list[Step]) -> int | None:
    """Can the strand's next step come first in the sequence? Its place there, or -1 when it is independent of
    all of it; None when it cannot."""
    mask = 0
    turns: set[Any] = set()
    for place, (other, other_op, before, number) in enumerate(sequence):
        if other == strand:
            # a step that does not end in the sequence may be interrupted by what comes after other steps of its loop
            interrupted = other_op[2] is UNFINISHED and other_op[1] in turns
            return None if before & mask or interrupted else place
        mask |= 1 << number
        if other_op[0] == STEP:
            turns.add(other_op[1])
    steps = 0  # the steps of the same loop, where the strand's own is one
    for _, other_op, before, number in sequence:
        if dependent(op, other_op):
            return None
        if op[0] == STEP:
            if other_op[0] == STEP and other_op[1] == op[1]:
                steps |= 1 << number
            elif before & steps and op[2] is not None and op[2].meets(other_op):
                return None  # it would see what comes after another step of its loop
    return -1


def _insert(tree: list[Branch], sequence: list[Step], running: Branch | None) -> None:
    """Add a sequence to a wakeup tree, unless a branch of it already leads to an equivalent execution."""
    while True:
        for branch in tree:
            if branch is running:
                continue
            place = _weak_initial(branch.strand, branch.op, sequence)
            if place is not None:
                if not branch.children:
                    return
                if place >= 0:
                    sequence = sequence[:place] + sequence[place + 1 :]
                    if not sequence:
                        return
                tree = branch.children
                break
        else:
            for strand, op, _, _ in sequence:
                branch = Branch(strand, op)
                tree.append(branch)
                tree = branch.children
            return
