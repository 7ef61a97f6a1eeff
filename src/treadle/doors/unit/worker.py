"""A process that runs paths for another one: `--workers`.

It resolves the targets itself, runs what is below the choices it is given, and sends every path as soon as it has
ended, so that whoever kills it loses one path. Standard output belongs to the conversation; what the program under
test prints goes nowhere.

Messages are pickles, each after its length. To the worker: a `Setup`, then `PathsTask`s; closing its input ends it.
From it: ("ready",), ("ran", task, choices, path), ("again", task, choices) for a path whose case cannot be sent,
("done", task, counts, warnings).
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import io
import os
import pathlib
import pickle
import signal
import struct
import sys
import time
import traceback
import types
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import IO, Any

from treadle.doors.unit.cases import Cases
from treadle.doors.unit.explore import Session
from treadle.doors.unit.options import UnitOptions
from treadle.doors.unit.select import AlreadyCovered
from treadle.doors.unit.target import UnitTarget, resolve
from treadle.symbolic.explore import PathRun, run_one
from treadle.symbolic.expr.show import show
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.aliasings import AliasingNumbers
from treadle.symbolic.path import About, Alternative, Choices, Note, SymbolicPath
from treadle.symbolic.solve.solver import Solver

# What a session is made of: its target, and the arguments of `Session`.
Recipe = tuple[str, UnitOptions, dict[Choices, AliasingNumbers], AlreadyCovered]


@dataclass(frozen=True, slots=True)
class Setup:
    """Where to look for the targets, and how each is explored."""

    folder: str
    path: list[str]
    texts: list[str]
    sessions: list[Recipe]

    @classmethod
    def of(cls, texts: Sequence[str], sessions: Sequence[Recipe]) -> Setup:
        return cls(os.getcwd(), list(sys.path), list(texts), list(sessions))


@dataclass(frozen=True, slots=True)
class PathsTask:
    """Run what is below some choices for a while; without them, explore the target as a whole."""

    number: int
    session: int
    start: Alternative | None
    # until the function's time is up, and how long to work before the rest goes back
    seconds: float
    budget: float


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
    "treadle.doors.unit.",
    "treadle.symbolic.path",
    "treadle.symbolic.explore",
    "treadle.symbolic.testcase",
)


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        kind = type(obj)
        if isinstance(obj, _VALUES) or kind.__module__.startswith(_NOUNS):
            return NotImplemented
        raise pickle.PicklingError(f"{kind.__name__} is not sent")


def send(stream: IO[bytes], message: Any) -> None:
    data = io.BytesIO()
    _Pickler(data, pickle.HIGHEST_PROTOCOL).dump(message)
    stream.write(struct.pack("!Q", data.tell()) + data.getvalue())
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError when there is none."""
    head = stream.read(8)
    size = struct.unpack("!Q", head)[0] if len(head) == 8 else 0
    data = stream.read(size)
    if len(head) < 8 or len(data) < size:
        raise EOFError
    return pickle.loads(data)


def _sendable(part: Expr | Note) -> Note:
    return Note(About.TEXT, show(part)) if isinstance(part, Expr) else part


def _plain(ran: PathRun[Cases]) -> PathRun[Cases]:
    """Without expressions, which mean nothing in another process."""
    left = [a.bare() for a in ran.alternatives]
    return dataclasses.replace(ran, story=[_sendable(part) for part in ran.story], alternatives=left)


# --- work --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Worker:
    out: IO[bytes]
    setup: Setup
    targets: dict[str, UnitTarget] = field(default_factory=dict)
    sessions: dict[int, tuple[Session, Solver]] = field(default_factory=dict)
    # models of what was given back: they spare a question when it returns to this process
    models: dict[tuple[int, Choices], Alternative] = field(default_factory=dict)

    def session(self, number: int) -> tuple[Session, Solver]:
        if number not in self.sessions:
            text, options, inside, known = self.setup.sessions[number]
            session = Session(self.targets[text], options, inside=inside, known=known)
            self.sessions[number] = (session, session.solver())
        return self.sessions[number]

    def run(self, task: PathsTask) -> None:
        session, solver = self.session(task.session)
        before = Counter(session.result.summaries)
        if task.start is None:
            self._whole(task, session)
        else:
            self._below(task, session, solver, task.start)
        if session.summaries is not None:
            session.result.summaries = Counter(session.summaries.counts())
        store = session.summaries.store if session.summaries is not None else None
        warnings = list(store.warnings) if store is not None else []
        send(self.out, ("done", task.number, session.result.summaries - before, warnings))

    def _below(self, task: PathsTask, session: Session, solver: Solver, start: Alternative) -> None:
        begun = time.monotonic()
        deadline = begun + task.seconds
        todo = [self.models.pop((task.session, start.choices), start)]
        while todo and (now := time.monotonic()) <= deadline and now - begun <= task.budget:
            alternative = todo.pop()
            path = SymbolicPath(solver, alternative, deadline, words=session.samples)
            ran = run_one(session.cases, path)
            todo.extend(ran.alternatives)
            try:
                send(self.out, ("ran", task.number, alternative.choices, _plain(ran)))
            except (pickle.PicklingError, AttributeError, TypeError):
                send(self.out, ("again", task.number, alternative.choices))
                return  # what it leaves is known when it has been run again
        for left in todo:
            self.models[task.session, left.choices] = left

    def _whole(self, task: PathsTask, session: Session) -> None:
        explored = session.explore()
        seen = explored.seen
        seen.pending = [a.bare() for a in seen.pending]
        seen.ends = [([_sendable(part) for part in story], end) for story, end in seen.ends]
        facts = {f.name: getattr(explored, f.name) for f in dataclasses.fields(explored) if f.name != "target"}
        try:
            send(self.out, ("explored", task.number, facts))
        except (pickle.PicklingError, AttributeError, TypeError):
            send(self.out, ("again", task.number, None))


def main() -> None:
    """Serve until the input ends."""
    incoming, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that was started by a person
    try:
        setup: Setup = receive(incoming)
        os.chdir(setup.folder)
        sys.path[:] = setup.path
        worker = _Worker(out, setup)
        for text in setup.texts:
            for target in resolve(text):
                worker.targets.setdefault(target.text, target)
        send(out, ("ready",))
        while True:
            worker.run(receive(incoming))
    except (EOFError, BrokenPipeError):
        code = 0
    except BaseException:
        traceback.print_exc()
        code = 70
    sys.stderr.flush()
    os._exit(code)  # whatever threads or handlers the program under test has left behind
