"""Parts of the tree below an actor's method, walked in this process or by workers.

What is below a node depends on the way to it alone, so a part is named by numbers (`TreePart`), its answer is data, and
the answers in the order of the tree are what one walk gives: cases, counts and coverage (`generated.py` adds them up).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import NamedTuple

from treadle.abs.explore.cases import ActorCase, CaseWriter, Style
from treadle.abs.explore.coverage import CoverageCounter, SentCoverage
from treadle.abs.explore.related import related
from treadle.abs.explore.replaying import replayed
from treadle.abs.explore.tree import WHOLE, TreeExplorer, TreeNode, TreePart
from treadle.abs.language.depth import deep_recursion
from treadle.abs.machine.code import Code
from treadle.abs.machine.criteria import Bounds, OrderSelection, TreeProgress
from treadle.abs.machine.machine import ActorMachine
from treadle.abs.machine.policies import check_policies
from treadle.abs.machine.system import StartingState, check_can_be_unknown, find_method, main_root, unknown_root
from treadle.doors.actor.loaded import AbsModel
from treadle.search.workers import Tell


@dataclass(frozen=True, slots=True)
class ActorSearch:
    """What is explored, and how: the same in every process."""

    path: str
    name: str  # Class.method, or nothing for the main block
    bounds: Bounds
    selection: OrderSelection
    domain: tuple[int, int] | None
    style: Style
    pruning: int
    record: bool


class PartTask(NamedTuple):
    """A part of the tree below one of the roots, and how much of it."""

    root: int
    part: TreePart = WHOLE
    seconds: float | None = None
    states: int | None = None
    keep: int | None = None  # cases that are told


@dataclass(slots=True)
class PartAnswer:
    """What came of a part; `rest` is what is left of it."""

    progress: TreeProgress = field(default_factory=TreeProgress)
    cases: list[ActorCase | None] = field(default_factory=list)  # None: it did not do again what it says
    assertions: int = 0
    endless: str = ""  # the first loop that never ends, as an error tells it
    refused: str = ""  # the first thing that is not executed, with its place
    undecided: frozenset[str] = frozenset()
    coverage: SentCoverage = field(default_factory=SentCoverage)
    rest: TreePart | None = None
    recorded: list[TreeNode | None] = field(default_factory=list)  # new children of the part's nodes
    unfinished: list[TreeNode | None] = field(default_factory=list)  # the nodes of the rest


class PartServer:
    """Walks parts of one tree."""

    def __init__(self, search: ActorSearch, tell: Tell | None = None) -> None:
        self.search = search
        model = AbsModel.load(search.path)
        check_policies(search.selection.of_class, [cls.name for cls in model.program.classes])
        self.machine = ActorMachine(model.image, search.bounds, search.selection, search.domain)
        self.roots, self.related = _roots(self.machine, model, search)
        self._image = model.image
        self._covered = self.counter()
        self.on_progress: Callable[[TreeProgress], None] | None = None
        self._writer = CaseWriter(self.machine, search.style)

    def counter(self) -> CoverageCounter:
        return CoverageCounter(self._image, _starting_code(self.roots))

    def run(self, _: int, task: PartTask) -> PartAnswer:
        answer = PartAnswer()
        self.walk(task, answer)
        return answer

    def walk(self, task: PartTask, answer: PartAnswer) -> None:
        """Walk a part into its answer, which holds what there is whenever somebody stops this."""
        root = self.roots[task.root]
        explorer = TreeExplorer(self.machine, root.entry.key)
        explorer.recording = self.search.record
        explorer.progress = answer.progress
        end = None if task.seconds is None else time.perf_counter() + task.seconds

        def carry_on(progress: TreeProgress) -> bool:
            if self.on_progress is not None and not progress.states & 255:
                self.on_progress(progress)
            in_time = end is None or time.perf_counter() < end
            return in_time and (task.states is None or progress.states < task.states)

        explorer.on_state = carry_on
        told = 0
        try:
            with deep_recursion():
                for leaf in explorer.leaves(root.state, task.part):
                    self._covered.add(leaf.state)
                    answer.assertions += any(one.is_assertion for one in leaf.state.failures())
                    if task.keep is None or told < task.keep:
                        case = self._writer.case(root, leaf)
                        verified = self._verified(root, case)
                        told += verified
                        answer.cases.append(case if verified else None)
        finally:
            answer.endless = str(explorer.endless[0][2].error) if explorer.endless else ""
            answer.refused = explorer.refused
            answer.undecided = frozenset(self.machine.paths.undecided)
            answer.coverage = self._covered.taken()
            answer.rest = explorer.rest
            answer.recorded, answer.unfinished = explorer.recorded, explorer.unfinished

    def _verified(self, root: StartingState, case: ActorCase) -> bool:
        if not self.search.name:
            case.verified = True
        elif self.search.style == "values":
            again = replayed(self.machine, root.entry.this.cls, root.entry.code.name, case)
            case.verified = again is not None and again.same_as(case)
        return case.verified or self.search.style != "values"


def _roots(machine: ActorMachine, model: AbsModel, search: ActorSearch) -> tuple[list[StartingState], list[str]]:
    """The starting states: one, or one per collection of up to `queue` related methods behind the entry."""
    if not search.name:
        return [main_root(machine, model.program)], []
    cls, method = find_method(model.program, search.name)
    check_can_be_unknown(machine, cls, method)
    chosen = related(model.image, cls, method.name, search.pruning)
    roots = []
    for size in range(search.bounds.queue + 1):
        for queue in combinations_with_replacement(chosen, size):
            roots.append(unknown_root(machine, cls, method.name, queue))
    return roots, chosen


def _starting_code(roots: list[StartingState]) -> list[Code]:
    """What the starting states have in their queues: the method under test and those behind it, or the main block."""
    return list(dict.fromkeys(task.code for root in roots for q in root.state.queues.values() for task in q))
