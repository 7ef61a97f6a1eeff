"""One execution with unknown inputs: its choices, its conditions, and how it ended.

A path is identified by its trail, the list of its choices in order; re-running the same trail takes the same path
without asking the solver again. Beyond its given trail a path takes the first possible alternative and leaves the
others in `alternatives`, each a longer trail for the search to run later.

An entry of the trail is
    0 / 1        a condition that could go both ways, taken as true / false
    2 / 3        a condition that could only be true / false here
    "both"       a condition whose two sides were passed at once (symbolic.joins)
    ("call", n)  the n-th call, passed with all its ways at once (frontends.python.joined_calls)
    "apart", ("run", n)   the same, but taken apart after all
    n            the n-th option of a choice that needs no solver (a reference is None, an alias, fresh, ...)
    ("=", v...)  values picked for code that cannot be followed
Forced conditions are part of the trail so that replay needs no solver; they add nothing to the path condition.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.symbolic.expr.meaning import evaluate, other_identity, substitute
from treadle.symbolic.expr.terms import Const, Expr, Model, Value, eq, ne, not_
from treadle.symbolic.solve.label import label
from treadle.symbolic.solve.solver import Answer, Solver

Trail = tuple[Any, ...]

TRUE, FALSE, ONLY_TRUE, ONLY_FALSE = 0, 1, 2, 3
JOINED = "both"
JOINED_CALL = "call"
APART, RUN_CALL = "apart", "run"


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A line of the program under test, and what happened there."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class PathEnd(Exception):
    """The path cannot go on; not an exception of the program under test."""


class BoundReached(PathEnd):
    """A bound was reached: 'loop', 'depth' or 'time'."""

    def __init__(self, kind: str, place: CodePlace | None = None) -> None:
        super().__init__(kind)
        self.kind = kind
        self.place = place


class CannotFollow(PathEnd):
    """The program does something that cannot be followed."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Restart(PathEnd):
    """What was found out on this path shows that it must be walked another way: see `SymbolicPath.rewind`."""


class TooHard(PathEnd):
    """The solver gives up behind a call that was passed at once: to be taken again with less passed at once."""


class Impossible(PathEnd):
    """An assumption contradicts the path: nothing to report."""


@dataclass(frozen=True, slots=True)
class Alternative:
    trail: Trail
    model: Model | None
    # what a guide wants to know about it (symbolic.guide); not kept when a suite is stored
    prospect: Any = field(default=None, compare=False)


@dataclass(slots=True)
class SymbolicPath:
    solver: Solver
    given: Trail = ()
    model: Model | None = None
    deadline: float = float("inf")
    conditions: list[Expr] = field(default_factory=list)
    trail: list[Any] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)
    # how many conditions on unknowns were met, forced ones included: loops count their iterations by it
    decisions: int = 0
    # conditions that count only perhaps; the heap tells which those are (None: it does not count)
    unsure: list[Expr] = field(default_factory=list)
    doubts: Callable[[Expr], bool | None] = lambda condition: False
    # values were picked here: the suite no longer claims every path
    sampled: list[CodePlace] = field(default_factory=list)
    # the outcome may depend on something that changes from run to run, such as the order of a set
    fragile: bool = False
    # conditions the solver could not decide; that side was not explored
    gave_up: list[CodePlace] = field(default_factory=list)
    # what was decided, in order, for a person: conditions and notes about references
    story: list[Expr | str] = field(default_factory=list)
    place: CodePlace = field(default_factory=lambda: CodePlace("", 0, ""))
    # who follows this path, when only some paths are wanted (symbolic.guide)
    walk: Any = None
    # what was chosen and picked, in order
    chosen: list[Any] = field(default_factory=list)
    # values that decide every condition, in place of a trail
    follow: Model | None = None
    # strings worth trying where a value has to be picked
    words: tuple[str, ...] = ()
    # a model, and how many of the conditions it is known to fulfil
    fitting: tuple[Model | None, int] = (None, 0)
    # some conditions or calls were passed with all their ways: the path stands for several plain ones
    is_joined: bool = False
    # from here on nothing is passed at once
    plain: bool = False
    # a condition was met that speaks of values put together from several ways
    mixed: bool = False
    # (file, line) of every function that was entered
    followed: set[tuple[str, int]] = field(default_factory=set)
    # (function, how many choices had been made) for every call of a function of the target's own file
    calls: set[tuple[str, int]] = field(default_factory=set)

    @property
    def replaying(self) -> bool:
        return len(self.trail) < len(self.given)

    def _next(self) -> Any:
        entry = self.given[len(self.trail)]
        self.trail.append(entry)
        return entry

    def decide(self, condition: Value, free: Expr | None = None) -> bool:
        """Take one side of a condition; the other side, if possible, is left for later.

        `free`: the condition is that this reference is not None, and nothing else is known of it.
        """
        if not isinstance(condition, Expr):
            return bool(condition)
        # what is known on each of the ways that were put together is decided on none of them
        known = self.is_joined and is_known_on_each_way(condition)
        if not known:
            self.met([condition])
        if self.follow is not None:
            return self._settle(condition, self.follow)
        self.mixed = self.mixed or (self.is_joined and not known and is_mixed(condition))
        if self.replaying:
            entry = self._next()
            if entry in (TRUE, FALSE):
                self._add(condition if entry == TRUE else not_(condition))
            return bool(entry in (TRUE, ONLY_TRUE))
        if time.monotonic() > self.deadline:
            raise BoundReached("time")
        model = self._model()
        if free is not None:
            return self._part(condition, {**model, free: other_identity(free)}, {**model, free: 0})
        here = bool(evaluate(condition, model))
        other = self.solver.check(self.conditions, not_(condition) if here else condition, base=model)
        if other.answer is Answer.UNSAT:
            self.trail.append(ONLY_TRUE if here else ONLY_FALSE)
            return here
        if other.model is None:
            if self.is_joined:
                raise TooHard
            self.gave_up.append(CodePlace(self.place.file, self.place.line, "the solver gave up"))
            self._take(condition if here else not_(condition), TRUE if here else FALSE, model)
            return here
        yes, no = (model, other.model) if here else (other.model, model)
        return self._part(condition, yes, no)

    def met(self, conditions: Sequence[Expr]) -> None:
        """The program's way depends on these."""
        for condition in conditions:
            perhaps = self.doubts(condition)
            if perhaps:
                self.unsure.append(condition)
            elif perhaps is not None:
                self.decisions += 1

    def _part(self, condition: Expr, yes: Model, no: Model) -> bool:
        """Both sides are possible: one is taken, one left."""
        if self.walk is not None and self.walk.prefers_false():
            self._leave(TRUE, yes)
            self._take(not_(condition), FALSE, no)
            return False
        self._leave(FALSE, no)
        self._take(condition, TRUE, yes)
        return True

    def _leave(self, entry: Any, model: Model | None) -> None:
        """The alternative that goes on from here with this choice is left for later."""
        prospect = self.walk.prospect(entry) if self.walk is not None else None
        self.alternatives.append(Alternative((*self.trail, entry), model, prospect))

    def joined(self, entry: Any = JOINED, about: Sequence[Any] = ()) -> None:
        """A condition was met, and both of its sides are passed at once; or a call, with all its ways.

        `about`: the condition, or the arguments.
        """
        self.decisions += 1
        if self.replaying:
            self._next()
        else:
            self.trail.append(entry)
        self.is_joined = self.is_joined or _is_join(entry)
        self.plain = self.plain or not _is_join(entry)
        self.mixed = self.mixed or any(map(is_mixed, about))

    @property
    def doubtful(self) -> bool:
        """A loop bound may have been met because values were put together that are known on each single path."""
        return self.is_joined and self.mixed

    def less_joined(self) -> Trail:
        """The trail up to the first thing that was passed at once, with that and all that follows taken apart."""
        first = min(n for n, entry in enumerate(self.trail) if _is_join(entry))
        entry = self.trail[first]
        return (*self.trail[:first], APART if entry == JOINED else (RUN_CALL, entry[1]))

    def apart(self) -> SymbolicPath:
        """The plain path that some inputs of this one take: to be run in its place."""
        again = SymbolicPath(self.solver, (), None, self.deadline, words=self.words)
        unknowns = sorted(frozenset().union(*(c.vars for c in self.conditions)), key=lambda v: v.order)
        again.follow = label(self.conditions, unknowns, domain=self.solver.domain) or self._model()
        again.chosen = list(reversed(self.chosen))
        return again

    def _settle(self, condition: Expr, values: Model) -> bool:
        """Decide a condition by the values that the path follows."""
        here = bool(evaluate(condition, values))
        side = condition if here else not_(condition)
        if self.solver.check(self.conditions, not_(side)).answer is Answer.UNSAT:
            self.trail.append(ONLY_TRUE if here else ONLY_FALSE)
        else:
            self._take(side, TRUE if here else FALSE, values)
        return here

    def certain(self, condition: Value, side: bool) -> None:
        """What `decide` does where only this side is possible, known without asking the solver."""
        if isinstance(condition, Expr):
            self.met([condition])
            if self.replaying:
                self._next()
            else:
                self.trail.append(ONLY_TRUE if side else ONLY_FALSE)

    def rewind(self) -> None:
        """Back to the start, to take the same way again; what was left for later stays left for later."""
        if not self.replaying:
            self.given = tuple(self.trail)
        self.trail, self.conditions, self.story, self.sampled, self.chosen = [], [], [], [], []
        self.decisions = 0
        self.unsure = []
        self.fragile = self.mixed = self.is_joined = self.plain = False
        self.fitting = (None, 0)

    def _take(self, condition: Value, entry: int, model: Model) -> None:
        self.trail.append(entry)
        self._add(condition)
        self.model = model

    def _add(self, condition: Value) -> None:
        if isinstance(condition, Expr):
            self.conditions.append(condition)
            self.story.append(condition)

    def note(self, text: str) -> None:
        """Something decided that is not a condition on values."""
        self.story.append(text)

    def _model(self) -> Model:
        """A model of the conditions so far, found when the one in hand no longer fits."""
        if self.model is None or not self._fits(self.model):
            verdict = self.solver.check(self.conditions)
            if verdict.answer is Answer.UNSAT:
                raise Impossible
            if verdict.model is None:
                if self.is_joined:
                    raise TooHard
                raise CannotFollow("a condition that the solver cannot decide")
            self.model = verdict.model
        return self.model

    def _fits(self, model: Model) -> bool:
        """Whether the model fulfils the conditions; those it was asked about before are not asked again."""
        since = self.fitting[1] if self.fitting[0] is model else 0
        conditions = self.conditions
        if all(evaluate(conditions[n], model) for n in range(since, len(conditions))):
            self.fitting = (model, len(conditions))
            return True
        return False

    def choose(self, options: int) -> int:
        """One of several possibilities that no condition decides."""
        if options == 1:
            return 0
        self.decisions += 1
        if self.follow is not None:
            self.trail.append(self.chosen.pop())
            return int(self.trail[-1])
        if self.replaying:
            self.chosen.append(self._next())
            return int(self.chosen[-1])
        if time.monotonic() > self.deadline:
            raise BoundReached("time")
        for n in range(options - 1, 0, -1):
            self._leave(n, self.model)
        self.trail.append(0)
        self.chosen.append(0)
        return 0

    def assume(self, condition: Value) -> None:
        """The inputs are such that this holds."""
        if not isinstance(condition, Expr):
            if not condition:
                raise Impossible
            return
        self.conditions.append(condition)
        if not self.replaying and self.model is not None and not evaluate(condition, self.model):
            self.model = None
            self._model()

    def feasible(self) -> None:
        """End the path if what was assumed cannot hold."""
        if not self.replaying:
            self._model()

    def possible(self, condition: Value) -> bool:
        """Whether the condition can hold here; nothing is decided. Must not steer the path while replaying."""
        if not isinstance(condition, Expr):
            return bool(condition)
        return self.solver.check(self.conditions, condition, self.model).possible

    def pick(self, values: Sequence[Expr], what: str, count: int = 3) -> list[Any]:
        """Concrete values for unknown ones, a few different ones in turn; the path is sampled from here on."""
        self.sampled.append(CodePlace(self.place.file, self.place.line, what))
        if self.follow is not None:
            entry = self.chosen.pop()
            self.trail.append(entry)
        elif self.replaying:
            entry = self._next()
        else:
            found = self._picks(values, count)
            entry = found[0]
            for other in reversed(found[1:]):
                self._leave(other, None)
            self.trail.append(entry)
            self.model = None
        if self.follow is None:
            self.chosen.append(entry)
        picked = list(entry[1:])
        for value, chosen in zip(values, picked, strict=True):
            self._add(eq(value, chosen))
        return picked

    def _picks(self, values: Sequence[Expr], count: int) -> list[Trail]:
        """Chosen like the values of a test, so that a path picks the same whatever was explored before it."""
        found: list[Trail] = []
        hint = dict(self._model())
        for word in self.words:
            if len(found) == count or values[0].sort.value != "str":
                break
            model = self._with_word(values, word)
            if model is not None:
                found.append(("=", *(evaluate(v, model) for v in values)))
        extra: list[Value] = list(self.conditions)
        # the words are better than what a solver would make up, which is slow for strings
        current = self._chosen(extra, values, hint) if not found else None
        while len(found) < count and current is not None:
            entry: Trail = ("=", *(evaluate(v, current) for v in values))
            if entry not in found:
                found.append(entry)
            extra.append(ne(values[0], entry[1]))
            current = self._chosen(extra, values, None)
        return list(dict.fromkeys(found))

    def _with_word(self, values: Sequence[Expr], word: str) -> Model | None:
        """Values that make the first one this word; where it is all that is unknown, no solver is asked."""
        unknown = values[0]
        if unknown.op != "var":
            return self._chosen([*self.conditions, eq(unknown, word)], values, None)
        left = [substitute(c, {unknown: word}) for c in self.conditions]
        if any(c is False for c in left):
            return None
        if len(values) == 1 and all(c is True for c in left):
            return {unknown: word}
        model = self._chosen(left, values, None)
        return None if model is None else {**model, unknown: word}

    def _chosen(
        self, conditions: Sequence[Value], values: Sequence[Expr], hint: dict[Expr, Const] | None
    ) -> Model | None:
        known = [c for c in conditions if isinstance(c, Expr)]
        if not all(c for c in conditions if not isinstance(c, Expr)):
            return None
        unknowns = sorted(frozenset().union(*(v.vars for v in values)), key=lambda v: v.order)
        return label(known, unknowns, domain=self.solver.domain, hint=hint)


def _is_join(entry: Any) -> bool:
    return entry == JOINED or (isinstance(entry, tuple) and entry[0] == JOINED_CALL)


def is_mixed(value: Any) -> bool:
    """Whether a value is one of several, depending on a condition."""
    if not isinstance(value, Expr):
        return False
    parts = [atom for atom, _ in value.args[1]] if value.op == "sum" else value.args
    return value.op == "ite" or any(map(is_mixed, parts))


def is_known_on_each_way(value: Any) -> bool:
    """Whether a value is a constant, whichever way its conditions go."""
    if not isinstance(value, Expr):
        return True
    if value.op == "ite":
        return is_known_on_each_way(value.args[1]) and is_known_on_each_way(value.args[2])
    parts = [atom for atom, _ in value.args[1]] if value.op == "sum" else value.args
    return value.op != "var" and bool(parts) and all(map(is_known_on_each_way, parts))
