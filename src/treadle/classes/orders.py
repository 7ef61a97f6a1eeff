"""All orders of the calls of a test, one after the other: what a concurrent execution is judged by.

Keeps: whatever a correct object may be seen to do when its calls do not overlap is among them.
"""

from __future__ import annotations

import random

from treadle.classes.stage import Stage
from treadle.core.operation import READ, WRITE
from treadle.search.strategy import ExecutionSeen, StrandSeen, Strategy
from treadle.threads.primitives.clock import CLOCK

# How often it is the turn of an object's own threads, where they go on at any moment.
_TURN_OF_BACKGROUND = 0.4
# Turns for which an object's own threads keep the other call waiting: what goes on for longer does not stop by itself.
_MOST_OF_OWN = 200


class CallOrders(Strategy):
    """All executions in which whole calls follow each other, program order kept.

    A thread gives way only between two calls, or when its call cannot go on: a call that waits for another one (`get`
    of a queue) is one that is still pending, and goes on as soon as it can. One that waits for a thread or task that
    the object has started is in the middle of its work. No other call begins meanwhile, unless it `may_begin`.
    Time that passes beside the calls is no call: it may pass before any look at a clock.
    """

    name = "orders"

    def __init__(self, stage: Stage, may_begin: bool = False) -> None:
        super().__init__()
        self.stage = stage
        self.may_begin = may_begin
        self.kept_waiting = False  # has a call been kept from beginning by one in the middle of its work?
        self.choices: list[int] = []
        self.totals: list[int] = []
        self.started = False

    def begin(self) -> bool:
        if self.started:
            while self.choices and self.choices[-1] + 1 >= self.totals[-1]:
                self.choices.pop()
                self.totals.pop()
            if not self.choices:
                self.exhausted = True
                return False
            self.choices[-1] += 1
        self.started = True
        self.position = 0
        self.current: str | None = None
        self.begun = -1
        self.pending: dict[str, int] = {}  # threads whose call could not go on, and how many they had begun
        self.caller: str | None = None  # the thread whose call waits for threads of the object's own
        self.caller_begun = -1
        self.of_own = 0  # how often it was their turn
        self.trace, self.guards = [], []
        return True

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        enabled = run.enabled()
        if not enabled:
            return None
        by_name = {strand.treadle_name: strand for strand in enabled}
        if self.stage.subject.in_tasks and "main" in by_name:
            return by_name["main"]  # callbacks of the event loop belong to whatever has just been done
        if not self.stage.together or len(enabled) == 1:
            return by_name.get("main") or enabled[0]
        time = by_name.get(self.stage.passing)
        if time is not None and time.pending[:2] != (WRITE, CLOCK):
            return time  # to its one step that matters, or to its end
        current = by_name.get(self.current or "")
        if current is None and self.current in self.stage.strand_names:
            self.pending[self.current] = self.begun
        if current is None and not self.may_begin:
            self._wait(by_name)
            current = by_name.get(self.current or "")
        if current is not None and self._calls_begun(self.current) == self.begun:
            may_pass = time is not None and current.pending[:2] == (READ, CLOCK)
            return time if may_pass and self._choose(2) else current
        candidates = [strand for strand in enabled if strand.treadle_name != "main"]
        if not candidates:
            return enabled[0]
        pending = [strand for strand in candidates if self._is_pending(strand.treadle_name)]
        if pending and not self.may_begin:
            self.kept_waiting = self.kept_waiting or len(pending) < len(candidates)
            candidates = pending
        chosen = candidates[self._choose(len(candidates))]
        self.current = chosen.treadle_name
        self.begun = self._calls_begun(self.current)
        return chosen

    def _wait(self, by_name: dict[str, StrandSeen]) -> None:
        """Where a call cannot go on, threads and tasks of the object's own that can do so, and then the call itself."""
        names = self.stage.strand_names
        if self.current in names and self._is_at_work(self.current):
            self.caller, self.caller_begun = self.current, self.begun
        if self.caller is None or not self._is_at_work(self.caller) or self.of_own >= _MOST_OF_OWN:
            return
        self.of_own += 1
        if self.caller in by_name:
            self.current, self.begun, self.caller = self.caller, self.caller_begun, None
            return
        own = [name for name in by_name if name not in ("main", *names)]
        if own:
            self.kept_waiting = True
            self.current, self.begun = own[self._choose(len(own))], -1

    def _is_pending(self, name: str) -> bool:
        """Is a thread in the middle of a call that could not go on?"""
        return name in self.pending and self.pending[name] == self._calls_begun(name)

    def _is_at_work(self, name: str) -> bool:
        number = self.stage.strand_names.index(name)
        return name != self.stage.passing and self.stage.called[number] > len(self.stage.results[number])

    def _calls_begun(self, name: str | None) -> int:
        """How many calls a thread has begun; other strands have no calls."""
        names = self.stage.strand_names
        return self.stage.calls_begun(names.index(name)) if name in names else -1

    def _choose(self, total: int) -> int:
        if total == 1:
            return 0
        if self.position == len(self.choices):
            self.choices.append(0)
            self.totals.append(total)
        choice = min(self.choices[self.position], total - 1)
        self.position += 1
        return choice


class Background(CallOrders):
    """An order of the calls by chance, in which threads of the object's own may go on at any moment."""

    name = "background"

    def __init__(self, stage: Stage, seed: int) -> None:
        super().__init__(stage)
        self.dice = random.Random(seed)

    def pick(self, run: ExecutionSeen) -> StrandSeen | None:
        own = [s for s in run.enabled() if s.treadle_name not in ("main", *self.stage.strand_names)]
        if self.stage.together and own and self.dice.random() < _TURN_OF_BACKGROUND:
            return self.dice.choice(own)
        return super().pick(run)

    def _choose(self, total: int) -> int:
        return self.dice.randrange(total)
