"""Built-in functions and methods of numbers on values that may be unknown: abs, max, sum, int, round, ord, ..."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeGuard

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Real, Value
from treadle.symbolic.heap.objects import MISSING, InstanceObj
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.operators import MOST_POWER, zero_check
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import strings
from treadle.symbolic.python.values.kinds import (
    as_int,
    as_real,
    exemplar,
    is_int,
    is_known,
    is_string,
    number_kind,
    sort_of,
)
from treadle.symbolic.python.values.table import method, stands_for
from treadle.symbolic.python.values.values import PyValue


def _on_known(vm: VM, function: Callable[..., PyValue], *args: PyValue) -> PyValue:
    return vm.call_real(function, list(args), {})


def _is_unknown_int(value: PyValue) -> bool:
    return isinstance(value, Expr) and is_int(value)


def _is_real(value: PyValue) -> TypeGuard[Expr]:
    return isinstance(value, Expr) and value.sort is x.REAL


@stands_for(abs)
def _abs(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    if _is_unknown_int(value):
        number = as_int(value)
        return x.ite(x.ge(number, 0), number, x.neg(number))
    if _is_real(value):
        return x.ite(x.ge(value, Fraction(0)), value, x.rneg(value))
    own = own_method(vm, value, "__abs__")
    return vm.call(own) if own is not None else _on_known(vm, abs, value)


def _register_extreme(name: str, op: str) -> None:
    real: Any = getattr(builtins, name)

    @stands_for(real)
    def extreme(vm: VM, *args: PyValue, key: PyValue = None, default: PyValue = MISSING) -> PyValue:
        key = vm.force(key)
        values = [vm.force(v) for v in (vm.spread(args[0]) if len(args) == 1 else args)]
        if not values:
            if default is not MISSING:
                return default
            raise vm.mimic(lambda: real([]))
        best = values[0]
        best_key = best if key is None else vm.call(key, best)
        for value in values[1:]:
            k = value if key is None else vm.call(key, value)
            better = vm.compare(op, k, best_key)
            if key is None and isinstance(better, Expr) and _same_sort(best, value):
                best = best_key = x.ite(better, value, best)
            elif vm.truth_of(better):
                best, best_key = value, k
        return best


_register_extreme("min", "<")
_register_extreme("max", ">")


def _same_sort(a: PyValue, b: PyValue) -> bool:
    if not all(isinstance(value, Expr) or type(value) in (int, str) for value in (a, b)):
        return False
    return sort_of(a) is sort_of(b) and sort_of(a) in (x.INT, x.REAL, x.STR)


@stands_for(sum)
def _sum(vm: VM, values: PyValue, start: PyValue = 0) -> PyValue:
    if is_string(vm.force(start)):
        raise vm.error(TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for value in vm.spread(values):
        total = vm.binary("+", total, value)
    return total


@stands_for(int)
def _int(vm: VM, value: PyValue = 0, base: PyValue = MISSING) -> PyValue:
    value = vm.force(value)
    if base is not MISSING:
        return _on_known(vm, int, value, base)
    if isinstance(value, Expr):
        if value.sort is x.STR:
            return strings.to_int(vm, value)
        if value.sort is x.REAL:
            return x.ite(x.ge(value, Fraction(0)), x.floor(value), x.neg(x.floor(x.rneg(value))))
        return as_int(value)
    if isinstance(value, InstanceObj):
        for name in ("__int__", "__index__", "__trunc__"):
            own = own_method(vm, value, name, in_python=True)
            if own is not None:
                return vm.call(own)
        if value.payload is not None:
            return _int(vm, value.payload)
    return _on_known(vm, int, value)


@stands_for(float)
def _float(vm: VM, value: PyValue = 0.0) -> PyValue:
    value = vm.force(value)
    if isinstance(value, Expr):
        return strings.to_float(vm, value) if value.sort is x.STR else as_real(value)
    own = own_method(vm, value, "__float__")
    return vm.call(own) if own is not None else _on_known(vm, float, value)


@stands_for(round)
def _round(vm: VM, value: PyValue, digits: PyValue = None) -> PyValue:
    value = vm.force(value)
    given = () if digits is None else (digits,)
    own = own_method(vm, value, "__round__")
    if own is not None:
        return vm.call(own, *given)
    if isinstance(value, Expr) and value.sort is not x.STR:
        if digits is None:
            return _half_to_even(value) if value.sort is x.REAL else as_int(value)
        if type(digits) is int and abs(digits) <= 12:
            return _rounded(value, digits)
    return _on_known(vm, round, value, *given)


def _half_to_even(value: Real) -> Integer:
    low = x.floor(value)
    rest = x.rsub(value, x.to_real(low))
    half = Fraction(1, 2)
    odd = x.eq(x.mod(low, 2), 1)
    up = x.or_(x.gt(rest, half), x.and_(x.eq(rest, half), odd))
    return x.ite(up, x.add(low, 1), low)


def _rounded(value: Expr, digits: int) -> PyValue:
    """round(value, digits): exact, the last digit to even where it is halfway."""
    if value.sort is x.REAL:
        scale = Fraction(10) ** digits
        return x.rmul(x.to_real(_half_to_even(x.rmul(value, scale))), 1 / scale)
    number = as_int(value)
    if digits >= 0:
        return number
    return x.mul(_half_to_even(x.rmul(x.to_real(number), Fraction(1, 10**-digits))), 10**-digits)


@stands_for(math.isqrt)
def _isqrt(vm: VM, n: PyValue) -> PyValue:
    """The root is the one number that fulfils its definition."""
    n = vm.force(n)
    if not _is_unknown_int(n):
        return _on_known(vm, math.isqrt, n)
    number = as_int(n)
    if vm.decide(x.lt(number, 0)):
        raise vm.mimic(lambda: math.isqrt(-1))
    root = vm.heap.unknown(f"isqrt({number!r})", x.INT)
    above = x.add(root, 1)
    for fact in (x.ge(root, 0), x.le(x.mul(root, root), number), x.lt(number, x.mul(above, above))):
        vm.path.assume(fact)
    return root


@stands_for(divmod)
def _divmod(vm: VM, a: PyValue, b: PyValue) -> PyValue:
    a, b = vm.force(a), vm.force(b)
    own = own_method(vm, a, "__divmod__")
    if own is not None:
        return vm.call(own, b)
    if not (number_kind(a) and number_kind(b)) or (is_known(a) and is_known(b)):
        return _on_known(vm, divmod, a, b)
    zero_check(vm, "//", as_int(b) if is_int(b) else as_real(b), not is_int(b))
    return (vm.binary("//", a, b), vm.binary("%", a, b))


@stands_for(pow)
def _pow(vm: VM, a: PyValue, b: PyValue, modulus: PyValue = None) -> PyValue:
    if modulus is None:
        return vm.binary("**", a, b)
    b = vm.force(b)
    if isinstance(b, int) and 0 <= b <= MOST_POWER:
        return vm.binary("%", vm.binary("**", a, b), modulus)
    return _on_known(vm, pow, a, b, modulus)


@stands_for(ord)
def _ord(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    if isinstance(value, Expr) and value.sort is x.STR:
        if vm.decide(x.eq(x.length(value), 1)):
            return x.ord_(value)
        picked = vm.path.pick([value], "the ord() of a string that is not one character")[0]
        raise vm.mimic(lambda: ord(picked))
    return _on_known(vm, ord, value if is_known(value) else exemplar(vm, value))


@stands_for(chr)
def _chr(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    if _is_unknown_int(value):
        number = as_int(value)
        if vm.decide(x.and_(x.ge(number, 0), x.le(number, 0x10FFFF))):
            return x.chr_(number)
        raise vm.mimic(lambda: chr(-1))
    return _on_known(vm, chr, value)


def _register_whole(function: Callable[[Any], Any], special: str, of_real: Callable[[Expr], Integer]) -> None:
    @stands_for(function)
    def whole(vm: VM, value: PyValue) -> PyValue:
        value = vm.force(value)
        if isinstance(value, Expr) and number_kind(value):
            return of_real(value) if value.sort is x.REAL else as_int(value)
        if isinstance(value, InstanceObj):
            return vm.call(vm.attribute(value, special))
        return _on_known(vm, function, value)


_register_whole(math.floor, "__floor__", x.floor)
_register_whole(math.ceil, "__ceil__", lambda value: x.neg(x.floor(x.rneg(value))))


@stands_for(operator.index)
def _index(vm: VM, value: PyValue) -> PyValue:
    value = vm.force(value)
    if _is_unknown_int(value):
        return as_int(value)
    return _on_known(vm, operator.index, exemplar(vm, value) if isinstance(value, Expr) else value)


# --- methods -----------------------------------------------------------------------------------------------


@method(int, "conjugate", "__index__", "__int__", "__pos__")
@method(bool, "conjugate", "__index__", "__int__", "__pos__")
def _itself(vm: VM, number: PyValue) -> Value:
    return as_int(number)


@method(int, "is_integer")
@method(bool, "is_integer")
def _int_is_integer(vm: VM, number: PyValue) -> Value:
    return True


@method(float, "is_integer")
def _float_is_integer(vm: VM, number: Expr) -> Value:
    return x.eq(x.to_real(x.floor(number)), number)


@method(int, "as_integer_ratio")
@method(bool, "as_integer_ratio")
def _as_integer_ratio(vm: VM, number: PyValue) -> tuple[Value, int]:
    return (as_int(number), 1)
