"""The concurrent test assembler: a new sequence with every sequence of the repository, itself included (section 4.3).

An assembled test (beta || gamma) stands for the pairs of its calls: the explorer runs two calls concurrently from the
state that one of the two sequences had reached before its call, so that neither disturbs how the other got there
(section 4.4, the two candidate states). The paper drops a pair of method call traces that was tried before (theorem 2).
Here the kind of the results and whether the state changes count as well, and other arguments are tried later: which
values are written does matter in Python, where None has no methods.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from treadle.classes.calls import MethodCall
from treadle.classes.coverage import Trace
from treadle.classes.sequences import Automaton, Delta, Transition
from treadle.classes.serializability import Access, conflict, shared, unlocked

Effect: TypeAlias = tuple[Trace, str, bool]

# States that pairs are also tried from when everything else is done, the nearest first.
_MOST_STATES = 12
# What two threads that do the very same are put forward by: get-or-create, check-then-act, lost updates.
_ALIKE = 25
# Accesses of one call to what the other touches: more have more schedules than anybody can run.
MOST_SHARED = 400


def _kind(value: object) -> str:
    """What sort of result it is: None, true, false, or its type."""
    if value is None or isinstance(value, tuple):
        return repr(value[:2] if isinstance(value, tuple) and value[:1] == ("bool",) else value and value[0])
    return type(value).__name__


@dataclass(frozen=True)
class Assembled:
    """t = (beta || gamma)."""

    beta: Delta
    gamma: Delta


@dataclass
class Pair:
    """Two calls to run concurrently from a state."""

    one: MethodCall
    other: MethodCall
    state: Hashable
    alpha: tuple[MethodCall, ...]
    weight: float  # small is promising
    test: int = 1  # the assembled test it belongs to
    put_off: bool = False  # do its methods break together anyway, so that it waits behind others?
    passes: bool = False  # does time pass beside the calls?


@dataclass
class Assembler:
    """Keeps the repository L and assembles."""

    automaton: Automaton
    repository: list[Delta] = field(default_factory=list)
    seen: set[tuple[Effect, Effect]] = field(default_factory=set)
    tried: set[tuple[MethodCall, MethodCall, Hashable]] = field(default_factory=set)
    siblings: dict[str, list[MethodCall]] = field(default_factory=dict)  # the candidate calls of each method
    spare: deque[tuple[MethodCall, MethodCall, Hashable]] = field(
        default_factory=deque
    )  # traces tried before, other arguments
    assembled: int = 0
    too_long: set[tuple[str, str]] = field(default_factory=set)  # methods whose calls share too much to be run at once

    def assemble(self, beta: Delta) -> Iterator[Assembled]:
        """Add beta to L; every test that it makes with the sequences of L."""
        self.repository.append(beta)
        for gamma in reversed(self.repository):
            self.assembled += 1
            yield Assembled(beta, gamma)

    def pairs(self, test: Assembled, judged: frozenset[str]) -> list[Pair]:
        """The pairs of calls of a test that are new and touch something in common, the most promising first."""
        found: list[Pair] = []
        for i, one in enumerate(test.beta.calls):
            for j, other in enumerate(test.gamma.calls):
                if one.method not in judged or other.method not in judged:
                    continue
                for state in dict.fromkeys((test.beta.states[i], test.gamma.states[j])):
                    pair = self._new_pair(one, other, state)
                    if pair is not None:
                        found.append(pair)
                        self.spare += [(*variant, state) for variant in self._variants(one, other)]
        found.sort(key=lambda pair: pair.weight)
        return found

    def fresh(self, judged: frozenset[str]) -> list[Pair]:
        """Pairs of calls on a fresh object: no way is shorter; and each call twice after itself: what the first of its
        kind sets up, others use."""
        calls = [call for name in sorted(judged) for call in self.siblings.get(name, ())]
        initial = self.automaton.initial
        start = Delta(states=(initial,))
        wanted = [(*pair, initial) for pair in itertools.combinations_with_replacement(calls, 2)]
        wanted += [(call, call, self.automaton.step(start, call).state) for call in calls]
        found: list[Pair] = []
        for one, other, state in wanted:
            pair = self._new_pair(one, other, state)
            if pair is not None:
                found.append(pair)
                self.spare += [(*variant, state) for variant in self._variants(one, other)]
        return found

    def elsewhere(self, judged: frozenset[str]) -> Iterator[Pair]:
        """Pairs that do something new in a state that no sequence of the repository runs them from."""
        calls = [call for name in sorted(judged) for call in self.siblings.get(name, ())]
        ways = sorted(self.automaton.shortest.items(), key=lambda item: len(item[1]))
        for state, _ in ways[:_MOST_STATES]:
            for number, one in enumerate(calls):
                for other in calls[number:]:
                    pair = self._new_pair(one, other, state)
                    if pair is not None:
                        yield pair

    def at(self, one: MethodCall, other: MethodCall, state: Hashable) -> Pair | None:
        """Two calls from a state, if their effects together were not tried before."""
        return self._new_pair(one, other, state)

    def _new_pair(self, one: MethodCall, other: MethodCall, state: Hashable) -> Pair | None:
        """A pair whose effects together were not tried before."""
        if state not in self.automaton.shortest:
            return None
        mine, theirs = self._effect(one, state), self._effect(other, state)
        if (mine, theirs) in self.seen or (theirs, mine) in self.seen:
            return None
        self.seen.add((mine, theirs))
        return self.pair(one, other, state)

    def _effect(self, call: MethodCall, state: Hashable) -> Effect:
        """What a call does in a state: its trace, the kind of its result, and whether it changes anything."""
        found = self.automaton.step(Delta(self.automaton.shortest[state], states=(state,)), call)
        how, *value = found.ran.happened
        kind = value[0] if how == "raised" else _kind(value[0]) if value else ""
        return found.trace, str(kind), found.state != state

    def _variants(self, one: MethodCall, other: MethodCall) -> list[tuple[MethodCall, MethodCall]]:
        """The same two methods with other arguments, one of them changed at a time."""
        return [(one, variant) for variant in self.siblings.get(other.method, ()) if variant != other] + [
            (variant, other) for variant in self.siblings.get(one.method, ()) if variant != one
        ]

    def pair(self, one: MethodCall, other: MethodCall, state: Hashable) -> Pair | None:
        """Two calls from a state, unless they were tried or touch nothing in common."""
        if (one, other, state) in self.tried or (other, one, state) in self.tried:
            return None
        alpha = self.automaton.shortest.get(state)
        if alpha is None:
            return None
        self.tried.add((one, other, state))
        at = Delta(alpha, states=(state,))
        first, second = self.automaton.step(at, one), self.automaton.step(at, other)
        if not conflict(first.ran.operations, second.ran.operations):
            return None
        mine, theirs = shared(first.ran.operations, second.ran.operations)
        if max(len(mine), len(theirs)) > MOST_SHARED:
            self.too_long.add((min(one.method, other.method), max(one.method, other.method)))
            return None
        weight = _weight(first, second, state, mine, theirs) + len(alpha)
        return Pair(one, other, state, alpha, weight - _ALIKE * (one == other))


def _weight(first: Transition, second: Transition, state: Hashable, mine: list[Access], theirs: list[Access]) -> float:
    """Calls that clash in few steps, without a lock, and change something come first: what they break shows soon."""
    weight = 10 * math.log2(1 + len(mine) + len(theirs))
    if first.state == second.state == state:
        weight += 30
    if not any(access.writes for access in mine) or not any(access.writes for access in theirs):
        weight += 20
    if not unlocked(mine, theirs):
        weight += 40
    return weight + 10 * (first.excp + second.excp)
