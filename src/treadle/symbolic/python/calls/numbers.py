"""Built-in functions of numbers on values that may be unknown: abs, max, sum, int, float, round, divmod, ord, ..."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr
from treadle.symbolic.heap.objects import InstanceObj
from treadle.symbolic.python.machine import classes, operators
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import strings
from treadle.symbolic.python.values.kinds import as_int, as_real, exemplar, is_known, is_python, is_string, number_kind

_MISSING: Any = object()


def _abs(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    kind = number_kind(value)
    if isinstance(value, Expr) and kind == "int":
        number = as_int(value)
        return x.ite(x.ge(number, 0), number, x.neg(number))
    if isinstance(value, Expr) and kind == "float":
        return x.ite(x.ge(value, Fraction(0)), value, x.rneg(value))
    if isinstance(value, InstanceObj) and classes.special(vm, value, "__abs__") is not None:
        return vm.call(vm.attribute(value, "__abs__"))
    return _on_known(vm, abs, value)


def _on_known(vm: VM, function: Callable[..., Any], *args: Any) -> Any:
    return vm.call_real(function, list(args), {})


def _extreme(op: str, name: str) -> Callable[..., Any]:
    def extreme(vm: VM, *args: Any, key: Any = None, default: Any = _MISSING) -> Any:
        key = vm.force(key)
        values = [vm.force(v) for v in (vm.spread(args[0]) if len(args) == 1 else args)]
        if not values:
            if default is not _MISSING:
                return default
            raise vm.mimic(lambda: getattr(builtins, name)([]))
        best = values[0]
        best_key = best if key is None else vm.call(key, best)
        for value in values[1:]:
            k = value if key is None else vm.call(key, value)
            better = vm.compare(op, k, best_key)
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
    if is_string(vm.force(start)):
        raise vm.error(TypeError, "sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for value in vm.spread(values):
        total = vm.binary("+", total, value)
    return total


def _int(vm: VM, value: Any = 0, base: Any = _MISSING) -> Any:
    value = vm.force(value)
    if base is not _MISSING:
        return _on_known(vm, int, value, base)
    if isinstance(value, Expr):
        if value.sort is x.STR:
            return strings.to_int(vm, value)
        if value.sort is x.REAL:
            below = x.floor(value)
            return x.ite(x.ge(value, Fraction(0)), below, x.neg(x.floor(x.rneg(value))))
        return as_int(value)
    if isinstance(value, InstanceObj):
        for name in ("__int__", "__index__", "__trunc__"):
            if classes.special(vm, value, name) is not None and is_python(classes.special(vm, value, name)):
                return vm.call(vm.attribute(value, name))
        if value.payload is not None:
            return _int(vm, value.payload)
    return _on_known(vm, int, value)


def _float(vm: VM, value: Any = 0.0) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value):
        return as_real(value)
    if isinstance(value, Expr) and value.sort is x.STR:
        return strings.to_float(vm, value)
    if isinstance(value, InstanceObj) and classes.special(vm, value, "__float__") is not None:
        return vm.call(vm.attribute(value, "__float__"))
    return _on_known(vm, float, value)


def _round(vm: VM, value: Any, digits: Any = None) -> Any:
    value = vm.force(value)
    if isinstance(value, InstanceObj) and classes.special(vm, value, "__round__") is not None:
        return vm.call(vm.attribute(value, "__round__"), *(() if digits is None else (digits,)))
    if isinstance(value, Expr) and number_kind(value) == "int" and digits is None:
        return as_int(value)
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
    if value.sort is x.REAL:
        scale = Fraction(10) ** digits
        return x.rmul(x.to_real(_round(vm, x.rmul(value, scale))), 1 / scale)
    number = as_int(value)
    if digits >= 0:
        return number
    return x.mul(_round(vm, x.rmul(x.to_real(number), Fraction(1, 10**-digits))), 10**-digits)


def _isqrt(vm: VM, n: Any) -> Any:
    """The root is the one number that fulfils its definition."""
    n = vm.force(n)
    if not (isinstance(n, Expr) and number_kind(n) == "int"):
        return _on_known(vm, math.isqrt, n)
    number = as_int(n)
    if vm.decide(x.lt(number, 0)):
        raise vm.mimic(lambda: math.isqrt(-1))
    root = vm.heap.unknown(f"isqrt({number!r})", x.INT)
    for fact in (x.ge(root, 0), x.le(x.mul(root, root), number)):
        vm.path.assume(fact)
    vm.path.assume(x.lt(number, x.mul(x.add(root, 1), x.add(root, 1))))
    return root


def _divmod(vm: VM, a: Any, b: Any) -> Any:
    a, b = vm.force(a), vm.force(b)
    if isinstance(a, InstanceObj) and classes.special(vm, a, "__divmod__") is not None:
        return vm.call(vm.attribute(a, "__divmod__"), b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj) or not (number_kind(a) and number_kind(b)):
        return _on_known(vm, divmod, a, b)
    if is_known(a) and is_known(b):
        return _on_known(vm, divmod, a, b)
    operators.zero_check(
        vm,
        "//",
        as_real(b) if number_kind(b) == "float" else as_int(b),
        number_kind(b) == "float",
    )
    return (vm.binary("//", a, b), vm.binary("%", a, b))


def _pow(vm: VM, a: Any, b: Any, modulus: Any = None) -> Any:
    if modulus is None:
        return vm.binary("**", a, b)
    b = vm.force(b)
    if isinstance(b, int) and 0 <= b <= operators.MOST_POWER:
        return vm.binary("%", vm.binary("**", a, b), modulus)
    return _on_known(vm, pow, a, b, modulus)


def _ord(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and value.sort is x.STR:
        size = x.length(value)
        if vm.decide(x.eq(size, 1)):
            return x.ord_(value)
        picked = vm.path.pick([value], "the ord() of a string that is not one character")[0]
        raise vm.mimic(lambda: ord(picked))
    shown = value if is_known(value) else exemplar(vm, value)
    return _on_known(vm, ord, shown)


def _chr(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value) == "int":
        number = as_int(value)
        if vm.decide(x.and_(x.ge(number, 0), x.le(number, 0x10FFFF))):
            return x.chr_(number)
        raise vm.mimic(lambda: chr(-1))
    return _on_known(vm, chr, value)


def _floor(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value):
        return x.floor(value) if value.sort is x.REAL else as_int(value)
    if isinstance(value, InstanceObj):
        return vm.call(vm.attribute(value, "__floor__"))
    return _on_known(vm, math.floor, value)


def _ceil(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value):
        return x.neg(x.floor(x.rneg(value))) if value.sort is x.REAL else as_int(value)
    if isinstance(value, InstanceObj):
        return vm.call(vm.attribute(value, "__ceil__"))
    return _on_known(vm, math.ceil, value)


def _index(vm: VM, value: Any) -> Any:
    value = vm.force(value)
    if isinstance(value, Expr) and number_kind(value) == "int":
        return as_int(value)
    return _on_known(vm, operator.index, exemplar(vm, value) if isinstance(value, Expr) else value)
