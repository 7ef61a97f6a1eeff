"""Bounds on a systematic search: at most so many preemptions (Musuvathi, Qadeer 2007) or delays (Emmi et al. 2011).

Dropping branches of an optimal search that exceed a bound loses schedules that do not (Coons et al. 2013). So a bounded
search enumerates schedules depth first, spends the bound where the definition says, and leaves out a prefix only when
an equivalent one was run before with the same strand in charge and no more of the bound spent. Equivalence is that of
Mazurkiewicz traces: each event has a hash of its strand, its operation and the events it depends on, and a prefix is
the sum of its events. The strategy `dfs` keeps equivalent prefixes apart; `dpor` does not.

The delay bound follows the round-robin scheduler of the paper: a delay sends the strand whose turn it is to the back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.core.dependency import READS, TAKING
from treadle.core.operation import FAILED, GET, SPIN, TIMEOUT, WAIT, Operation, cause_of, parts
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy

_MASK = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15  # odd and without pattern: a sum of products keeps different pasts apart


class _Choice:
    """One point of the current schedule: what is left to try there, and what has been spent before it."""

    __slots__ = ("left", "spent", "total")

    def __init__(self, left: list[tuple[int, int]], spent: int) -> None:
        self.left = left  # (strand, what choosing it costs), the one being run first
        self.spent = spent
        self.total = len(left)


class Bounded(Strategy):
    """Every schedule within the bounds, once per trace when asked to reduce."""

    def __init__(self, kind: str, preemptions: int | None = None, delays: int | None = None) -> None:
        super().__init__()
        self.name = f"{kind}, bounded"
        self.reduce = kind != "dfs"
        self.limit = preemptions if preemptions is not None else (delays or 0)
        self.by_delay = preemptions is None
        self.bounds = {"delays" if self.by_delay else "preemptions": self.limit}
        self.choices: list[_Choice] = []
        self.hash = TraceHash()
        self.visited: dict[tuple[int, int], int] = {}  # (prefix, strand in charge) -> least spent there
        self.started = False
        self.looked_at = 0  # the depth whose prefix was last looked up

    # ------------------------------------------------------------------ the strategy's three methods

    def begin(self) -> bool:
        if self.started:
            while self.choices:
                self.choices[-1].left.pop(0)
                if self.choices[-1].left:
                    break
                self.choices.pop()
            if not self.choices:
                self.exhausted = True
                return False
            depth = len(self.choices) - 1
            self.hash.cut(depth, self.trace)
            self.trace = self.trace[:depth]
            self.guards = self.guards[:depth]
            self.plan = [strand for strand, _ in self.trace]
        self.started = True
        self.looked_at = 0
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        depth = len(run.trace)
        if depth < len(self.choices):
            return run.by_index[self.choices[depth].left[0][0]]
        spent = self._spent(depth)
        last = run.trace[-1][0] if run.trace else -1
        self.looked_at = depth
        if self.reduce and run.trace and not self._is_new(run, last, spent):
            run.stop_reason = "blocked"
            return None
        enabled = run.enabled()
        if not enabled:
            self.choices.append(_Choice([(-1, 0)], spent))
            return None
        options = self._options(enabled, last, spent)
        self.choices.append(_Choice(options, spent))
        return run.by_index[options[0][0]]

    def end(self, run: ExecutionSeen) -> None:
        self.trace, self.guards = run.trace, run.guards
        depth = len(run.trace)
        if self.reduce and depth > self.looked_at and not self._is_new(run, run.trace[-1][0], self._spent(depth)):
            run.stop_reason = "blocked"
        self.blocked += run.stop_reason == "blocked"
        del self.choices[len(self.trace) :]

    def progress(self) -> float:
        done, weight = 0.0, 1.0
        for choice in self.choices:
            weight /= choice.total
            done += weight * (choice.total - len(choice.left))
        return done

    # ------------------------------------------------------------------ what a choice costs

    def _spent(self, depth: int) -> int:
        if depth == 0:
            return 0
        before = self.choices[depth - 1]
        return before.spent + before.left[0][1]

    def _options(self, enabled: Sequence[StrandSeen], last: int, spent: int) -> list[tuple[int, int]]:
        """The strands that may be chosen within the bound, cheapest first."""
        indexes = [strand.index for strand in enabled]
        if self.by_delay:
            turn = self._round_robin(indexes, last)
            costs = [(strand, delay) for delay, strand in enumerate(turn)]
        elif last in indexes:
            costs = [(last, 0)] + [(strand, 1) for strand in indexes if strand != last]
        else:
            costs = [(strand, 0) for strand in indexes]
        allowed = [(strand, cost) for strand, cost in costs if spent + cost <= self.limit]
        if len(allowed) < len(costs):
            self.bounded = True
        return allowed

    @staticmethod
    def _round_robin(indexes: list[int], last: int) -> list[int]:
        """In the order of their turns: the strand that ran goes on, then those after it, then those before it."""
        return sorted(indexes, key=lambda strand: (strand < last, strand))

    # ------------------------------------------------------------------ equivalent prefixes

    def _is_new(self, run: ExecutionSeen, last: int, spent: int) -> bool:
        """Was no equivalent prefix run before with this strand in charge and as much of the bound left?"""
        key = (self.hash.upto(run), last)
        before = self.visited.get(key)
        if before is not None and before <= spent:
            return False
        if before is None or spent < before:
            self.visited[key] = spent
        return True


class TraceHash:
    """Hashes of the prefixes of an execution: the same number for equivalent ones.

    Each event is hashed with those it depends on; a prefix is the sum of its events, so their order does not matter.
    Grows and shrinks at its end, as a depth-first search does.
    """

    def __init__(self) -> None:
        self.sums = [0]  # sums[n]: the first n events
        self.hashes: list[int] = []
        self.last_of: dict[int, list[int]] = {}
        self.objects: dict[Any, list[tuple[int, bool, Any]]] = {}  # name -> (event, only reads, key)
        self.fences = [0]

    def cut(self, depth: int, trace: list[tuple[int, Operation]]) -> None:
        """Forget all but the first `depth` events of the trace."""
        for number in range(len(self.hashes) - 1, depth - 1, -1):
            strand, op = trace[number]
            self.hashes.pop()
            self.sums.pop()
            self.last_of[strand].pop()
            for _, name, _ in parts(op):
                if name is not None:
                    self.objects[name].pop()
            if op[0] == TIMEOUT:
                self.fences.pop()

    def upto(self, run: ExecutionSeen) -> int:
        """The hash of the trace of an execution, of which a prefix may be known already."""
        for number in range(len(self.hashes), len(run.trace)):
            self._push(number, run)
        return self.sums[-1]

    def _push(self, number: int, run: ExecutionSeen) -> None:
        strand, op = run.trace[number]
        guards = run.guards[number]
        kind, name, key = op
        own = self.last_of.setdefault(strand, [])
        made = own[-1] if own else run.spawned.get(strand, -1)
        past = self.hashes[made] if made >= 0 else 0
        if kind == WAIT and name in run.indexes:
            joined = self.last_of.get(run.indexes[name])
            past = (past + self.hashes[joined[-1]] * _SPREAD) & _MASK if joined else past
        accesses: list[tuple[Any, bool, Any]] = []
        for part_kind, part_name, part_key in parts(op):
            if part_name is None:
                continue
            reads = READS[part_kind] or bool(part_kind in TAKING and guards & FAILED)
            for other, other_reads, other_key in self.objects.get(part_name, ()):
                if not (reads and other_reads) and (part_key is None or other_key is None or part_key == other_key):
                    past = (past + self.hashes[other] * _SPREAD) & _MASK
            accesses.append((part_name, reads, part_key))
        for part_name, reads, part_key in accesses:  # not before: the parts of one event are not in order
            self.objects.setdefault(part_name, []).append((number, reads, part_key))
        if kind == TIMEOUT:
            self.fences.append(self.sums[-1])
        event = -1
        if kind == SPIN and not guards & FAILED:
            event = guards
        elif kind == GET:
            event = cause_of(guards)
        cause = self.hashes[event] if event >= 0 else 0
        value = _mixed(hash((strand, kind, name, key, past, self.fences[-1], cause)) & _MASK)
        own.append(number)
        self.hashes.append(value)
        self.sums.append((self.sums[-1] + value) & _MASK)


def _mixed(value: int) -> int:
    """The finaliser of splitmix64. Python's hash of a tuple is all but linear in its numbers, so that sums of it meet:
    strands 1 and 4 would often add up to what strands 2 and 3 do."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)
