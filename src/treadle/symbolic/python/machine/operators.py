"""Operators on known and unknown values: Python's own rules, its error messages included.

Known values are handed to Python itself. Unknown numbers become expressions; a division first asks whether
the divisor can be zero. What has no expression (bits of two unknowns, large powers) picks values: the path is
sampled.
"""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Integer, Real, Truth, Value
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.ir.machine import Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.equality import contains, equal, identical, right_first, truth
from treadle.symbolic.python.machine.iteration import returned
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.values import list_methods, mappings, open_lists, sequences, strings
from treadle.symbolic.python.values.kinds import (
    as_int,
    as_real,
    exemplar,
    is_known,
    is_python,
    is_string,
    is_truth_value,
    number_kind,
    refusal,
    sort_of,
)
from treadle.symbolic.python.values.values import DictView, PyValue, RangeValue
from treadle.symbolic.solve.bounds import interval

_BINARY = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"}
_BINARY |= {"<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor", "@": "matmul"}
_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_UNARY = {"neg": "neg", "pos": "pos", "invert": "invert"}
# Python's own function for each operator
HOST: dict[str, Callable[..., Any]] = {
    op: getattr(operator, f"__{name}__") for op, name in (_BINARY | _COMPARE | _UNARY).items()
}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# x ** n is multiplied out up to here; beyond, values are picked
MOST_POWER = 6
# groups of ones in a mask, each a quotient and a remainder; beyond, values are picked
MOST_RUNS = 8
# bits of two unknown numbers that the path bounds, each two quotients and remainders; beyond, values are picked
MOST_BITS = 16
# numbers that a bounded exponent or shift can be, each a case of the result; beyond, values are picked
MOST_VALUES = 64


def apply(vm: VM, op: str, args: list[PyValue]) -> Any:
    """The value of an operator step."""
    if op == "with":
        return _check_manager(vm, args[0])
    if len(args) == 1:
        return unary(vm, op, args[0])
    special = _SPECIAL.get(op)
    if special is not None:
        return special(vm, *args)
    if op in _COMPARE:
        return compare(vm, op, args[0], args[1])
    if op.endswith("="):
        return _in_place(vm, op[:-1], args[0], args[1])
    return binary(vm, op, args[0], args[1])


def _check_manager(vm: VM, value: PyValue) -> None:
    """with value: raises when the value is no context manager."""
    value = vm.force(value)
    if value is None or isinstance(value, Expr | ListObj | DictObj | tuple) or number_kind(value) or is_string(value):
        raise refusal(vm, _enter, value)


def _enter(manager: Any) -> None:
    with manager:
        pass


# --- unary -----------------------------------------------------------------------------------------------


def unary(vm: VM, op: str, value: Any) -> PyValue:
    if op == "truth":
        return truth(vm, value)
    if op == "not":
        return x.not_(truth(vm, value))
    if op == "returned":
        return returned(value)
    if op == "is sequence":
        return isinstance(vm.force(value), ListObj | tuple | RangeValue)
    if op == "is mapping":
        value = vm.force(value)
        return isinstance(value, DictObj) and not value.keys_only
    value = vm.force(value)
    own = own_method(vm, value, f"__{op}__")
    if own is not None:
        return vm.call(own)
    kind = number_kind(value) if isinstance(value, Expr) else None
    if kind == "int":
        number = as_int(value)
        return number if op == "pos" else x.neg(number) if op == "neg" else x.sub(-1, number)
    if kind == "float" and op != "invert":
        return value if op == "pos" else x.rneg(value)
    plain = value if is_known(value) else exemplar(vm, value)
    try:
        return HOST[op](plain)
    except Exception as error:
        raise vm.host_error(error) from None


# --- binary ----------------------------------------------------------------------------------------------


def binary(vm: VM, op: str, a: PyValue, b: PyValue) -> Any:
    a, b = vm.force(a), vm.force(b)
    if is_known(a) and is_known(b):
        return _known(vm, op, a, b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj):
        return _dunder(vm, op, a, b)
    left, right = number_kind(a), number_kind(b)
    if left and right:
        if op in "&|^" and is_truth_value(a) and is_truth_value(b):
            return {"&": x.and_(a, b), "|": x.or_(a, b), "^": x.not_(x.eq(a, b))}[op]
        if left == right == "int":
            return _integers(vm, op, as_int(a), as_int(b))
        return _reals(vm, op, a, b)
    if op == "%" and is_string(a):
        return strings.percent(vm, a, b)
    if op == "+" and is_string(a) and is_string(b):
        return x.concat(a, b)
    if op in ("+", "*"):
        joined = sequences.combine(vm, op, a, b)
        if joined is not NotImplemented:
            return joined
    if isinstance(a, DictObj | DictView) and isinstance(b, DictObj | DictView) and op in ("|", "&", "-", "^"):
        merged = mappings.combine(vm, op, a, b)
        if merged is not NotImplemented:
            return merged
    return _refused(vm, op, a, b)


def _known(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    if op == "**" and isinstance(b, int) and isinstance(a, int) and abs(a) > 1 and b > 10_000:
        raise CannotFollow("a very large power")
    if op in ("*", "<<") and isinstance(a, int | str) and isinstance(b, int) and b > 10_000_000:
        raise CannotFollow("a very large value")
    try:
        found = HOST[op](a, b)
    except Exception as error:
        raise vm.host_error(error) from None
    return vm.lift(found)


def _refused(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    """Python raises TypeError for these types; in its own words."""
    left, right = exemplar(vm, a), exemplar(vm, b)
    try:
        HOST[op](left, right)
    except Exception as error:
        raise vm.host_error(error) from None
    if isinstance(a, Expr) != isinstance(b, Expr) and not isinstance(a, Obj) and not isinstance(b, Obj):
        return _picked(vm, op, a, b)  # a Decimal and an unknown int, say
    raise CannotFollow(f"'{op}' on {type(left).__name__} and {type(right).__name__} with unknown contents")


def _dunder(vm: VM, op: str, a: Any, b: Any) -> PyValue:
    name = _BINARY[op]
    tries = [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
    if isinstance(a, InstanceObj) and isinstance(b, InstanceObj) and a.cls is not b.cls and issubclass(b.cls, a.cls):
        tries.reverse()
    for owner, method, other in tries:
        if isinstance(owner, InstanceObj) and classes.special(vm, owner, method) is not None:
            if method.startswith("__r") and owner is b and isinstance(a, InstanceObj) and a.cls is b.cls:
                continue
            if owner.payload is not None and not is_python(classes.special(vm, owner, method)):
                continue
            answer = vm.call(vm.attribute(owner, method), other)
            if answer is not NotImplemented:
                return answer
    inner = [v.payload if isinstance(v, InstanceObj) and v.payload is not None else v for v in (a, b)]
    if op == "%" and is_string(inner[0]) and not isinstance(inner[1], tuple):
        return strings.percent(vm, inner[0], b)  # which asks the object for its text
    if inner[0] is not a or inner[1] is not b:
        result = binary(vm, op, *inner)
        source = a if isinstance(a, InstanceObj) else b
        if issubclass(source.cls, collections.deque) and isinstance(result, ListObj):
            return vm.call(collections.deque, result, source.fields.get("maxlen"))
        return result
    return _refused(vm, op, a, b)


def _in_place(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    a = vm.force(a)
    if isinstance(a, ListObj) and op == "+":
        list_methods.extend(vm, a, b)
        return a
    if isinstance(a, ListObj) and op == "*":
        list_methods.replace(vm, a, open_lists.items(vm, binary(vm, "*", a, b)))
        return a
    if isinstance(a, DictObj) and op in ("|", "&", "-", "^") and not a.frozen:
        mappings.update_in_place(vm, op, a, vm.force(b))
        return a
    own = own_method(vm, a, f"__i{_BINARY[op]}__")
    if own is not None:
        answer = vm.call(own, b)
        if answer is not NotImplemented:
            return answer
    try:
        return binary(vm, op, a, b)
    except Raised as raised:
        said = raised.value.fields.get("args", ())
        plain, named = f"unsupported operand type(s) for {op}:", f"unsupported operand type(s) for {op}=:"
        if said and isinstance(said[0], str) and said[0].startswith(plain) and raised.value.cls is TypeError:
            raised.value.fields["args"] = (said[0].replace(plain, named), *said[1:])
            raised.value.payload = None
        raise


def zero_check(vm: VM, op: str, divisor: Value, real: bool) -> None:
    zero: Value = Fraction(0) if isinstance(divisor, Fraction | Expr) and sort_of(divisor) is x.REAL else 0
    if vm.decide(x.eq(divisor, zero)):
        one: PyValue = 1.5 if real else 1
        none: PyValue = 0.0 if real else 0
        raise vm.mimic(lambda: HOST[op](one, none))


def _integers(vm: VM, op: str, a: Integer, b: Integer) -> PyValue:
    if op == "+":
        return x.add(a, b)
    if op == "-":
        return x.sub(a, b)
    if op == "*":
        return x.mul(a, b)
    if op in ("//", "%"):
        zero_check(vm, op, b, False)
        return x.floordiv(a, b) if op == "//" else x.mod(a, b)
    if op == "/":
        zero_check(vm, op, b, False)
        return x.rdiv(x.to_real(a), x.to_real(b))
    if op == "**":
        return _power(vm, a, b)
    if op in ("<<", ">>"):
        if vm.decide(x.lt(b, 0)):
            raise vm.mimic(lambda: HOST[op](1, -1))
        if not isinstance(b, Expr) and b < 256:
            return x.mul(a, 2**b) if op == "<<" else x.floordiv(a, 2**b)
        _small_or_not(vm, b)
        found = _for_each(vm, b, lambda n: _integers(vm, op, a, n), 255)
        return _picked(vm, op, a, b) if found is None else found
    if op in ("&", "|", "^"):
        for value, mask in ((a, b), (b, a)):
            if not isinstance(mask, Expr) and len(_runs(mask)) <= MOST_RUNS:
                common = _masked(value, mask)
                return common if op == "&" else x.sub(x.add(value, mask), common if op == "|" else x.mul(common, 2))
        width = max(_width(vm, a), _width(vm, b))
        if width <= MOST_BITS:
            common = _common(a, b, int(width))
            return common if op == "&" else x.sub(x.add(a, b), common if op == "|" else x.mul(common, 2))
    return _picked(vm, op, a, b)


def _width(vm: VM, value: Integer) -> float:
    """Bits of a number as far as the path bounds it, the sign included."""
    low, high = interval(vm.path.conditions, value) if isinstance(value, Expr) else (value, value)
    return inf if low == -inf or high == inf else max(int(low).bit_length(), int(high).bit_length()) + 1


def _common(a: Integer, b: Integer, width: int) -> Integer:
    """a & b, bit by bit; the highest one is the sign."""
    total: Integer = 0
    for place in range(width):
        bits = (x.mod(x.floordiv(one, 2**place), 2) for one in (a, b))
        both = x.and_(*(x.eq(bit, 1) for bit in bits))
        total = x.add(total, x.ite(both, -(2**place) if place == width - 1 else 2**place, 0))
    return total


def _for_each(vm: VM, value: Integer, made: Callable[[int], Any], most: int) -> Any:
    """What `made` gives for each number that the value can be, if these are few and none is negative."""
    low, high = interval(vm.path.conditions, value) if isinstance(value, Expr) else (0, inf)
    if low < 0 or high > most or high - low >= MOST_VALUES:
        return None
    result = made(int(high))
    for n in range(int(high) - 1, int(low) - 1, -1):
        result = x.ite(x.eq(value, n), made(n), result)
    return result


def _small_or_not(vm: VM, value: Integer) -> None:
    """Two paths for an exponent that nothing bounds: on one it is small enough to be followed."""
    if vm.decide(x.ge(value, 0)):
        vm.decide(x.lt(value, MOST_VALUES))


def _masked(value: Integer, mask: int) -> Integer:
    """value & mask, bits as Python has them: those of a negative number never end."""
    if mask < 0:
        return x.sub(value, _masked(value, ~mask))
    total: Integer = 0
    for low, width in _runs(mask):
        bits = x.mod(x.floordiv(value, 2**low), 2**width)
        total = x.add(total, x.mul(bits, 2**low))
    return total


def _runs(mask: int) -> list[tuple[int, int]]:
    """Where the ones of a mask begin, and how many follow each other."""
    found: list[tuple[int, int]] = []
    mask, low = mask if mask >= 0 else ~mask, 0
    while mask:
        zeros = (mask & -mask).bit_length() - 1
        mask, low = mask >> zeros, low + zeros
        ones = (~mask & (mask + 1)).bit_length() - 1
        found.append((low, ones))
        mask, low = mask >> ones, low + ones
    return found


def _power(vm: VM, a: Integer, b: Integer) -> PyValue:
    if not isinstance(b, Expr):
        if 0 <= b <= MOST_POWER:
            return x.power(a, b)
        if -MOST_POWER <= b < 0:
            zero_check(vm, "**", a, False)
            return x.rdiv(Fraction(1), x.to_real(x.power(a, -b)))
        return _picked(vm, "**", a, b)
    if not isinstance(a, Expr):
        _small_or_not(vm, b)
    found = _for_each(vm, b, lambda n: x.power(a, n), MOST_POWER if isinstance(a, Expr) else MOST_VALUES)
    return _picked(vm, "**", a, b) if found is None else found


def _picked(vm: VM, op: str, *args: PyValue) -> PyValue:
    """No expression for this operator: pick values and compute."""
    args = tuple(vm.heap.decided(a) for a in args)
    unknown = [a for a in args if isinstance(a, Expr)]
    if not unknown:
        return _known(vm, op, args[0], args[1])
    values = iter(vm.path.pick(unknown, f"'{op}' on unknown values"))
    known = [next(values) if isinstance(a, Expr) else a for a in args]
    known = [float(v) if isinstance(v, Fraction) else v for v in known]
    return _known(vm, op, known[0], known[1])


def _reals(vm: VM, op: str, a: Any, b: Any) -> PyValue:
    left, right = as_real(a), as_real(b)
    if op == "+":
        return x.radd(left, right)
    if op == "-":
        return x.rsub(left, right)
    if op == "*":
        return x.rmul(left, right)
    if op in ("/", "//", "%"):
        zero_check(vm, op, right, True)
        quotient = x.rdiv(left, right)
        if op == "/":
            return quotient
        whole = x.to_real(x.floor(quotient))
        return whole if op == "//" else x.rsub(left, x.rmul(right, whole))
    if op == "**" and not isinstance(b, Expr) and float(b).is_integer() and 0 <= b <= MOST_POWER:
        result: Real = Fraction(1)
        for _ in range(int(b)):
            result = x.rmul(result, left)
        return result
    if op == "**":
        return _picked(vm, op, left, right)
    return _refused(vm, op, a, b)


# --- comparison ------------------------------------------------------------------------------------------


def compare(vm: VM, op: str, a: PyValue, b: PyValue) -> Any:
    """<, <=, >, >="""
    a, b = vm.force(a), vm.force(b)
    if is_known(a) and is_known(b):
        return _known(vm, op, a, b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj):
        return _compare_instances(vm, op, a, b)
    left, right = number_kind(a), number_kind(b)
    function = {"<": x.lt, "<=": x.le, ">": x.gt, ">=": x.ge}[op]
    if left and right:
        if left == right == "int":
            return function(as_int(a), as_int(b))
        if any(isinstance(v, float) and v in (float("inf"), float("-inf")) for v in (a, b)):
            low, high = (v if isinstance(v, float) else 0.0 for v in (a, b))
            return HOST[op](low, high)
        return function(as_real(a), as_real(b))
    if is_string(a) and is_string(b):
        return function(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _lexicographic(vm, op, list(a), list(b))
    if isinstance(a, ListObj) and isinstance(b, ListObj):
        return _lexicographic(vm, op, open_lists.items(vm, a), open_lists.items(vm, b))
    if isinstance(a, DictObj | DictView) and isinstance(b, DictObj | DictView):
        answer = mappings.compare_sets(vm, op, a, b)
        if answer is not NotImplemented:
            return answer
    return _refused(vm, op, a, b)


def _lexicographic(vm: VM, op: str, a: list[PyValue], b: list[PyValue]) -> PyValue:
    for left, right in zip(a, b, strict=False):
        if not vm.decide(equal(vm, left, right)):
            return compare(vm, op, left, right)
    return HOST[op](len(a), len(b))


def _compare_instances(vm: VM, op: str, a: PyValue, b: PyValue) -> PyValue:
    mine, mirror = f"__{_COMPARE[op]}__", f"__{_COMPARE[_MIRROR[op]]}__"
    tries = [(a, mine, b), (b, mirror, a)]
    if right_first(vm, a, b, mine, mirror):
        tries.reverse()
    for owner, method, other in tries:
        if isinstance(owner, InstanceObj) and _defines(owner.cls, method):
            answer = vm.call(vm.attribute(owner, method), other)
            if answer is not NotImplemented:
                return answer
    inner = [v.payload if isinstance(v, InstanceObj) and v.payload is not None else v for v in (a, b)]
    if inner[0] is not a or inner[1] is not b:
        return compare(vm, op, *inner)
    return _refused(vm, op, a, b)


def _defines(cls: type, method: str) -> bool:
    """The class itself decides, not object's and not a built-in base's."""
    for base in cls.__mro__:
        if method in vars(base):
            return base.__module__ != "builtins"
    return False


# --- the rest --------------------------------------------------------------------------------------------


def _matches(vm: VM, error: Any, kind: Any) -> bool:
    """Whether an except clause catches."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    for one in kinds:
        if isinstance(one, tuple):
            if _matches(vm, error, one):
                return True
        elif not (isinstance(one, type) and issubclass(one, BaseException)):
            message = "catching classes that do not inherit from BaseException is not allowed"
            raise vm.error(TypeError, message)
        elif issubclass(error.cls, one):
            return True
    return False


def _append(vm: VM, target: Any, value: Any) -> None:
    target.items.append(value)


def _add(vm: VM, target: Any, value: Any) -> None:
    mappings.store(vm, target, value, None)


def _match_argument(vm: VM, subject: Any, cls: Any, position: int) -> PyValue:
    if cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        return subject
    names = getattr(cls, "__match_args__", ())
    if position >= len(names):
        message = f"{cls.__name__}() accepts {len(names)} positional sub-pattern{'s' * (len(names) != 1)}"
        raise vm.error(TypeError, f"{message} ({position + 1} given)")
    return vm.attribute(subject, names[position])


_SPECIAL: dict[str, Callable[..., Any]] = {
    "==": equal,
    "!=": lambda vm, a, b: _not_equal(vm, a, b),
    "is": identical,
    "is not": lambda vm, a, b: x.not_(identical(vm, a, b)),
    "in": contains,
    "not in": lambda vm, a, b: x.not_(contains(vm, a, b)),
    "matches": _matches,
    "append": _append,
    "add": _add,
    "match argument": _match_argument,
}


def _not_equal(vm: VM, a: PyValue, b: PyValue) -> Truth:
    forced = vm.force(a) if not (b is None or isinstance(b, UnknownRef)) else a
    own = own_method(vm, forced, "__ne__", in_python=True)
    if own is not None:
        return truth(vm, vm.call(own, b))
    return x.not_(equal(vm, a, b))
