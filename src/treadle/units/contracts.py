"""The contracts of a function under test: what its inputs must be, what it promises, and when a promise was broken.

Preconditions come from icontract and deal, from the asserts at the start of the body, and from --pre. They are
assumed: an input that breaks one is not an input, so it gets no path and no test. Postconditions and invariants are
decided after the call; the side on which one is false is a path of its own, and a finding.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import os
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.files import from_here
from treadle.symbolic.heap.objects import Heap
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.compile.statements import compile_function
from treadle.symbolic.python.contracts import conditions, contracts, deciding
from treadle.symbolic.python.contracts.checks import BrokenCondition, is_guarded
from treadle.symbolic.python.contracts.conditions import Condition, WrittenCondition
from treadle.symbolic.python.machine import binding, calls, classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.testcase import BrokenContract, TestCase
from treadle.units.cases import Concrete
from treadle.units.target import UnitTarget, no_parameter


class Contracts:
    """What is assumed and checked around the calls of one target."""

    def __init__(self, target: UnitTarget, pre: Sequence[str] = (), enabled: bool = True) -> None:
        self.target = target
        self.enabled = enabled
        self.given = [stated(target, text) for text in pre]
        self.leading = leading_asserts(target) if enabled else []
        for condition in (*self.preconditions(), *self.promises()):
            _check_names(condition, target)

    def preconditions(self) -> list[Condition]:
        """Everything that the inputs must fulfil."""
        found = list(self.given)
        if self.enabled:
            for wrapper in conditions.layers(self.target.decorated):
                found += [c for group in conditions.preconditions(wrapper) for c in group]
            if self.target.receiver == "self" and self.target.cls is not None:
                found += conditions.invariants(self.target.cls)
            found += self.leading
        return found

    def stated(self) -> list[str]:
        """The same for a person. Of an overridden method, its own preconditions hold, or those of the other."""
        found = [stating(c) for c in self.given]
        if self.enabled:
            for wrapper in conditions.layers(self.target.decorated):
                groups = [[stating(c) for c in group] for group in conditions.preconditions(wrapper)]
                found += (
                    groups[0] if len(groups) == 1 else [" or ".join(" and ".join(g) for g in groups)] if groups else []
                )
            if self.target.receiver == "self" and self.target.cls is not None:
                found += map(stating, conditions.invariants(self.target.cls))
            found += map(stating, self.leading)
        return found

    def promises(self) -> list[Condition]:
        """What holds after every call that returns."""
        if not self.enabled:
            return []
        found: list[Condition] = []
        for wrapper in conditions.layers(self.target.decorated):
            found += conditions.postconditions(wrapper)
        if self.target.receiver in ("self", "new") and self.target.cls is not None:
            found += conditions.invariants(self.target.cls)
        return found

    # --- on the machine ----------------------------------------------------------------------------------

    def prepare(self, vm: VM, heap: Heap) -> None:
        """Before any input is made: objects of a class with invariants keep them."""
        vm.checks.assumed = self.enabled
        if self.enabled:
            heap.on_input = functools.partial(contracts.assume_invariants, vm)
            heap.promises = conditions.has_invariants

    def call(
        self, vm: VM, positional: list[Any], named: dict[str, Any], finish: Callable[[Any], Any] = lambda v: v
    ) -> Any:
        """Call the target as its tests do."""
        extra = [*self.given, *self.leading]
        if extra:
            call = self._bound(vm, positional, named)
            for condition in extra:
                deciding.assume(vm, condition, call)
        result = self._called(vm, positional, named, finish)
        if self.enabled:
            contracts.check_inputs(vm, result, positional[0] if self.target.receiver == "self" else None)
        return result

    def _called(self, vm: VM, positional: list[Any], named: dict[str, Any], finish: Callable[[Any], Any]) -> Any:
        target = self.target
        if target.receiver == "new":
            cls = target.cls or object
            vm.checks.target = classes.lookup(cls, "__init__")
            made = calls.instantiate(vm, cls, positional, named)
            if vm.checks.mark is None:
                vm.checks.mark = len(vm.path.choices)
            return made
        if target.receiver == "self" and self.enabled and conditions.invariants(target.cls or object):
            vm.force(positional[0])
        core = binding.function_value(vm, target.function)
        guarded = target.receiver == "self" and is_guarded(target.cls or object)
        return contracts.call_target(vm, target.decorated, core, positional, named, finish, guarded)

    def _bound(self, vm: VM, positional: list[Any], named: dict[str, Any]) -> deciding.ContractCall:
        function = self.target.function
        if self.target.receiver != "new":
            return deciding.bound(vm, function, positional, named)
        call = deciding.bound(vm, function, [None, *positional], named)
        del call.given[next(iter(inspect.signature(function).parameters))]
        return call

    def annotate(self, vm: VM, raised: Any, drained: bool, case: TestCase, concrete: Concrete) -> None:
        """What the contracts have to say about a finished path."""
        checks = vm.checks
        if not self.enabled:
            return
        if checks.mark is not None and not drained:
            case.body = tuple(vm.path.choices[: checks.mark])
        case.undecided = [(_undecided(c, self.target), what) for c, what in checks.undecided]
        broken = checks.broken.get(raised.number) if raised is not None else checks.left
        if broken is not None:
            case.violation = _violation(broken, concrete)


def _undecided(condition: Condition, target: UnitTarget) -> BrokenContract:
    return BrokenContract(condition.kind, target.name, True, condition.text, condition.file, condition.line)


def _violation(broken: BrokenCondition, concrete: Concrete) -> BrokenContract:
    condition = broken.condition
    returned = concrete.after(broken.returned) if broken.has_returned else None
    return BrokenContract(
        condition.kind,
        broken.of,
        broken.own,
        condition.text,
        condition.file,
        condition.line,
        returned,
        broken.has_returned,
        broken.raised,
        broken.where,
    )


# --- conditions that are text --------------------------------------------------------------------------------


def leading_asserts(target: UnitTarget) -> list[Condition]:
    """The asserts at the start of the body, as far as they speak of the parameters only."""
    node = source.node_of(target.function.__code__)
    if not isinstance(node, ast.FunctionDef) or target.is_generator:
        return []
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    parameters = set(inspect.signature(target.function).parameters)
    if target.receiver in ("new", "cls"):
        parameters.discard(next(iter(inspect.signature(target.function).parameters)))
    found: list[Condition] = []
    for statement in body:
        if not isinstance(statement, ast.Assert) or not _about(statement.test, parameters, target):
            break
        text = conditions.source_text(statement.test, target.file)
        test = _written(target, statement.test)
        found.append(Condition("precondition", "assert", test, text, target.file, statement.lineno))
    return found


def _about(test: ast.expr, parameters: set[str], target: UnitTarget) -> bool:
    """Whether a condition is one on the parameters: they, builtins, and what the module defines for good."""
    if any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for n in ast.walk(test)):
        return False
    names = free_names(test)
    others = names - parameters
    return bool(names & parameters) and all(_is_fixed(name, target.function) for name in others)


def _is_fixed(name: str, function: types.FunctionType) -> bool:
    if name in function.__globals__:
        value = function.__globals__[name]
        return name.isupper() or isinstance(value, type | types.FunctionType | types.ModuleType) or callable(value)
    return hasattr(builtins, name)


def stated(target: UnitTarget, text: str) -> Condition:
    """A condition of --pre."""
    shown = f'--pre "{text}"'
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        hint = "; a comparison is written ==" if "=" in text and "==" not in text else ""
        raise UsageError(f"{shown}: not a Python expression ({what}){hint}") from None
    if isinstance(node, ast.Lambda):
        raise UsageError(f'{shown}: a function is always true; write the condition itself: --pre "{_plain(node)}"')
    parameters = list(inspect.signature(target.function).parameters)
    if target.receiver in ("new", "cls"):
        parameters = parameters[1:]
    for name in sorted(free_names(node)):
        if name in parameters or name in target.function.__globals__ or hasattr(builtins, name):
            continue
        if name in target.function.__code__.co_freevars:
            continue
        raise UsageError(f"{shown}: {no_parameter(name, target.name, parameters)}")
    return Condition("precondition", "--pre", _written(target, node), text.strip(), "", 0)


def _plain(node: ast.Lambda) -> str:
    return ast.unparse(node.body)


def fitting(pre: Sequence[str], targets: Sequence[UnitTarget]) -> dict[str, tuple[str, ...]]:
    """Target -> the conditions of --pre that speak of its parameters; each must speak of some target's."""
    found: dict[str, tuple[str, ...]] = {target.text: () for target in targets}
    for text in pre:
        wrong: UsageError | None = None
        for target in targets:
            try:
                stated(target, text)
            except UsageError as error:
                wrong = wrong or error
            else:
                found[target.text] += (text,)
        if wrong is not None and not any(text in fits for fits in found.values()):
            raise wrong
    return found


def free_names(node: ast.expr) -> set[str]:
    """Names that an expression reads and does not bind itself."""
    bound: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            bound.add(part.id)
        elif isinstance(part, ast.arg):
            bound.add(part.arg)
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id not in bound}


def _written(target: UnitTarget, node: ast.expr) -> WrittenCondition:
    """The expression as a function of all the parameters."""
    names = list(inspect.signature(target.function).parameters)
    if target.receiver in ("new", "cls"):
        names = names[1:]
    arguments = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    definition = ast.fix_missing_locations(ast.copy_location(ast.Lambda(arguments, node), node))
    around = source.node_of(target.function.__code__)
    owner, outer = source._enclosing(around, source.tree_of(target.file)[1])
    code = compile_function(definition, target.file, owner, outer, "condition")
    return WrittenCondition(node, code, target.function)


def _check_names(condition: Condition, target: UnitTarget) -> None:
    """A condition that asks for what the function does not have fails at every call: nothing could be said of it."""
    if not condition.origin.startswith("icontract") or isinstance(condition.test, WrittenCondition):
        return
    known = {*inspect.signature(target.function).parameters, "self", "result", "OLD", "_ARGS", "_KWARGS"}
    for parameter in inspect.signature(condition.test).parameters.values():
        if parameter.name not in known and parameter.default is parameter.empty:
            near = os.path.basename(condition.file)
            raise UsageError(
                f"{near}:{condition.line}: the {condition.kind} `{condition.text}` asks for '{parameter.name}', which "
                f"'{target.name}' does not have; every call of it raises TypeError"
            )


# --- words ---------------------------------------------------------------------------------------------------


def excluded(found: Iterable[Condition]) -> str:
    """Why no path is left."""
    shown = [f"{stating(c)}{f', which raises {c.failed}' if c.failed else ''}" for c in found]
    return f"the preconditions exclude every input: {' and '.join(shown)}"


def stating(condition: Condition) -> str:
    """`n >= 0` (shop.py:5)"""
    if not condition.file:
        return f"`{condition.text}` ({condition.origin})"
    return f"`{condition.text}` ({from_here(condition.file)}:{condition.line})"


__all__ = ["Contracts", "excluded", "fitting", "free_names", "leading_asserts", "stated", "stating"]
