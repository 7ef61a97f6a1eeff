"""The elements of lists: a list that is an input stays open, its length unknown, its elements made when they are read.

It stays open for as long as the program only measures it, indexes it, walks along it, appends or pops. Anything else
closes it: its length is decided, bounded like a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer
from treadle.symbolic.heap.objects import DictObj, ListObj
from treadle.symbolic.path import BoundReached, Limit
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.values import PyValue


def close(vm: VM, obj: ListObj) -> list[PyValue]:
    """Decide the length; the elements are then a plain list."""
    obj = vm.heap.settle(obj)
    if obj.items is not None:
        return obj.items
    count = _decide_size(vm, obj.count)
    middle = [source(vm, obj, obj.start + i) for i in range(count)]
    obj.items = [*obj.head, *middle, *obj.tail]
    return obj.items


def _decide_size(vm: VM, size: Integer) -> int:
    if not isinstance(size, Expr):
        return int(size)
    # one more than the loop bound, so that a pair exists even with k = 1
    for n in range(vm.k + 2):
        if vm.decide(x.eq(size, n)):
            return n
    raise BoundReached(Limit.LOOP, vm.path.place)


def items(vm: VM, obj: ListObj) -> list[Any]:
    return close(vm, obj)


def source(vm: VM, obj: ListObj, index: Integer) -> PyValue:
    """The element of the input list at an index of its source, writes included."""
    if vm.heap.postpones and _depends(vm, obj):
        return _postponed(vm, obj, vm.heap.settled(index))
    # which element it is decides which object it is, so it must be known which list this is
    obj, index = vm.heap.settle(obj), vm.heap.decided(index)
    for write in reversed(obj.writes):
        if vm.heap.settled(write.condition) and vm.decide(x.eq(write.index, index)):
            return write.value
    return _initial(vm, obj, index)


def _depends(vm: VM, obj: ListObj) -> bool:
    """Whether every element and every write is a scalar of one sort, so that a read may be one of several."""
    if not isinstance(obj.element, t.Scalar) or obj.element == t.FLOAT:
        return False
    sort = {t.INT: x.INT, t.BOOL: x.BOOL, t.STR: x.STR}[obj.element]
    return all(
        _scalar_sort(write.value) is sort for write in obj.writes if vm.heap.settled(write.condition) is not False
    )


def _postponed(vm: VM, obj: ListObj, index: Integer) -> PyValue:
    """The last write to this list whose index is this one, as far as it is known; else what was there at the start."""
    maybe: list[tuple[Expr, Any]] = []
    before = len(obj.reads)
    for write in reversed(obj.writes):
        same = x.and_(vm.heap.settled(write.condition), x.eq(vm.heap.settled(write.index), index))
        if same is True:
            result, unread = write.value, None
            break
        if isinstance(same, Expr):
            maybe.append((same, write.value))
    else:
        result = unread = _initial(vm, obj, index)
    if maybe:
        vm.heap.postpone([same for same, _ in maybe], unread, len(obj.reads) > before)
    for same, value in reversed(maybe):
        result = x.ite(same, value, result)
    return result


def _initial(vm: VM, obj: ListObj, index: Integer) -> PyValue:
    known = {id(i) if isinstance(i, Expr) else i: value for i, value in obj.reads}
    key = id(index) if isinstance(index, Expr) else index
    if key in known:
        return known[key]
    scalar = isinstance(obj.element, t.Scalar)
    if not scalar:
        # which element it is decides which object it is
        for where, value in obj.reads:
            if vm.decide(x.eq(where, index)):
                return value
    value = vm.heap.element(obj, index)
    if scalar:
        for condition, other in [(True, obj), *vm.heap.perhaps(obj)]:
            for where, earlier in other.reads:
                same = x.and_(condition, x.eq(where, index))
                if same is not False:
                    vm.path.assume(x.implies(same, x.eq(earlier, value)))
    obj.reads.append((index, value))
    return value


def read(vm: VM, obj: ListObj, index: Integer) -> PyValue:
    """The element at an index known to be inside."""
    obj = vm.heap.now(obj)
    if obj.items is not None:
        return from_items(vm, obj.items, index)
    head = len(obj.head)
    if head and vm.decide(x.lt(index, head)):
        return from_items(vm, obj.head, index)
    inner = x.sub(index, head)
    if obj.tail and not vm.decide(x.lt(inner, obj.count)):
        return from_items(vm, obj.tail, x.sub(inner, obj.count))
    return source(vm, obj, x.add(inner, obj.start))


def from_items(vm: VM, values: list[PyValue] | tuple[PyValue, ...], index: Integer) -> PyValue:
    if not isinstance(index, Expr):
        return values[index]
    sorts = {_scalar_sort(v) for v in values}
    # which of some known words it is, is decided like the key of a dict
    if len(sorts) == 1 and None not in sorts and not all(isinstance(v, str) for v in values):
        scalars: Sequence[Any] = values
        result = scalars[-1]
        for i in range(len(scalars) - 2, -1, -1):
            result = x.ite(x.eq(index, i), scalars[i], result)
        return result
    for i, value in enumerate(values[:-1]):
        if vm.decide(x.eq(index, i)):
            return value
    return values[-1]


def _scalar_sort(value: PyValue) -> PyValue:
    if isinstance(value, Expr):
        return value.sort
    if type(value) in (int, bool, str):
        return x.sort_of(value)
    return None


def write(vm: VM, obj: ListObj, index: Integer, value: PyValue) -> None:
    obj = vm.heap.now(obj)
    if obj.items is not None:
        _into_items(vm, obj.items, index, value)
        return
    head = len(obj.head)
    if head and vm.decide(x.lt(index, head)):
        _into_items(vm, obj.head, index, value)
        return
    inner = x.sub(index, head)
    if obj.tail and not vm.decide(x.lt(inner, obj.count)):
        _into_items(vm, obj.tail, x.sub(inner, obj.count), value)
        return
    vm.heap.write_element(obj, x.add(inner, obj.start), value)


def _into_items(vm: VM, values: list[PyValue], index: Integer, value: PyValue) -> None:
    if not isinstance(index, Expr):
        values[index] = value
        return
    for i in range(len(values)):
        if i == len(values) - 1 or vm.decide(x.eq(index, i)):
            values[i] = value
            return


def changed(vm: VM, obj: ListObj | DictObj) -> None:
    """A copy of a real object is about to change."""
    if obj.host is not None:
        vm.changed_hosts.add(id(obj.host))


def reshaped(vm: VM, obj: ListObj) -> ListObj:
    """The list is about to change by more than one of its elements: which list that is must be known."""
    changed(vm, obj)
    return vm.heap.settle(obj)
