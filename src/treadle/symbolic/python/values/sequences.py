"""obj[index] on any value, its assignment and deletion, slices, + and * of sequences."""

from __future__ import annotations

import collections
import enum
import operator
import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import BoundReached, CannotFollow, Limit
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, strings
from treadle.symbolic.python.values.indexing import as_index, known_slice, position, range_length
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_int, is_known, is_string, refusal
from treadle.symbolic.python.values.open_lists import changed, close, from_items, items, read, write
from treadle.symbolic.python.values.table import method
from treadle.symbolic.python.values.values import PyValue, RangeValue, SliceValue

# --- [] --------------------------------------------------------------------------------------------------


def get_item(vm: VM, obj: Any, index: Any) -> PyValue:
    """obj[index]"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        return mappings.get_item(vm, obj, index)
    if isinstance(obj, ListObj | tuple | RangeValue) or is_string(obj):
        index = vm.force(index)
        if isinstance(index, SliceValue):
            return slice_of(vm, obj, index)
        return _at(vm, obj, as_index(vm, obj, index))
    if isinstance(obj, InstanceObj):
        own = own_method(vm, obj, "__getitem__", in_python=obj.payload is not None)
        if own is not None:
            return vm.call(own, index)
        if obj.payload is not None:
            return _payload_item(vm, obj, index)
    if isinstance(obj, type):
        return _class_item(vm, obj, index)
    if is_known(obj) and hasattr(type(obj), "__getitem__"):
        return vm.call_real(type(obj).__getitem__, [obj, index], {}, f"{type(obj).__name__}[...]")
    raise refusal(vm, operator.getitem, obj, index)


def _at(vm: VM, obj: Any, index: Integer) -> PyValue:
    if isinstance(obj, ListObj):
        return read(vm, obj, position(vm, index, obj.size(), "list index out of range"))
    if isinstance(obj, tuple):
        return from_items(vm, obj, position(vm, index, len(obj), "tuple index out of range"))
    if isinstance(obj, RangeValue):
        where = position(vm, index, range_length(vm, obj), "range object index out of range")
        return x.add(obj.start, x.mul(where, obj.step))
    return strings.get_item(vm, obj, index)


def _payload_item(vm: VM, obj: InstanceObj, index: PyValue) -> PyValue:
    """An item of an object that holds a list, a dict, ...; a defaultdict makes the one that is not there."""
    makes = issubclass(obj.cls, collections.defaultdict)
    missing = classes.special(vm, obj, "__missing__")
    if not isinstance(obj.payload, DictObj) or not (makes or missing is not None):
        return get_item(vm, obj.payload, index)
    found = mappings.find(vm, obj.payload, index)
    if found is not None:
        return found[1]
    if not makes:
        return vm.call(vm.attribute(obj, "__missing__"), index)
    factory = vm.force(obj.fields.get("default_factory"))
    if factory is None:
        raise vm.error(KeyError, vm.force(index))
    value = vm.call(factory)
    mappings.store(vm, obj.payload, index, value)
    return value


def _class_item(vm: VM, cls: type, index: Any) -> PyValue:
    if isinstance(cls, enum.EnumType):
        index = vm.force(index)
        if isinstance(index, Expr):
            members: dict[str, PyValue] = dict(cls.__members__)
            for name, member in members.items():
                if vm.decide(vm.equal(index, name)):
                    return member
            raise vm.error(KeyError, index)
        try:
            return cls[index]
        except KeyError as error:
            raise vm.host_error(error) from None
    own = classes.lookup(cls, "__class_getitem__")
    function = own.__func__ if isinstance(own, classmethod) else None
    if isinstance(function, types.FunctionType) and function.__module__ != "typing":
        return vm.call(vm.attribute(cls, "__class_getitem__"), index)
    return cls


@method(object, "__setitem__")
def set_item(vm: VM, obj: PyValue, index: PyValue, value: PyValue) -> None:
    """obj[index] = value"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        return mappings.set_item(vm, obj, index, value)
    if isinstance(obj, ListObj):
        changed(vm, obj)
        index = vm.force(index)
        if isinstance(index, SliceValue):
            return _set_slice(vm, obj, index, value)
        index = as_index(vm, obj, index)
        return write(vm, obj, position(vm, index, obj.size(), "list assignment index out of range"), value)
    if isinstance(obj, InstanceObj):
        own = own_method(vm, obj, "__setitem__", in_python=obj.payload is not None)
        if own is not None:
            vm.call(own, index, value)
            return None
        if obj.payload is not None:
            return set_item(vm, obj.payload, index, value)
    shown = exemplar(vm, obj)
    if hasattr(type(shown), "__setitem__"):
        raise CannotFollow(f"assigning to an item of a {type(shown).__name__}")
    raise vm.mimic(lambda: operator.setitem(shown, 0, 0))


@method(object, "__delitem__")
def delete_item(vm: VM, obj: PyValue, index: PyValue) -> None:
    """del obj[index]"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        changed(vm, obj)
        mappings.remove(vm, obj, index, KeyError)
        return
    if isinstance(obj, ListObj):
        changed(vm, obj)
        index = vm.force(index)
        if isinstance(index, SliceValue):
            values = close(vm, obj)
            del values[known_slice(vm, index, len(values))]
            return
        list_methods.taken_out(vm, obj, as_index(vm, obj, index), "list assignment index out of range")
        return
    if isinstance(obj, InstanceObj) and classes.special(vm, obj, "__delitem__") is not None:
        own = own_method(vm, obj, "__delitem__", in_python=obj.payload is not None)
        if own is None:
            return delete_item(vm, obj.payload, index)
        vm.call(own, index)
        return
    shown = exemplar(vm, obj)
    raise vm.mimic(lambda: operator.delitem(shown, 0))


# --- slices ----------------------------------------------------------------------------------------------


def slice_of(vm: VM, obj: Any, index: SliceValue) -> PyValue:
    if is_string(obj):
        return strings.slice_of(vm, obj, index)
    if isinstance(obj, ListObj):
        values = close(vm, obj)
        return vm.new_list(values[known_slice(vm, index, len(values))])
    if isinstance(obj, tuple):
        return obj[known_slice(vm, index, len(obj))]
    start, stop = vm.force(obj.start), vm.force(obj.stop)
    if isinstance(start, Expr) or isinstance(stop, Expr):
        raise CannotFollow("a slice of a range of unknown size")
    whole = range(start, stop, obj.step)
    real = whole[known_slice(vm, index, len(whole))]
    return RangeValue(real.start, real.stop, real.step)


def _set_slice(vm: VM, obj: ListObj, index: SliceValue, value: PyValue) -> None:
    new = vm.spread(value)
    values = close(vm, obj)
    try:
        values[known_slice(vm, index, len(values))] = new
    except ValueError as error:
        raise vm.host_error(error) from None


# --- + and * ---------------------------------------------------------------------------------------------


def combine(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    if op == "+":
        if isinstance(a, ListObj) and isinstance(b, ListObj):
            return vm.new_list([*items(vm, a), *items(vm, b)])
        return a + b if isinstance(a, tuple) and isinstance(b, tuple) else NotImplemented
    if is_int(a):
        a, b = b, a
    if not is_int(b) or not (isinstance(a, ListObj | tuple) or is_string(a)):
        return NotImplemented
    count = _decide_count(vm, as_int(b))
    if isinstance(a, ListObj):
        return vm.new_list(items(vm, a) * count)
    return a * count if isinstance(a, tuple) else x.concat(*([a] * count))


def _decide_count(vm: VM, count: Integer) -> int:
    count = vm.heap.decided(count)
    if not isinstance(count, Expr):
        if count > 100_000:
            raise CannotFollow("a very long sequence")
        return int(count)
    if vm.decide(x.le(count, 0)):
        return 0
    for n in range(1, vm.k + 2):
        if vm.decide(x.eq(count, n)):
            return n
    raise BoundReached(Limit.LOOP, vm.path.place)
