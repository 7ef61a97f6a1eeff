"""The methods of list, of deque where it differs, and of tuple."""

from __future__ import annotations

import collections
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer
from treadle.symbolic.heap.objects import ListObj
from treadle.symbolic.path import BoundReached, Limit
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.indexing import as_index, clamped, known_slice, position
from treadle.symbolic.python.values.kinds import is_known
from treadle.symbolic.python.values.open_lists import close, reshaped, source
from treadle.symbolic.python.values.table import method
from treadle.symbolic.python.values.values import PyValue, SliceValue

# A generator may look at the list that it makes grow, and then has no end.
_MOST_GROWN = 2_000


@method(list, "__init__")
def _init(vm: VM, obj: ListObj, values: PyValue = ()) -> None:
    replace(vm, obj, vm.spread(values))


@method(list, "append")
def append(vm: VM, obj: ListObj, value: PyValue) -> None:
    obj = reshaped(vm, obj)
    (obj.items if obj.items is not None else obj.tail).append(value)


@method(list, "extend")
def extend(vm: VM, obj: ListObj, values: PyValue) -> None:
    for number, value in enumerate(vm.each(values)):
        append(vm, obj, value)
        if number > _MOST_GROWN:
            raise BoundReached(Limit.DEPTH, vm.path.place)


def replace(vm: VM, obj: ListObj, values: list[PyValue]) -> None:
    close(vm, reshaped(vm, obj))[:] = values


@method(list, "pop")
def pop(vm: VM, obj: ListObj, index: PyValue = -1) -> PyValue:
    obj = reshaped(vm, obj)
    if not vm.decide(x.gt(obj.size(), 0)):
        raise vm.error(IndexError, "pop from empty list")
    return taken_out(vm, obj, index, "pop index out of range")


def taken_out(vm: VM, obj: ListObj, index: Any, message: str) -> PyValue:
    """The item at an index, which is in the list no longer; the message is Python's for an index that is not in it."""
    obj = reshaped(vm, obj)
    if obj.items is None and not isinstance(index, Expr):
        if index == -1 and not obj.tail and not isinstance(obj.count, Expr):
            close(vm, obj)
        elif index == -1:
            if obj.tail:
                return obj.tail.pop()
            if vm.decide(x.gt(obj.count, 0)):
                value = source(vm, obj, x.add(obj.start, x.sub(obj.count, 1)))
                obj.count = x.sub(obj.count, 1)
                return value
            return obj.head.pop()
        elif index == 0 and not obj.head and vm.decide(x.gt(obj.count, 0)):
            value = source(vm, obj, obj.start)
            obj.start += 1
            obj.count = x.sub(obj.count, 1)
            return value
    values = close(vm, obj)
    where = position(vm, index, len(values), message)
    if not isinstance(where, Expr):
        return values.pop(where)
    for n in range(len(values) - 1):
        if vm.decide(x.eq(where, n)):
            return values.pop(n)
    return values.pop()


@method(list, "insert")
def _insert(vm: VM, obj: ListObj, index: Any, value: Any) -> None:
    obj = reshaped(vm, obj)
    index = as_index(vm, obj, index)
    if obj.items is None and index == 0:
        obj.head.insert(0, value)
        return
    values = close(vm, obj)
    if isinstance(index, Expr):
        index = clamped(vm, index, len(values))
    values.insert(index, value)


@method(list, "remove")
def _remove(vm: VM, obj: ListObj, value: PyValue) -> None:
    values = close(vm, reshaped(vm, obj))
    for i, own in enumerate(values):
        if vm.decide(vm.same_or_equal(own, value)):
            del values[i]
            return
    raise vm.error(ValueError, "list.remove(x): x not in list")


def _values(vm: VM, obj: Any) -> list[PyValue]:
    return list(obj) if isinstance(obj, tuple) else close(vm, obj)


@method(list, "index")
@method(tuple, "index")
def _index(vm: VM, obj: PyValue, value: PyValue, start: PyValue = 0, stop: PyValue = None) -> PyValue:
    values = _values(vm, obj)
    bounds = known_slice(vm, SliceValue(start, stop, None), len(values)).indices(len(values))
    for i in range(*bounds):
        if vm.decide(vm.same_or_equal(values[i], value)):
            return i
    if isinstance(obj, tuple):
        raise vm.error(ValueError, "tuple.index(x): x not in tuple")
    if not is_known(value):
        raise vm.error(ValueError, NotInList(value))
    raise vm.mimic(lambda: [object()].index(value))


class NotInList:
    """The message of list.index names the value: written when the value is known."""

    def __init__(self, value: PyValue) -> None:
        self.value = value


@method(list, "count")
@method(tuple, "count")
def _count(vm: VM, obj: PyValue, value: PyValue) -> PyValue:
    total: Integer = 0
    for own in _values(vm, obj):
        total = x.add(total, x.bool_to_int(vm.same_or_equal(own, value)))
    return total


@method(list, "reverse")
def _reverse(vm: VM, obj: ListObj) -> None:
    close(vm, reshaped(vm, obj)).reverse()


@method(list, "clear")
def _clear(vm: VM, obj: ListObj) -> None:
    reshaped(vm, obj).items = []


@method(list, "copy")
def _copy(vm: VM, obj: ListObj) -> ListObj:
    return vm.new_list(list(close(vm, obj)))


@method(list, "sort")
def _sort(vm: VM, obj: ListObj, *, key: PyValue = None, reverse: PyValue = False) -> None:
    obj = reshaped(vm, obj)
    obj.items = sorted_values(vm, close(vm, obj), key, vm.truth_of(reverse))


def sorted_values(vm: VM, values: list[PyValue], key: PyValue, reverse: bool) -> list[PyValue]:
    """A stable insertion sort that asks only `<`, as Python does."""
    out: list[tuple[PyValue, PyValue]] = []
    for value in values:
        k = value if key is None else vm.call(key, value)
        for i, (other, _) in enumerate(out):
            if vm.truth_of(vm.compare("<", other, k) if reverse else vm.compare("<", k, other)):
                out.insert(i, (k, value))
                break
        else:
            out.append((k, value))
    return [value for _, value in out]


# --- deque: its list of values, without the rest that is in its fields ---------------------------------------


def _not_empty(vm: VM, obj: ListObj) -> None:
    if not vm.decide(x.gt(obj.size(), 0)):
        raise vm.error(IndexError, "pop from an empty deque")


@method(collections.deque, "popleft")
def _pop_left(vm: VM, obj: ListObj) -> PyValue:
    _not_empty(vm, obj)
    return pop(vm, obj, 0)


@method(collections.deque, "pop")
def _pop_right(vm: VM, obj: ListObj) -> PyValue:
    _not_empty(vm, obj)
    return pop(vm, obj)


@method(collections.deque, "appendleft")
def _append_left(vm: VM, obj: ListObj, value: PyValue) -> None:
    _insert(vm, obj, 0, value)


@method(collections.deque, "extendleft")
def _extend_left(vm: VM, obj: ListObj, values: PyValue) -> None:
    for value in vm.spread(values):
        _insert(vm, obj, 0, value)


@method(collections.deque, "rotate")
def _rotate(vm: VM, obj: ListObj, n: Any = 1) -> None:
    values = close(vm, obj)
    n = vm.force(n)
    if isinstance(n, Expr):
        n = vm.path.pick([n], "deque.rotate by an unknown number")[0]
    if values:
        shift = n % len(values)
        values[:] = values[-shift:] + values[:-shift] if shift else values
