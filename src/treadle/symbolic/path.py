"""One execution with unknown inputs: its choices, its conditions, and how it ended.

A path is identified by its choices, those of `treadle.core.choice`: a condition goes a way, a reference aliases an
object, an option is drawn, ways are joined. Re-running the same choices takes the same path. Beyond those it is given
a path takes the first possible alternative and leaves the others in `alternatives`, each a longer list of choices for
the search to run later.

While a search goes on, conditions that could go one way only are among the choices, marked as forced: replay then
needs no solver. They add nothing to the path condition and are not stored; along stored choices
(`Alternative.with_forced` is false) the solver is asked again which conditions are open.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.core.choice import Choice, ConditionGoes, OptionDrawn, WaysJoined
from treadle.symbolic.expr.meaning import evaluate, other_identity, substitute
from treadle.symbolic.expr.terms import Const, Expr, Model, Value, eq, ne, not_
from treadle.symbolic.solve.label import label
from treadle.symbolic.solve.solver import Answer, Solver

Choices = tuple[Choice, ...]

_OPEN = {way: ConditionGoes(way, offered=2) for way in (True, False)}
_FORCED = {way: ConditionGoes(way, offered=1) for way in (True, False)}
# How many concrete values are tried in the place of an unknown one.
_PICKS = 3

NOT_REPEATED = "the code does not repeat itself when it is run again"


def unforced(choices: Iterable[Choice]) -> Choices:
    """What is stored of the choices of a path, and what tells two paths apart."""
    return tuple(choice for choice in choices if not choice.forced)


@dataclass(frozen=True, slots=True)
class CodePlace:
    """A line of the program under test, and what happened there."""

    file: str
    line: int
    what: str
    # the function it lies in, and the line where that begins
    function: str = field(default="", compare=False)
    first: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def named(path: SymbolicPath) -> Choices:
    """The choices of a path that were not forced, each condition named by its function and line in it."""
    found: list[Choice] = []
    for choice, place in zip(unforced(path.choices), path.decided_at, strict=True):
        if isinstance(choice, ConditionGoes) and place.function:
            choice = ConditionGoes(choice.way, f"{place.function}+{place.line - place.first}", offered=choice.offered)
        found.append(choice)
    return tuple(found)


class About(enum.Enum):
    """What a note tells of a reference or an object."""

    NONE, NOT_NONE, SAME_OBJECT, OTHER_OBJECT, TYPE, LENGTH, MEMBER, VALUE, TEXT = range(9)


_WORDS = {
    About.NONE: "{0} is None",
    About.NOT_NONE: "{0} is not None",
    About.SAME_OBJECT: "{0} is {1}",
    About.OTHER_OBJECT: "{0} is not {1}",
    About.TYPE: "type of {0} is {1}",
    About.LENGTH: "len({0}) == {1}",
    About.MEMBER: "{0} is {1}",
    About.VALUE: "{0} == {1}",
    # a condition that has come from another process
    About.TEXT: "{0}",
}


@dataclass(frozen=True, slots=True)
class Note:
    """Something decided on a path that is not a condition on values."""

    about: About
    name: str
    other: str = ""

    def __str__(self) -> str:
        return _WORDS[self.about].format(self.name, self.other)


class PathEnd(Exception):
    """The path cannot go on; not an exception of the program under test."""


class Limit(enum.StrEnum):
    """What cut a path off: rounds of a loop, nesting, a criterion of the user's, time, the limit on paths, or a worker
    process that died."""

    LOOP = "loop"
    DEPTH = "depth"
    CRITERION = "criterion"
    TIME = "time"
    PATHS = "paths"
    LOST = "lost"


# What is asked for, and so no gap: the tests are those within it.
TERMINATION = (Limit.LOOP, Limit.CRITERION)


class BoundReached(PathEnd):
    """A bound was reached."""

    def __init__(self, bound: Limit, place: CodePlace | None = None) -> None:
        super().__init__(bound)
        self.bound = bound
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
    """Where a path goes on later: from the end of these choices."""

    choices: Choices
    model: Model | None = None
    # forced choices are among them; not so when they were stored
    with_forced: bool = True
    # what a guide wants to know about it (symbolic.guide)
    prospect: Any = field(default=None, compare=False)

    def bare(self) -> Alternative:
        """Without what means nothing in another process."""
        return Alternative(self.choices, with_forced=self.with_forced)


@dataclass(slots=True)
class SymbolicPath:
    solver: Solver
    start: Alternative = Alternative(())
    deadline: float = float("inf")
    # values that fulfil the conditions so far, if some are in hand
    model: Model | None = None
    conditions: list[Expr] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    # how many of the choices of `start` have been made again
    repeated: int = 0
    # how many alternatives come before each choice; and of those that were not forced, where they were made
    order: list[int] = field(default_factory=list)
    decided_at: list[CodePlace] = field(default_factory=list)
    alternatives: list[Alternative] = field(default_factory=list)
    # told whenever one is left: others may begin with it before this path has ended
    on_left: Callable[[list[Alternative]], None] | None = None
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
    story: list[Expr | Note] = field(default_factory=list)
    place: CodePlace = field(default_factory=lambda: CodePlace("", 0, ""))
    # who follows this path, when only some paths are wanted (symbolic.guide)
    walk: Any = None
    # what was chosen and picked, in order
    chosen: list[Choice] = field(default_factory=list)
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

    def __post_init__(self) -> None:
        self.model = self.start.model

    @property
    def replaying(self) -> bool:
        return self.repeated < len(self.start.choices)

    def ahead(self) -> Choice | None:
        """The choice that the given trail makes here; None beyond its end."""
        return self.start.choices[self.repeated] if self.replaying else None

    def _again(self) -> Choice:
        choice = self.start.choices[self.repeated]
        self.repeated += 1
        return choice

    def _made(self, choice: Choice, number: int = 0) -> None:
        """A choice was made, the `number`-th of those that were offered."""
        self.choices.append(choice)
        self.order.append(number)
        if not choice.forced:
            self.decided_at.append(self.place)

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
        if self.replaying and self.start.with_forced:
            choice = self._way()
            self._made(choice, not choice.way)
            if not choice.forced:
                self._add(condition if choice.way else not_(condition))
            return choice.way
        if time.monotonic() > self.deadline:
            raise BoundReached(Limit.TIME)
        model = self._model()
        if free is not None:
            return self._part(condition, {**model, free: other_identity(free)}, {**model, free: 0})
        here = bool(evaluate(condition, model))
        other = self.solver.check(self.conditions, not_(condition) if here else condition, base=model)
        if other.answer is Answer.UNSAT:
            self._made(_FORCED[here])
            return here
        if other.model is None:
            if self.is_joined:
                raise TooHard
            way = self._way().way if self.replaying else here
            self.gave_up.append(CodePlace(self.place.file, self.place.line, "the solver gave up"))
            self._take(condition, way, model if way is here else None)
            return way
        yes, no = (model, other.model) if here else (other.model, model)
        return self._part(condition, yes, no)

    def _way(self) -> ConditionGoes:
        """The way that the given trail goes at a condition."""
        choice = self._again()
        if not isinstance(choice, ConditionGoes):
            raise CannotFollow(NOT_REPEATED)
        return choice

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
        if self.replaying:
            way = self._way().way
        else:
            way = self.walk is None or not self.walk.prefers_false()
            self._leave(_OPEN[not way], no if way else yes)
        self._take(condition, way, yes if way else no)
        return way

    def _leave(self, choice: Choice, model: Model | None) -> None:
        """The alternative that goes on from here with this choice is left for later."""
        prospect = self.walk.prospect(choice) if self.walk is not None else None
        self.alternatives.append(Alternative((*self.choices, choice), model, prospect=prospect))
        if self.on_left is not None:
            self.on_left(self.alternatives)

    def join(self, joined: WaysJoined, about: Sequence[Any] = ()) -> None:
        """The ways of a condition or of a call are passed at once, or taken apart after all.

        `about`: the condition, or the arguments.
        """
        self.decisions += 1
        if self.replaying:
            self._again()
        self._made(joined)
        self.is_joined = self.is_joined or joined.joined
        self.plain = self.plain or not joined.joined
        self.mixed = self.mixed or any(map(is_mixed, about))

    @property
    def doubtful(self) -> bool:
        """A loop bound may have been met because values were put together that are known on each single path."""
        return self.is_joined and self.mixed

    def less_joined(self) -> Choices:
        """The choices up to the first thing that was passed at once, with that and all that follows taken apart."""
        number, first = next((n, c) for n, c in enumerate(self.choices) if isinstance(c, WaysJoined) and c.joined)
        return (*self.choices[:number], WaysJoined(False, first.call))

    def apart(self) -> SymbolicPath:
        """The plain path that some inputs of this one take: to be run in its place."""
        again = SymbolicPath(self.solver, deadline=self.deadline, words=self.words)
        unknowns = sorted(frozenset().union(*(c.vars for c in self.conditions)), key=lambda v: v.order)
        again.follow = label(self.conditions, unknowns, domain=self.solver.domain) or self._model()
        again.chosen = list(reversed(self.chosen))
        return again

    def _settle(self, condition: Expr, values: Model) -> bool:
        """Decide a condition by the values that the path follows."""
        here = bool(evaluate(condition, values))
        side = condition if here else not_(condition)
        if self.solver.check(self.conditions, not_(side)).answer is Answer.UNSAT:
            self._made(_FORCED[here])
        else:
            self._take(condition, here, values)
        return here

    def certain(self, condition: Value, side: bool) -> None:
        """What `decide` does where only this side is possible, known without asking the solver."""
        if isinstance(condition, Expr):
            self.met([condition])
            if self.replaying and self.start.with_forced:
                self._again()
            self._made(_FORCED[side])

    def rewind(self) -> None:
        """Back to the start, to take the same way again; what was left for later stays left for later."""
        if not self.replaying:
            self.start = Alternative(tuple(self.choices))
        self.choices, self.conditions, self.story, self.sampled, self.chosen = [], [], [], [], []
        self.order, self.decided_at = [], []
        self.repeated = self.decisions = 0
        self.unsure = []
        self.fragile = self.mixed = self.is_joined = self.plain = False
        self.fitting = (None, 0)

    def _take(self, condition: Expr, way: bool, model: Model | None) -> None:
        self._made(_OPEN[way], not way)
        self._add(condition if way else not_(condition))
        self.model = model

    def _add(self, condition: Value) -> None:
        if isinstance(condition, Expr):
            self.conditions.append(condition)
            self.story.append(condition)

    def note(self, note: Note) -> None:
        """Something decided that is not a condition on values."""
        self.story.append(note)

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

    def choose(self, options: Sequence[Choice]) -> int:
        """One of several possibilities that no condition decides: its number."""
        if len(options) == 1:
            return 0
        self.decisions += 1
        if self.follow is not None:
            chosen = self.chosen.pop()
        elif self.replaying:
            chosen = self._again()
        elif time.monotonic() > self.deadline:
            raise BoundReached(Limit.TIME)
        else:
            chosen = options[0]
            for other in reversed(options[1:]):
                self._leave(other, self.model)
        if chosen not in options:
            raise CannotFollow(NOT_REPEATED)
        number = options.index(chosen)
        self._made(chosen, number)
        if self.follow is None:
            self.chosen.append(chosen)
        return number

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

    def pick(self, values: Sequence[Expr], what: str) -> list[Any]:
        """Concrete values for unknown ones, a few different ones in turn; the path is sampled from here on."""
        self.sampled.append(CodePlace(self.place.file, self.place.line, what))
        choice: Choice
        if self.follow is not None:
            choice = self.chosen.pop()
        elif self.replaying:
            choice = self._again()
        else:
            choice, *others = (OptionDrawn(what, found) for found in self._picks(values))
            for other in reversed(others):
                self._leave(other, None)
            self.model = None
        self._made(choice)
        if self.follow is None:
            self.chosen.append(choice)
        picked: list[Any] = (
            list(choice.value) if isinstance(choice, OptionDrawn) and isinstance(choice.value, tuple) else []
        )
        if len(picked) != len(values):
            raise CannotFollow(NOT_REPEATED)
        for value, chosen in zip(values, picked, strict=True):
            self._add(eq(value, chosen))
        return picked

    def _picks(self, values: Sequence[Expr]) -> list[tuple[Any, ...]]:
        """Chosen like the values of a test, so that a path picks the same whatever was explored before it."""
        found: list[tuple[Any, ...]] = []
        hint = dict(self._model())
        for word in self.words:
            if len(found) == _PICKS or values[0].sort.value != "str":
                break
            model = self._with_word(values, word)
            if model is not None:
                found.append(tuple(evaluate(v, model) for v in values))
        extra: list[Value] = list(self.conditions)
        # the words are better than what a solver would make up, which is slow for strings
        current = self._chosen(extra, values, hint) if not found else None
        while len(found) < _PICKS and current is not None:
            entry = tuple(evaluate(v, current) for v in values)
            if entry not in found:
                found.append(entry)
            extra.append(ne(values[0], entry[0]))
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
