"""What a worker process of `treadle unit --workers` does: it runs paths for the process that books them.

It resolves the targets itself, runs what is below the choices it is given, and sends every path as soon as it has
ended, so that whoever kills it loses one path.

Beside what `search.workers` says itself, it tells ("ran", task, choices, path), ("again", task, choices) for a path
whose case cannot be sent, and ("explored", task, facts) for a target as a whole; of a path that takes long,
("left", task, choices, alternatives) tells on the way what others may begin with. ("known", answers) tells what its
solver has found out, which goes to the others with their next tasks.
A task gives (counts, warnings).
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import pathlib
import pickle
import time
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treadle.search.workers import Tell
from treadle.symbolic.explore import PathRun, run_one
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.aliasings import AliasingNumbers
from treadle.symbolic.path import About, Alternative, Choices, Note, SymbolicPath
from treadle.symbolic.solve.answers import KNOWN_ANSWERS, KnownAnswer
from treadle.symbolic.solve.solver import Solver
from treadle.units.cases import Cases
from treadle.units.explore import Session
from treadle.units.options import UnitOptions
from treadle.units.select import AlreadyCovered
from treadle.units.target import UnitTarget, resolve

# What a session is made of: its target, and the arguments of `Session`.
Recipe = tuple[str, UnitOptions, dict[Choices, AliasingNumbers], AlreadyCovered]


@dataclass(frozen=True, slots=True)
class Setup:
    """What names the targets, and how each is explored."""

    texts: Sequence[str]
    sessions: Sequence[Recipe]
    worth_telling: float


@dataclass(frozen=True, slots=True)
class PathsTask:
    """Run what is below some choices for a while; without them, explore the target as a whole."""

    session: int
    start: Alternative | None
    # until the function's time is up, and how long to work before the rest goes back
    seconds: float
    budget: float
    # of the search for the branches that a limit has cut off
    is_rest: bool = False
    # what the solvers of others have answered meanwhile
    known: Sequence[KnownAnswer] = ()


# --- messages ----------------------------------------------------------------------------------------------

# What a case may hold beside numbers, texts and containers: values that are equal to their copies. An object whose
# identity may matter, such as a sentinel, is not sent; its path is run again where the case is wanted.
_VALUES: tuple[type, ...] = (
    *(type, types.FunctionType, types.BuiltinFunctionType),
    *(Fraction, complex, range, slice, Counter, enum.Enum, decimal.Decimal, pathlib.PurePath),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
)
_NOUNS = (
    "treadle.core.",
    "treadle.units.",
    "treadle.symbolic.path",
    "treadle.symbolic.explore",
    "treadle.symbolic.testcase",
)


class CasePickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if isinstance(obj, _VALUES) or kind.__module__.startswith(_NOUNS):
            return NotImplemented
        raise pickle.PicklingError(f"{kind.__name__} is not sent")


# What the pickler raises for a case that cannot be sent.
_NOT_SENT = (pickle.PicklingError, AttributeError, TypeError)


def _sendable(part: Expr | Note) -> Note:
    return Note(About.TEXT, show(part)) if isinstance(part, Expr) else part


def _plain(ran: PathRun[Cases]) -> PathRun[Cases]:
    """Without expressions, which mean nothing in another process."""
    left = [a.bare() for a in ran.alternatives]
    return dataclasses.replace(ran, story=[_sendable(part) for part in ran.story], alternatives=left)


# --- work --------------------------------------------------------------------------------------------------


class _LongPath:
    """A path that has run for longer than a task should: what it leaves is told at once, and is no longer its own."""

    def __init__(self, tell: Tell, number: int, choices: Choices, since: float) -> None:
        self._tell = tell
        self._number = number
        self._choices = choices
        self._since = since
        # how many of the alternatives, in the order in which they were left
        self.told = 0

    def tell(self, alternatives: Sequence[Alternative]) -> None:
        if time.monotonic() < self._since:
            return
        left = [alternative.bare() for alternative in alternatives[self.told :]]
        try:
            self._tell(("left", self._number, self._choices, left), CasePickler)
        except _NOT_SENT:
            self._since = float("inf")
        else:
            self.told = len(alternatives)


class PathServer:
    """Runs paths of the targets."""

    def __init__(self, setup: Setup, tell: Tell) -> None:
        self._setup = setup
        self._tell = tell
        self._targets: dict[str, UnitTarget] = {}
        self._sessions: dict[tuple[int, bool], tuple[Session, Solver]] = {}
        # models of what was given back: they spare a question when it returns to this process
        self._models: dict[tuple[int, Choices], Alternative] = {}
        for text in setup.texts:
            for target in resolve(text):
                self._targets.setdefault(target.text, target)
        KNOWN_ANSWERS.worth_telling = setup.worth_telling
        KNOWN_ANSWERS.told = lambda answers: tell(("known", answers))

    def _session(self, number: int, is_rest: bool) -> tuple[Session, Solver]:
        if (number, is_rest) not in self._sessions:
            text, options, inside, known = self._setup.sessions[number]
            session = Session(self._targets[text], options, inside=inside, known=known)
            session = session.for_the_rest() if is_rest else session
            self._sessions[number, is_rest] = (session, session.solver())
        return self._sessions[number, is_rest]

    def run(self, number: int, task: PathsTask) -> tuple[Counter[str], list[str]]:
        KNOWN_ANSWERS.learn(task.known)
        session, solver = self._session(task.session, task.is_rest)
        before = Counter(session.result.summaries)
        if task.start is None:
            self._whole(number, session)
        else:
            self._below(number, task, session, solver, task.start)
        if session.summaries is not None:
            session.result.summaries = Counter(session.summaries.counts())
        store = session.summaries.store if session.summaries is not None else None
        warnings = list(store.warnings) if store is not None else []
        return session.result.summaries - before, warnings

    def _below(self, number: int, task: PathsTask, session: Session, solver: Solver, start: Alternative) -> None:
        begun = time.monotonic()
        deadline = begun + task.seconds
        todo = [self._models.pop((task.session, start.choices), start)]
        now = begun
        while todo and now <= deadline and now - begun <= task.budget:
            alternative = todo.pop()
            long = _LongPath(self._tell, number, alternative.choices, now + task.budget)
            path = SymbolicPath(solver, alternative, deadline, words=session.samples, on_left=long.tell)
            ran = run_one(session.cases, path)
            todo.extend(ran.alternatives[long.told :])
            for left in ran.alternatives[: long.told]:
                self._models[task.session, left.choices] = left
            try:
                self._tell(("ran", number, alternative.choices, _plain(ran)), CasePickler)
            except _NOT_SENT:
                self._tell(("again", number, alternative.choices))
                return  # what it leaves is known when it has been run again
            now = time.monotonic()
        for left in todo:
            self._models[task.session, left.choices] = left

    def _whole(self, number: int, session: Session) -> None:
        explored = session.explore()
        seen = explored.seen
        seen.pending = [a.bare() for a in seen.pending]
        seen.ends = [([_sendable(part) for part in story], end) for story, end in seen.ends]
        facts = {f.name: getattr(explored, f.name) for f in dataclasses.fields(explored) if f.name != "target"}
        try:
            self._tell(("explored", number, facts), CasePickler)
        except _NOT_SENT:
            self._tell(("again", number, None))
