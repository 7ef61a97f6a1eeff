"""Indices and slices: brought into the bounds of a sequence, with Python's IndexErrors and TypeErrors."""

from __future__ import annotations

import operator

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.kinds import as_int, is_int, refusal
from treadle.symbolic.python.values.values import PyValue, RangeValue, SliceValue


def position(vm: VM, index: Integer, size: Integer, message: str) -> Integer:
    """An index made non-negative; IndexError when it is outside."""
    if not vm.decide(x.lt(index, size)):
        raise vm.error(IndexError, message)
    if vm.decide(x.ge(index, 0)):
        return index
    if not vm.decide(x.ge(x.add(index, size), 0)):
        raise vm.error(IndexError, message)
    return x.add(index, size)


def as_index(vm: VM, container: PyValue, index: PyValue) -> Integer:
    index = vm.force(index)
    own = own_method(vm, index, "__index__")
    if own is not None:
        index = vm.call(own)
    if is_int(index):
        return as_int(index)
    raise refusal(vm, operator.getitem, container, index)


def range_length(vm: VM, value: RangeValue) -> Integer:
    """len(range)"""
    span = x.sub(value.stop, value.start) if value.step > 0 else x.sub(value.start, value.stop)
    step = abs(value.step)
    count = span if step == 1 else x.floordiv(x.add(span, step - 1), step)
    return count if vm.decide(x.gt(span, 0)) else 0


def known_slice(vm: VM, index: SliceValue, size: int) -> slice:
    parts = [vm.heap.decided(vm.force(p)) for p in (index.start, index.stop, index.step)]
    step = parts[2]
    if isinstance(step, Expr):
        raise CannotFollow("a slice with an unknown step")
    bounds = [clamped(vm, part, size) if isinstance(part, Expr) else part for part in parts[:2]]
    try:
        made = slice(bounds[0], bounds[1], step)
        made.indices(size)
    except Exception as error:
        raise vm.host_error(error) from None
    return made


def clamped(vm: VM, bound: Expr, size: int) -> int:
    """A slice bound against a known size: only finitely many differ."""
    for n in range(size):
        if vm.decide(x.eq(bound, n)):
            return n
    if vm.decide(x.ge(bound, size)):
        return size
    for n in range(-1, -size, -1):
        if vm.decide(x.eq(bound, n)):
            return n + size
    return 0
