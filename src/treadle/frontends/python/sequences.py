"""Lists, tuples, strings and ranges as sequences: indexing, slicing, and the methods of list.

A list that is an input stays open (its length unknown, its elements made when read) for as long as the program only
measures it, indexes it, walks along it, appends or pops. Anything else closes it: its length is decided, bounded
like a loop.
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

from treadle.frontends.python.values import Range, Slice
from treadle.symbolic import expr as x
from treadle.symbolic import types as t
from treadle.symbolic.expr import Expr, Value
from treadle.symbolic.heap import DictObj, InstanceObj, ListObj
from treadle.symbolic.path import Cut, Unsupported

if TYPE_CHECKING:
    from treadle.frontends.python.vm import VM


# --- open lists ------------------------------------------------------------------------------------------


def close(vm: VM, obj: ListObj) -> list[Any]:
    """Decide the length; the elements are then a plain list."""
    if obj.items is not None:
        return obj.items
    count = _decide_size(vm, obj.count)
    middle = [_source(vm, obj, obj.start + i) for i in range(count)]
    obj.items = [*obj.head, *middle, *obj.tail]
    return obj.items


def _decide_size(vm: VM, size: Value) -> int:
    if not isinstance(size, Expr):
        return int(size)
    # one more than the loop bound, so that a pair exists even with k = 1
    for n in range(vm.k + 2):
        if vm.decide(x.eq(size, n)):
            return n
    raise Cut("loop", vm.path.place)


def items(vm: VM, obj: ListObj) -> list[Any]:
    return close(vm, obj)


def _source(vm: VM, obj: ListObj, index: Value) -> Any:
    """The element of the input list at an index of its source, writes included."""
    if vm.heap.postpones and _depends(obj):
        return _postponed(vm, obj, index)
    for where, value in reversed(obj.writes):
        if vm.decide(x.eq(where, index)):
            return value
    return _initial(vm, obj, index)


def _depends(obj: ListObj) -> bool:
    """Whether every element and every write is a scalar of one sort, so that a read may be one of several."""
    if not isinstance(obj.element, t.Scalar) or obj.element == t.FLOAT:
        return False
    sort = {t.INT: x.INT, t.BOOL: x.BOOL, t.STR: x.STR}[obj.element]
    return all(_scalar_sort(value) is sort for _, value in obj.writes)


def _postponed(vm: VM, obj: ListObj, index: Value) -> Value:
    """The last write whose index is this one, as far as it is known; else what was there at the start."""
    maybe: list[tuple[Expr, Value]] = []
    before = len(obj.reads)
    for where, value in reversed(obj.writes):
        same = x.eq(where, index)
        if same is True:
            result, unread = value, None
            break
        if isinstance(same, Expr):
            maybe.append((same, value))
    else:
        result = unread = _initial(vm, obj, index)
    if maybe:
        vm.heap.postpone([same for same, _ in maybe], unread, len(obj.reads) > before)
    for same, value in reversed(maybe):
        result = x.ite(same, value, result)
    return result


def _initial(vm: VM, obj: ListObj, index: Value) -> Any:
    known = {id(i) if isinstance(i, Expr) else i: value for i, value in obj.reads}
    key = id(index) if isinstance(index, Expr) else index
    if key in known:
        return known[key]
    assert obj.element is not None
    scalar = isinstance(obj.element, t.Scalar)
    if not scalar:
        # which element it is decides which object it is
        for where, value in obj.reads:
            if vm.decide(x.eq(where, index)):
                return value
    name = f"{obj.name}[{index}]" if not isinstance(index, Expr) else f"{obj.name}[{index!r}]"
    value = vm.heap.value_of_type(obj.element, name)
    if scalar:
        for where, earlier in obj.reads:
            same = x.eq(where, index)
            if same is not False:
                vm.path.assume(x.implies(same, x.eq(earlier, value)))
    obj.reads.append((index, value))
    return value


def read(vm: VM, obj: ListObj, index: Value) -> Any:
    """The element at an index known to be inside."""
    if obj.items is not None:
        return _from_items(vm, obj.items, index)
    head = len(obj.head)
    if head and vm.decide(x.lt(index, head)):
        return _from_items(vm, obj.head, index)
    inner = x.sub(index, head)
    if obj.tail and not vm.decide(x.lt(inner, obj.count)):
        return _from_items(vm, obj.tail, x.sub(inner, obj.count))
    return _source(vm, obj, x.add(inner, obj.start))


def _from_items(vm: VM, values: list[Any] | tuple[Any, ...], index: Value) -> Any:
    if not isinstance(index, Expr):
        return values[index]
    sorts = {_scalar_sort(v) for v in values}
    if len(sorts) == 1 and None not in sorts:
        result = values[-1]
        for i in range(len(values) - 2, -1, -1):
            result = x.ite(x.eq(index, i), values[i], result)
        return result
    for i, value in enumerate(values[:-1]):
        if vm.decide(x.eq(index, i)):
            return value
    return values[-1]


def _scalar_sort(value: Any) -> Any:
    if isinstance(value, Expr):
        return value.sort
    if type(value) in (int, bool, str):
        return x.sort_of(value)
    return None


def _write(vm: VM, obj: ListObj, index: Value, value: Any) -> None:
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
    obj.writes.append((x.add(inner, obj.start), value))


def _into_items(vm: VM, values: list[Any], index: Value, value: Any) -> None:
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


def _as_index(vm: VM, container: Any, index: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    index = vm.force(index)
    if isinstance(index, InstanceObj) and attributes.lookup(index.cls, "__index__") is not None:
        index = vm.call(attributes.get(vm, index, "__index__"))
    if operators.number_kind(index) == "int":
        return operators.as_int(index)
    shown, wrong = operators.exemplar(vm, container), operators.exemplar(vm, index)
    raise vm.mimic(lambda: shown[wrong])


def get_item(vm: VM, obj: Any, index: Any) -> Any:
    """obj[index]"""
    from treadle.frontends.python import attributes, mappings, operators, strings

    obj = vm.force(obj)
    if isinstance(obj, DictObj) and not obj.keys_only:
        return mappings.get_item(vm, obj, index)
    if isinstance(obj, ListObj | tuple | Range) or operators.is_string(obj):
        index = vm.force(index)
        if isinstance(index, Slice):
            return slice_of(vm, obj, index)
        if operators.is_string(obj):
            return strings.get_item(vm, obj, _as_index(vm, obj, index))
        index = _as_index(vm, obj, index)
        if isinstance(obj, ListObj):
            return read(vm, obj, position(vm, index, obj.size(), "list index out of range"))
        if isinstance(obj, tuple):
            where = position(vm, index, len(obj), "tuple index out of range")
            return _from_items(vm, obj, where)
        size = range_length(vm, obj)
        where = position(vm, index, size, "range object index out of range")
        return x.add(obj.start, x.mul(where, obj.step))
    if isinstance(obj, InstanceObj):
        if obj.payload is not None and not operators._is_python(attributes.lookup(obj.cls, "__getitem__")):
            return _payload_item(vm, obj, index)
        if attributes.lookup(obj.cls, "__getitem__") is not None:
            return vm.call(attributes.get(vm, obj, "__getitem__"), index)
    if isinstance(obj, type):
        return _class_item(vm, obj, index)
    return _host_item(vm, obj, index)


def _payload_item(vm: VM, obj: InstanceObj, index: Any) -> Any:
    from treadle.frontends.python import attributes, mappings

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
    missing = attributes.lookup(obj.cls, "__missing__")
    if isinstance(obj.payload, DictObj) and missing is not None:
        found = mappings.find(vm, obj.payload, index)
        return found[1] if found is not None else vm.call(attributes.get(vm, obj, "__missing__"), index)
    return get_item(vm, obj.payload, index)


def _class_item(vm: VM, cls: type, index: Any) -> Any:
    import enum

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
    return cls


def _host_item(vm: VM, obj: Any, index: Any) -> Any:
    from treadle.frontends.python import concrete, operators

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
    from treadle.frontends.python import attributes, mappings, operators

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
        index = _as_index(vm, obj, index)
        _write(vm, obj, position(vm, index, obj.size(), "list assignment index out of range"), value)
        return
    if isinstance(obj, InstanceObj):
        if obj.payload is not None and not operators._is_python(attributes.lookup(obj.cls, "__setitem__")):
            set_item(vm, obj.payload, index, value)
            return
        if attributes.lookup(obj.cls, "__setitem__") is not None:
            vm.call(attributes.get(vm, obj, "__setitem__"), index, value)
            return
    shown = operators.exemplar(vm, obj)
    if hasattr(type(shown), "__setitem__"):
        raise Unsupported(f"assigning to an item of a {type(shown).__name__}")
    raise vm.mimic(lambda: shown.__class__.__setitem__ if False else operators_set(shown))


def operators_set(shown: Any) -> None:
    shown[0] = 0


def delete_item(vm: VM, obj: Any, index: Any) -> None:
    """del obj[index]"""
    from treadle.frontends.python import attributes, mappings, operators

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
            del values[_known_slice(vm, index, len(values))]
            return
        pop(vm, obj, _as_index(vm, obj, index), "list assignment index out of range")
        return
    if isinstance(obj, InstanceObj) and attributes.lookup(obj.cls, "__delitem__") is not None:
        if obj.payload is not None and not operators._is_python(attributes.lookup(obj.cls, "__delitem__")):
            delete_item(vm, obj.payload, index)
            return
        vm.call(attributes.get(vm, obj, "__delitem__"), index)
        return
    shown = operators.exemplar(vm, obj)

    def fail() -> None:
        del shown[0]

    raise vm.mimic(fail)


# --- slices ----------------------------------------------------------------------------------------------


def _known_slice(vm: VM, index: Slice, size: int) -> slice:
    parts = [vm.force(p) for p in (index.start, index.stop, index.step)]
    step = parts[2]
    if isinstance(step, Expr):
        raise Unsupported("a slice with an unknown step")
    bounds: list[Any] = []
    for part in parts[:2]:
        if isinstance(part, Expr):
            bounds.append(_clamped(vm, part, size))
        else:
            bounds.append(part)
    try:
        made = slice(bounds[0], bounds[1], step)
        made.indices(size)
    except Exception as error:
        raise vm.host_error(error) from None
    return made


def _clamped(vm: VM, bound: Expr, size: int) -> int:
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
    from treadle.frontends.python import operators, strings

    if operators.is_string(obj):
        return strings.slice_of(vm, obj, index)
    if isinstance(obj, ListObj):
        values = close(vm, obj)
        return vm.new_list(values[_known_slice(vm, index, len(values))])
    if isinstance(obj, tuple):
        return obj[_known_slice(vm, index, len(obj))]
    start, stop = vm.force(obj.start), vm.force(obj.stop)
    if isinstance(start, Expr) or isinstance(stop, Expr):
        raise Unsupported("a slice of a range of unknown size")
    real = range(start, stop, obj.step)[_known_slice(vm, index, len(range(start, stop, obj.step)))]
    return Range(real.start, real.stop, real.step)


def _set_slice(vm: VM, obj: ListObj, index: Slice, value: Any) -> None:
    new = vm.spread(value)
    values = close(vm, obj)
    try:
        values[_known_slice(vm, index, len(values))] = new
    except ValueError as error:
        raise vm.host_error(error) from None


# --- + and * ---------------------------------------------------------------------------------------------


def combine(vm: VM, op: str, a: Any, b: Any) -> Any:
    from treadle.frontends.python import operators

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
    if not isinstance(count, Expr):
        if count > 100_000:
            raise Unsupported("a very long sequence")
        return int(count)
    if vm.decide(x.le(count, 0)):
        return 0
    for n in range(1, vm.k + 2):
        if vm.decide(x.eq(count, n)):
            return n
    raise Cut("loop", vm.path.place)


# --- methods of list -------------------------------------------------------------------------------------


def append(vm: VM, obj: ListObj, value: Any) -> None:
    changed(vm, obj)
    (obj.items if obj.items is not None else obj.tail).append(value)


def extend(vm: VM, obj: ListObj, values: Any) -> None:
    changed(vm, obj)
    new = vm.spread(values)
    (obj.items if obj.items is not None else obj.tail).extend(new)


def replace(vm: VM, obj: ListObj, other: ListObj) -> None:
    changed(vm, obj)
    close(vm, obj)
    assert obj.items is not None
    obj.items[:] = items(vm, other)


def pop(vm: VM, obj: ListObj, index: Any = -1, message: str = "pop index out of range") -> Any:
    changed(vm, obj)
    size = obj.size()
    if message.startswith("pop") and not vm.decide(x.gt(size, 0)):
        raise vm.error(IndexError, "pop from empty list")
    if obj.items is None and not isinstance(index, Expr):
        if index == -1 and not obj.tail and not isinstance(obj.count, Expr):
            close(vm, obj)
        elif index == -1:
            if obj.tail:
                return obj.tail.pop()
            if vm.decide(x.gt(obj.count, 0)):
                value = _source(vm, obj, x.add(obj.start, x.sub(obj.count, 1)))
                obj.count = x.sub(obj.count, 1)
                return value
            return obj.head.pop()
        elif index == 0 and not obj.head and vm.decide(x.gt(obj.count, 0)):
            value = _source(vm, obj, obj.start)
            obj.start += 1
            obj.count = x.sub(obj.count, 1)
            return value
    values = close(vm, obj)
    where = position(vm, index, len(values), message)
    if isinstance(where, Expr):
        for n in range(len(values)):
            if n == len(values) - 1 or vm.decide(x.eq(where, n)):
                return values.pop(n)
    return values.pop(where)


def _insert(vm: VM, obj: ListObj, index: Any, value: Any) -> None:
    changed(vm, obj)
    index = _as_index(vm, obj, index)
    if obj.items is None and index == 0:
        obj.head.insert(0, value)
        return
    values = close(vm, obj)
    if isinstance(index, Expr):
        index = _clamped(vm, index, len(values))
    values.insert(index, value)


def _remove(vm: VM, obj: ListObj, value: Any) -> None:
    changed(vm, obj)
    values = close(vm, obj)
    for i, own in enumerate(values):
        if vm.decide(vm.equal(own, value)):
            del values[i]
            return
    raise vm.error(ValueError, "list.remove(x): x not in list")


def _index(vm: VM, obj: Any, value: Any, start: Any = 0, stop: Any = None) -> Any:
    values = list(obj) if isinstance(obj, tuple) else close(vm, obj)
    bounds = _known_slice(vm, Slice(start, stop, None), len(values)).indices(len(values))
    for i in range(*bounds):
        if vm.decide(vm.equal(values[i], value)):
            return i
    what = "tuple.index(x): x not in tuple"
    if isinstance(obj, tuple):
        raise vm.error(ValueError, what)
    from treadle.frontends.python import operators

    if isinstance(value, Expr) or not operators.is_known(value):
        raise vm.error(ValueError, _NotInList(value))
    raise vm.mimic(lambda: [object()].index(value))


class _NotInList:
    """The message of list.index names the value: written when the value is known."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _count(vm: VM, obj: Any, value: Any) -> Any:
    total: Value = 0
    for own in list(obj) if isinstance(obj, tuple) else close(vm, obj):
        total = x.add(total, x.bool_to_int(vm.equal(own, value)))
    return total


def _reverse(vm: VM, obj: ListObj) -> None:
    changed(vm, obj)
    close(vm, obj).reverse()


def _clear(vm: VM, obj: ListObj) -> None:
    changed(vm, obj)
    obj.items = []


def _copy(vm: VM, obj: ListObj) -> ListObj:
    return vm.new_list(list(close(vm, obj)))


def _sort(vm: VM, obj: ListObj, key: Any = None, reverse: Any = False) -> None:
    changed(vm, obj)
    obj.items = sorted_values(vm, close(vm, obj), key, vm.truth_of(reverse))


def sorted_values(vm: VM, values: list[Any], key: Any, reverse: bool) -> list[Any]:
    """A stable insertion sort that asks only `<`, as Python does."""
    from treadle.frontends.python import operators

    out: list[tuple[Any, Any]] = []
    for value in values:
        k = value if key is None else vm.call(key, value)
        for i, (other, _) in enumerate(out):
            smaller = operators.compare(vm, "<", other, k) if reverse else operators.compare(vm, "<", k, other)
            if vm.truth_of(smaller):
                out.insert(i, (k, value))
                break
        else:
            out.append((k, value))
    return [value for _, value in out]


LIST_METHODS: dict[str, Any] = {
    "append": append,
    "extend": extend,
    "pop": pop,
    "insert": _insert,
    "remove": _remove,
    "index": _index,
    "count": _count,
    "reverse": _reverse,
    "clear": _clear,
    "copy": _copy,
    "sort": _sort,
}


def _pop_left(vm: VM, obj: ListObj) -> Any:
    if not vm.decide(x.gt(obj.size(), 0)):
        raise vm.error(IndexError, "pop from an empty deque")
    return pop(vm, obj, 0)


def _pop_right(vm: VM, obj: ListObj) -> Any:
    if not vm.decide(x.gt(obj.size(), 0)):
        raise vm.error(IndexError, "pop from an empty deque")
    return pop(vm, obj)


def _append_left(vm: VM, obj: ListObj, value: Any) -> None:
    _insert(vm, obj, 0, value)


def _extend_left(vm: VM, obj: ListObj, values: Any) -> None:
    for value in vm.spread(values):
        _insert(vm, obj, 0, value)


def _rotate(vm: VM, obj: ListObj, n: Any = 1) -> None:
    values = close(vm, obj)
    n = vm.force(n)
    if isinstance(n, Expr):
        n = vm.path.pick([n], "deque.rotate by an unknown number")[0]
    if values:
        shift = n % len(values)
        values[:] = values[-shift:] + values[:-shift] if shift else values


DEQUE_METHODS: dict[str, Any] = {
    **LIST_METHODS,
    "pop": _pop_right,
    "popleft": _pop_left,
    "appendleft": _append_left,
    "extendleft": _extend_left,
    "rotate": _rotate,
}
TUPLE_METHODS: dict[str, Any] = {"index": _index, "count": _count}
