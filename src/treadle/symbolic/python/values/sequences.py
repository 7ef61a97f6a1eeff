"""Lists, tuples, strings and ranges as sequences: indexing, slicing, + and *."""

from __future__ import annotations

import collections
import enum
import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import BoundReached, CannotFollow
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, strings
from treadle.symbolic.python.values.indexing import as_index, known_slice, position, range_length
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_known, is_python, is_string, number_kind
from treadle.symbolic.python.values.open_lists import changed, close, from_items, items, read, write
from treadle.symbolic.python.values.table import method
from treadle.symbolic.python.values.values import Range, Slice

# --- [] --------------------------------------------------------------------------------------------------


def get_item(vm: VM, obj: Any, index: Any) -> Any:
    """obj[index]"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        return mappings.get_item(vm, obj, index)
    if isinstance(obj, ListObj | tuple | Range) or is_string(obj):
        index = vm.force(index)
        if isinstance(index, Slice):
            return slice_of(vm, obj, index)
        if is_string(obj):
            return strings.get_item(vm, obj, as_index(vm, obj, index))
        index = as_index(vm, obj, index)
        if isinstance(obj, ListObj):
            return read(vm, obj, position(vm, index, obj.size(), "list index out of range"))
        if isinstance(obj, tuple):
            where = position(vm, index, len(obj), "tuple index out of range")
            return from_items(vm, obj, where)
        size = range_length(vm, obj)
        where = position(vm, index, size, "range object index out of range")
        return x.add(obj.start, x.mul(where, obj.step))
    if isinstance(obj, InstanceObj):
        if obj.payload is not None and not is_python(classes.special(vm, obj, "__getitem__")):
            return _payload_item(vm, obj, index)
        if classes.special(vm, obj, "__getitem__") is not None:
            return vm.call(vm.attribute(obj, "__getitem__"), index)
    if isinstance(obj, type):
        return _class_item(vm, obj, index)
    return _host_item(vm, obj, index)


def _payload_item(vm: VM, obj: InstanceObj, index: Any) -> Any:
    if issubclass(obj.cls, collections.defaultdict) and isinstance(obj.payload, DictObj):
        found = mappings.find(vm, obj.payload, index)
        if found is not None:
            return found[1]
        factory = vm.force(obj.fields.get("default_factory"))
        if factory is None:
            raise vm.error(KeyError, vm.force(index))
        value = vm.call(factory)
        mappings.store(vm, obj.payload, index, value)
        return value
    missing = classes.special(vm, obj, "__missing__")
    if isinstance(obj.payload, DictObj) and missing is not None:
        found = mappings.find(vm, obj.payload, index)
        return found[1] if found is not None else vm.call(vm.attribute(obj, "__missing__"), index)
    return get_item(vm, obj.payload, index)


def _class_item(vm: VM, cls: type, index: Any) -> Any:
    if isinstance(cls, enum.EnumType):
        index = vm.force(index)
        if isinstance(index, Expr):
            members: dict[str, Any] = dict(cls.__members__)
            for name, member in members.items():
                if vm.decide(vm.equal(index, name)):
                    return member
            raise vm.error(KeyError, index)
        try:
            return cls[index]
        except KeyError as error:
            raise vm.host_error(error) from None
    own = classes.lookup(cls, "__class_getitem__")
    if (
        isinstance(own, classmethod)
        and isinstance(own.__func__, types.FunctionType)
        and own.__func__.__module__ != "typing"
    ):
        return vm.call(vm.attribute(cls, "__class_getitem__"), index)
    return cls


def _host_item(vm: VM, obj: Any, index: Any) -> Any:
    if is_known(obj) and hasattr(type(obj), "__getitem__"):
        return vm.call_real(type(obj).__getitem__, [obj, index], {}, f"{type(obj).__name__}[...]")
    shown, where = exemplar(vm, obj), exemplar(vm, index)
    raise vm.mimic(lambda: shown[where])


@method(object, "__setitem__")
def set_item(vm: VM, obj: Any, index: Any, value: Any) -> None:
    """obj[index] = value"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        mappings.set_item(vm, obj, index, value)
        return
    if isinstance(obj, ListObj):
        changed(vm, obj)
        index = vm.force(index)
        if isinstance(index, Slice):
            _set_slice(vm, obj, index, value)
            return
        index = as_index(vm, obj, index)
        write(vm, obj, position(vm, index, obj.size(), "list assignment index out of range"), value)
        return
    if isinstance(obj, InstanceObj):
        if obj.payload is not None and not is_python(classes.special(vm, obj, "__setitem__")):
            set_item(vm, obj.payload, index, value)
            return
        if classes.special(vm, obj, "__setitem__") is not None:
            vm.call(vm.attribute(obj, "__setitem__"), index, value)
            return
    shown = exemplar(vm, obj)
    if hasattr(type(shown), "__setitem__"):
        raise CannotFollow(f"assigning to an item of a {type(shown).__name__}")
    raise vm.mimic(lambda: shown.__class__.__setitem__ if False else operators_set(shown))


def operators_set(shown: Any) -> None:
    shown[0] = 0


@method(object, "__delitem__")
def delete_item(vm: VM, obj: Any, index: Any) -> None:
    """del obj[index]"""
    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        changed(vm, obj)
        mappings.remove(vm, obj, index, KeyError)
        return
    if isinstance(obj, ListObj):
        changed(vm, obj)
        index = vm.force(index)
        if isinstance(index, Slice):
            values = close(vm, obj)
            del values[known_slice(vm, index, len(values))]
            return
        list_methods.pop(vm, obj, as_index(vm, obj, index), "list assignment index out of range")
        return
    if isinstance(obj, InstanceObj) and classes.special(vm, obj, "__delitem__") is not None:
        if obj.payload is not None and not is_python(classes.special(vm, obj, "__delitem__")):
            delete_item(vm, obj.payload, index)
            return
        vm.call(vm.attribute(obj, "__delitem__"), index)
        return
    shown = exemplar(vm, obj)

    def fail() -> None:
        del shown[0]

    raise vm.mimic(fail)


# --- slices ----------------------------------------------------------------------------------------------


def slice_of(vm: VM, obj: Any, index: Slice) -> Any:
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
    real = range(start, stop, obj.step)[known_slice(vm, index, len(range(start, stop, obj.step)))]
    return Range(real.start, real.stop, real.step)


def _set_slice(vm: VM, obj: ListObj, index: Slice, value: Any) -> None:
    new = vm.spread(value)
    values = close(vm, obj)
    try:
        values[known_slice(vm, index, len(values))] = new
    except ValueError as error:
        raise vm.host_error(error) from None


# --- + and * ---------------------------------------------------------------------------------------------


def combine(vm: VM, op: str, a: Any, b: Any) -> Any:
    if op == "+":
        if isinstance(a, ListObj) and isinstance(b, ListObj):
            return vm.new_list([*items(vm, a), *items(vm, b)])
        if isinstance(a, tuple) and isinstance(b, tuple):
            return a + b
        return NotImplemented
    if number_kind(a) == "int":
        a, b = b, a
    if number_kind(b) != "int" or not (isinstance(a, ListObj | tuple) or is_string(a)):
        return NotImplemented
    count = _decide_count(vm, as_int(b))
    if isinstance(a, ListObj):
        return vm.new_list(items(vm, a) * count)
    if isinstance(a, tuple):
        return a * count
    return x.concat(*([a] * count))


def _decide_count(vm: VM, count: Value) -> int:
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
    raise BoundReached("loop", vm.path.place)
