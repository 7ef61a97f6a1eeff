"""Built-in functions about walking on values that may be unknown: len, iter, next, zip, reversed, range, sorted, ...

The methods of generators are here too.
"""

from __future__ import annotations

import types
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import MISSING, DictObj, InstanceObj, ListObj
from treadle.symbolic.ir.machine import Exhausted, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.iteration import over_range, over_values, resume
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, open_lists, strings
from treadle.symbolic.python.values.indexing import range_length
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_int, is_known, is_string, refusal
from treadle.symbolic.python.values.table import method, stands_for
from treadle.symbolic.python.values.values import DictView, GeneratorValue, IteratorValue, PyValue, RangeValue


@stands_for(len)
@method(object, "__len__")
def length(vm: VM, value: PyValue) -> Any:
    value = vm.force(value)
    if isinstance(value, ListObj | DictObj):
        return value.size()
    if is_string(value):
        return x.length(value)
    if isinstance(value, tuple):
        return len(value)
    if isinstance(value, DictView):
        return value.source.size()
    if isinstance(value, RangeValue):
        return range_length(vm, value)
    if isinstance(value, InstanceObj):
        own = own_method(vm, value, "__len__", in_python=value.payload is not None)
        if own is not None:
            result = vm.force(vm.call(own))
            if is_int(result) and vm.decide(x.lt(as_int(result), 0)):
                raise vm.error(ValueError, "__len__() should return >= 0")
            return result
        if value.payload is not None:
            return length(vm, value.payload)
        raise vm.error(TypeError, f"object of type '{value.cls.__name__}' has no len()")
    plain = exemplar(vm, value)
    try:
        return len(plain)
    except Exception as error:
        raise vm.host_error(error) from None


@stands_for(sorted)
def _sorted(vm: VM, values: PyValue, /, *, key: PyValue = None, reverse: PyValue = False) -> PyValue:
    return vm.new_list(list_methods.sorted_values(vm, vm.spread(values), vm.force(key), vm.truth_of(reverse)))


@method(object, "__next__")
@stands_for(next)
def _next(vm: VM, iterator: PyValue, default: PyValue = MISSING) -> PyValue:
    iterator = vm.force(iterator)
    try:
        if isinstance(iterator, GeneratorValue):
            return resume(vm, iterator)
        if isinstance(iterator, IteratorValue):
            return iterator.step()
        own = own_method(vm, iterator, "__next__")
        if own is not None:
            return vm.call(own)
        if is_known(iterator) and hasattr(type(iterator), "__next__"):
            return vm.iterate(iterator).step()
    except Exhausted:
        if default is not MISSING:
            return default
        raise _stop(vm, iterator.returned if isinstance(iterator, GeneratorValue) else None) from None
    except Raised as raised:
        if default is not MISSING and issubclass(raised.value.cls, StopIteration):
            return default
        raise
    raise refusal(vm, next, iterator)


def _stop(vm: VM, value: PyValue) -> Raised:
    raised = vm.error(StopIteration, *(() if value is None else (value,)))
    raised.value.fields["value"] = value
    return raised


@stands_for(iter)
def _iter(vm: VM, value: PyValue, sentinel: PyValue = MISSING) -> PyValue:
    if sentinel is not MISSING:

        def step() -> PyValue:
            item = vm.call(value)
            if vm.decide(vm.equal(item, sentinel)):
                raise Exhausted
            return item

        return IteratorValue(step, lambda: False)
    forced = vm.force(value)
    return forced if isinstance(forced, GeneratorValue) else vm.iterate(forced)


@method(object, "__iter__")
def _iter_method(vm: VM, value: PyValue) -> PyValue:
    return vm.iterate(value)


@method(object, "__init__")
def _init(vm: VM, value: PyValue, *args: PyValue, **named: Any) -> None:
    """Of what is complete when it is made: numbers, strings, tuples."""


@stands_for(zip)
def _zip(vm: VM, *iterables: PyValue, strict: PyValue = False) -> PyValue:
    sources = [vm.iterate(it) for it in iterables]
    check = vm.truth_of(strict)

    def step() -> PyValue:
        values: list[PyValue] = []
        for i, one in enumerate(sources):
            try:
                values.append(one.step())
            except Exhausted:
                if check and i > 0:
                    raise _zip_error(vm, i, "shorter") from None
                if check:
                    for j, other in enumerate(sources[1:], 1):
                        try:
                            other.step()
                        except Exhausted:
                            continue
                        raise _zip_error(vm, j, "longer") from None
                raise
        if not values:
            raise Exhausted
        return tuple(values)

    return IteratorValue(step, lambda: any(s.bounded() for s in sources) or not sources)


def _zip_error(vm: VM, i: int, how: str) -> Raised:
    before = "argument 1" if i == 1 else f"arguments 1-{i}"
    return vm.error(ValueError, f"zip() argument {i + 1} is {how} than {before}")


@stands_for(enumerate)
def _enumerate(vm: VM, iterable: PyValue, start: PyValue = 0) -> PyValue:
    inner = vm.iterate(iterable)
    position = as_int(vm.force(start))

    def step() -> PyValue:
        nonlocal position
        value = inner.step()
        position = x.add(position, 1)
        return (x.sub(position, 1), value)

    return IteratorValue(step, inner.bounded)


@stands_for(map)
def _mapped(vm: VM, function: PyValue, *iterables: PyValue) -> PyValue:
    sources = [vm.iterate(it) for it in iterables]

    def step() -> PyValue:
        return vm.call(function, *[s.step() for s in sources])

    return IteratorValue(step, lambda: any(s.bounded() for s in sources))


@stands_for(reversed)
def _reversed(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    if isinstance(value, RangeValue):
        last = x.add(value.start, x.mul(x.sub(range_length(vm, value), 1), value.step))
        return over_range(vm, RangeValue(last, x.sub(value.start, value.step), -value.step))
    if isinstance(value, InstanceObj):
        own = own_method(vm, value, "__reversed__")
        if own is not None:
            return vm.call(own)
    return over_values(_values_in_order(vm, value)[::-1])


def _values_in_order(vm: VM, value: PyValue) -> list[PyValue] | tuple[PyValue, ...]:
    if isinstance(value, ListObj):
        return open_lists.items(vm, value)
    if isinstance(value, tuple):
        return value
    if is_string(value):
        return [*strings.characters(vm, value)]
    if isinstance(value, DictObj) and not value.keys_only:
        return [k for k, _ in mappings.entries(vm, value)]
    if isinstance(value, DictView):
        return mappings.view_items(vm, value)
    if isinstance(value, InstanceObj):
        size = length(vm, value)
        if not isinstance(size, int):
            raise CannotFollow("reversed() of an object of unknown length")
        return [vm.item(value, i) for i in range(size - 1, -1, -1)][::-1]
    raise refusal(vm, reversed, value)


@stands_for(range)
def _range(vm: VM, *args: PyValue) -> PyValue:
    values = []
    for value in map(vm.force, args):
        own = own_method(vm, value, "__index__")
        values.append(value if own is None else vm.force(vm.call(own)))
    if not 1 <= len(values) <= 3 or not all(map(is_int, values)):
        raise refusal(vm, range, *values)
    numbers = [as_int(v) for v in values]
    if len(numbers) == 1:
        return RangeValue(0, numbers[0], 1)
    step = numbers[2] if len(numbers) == 3 else 1
    if vm.decide(x.eq(step, 0)):
        raise vm.error(ValueError, "range() arg 3 must not be zero")
    if isinstance(step, Expr):
        step = vm.path.pick([step], "a range with an unknown step")[0]
    return RangeValue(numbers[0], numbers[1], step)


@method(range, "index")
def _range_index(vm: VM, value: RangeValue, sought: PyValue) -> PyValue:
    raise CannotFollow("range.index")


# --- generators --------------------------------------------------------------------------------------------


@method(types.GeneratorType, "send")
def _send(vm: VM, obj: GeneratorValue, value: PyValue) -> PyValue:
    if obj.started and obj.frame.sent:
        obj.frame.env[obj.frame.sent] = value
    return _resumed(vm, obj, None)


@method(types.GeneratorType, "throw")
def _throw(vm: VM, obj: GeneratorValue, kind: PyValue, value: PyValue = None, traceback: PyValue = None) -> PyValue:
    return _resumed(vm, obj, vm.exception(kind if value is None else value, None))


def _resumed(vm: VM, obj: GeneratorValue, error: PyValue) -> PyValue:
    try:
        return resume(vm, obj, error)
    except Exhausted:
        raise _stop(vm, obj.returned) from None


@method(types.GeneratorType, "close")
def _close(vm: VM, obj: GeneratorValue) -> None:
    if obj.started and not obj.finished:
        try:
            resume(vm, obj, vm.error(GeneratorExit).value)
        except Exhausted:
            pass
        except Raised as raised:
            if not issubclass(raised.value.cls, GeneratorExit | StopIteration):
                raise
    obj.finished = True
