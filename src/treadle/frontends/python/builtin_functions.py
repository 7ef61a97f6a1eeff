"""Built-in functions and types on values that may be unknown: len, abs, sorted, int, dict, range, zip, ...

`FUNCTIONS` and `CLASSES` say what stands for which; `builtin_calls` looks here first.
"""

from __future__ import annotations

import builtins
import collections
import functools
import math
import operator
import os
import types
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treadle.frontends.python.models import MODELS
from treadle.frontends.python.values import (
    Bound,
    BuiltinMethod,
    FunctionValue,
    Generator,
    Iterator_,
    Partial,
    Range,
    Slice,
    Super,
    View,
)
from treadle.symbolic import expr as x
from treadle.symbolic.expr import Expr, Value
from treadle.symbolic.heap import DictObj, FunctionObj, InstanceObj, ListObj, Obj
from treadle.symbolic.machine import Exhausted, Raised
from treadle.symbolic.path import Unsupported

if TYPE_CHECKING:
    from treadle.frontends.python.vm import VM

_MISSING: Any = object()


def length(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import attributes, operators, sequences

    value = vm.force(value)
    if isinstance(value, ListObj | DictObj):
        return value.size()
    if operators.is_string(value):
        return x.length(value)
    if isinstance(value, tuple):
        return len(value)
    if isinstance(value, View):
        return value.source.size()
    if isinstance(value, Range):
        return sequences.range_length(vm, value)
    if isinstance(value, InstanceObj):
        own = attributes.lookup(value.cls, "__len__")
        if value.payload is not None and not operators._is_python(own):
            return length(vm, value.payload)
        if own is not None:
            result = vm.force(vm.call(attributes.get(vm, value, "__len__")))
            if operators.number_kind(result) == "int" and vm.decide(x.lt(operators.as_int(result), 0)):
                raise vm.error(ValueError, "__len__() should return >= 0")
            return result
        raise vm.error(TypeError, f"object of type '{value.cls.__name__}' has no len()")
    shown = operators.exemplar(vm, value)
    try:
        return len(shown)
    except Exception as error:
        raise vm.host_error(error) from None


def _abs(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    value = vm.force(value)
    kind = operators.number_kind(value)
    if isinstance(value, Expr) and kind == "int":
        number = operators.as_int(value)
        return x.ite(x.ge(number, 0), number, x.neg(number))
    if isinstance(value, Expr) and kind == "float":
        return x.ite(x.ge(value, Fraction(0)), value, x.rneg(value))
    if isinstance(value, InstanceObj) and attributes.lookup(value.cls, "__abs__") is not None:
        return vm.call(attributes.get(vm, value, "__abs__"))
    return _on_known(vm, abs, value)


def _on_known(vm: VM, function: Callable[..., Any], *args: Any) -> Any:
    from treadle.frontends.python import concrete

    return concrete.call_real(vm, function, list(args), {})


def _extreme(op: str, name: str) -> Callable[..., Any]:
    def extreme(vm: VM, *args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        key = vm.force(key)
        from treadle.frontends.python import operators

        values = [vm.force(v) for v in (vm.spread(args[0]) if len(args) == 1 else args)]
        if not values:
            if default is not _MISSING:
                return default
            raise vm.mimic(lambda: getattr(builtins, name)([]))
        best = values[0]
        best_key = best if key is None else vm.call(key, best)
        for value in values[1:]:
            k = value if key is None else vm.call(key, value)
            better = operators.compare(vm, op, k, best_key)
            if key is None and isinstance(better, Expr) and _same_sort(best, value):
                best = best_key = x.ite(better, *_plain(value, best))
            elif vm.truth_of(better):
                best, best_key = value, k
        return best

    return extreme


def _same_sort(a: Any, b: Any) -> bool:
    kinds = []
    for value in (a, b):
        if isinstance(value, Expr):
            kinds.append(value.sort)
        elif type(value) in (int, str):
            kinds.append(x.sort_of(value))
        else:
            return False
    return kinds[0] is kinds[1] and kinds[0] in (x.INT, x.REAL, x.STR)


def _plain(*values: Any) -> tuple[Any, ...]:
    return tuple(Fraction(v) if isinstance(v, float) else v for v in values)


def _sum(vm: VM, values: Any, start: Any = 0) -> Any:
    from treadle.frontends.python import operators

    if operators.is_string(vm.force(start)):
        raise vm.error(TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for value in vm.spread(values):
        total = operators.binary(vm, "+", total, value)
    return total


def _sorted(vm: VM, values: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    from treadle.frontends.python import sequences

    return vm.new_list(sequences.sorted_values(vm, vm.spread(values), vm.force(key), vm.truth_of(reverse)))


def _isinstance(vm: VM, value: Any, kinds: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    value = vm.force(value)
    flat = _classes(vm, kinds)
    if isinstance(value, InstanceObj):
        if len(value.classes) > 1:
            inside = tuple(c for c in value.classes if _is_subclass(vm, c, flat))
            outside = tuple(c for c in value.classes if c not in inside)
            if inside and outside:
                return vm.heap.split(value, (inside, outside)) == 0
        return _is_subclass(vm, value.cls, flat)
    if operators.is_known(value):
        try:
            return isinstance(value, flat)
        except TypeError as error:
            raise vm.host_error(error) from None
    return _is_subclass(vm, attributes.python_type(vm, value), flat)


def _classes(vm: VM, kinds: Any) -> tuple[Any, ...]:
    kinds = vm.force(kinds)
    if isinstance(kinds, tuple):
        return tuple(c for k in kinds for c in _classes(vm, k))
    if isinstance(kinds, types.UnionType):
        return tuple(c for k in kinds.__args__ for c in _classes(vm, k))
    return (kinds,)


def _is_subclass(vm: VM, cls: type, kinds: tuple[Any, ...]) -> bool:
    try:
        return issubclass(cls, kinds)
    except TypeError as error:
        message = str(error).replace("issubclass()", "isinstance()")
        if "arg 2" in message:
            raise vm.mimic(lambda: isinstance(1, kinds)) from None
        raise vm.host_error(error) from None


def _issubclass(vm: VM, cls: Any, kinds: Any) -> Any:
    cls = vm.force(cls)
    if not isinstance(cls, type):
        raise vm.error(TypeError, "issubclass() arg 1 must be a class")
    return _is_subclass(vm, cls, _classes(vm, kinds))


def _next(vm: VM, iterator: Any, default: Any = _MISSING) -> Any:
    from treadle.frontends.python import attributes, operators
    from treadle.frontends.python.iteration import iterate, resume

    iterator = vm.force(iterator)
    try:
        if isinstance(iterator, Generator):
            return resume(vm, iterator)
        if isinstance(iterator, Iterator_):
            return iterator.step()
        if isinstance(iterator, InstanceObj) and attributes.lookup(iterator.cls, "__next__") is not None:
            return vm.call(attributes.get(vm, iterator, "__next__"))
        if operators.is_known(iterator) and hasattr(type(iterator), "__next__"):
            return iterate(vm, iterator).step()
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
    shown = operators.exemplar(vm, iterator)
    raise vm.mimic(lambda: next(shown))


def _iter(vm: VM, value: Any, sentinel: Any = _MISSING) -> Any:
    from treadle.frontends.python.iteration import iterate

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
    return iterate(vm, forced)


def _zip(vm: VM, *iterables: Any, strict: Any = False) -> Any:
    from treadle.frontends.python.iteration import iterate

    sources = [iterate(vm, it) for it in iterables]
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
    from treadle.frontends.python import operators
    from treadle.frontends.python.iteration import iterate

    inner = iterate(vm, iterable)
    position = operators.as_int(vm.force(start))

    def step() -> Any:
        nonlocal position
        value = inner.step()
        position = x.add(position, 1)
        return (x.sub(position, 1), value)

    return Iterator_(step, inner.bounded, "enumerate")


def _mapped(vm: VM, function: Any, *iterables: Any) -> Any:
    from treadle.frontends.python import calls
    from treadle.frontends.python.iteration import iterate

    sources = [iterate(vm, it) for it in iterables]

    def step() -> Any:
        return calls.call(vm, function, [s.step() for s in sources], {})

    return Iterator_(step, lambda: any(s.bounded() for s in sources), "map")


def _reversed(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import attributes, mappings, operators, sequences
    from treadle.frontends.python.iteration import over_range, over_values

    value = vm.force(value)
    if isinstance(value, ListObj):
        return over_values(sequences.items(vm, value)[::-1], "list_reverseiterator")
    if isinstance(value, tuple):
        return over_values(value[::-1])
    if isinstance(value, str):
        return over_values(list(value)[::-1])
    if operators.is_string(value):
        from treadle.frontends.python import strings

        return over_values(strings.characters(vm, value)[::-1])
    if isinstance(value, Range):
        size = sequences.range_length(vm, value)
        last = x.add(value.start, x.mul(x.sub(size, 1), value.step))
        return over_range(vm, Range(last, x.sub(value.start, value.step), -value.step))
    if isinstance(value, DictObj) and not value.keys_only:
        return over_values([k for k, _ in mappings.entries(vm, value)][::-1])
    if isinstance(value, View):
        return over_values(mappings.view_items(vm, value)[::-1])
    if isinstance(value, InstanceObj):
        if attributes.lookup(value.cls, "__reversed__") is not None:
            return vm.call(attributes.get(vm, value, "__reversed__"))
        size = length(vm, value)
        if isinstance(size, int):
            return over_values([sequences.get_item(vm, value, i) for i in range(size - 1, -1, -1)])
        raise Unsupported("reversed() of an object of unknown length")
    shown = operators.exemplar(vm, value)
    raise vm.mimic(lambda: reversed(shown))


def _range(vm: VM, *args: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    values = []
    for a in args:
        a = vm.force(a)
        if isinstance(a, InstanceObj) and attributes.lookup(a.cls, "__index__") is not None:
            a = vm.force(vm.call(attributes.get(vm, a, "__index__")))
        values.append(a)
    if not 1 <= len(values) <= 3 or any(operators.number_kind(v) != "int" for v in values):
        shown = [operators.exemplar(vm, v) for v in values]
        raise vm.mimic(lambda: range(*shown))
    numbers = [operators.as_int(v) for v in values]
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


def _int(vm: VM, value: Any = 0, base: Any = _MISSING) -> Any:
    from treadle.frontends.python import attributes, operators, strings

    value = vm.force(value)
    if base is not _MISSING:
        return _on_known(vm, int, value, base)
    if isinstance(value, Expr):
        if value.sort is x.STR:
            return strings.to_int(vm, value)
        if value.sort is x.REAL:
            below = x.floor(value)
            return x.ite(x.ge(value, Fraction(0)), below, x.neg(x.floor(x.rneg(value))))
        return operators.as_int(value)
    if isinstance(value, InstanceObj):
        for name in ("__int__", "__index__", "__trunc__"):
            if attributes.lookup(value.cls, name) is not None and operators._is_python(
                attributes.lookup(value.cls, name)
            ):
                return vm.call(attributes.get(vm, value, name))
        if value.payload is not None:
            return _int(vm, value.payload)
    return _on_known(vm, int, value)


def _float(vm: VM, value: Any = 0.0) -> Any:
    from treadle.frontends.python import attributes, operators

    value = vm.force(value)
    if isinstance(value, Expr) and operators.number_kind(value):
        return operators.as_real(value)
    if isinstance(value, InstanceObj) and attributes.lookup(value.cls, "__float__") is not None:
        return vm.call(attributes.get(vm, value, "__float__"))
    return _on_known(vm, float, value)


def _round(vm: VM, value: Any, digits: Any = None) -> Any:
    from treadle.frontends.python import attributes, operators

    value = vm.force(value)
    if isinstance(value, InstanceObj) and attributes.lookup(value.cls, "__round__") is not None:
        return vm.call(attributes.get(vm, value, "__round__"), *(() if digits is None else (digits,)))
    if isinstance(value, Expr) and operators.number_kind(value) == "int" and digits is None:
        return operators.as_int(value)
    if isinstance(value, Expr) and value.sort is x.REAL and digits is None:
        # half to even
        low = x.floor(value)
        rest = x.rsub(value, x.to_real(low))
        half = Fraction(1, 2)
        odd = x.eq(x.mod(low, 2), 1)
        up = x.or_(x.gt(rest, half), x.and_(x.eq(rest, half), odd))
        return x.ite(up, x.add(low, 1), low)
    if isinstance(value, Expr) and type(digits) is int and abs(digits) <= 12:
        return _rounded(vm, value, digits)
    return _on_known(vm, round, value, *(() if digits is None else (digits,)))


def _rounded(vm: VM, value: Expr, digits: int) -> Any:
    """round(value, digits): exact, the last digit to even where it is halfway."""
    from treadle.frontends.python import operators

    if value.sort is x.REAL:
        scale = Fraction(10) ** digits
        return x.rmul(x.to_real(_round(vm, x.rmul(value, scale))), 1 / scale)
    number = operators.as_int(value)
    if digits >= 0:
        return number
    return x.mul(_round(vm, x.rmul(x.to_real(number), Fraction(1, 10**-digits))), 10**-digits)


def _isqrt(vm: VM, n: Any) -> Any:
    """The root is the one number that fulfils its definition."""
    from treadle.frontends.python import operators

    n = vm.force(n)
    if not (isinstance(n, Expr) and operators.number_kind(n) == "int"):
        return _on_known(vm, math.isqrt, n)
    number = operators.as_int(n)
    if vm.decide(x.lt(number, 0)):
        raise vm.mimic(lambda: math.isqrt(-1))
    root = vm.heap.unknown(f"isqrt({number!r})", x.INT)
    for fact in (x.ge(root, 0), x.le(x.mul(root, root), number)):
        vm.path.assume(fact)
    vm.path.assume(x.lt(number, x.mul(x.add(root, 1), x.add(root, 1))))
    return root


def _bool(vm: VM, value: Any = False) -> Any:
    return vm.truth(value)


def _str(vm: VM, value: Any = "", *rest: Any) -> Any:
    from treadle.frontends.python import strings

    if rest:
        return _on_known(vm, str, value, *rest)
    return strings.text_of(vm, value)


def _repr(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import strings

    return strings.repr_of(vm, value)


def _list(vm: VM, values: Any = ()) -> Any:
    return vm.new_list(list(vm.spread(values)))


def _tuple(vm: VM, values: Any = ()) -> Any:
    return tuple(vm.spread(values))


def _set(vm: VM, values: Any = ()) -> Any:
    return vm.new_set(vm.spread(values))


def _frozenset(vm: VM, values: Any = ()) -> Any:
    return vm.new_set(vm.spread(values), True)


def _dict(vm: VM, *args: Any, **named: Any) -> Any:
    from treadle.frontends.python import mappings

    made = vm.new_dict([])
    mappings._update(vm, made, *args, **named)
    return made


def _defaultdict(vm: VM, factory: Any = None, *args: Any, **named: Any) -> Any:
    made = InstanceObj(vm.heap.number(), (collections.defaultdict,))
    made.payload = _dict(vm, *args, **named)
    made.fields["default_factory"] = factory
    return made


def _deque(vm: VM, values: Any = (), maxlen: Any = None) -> Any:
    from treadle.frontends.python import operators

    most = vm.force(maxlen)
    if isinstance(most, Expr):
        most = vm.path.pick([most], "a deque of unknown maximal length")[0]
    if most is not None and (operators.number_kind(most) != "int" or most < 0):
        raise vm.mimic(lambda: collections.deque(maxlen=most))
    made = InstanceObj(vm.heap.number(), (collections.deque,))
    kept = vm.spread(values)
    made.payload = vm.new_list(kept[len(kept) - most :] if most is not None and len(kept) > most else kept)
    made.fields["maxlen"] = most
    return made


def _deque_method(vm: VM, obj: InstanceObj, name: str, args: list[Any], named: dict[str, Any]) -> Any:
    from treadle.frontends.python import builtin_calls, sequences

    if name not in sequences.DEQUE_METHODS:
        if name in builtin_calls._SPECIAL_METHODS:
            return builtin_calls.method(vm, obj.payload, name, args, named)
        raise Unsupported(f"deque.{name}")
    result = sequences.DEQUE_METHODS[name](vm, obj.payload, *args, **named)
    most = obj.fields.get("maxlen")
    if most is not None:
        values = sequences.close(vm, obj.payload)
        if len(values) > most:
            values[:] = values[:most] if name in ("appendleft", "extendleft") else values[len(values) - most :]
    return result


def _divmod(vm: VM, a: Any, b: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    a, b = vm.force(a), vm.force(b)
    if isinstance(a, InstanceObj) and attributes.lookup(a.cls, "__divmod__") is not None:
        return vm.call(attributes.get(vm, a, "__divmod__"), b)
    if (
        isinstance(a, InstanceObj)
        or isinstance(b, InstanceObj)
        or not (operators.number_kind(a) and operators.number_kind(b))
    ):
        return _on_known(vm, divmod, a, b)
    if operators.is_known(a) and operators.is_known(b):
        return _on_known(vm, divmod, a, b)
    operators.zero_check(
        vm,
        "//",
        operators.as_real(b) if operators.number_kind(b) == "float" else operators.as_int(b),
        operators.number_kind(b) == "float",
    )
    return (operators.binary(vm, "//", a, b), operators.binary(vm, "%", a, b))


def _pow(vm: VM, a: Any, b: Any, modulus: Any = None) -> Any:
    from treadle.frontends.python import operators

    if modulus is None:
        return operators.binary(vm, "**", a, b)
    b = vm.force(b)
    if isinstance(b, int) and 0 <= b <= operators.MOST_POWER:
        return operators.binary(vm, "%", operators.binary(vm, "**", a, b), modulus)
    return _on_known(vm, pow, a, b, modulus)


def _ord(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    value = vm.force(value)
    if isinstance(value, Expr) and value.sort is x.STR:
        size = x.length(value)
        if vm.decide(x.eq(size, 1)):
            return x.ord_(value)
        picked = vm.path.pick([value], "the ord() of a string that is not one character")[0]
        raise vm.mimic(lambda: ord(picked))
    shown = value if operators.is_known(value) else operators.exemplar(vm, value)
    return _on_known(vm, ord, shown)


def _chr(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    value = vm.force(value)
    if isinstance(value, Expr) and operators.number_kind(value) == "int":
        number = operators.as_int(value)
        if vm.decide(x.and_(x.ge(number, 0), x.le(number, 0x10FFFF))):
            return x.chr_(number)
        raise vm.mimic(lambda: chr(-1))
    return _on_known(vm, chr, value)


def _getattr(vm: VM, obj: Any, name: Any, default: Any = _MISSING) -> Any:
    from treadle.frontends.python import attributes

    name = vm.force(name)
    if isinstance(name, Expr):
        raise Unsupported("an attribute with an unknown name")
    try:
        return attributes.get(vm, obj, name)
    except Raised as raised:
        if default is not _MISSING and issubclass(raised.value.cls, AttributeError):
            return default
        raise


def _hasattr(vm: VM, obj: Any, name: Any) -> Any:
    return _getattr(vm, obj, name, _MISSING_ATTRIBUTE) is not _MISSING_ATTRIBUTE


_MISSING_ATTRIBUTE = object()


def _setattr(vm: VM, obj: Any, name: Any, value: Any) -> Any:
    from treadle.frontends.python import attributes

    if isinstance(vm.force(name), Expr):
        raise Unsupported("an attribute with an unknown name")
    attributes.set_(vm, obj, vm.force(name), value)


def _callable(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import attributes

    value = vm.force(value)
    if isinstance(value, InstanceObj):
        return attributes.lookup(value.cls, "__call__") is not None
    return isinstance(value, FunctionValue | FunctionObj | Bound | BuiltinMethod | Partial) or (
        not isinstance(value, Expr | Obj | tuple) and callable(value)
    )


def _hash(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import attributes, mappings, operators

    value = vm.force(value)
    mappings.check_key(vm, value)
    if isinstance(value, InstanceObj) and operators._is_python(attributes.lookup(value.cls, "__hash__")):
        return vm.call(attributes.get(vm, value, "__hash__"))
    if _hash_varies(value):
        raise Unsupported("the hash of a value, which changes from run to run")
    return _on_known(vm, hash, value)


def _hash_varies(value: Any) -> bool:
    if isinstance(value, tuple):
        return any(map(_hash_varies, value))
    return isinstance(value, Obj | str | bytes) or (isinstance(value, Expr) and value.sort is x.STR)


def _id(vm: VM, value: Any) -> Any:
    raise Unsupported("id(), which changes from run to run")


def _print(vm: VM, *args: Any, **named: Any) -> None:
    """Output is not part of a test; __str__ methods still run, as they can raise."""
    from treadle.frontends.python import attributes, operators

    for value in args:
        value = vm.force(value)
        if isinstance(value, InstanceObj) and operators._is_python(attributes.lookup(value.cls, "__str__")):
            _str(vm, value)


def _super(vm: VM, cls: Any, obj: Any = None) -> Any:
    return Super(cls, obj)


def _slice(vm: VM, *args: Any) -> Any:
    if len(args) == 1:
        return Slice(None, args[0], None)
    return Slice(args[0], args[1], args[2] if len(args) > 2 else None)


def _partial(vm: VM, function: Any, *args: Any, **named: Any) -> Any:
    return Partial(function, args, named)


def _vars(vm: VM, obj: Any) -> Any:
    from treadle.frontends.python import attributes

    return attributes.get(vm, obj, "__dict__")


def _wraps(vm: VM, wrapped: Any, *args: Any, **named: Any) -> Any:
    return _identity


def _identity(function: Any) -> Any:
    return function


def _nothing(vm: VM, *args: Any, **named: Any) -> None:
    return None


def _itemgetter(vm: VM, *items: Any) -> Any:
    from treadle.frontends.python import calls, models

    if not items:
        raise vm.mimic(lambda: operator.itemgetter())  # type: ignore[call-overload]
    maker = models.itemgetter_1 if len(items) == 1 else models.itemgetter_n
    return calls.call(vm, maker, list(items), {})


def _floor(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    value = vm.force(value)
    if isinstance(value, Expr) and operators.number_kind(value):
        return x.floor(value) if value.sort is x.REAL else operators.as_int(value)
    if isinstance(value, InstanceObj):
        from treadle.frontends.python import attributes

        return vm.call(attributes.get(vm, value, "__floor__"))
    return _on_known(vm, math.floor, value)


def _ceil(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    value = vm.force(value)
    if isinstance(value, Expr) and operators.number_kind(value):
        return x.neg(x.floor(x.rneg(value))) if value.sort is x.REAL else operators.as_int(value)
    if isinstance(value, InstanceObj):
        from treadle.frontends.python import attributes

        return vm.call(attributes.get(vm, value, "__ceil__"))
    return _on_known(vm, math.ceil, value)


def _operator(op: str) -> Callable[..., Any]:
    def apply(vm: VM, a: Any, b: Any) -> Any:
        from treadle.frontends.python import operators

        return operators.apply(vm, op, [a, b])

    return apply


def _index(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    value = vm.force(value)
    if isinstance(value, Expr) and operators.number_kind(value) == "int":
        return operators.as_int(value)
    return _on_known(vm, operator.index, operators.exemplar(vm, value) if isinstance(value, Expr) else value)


def _not(vm: VM, value: Any) -> Value:
    return x.not_(vm.truth(value))


_OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "concat": "+",
    "iadd": "+=",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is_": "is",
    "and_": "&",
    "or_": "|",
    "xor": "^",
}

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    len: length,
    abs: _abs,
    min: _extreme("<", "min"),
    max: _extreme(">", "max"),
    sum: _sum,
    sorted: _sorted,
    isinstance: _isinstance,
    issubclass: _issubclass,
    next: _next,
    iter: _iter,
    round: _round,
    repr: _repr,
    divmod: _divmod,
    pow: _pow,
    ord: _ord,
    chr: _chr,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    callable: _callable,
    hash: _hash,
    id: _id,
    print: _print,
    vars: _vars,
    math.floor: _floor,
    math.ceil: _ceil,
    math.isqrt: _isqrt,
    operator.index: _index,
    operator.not_: _not,
    warnings.warn: _nothing,
    os.fspath: lambda vm, path: _fspath(vm, path),
    **{getattr(operator, name): _operator(op) for name, op in _OPERATORS.items()},
    operator.contains: lambda vm, a, b: _contains(vm, a, b),
    operator.getitem: lambda vm, a, b: _item(vm, a, b),
    operator.neg: lambda vm, a: _negated(vm, a),
}


def _fspath(vm: VM, path: Any) -> Any:
    from treadle.frontends.python import attributes, operators

    path = vm.force(path)
    if operators.is_string(path):
        return path
    if isinstance(path, InstanceObj) and attributes.lookup(path.cls, "__fspath__") is not None:
        return vm.call(attributes.get(vm, path, "__fspath__"))
    return _on_known(vm, os.fspath, operators.exemplar(vm, path) if isinstance(path, Expr) else path)


def _contains(vm: VM, container: Any, item: Any) -> Any:
    from treadle.frontends.python import operators

    return operators.contains(vm, item, container)


def _item(vm: VM, obj: Any, index: Any) -> Any:
    from treadle.frontends.python import sequences

    return sequences.get_item(vm, obj, index)


def _negated(vm: VM, value: Any) -> Any:
    from treadle.frontends.python import operators

    return operators.apply(vm, "neg", [value])


CLASSES: dict[type, Callable[..., Any]] = {
    int: _int,
    float: _float,
    bool: _bool,
    str: _str,
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    dict: _dict,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    map: _mapped,
    reversed: _reversed,
    slice: _slice,
    super: _super,
    functools.partial: _partial,
    operator.itemgetter: _itemgetter,
    object: lambda vm: InstanceObj(vm.heap.number(), (object,)),
    collections.OrderedDict: _dict,
    collections.defaultdict: lambda vm, *args, **named: _defaultdict(vm, *args, **named),
    collections.deque: lambda vm, *args, **named: _deque(vm, *args, **named),
}


def _from_models(original: Any) -> Callable[..., Any]:
    def call_model(vm: VM, *args: Any, **named: Any) -> Any:
        from treadle.frontends.python import calls

        return calls.call(vm, MODELS[original], list(args), named)

    return call_model


for _class in MODELS:
    if isinstance(_class, type) and _class not in CLASSES:
        CLASSES[_class] = _from_models(_class)


# Python functions that are better replaced than followed.
_REPLACED: dict[Any, Callable[..., Any]] = {
    functools.wraps: _wraps,
    functools.update_wrapper: lambda vm, wrapper, wrapped, *a, **k: wrapper,
    warnings.warn: _nothing,
}


def model(function: types.FunctionType) -> Callable[..., Any] | None:
    if function.__module__ == "logging" and function.__name__ in (
        "debug",
        "info",
        "warning",
        "error",
        "log",
        "critical",
        "exception",
    ):
        return _nothing
    if function.__module__ == "typing" and function.__name__ == "cast":
        return lambda vm, kind, value: value
    return _REPLACED.get(function)
