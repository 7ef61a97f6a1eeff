"""Dicts and sets, known and unknown: an input dict learns its entries as the program asks for them.

Looking up a key in an open dict asks whether it equals each known key, and then whether it is in the unseen rest.
Walking over an open dict closes it: the number of unseen entries is decided, bounded like a loop.
"""

from __future__ import annotations

import collections
import functools
import itertools
import types
from typing import Any

from treadle.core.choice import OptionDrawn
from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj
from treadle.symbolic.ir import steps as ir
from treadle.symbolic.path import BoundReached, CannotFollow, CodePlace, Limit
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values.kinds import as_int, is_int, is_known, number_kind, refusal
from treadle.symbolic.python.values.open_lists import changed
from treadle.symbolic.python.values.table import method
from treadle.symbolic.python.values.values import DictView, PyValue


def check_key(vm: VM, key: PyValue) -> None:
    """TypeError for unhashable keys; a hash that decides something is run."""
    key = vm.force(key)
    if isinstance(key, ListObj) or (isinstance(key, DictObj) and not key.frozen):
        raise refusal(vm, hash, key)
    if isinstance(key, tuple):
        for part in key:
            check_key(vm, part)
    if isinstance(key, InstanceObj) and key.cls.__hash__ is None:
        raise vm.error(TypeError, f"unhashable type: '{key.cls.__name__}'")
    if isinstance(key, InstanceObj) and _decides(classes.special(vm, key, "__hash__"), key.cls):
        # that equal objects have one hash is taken for granted: only what happens on the way matters
        vm.hashing += 1
        try:
            vm.call(vm.attribute(key, "__hash__"))
        finally:
            vm.hashing -= 1


def _decides(function: PyValue, cls: type) -> bool:
    """Whether there is more than one way through a hash function, or one that raises, as far as its text shows."""
    if not isinstance(function, types.FunctionType):
        return False
    try:
        code = source.code_of(function.__code__)
    except source.NoSource:
        return False
    read = {s.name for block in code.blocks for s in block.steps if isinstance(s, ir.GetFieldStep)}
    runs = (types.FunctionType, property, functools.cached_property)
    return any(isinstance(block.end, ir.BranchStep | ir.NextStep | ir.RaiseStep) for block in code.blocks) or any(
        isinstance(classes.lookup(cls, name), runs) for name in read
    )


def find(vm: VM, obj: DictObj, key: PyValue) -> list[PyValue] | None:
    """The entry for a key, or None; decides as much as that takes."""
    check_key(vm, key)
    key = vm.heap.decided(vm.force(key))
    for entry in obj.entries:
        if vm.decide(vm.same_or_equal(entry[0], key)):
            return entry
    if not obj.open:
        return None
    for absent in obj.absent:
        if vm.decide(vm.same_or_equal(absent, key)):
            return None
    if not _fits(obj, key):
        return None
    # in the unseen rest, or nowhere
    where = [OptionDrawn(f"a key of {obj.name}", where) for where in ("is there", "is nowhere")]
    if not vm.decide(x.gt(obj.extra, 0)) or vm.path.choose(where) == 1:
        obj.absent.append(key)
        return None
    return _discover(vm, obj, key)


def _fits(obj: DictObj, key: PyValue) -> bool:
    """Whether an input dict of this key type can hold the key at all."""
    wanted = {o.kind for o in t.options(obj.key) if isinstance(o, t.Scalar)} if obj.key is not None else set()
    if isinstance(key, Expr):
        return key.sort.value.replace("real", "float") in wanted
    return type(key).__name__ in wanted or not wanted


def _discover(vm: VM, obj: DictObj, key: PyValue) -> list[PyValue]:
    obj.extra = x.sub(obj.extra, 1)
    value = None
    if not obj.keys_only:
        assert obj.value is not None
        name = f"{obj.name}[{key!r}]"
        value = vm.heap.value_of_type(obj.value, name)
    entry = [key, value]
    obj.source.append((key, value))
    obj.entries.insert(obj.known, entry)
    obj.known += 1
    return entry


def close(vm: VM, obj: DictObj) -> None:
    """Decide what else is in an open dict."""
    if not obj.open:
        return
    for n in range(vm.k + 2):
        if vm.decide(x.eq(obj.extra, n)):
            break
    else:
        raise BoundReached(Limit.LOOP, vm.path.place)
    assert obj.key is not None
    seen, place = obj.known, _place_of_seen(vm, obj, n)
    for _ in range(n):
        key = vm.force(vm.heap.value_of_type(obj.key, f"{obj.name}.key{len(obj.source)}"))
        for other in [k for k, _ in obj.source] + obj.absent:
            vm.path.assume(x.not_(vm.equal(key, other)))
        _discover(vm, obj, key)
    if place:
        obj.entries[: seen + place] = [*obj.entries[seen : seen + place], *obj.entries[:seen]]
        start = len(obj.source) - n
        obj.source[: start + place] = [*obj.source[start : start + place], *obj.source[:start]]
    obj.open = False
    obj.extra = 0


def _place_of_seen(vm: VM, obj: DictObj, unseen: int) -> int:
    """How many of the entries that nobody has looked at stand before those that were looked up, at the start."""
    if obj.keys_only or not obj.known:
        return 0
    places = list(range(unseen + 1))
    if obj.known > 1:
        where = vm.path.place
        vm.path.sampled.append(CodePlace(where.file, where.line, f"the order of the entries of '{obj.name}'"))
        places = [0, unseen] if unseen else [0]
    return places[vm.path.choose([OptionDrawn(f"the order of {obj.name}", place) for place in places])]


def entries(vm: VM, obj: PyValue) -> list[tuple[Any, Any]]:
    """All (key, value) pairs, in order."""
    if isinstance(obj, InstanceObj) and isinstance(obj.payload, DictObj):
        obj = obj.payload
    if isinstance(obj, InstanceObj) and classes.special(vm, obj, "keys") is not None:
        keys = vm.spread(vm.call(vm.attribute(obj, "keys")))
        return [(k, vm.call(vm.attribute(obj, "__getitem__"), k)) for k in keys]
    if not isinstance(obj, DictObj):
        if is_known(obj) and isinstance(obj, dict):
            return [(vm.lift(k), vm.lift(v)) for k, v in obj.items()]
        kind = classes.python_type(vm, obj).__name__
        raise vm.error(TypeError, f"'{kind}' object is not a mapping")
    close(vm, obj)
    return [(k, v) for k, v in obj.entries]


def order_of_set(vm: VM, keys: list[PyValue]) -> None:
    """A set's order follows its hashes: unknown integers are taken small and ascending, which fixes it."""
    if len(keys) < 2:
        return
    if all(isinstance(k, int) for k in keys) and list(set(keys)) == keys:
        return
    place = vm.path.place
    vm.path.sampled.append(CodePlace(place.file, place.line, "the iteration order of a set"))
    if not all(map(is_int, keys)):
        # any order will do if the result does not depend on it; the real runs decide
        vm.path.fragile = True
        return
    numbers = [as_int(k) for k in keys]
    conditions = [x.ge(numbers[0], 0), x.lt(numbers[-1], 8)]
    conditions += [x.lt(a, b) for a, b in itertools.pairwise(numbers)]
    for condition in conditions:
        vm.path.assume(condition)


def store(vm: VM, obj: DictObj, key: PyValue, value: PyValue) -> None:
    entry = find(vm, obj, key)
    if entry is not None:
        if not obj.keys_only:
            entry[1] = value
        return
    obj.entries.append([vm.heap.decided(vm.force(key)), value])


def new_set(vm: VM, items: list[PyValue], frozen: bool = False) -> DictObj:
    made = DictObj(vm.heap.number(), [])
    made.keys_only, made.frozen = True, frozen
    for item in items:
        store(vm, made, item, None)
    return made


def set_item(vm: VM, obj: DictObj, key: PyValue, value: PyValue) -> None:
    if obj.frozen:
        raise CannotFollow("writing to an object's __dict__")
    changed(vm, obj)
    store(vm, obj, key, value)


def get_item(vm: VM, obj: DictObj, key: PyValue) -> PyValue:
    entry = find(vm, obj, key)
    if entry is None:
        raise vm.error(KeyError, vm.force(key))
    return entry[1]


def remove(vm: VM, obj: DictObj, key: PyValue, error: type[BaseException] | None) -> PyValue:
    entry = find(vm, obj, key)
    if entry is None:
        if error is not None:
            raise vm.error(error, vm.force(key))
        return MISSING
    _drop(obj, entry)
    return entry[1]


def _drop(obj: DictObj, entry: list[PyValue]) -> None:
    position = next(i for i, e in enumerate(obj.entries) if e is entry)
    if position < obj.known:
        obj.known -= 1
        obj.absent.append(entry[0])
    del obj.entries[position]


def view_items(vm: VM, view: DictView) -> list[PyValue]:
    pairs = entries(vm, view.source)
    if view.kind == "keys":
        return [k for k, _ in pairs]
    if view.kind == "values":
        return [v for _, v in pairs]
    return list(pairs)


# --- methods ---------------------------------------------------------------------------------------------


@method(dict, "get")
def _get(vm: VM, obj: DictObj, key: PyValue, default: PyValue = None) -> PyValue:
    entry = find(vm, obj, key)
    return default if entry is None else entry[1]


@method(dict, "setdefault")
def _setdefault(vm: VM, obj: DictObj, key: PyValue, default: PyValue = None) -> PyValue:
    entry = find(vm, obj, key)
    if entry is not None:
        return entry[1]
    set_item(vm, obj, key, default)
    return default


@method(dict, "pop")
@method(set, "pop")
def _pop(vm: VM, obj: DictObj, key: PyValue = MISSING, default: PyValue = MISSING) -> PyValue:
    changed(vm, obj)
    if key is MISSING:
        if obj.keys_only:
            return _pop_any(vm, obj)
        raise vm.mimic(lambda: {}.pop())  # type: ignore[call-overload]
    value = remove(vm, obj, key, KeyError if default is MISSING else None)
    return default if value is MISSING else value


def _pop_any(vm: VM, obj: DictObj) -> PyValue:
    close(vm, obj)
    if not obj.entries:
        raise vm.error(KeyError, "pop from an empty set")
    order_of_set(vm, [k for k, _ in obj.entries])
    entry = obj.entries[0]
    _drop(obj, entry)
    return entry[0]


@method(dict, "popitem")
def _popitem(vm: VM, obj: DictObj) -> PyValue:
    return _pop_end(vm, obj, True, "popitem(): dictionary is empty")


@method(collections.OrderedDict, "popitem")
def _popitem_ordered(vm: VM, obj: DictObj, last: PyValue = True) -> PyValue:
    return _pop_end(vm, obj, vm.truth_of(last), "dictionary is empty")


def _pop_end(vm: VM, obj: DictObj, last: bool, empty: str) -> PyValue:
    changed(vm, obj)
    close(vm, obj)
    if not obj.entries:
        raise vm.error(KeyError, empty)
    entry = obj.entries[-1 if last else 0]
    _drop(obj, entry)
    return tuple(entry)


@method(collections.OrderedDict, "move_to_end")
def _move_to_end(vm: VM, obj: DictObj, key: PyValue, last: PyValue = True) -> None:
    changed(vm, obj)
    entry = find(vm, obj, key)
    if entry is None:
        raise vm.error(KeyError, vm.force(key))
    position = next(i for i, e in enumerate(obj.entries) if e is entry)
    obj.known -= position < obj.known
    del obj.entries[position]
    if vm.truth_of(last):
        obj.entries.append(entry)
    else:  # before those that nobody has looked at
        obj.entries.insert(0, entry)
        obj.known += 1


@method(dict, "update")
@method(set, "update")
def update(vm: VM, obj: DictObj, /, *others: PyValue, **named: Any) -> None:
    if len(others) > 1 and not obj.keys_only:
        raise vm.error(TypeError, f"update expected at most 1 argument, got {len(others)}")
    changed(vm, obj)
    for other in others:
        other = vm.force(other)
        if obj.keys_only:
            for value in vm.spread(other):
                store(vm, obj, value, None)
        elif isinstance(other, DictObj | InstanceObj | dict) and not (isinstance(other, DictObj) and other.keys_only):
            for k, v in entries(vm, other):
                store(vm, obj, k, v)
        else:
            for i, pair in enumerate(vm.spread(other)):
                k, v = _pair(vm, pair, i)
                store(vm, obj, k, v)
    for k, v in named.items():
        store(vm, obj, k, v)


def _pair(vm: VM, pair: PyValue, i: int) -> list[PyValue]:
    pair = vm.force(pair)
    if pair is None or number_kind(pair):
        raise vm.error(TypeError, f"cannot convert dictionary update sequence element #{i} to a sequence")
    values = vm.spread(pair)
    if len(values) != 2:
        what = f"dictionary update sequence element #{i} has length {len(values)}; 2 is required"
        raise vm.error(ValueError, what)
    return values


@method(dict, "clear")
@method(set, "clear")
def _clear(vm: VM, obj: DictObj) -> None:
    changed(vm, obj)
    obj.entries, obj.open, obj.extra, obj.known = [], False, 0, 0


@method(dict, "copy")
@method(set, "copy")
def copy(vm: VM, obj: DictObj) -> DictObj:
    made = vm.new_dict([[k, v] for k, v in entries(vm, obj)])
    made.keys_only, made.frozen, made.ordered = obj.keys_only, obj.frozen, obj.ordered
    return made


@method(set, "add")
def _add(vm: VM, obj: DictObj, value: PyValue) -> None:
    changed(vm, obj)
    store(vm, obj, value, None)


@method(set, "discard")
def _discard(vm: VM, obj: DictObj, value: PyValue) -> None:
    changed(vm, obj)
    remove(vm, obj, value, None)


@method(set, "remove")
def _remove(vm: VM, obj: DictObj, value: PyValue) -> None:
    changed(vm, obj)
    remove(vm, obj, value, KeyError)


def _as_set(vm: VM, value: PyValue) -> DictObj:
    value = vm.force(value)
    if isinstance(value, DictObj) and value.keys_only:
        return value
    return vm.new_set(vm.spread(value))


def combine(vm: VM, op: str, a: Any, b: Any) -> PyValue:
    """| & - ^ of sets, | of dicts."""
    plain_dicts = isinstance(a, DictObj) and isinstance(b, DictObj) and not a.keys_only and not b.keys_only
    if plain_dicts:
        if op != "|":
            return NotImplemented
        made = copy(vm, a)
        for k, v in entries(vm, b):
            store(vm, made, k, v)
        return made
    for side in (a, b):
        if isinstance(side, DictObj) and not side.keys_only:
            return NotImplemented
    left, right = _as_set(vm, a), _as_set(vm, b)
    return _set_operation(vm, op, left, right)


def _set_operation(vm: VM, op: str, left: DictObj, right: DictObj) -> DictObj:
    mine = [k for k, _ in entries(vm, left)]
    made = vm.new_set([], left.frozen)
    if op == "|":
        for key in [*mine, *(k for k, _ in entries(vm, right))]:
            store(vm, made, key, None)
        return made
    for key in mine:
        inside = find(vm, right, key) is not None
        if inside == (op == "&"):
            made.entries.append([key, None])
    if op == "^":
        for key, _ in entries(vm, right):
            if find(vm, left, key) is None:
                made.entries.append([key, None])
    return made


def update_in_place(vm: VM, op: str, obj: DictObj, other: PyValue) -> None:
    changed(vm, obj)
    if op == "|":
        update(vm, obj, other)
        return
    made = _set_operation(vm, op, obj, _as_set(vm, other))
    obj.entries, obj.open, obj.extra = made.entries, False, 0


def compare_sets(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    if (isinstance(a, DictObj) and not a.keys_only) or (isinstance(b, DictObj) and not b.keys_only):
        return NotImplemented
    left, right = _as_set(vm, a), _as_set(vm, b)
    if op in (">", ">="):
        left, right = right, left
    inside = all(find(vm, right, k) is not None for k, _ in entries(vm, left))
    if op in ("<", ">"):
        return x.and_(inside, x.lt(left.size(), right.size()))
    return inside


@method(dict, "keys")
def _keys(vm: VM, obj: DictObj) -> DictView:
    return DictView(obj, "keys")


@method(dict, "values")
def _values(vm: VM, obj: DictObj) -> DictView:
    return DictView(obj, "values")


@method(dict, "items")
def _items(vm: VM, obj: DictObj) -> DictView:
    return DictView(obj, "items")


@method(dict, "__init__")
def _init_dict(vm: VM, obj: DictObj, values: PyValue = (), /, **named: Any) -> None:
    update(vm, obj, values, **named)


@method(set, "__init__")
def _init_set(vm: VM, obj: DictObj, values: PyValue = ()) -> None:
    _clear(vm, obj)
    update(vm, obj, values)


@method(set, "issubset")
def _is_subset(vm: VM, obj: DictObj, other: PyValue) -> PyValue:
    return compare_sets(vm, "<=", obj, _as_set(vm, other))


@method(set, "issuperset")
def _is_superset(vm: VM, obj: DictObj, other: PyValue) -> PyValue:
    return compare_sets(vm, ">=", obj, _as_set(vm, other))


@method(type({}.keys()), "isdisjoint")
@method(type({}.items()), "isdisjoint")
@method(set, "isdisjoint")
def _is_disjoint(vm: VM, obj: PyValue, other: PyValue) -> bool:
    left, right = _as_set(vm, obj), _as_set(vm, other)
    return all(find(vm, right, k) is None for k, _ in entries(vm, left))


def _register_set_operation(op: str, name: str) -> None:
    @method(set, name)
    def operation(vm: VM, obj: DictObj, *others: PyValue) -> DictObj:
        result = copy(vm, obj)
        for other in others:
            result = _set_operation(vm, op, result, _as_set(vm, other))
        return result

    if op != "|":  # set.update is above

        @method(set, f"{name}_update")
        def update(vm: VM, obj: DictObj, *others: PyValue) -> None:
            for other in others:
                update_in_place(vm, op, obj, other)


for _op, _name in {"|": "union", "&": "intersection", "-": "difference", "^": "symmetric_difference"}.items():
    _register_set_operation(_op, _name)
