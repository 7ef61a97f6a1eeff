"""The call sequence generator: the sequence that improves sequential coverage most (section 4.2, figures 7 and 8).

The tree of sequences is walked depth first; every extension is executed as the tree grows, unless the same call was
executed in the same state before: a call is taken to be deterministic given the state of the SOUT (as in the paper),
so its trace and the state it leaves are known then. Depth prunings D1 to D3, breadth prunings B1 and B2 and the
saturation level k have the paper's meaning; each can be switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from treadle.classes.calls import MethodCall
from treadle.classes.coverage import Trace, trace_of
from treadle.classes.records import CallRecord, Sequence
from treadle.classes.stage import Stage
from treadle.core.operation import WRITE

PRUNINGS = ("D1", "D2", "D3", "B1", "B2")

# The paper's first saturation level.
FIRST_LEVEL = 3
# A call of more operations takes too long to be run again and again.
LONGEST_CALL = 2_000
# Longest sequence: beyond that a test is not for people, and Python's own stack is not far.
_LONGEST = 60


@dataclass
class Transition:
    """What a call does in a state: its trace, the state it leaves, and whether it raised or blocked."""

    trace: Trace
    state: Hashable
    excp: bool
    ran: CallRecord


@dataclass
class Delta:
    """A call sequence: a node of the tree."""

    calls: tuple[MethodCall, ...] = ()
    traces: tuple[Trace, ...] = ()  # one per call
    states: tuple[Hashable, ...] = ()  # before each call, and after the last
    improvement: frozenset[Trace] = frozenset()  # Delta M over the repository
    excp: bool = False

    @property
    def state(self) -> Hashable:
        return self.states[-1]

    def better_than(self, other: Delta) -> bool:
        """The paper's order: more improvement, or as much with fewer calls."""
        mine, theirs = len(self.improvement), len(other.improvement)
        return mine > theirs or (mine == theirs and len(self.calls) < len(other.calls))


@dataclass
class Automaton:
    """Everything known about the object's states: transitions by (state, call), and the shortest way to each state."""

    stage: Stage
    root: MethodCall
    initial: Hashable = None
    transitions: dict[tuple[Hashable, MethodCall], Transition] = field(default_factory=dict)
    shortest: dict[Hashable, tuple[MethodCall, ...]] = field(default_factory=dict)
    executed: int = 0
    memory: bool = True  # off: every extension is executed, as a measurement of what remembering saves

    def start(self) -> None:
        made = self.stage.run_sequence(self.root, (_LOOK,))
        self.initial = made.calls[0].state if made.calls else None
        self.shortest[self.initial] = ()

    def know(self, call: MethodCall, made: Sequence) -> None:
        """Remember what a call did on a fresh object."""
        if made.last is not None and made.built:
            self._learn((), self.initial, call, made)

    def step(self, delta: Delta, call: MethodCall) -> Transition:
        """Execute one more call after a sequence, or remember what it does in that state."""
        key = (delta.state, call)
        known = self.transitions.get(key)
        if known is not None and self.memory:
            return known
        way = self.shortest.get(delta.state, delta.calls)
        self.executed += 1
        return self._learn(way, delta.state, call, self.stage.run_sequence(self.root, (*way, call)))

    def _learn(self, way: tuple[MethodCall, ...], before: Hashable, call: MethodCall, made: Sequence) -> Transition:
        ran = made.calls[-1] if len(made.calls) == len(way) + 1 else CallRecord(("raised", "Unreached", ""))
        excp = ran.happened[0] != "returned" or bool(made.ending)
        ending = ran.happened[1] if ran.happened[0] == "raised" else ran.happened[0] if excp else ""
        state = ran.state if ran.state is not None else ("stuck", before, call)
        found = Transition(trace_of(call.method, ran.steps, ending), state, excp, ran)
        self.transitions[(before, call)] = found
        if not made.ending:
            known = self.shortest.get(state)
            if known is None or len(known) > len(way) + 1:
                self.shortest[state] = (*way, call)
        return found

    def written_together(self, name: str) -> tuple[frozenset[str], ...]:
        """Atomic sets as far as the class itself tells: fields of the object that one call writes together."""
        found: dict[frozenset[str], None] = {}
        for transition in self.transitions.values():
            fields = {
                key
                for kind, owner, key in transition.ran.operations
                if kind == WRITE and isinstance(key, str) and str(owner).startswith(f"{name}#")
            }
            if len(fields) > 1:
                found[frozenset(fields)] = None
        return tuple(found)

    def unfit(self) -> set[MethodCall]:
        """Calls that block, or go on for very long, in some state: no use for looking at an object."""
        return {
            call
            for (_, call), found in self.transitions.items()
            if found.ran.happened[0] == "pending" or len(found.ran.operations) > LONGEST_CALL
        }


# A call that does nothing, to see the state that the constructor leaves.
_LOOK = MethodCall("nothing", "None and {sout}")


@dataclass
class SequenceGenerator:
    """Finds an optimal call sequence, one iteration of the paper's process at a time."""

    automaton: Automaton
    calls: list[MethodCall]  # CM: the candidate methods with their values
    prune: frozenset[str] = frozenset(PRUNINGS)
    level: int = FIRST_LEVEL
    longest: int = _LONGEST
    extensions: int = 0
    dropped: set[MethodCall] = field(default_factory=set)  # calls that go on for too long in some state
    pruned: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PRUNINGS, 0))

    def generate(self, covered: set[Trace], may_go_on: Callable[[], bool]) -> Delta | None:
        """An optimal sequence over what is covered; None when no sequence improves at this saturation level."""
        self.covered = covered
        self.may_go_on = may_go_on
        self.explored: dict[Hashable, list[tuple[frozenset[Trace], int]]] = {}  # the paper's map from S to coverage
        root = Delta(states=(self.automaton.initial,))
        best = self._call_gen(root, 0)
        return best if best.improvement else None

    def _call_gen(self, delta: Delta, stale: int) -> Delta:
        """callGen of figure 7. `stale` counts the latest extensions without improvement."""
        if stale >= self.level or len(delta.calls) >= self.longest:
            return delta  # saturated
        best = delta
        for call in self.calls:
            if not self.may_go_on():
                break
            if call in self.dropped:
                continue
            extended = self._extend(delta, call)
            self.extensions += 1
            gained = len(extended.improvement) > len(delta.improvement)
            if extended.excp and "D1" in self.prune:
                self.pruned["D1"] += 1
                if extended.better_than(best):
                    best = extended
                continue
            if not self._depth_pruned(delta, extended, gained):
                self._note(extended)
                found = self._call_gen(extended, 0 if gained else stale + 1)
                if found.better_than(best):
                    best = found
            if self._breadth_pruned(delta, extended, gained):
                break
        return best

    def _extend(self, delta: Delta, call: MethodCall) -> Delta:
        transition = self.automaton.step(delta, call)
        if len(transition.ran.operations) > LONGEST_CALL:
            self.dropped.add(call)
        improvement = delta.improvement
        if transition.trace not in self.covered and transition.trace not in improvement:
            improvement = improvement | {transition.trace}
        return Delta(
            (*delta.calls, call),
            (*delta.traces, transition.trace),
            (*delta.states, transition.state),
            improvement,
            delta.excp or transition.excp,
        )

    def _depth_pruned(self, delta: Delta, extended: Delta, gained: bool) -> bool:
        if gained:
            return False
        if "D2" in self.prune and extended.state == delta.state:
            self.pruned["D2"] += 1
            return True
        if "D3" in self.prune and self._redundant(extended):
            self.pruned["D3"] += 1
            return True
        return False

    def _breadth_pruned(self, delta: Delta, extended: Delta, gained: bool) -> bool:
        if "B1" in self.prune and gained and extended.state == delta.state:
            self.pruned["B1"] += 1
            return True
        if "B2" in self.prune and self._redundant(delta, itself=True):
            self.pruned["B2"] += 1
            return True
        return False

    def _redundant(self, delta: Delta, itself: bool = False) -> bool:
        """Definition 5: the same state was reached with more coverage, or with as much by no more calls."""
        for improvement, length in self.explored.get(delta.state, ()):
            if delta.improvement < improvement:
                return True
            if delta.improvement == improvement and (
                length < len(delta.calls) if itself else length <= len(delta.calls)
            ):
                return True
        return False

    def _note(self, delta: Delta) -> None:
        self.explored.setdefault(delta.state, []).append((delta.improvement, len(delta.calls)))


def prunings(text: str, error: Callable[[str], Exception]) -> frozenset[str]:
    """The prunings that are on, from `all`, `none` or a list such as `D1,D2,B1`."""
    if text in ("all", ""):
        return frozenset(PRUNINGS)
    if text == "none":
        return frozenset({"D1"})  # without D1 every sequence after an exception is its repetition
    chosen = frozenset(part.strip().upper() for part in text.split(","))
    wrong = sorted(chosen - set(PRUNINGS))
    if wrong:
        raise error(f"--prune has no strategy '{wrong[0]}'; there are: {', '.join(PRUNINGS)}, all, none")
    return chosen
