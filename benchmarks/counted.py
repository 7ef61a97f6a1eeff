"""How Table 1 of Test Case Generation of Actor Systems was counted where it was counted otherwise than here.

Each convention was found by asking what makes the published figures of RSim, DHT and Mail come out. They lose orders,
failures or tests, so that no command offers them: they are laid over the explorer only while a row is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

from treadle.abs.explore.reduction import Reduction
from treadle.abs.explore.tree import Sleep, TreeExplorer, TreeLeaf, TreeNode
from treadle.abs.machine import statements
from treadle.abs.machine.code import ENDED, Env, Exp
from treadle.abs.machine.criteria import CriterionReached
from treadle.abs.machine.effects import remaining
from treadle.abs.machine.machine import ActorMachine, Infeasible, MacroStep
from treadle.abs.machine.state import ActorTask, State
from treadle.abs.machine.values import FailedFuture, ObjectRef, Value
from treadle.symbolic.expr.terms import Expr


def _enters(run: MacroStep, env: Env, turns: int, condition: Exp) -> bool:
    """Turn k + 1 is begun, and cut where the loop would be asked once more."""
    limit = run.bounds.loop
    if limit is not None and env[turns] > limit:
        raise CriterionReached("loop")
    env[turns] += 1
    return run.truth(condition(run, env))


_settle = MacroStep._settle


def _ends(run: MacroStep, task: ActorTask, env: Env, outcome: int, group: ObjectRef) -> None:
    """A task switch is a task that is taken: suspending is none. A run that ends in an exception is none either."""
    if outcome == ENDED and type(run.result) is FailedFuture:
        raise Infeasible
    switches, run.state.switches[task.this] = run.state.switches.get(task.this, 0), 0
    _settle(run, task, env, outcome, group)
    run.state.switches[task.this] = switches


def _inside_a_step(machine: ActorMachine, state: State, task: ActorTask, group: ObjectRef) -> bool:
    """A call of an actor on itself is part of its caller's step: no task switch, and no state of its own."""
    return group in state.next


_expand = TreeExplorer._expand


def _inner_states(explorer: TreeExplorer, state: State, sleep: Sleep, node: TreeNode | None) -> Iterator[Any]:
    explorer.progress.states -= bool(state.next)
    return _expand(explorer, state, sleep, node)


_truth = MacroStep.truth


def _strings(run: MacroStep, condition: Value) -> bool:
    """That two strings differ is forgotten: a name that was found can be missed when it is looked up again."""
    if isinstance(condition, Expr) and condition.op == "streq":
        if run.choose(2):
            return False
        run.assume(condition)
        return True
    return _truth(run, condition)


_start = Reduction.__init__


def _stability(reduction: Reduction, machine: ActorMachine) -> None:
    """Theorem 1 takes no notice of futures."""
    _start(reduction, machine)
    reduction._futures = False


def _readers(reduction: Reduction, task: ActorTask, cls: Any, own: tuple[ActorTask, ...]) -> bool:
    """Condition 2, in both modes: tasks that only read do not disturb tasks that only read."""
    methods, _ = reduction._chain(task, cls)
    caused = [remaining(reduction._machine.image.methods[cls, name], 0) for name in methods]
    there = [remaining(t.code, t.pc) for t in own]
    return bool(caused) and any(effect.writes for effect in [*caused, *there])


_independent = Reduction.independent


def _resumed(reduction: Reduction, state: State, one: ActorTask, two: ActorTask) -> bool:
    """A task that goes on after an `await` depends on every other one."""
    return one.waiting is None and two.waiting is None and _independent(reduction, state, one, two)


_preferred = TreeExplorer._preferred


def _oldest(explorer: TreeExplorer, state: State, runnable: dict[ObjectRef, list[ActorTask]]) -> list[ObjectRef]:
    """Of stable actors the one that ran last, then the oldest (here: the youngest)."""
    return _preferred(explorer, state, dict(reversed(runnable.items())))


_leaf = TreeExplorer._leaf


def _found(explorer: TreeExplorer, state: State, node: TreeNode | None) -> Iterator[TreeLeaf]:
    """No test where the last entry of a map was passed by every look-up: choosing values fails there."""
    equal = [c for c in state.path.conditions if c.op in ("eq0", "streq")]
    asked = frozenset[Expr]().union(*(c.vars for c in equal))
    for fields in state.assumed.values():
        for value in map(state.resolved, fields):
            last = None
            while type(value) is tuple and value[0].name == "InsertAssoc":
                _, last, value = value
            closed = type(value) is tuple and value[0].name == "EmptyMap"
            if closed and type(last) is tuple and isinstance(last[1], Expr) and not last[1].vars & asked:
                return
    yield from _leaf(explorer, state, node)


# by name: what is replaced, and by what
CONVENTIONS: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "loops": ((statements, "_enters", _enters),),
    "ends": ((MacroStep, "_settle", _ends),),
    "own calls": ((ActorMachine, "inside_a_step", _inside_a_step), (TreeExplorer, "_expand", _inner_states)),
    "strings": ((MacroStep, "truth", _strings),),
    "futures": ((Reduction, "__init__", _stability),),
    "readers": ((Reduction, "_may_matter", _readers),),
    "resumed": ((Reduction, "independent", _resumed),),
    "order": ((TreeExplorer, "_preferred", _oldest),),
    "maps": ((TreeExplorer, "_leaf", _found),),
}


@contextmanager
def as_published(without: str = "") -> Iterator[None]:
    """Explore by these conventions, but for one that is named."""
    with ExitStack() as stack:
        for name, replaced in CONVENTIONS.items():
            if name != without:
                for owner, attribute, by in replaced:
                    stack.enter_context(patch.object(owner, attribute, by))
        yield
