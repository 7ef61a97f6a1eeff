"""Optimal dynamic partial-order reduction: one execution per Mazurkiewicz trace, none of them blocked.

Abdulla, Aronsson, Jonsson, Sagonas, "Source Sets: A Foundation for Optimal Dynamic Partial Order Reduction", JACM 2017,
Algorithm 2, with the paper's names: races, notdep, weak initials, wakeup trees, sleep sets. It departs in four places:

- happens-before is kept as one bit mask of event numbers per event, which makes every question about it one shift;
- races between events that are not new are handled again only where the reversal may have changed: it holds every event
  of the execution that does not happen after the earlier one, also those that come after the later one;
- a step that was foretold and cannot be made is a `surprise`, and the search no proof, unless it waits for one of
  several things: whether it could have gone first is not known of such a step, and the execution was tried in vain;
- operations that are still pending at the end (a strand in a deadlock, a daemon) take part in races like events, and
  a race with a blocking operation counts only if that could have gone first (`dependency.reversible`).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import mypyc_attr

from treadle.core.dependency import ENABLED_BY, READS, TAKING, dependent, performed, reversible
from treadle.core.operation import FAILED, FINISH, GET, GUARD_WIDTH, MULTI, SPIN, TIMEOUT, WAIT, Operation, cause_of
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy


class Branch:
    """A node of a wakeup tree: the strand to run next, what it is about to do, and how to go on."""

    __slots__ = ("children", "op", "strand")

    def __init__(self, strand: int, op: Operation) -> None:
        self.strand = strand
        self.op = op
        self.children: list[Branch] = []


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
    redundant = False  # may executions end because everybody is asleep?

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[SearchNode] = []
        self.before: list[int] = []  # before[j]: mask of the events that happen before event j, and j itself
        self.ended: list[list[int]] = []  # ended[j]: the events that j races with
        self.forced: list[int] = []  # forced[j]: those of them that come before j whatever it races with
        self.by_strand: dict[int, list[int]] = {}
        self.by_object: dict[Any, list[int]] = {}  # the events on each object
        self.changes: dict[Any, list[int]] = {}  # those of them that do not only read
        self.fence: list[int] = []  # events that everything else is ordered with: time-outs
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
        """Whoever can go on would only repeat what was run from an equivalent place. Wakeup trees never lead there."""
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
        races: list[tuple[int, int]] = []
        known = len(self.before)
        for number in range(known, len(trace)):
            self._link(number, run, races)
        for earlier, later in (*self._older_races(known), *races):
            self._reverse(earlier, later, trace[later], self.forced[later])
        for earlier, later in races:
            self.ended[later].append(earlier)
        for number in range(known, len(trace)):
            if trace[number][1][0] == TIMEOUT:
                self._race_given_up(number, run)
        if not blocked or self.redundant:
            for strand, op in run.unfinished:
                self._race_pending(strand.index, op, self._own_past(strand.index, run.spawned))
            for strand, op in run.untaken:  # whatever came after the choice has nothing to do with it
                made = run.spawned[strand.index]
                self._race_pending(strand.index, op, self.before[made] if made >= 0 else 0)

    def read(self, run: ExecutionSeen) -> None:
        """An execution that somebody else chose: what came before what in it. What it would plan leads nowhere."""
        self.nodes = [SearchNode({}, []) for _ in run.trace]
        self.end(run)

    def progress(self) -> float:
        """The share of the tree that is done, as if all branches of a node were of one size."""
        done, weight = 0.0, 1.0
        for node in self.nodes:
            total = node.done + len(node.tree)
            if total:
                weight /= total
                done += weight * node.done
        return done

    def _older_races(self, known: int) -> list[tuple[int, int]]:
        """Races between events that are not new, of which new events do not all happen after the earlier one: what is
        independent of it belongs to the reversal, and that has changed."""
        common = -1
        for number in range(known, len(self.before)):
            common &= self.before[number]
        return [
            (earlier, later) for later in range(known) for earlier in self.ended[later] if not (common >> earlier) & 1
        ]

    # ------------------------------------------------------------------ walking the tree

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
            sleep = {q: step for q, step in sleep.items() if q != strand and not dependent(step, op)}
        return SearchNode(sleep, parent.tree[0].children if parent.tree else [])

    def _backtrack(self) -> bool:
        """Forget the events that are fully explored, and plan the next branch. False when none is left."""
        nodes = self.nodes
        while nodes:
            depth = len(nodes) - 1
            node = nodes[depth]
            if node.tree:
                finished = node.tree.pop(0)
                node.done += 1
                if depth < len(self.before):
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
            self.ended.pop()
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
        return performed(self.trace[number][1], self.guards[number])

    def _own_past(self, strand: int, spawned: dict[int, int]) -> int:
        """The events that happen before the next step of a strand whatever it does: its own, its creator's."""
        own = self.by_strand.get(strand)
        if own:
            return self.before[own[-1]]
        made = spawned[strand]
        return self.before[made] if made >= 0 else 0

    def _past(self, strand: int, spawned: dict[int, int]) -> int:
        """The same, and what everything is ordered with. A strand that could not go on when another's time ran out is
        ordered so, too; but that it could not was decided by what came before its own past: that it races with."""
        past = self._own_past(strand, spawned)
        if self.fence:
            past |= (2 << self.fence[-1]) - 1
        return past

    def _link(self, number: int, run: ExecutionSeen, races: list[tuple[int, int]]) -> None:
        """Place a new event in the happens-before order and note the races it ends."""
        strand, op = self.trace[number]
        kind, name, key = op
        own = self._own_past(strand, run.spawned)
        forced = past = self._past(strand, run.spawned)
        if kind == TIMEOUT:
            self.fence.append(number)
            forced = past = (1 << number) - 1
            if name is not None:
                self._register(kind, name, number)
        elif kind == MULTI:
            for part in key:
                past |= self._conflicts(number, strand, part, own if part[0] in ENABLED_BY else past, races)
            for part in key:  # not before: the parts of one event are not in order
                self._register(part[0], part[1], number)
        elif kind == SPIN:
            if not self.guards[number] & FAILED:  # else it went on because its time was over
                past |= self.before[self.guards[number]]
        elif name is not None:
            if kind == WAIT and name in run.indexes:  # for a strand: all of it happens before
                joined = self.by_strand.get(run.indexes[name])
                if joined:
                    past |= self.before[joined[-1]]
                    own |= self.before[joined[-1]]
                    forced = past
            if kind in ENABLED_BY:
                forced = own
                past |= self._conflicts(number, strand, op, own, races)
                cause = cause_of(self.guards[number]) if kind == GET else -1
                if cause >= 0:
                    self.conflicts += self.trace[cause][0] != strand
                    past |= self.before[cause]
            else:
                past = self._conflicts(number, strand, op, past, races)
            self._register(kind, name, number)
        self.before.append(past | (1 << number))
        self.forced.append(forced)
        self.ended.append([])
        self.by_strand.setdefault(strand, []).append(number)

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
        reads = READS[kind] or bool(kind in TAKING and number < len(guards) and guards[number] & FAILED)
        covered = past  # what is ordered before this operation without the race in question
        for event in reversed(events):
            if event >= number:
                continue
            other, (other_kind, _, other_key) = trace[event]
            guard = guards[event]
            if other_kind == MULTI:
                part = _part(trace[event][1], name, bool(reads), key)
                if part is None:
                    continue
                other_kind, other_key, place = part
                guard >>= place * GUARD_WIDTH
            other_reads = READS[other_kind] or (other_kind in TAKING and guards[event] & FAILED)
            if reads and other_reads:
                continue
            if key is not None and other_key is not None and key != other_key and other_kind != TIMEOUT:
                continue
            passed_over = False
            if other != strand and not (covered >> event) & 1:
                self.conflicts += other_kind != FINISH
                if other_kind != TIMEOUT and reversible(guard, kind):
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

    def _race_pending(self, strand: int, op: Operation, past: int, number: int | None = None) -> None:
        """Races that an operation would end which was never performed: the strand is stuck, or was not waited for, or
        its time ran out at the event `number`."""
        races: list[tuple[int, int]] = []
        if number is None:
            number = len(self.trace)
        forced = past
        if op[0] == SPIN:
            return
        for part in op[2] if op[0] == MULTI else (op,):
            if part[1] is not None:
                past = self._conflicts(number, strand, part, past, races)
        for earlier, _ in races:
            self._reverse(earlier, number, (strand, op), forced)

    def _race_given_up(self, number: int, run: ExecutionSeen) -> None:
        """Races of an operation that its strand waited for in vain: what came before kept it from going on."""
        strand, (_, name, kind) = self.trace[number]
        if name is not None and kind in ENABLED_BY:
            place = self.by_strand[strand].index(number)
            made = self.by_strand[strand][place - 1] if place else run.spawned[strand]
            self._race_pending(strand, (kind, name, None), self.before[made] if made >= 0 else 0, number)

    def _reverse(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> None:
        """See to it that the race is also run the other way round."""
        sequence = self._reversal(earlier, later, event, forced)
        node = self.nodes[earlier]
        for sleeper, op in node.sleep.items():
            if weak_initial(sleeper, op, sequence) is not None:
                return
        _insert(node.tree, sequence, node.tree[0] if node.tree else None)
        self.reversed.add((self.trace[earlier][1], event[1]))

    def _reversal(self, earlier: int, later: int, event: tuple[int, Operation], forced: int) -> list[Step]:
        """How the race goes the other way round, after the events before `earlier`: those of the whole execution that
        do not depend on it, then the later event. That one no longer comes after what only the earlier event put before
        it. Without what comes after the later event more would seem to be covered by who is asleep than is."""
        strand, op = event
        before, trace = self.before, self.trace
        sequence: list[Step] = []  # the paper's v = notdep(e, E).e'
        for number in range(earlier + 1, len(trace)):
            if number != later and not (before[number] >> earlier) & 1:
                seen = self._seen(number)
                sequence.append((trace[number][0], seen, before[number], number))
                if number < later and dependent(seen, op):
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


def weak_initial(strand: int, op: Operation, sequence: list[Step]) -> int | None:
    """Can the strand's next step come first in the sequence? Its place there, or -1 when it is independent of
    all of it; None when it cannot."""
    mask = 0
    for place, (other, _, before, number) in enumerate(sequence):
        if other == strand:
            return None if before & mask else place
        mask |= 1 << number
    for _, other_op, _, _ in sequence:
        if dependent(op, other_op):
            return None
    return -1


def _insert(tree: list[Branch], sequence: list[Step], running: Branch | None) -> None:
    """Add a sequence to a wakeup tree, unless a branch of it already leads to an equivalent execution."""
    while True:
        for branch in tree:
            if branch is running:
                continue
            place = weak_initial(branch.strand, branch.op, sequence)
            if place is not None:
                if not branch.children:
                    return
                if place >= 0:
                    del sequence[place]  # it is nobody else's, and may be long
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
