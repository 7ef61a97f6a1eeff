"""Whether a condition of a contract holds on a path: as one formula where it can be, else by running it.

`holds` decides, and takes one side; `assume` leaves only the inputs for which the condition holds. Both call a
condition as its library would.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Truth
from treadle.symbolic.heap.objects import InstanceObj
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow, Impossible
from treadle.symbolic.python.contracts.conditions import Condition, WrittenCondition
from treadle.symbolic.python.contracts.formula import ArgumentsByName, NotPure, formula, names_of
from treadle.symbolic.python.machine import attributes, binding
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.kinds import is_string
from treadle.symbolic.python.values.values import FunctionValue, PyValue


class GivenArguments:
    """What a condition of deal's with the one parameter `_` gets: the arguments as attributes."""

    def __getitem__(self, name: str) -> PyValue:
        return getattr(self, name)

    def __getattr__(self, name: str) -> PyValue:
        raise KeyError(name)


@dataclass(slots=True)
class ContractCall:
    """A call as its conditions see it."""

    args: list[Any]
    named: dict[str, Any]
    given: dict[str, Any]  # by parameter, `result` and OLD included

    def with_result(self, result: PyValue) -> ContractCall:
        return ContractCall(self.args, self.named, {**self.given, "result": result})


signature_of = functools.cache(inspect.signature)


def bound(vm: VM, function: PyValue, args: Sequence[PyValue], named: dict[str, PyValue]) -> ContractCall:
    """Arguments by the names of a function's parameters, defaults included."""
    given: dict[str, PyValue] = {"_ARGS": tuple(args), "_KWARGS": named}
    rest = list(args)
    for parameter in signature_of(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            given[parameter.name] = tuple(rest)
            rest = []
        elif parameter.kind is not parameter.KEYWORD_ONLY and rest:
            given[parameter.name] = rest.pop(0)
        elif parameter.default is not parameter.empty and parameter.name not in named:
            given[parameter.name] = vm.lift(parameter.default)
    return ContractCall(list(args), named, {**given, **named})


def _arguments(vm: VM, condition: Condition, call: ContractCall) -> tuple[list[PyValue], dict[str, PyValue]]:
    """What the condition's function is called with."""
    if condition.calling == "short":
        made = InstanceObj(vm.heap.number(), (GivenArguments,))
        made.fields.update(_by_name(vm, condition, call))
        return [made], {}
    if condition.calling == "same":
        if condition.origin == "deal.post":
            return [call.given["result"]], {}
        result = {"result": call.given["result"]} if condition.origin == "deal.ensure" else {}
        return call.args, {**call.named, **result}
    wanted = condition.names()
    return [], {name: call.given[name] for name in wanted if name in call.given}


def _by_name(vm: VM, condition: Condition, call: ContractCall) -> dict[str, PyValue]:
    """What `_` stands for: the arguments, or the fields of the object. It is a dict, with a dict's methods."""
    for name in condition.attributes():
        if hasattr(dict, name):
            raise CannotFollow(f"'_.{name}' is a method of dict and not what was given; write _[{name!r}]")
    if condition.kind != "invariant":
        return dict(call.given)
    obj = call.given["self"]
    assert isinstance(obj, InstanceObj)
    attributes.load_all(vm, obj)
    return dict(obj.fields)


def _formula(vm: VM, condition: Condition, call: ContractCall) -> tuple[Truth, Truth]:
    """The condition as an expression, and where it is defined."""
    node = condition.expression
    if node is None or (condition.may_complain and _may_be_text(node)):
        raise NotPure
    if isinstance(condition.test, WrittenCondition):
        names = names_of(vm, condition.test.function, call.given)
        names.owner = condition.test.code.owner
        return formula(vm, node, names)
    vm.path.followed.add((condition.file, condition.line))
    local: dict[str, PyValue] = {}
    if condition.calling == "short":
        local["_"] = ArgumentsByName(_by_name(vm, condition, call))
    else:
        args, named = _arguments(vm, condition, call)
        parameters = inspect.signature(condition.test).parameters
        local = dict(zip(parameters, args, strict=False)) | named
        for name, parameter in parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise NotPure
            if name not in local:
                if parameter.default is parameter.empty:
                    raise NotPure
                local[name] = vm.lift(parameter.default)
    return formula(vm, node, names_of(vm, condition.test, local))


def _may_be_text(node: ast.expr) -> bool:
    """Whether the value of the condition may be a message."""
    if isinstance(node, ast.BoolOp):
        return any(map(_may_be_text, node.values))
    if isinstance(node, ast.IfExp):
        return _may_be_text(node.body) or _may_be_text(node.orelse)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _run(vm: VM, condition: Condition, call: ContractCall) -> Truth:
    """The truth of the condition, by running it."""
    args, named = _arguments(vm, condition, call)
    if isinstance(condition.test, WrittenCondition):
        written = condition.test
        closure = binding.function_value(vm, written.function)
        value = vm.run_function(FunctionValue(written.code, closure.globals, closure.outer), args, named)
    else:
        value = vm.call_with(vm.lift(condition.test), args, named)
    if condition.may_complain and is_string(vm.force(value)):
        return False
    return vm.truth(value)


def holds(vm: VM, condition: Condition, call: ContractCall) -> bool:
    """Decide the condition; an exception of its own is the program's."""
    is_deal = condition.origin.startswith("deal.") and condition.kind != "invariant"
    vm.checks.deal_off += is_deal
    try:
        try:
            truth, defined = _formula(vm, condition, call)
            if defined is True:
                return vm.decide(truth)
        except NotPure:
            pass
        return vm.decide(_run(vm, condition, call))
    finally:
        vm.checks.deal_off -= is_deal


def assume(vm: VM, condition: Condition, call: ContractCall) -> None:
    """Leave only the inputs for which the condition holds; one that fails on them does not hold."""
    path = vm.path
    try:
        try:
            truth, defined = _formula(vm, condition, call)
        except NotPure:
            if not vm.decide(_run(vm, condition, call)):
                raise Impossible from None
            return
        path.assume(x.and_(defined, truth))
        path.feasible()
    except Raised as raised:
        condition.failed = raised.value.cls.__name__
        raise Impossible from None
    except CannotFollow as unsupported:
        raise CannotFollow(f"the {condition.kind} `{condition.text}` cannot be evaluated: {unsupported.what}") from None


def assume_one_of(vm: VM, groups: list[list[Condition]], call: ContractCall) -> None:
    """The conditions of one group hold: with several, a class weakens what its base asks for."""
    if len(groups) == 1:
        for condition in groups[0]:
            assume(vm, condition, call)
        return
    try:
        options = []
        for group in groups:
            parts = [_formula(vm, condition, call) for condition in group]
            options.append(x.and_(*(part for pair in parts for part in reversed(pair))))
        vm.path.assume(x.or_(*options))
        vm.path.feasible()
    except NotPure:
        if not any(all(holds(vm, c, call) for c in group) for group in groups):
            raise Impossible from None
