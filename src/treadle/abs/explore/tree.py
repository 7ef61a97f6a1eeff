"""The symbolic execution tree, walked depth-first: which actor and task run next, what is cut, what is a leaf.

One state is the result of one macro-step. A leaf is a state in which no task can run: everything has ended, or what is
left waits for ever (then it is a deadlock, or a wait for a condition that nobody makes true).

What is below a node depends on nothing but the way to it: who sleeps there is decided by the tasks that come before in
order, not by what they led to. So any part of the tree can be walked alone (`TreePart`), and what was counted in parts
adds up to what one walk counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from treadle.abs.explore.names import decided_since, object_names
from treadle.abs.explore.reduction import Reduction
from treadle.abs.machine.criteria import SOUND_REDUCTIONS, CriterionReached, EndlessLoop, TreeProgress
from treadle.abs.machine.guards import holds
from treadle.abs.machine.machine import ActorMachine, MacroStep, RefusedHere, Thrown
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.values import ObjectRef
from treadle.core.errors import Unsupported

Sleep = dict[int, ActorTask]
# Of more ways into endless loops than these nobody needs to hear.
_MOST_ENDLESS = 20


@dataclass(slots=True)
class TreeNode:
    """One node of the recorded tree, for pictures."""

    label: str
    constraints: list[str] = field(default_factory=list)  # what the step that leads here has decided
    status: Literal["state", "test", "deadlock", "loop", "task", "actor", "pruned", "refused"] = "state"
    children: list[TreeNode] = field(default_factory=list)


class TreePart(NamedTuple):
    """Some of the nodes below a root: the children of a few nodes, each below one of the node before it."""

    path: tuple[int, ...] = ()  # the way to the first of these nodes: which child, from the root on
    done: tuple[int, ...] = (0,)  # how many children of each are no part of it; the last of those is the next node

    def halves(self) -> tuple[TreePart, TreePart]:
        """What comes first, and the children of the uppermost node. Only for parts of several nodes."""
        first, *below = self.done
        return TreePart((*self.path, first - 1), tuple(below)), TreePart(self.path, (first,))

    def ways(self) -> list[tuple[int, ...]]:
        """The ways to its nodes."""
        return [(*self.path, *(done - 1 for done in self.done[:depth])) for depth in range(len(self.done))]


WHOLE = TreePart()


@dataclass(slots=True)
class TreeLeaf:
    """The end of one run."""

    state: State
    deadlock: bool
    waiting: list[ActorTask]


Child = tuple[State, Sleep, TreeNode | None] | TreeLeaf


@dataclass(slots=True)
class _Level:
    """A node that is being walked: its children, how many of them were taken, and where they are recorded."""

    children: Iterator[Child]
    node: TreeNode | None
    done: int = 0


class TreeExplorer:
    """Walks the tree below a root state, or a part of it, and hands out its leaves."""

    def __init__(self, machine: ActorMachine, entry: int) -> None:
        self.machine = machine
        self.entry = entry  # key of the task under test
        self.progress = TreeProgress()
        self.reduction = Reduction(machine)
        self.stopped = False
        self.hopeless: Callable[[State], bool] | None = None  # a state below which nothing is looked for
        self.left = 0  # how many there were
        self.first_cuts: dict[str, str] = {}  # by which bound, and where
        self.endless: list[tuple[State, ActorTask, EndlessLoop]] = []  # tasks that never end, and where they began
        self.refused = ""  # the first thing that a run came to and that is not executed, with its place
        self.on_state: Callable[[TreeProgress], bool] | None = None  # returns False to stop
        self.rest: TreePart | None = None  # what was left when it was stopped
        self.recording = False  # is the tree kept, for pictures?
        self.recorded: list[TreeNode | None] = []  # where the children of the part's nodes are
        self.unfinished: list[TreeNode | None] = []  # where those of the nodes of the rest are
        machine.entry = entry
        selection = machine.selection
        # In a queue that is served in order, and when objects take turns, no two tasks can be exchanged.
        self._any_order = machine.any_order
        self._stable_first = self._any_order and selection.reduce != "none"
        self._sleeping = self._any_order and selection.reduce in ("independent", "exact", "paper")
        exchange = self.reduction.exchangeable if selection.reduce == "exact" else self.reduction.independent
        self._exchange = exchange

    def leaves(self, root: State, part: TreePart = WHOLE) -> Iterator[TreeLeaf]:
        """All leaves of a part, in depth-first order."""
        stack = self._stack(root, part)
        self.recorded = [level.node for level in stack]
        while stack and not self.stopped:
            child = next(stack[-1].children, None)
            if child is None:
                stack.pop()
                continue
            stack[-1].done += 1
            if isinstance(child, TreeLeaf):
                self.progress.tests += 1
                self.progress.deadlocks += child.deadlock
                yield child
                continue
            self.progress.states += 1
            self.stopped = self.on_state is not None and not self.on_state(self.progress)
            if self.hopeless is not None and self.hopeless(child[0]):
                self.left += 1
            else:
                stack.append(_Level(self._expand(*child), child[2]))
        self.rest = TreePart(part.path, tuple(level.done for level in stack)) if stack else None
        self.unfinished = [level.node for level in stack]

    def _stack(self, root: State, part: TreePart) -> list[_Level]:
        """The nodes of a part. What is on the way was counted and recorded by who went there first."""
        counted, self.progress = self.progress, TreeProgress()
        child: Child = (root, {}, None)
        for place in part.path:
            child = next(islice(self._below(child, None), place, None))
        stack: list[_Level] = []
        for done in part.done:
            node = TreeNode("start") if self.recording else None
            level = _Level(self._below(child, node), node, done)
            for _ in range(done):
                child = next(level.children)
            if node is not None:
                node.children.clear()
            stack.append(level)
        self.progress = counted
        return stack

    def _below(self, child: Child, node: TreeNode | None) -> Iterator[Child]:
        assert not isinstance(child, TreeLeaf)
        return self._expand(child[0], child[1], node)

    # ---- one node

    def _expand(self, state: State, sleep: Sleep, node: TreeNode | None) -> Iterator[Child]:
        runnable = self.runnable(state)
        if not runnable:
            later = self.at_next_delay(state)
            yield from self._leaf(state, node) if later is None else self._expand(later, sleep, node)
            return
        chosen = self._chosen(state, runnable)
        for settled, tasks in self._settle_guards(state, chosen):
            if not tasks:  # on this branch none of the chosen actor's guards holds: somebody else is next
                yield from self._expand(settled, sleep, node)
            else:
                yield from self._run_each(settled, tasks, sleep, node)

    def _run_each(
        self, state: State, tasks: list[ActorTask], sleep: Sleep, node: TreeNode | None
    ) -> Iterator[tuple[State, Sleep, TreeNode | None]]:
        limit = self.machine.bounds.tasks
        asleep = dict(sleep)
        for task in self.next_in_order(state, tasks):
            if self._sleeping and task.key in sleep:
                if node is not None:
                    node.children.append(TreeNode(_label(state, task), status="pruned"))
                continue
            if limit is not None and self._at_limit(state, task, limit):
                self._cut("task", task.code.place(task.pc), state, task, node)
                continue
            below = {k: t for k, t in asleep.items() if self._exchange(state, t, task)} if asleep else asleep
            for after in self.machine.macro_step(state, task):
                if isinstance(after, RefusedHere):
                    self._refuse(after, state, task, node)
                elif isinstance(after, CriterionReached):
                    self._cut(after.kind, after.place, state, task, node)
                    if isinstance(after, EndlessLoop) and len(self.endless) < _MOST_ENDLESS:
                        self.endless.append((state, task, after))
                else:
                    yield after, below, self._child(state, task, after, node)
            if self._sleeping:
                asleep[task.key] = task

    def _at_limit(self, state: State, task: ActorTask, limit: int) -> bool:
        """Criterion task-level; the first run of the task under test and going on after a get do not count."""
        if state.switches.get(task.this, 0) < limit or (task.key == self.entry and not task.pc):
            return False
        group = state.groups.get(task.this, task.this)
        return not self.machine.inside_a_step(state, task, group) and task not in state.active.values()

    def _cut(
        self, kind: Literal["loop", "task", "actor"], place: str, state: State, task: ActorTask, node: TreeNode | None
    ) -> None:
        self.progress.cuts.add(kind)
        self.first_cuts.setdefault(kind, place)
        if node is not None:
            node.children.append(TreeNode(_label(state, task), status=kind))

    def _refuse(self, refused: RefusedHere, state: State, task: ActorTask, node: TreeNode | None) -> None:
        """A way that comes to what is not executed ends there; the others go on."""
        self.refused = self.refused or str(refused)
        if node is not None:
            node.children.append(TreeNode(_label(state, task), status="refused"))

    @staticmethod
    def _child(state: State, task: ActorTask, after: State, node: TreeNode | None) -> TreeNode | None:
        if node is None:
            return None
        child = TreeNode(_label(state, task), decided_since(state, after))
        node.children.append(child)
        return child

    def _leaf(self, state: State, node: TreeNode | None) -> Iterator[TreeLeaf]:
        waiting = [t for queue in state.queues.values() for t in queue]
        # by actor, not by time: the same deadlock is told in the same words in whatever order it came about
        blocked = [state.active[group] for group in state.queues if group in state.active]
        if self.machine.bounds.tasks is not None and any(
            t.key == self.entry and t.waiting is not None and not t.waiting.claims for t in waiting
        ):
            # the method under test itself waits for a condition for ever: retried until the task limit (seed 001)
            if node is not None:
                node.status = "task"
            self.progress.cuts.add("task")
            return
        deadlock = bool(blocked) or any(t.waiting is not None and bool(t.waiting.claims) for t in waiting)
        if node is not None:
            node.status = "deadlock" if deadlock else "test"
        yield TreeLeaf(state, deadlock, blocked + waiting)

    # ---- who can run

    @staticmethod
    def at_next_delay(state: State) -> State | None:
        """The same state at the time when the next delay ends; None if nobody waits for time.

        A delay may be over and its task unable to go on: its actor is held by one that waits for ever.
        """
        waiting = [t for queue in (*state.queues.values(), state.active.values()) for t in queue if t.waiting]
        times = [t.env[t.waiting.until] for t in waiting if t.waiting and t.waiting.until is not None]
        to_come = [time for time in times if time > state.clock]
        if not to_come:
            return None
        later = state.copy()
        later.clock = min(to_come)
        return later

    def runnable(self, state: State) -> dict[ObjectRef, list[ActorTask]]:
        """The tasks that can run, or may be able to, by actor in order of creation."""
        found: dict[ObjectRef, list[ActorTask]] = {}
        for group, queue in state.queues.items():
            blocked = state.active.get(group) if state.active else None
            if blocked is not None:
                if self._claims_filled(state, blocked):
                    found[group] = [blocked]
            elif group in state.next:
                found[group] = [t for t in queue if t.key == state.next[group]]
            elif queue:
                tasks = [t for t in queue if t.waiting is None or self._possible(state, t)]
                if tasks:
                    found[group] = tasks
        return found

    def _claims_filled(self, state: State, task: ActorTask) -> bool:
        assert task.waiting is not None
        if task.waiting.until is not None and task.env[task.waiting.until] > state.clock:
            return False
        slots = task.waiting.claim_slots
        if slots is not None:
            return all(task.env[s] in state.futures or task.env[s] is None for s in slots)
        run = self._at(MacroStep(self.machine, state, []), task)
        return all(c(run, list(task.env)) in state.futures for c in task.waiting.claims)

    def _possible(self, state: State, task: ActorTask) -> bool:
        assert task.waiting is not None
        if not self._claims_filled(state, task):
            return False
        return not task.waiting.conditions or any(t for _, t in self._guard_cases(state, [task]))

    @staticmethod
    def _at(run: MacroStep, task: ActorTask) -> MacroStep:
        run.this, run.task = task.this, task
        run.fields = list(run.state.fields[task.this])
        return run

    def _guard_cases(self, state: State, tasks: list[ActorTask]) -> list[tuple[State, list[ActorTask]]]:
        """The states in which it is decided which of the tasks' guards hold."""

        def question(run: MacroStep) -> list[ActorTask]:
            return [t for t in tasks if self._holds(run, t)]

        return self.machine.cases_of(state, question)

    def _holds(self, run: MacroStep, task: ActorTask) -> bool:
        assert task.waiting is not None
        try:
            return holds(task.waiting, self._at(run, task), list(task.env))
        except (Thrown, Unsupported):
            return True  # the guard itself fails, or is not executed: running the task shows it

    def _settle_guards(self, state: State, tasks: list[ActorTask]) -> list[tuple[State, list[ActorTask]]]:
        undecided = [t for t in tasks if t.waiting is not None and t.waiting.conditions]
        if not undecided:
            return [(state, tasks)]
        found = []
        for settled, holding in self._guard_cases(state, undecided):
            kept = [t for t in tasks if t not in undecided or t in holding]
            found.append((settled, kept))
        return found

    # ---- who runs next

    def _chosen(self, state: State, runnable: dict[ObjectRef, list[ActorTask]]) -> list[ActorTask]:
        """The tasks to try here: of one actor if that is enough, else of all."""
        selection = self.machine.selection
        if selection.objects == "round-robin":
            return runnable[self._next_in_turn(state, runnable)]
        if self._stable_first and len(runnable) > 1:
            for group in self._preferred(state, runnable):
                if self.reduction.stable(state, group):
                    return runnable[group]
            if selection.objects == "likeliest":
                order = self._preferred(state, runnable)
                return runnable[min(order, key=lambda group: self.reduction.weight(state, group))]
        return [task for tasks in runnable.values() for task in tasks]

    def _preferred(self, state: State, runnable: dict[ObjectRef, list[ActorTask]]) -> list[ObjectRef]:
        """The actor that ran last, then the youngest: any order is right, this is the published one.

        Where Theorem 1 is taken as it is printed: the youngest, those at their task limit last.
        """
        order = list(reversed(runnable))
        limit = self.machine.bounds.tasks
        if self.machine.selection.reduce not in SOUND_REDUCTIONS:
            if limit is not None:
                order.sort(key=lambda group: state.switches.get(group, 0) >= limit)
        elif state.last is not None:
            last = state.groups.get(state.last.task.this, state.last.task.this)
            order.sort(key=lambda group: group is not last)
        return order

    def next_in_order(self, state: State, tasks: list[ActorTask]) -> list[ActorTask]:
        """Of tasks that can run those that the policies of their actors let run next."""
        if self._any_order:
            return tasks
        by_group: dict[ObjectRef, list[ActorTask]] = {}
        for task in tasks:
            by_group.setdefault(state.groups.get(task.this, task.this), []).append(task)
        found: list[ActorTask] = []
        for group, mine in by_group.items():
            policy = self.machine.policy(group)
            found += mine if policy == "all" else mine[:1] if policy == "fifo" else mine[-1:]
        return found

    def _next_in_turn(self, state: State, runnable: dict[ObjectRef, list[ActorTask]]) -> ObjectRef:
        """The actor after the one that ran last, in order of creation."""
        order = list(state.queues)
        start = 0
        if state.last is not None:
            last = state.last.task.this
            group = state.groups.get(last, last)
            if group in state.next:
                return group
            start = order.index(group) + 1
        return next(g for g in order[start:] + order[:start] if g in runnable)


def _label(state: State, task: ActorTask) -> str:
    where = f":{task.code.lines[task.pc]}" if task.pc else ""
    return f"{object_names(state)[task.this]}.{task.code.name}{where}"
