"""Passing a call with all its ways at once, where nothing that is wanted lies in it: calls sliced away.

A search for some paths (`symbolic.guide`) does not care which way a function goes that is called on the way, as far as
nothing that is wanted lies there: definition 6 of the paper removes such calls from the traces. The call still has to
be made, because what follows depends on its result. If the function only computes with integers and truth values, its
summary is a tree of conditions with a value at each leaf, and that is one expression:

    def absolute(a): return a if a >= 0 else -a      absolute(n) is  n if n >= 0 else -n

Leaves that the loop bound has cut are excluded by an assumption, which is noted; for the inputs for which the function
raises it is run as usual. Everything else (objects, strings, state, too many paths) is run as well.

As with `symbolic.joins`, the joined call is an entry of the trail, and a test is made of the plain path that the values
found take. An expression may be too hard for the solver where the single paths are not: then the path is taken again
with its calls run (`symbolic.path.TooHard`).
"""

from __future__ import annotations

from typing import Any

from treadle.core.choice import WaysJoined
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.meaning import substitute
from treadle.symbolic.expr.terms import BOOL, Expr, Truth
from treadle.symbolic.guide.guided import Walk
from treadle.symbolic.guide.joins import Apart, either, is_number_or_truth, size_of
from treadle.symbolic.heap.objects import looked_up
from treadle.symbolic.ir.machine import Environment
from treadle.symbolic.path import is_mixed
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.summaries.composer import Summaries, is_busy
from treadle.symbolic.python.summaries.signatures import is_recordable
from treadle.symbolic.python.values.values import FunctionValue, PyValue
from treadle.symbolic.solve.solver import Answer
from treadle.symbolic.summary.tree import Decide, Settled, Summary, SummaryNode

# Larger expressions cost more than the paths that they save.
_LARGEST = 300


class JoinedCalls(Summaries):
    """Stands in for the summaries of a guided search: calls are joined, not composed."""

    def __init__(self, k: int, *, allow_effects: bool = False, stubs: Any = None, after: int = 0) -> None:
        super().__init__(k, allow_effects=allow_effects, stubs=stubs, after=after)
        self._trees: dict[tuple[int, tuple[t.Type, ...]], Summary | None] = {}

    def call(self, vm: VM, function: FunctionValue, env: Environment) -> Any:
        """The result of the call, whichever way it goes, or `NOT_ANSWERED`: run it."""
        path, walk = vm.path, vm.walk
        if walk is None or path.follow is not None or not vm.frames:
            return NOT_ANSWERED
        vm.calls += 1
        if path.replaying:
            if path.ahead() == WaysJoined(False, vm.calls):
                path.join(WaysJoined(False, vm.calls))
                return NOT_ANSWERED
            if path.ahead() != WaysJoined(True, vm.calls):
                return NOT_ANSWERED
        elif path.plain or not walk.passes(function):
            return NOT_ANSWERED
        actual = {name: looked_up(value) for name, value in env.items()}
        if not _may_join(vm, function, actual) or id(function.code) in self._recording:
            return NOT_ANSWERED
        self._calls[id(function.code)] += 1
        if self._calls[id(function.code)] <= self.after and not path.replaying:
            return NOT_ANSWERED
        summary = self._tree(vm, function, actual)
        own = vm.frames[0].code
        if summary is None or (own.file, own.line, own.name) in summary.codes:
            return NOT_ANSWERED
        try:
            return _Joined(summary, actual).enter(vm, walk)
        except Apart:
            return NOT_ANSWERED

    def _tree(self, vm: VM, function: FunctionValue, actual: dict[str, PyValue]) -> Summary | None:
        kinds = tuple(t.BOOL if _is_bool(actual[p.name]) else t.INT for p in function.code.parameters)
        key = (id(function.code), kinds)
        if key not in self._trees:
            signature = tuple((p.name, kind) for p, kind in zip(function.code.parameters, kinds, strict=True))
            found = self.record(function, signature, vm.path.deadline)
            self._trees[key] = found if found is not None and _is_computation(found) else None
        return self._trees[key]


def _is_bool(value: PyValue) -> bool:
    return type(value) is bool or (isinstance(value, Expr) and value.sort is BOOL)


def _may_join(vm: VM, function: FunctionValue, actual: dict[str, PyValue]) -> bool:
    names = [p.name for p in function.code.parameters]
    return (
        not function.code.is_generator
        and not vm.assigned
        and not is_busy(vm)
        and is_recordable(function)
        and all(p.kind == "plain" for p in function.code.parameters)
        and all(name in actual and is_number_or_truth(actual[name]) for name in names)
        and any(isinstance(actual[name], Expr) for name in names)
    )


def _is_computation(summary: Summary) -> bool:
    """Nothing but conditions, and a number or a truth value at the end of each way."""
    todo = [summary.root]
    while todo:
        node = todo.pop()
        if node.leaf is not None:
            leaf = node.leaf
            if leaf.kind not in ("return", "cut", "raise") or leaf.changes or leaf.made or leaf.stubs:
                return False
            if leaf.kind == "return" and not is_number_or_truth(leaf.value):
                return False
        elif not isinstance(node.event, Decide | Settled):
            return False
        todo.extend(node.children.values())
    return summary.whole


class _Joined:
    """A summary with actual arguments: its value, and where it has one."""

    def __init__(self, summary: Summary, actual: dict[str, PyValue]) -> None:
        self.summary = summary
        self.values: dict[Any, Any] = {formal: actual[name] for name, formal in summary.formals.items()}
        # some question of the summary needs no decision here: loops may run on where the summary was cut
        self.folded = False
        # some question is left: running the call would decide something, which is what loops count
        self.asks = False
        self.value, self.within, self.raises = self._of(summary.root)
        if not self.asks or size_of(self.value) + size_of(self.within) > _LARGEST:
            raise Apart

    def _of(self, node: SummaryNode) -> tuple[PyValue, Truth, Truth]:
        """The value, where the call ends within the loop bound, and where it raises."""
        if node.leaf is not None:
            if node.leaf.kind == "cut" and self.folded:
                raise Apart
            value = substitute(node.leaf.value, self.values) if isinstance(node.leaf.value, Expr) else node.leaf.value
            returns = node.leaf.kind == "return"
            return (value if returns else None), node.leaf.kind != "cut", node.leaf.kind == "raise"
        if isinstance(node.event, Settled):
            return self._of(next(iter(node.children.values())))
        assert isinstance(node.event, Decide)
        condition = substitute(node.event.condition, self.values)
        self.asks = self.asks or isinstance(condition, Expr)
        if node.event.certain or not isinstance(condition, Expr):
            self.folded = self.folded or not isinstance(condition, Expr)
            [outcome] = node.children if node.event.certain else [bool(condition)]
            return self._of(node.children[outcome])
        if node.children.keys() != {True, False}:
            raise Apart
        yes, no = self._of(node.children[True]), self._of(node.children[False])
        value = either(condition, yes[0], no[0]) if None not in (yes[0], no[0]) else yes[0] if no[0] is None else no[0]
        return value, _one_of(condition, yes[1], no[1]), _one_of(condition, yes[2], no[2])

    def enter(self, vm: VM, walk: Walk) -> PyValue:
        """Take the value for the call's, on a path on which it has one."""
        path = vm.path
        if not path.replaying:
            here = x.and_(self.within, x.not_(self.raises))
            if self.value is None or path.solver.check(path.conditions, here, path.model).model is None:
                raise Apart
            beyond = path.solver.check(path.conditions, x.not_(self.within), path.model).answer is not Answer.UNSAT
            if beyond and any(map(is_mixed, self.values.values())):
                raise Apart  # on each single path the argument may be known, and the loop without a bound
            walk.cut_aside = walk.cut_aside or beyond
        path.join(WaysJoined(True, vm.calls), list(self.values.values()))
        for leaf in self.summary.leaves():
            path.followed |= leaf.followed
        path.assume(self.within)
        return NOT_ANSWERED if path.decide(self.raises) else self.value


def _one_of(condition: Expr, yes: Truth, no: Truth) -> Truth:
    return x.or_(x.and_(condition, yes), x.and_(x.not_(condition), no))
