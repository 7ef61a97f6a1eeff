"""What a campaign has found: witnesses become faults or warnings, each effect of a pair of methods once.

A witness is made small and its schedule run again before it counts. What a maintainer would reject is a warning: the
results of a call that is many locked steps on purpose, an entry that a class forgets by design, a refusal (`Full`,
`Empty`, a timeout) after which the object is as if the refused call had not been made.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from treadle.classes import choosing
from treadle.classes.choosing import Candidates
from treadle.classes.compared import as_compared
from treadle.classes.interleavings import Effect, Explored, InterleavingExplorer, Witness
from treadle.classes.linearizability import Outcome, returned
from treadle.classes.minimise import minimise
from treadle.classes.races import grouped
from treadle.classes.result import ClassResult, Fault, what_happened
from treadle.classes.stage import Stage
from treadle.doors.class_.confirm import confirm

_T = TypeVar("_T")

# Exceptions that tell the caller to come back later.
_REFUSAL = re.compile(r"^(Queue)?(Full|Empty)$|^(.*Timeout(Error|Expired|Exception)?|WouldBlock|BlockingIOError|Busy)$")
# What a call says that does not do what it is asked for.
_NO = (returned(as_compared(False)), returned(None))
# Seconds of work for making the first effect of a pair small, and each further one.
_MINIMISE, _MINIMISE_MORE = 4.0, 1.5
# Races in one report: more are mostly the same mistake again.
_MOST_FAULTS = 20
# Effects of one race: a person has long understood it.
_MOST_EFFECTS = 12


class Findings:
    """Collects the faults and warnings of one campaign in its result."""

    def __init__(
        self,
        stage: Stage,
        explorer: InterleavingExplorer,
        result: ClassResult,
        ways: Callable[[], list[Candidates]],
        may_work: Callable[[float], Callable[[], bool]],
        found: Callable[[], None],
    ) -> None:
        self.stage, self.explorer, self.result = stage, explorer, result
        self.ways = ways  # how the object is made and looked at, as far as is known
        self.may_work = may_work  # for so many seconds, even beyond the budget
        self.found = found  # is called with every fault
        self.began = time.perf_counter()
        self.known: set[tuple[frozenset[str], Effect]] = set()
        self.evicts: bool | None = None  # does the class drop entries to make room? Asked when it matters

    @property
    def full(self) -> bool:
        """Have so many faults been found that more would not be read?"""
        return len(grouped(self.result.faults)) >= _MOST_FAULTS

    def take(self, explored: Explored, test: int) -> bool:
        """Report what is new among the violations of a test, the gravest first. True when one of them is a fault."""
        fault_found = False
        methods = frozenset(call.method for calls in explored.test.threads for call in calls)
        for witness in sorted(explored.witnesses, key=lambda one: one.violation.gravity):
            key = (methods, witness.effect)
            if key in self.known:
                fault_found = fault_found or witness.violation.is_fault
            elif witness.violation.is_fault:
                fault_found = self._take_fault(witness, test, not fault_found) or fault_found
                self.known.add(key)
            else:
                self.known.add(key)
                self._warn(confirm(self.stage, self.explorer, witness) or _untold(witness))
        return fault_found

    def _take_fault(self, witness: Witness, test: int, first: bool) -> bool:
        when = time.perf_counter() - self.began
        in_order = self._in_order(witness)
        patience = self.may_work(_MINIMISE if first else _MINIMISE_MORE)
        fault = confirm(self.stage, self.explorer, minimise(self.explorer, witness, patience))
        if fault is None:
            note = f"{witness.test}: {witness.violation.kind}, but the same schedule did not show it again"
            self.result.notes += [note] if note not in self.result.notes else []
            return False
        excuse = self._excuse(fault, in_order)
        if excuse:
            fault.what += f"; {excuse}"
            self._warn(fault)
            return False
        fault.found_after, fault.found_in_test = when, test
        home = next((group for group in grouped(self.result.faults) if any(fault.race & o.race for o in group)), [])
        if len(home) < _MOST_EFFECTS and not any(fault.message == other.message for other in home):
            self.result.faults.append(fault)
            self.found()
        return True

    def _warn(self, fault: Fault) -> None:
        fault.kind = "serializability"
        self.result.warnings.append(fault)

    # ------------------------------------------------------------------ what a maintainer would reject

    def _excuse(self, fault: Fault, in_order: bool) -> str:
        """Why it is only a warning; empty for a fault."""
        if in_order and self._only_composite(fault):
            why = "one call walks through what the other changes" if fault.weak else "every step is locked"
            return f"{why}, the whole is not atomic"
        if self._only_forgets(fault):
            return "it is a class that forgets entries by design"
        if self._only_refuses(fault):
            return "the call is refused, and the object is as if it had not been made"
        return ""

    def _in_order(self, witness: Witness) -> bool:
        """Does the object, asked in every way there is, say what it says after some order of the calls? Those that were
        turned down (a `try_run` that says False, because it runs) may be left out."""
        orders = list(witness.orders)
        if any(map(any, turned_down := _turned_down(witness))):
            test = witness.test
            orders += self.explorer.orders(test.but(threads=_without(test.threads, turned_down))) or []
        seen = witness.outcome.observed, witness.outcome.fields
        return any((order.observed, order.fields) == seen for order in orders if not order.ending)

    def _only_composite(self, fault: Fault) -> bool:
        """Results that no order gives, while the object is as it should be, of a call that takes its lock several times
        on purpose (as one that runs callbacks does) or that only walks through a container (as `items` does)."""
        if fault.kind != "linearizability" or fault.witness.violation.where[0] != "result":
            return False
        return not fault.racy or fault.weak

    def _only_forgets(self, fault: Fault) -> bool:
        """An entry that neither call is about is gone, in a class that drops entries to make room: which one it drops
        is its own choice."""
        test, (kind, number, _) = fault.witness.test, fault.witness.violation.where
        if fault.kind != "linearizability" or kind != "observed" or not test.omega[number].arguments:
            return False
        asked = {str(argument.value) for argument in test.omega[number].arguments}
        given = {str(a.value) for calls in test.threads for call in calls for a in call.arguments}
        if asked & given or not choosing.absent(fault.witness.outcome.observed[number]):
            return False
        if self.evicts is None:
            self.evicts = any(choosing.evicts(self.stage, candidates) for candidates in self.ways())
        return self.evicts

    def _only_refuses(self, fault: Fault) -> bool:
        """Calls that were refused: is the rest what some order of the other calls gives?"""
        test, outcome = fault.witness.test, fault.witness.outcome
        refused = [
            [happened[0] == "raised" and bool(_REFUSAL.match(happened[1])) for happened in calls]
            for calls in outcome.threads
        ]
        if fault.kind not in ("exception", "linearizability") or not any(map(any, refused)):
            return False
        others = self.explorer.orders(test.but(threads=_without(test.threads, refused))) or []
        rest = _without(outcome.threads, refused)
        return any(_left(order) == (rest, *_left(outcome)[1:]) for order in others if not order.ending)


def _without(threads: tuple[tuple[_T, ...], ...], refused: list[list[bool]]) -> tuple[tuple[_T, ...], ...]:
    return tuple(
        tuple(one for one, is_refused in zip(calls, flags, strict=True) if not is_refused)
        for calls, flags in zip(threads, refused, strict=True)
    )


def _turned_down(witness: Witness) -> list[list[bool]]:
    """Calls that say no, and something else in some order of the calls: what they were asked for was not done."""
    ended = [order for order in witness.orders if not order.ending]
    found = []
    for thread, calls in enumerate(witness.outcome.threads):
        elsewhere = [[order.threads[thread][number] for order in ended] for number in range(len(calls))]
        found.append(
            [
                happened in _NO and any(other[0] == "returned" and other != happened for other in others)
                for happened, others in zip(calls, elsewhere, strict=True)
            ]
        )
    return found


def _left(outcome: Outcome) -> tuple[object, ...]:
    return outcome.threads, outcome.observed, outcome.fields, outcome.state


def _untold(witness: Witness) -> Fault:
    """A warning whose schedule did not show it again: its own test has the last word."""
    methods = sorted({call.method for calls in witness.test.threads for call in calls})
    return Fault(
        "serializability", what_happened(witness), methods, [], witness, race=frozenset({" || ".join(methods)})
    )
