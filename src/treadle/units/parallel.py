"""Exploring in several processes: `--workers`.

The tree of a function is a list of paths in depth-first order, each run or still to be run; a path that has been run
is followed by what it left for later. Workers run what comes first in that list and is not taken; paths are booked
from its head, in order. So the result is that of one process, byte for byte, however many there are: what was run
beyond the limit on paths is thrown away. Only a limit on time lets chance in; then all that was found is kept.

A worker stays with a function, takes the next one that nobody has begun, and helps with another's subtrees when there
is none left. It gets a subtree for a moment and gives back what is left, so that no heavy one is a single worker's lot;
of a path that takes long by itself, others get what it has left for later while it runs.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from treadle.search.cluster import Workforce, pool_of
from treadle.search.workers import AnyPool, Busy
from treadle.symbolic.explore import End, PathRun, book, run_one
from treadle.symbolic.path import Alternative, Choices, Limit, SymbolicPath
from treadle.symbolic.solve.answers import KNOWN_ANSWERS, KnownAnswer
from treadle.symbolic.solve.solver import Solver
from treadle.units.cases import Cases
from treadle.units.ctrl_c import CtrlC
from treadle.units.explore import ExploredTarget, Session
from treadle.units.worker import PathsTask, Setup

# Long enough that talking costs little, short enough that nobody waits for work.
_BUDGET = 0.15
# Tasks a worker has at a time: the next one is there when it is done with one.
_AHEAD = 2
# Seconds to wait for news before looking at the clock.
_PATIENCE = 0.2

Progress = Callable[[str, int, int, int], None]


@dataclass(slots=True, eq=False)
class _Node:
    """A path of the list."""

    alternative: Alternative
    parent: _Node | None = None
    next: _Node | None = None
    ran: PathRun[Cases] | None = None
    # what it has left for later, as far as that was told while it ran; and who stood behind it before
    early: list[_Node] = field(default_factory=list)
    behind: _Node | None = None
    taken: bool = False
    died: bool = False  # its worker has died with it once
    lost: bool = False
    booked: bool = False

    @property
    def free(self) -> bool:
        return not self.taken and self.ran is None and not self.lost


@dataclass(slots=True, eq=False)
class _Given:
    """A task in the hands of a worker: the paths it may run, as far as they are known."""

    tree: _Tree
    open: dict[Choices, _Node] = field(default_factory=dict)


class _Tree:
    """The paths of one function, in order."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.first: _Node | None = None
        self._chain(None, session.start)
        self.begun: float | None = None
        self.over = False
        # a guided search is not a walk in order: one process does it, from beginning to end
        self.whole = session.guide is not None
        self.concluded = False
        # once this one is over: the search for branches that its limit has cut off
        self.rest: _Tree | None = None
        self.counts: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._solver: Solver | None = None

    @property
    def around(self) -> tuple[str, str]:
        """The module that the function is in, and its class."""
        module, _, name = self.session.target.text.partition(":")
        return module, name.rpartition(".")[0]

    def _chain(self, after: _Node | None, left: Sequence[Alternative]) -> list[_Node]:
        """Put what is left behind a path, the first to be run first."""
        nodes = [_Node(alternative, after) for alternative in left]
        following = after.next if after is not None else self.first
        for node in reversed(nodes):
            node.next, following = following, node
        if after is not None:
            after.next = following
        else:
            self.first = following
        return nodes

    def nodes(self) -> Iterator[_Node]:
        node = self.first
        while node is not None:
            yield node
            node = node.next

    def free(self) -> _Node | None:
        return next((node for node in self.nodes() if node.free), None)

    @property
    def deadline(self) -> float:
        return float("inf") if self.begun is None or self.whole else self.begun + self.session.options.seconds

    def begin(self) -> None:
        self.begun = self.begun if self.begun is not None else time.monotonic()

    def add(self, node: _Node, ran: PathRun[Cases]) -> list[_Node]:
        """A path has been run, here or elsewhere; what it left for later and was not told before."""
        node.ran = ran
        told = [early.alternative.choices for early in node.early]
        if told != [alternative.choices for alternative in ran.alternatives[: len(told)]]:
            self.forget_early(node)
        return self._chain(node, list(reversed(ran.alternatives[len(node.early) :])))

    def add_early(self, node: _Node, left: Sequence[Alternative]) -> None:
        """A path that is still being run has left these for later, each nearer to it than those before."""
        if not node.early:
            node.behind = node.next
        node.early += reversed(self._chain(node, list(reversed(left))))

    def forget_early(self, node: _Node) -> None:
        """What a path has told while it ran does not count: it is run again."""
        if node.early:
            node.next, node.early = node.behind, []

    def settle(self) -> None:
        """Book what has been run, in order, up to the first path that has not."""
        while self.first is not None and not self.over and (self.first.ran is not None or self.first.lost):
            node = self.first
            self.first = node.next
            self._book(node)
            if self.session.is_full():
                self.close(Limit.PATHS)
        if self.first is None:
            self.over = True

    def _book(self, node: _Node) -> None:
        node.booked = True
        seen = self.session.result.seen
        if node.ran is None:
            seen.cut[Limit.LOST] += 1
            seen.pending.append(node.alternative.bare())
            return
        book(node.ran, seen)
        if node.ran.end.how is End.FINISHED:
            self.session.keep(node.ran)

    def close(self, why: Limit) -> None:
        """No time, or no room for more paths: keep what there is, the rest is pending."""
        if self.over:
            return
        self.over = True
        left = 0
        for node in self.nodes():
            if node.parent is not None and not node.parent.booked:
                continue  # known only because a path was run that is not going to be kept
            if (node.ran is not None or node.lost) and not self.session.is_full():
                self._book(node)
            else:
                left += 1
                self.session.result.seen.pending.append(node.alternative.bare())
        self.first = None
        if left:
            self.session.result.seen.cut[why] += left

    def run_here(self, node: _Node) -> None:
        if self._solver is None:
            self._solver = self.session.solver()
        self.begin()
        path = SymbolicPath(self._solver, node.alternative, self.deadline, words=self.session.samples)
        self.add(node, run_one(self.session.cases, path))

    def explore_here(self) -> None:
        self.session.explore()
        self.over = self.concluded = True

    def finish(self) -> ExploredTarget:
        result = self.session.result if self.concluded else self.session.finish()
        result.summaries += self.counts
        result.warnings += [w for w in dict.fromkeys(self.warnings) if w not in result.warnings]
        if self.rest is not None:
            result.add(self.rest.finish())
        return result


class _Coordinator:
    """Hands out work, and books what comes back."""

    def __init__(self, trees: Sequence[_Tree], pool: AnyPool) -> None:
        self.functions = trees
        # the functions, and behind them the rests of those that a limit has cut
        self.trees = list(trees)
        self.pool = pool
        self.given: dict[int, _Given] = {}
        self.numbers = itertools.count()
        self.places: dict[int, int] = {id(tree): number for number, tree in enumerate(trees)}
        # which function a worker is with
        self.stays: dict[Busy, _Tree] = {}
        # what the solver of a worker has answered, in order; and how many of these another one has been told
        self.known: list[tuple[Busy, KnownAnswer]] = []
        self.told: Counter[Busy] = Counter()

    def run(self, ctrl_c: CtrlC) -> None:
        while any(not tree.over for tree in self.trees):
            if ctrl_c.pressed or any(tree.session.result.stopped for tree in self.trees):
                raise KeyboardInterrupt
            now = time.monotonic()
            for tree in self.trees:
                if now > tree.deadline:
                    tree.close(Limit.TIME)
            self._hand_out()
            if not self.pool.ready and self._run_one_here():
                wait = 0.0
            else:
                soon = min((tree.deadline for tree in self.trees if not tree.over), default=now)
                wait = max(0.0, min(_PATIENCE, soon - now))
            for worker, message in self.pool.news(wait):
                self._hear(worker, message)
            for tree in self.trees:
                if not tree.whole:
                    tree.settle()
            self._add_rests()
            if self.pool.exhausted:
                for tree in self.trees:
                    tree.close(Limit.LOST)

    def _add_rests(self) -> None:
        for tree in self.functions:
            if tree.over and tree.rest is None and tree.session.has_a_rest:
                session = tree.session.for_the_rest()
                session.ctrl_c, session.progress = tree.session.ctrl_c, tree.session.progress
                tree.rest = _Tree(session)
                self.trees.append(tree.rest)
                self.places[id(tree.rest)] = self.places[id(tree)]

    def _run_one_here(self) -> bool:
        """While no worker is up, this process does what comes first; for a short function that is all there is.

        With more functions than workers it waits for them: one slow path here would keep them all from their work.
        """
        if self.pool.coming and len(self.functions) > self.pool.size:
            return False
        for tree in self.trees:
            node = None if tree.over else tree.free()
            if node is None:
                continue
            if tree.whole:
                if self.pool.coming:
                    continue
                node.taken = True
                tree.explore_here()
            else:
                tree.run_here(node)
            return True
        return False

    # --- out ---------------------------------------------------------------------------------------------

    def _hand_out(self) -> None:
        for worker in self.pool.ready:
            while len(worker.tasks) < _AHEAD:
                found = self._work_for(worker)
                if found is None:
                    break
                tree, node = found
                self.stays[worker] = tree
                tree.begin()
                node.taken = True
                left = max(0.0, tree.deadline - time.monotonic())
                start = None if tree.whole else node.alternative.bare()
                number = next(self.numbers)
                self.given[number] = _Given(tree, {node.alternative.choices: node})
                is_rest = tree not in self.functions
                known = [answer for other, answer in self.known[self.told[worker] :] if other is not worker]
                self.told[worker] = len(self.known)
                self.pool.give(worker, number, PathsTask(self.places[id(tree)], start, left, _BUDGET, is_rest, known))

    def _work_for(self, worker: Busy) -> tuple[_Tree, _Node] | None:
        """Of a function that everybody has left; of the worker's own; of a new one; of any.

        A worker that is busy gets more of the same only: the clock of a function runs from its first path. A new one is
        rather of a class that no other worker is with: neighbours ask their solvers the same.
        """
        attended = [self.stays[p] for p in self.pool.ready if p in self.stays and p.tasks]
        around = {tree.around for tree in attended}
        own = self.stays.get(worker)
        rules: list[Callable[[_Tree], bool]] = [lambda tree: tree is own]
        if not worker.tasks:
            rules.insert(0, lambda tree: tree.begun is not None and tree not in attended)
            rules += [
                lambda tree: tree.begun is None and tree.around not in around,
                lambda tree: tree.begun is None,
                lambda tree: True,
            ]
        for rule in rules:
            for tree in self.trees:
                node = tree.free() if not tree.over and rule(tree) else None
                if node is not None:
                    return tree, node
        return None

    # --- in ----------------------------------------------------------------------------------------------

    def _hear(self, worker: Busy, message: Any) -> None:
        match message:
            case ("ran", number, choices, ran):
                given = self.given[number]
                node = given.open.pop(choices, None)  # None: the program is not the same there as it is here
                if node is not None and not given.tree.over:
                    for left in given.tree.add(node, ran):
                        left.taken = True
                        given.open[left.alternative.choices] = left
            case ("left", number, choices, alternatives):
                given = self.given[number]
                node = given.open.get(choices)
                if node is not None and not given.tree.over:
                    given.tree.add_early(node, alternatives)
            case ("known", answers):
                self.known += [(worker, answer) for answer in answers]
            case ("again", number, choices):
                self._here(self.given[number], choices)
            case ("explored", number, facts):
                given = self.given[number]
                given.open.clear()
                for name, value in facts.items():
                    setattr(given.tree.session.result, name, value)
                given.tree.over = given.tree.concluded = True
            case ("done", number, (counts, warnings)):
                given = self.given.pop(number)
                given.tree.counts += counts
                given.tree.warnings += warnings
                for node in given.open.values():
                    node.taken = False
            case ("died", tasks, how):
                self._bury(worker, tasks, how)

    def _here(self, given: _Given, choices: Choices | None) -> None:
        """A case that cannot be sent is made in this process."""
        if choices is None:
            given.open.clear()
            given.tree.explore_here()
            return
        node = given.open.pop(choices, None)  # None: a limit was reached before, and nobody noted what came after
        if node is not None and not given.tree.over:
            given.tree.run_here(node)

    def _bury(self, worker: Busy, tasks: Sequence[int], how: str) -> None:
        """What a worker had goes to others; a path with which a second one dies is lost, and said."""
        self.stays.pop(worker, None)
        for position, number in enumerate(tasks):
            given = self.given.pop(number)
            if given.tree.over:
                continue
            for node in given.open.values():
                node.taken = False
                given.tree.forget_early(node)
            if position == 0 and given.open:
                mine = {id(node) for node in given.open.values()}
                running = next(node for node in given.tree.nodes() if id(node) in mine)
                if not running.died:
                    running.died = True
                    continue
                running.lost = True
                given.tree.warnings.append(f"two worker processes died ({how}) on one path, which has no test")
                if given.tree.whole:
                    given.tree.settle()


def explore_all(
    sessions: Sequence[Session],
    texts: Sequence[str],
    workers: Workforce,
    progress: Progress | None = None,
    ctrl_c: CtrlC | None = None,
) -> list[ExploredTarget]:
    """All sessions, in so many processes; the same as one after the other in this one. Ctrl-C keeps what was found."""
    ctrl_c = ctrl_c or CtrlC()
    with ctrl_c:
        return _explore_all(sessions, texts, workers, progress, ctrl_c)


def _explore_all(
    sessions: Sequence[Session], texts: Sequence[str], workers: Workforce, progress: Progress | None, ctrl_c: CtrlC
) -> list[ExploredTarget]:
    trees = [_Tree(session) for session in sessions]
    for tree in trees:
        tree.session.ctrl_c = ctrl_c
        if progress is not None:
            tree.session.progress = _teller(progress, trees, tree)
    recipes = [(s.target.text, s.options, dict(s.inside), s.known) for s in sessions]
    setup = Setup(texts, recipes, KNOWN_ANSWERS.worth_telling)
    try:
        if any(not tree.over for tree in trees):
            with pool_of(workers, "treadle.units.worker:PathServer", setup, "unit") as pool:
                _Coordinator(trees, pool).run(ctrl_c)
                for tree in trees:
                    tree.warnings += pool.warnings
    except KeyboardInterrupt:
        for tree in [*trees, *(tree.rest for tree in trees if tree.rest is not None)]:
            if not tree.over:
                tree.close(Limit.TIME)
                tree.session.result.stopped = True
    return [tree.finish() for tree in trees]


def _teller(progress: Progress, trees: Sequence[_Tree], tree: _Tree) -> Callable[[int], None]:
    def tell(cases: int) -> None:
        progress(tree.session.target.text, sum(t.over for t in trees), len(trees), cases)

    return tell
