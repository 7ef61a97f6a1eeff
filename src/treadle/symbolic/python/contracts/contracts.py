"""Contracts of icontract and deal, as the machine runs them.

The libraries wrap a function in code of their own, which is written for speed and for its messages, not for being
followed. Here a wrapper is recognised and what it does is done instead: conditions before, snapshots, the function,
conditions after. A condition is one formula where it can be (`formula`), else it is run like any other code.

The wrappers of the function under test are special: its preconditions are not checked but assumed. What is broken is
kept in `Checks.broken`, by the exception that reports it, so that a finding can say which condition it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from treadle.symbolic.heap.objects import InstanceObj, UnknownRef
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import BoundReached, CannotFollow, Limit
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.contracts.checks import NOTHING, BrokenCondition, GuardedMethod
from treadle.symbolic.python.contracts.conditions import (
    Condition,
    as_written,
    cells,
    has_invariants,
    invariants,
    is_on,
    layer,
    layers,
    of_deal,
    of_icontract,
    outermost,
    postconditions,
    preconditions,
    wrapped_by,
)
from treadle.symbolic.python.contracts.deciding import ContractCall, assume, assume_one_of, bound, holds, signature_of
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import FunctionValue, PyValue
from treadle.symbolic.testcase import RAISES_NOTHING, Opaque

Proceed = Callable[[list[Any], dict[str, Any]], Any]


class OldValues:
    """The values of snapshots."""


class _Words(Opaque):
    """The message of a library's exception: nobody can foretell it, so a program that reads it cannot be followed."""

    __slots__ = ()

    def __str__(self) -> str:
        raise CannotFollow("the message of a contract library")

    __repr__ = __str__


def assume_invariants(vm: VM, obj: InstanceObj) -> None:
    """An input object was built by its class: what that promises holds for it."""
    if not any(map(has_invariants, obj.classes)):
        return
    checks = vm.checks
    if checks.in_invariant:
        checks.pending.append(obj)
        return
    classes.narrow(vm, obj, "__invariants__")
    classes.narrow(vm, obj, "_deal_invariants")
    checks.in_invariant += 1
    checks.in_progress.append(obj)
    try:
        with vm.heap.as_it_was():
            for condition in invariants(obj.cls):
                assume(vm, condition, _of_object(obj))
    finally:
        checks.in_invariant -= 1
        checks.in_progress.pop()


def looked_at(vm: VM, obj: InstanceObj) -> None:
    """The program uses an object that so far only an invariant has met."""
    checks = vm.checks
    if not checks.in_invariant and any(obj is one for one in checks.pending):
        checks.pending = [one for one in checks.pending if one is not obj]
        assume_invariants(vm, obj)


def _of_object(obj: PyValue) -> ContractCall:
    return ContractCall([obj], {}, {"self": obj})


# --- breaking ----------------------------------------------------------------------------------------------


def _violation(vm: VM, broken: BrokenCondition, call: ContractCall) -> Raised:
    """The exception by which a library reports the condition."""
    raised = _reported(vm, broken.condition, call)
    vm.checks.broken[raised.value.number] = broken
    return raised


def _reported(vm: VM, condition: Condition, call: ContractCall) -> Raised:
    error = condition.error
    if condition.origin.startswith("icontract."):
        from icontract import ViolationError

        if error is None or isinstance(error, type):
            return vm.error(error or ViolationError, _Words("message"))
        if isinstance(error, BaseException):
            return vm.host_error(error)
        wanted = {n: call.given[n] for n in inspect.signature(error).parameters if n in call.given}
        return Raised(vm.exception(vm.call_with(error, [], wanted), None))
    from deal import ContractError

    cls = error if isinstance(error, type) else type(error)
    if issubclass(cls, ContractError):
        return vm.error(cls, _Words("message"))
    return vm.error(cls, *(() if isinstance(error, type) else error.args[:1]))


@dataclass(slots=True)
class _Contracted:
    """One call through contract wrappers."""

    vm: VM
    name: str
    own: bool  # the function under test: preconditions are assumed, what cannot be decided is not the end

    def before(self, groups: list[list[Condition]], call: ContractCall) -> None:
        if not groups:
            return
        if self.own and self.vm.checks.assumed:
            assume_one_of(self.vm, groups, call)
            return
        last: Condition | None = None
        for group in groups:
            last = next((c for c in group if not holds(self.vm, c, call)), None)
            if last is None:
                return
        assert last is not None
        raise _violation(self.vm, BrokenCondition(last, self.name, self.own), call)

    def after(self, conditions: Sequence[Condition], call: ContractCall, result: PyValue = NOTHING) -> None:
        for condition in conditions:
            one = call
            try:
                fine = holds(self.vm, condition, one)
            except Raised as raised:
                self.vm.checks.broken[raised.value.number] = BrokenCondition(
                    condition, self.name, self.own, result, raised.value.cls.__name__
                )
                raise
            except (CannotFollow, BoundReached) as end:
                if not self.own or (isinstance(end, BoundReached) and end.bound is Limit.TIME):
                    raise
                what = end.what if isinstance(end, CannotFollow) else f"cut by the {end.bound} bound"
                self.vm.checks.undecided.append((condition, what))
                continue
            if not fine:
                raise _violation(self.vm, BrokenCondition(condition, self.name, self.own, result), one)

    # --- the wrappers ------------------------------------------------------------------------------------

    def through(self, wrapper: PyValue, args: list[PyValue], named: dict[str, PyValue], proceed: Proceed) -> PyValue:
        kind = layer(wrapper)
        if kind == "checker":
            return self._checker(wrapper, args, named, proceed)
        if kind == "invariant":
            return self._invariant(wrapper, args, named, proceed)
        if kind == "new":
            made = proceed(args, named)
            self._check_invariants(made, invariants(made.cls) if isinstance(made, InstanceObj) else [])
            return made
        return self._deal(wrapper, args, named, proceed)

    def _checker(self, wrapper: Any, args: list[Any], named: dict[str, Any], proceed: Proceed) -> PyValue:
        """icontract's checker: no checks of a function inside a call of itself."""
        vm, function = self.vm, wrapped_by(wrapper)
        if any(function is one for one in vm.checks.in_progress):
            return proceed(args, named)
        vm.checks.in_progress.append(function)
        try:
            call = _as_icontract_binds(bound(vm, wrapper, args, named), wrapper)
            self.before(preconditions(wrapper), call)
            after = postconditions(wrapper)
            if after and wrapper.__postcondition_snapshots__:
                call.given["OLD"] = self._snapshots(wrapper.__postcondition_snapshots__, call)
            result = proceed(args, named)
            self.after(after, call.with_result(result), result)
            return result
        finally:
            _forget(vm.checks.in_progress, function)

    def _snapshots(self, snapshots: Sequence[Any], call: ContractCall) -> InstanceObj:
        old = InstanceObj(self.vm.heap.number(), (OldValues,))
        for snapshot in snapshots:
            wanted = {name: call.given[name] for name in snapshot.args if name in call.given}
            old.fields[snapshot.name] = self.vm.call_with(snapshot.capture, [], wanted)
        return old

    def _invariant(self, wrapper: Any, args: list[Any], named: dict[str, Any], proceed: Proceed) -> Any:
        """icontract's invariants: not inside another call on the same object."""
        vm, inside = self.vm, cells(wrapper)
        instance = vm.force(args[0] if args else named.get("self"))
        progress = vm.checks.in_progress
        if "cls" in inside:
            progress.append(instance)
            try:
                result = proceed(args, named)
                found = [of_icontract(c, "invariant") for c in inside["cls"].__invariants__]
                self._check_invariants(instance, found)
                return result
            finally:
                _forget(progress, instance)
        if any(instance is one for one in progress):
            return proceed(args, named)
        progress.append(instance)
        try:
            on_call = getattr(classes.python_type(vm, instance), "__invariants_on_call__", ())
            found = [of_icontract(c, "invariant") for c in on_call]
            if not (self.own and vm.checks.assumed):
                self._check_invariants(instance, found)
            result = proceed(args, named)
            self._check_invariants(instance, found, result)
            return result
        finally:
            _forget(progress, instance)

    def _check_invariants(self, instance: PyValue, found: Sequence[Condition], result: PyValue = NOTHING) -> None:
        for condition in found:
            self.after([condition], _of_object(instance), result)

    def _deal(self, wrapper: Any, args: list[Any], named: dict[str, Any], proceed: Proceed) -> Any:
        vm, contracts = self.vm, cells(wrapper)["contracts"]
        if vm.checks.deal_off or not is_on(wrapper):
            return proceed(args, named)
        call = bound(vm, contracts.func, args, named)
        self.before(preconditions(wrapper), call)
        after = postconditions(wrapper)
        if inspect.isgeneratorfunction(contracts.func):
            self.vm.checks.undecided.extend((c, "it is checked at every value of a generator") for c in after)
            return proceed(args, named)
        try:
            result = proceed(args, named)
        except Raised as raised:
            self._deal_raised(contracts, raised, call)
            raise
        self.after(after, call.with_result(result), result)
        return result

    def _deal_raised(self, contracts: Any, raised: Raised, call: ContractCall) -> None:
        """An exception must be declared by deal.raises, and have the reason of deal.reason."""
        from deal import ContractError

        cls = raised.value.cls
        if issubclass(cls, ContractError) or not issubclass(cls, Exception):
            return
        for validator in contracts.raises:
            if cls not in validator.exceptions:
                names = ", ".join(e.__name__ for e in validator.exceptions)
                text = f"raises({names})" if names else RAISES_NOTHING
                code = getattr(validator.function, "__code__", None)
                function = inspect.unwrap(validator.function) if code is not None else None
                file, line = _place_of(function)
                condition = Condition("exceptions", "deal.raises", None, text, file, line, error=validator.exception)
                broken = BrokenCondition(condition, self.name, self.own, raised=cls.__name__)
                raise _violation(self.vm, broken, call) from None
        for validator in contracts.reasons:
            if cls is validator.event:
                condition = of_deal(validator, "exceptions", "reason")
                if not holds(self.vm, condition, call):
                    broken = BrokenCondition(condition, self.name, self.own, raised=cls.__name__)
                    raise _violation(self.vm, broken, call) from None


def _as_icontract_binds(call: ContractCall, function: PyValue) -> ContractCall:
    """icontract gives positional arguments to parameters one by one, *args included."""
    call.given.update(zip(signature_of(function).parameters, call.args, strict=False))
    return call


def _forget(progress: list[PyValue], one: PyValue) -> None:
    """Like a set: gone however often it was added."""
    progress[:] = [other for other in progress if other is not one]


def _place_of(function: PyValue) -> tuple[str, int]:
    code = getattr(function, "__code__", None)
    return (source.file_of(code), code.co_firstlineno) if code is not None else ("", 0)


def called(vm: VM, wrapper: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """A call of a function with contracts, from the code under test."""
    if wrapper is vm.checks.target:
        vm.checks.target = None
        return call_target(vm, wrapper, None, args, named)
    inside = wrapped_by(wrapper)
    proceed: Proceed = lambda a, n: vm.call_with(inside, a, n)  # noqa: E731 - one line, used once
    name = getattr(inside, "__qualname__", "function")
    return _Contracted(vm, name, False).through(wrapper, args, named, proceed)


def call_target(
    vm: VM,
    decorated: PyValue,
    core: FunctionValue | None,
    args: list[PyValue],
    named: dict[str, PyValue],
    finish: Callable[[PyValue], PyValue] = lambda value: value,
    guarded: bool = False,
) -> PyValue:
    """The call that the tests make: every contract around the function, its preconditions assumed.

    Where another decorator stands between, its own code calls what it wraps, and the contracts of that are met there.
    """
    outside, inside = outermost(decorated)
    function = core if core is not None and core.host is inside else inside
    if function is inside:
        vm.checks.target = next(iter(layers(inside)), None)

    def innermost(a: list[PyValue], n: dict[str, PyValue]) -> PyValue:
        try:
            return finish(vm.call_with(function, a, n))
        finally:
            vm.checks.mark = len(vm.path.choices)

    contracted = _Contracted(vm, getattr(decorated, "__qualname__", "function"), True)
    proceed: Proceed = innermost
    for wrapper in reversed(outside):
        proceed = _around(contracted, wrapper, proceed)
    result = proceed(args, named)
    if guarded:
        instance = vm.force(args[0])
        contracted._check_invariants(instance, _of_deal_class(instance.cls), result)
    return result


def check_inputs(vm: VM, result: PyValue, me: PyValue) -> None:
    """What the call has changed beside its own object must keep its invariants, though no library looks there."""
    checks = vm.checks
    while isinstance(me, UnknownRef):
        if not me.resolved:
            break  # nobody has looked at it, so nobody has changed it
        me = vm.force(me)
    for obj in list(vm.heap.inputs):
        if not isinstance(obj, InstanceObj) or not invariants(obj.cls) or not _is_changed(obj) or _is_same(vm, obj, me):
            continue
        for condition in invariants(obj.cls):
            try:
                if holds(vm, condition, _of_object(obj)):
                    continue
            except (CannotFollow, BoundReached) as end:
                if isinstance(end, BoundReached) and end.bound is Limit.TIME:
                    raise
                what = end.what if isinstance(end, CannotFollow) else f"cut by the {end.bound} bound"
                checks.undecided.append((condition, what))
                continue
            except Raised:
                pass
            checks.left = BrokenCondition(condition, as_written(obj.cls).__name__, False, result, where=obj.name)
            return


def _is_same(vm: VM, obj: InstanceObj, me: PyValue) -> bool:
    same = vm.heap.same(obj, me) if isinstance(me, InstanceObj) and obj is not me else obj is me
    return same is not NotImplemented and vm.decide(same)


def _is_changed(obj: InstanceObj) -> bool:
    return any(name not in obj.fields or obj.fields[name] is not value for name, value in obj.initial.items())


def _around(contracted: _Contracted, wrapper: PyValue, inside: Proceed) -> Proceed:
    return lambda args, named: contracted.through(wrapper, args, named, inside)


# --- deal's invariants: every method call and every assignment ------------------------------------------------


def call_guarded(vm: VM, guarded: GuardedMethod, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    instance = vm.force(args[0])
    contracted = _Contracted(vm, getattr(guarded.function, "__qualname__", "method"), False)
    found = _of_deal_class(instance.cls)
    contracted._check_invariants(instance, found)
    result = vm.call_with(guarded.function, args, named)
    contracted._check_invariants(instance, found, result)
    return result


def _of_deal_class(cls: type) -> list[Condition]:
    return [c for c in invariants(cls) if c.origin == "deal.inv"]


def assigned(vm: VM, obj: InstanceObj) -> None:
    """A field of an object with deal.inv was assigned: the invariant is checked at once."""
    contracted = _Contracted(vm, obj.cls.__name__.removesuffix("Invarianted"), False)
    contracted._check_invariants(obj, _of_deal_class(obj.cls))
