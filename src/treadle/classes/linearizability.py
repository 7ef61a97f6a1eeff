"""Does some order of the calls, one after the other, explain what a concurrent execution did?

An `Outcome` is everything a user of the object can see of one execution: what each call returned or raised, what the
object's own methods say afterwards, whether later calls fail, how it ended. It is explained when an execution in which
whole calls follow each other (program order kept, every order tried) has the same outcome. Exceptions count by their
type; results by structure, and by which of them are one object. A difference that only the object's inner state shows
is a warning, not a fault.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import treadle.core
from treadle.core.words import without_addresses

# what a call did: ("returned", value), ("raised", type name, text, where), ("pending",)
Happened = tuple[Any, ...]

PENDING: Happened = ("pending",)
DEADLOCK, LIVELOCK, LIMIT = "deadlock", "livelock", "limit"
_TREADLE = str(Path(treadle.core.__file__).parents[1])


def returned(value: Hashable) -> Happened:
    return ("returned", value)


def raised(error: BaseException) -> Happened:
    text = without_addresses(str(error))  # an address is another one in every process
    return ("raised", type(error).__name__, text.splitlines()[0][:120] if text else "", _line_of(error))


def _line_of(error: BaseException) -> str:
    """Where it was raised, as a person says it; code of Treadle around it does not count."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    places = [(f.f_code.co_filename, f.f_lineno) for f in frames if not f.f_code.co_filename.startswith(_TREADLE)]
    return "" if not places else f"{PurePath(places[-1][0]).name}:{places[-1][1]}"


def _type(happened: Happened) -> Happened:
    """Exceptions of one type are alike."""
    return happened[:2]


@dataclass
class Outcome:
    """What a user of the object can see of one execution."""

    threads: tuple[tuple[Happened, ...], ...]
    observed: tuple[Happened, ...] = ()
    later: tuple[Happened, ...] = ()
    fields: tuple[tuple[str, Hashable], ...] = ()
    same: tuple[int, ...] = ()  # which of the results and answers, in their order, are one object
    tallies: tuple[tuple[str, Any], ...] = ()  # attributes that only count
    invariant: Happened | None = None
    state: Hashable = None
    ending: str = ""
    background: bool = False  # does the object have threads of its own?
    offline: bool = False  # has a call met a network that is not there?
    late: bool = False  # did it get stuck only when somebody looked at the object afterwards?
    looking: Hashable = None  # by which call
    crashed: tuple[str, ...] = ()  # exceptions in threads of the class's own
    texts: dict[tuple[str, int, int], str] = field(default_factory=dict)  # values as a person reads them
    values: dict[tuple[str, int, int], Any] = field(default_factory=dict)  # as source, None where they have none
    told: dict[tuple[str, int, int], str] = field(default_factory=dict)  # as a test compares those without a source

    def results(self) -> Hashable:
        return tuple(tuple(map(_type, calls)) for calls in self.threads), self.same[: sum(map(len, self.threads))]

    def visible(self) -> Hashable:
        return self.results(), tuple(map(_type, self.observed)), self.fields, self.same


# A number of so many digits, a text of so many letters does not come twice by chance.
_LONG = 8

# Where a violation shows by nobody waiting.
WAITS = ("waits", 0, 0)

_GRAVITY = {"deadlock": 0, "livelock": 0, "exception": 0, "invariant": 0, "broken state": 0, "serializability": 3}


@dataclass(frozen=True)
class Violation:
    """Why no order of the calls explains an outcome."""

    kind: str  # deadlock, livelock, exception, invariant, linearizability, broken state; or serializability: a warning
    message: str
    where: tuple[str, int, int] = ("", 0, 0)  # ("result", thread, call), ("observed", number, 0), ("later", number, 0)
    place: str = ""  # the line that raises
    error: str = ""  # the type of what is raised

    @property
    def is_fault(self) -> bool:
        return self.kind != "serializability"

    @property
    def gravity(self) -> int:
        """Small is grave: what cannot be argued about comes first."""
        if self.kind == "linearizability" and self.where[0] == "result":
            return 2
        return _GRAVITY.get(self.kind, 1)


Check = Callable[[Outcome, Sequence[Outcome]], Violation | None]


def judge(outcome: Outcome, orders: Sequence[Outcome], *, values: bool = True) -> Violation | None:
    """The gravest violation of one outcome against those of all orders of the calls; None when it is explained.

    `values=False` leaves results and states out: something besides the schedule decides them. That two calls get one
    value shows all the same. So it is where a call would have used the network: what that had given, nobody knows.
    """
    values = values and not outcome.offline and not any(order.offline for order in orders)
    if outcome.ending == LIMIT or not orders:
        return None
    if not all_ended(orders):  # what such an order would have come to, nobody knows
        return _stuck(outcome, orders) or _exceptions(outcome, orders)
    compared: tuple[Check, ...] = (_waits, _results, _fields, _observed) if values else (_repeated,)
    for check in (_stuck, _exceptions, _crashes, _invariant, *compared):
        found = check(outcome, orders)
        if found is not None:
            return found
    found = _later(outcome, orders)
    if found is not None or not values:
        return found
    alike = [o for o in orders if outcome.visible() == o.visible() and outcome.state == o.state]
    if not alike:
        return Violation("serializability", "the object's inner state is one that no order of the calls leaves")
    return _tallies(outcome, alike)


def all_ended(orders: Sequence[Outcome]) -> bool:
    """Did every order of the calls come to an end, whichever, within the operations that an execution may have?"""
    return all(order.ending != LIMIT for order in orders)


def _stuck(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    if outcome.ending not in (DEADLOCK, LIVELOCK):
        return None
    shape = [[happened == PENDING for happened in calls] for calls in outcome.threads]
    for other in orders:
        if other.ending in (DEADLOCK, LIVELOCK, LIMIT):
            if outcome.late and other.late:
                return None
            if [[happened == PENDING for happened in calls] for calls in other.threads] == shape:
                return None
    if outcome.late and all(other.ending for other in orders):
        return None  # there is no order after which a later call could have been made
    if outcome.late:
        return Violation("broken state", "a later call never returns, which it does after every order of the calls")
    what = "the calls wait for each other for ever" if outcome.ending == DEADLOCK else "the calls go round for ever"
    return Violation(outcome.ending, f"{what}, which no order of them does")


def _exceptions(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    for thread, calls in enumerate(outcome.threads):
        for number, happened in enumerate(calls):
            if happened[0] != "raised":
                continue
            known = {_type(other.threads[thread][number]) for other in orders if number < len(other.threads[thread])}
            open_ended = any(
                o.ending == LIMIT and o.threads[thread][number : number + 1] in ((), (PENDING,)) for o in orders
            )
            if _type(happened) not in known and not open_ended:
                text = f"{happened[1]}: {happened[2]}" if happened[2] else happened[1]
                return Violation("exception", text, ("result", thread, number), happened[3], happened[1])
    return None


def _crashes(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    for name in outcome.crashed:
        if not any(name in other.crashed for other in orders):
            return Violation("exception", f"{name} in a thread that the class started", error=name)
    return None


def _invariant(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    if outcome.invariant is None or outcome.invariant == returned(True):
        return None
    if any(other.invariant == outcome.invariant for other in orders):
        return None
    said = "is false" if outcome.invariant[0] == "returned" else f"raises {outcome.invariant[1]}"
    return Violation("invariant", f"the class's own invariant {said} afterwards")


def _waits(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    """All calls come back, and in every order of them one waits for ever: two that got hold of one lock."""
    came_back = not outcome.ending or outcome.late
    if not came_back or not all(other.ending in (DEADLOCK, LIVELOCK) and not other.late for other in orders):
        return None
    return Violation("linearizability", "all calls return, and in every order of them one waits for ever", WAITS)


def _results(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    complete = [other for other in orders if other.ending == ""]
    if outcome.ending or not complete or any(other.results() == outcome.results() for other in complete):
        return None
    return Violation("linearizability", "no order of the calls gives these results", ("result", 0, 0))


def _repeated(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    """Two calls get a value that is nobody else's by its nature, such as a random number, and it is one."""
    for one, other in itertools.combinations(range(len(outcome.threads)), 2):
        for first, second in itertools.product(range(len(outcome.threads[one])), range(len(outcome.threads[other]))):
            places = (one, first), (other, second)
            if _is_one_of_many(outcome, *places) and not any(_is_one_of_many(order, *places) for order in orders):
                return Violation("linearizability", "no order of the calls gives one value twice", ("result", 0, 0))
    return None


def _is_one_of_many(outcome: Outcome, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Is the same returned in two places, of a kind of which there are so many that this is no chance?"""
    if any(place >= len(outcome.threads[thread]) for thread, place in (one, other)):
        return False
    happened = outcome.threads[one[0]][one[1]]
    if happened[0] != "returned" or happened != outcome.threads[other[0]][other[1]]:
        return False
    value = happened[1]
    if isinstance(value, tuple):
        return value[0] == "float" and len(value[1]) > _LONG
    return abs(value) > 10**_LONG if isinstance(value, int) else isinstance(value, str | bytes) and len(value) > _LONG


def _observed(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    alike = [other for other in orders if other.results() == outcome.results() and not other.ending]
    if outcome.ending or not alike:
        return None
    seen = tuple(map(_type, outcome.observed))
    if any(other.visible() == outcome.visible() for other in alike):
        return None
    others = [tuple(map(_type, other.observed)) for other in alike]
    number = next((n for n, one in enumerate(seen) if all(one != other[n] for other in others)), 0)
    return Violation("linearizability", "no order of the calls leaves the object like this", ("observed", number, 0))


def _fields(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    alike = [other for other in orders if other.results() == outcome.results() and not other.ending]
    if outcome.ending or not alike or any(other.fields == outcome.fields for other in alike):
        return None
    number = next((n for n, field in enumerate(outcome.fields) if all(field != other.fields[n] for other in alike)), 0)
    return Violation("linearizability", "no order of the calls leaves the object like this", ("field", number, 0))


def _tallies(outcome: Outcome, alike: Sequence[Outcome]) -> Violation | None:
    """Statistics that nobody but a person reads: a lost count is worth a warning."""
    for number, (name, value) in enumerate(outcome.tallies):
        if all(other.tallies[number][1] != value for other in alike):
            return Violation("serializability", f"no order of the calls leaves {name} == {value}", ("tally", number, 0))
    return None


def _later(outcome: Outcome, orders: Sequence[Outcome]) -> Violation | None:
    """A later call fails although it fails after no order of the calls."""
    alike = [other for other in orders if not other.ending]
    for kind in ("later", "observed"):
        for number, happened in enumerate(getattr(outcome, kind)):
            if happened[0] != "raised" or not alike:
                continue
            if all(_type(getattr(other, kind)[number]) != _type(happened) for other in alike):
                text = f"{happened[1]}: {happened[2]}" if happened[2] else happened[1]
                return Violation("broken state", text, (kind, number, 0), error=happened[1])
    return None
