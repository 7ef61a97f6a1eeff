"""Lists, tuples, strings and ranges as sequences: indexing, slicing, + and *."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Value
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import BoundReached, CannotFollow
from treadle.symbolic.python.values.open_lists import changed, close, from_items, items, read, write
from treadle.symbolic.python.values.values import Range, Slice

if TYPE_CHECKING:
    from treadle.symbolic.python.machine.vm import VM


# --- [] --------------------------------------------------------------------------------------------------


def position(vm: VM, index: Any, size: Value, message: str) -> Value:
    """An index made non-negative; IndexError when it is outside."""
    if not vm.decide(x.lt(index, size)):
        raise vm.error(IndexError, message)
    if vm.decide(x.ge(index, 0)):
        return index
    if not vm.decide(x.ge(x.add(index, size), 0)):
        raise vm.error(IndexError, message)
    return x.add(index, size)


def as_index(vm: VM, container: Any, index: Any) -> Any:
    from treadle.symbolic.python.machine import attributes, operators

    index = vm.force(index)
    if isinstance(index, InstanceObj) and attributes.special(vm, index, "__index__") is not None:
        index = vm.call(attributes.get(vm, index, "__index__"))
    if operators.number_kind(index) == "int":
        return operators.as_int(index)
    shown, wrong = operators.exemplar(vm, container), operators.exemplar(vm, index)
    raise vm.mimic(lambda: shown[wrong])


def get_item(vm: VM, obj: Any, index: Any) -> Any:
    """obj[index]"""
    from treadle.symbolic.python.machine import attributes, operators
    from treadle.symbolic.python.values import mappings, strings

    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        return mappings.get_item(vm, obj, index)
    if isinstance(obj, ListObj | tuple | Range) or operators.is_string(obj):
        index = vm.force(index)
        if isinstance(index, Slice):
            return slice_of(vm, obj, index)
        if operators.is_string(obj):
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
        if obj.payload is not None and not operators._is_python(attributes.special(vm, obj, "__getitem__")):
            return _payload_item(vm, obj, index)
        if attributes.special(vm, obj, "__getitem__") is not None:
            return vm.call(attributes.get(vm, obj, "__getitem__"), index)
    if isinstance(obj, type):
        return _class_item(vm, obj, index)
    return _host_item(vm, obj, index)


def _payload_item(vm: VM, obj: InstanceObj, index: Any) -> Any:
    from treadle.symbolic.python.machine import attributes
    from treadle.symbolic.python.values import mappings

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
    missing = attributes.special(vm, obj, "__missing__")
    if isinstance(obj.payload, DictObj) and missing is not None:
        found = mappings.find(vm, obj.payload, index)
        return found[1] if found is not None else vm.call(attributes.get(vm, obj, "__missing__"), index)
    return get_item(vm, obj.payload, index)


def _class_item(vm: VM, cls: type, index: Any) -> Any:
    import enum
    import types

    from treadle.symbolic.python.machine import attributes

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
    own = attributes.lookup(cls, "__class_getitem__")
    if (
        isinstance(own, classmethod)
        and isinstance(own.__func__, types.FunctionType)
        and own.__func__.__module__ != "typing"
    ):
        return vm.call(attributes.get(vm, cls, "__class_getitem__"), index)
    return cls


def _host_item(vm: VM, obj: Any, index: Any) -> Any:
    from treadle.symbolic.python.machine import concrete, operators

    if operators.is_known(obj) and hasattr(type(obj), "__getitem__"):
        return concrete.call_real(vm, type(obj).__getitem__, [obj, index], {}, f"{type(obj).__name__}[...]")
    shown, where = operators.exemplar(vm, obj), operators.exemplar(vm, index)
    raise vm.mimic(lambda: shown[where])


def range_length(vm: VM, value: Range) -> Value:
    """len(range)"""
    span = x.sub(value.stop, value.start) if value.step > 0 else x.sub(value.start, value.stop)
    step = abs(value.step)
    count = span if step == 1 else x.floordiv(x.add(span, step - 1), step)
    return count if vm.decide(x.gt(span, 0)) else 0


def set_item(vm: VM, obj: Any, index: Any, value: Any) -> None:
    """obj[index] = value"""
    from treadle.symbolic.python.machine import attributes, operators
    from treadle.symbolic.python.values import mappings

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
        if obj.payload is not None and not operators._is_python(attributes.special(vm, obj, "__setitem__")):
            set_item(vm, obj.payload, index, value)
            return
        if attributes.special(vm, obj, "__setitem__") is not None:
            vm.call(attributes.get(vm, obj, "__setitem__"), index, value)
            return
    shown = operators.exemplar(vm, obj)
    if hasattr(type(shown), "__setitem__"):
        raise CannotFollow(f"assigning to an item of a {type(shown).__name__}")
    raise vm.mimic(lambda: shown.__class__.__setitem__ if False else operators_set(shown))


def operators_set(shown: Any) -> None:
    shown[0] = 0


def delete_item(vm: VM, obj: Any, index: Any) -> None:
    """del obj[index]"""
    from treadle.symbolic.python.machine import attributes, operators
    from treadle.symbolic.python.values import list_methods, mappings

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
    if isinstance(obj, InstanceObj) and attributes.special(vm, obj, "__delitem__") is not None:
        if obj.payload is not None and not operators._is_python(attributes.special(vm, obj, "__delitem__")):
            delete_item(vm, obj.payload, index)
            return
        vm.call(attributes.get(vm, obj, "__delitem__"), index)
        return
    shown = operators.exemplar(vm, obj)

    def fail() -> None:
        del shown[0]

    raise vm.mimic(fail)


# --- slices ----------------------------------------------------------------------------------------------


def known_slice(vm: VM, index: Slice, size: int) -> slice:
    parts = [vm.heap.decided(vm.force(p)) for p in (index.start, index.stop, index.step)]
    step = parts[2]
    if isinstance(step, Expr):
        raise CannotFollow("a slice with an unknown step")
    bounds: list[Any] = []
    for part in parts[:2]:
        if isinstance(part, Expr):
            bounds.append(clamped(vm, part, size))
        else:
            bounds.append(part)
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


def slice_of(vm: VM, obj: Any, index: Slice) -> Any:
    from treadle.symbolic.python.machine import operators
    from treadle.symbolic.python.values import strings

    if operators.is_string(obj):
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
    from treadle.symbolic.python.machine import operators

    if op == "+":
        if isinstance(a, ListObj) and isinstance(b, ListObj):
            return vm.new_list([*items(vm, a), *items(vm, b)])
        if isinstance(a, tuple) and isinstance(b, tuple):
            return a + b
        return NotImplemented
    if operators.number_kind(a) == "int":
        a, b = b, a
    if operators.number_kind(b) != "int" or not (isinstance(a, ListObj | tuple) or operators.is_string(a)):
        return NotImplemented
    count = _decide_count(vm, operators.as_int(b))
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
