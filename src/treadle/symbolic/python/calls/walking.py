"""Built-in functions about walking on values that may be unknown: len, iter, next, zip, reversed, range, sorted, ..."""

from __future__ import annotations

from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj
from treadle.symbolic.ir.machine import Exhausted, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.iteration import over_range, over_values, resume
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, open_lists, strings
from treadle.symbolic.python.values.indexing import range_length
from treadle.symbolic.python.values.kinds import as_int, exemplar, is_known, is_python, is_string, number_kind
from treadle.symbolic.python.values.values import Generator, Iterator_, Range, View

_MISSING: Any = object()


def length(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, ListObj | DictObj):
        return value.size()
    if is_string(value):
        return x.length(value)
    if isinstance(value, tuple):
        return len(value)
    if isinstance(value, View):
        return value.source.size()
    if isinstance(value, Range):
        return range_length(vm, value)
    if isinstance(value, InstanceObj):
        own = classes.special(vm, value, "__len__")
        if value.payload is not None and not is_python(own):
            return length(vm, value.payload)
        if own is not None:
            result = vm.force(vm.call(vm.attribute(value, "__len__")))
            if number_kind(result) == "int" and vm.decide(x.lt(as_int(result), 0)):
                raise vm.error(ValueError, "__len__() should return >= 0")
            return result
        raise vm.error(TypeError, f"object of type '{value.cls.__name__}' has no len()")
    shown = exemplar(vm, value)
    try:
        return len(shown)
    except Exception as error:
        raise vm.host_error(error) from None


def _sorted(vm: VM, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    return vm.new_list(list_methods.sorted_values(vm, vm.spread(values), vm.force(key), vm.truth_of(reverse)))


def _next(vm: VM, iterator: Any, default: Any = _MISSING) -> Any:
    iterator = vm.force(iterator)
    try:
        if isinstance(iterator, Generator):
            return resume(vm, iterator)
        if isinstance(iterator, Iterator_):
            return iterator.step()
        if isinstance(iterator, InstanceObj) and classes.special(vm, iterator, "__next__") is not None:
            return vm.call(vm.attribute(iterator, "__next__"))
        if is_known(iterator) and hasattr(type(iterator), "__next__"):
            return vm.iterate(iterator).step()
    except Exhausted:
        if default is not _MISSING:
            return default
        value = iterator.returned if isinstance(iterator, Generator) else None
        raised = vm.error(StopIteration, *(() if value is None else (value,)))
        raised.value.fields["value"] = value
        raise raised from None
    except Raised as raised:
        if default is not _MISSING and issubclass(raised.value.cls, StopIteration):
            return default
        raise
    shown = exemplar(vm, iterator)
    raise vm.mimic(lambda: next(shown))


def _iter(vm: VM, value: Any, sentinel: Any = _MISSING) -> Any:
    if sentinel is not _MISSING:

        def step() -> Any:
            item = vm.call(value)
            if vm.decide(vm.equal(item, sentinel)):
                raise Exhausted
            return item

        return Iterator_(step, lambda: False, "callable_iterator")
    forced = vm.force(value)
    if isinstance(forced, Generator):
        return forced
    return vm.iterate(forced)


def _zip(vm: VM, *iterables: Any, strict: Any = False) -> Any:
    sources = [vm.iterate(it) for it in iterables]
    check = vm.truth_of(strict)

    def step() -> Any:
        values: list[Any] = []
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

    return Iterator_(step, lambda: any(s.bounded() for s in sources) or not sources, "zip")


def _zip_error(vm: VM, i: int, how: str) -> Raised:
    before = "argument 1" if i == 1 else f"arguments 1-{i}"
    return vm.error(ValueError, f"zip() argument {i + 1} is {how} than {before}")


def _enumerate(vm: VM, iterable: Any, start: Any = 0) -> Any:
    inner = vm.iterate(iterable)
    position = as_int(vm.force(start))

    def step() -> Any:
        nonlocal position
        value = inner.step()
        position = x.add(position, 1)
        return (x.sub(position, 1), value)

    return Iterator_(step, inner.bounded, "enumerate")


def _mapped(vm: VM, function: Any, *iterables: Any) -> Any:
    sources = [vm.iterate(it) for it in iterables]

    def step() -> Any:
        return vm.call_with(function, [s.step() for s in sources], {})

    return Iterator_(step, lambda: any(s.bounded() for s in sources), "map")


def _reversed(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, ListObj):
        return over_values(open_lists.items(vm, value)[::-1], "list_reverseiterator")
    if isinstance(value, tuple):
        return over_values(value[::-1])
    if isinstance(value, str):
        return over_values(list(value)[::-1])
    if is_string(value):
        return over_values(strings.characters(vm, value)[::-1])
    if isinstance(value, Range):
        size = range_length(vm, value)
        last = x.add(value.start, x.mul(x.sub(size, 1), value.step))
        return over_range(vm, Range(last, x.sub(value.start, value.step), -value.step))
    if isinstance(value, DictObj) and not value.keys_only:
        return over_values([k for k, _ in mappings.entries(vm, value)][::-1])
    if isinstance(value, View):
        return over_values(mappings.view_items(vm, value)[::-1])
    if isinstance(value, InstanceObj):
        if classes.special(vm, value, "__reversed__") is not None:
            return vm.call(vm.attribute(value, "__reversed__"))
        size = length(vm, value)
        if isinstance(size, int):
            return over_values([vm.item(value, i) for i in range(size - 1, -1, -1)])
        raise CannotFollow("reversed() of an object of unknown length")
    shown = exemplar(vm, value)
    raise vm.mimic(lambda: reversed(shown))


def _range(vm: VM, *args: Any) -> Any:
    values = []
    for a in args:
        a = vm.force(a)
        if isinstance(a, InstanceObj) and classes.special(vm, a, "__index__") is not None:
            a = vm.force(vm.call(vm.attribute(a, "__index__")))
        values.append(a)
    if not 1 <= len(values) <= 3 or any(number_kind(v) != "int" for v in values):
        shown = [exemplar(vm, v) for v in values]
        raise vm.mimic(lambda: range(*shown))
    numbers = [as_int(v) for v in values]
    if len(numbers) == 1:
        return Range(0, numbers[0], 1)
    step = numbers[2] if len(numbers) == 3 else 1
    if isinstance(step, Expr):
        if vm.decide(x.eq(step, 0)):
            raise vm.error(ValueError, "range() arg 3 must not be zero")
        step = vm.path.pick([step], "a range with an unknown step")[0]
    if step == 0:
        raise vm.error(ValueError, "range() arg 3 must not be zero")
    return Range(numbers[0], numbers[1], step)
