"""Bounds on a systematic search: at most so many preemptions (Musuvathi, Qadeer 2007) or delays (Emmi et al. 2011).

Dropping branches of an optimal search that exceed a bound loses schedules that do not (Coons et al. 2013). So a bounded
search enumerates schedules depth first, spends the bound where the definition says, and leaves out a prefix only when
an equivalent one was run before with the same strand in charge and no more of the bound spent. Equivalence is that of
Mazurkiewicz traces: each event has a hash of its strand, its operation and the events it depends on, and a prefix is
the sum of its events. The strategy `dfs` keeps equivalent prefixes apart; `dpor` does not.

The delay bound follows the round-robin scheduler of the paper: a delay sends the strand whose turn it is to the back.
"""

from __future__ import annotations

from typing import Any

from treadle.model.operation import FAILED, MULTI, SPIN, TIMEOUT, TRY, Operation
from treadle.search.dependency import READS
from treadle.search.strategy import Strategy

_MASK = (1 << 64) - 1


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
        self.bounds: dict[str, int] = {"delays" if self.by_delay else "preemptions": self.limit}
        if preemptions is not None and delays is not None:
            self.bounds = {"preemptions": preemptions, "delays": delays}
        self.second = delays if preemptions is not None else None
        self.choices: list[_Choice] = []
        self.visited: dict[tuple[int, int], int] = {}
        self.started = False
        self.conflicts = 0

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
            self.trace = self.trace[:depth]
            self.guards = self.guards[:depth]
            self.plan = [strand for strand, _ in self.trace]
        self.started = True
        return True

    def pick(self, run: Any) -> Any:
        depth = len(run.trace)
        if depth < len(self.choices):
            return run.by_index[self.choices[depth].left[0][0]]
        spent = self._spent(depth)
        last = run.trace[-1][0] if run.trace else -1
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

    def end(self, run: Any) -> None:
        self.trace, self.guards = run.trace, run.guards
        if run.stop_reason == "blocked":
            self.blocked += 1
        elif self.reduce and not self._is_new(run, run.trace[-1][0] if run.trace else -1, self._spent(len(run.trace))):
            run.stop_reason = "blocked"
            self.blocked += 1
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

    def _options(self, enabled: list[Any], last: int, spent: int) -> list[tuple[int, int]]:
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

    def _is_new(self, run: Any, last: int, spent: int) -> bool:
        """Was no equivalent prefix run before with this strand in charge and as much of the bound left?"""
        key = (self._fingerprint(run), last)
        before = self.visited.get(key)
        if before is not None and before <= spent and not self._on_path(run, key):
            return False
        if before is None or spent < before:
            self.visited[key] = spent
        return True

    def _on_path(self, run: Any, key: tuple[int, int]) -> bool:
        return False

    def _fingerprint(self, run: Any) -> int:
        return trace_hash(run.trace, run.guards, run.spawned)


def trace_hash(trace: list[tuple[int, Operation]], guards: list[int], spawned: dict[int, int]) -> int:
    """The same number for equivalent executions: each event with those it depends on, in any order."""
    hashes: list[int] = []
    last_of: dict[int, int] = {}
    objects: dict[Any, list[int]] = {}
    total = 0
    fence = 0
    for number, (strand, op) in enumerate(trace):
        kind, name, key = op
        if strand in last_of:
            past = hashes[last_of[strand]]
        else:
            made = spawned.get(strand, -1)
            past = hashes[made] if made >= 0 else 0
        combined = past
        for part in key if kind == MULTI else (op,):
            part_kind, part_name, part_key = part
            if part_name is None:
                continue
            reads = READS[part_kind] or (part_kind == TRY and guards[number] & FAILED)
            for event in objects.get(part_name, ()):
                for other_kind, other_name, other_key in _parts(trace[event][1]):
                    if other_name != part_name:
                        continue
                    if reads and (READS[other_kind] or (other_kind == TRY and guards[event] & FAILED)):
                        continue
                    if part_key is None or other_key is None or part_key == other_key:
                        combined = (combined + hashes[event] * 0x9E3779B97F4A7C15) & _MASK
            objects.setdefault(part_name, []).append(number)
        if kind == TIMEOUT:
            fence = total
        extra = guards[number] if kind == SPIN else 0
        value = hash((strand, kind, name, key, combined, fence, extra)) & _MASK
        hashes.append(value)
        last_of[strand] = number
        total = (total + value) & _MASK
    return total


def _parts(op: Operation) -> Any:
    return op[2] if op[0] == MULTI else (op,)
