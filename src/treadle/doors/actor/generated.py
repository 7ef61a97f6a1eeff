"""The tests of an actor's method: the tree below it, walked by this process or by workers, and what it gave.

Parts of the tree are kept in the order of the tree, and added up from the first on: what comes out is the same however
many processes there are. Only a limit on time lets chance in; then all that was walked counts. A part whose worker died
is walked again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from treadle.abs.explore.cases import ActorCase, Style
from treadle.abs.explore.coverage import ActorCoverage
from treadle.abs.explore.tree import WHOLE, TreeNode, TreePart
from treadle.abs.machine.criteria import REDUCTIONS, Bounds, Cuts, OrderSelection, TreeProgress
from treadle.core.errors import UsageError
from treadle.core.json_form import NOT_IN_JSON, JsonForm, in_json_as
from treadle.core.saved import SavedCampaign, nothing_saved
from treadle.core.verdict import exit_code_of
from treadle.doors.actor.case_trail import trail_of_case
from treadle.doors.actor.loaded import split_target
from treadle.doors.actor.parts import ActorSearch, PartAnswer, PartServer, PartTask
from treadle.search.cluster import ALONE, Workforce, pool_of
from treadle.search.workers import AnyPool, gone

# Unknown integers range over this much by default: the published figures were counted with it.
DOMAIN = (-10, 10)
# Bounds of a main block: far beyond what a model that ends needs, so that one that does not is cut.
MAIN_BOUNDS = Bounds(loop=None, tasks=200, actors=100, steps=100_000)
# Seconds of the first part that a worker gets: there is nothing yet for the others.
_FIRST = 0.05
# Seconds to wait for news before looking at the clock.
_PATIENCE = 0.2

Progress = Callable[[TreeProgress], None]


@dataclass(slots=True)
class GeneratedCases(JsonForm):
    """What exploring one method gave."""

    target: str
    cases: list[ActorCase]
    states: int
    cuts: Cuts
    deadlocks: int
    seconds: float
    bounds: Bounds
    selection: OrderSelection = field(metadata=in_json_as("*"))
    style: Style = field(default="values", metadata=NOT_IN_JSON)
    tests: int = 0
    assertions: int = field(default=0, metadata=NOT_IN_JSON)  # tests in which an ABS assertion fails
    endless: str = field(default="", metadata=NOT_IN_JSON)  # the first loop that never ends, as an error tells it
    processor_seconds: float = field(default=0.0, metadata=NOT_IN_JSON)
    # why the exploration ended early, "" when it did not
    stopped: str = field(default="", metadata=in_json_as("stopped", lambda why: why or None))
    # the first thing that a run came to and that is not executed, with its place; other runs went on
    refused: str = field(default="", metadata=in_json_as("refused", lambda what: what or None))
    unproved: int = 0  # branches the solver could not decide, kept as possible
    rejected: int = 0  # cases that did not do again what they say
    related: list[str] = field(default_factory=list)  # methods worth having in the queue
    coverage: ActorCoverage = field(default_factory=ActorCoverage)  # of all tests, told or not
    tree: TreeNode | None = field(default=None, metadata=NOT_IN_JSON)

    @property
    def exit_code(self) -> int:
        """0 tests were found, 1 one of them fails, 2 a run was refused, 3 nothing was found or time ran out."""
        return exit_code_of(
            failed=bool(self.deadlocks or self.assertions or self.endless),
            refused=bool(self.refused),
            unfinished=bool(self.stopped or not self.tests),
        )

    def to_json(self) -> dict[str, Any]:
        facts = JsonForm.to_json(replace(self, cases=[]))
        facts["cases"] = [self._case_in_json(case) for case in self.cases]
        return facts

    def json_pieces(self) -> Iterator[str]:
        """The same as text, case by case: a hundred thousand cases are never in memory twice."""
        for number, (name, value) in enumerate(JsonForm.to_json(replace(self, cases=[])).items()):
            yield f"{', ' if number else '{'}{json.dumps(name)}: "
            if name != "cases":
                yield json.dumps(value)
                continue
            yield "["
            for place, case in enumerate(self.cases):
                yield (", " if place else "") + json.dumps(self._case_in_json(case))
            yield "]"
        yield "}"

    def _case_in_json(self, case: ActorCase) -> dict[str, Any]:
        """Cases that are told in values can be replayed."""
        if self.style == "values" and not case.replay:
            case = replace(case, replay=str(trail_of_case(self.target, case)))
        return case.to_json()


def generate(
    target: str,
    *,
    bounds: Bounds | None = None,
    selection: OrderSelection | None = None,
    domain: tuple[int, int] | None = DOMAIN,
    style: Style = "values",
    seconds: float | None = None,
    states: int | None = None,
    record: bool = False,
    keep: int | None = None,
    pruning: int = 3,
    on_progress: Progress | None = None,
    workforce: Workforce = ALONE,
    resume: bool = False,
) -> GeneratedCases:
    """Explore `model.abs:Class.method` with unknown inputs; without a method, the main block.

    `keep` limits how many cases are written out (all are counted); `record` keeps the tree for a picture; `pruning`
    says which methods are tried in the queue (`related`). An exploration that is stopped is saved; with `resume`, the
    next one goes on from there.
    """
    selection = selection or OrderSelection()
    if selection.reduce not in REDUCTIONS:
        raise UsageError(f"--reduce is one of {', '.join(REDUCTIONS)}, not '{selection.reduce}'")
    path, name = split_target(target)
    bounds = bounds or (Bounds() if name else MAIN_BOUNDS)
    search = ActorSearch(path, name, bounds, selection, domain if name else None, style, pruning, record)
    here = PartServer(search)
    here.on_progress = on_progress
    walk = TreeWalk(here, target, seconds, states, keep)
    saved = SavedCampaign("actor", search, keep)
    if resume:
        stopped = saved.load()
        if stopped is None:
            raise UsageError(nothing_saved(target))
        walk.put_back(stopped)
    busy = time.process_time()
    try:
        if workforce.several:
            with pool_of(workforce, PartServer, search, f"actor {target}") as pool:
                walk.together(pool, workforce.share)
        else:
            walk.alone()
    except KeyboardInterrupt:
        walk.made.stopped = "stopped by the user"
    if walk.made.stopped and (workforce.several or resume):
        saved.save(walk.stopped(), sorted(Path(path).parent.glob("*.abs")))
    elif not walk.made.stopped:
        saved.remove()
    made = walk.conclude()
    made.processor_seconds = time.process_time() - busy
    return made


@dataclass(slots=True, eq=False)
class _Piece:
    """A part in its place in the order of the tree; with an answer it waits for those before it."""

    root: int
    part: TreePart
    answer: PartAnswer | None = None
    number: int | None = None  # of the task that somebody has been given
    states: int | None = None  # at most
    partial: bool = False  # is the answer only that of the part so far?


class TreeWalk:
    """One exploration: the pieces that are left, in order, and what those before them gave."""

    def __init__(
        self, here: PartServer, target: str, seconds: float | None, states: int | None, keep: int | None
    ) -> None:
        search = here.search
        self.here = here
        self.seconds = seconds
        self.states = states
        self.keep = keep
        self.started = time.perf_counter()
        self.made = GeneratedCases(
            target, [], 0, Cuts(), 0, 0.0, search.bounds, search.selection, search.style, related=here.related
        )
        self.made.tree = TreeNode("start") if search.record else None
        self.nodes: dict[tuple[int, tuple[int, ...]], TreeNode | None] = {
            (root, ()): self.made.tree for root in range(len(here.roots))
        }
        self.covered = here.counter()
        self.undecided: set[str] = set()
        self.pieces = [_Piece(root, WHOLE) for root in range(len(here.roots))]
        self.told = TreeProgress()  # of all answers, in order or not

    def stopped(self) -> tuple[Any, ...]:
        """What a later walk needs to go on: parts that somebody was walking count as not begun."""
        pieces = [_Piece(one.root, one.part, None if one.partial else one.answer) for one in self.pieces]
        return self.made, self.nodes, pieces, self.covered.taken(keep=True), self.undecided

    def put_back(self, stopped: tuple[Any, ...]) -> None:
        self.made, self.nodes, self.pieces, covered, self.undecided = stopped
        self.covered.join(covered)
        self.made.stopped = ""

    # ------------------------------------------------------------------ in this process

    def alone(self) -> None:
        while self.pieces and not self.made.stopped:
            self._walk_here(self.pieces[0])
            self._settle()
            self._look_at_the_clock()

    def _walk_here(self, piece: _Piece) -> None:
        left = None if self.seconds is None else max(0.0, self.started + self.seconds - time.perf_counter())
        piece.states = self._states_left()
        piece.answer, piece.partial = PartAnswer(), True
        self.here.walk(PartTask(piece.root, piece.part, left, piece.states, self._wanted()), piece.answer)
        piece.partial = False
        self._keep_rest(piece, piece.answer)

    def _states_left(self) -> int | None:
        return None if self.states is None else self.states - self.made.states

    def _wanted(self) -> int | None:
        return None if self.keep is None else max(0, self.keep - len(self.made.cases))

    def _look_at_the_clock(self) -> None:
        if self.seconds is not None and self.pieces and time.perf_counter() - self.started > self.seconds:
            self.made.stopped = f"{self.seconds:g} seconds are over"

    # ------------------------------------------------------------------ by workers

    def together(self, pool: AnyPool, share: float) -> None:
        numbers = count()
        while self.pieces and not self.made.stopped:
            self._hand_out(pool, numbers, share)
            for _, message in pool.news(_PATIENCE):
                given = {piece.number: piece for piece in self.pieces if piece.number is not None}
                if message[0] == "done" and message[1] in given:
                    self._keep(given[message[1]], message[2])
                elif message[0] == "died":
                    for number in message[1]:
                        if number in given:
                            given[number].number = None
            self._settle()
            self._look_at_the_clock()
            if not pool.coming and self.pieces:
                self.made.stopped = self.made.stopped or gone(pool)

    def _hand_out(self, pool: AnyPool, numbers: Iterator[int], share: float) -> None:
        idle = [worker for worker in pool.ready if not worker.tasks]
        waiting = [piece for piece in self.pieces if piece.answer is None and piece.number is None]
        while len(waiting) < len(idle):
            place = next((at for at, piece in enumerate(waiting) if len(piece.part.done) > 1), None)
            if place is None:
                break
            waiting[place : place + 1] = self._halved(waiting[place])
        for worker, piece in zip(idle, waiting, strict=False):
            piece.number, piece.states = next(numbers), self._states_left()
            seconds = share if piece.number >= 2 * pool.size else _FIRST
            pool.give(worker, piece.number, PartTask(piece.root, piece.part, seconds, piece.states, self._wanted()))

    def _halved(self, piece: _Piece) -> list[_Piece]:
        place = self.pieces.index(piece)
        self.pieces[place : place + 1] = [_Piece(piece.root, half) for half in piece.part.halves()]
        return self.pieces[place : place + 2]

    def _keep(self, piece: _Piece, answer: PartAnswer) -> None:
        piece.answer, piece.number = answer, None
        self._keep_rest(piece, answer)
        self.told.states += answer.progress.states
        self.told.tests += answer.progress.tests
        if self.here.on_progress is not None:
            self.here.on_progress(self.told)

    def _keep_rest(self, piece: _Piece, answer: PartAnswer) -> None:
        if answer.rest is not None:
            self.pieces.insert(self.pieces.index(piece) + 1, _Piece(piece.root, answer.rest))

    # ------------------------------------------------------------------ adding up

    def _settle(self) -> None:
        """Add what was walked, up to the first piece that was not."""
        while self.pieces and self.pieces[0].answer is not None and not self.made.stopped:
            piece = self.pieces[0]
            assert piece.answer is not None
            left = self._states_left()
            if left is not None and piece.answer.progress.states >= left:
                if piece.states != left:  # others came to the limit before it: walked again, exactly so far
                    self._walk_here(piece)
                self.made.stopped = f"{self.states} states were reached"
            self._add(piece)
            del self.pieces[0]

    def _add(self, piece: _Piece) -> None:
        made, answer = self.made, piece.answer
        assert answer is not None
        progress = answer.progress
        made.states += progress.states
        made.tests += progress.tests
        made.deadlocks += progress.deadlocks
        for kind in ("loop", "task", "actor"):
            setattr(made.cuts, kind, getattr(made.cuts, kind) + getattr(progress.cuts, kind))
        made.assertions += answer.assertions
        made.endless = made.endless or answer.endless
        made.refused = made.refused or answer.refused
        self.undecided |= answer.undecided
        made.unproved = len(self.undecided)
        for case in answer.cases:
            if self.keep is not None and len(made.cases) >= self.keep:
                break
            if case is None:
                made.rejected += 1
            else:
                made.cases.append(case)
        self.covered.join(answer.coverage)
        self._record(piece, answer)

    def _record(self, piece: _Piece, answer: PartAnswer) -> None:
        """Hang what was recorded below the nodes that it belongs to."""
        for way, new in zip(piece.part.ways(), answer.recorded, strict=False):
            node = self.nodes.get((piece.root, way))
            if node is not None and new is not None:
                node.children += new.children
                node.status = new.status if new.status != "state" else node.status
        if answer.rest is not None:
            for way, left in zip(answer.rest.ways(), answer.unfinished, strict=True):
                self.nodes.setdefault((piece.root, way), left)

    def conclude(self) -> GeneratedCases:
        """What there is; of a walk that was stopped, all that was walked."""
        for piece in self.pieces:
            if piece.answer is not None and self._states_left() != 0:
                self._add(piece)
        self.made.coverage = self.covered.figures()
        self.made.seconds = time.perf_counter() - self.started
        return self.made
