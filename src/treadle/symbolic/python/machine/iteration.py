"""Iterators of the program: over sequences that may still be open, over generators, over ranges of unknown size."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.ir.machine import Exhausted, Raised, Yielded
from treadle.symbolic.path import BoundReached, CannotFollow, Limit
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import mappings, open_lists
from treadle.symbolic.python.values.kinds import refusal
from treadle.symbolic.python.values.values import DictView, GeneratorValue, IteratorValue, PyValue, RangeValue


def _always() -> bool:
    return True


def _never() -> bool:
    return False


def over_values(values: list[PyValue] | tuple[PyValue, ...]) -> IteratorValue:
    source = iter(values)

    def step() -> PyValue:
        for value in source:
            return value
        raise Exhausted

    return IteratorValue(step, _always)


def iterate(vm: VM, value: PyValue) -> IteratorValue:
    """iter(value)"""
    value = vm.heap.decided(vm.force(value))
    if isinstance(value, IteratorValue):
        return value
    if isinstance(value, tuple):
        return over_values(value)
    if isinstance(value, ListObj):
        return _over_list(vm, value)
    if isinstance(value, GeneratorValue):
        return IteratorValue(lambda: resume(vm, value), _never, value)
    if isinstance(value, RangeValue):
        return over_range(vm, value)
    if isinstance(value, DictObj):
        return _over_keys(vm, value)
    if isinstance(value, DictView):
        return over_values(mappings.view_items(vm, value))
    if isinstance(value, str):
        return over_values(list(value))
    if isinstance(value, Expr) and value.sort is x.STR:
        return _over_string(vm, value)
    if isinstance(value, InstanceObj):
        holds = isinstance(value.payload, tuple | ListObj | DictObj)
        if holds and classes.special(vm, value, "__iter__") in _BUILTIN_ITERS:
            return vm.iterate(value.payload)
        return _over_instance(vm, value)
    if isinstance(value, enum.EnumType):
        members: list[PyValue] = list(value)
        return over_values(members)
    if value is None or isinstance(value, Expr | int | float) or not hasattr(type(value), "__iter__"):
        raise refusal(vm, iter, value)
    return _over_host(vm, value)


def spread(vm: VM, value: PyValue) -> list[PyValue]:
    """All values of an iterable; an unknown number of them is bounded like a loop."""
    return list(each(vm, value))


def each(vm: VM, value: PyValue) -> Iterable[PyValue]:
    """The values of an iterable one after the other, as somebody takes them; those of a list as it is now."""
    value = vm.force(value)
    if isinstance(value, tuple):
        return value
    if isinstance(value, ListObj):
        return list(open_lists.items(vm, value))
    return _each(vm, iterate(vm, value))


def _each(vm: VM, iterator: IteratorValue) -> Iterator[PyValue]:
    for found in itertools.count(1):
        before = vm.mark()
        try:
            value = iterator.step()
        except Exhausted:
            return
        if found > vm.k + 1 and not iterator.bounded() and vm.asked_since(before):
            raise BoundReached(Limit.LOOP, vm.path.place)
        if found > 10_000:
            raise BoundReached(Limit.DEPTH, vm.path.place)
        yield value


_BUILTIN_ITERS = (tuple.__iter__, list.__iter__, dict.__iter__, set.__iter__)


def _over_list(vm: VM, value: ListObj) -> IteratorValue:
    position = 0

    def step() -> PyValue:
        nonlocal position, value
        value = vm.force(value)
        if position < 0 or not vm.decide(x.lt(position, value.size())):
            position = -1
            raise Exhausted
        position += 1
        return open_lists.read(vm, value, position - 1)

    return IteratorValue(step, lambda: not isinstance(value.size(), Expr))


def _over_string(vm: VM, value: Expr) -> IteratorValue:
    position = 0

    def step() -> PyValue:
        nonlocal position
        if not vm.decide(x.lt(position, x.length(value))):
            raise Exhausted
        position += 1
        return x.at(value, position - 1)

    return IteratorValue(step, _never)


def over_range(vm: VM, value: RangeValue) -> IteratorValue:
    position = value.start
    known = not isinstance(value.start, Expr) and not isinstance(value.stop, Expr)

    def step() -> PyValue:
        nonlocal position
        more = x.lt(position, value.stop) if value.step > 0 else x.gt(position, value.stop)
        if not vm.decide(more):
            raise Exhausted
        current = position
        position = x.add(position, value.step)
        return current

    return IteratorValue(step, lambda: known)


def _over_keys(vm: VM, value: DictObj) -> IteratorValue:
    """Keys of a dict or elements of a set; the number of entries must not change on the way."""
    entries = mappings.entries(vm, value)
    if value.keys_only:
        mappings.order_of_set(vm, [k for k, _ in entries])
    size = len(value.entries)
    source = iter([k for k, _ in entries])

    def step() -> PyValue:
        if len(value.entries) != size:
            what = "Set" if value.keys_only else "dictionary"
            raise vm.error(RuntimeError, f"{what} changed size during iteration")
        for key in source:
            return key
        raise Exhausted

    return IteratorValue(step, _always)


def refuse_dropped(vm: VM) -> None:
    """Whoever drops a generator that waits inside a `try` or `with` ends it, and when that is we do not know."""
    if any(not one.finished and one.frame.block.handler is not None for one in vm.generators):
        raise CannotFollow("a generator that is dropped inside 'try' or 'with'")


def resume(vm: VM, generator: GeneratorValue, error: PyValue = None) -> PyValue:
    """Run a generator to its next yield; `Exhausted` when it returns."""
    if generator.finished:
        if error is not None:
            raise Raised(error)
        raise Exhausted
    if generator.frame in vm.frames:
        raise vm.error(ValueError, "generator already executing")
    if not generator.started:
        vm.generators.append(generator)
    generator.started = True
    try:
        result = vm.run(generator.frame, error)
    except Raised as raised:
        generator.finished = True
        if isinstance(raised.value, InstanceObj) and issubclass(raised.value.cls, StopIteration):
            raise vm.error(RuntimeError, "generator raised StopIteration") from None
        raise
    if isinstance(result, Yielded):
        return result.value
    generator.finished = True
    generator.returned = result
    raise Exhausted


def returned(iterator: Any) -> PyValue:
    """What the generator behind an exhausted iterator returned: the value of `yield from`."""
    return iterator.generator.returned if iterator.generator is not None else None


def _over_instance(vm: VM, value: InstanceObj) -> IteratorValue:
    own = own_method(vm, value, "__iter__")
    if own is not None:
        inner = vm.force(vm.call(own))
        if not (isinstance(inner, InstanceObj) and classes.special(vm, inner, "__next__")):
            return iterate(vm, inner)
        return IteratorValue(lambda: _until(vm, StopIteration, inner, "__next__"), _never)
    if classes.special(vm, value, "__getitem__") is not None:
        places = itertools.count()
        return IteratorValue(lambda: _until(vm, IndexError, value, "__getitem__", next(places)), _never)
    raise refusal(vm, iter, value)


def _until(vm: VM, end: type[Exception], obj: InstanceObj, name: str, *args: PyValue) -> PyValue:
    """The next value of an object that raises an exception after the last."""
    try:
        return vm.call(vm.attribute(obj, name), *args)
    except Raised as raised:
        if issubclass(raised.value.cls, end):
            raise Exhausted from None
        raise


def _over_host(vm: VM, value: Any) -> IteratorValue:
    """A real iterable of known values (bytes, an itertools object, ...)."""
    try:
        source = iter(value)
    except TypeError as error:
        raise vm.host_error(error) from None
    steps = 0

    def step() -> PyValue:
        nonlocal steps
        steps += 1
        if steps > 100_000:
            raise CannotFollow("an endless iterator")
        try:
            return vm.lift(next(source))
        except StopIteration:
            raise Exhausted from None

    return IteratorValue(step, _always)
