"""Operators on known and unknown values: Python's own rules, its error messages included.

Known values are handed to Python itself. Unknown numbers become expressions; a division first asks whether
the divisor can be zero. What has no expression (bit patterns, large powers) picks values: the path is
sampled.
"""

from __future__ import annotations

import collections
import inspect
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treadle.frontends.python.values import Generator, Iterator_, Range, View
from treadle.symbolic import expr as x
from treadle.symbolic import types as t
from treadle.symbolic.expr import Expr, Value
from treadle.symbolic.heap import DictObj, FunctionObj, InstanceObj, ListObj, Obj, Ref
from treadle.symbolic.machine import Raised
from treadle.symbolic.path import Unsupported

if TYPE_CHECKING:
    from treadle.frontends.python.vm import VM

HOST: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "@": operator.matmul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "neg": operator.neg,
    "pos": operator.pos,
    "invert": operator.invert,
}
_DUNDER = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "<<": "lshift",
    ">>": "rshift",
    "&": "and",
    "|": "or",
    "^": "xor",
    "@": "matmul",
}
_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
_MIRROR = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
# x ** n is multiplied out up to here; beyond, values are picked
MOST_POWER = 6


def apply(vm: VM, op: str, args: list[Any]) -> Any:
    """The value of an operator step."""
    if op == "with":
        return _check_manager(vm, args[0])
    if len(args) == 1:
        return _unary(vm, op, args[0])
    special = _SPECIAL.get(op)
    if special is not None:
        return special(vm, *args)
    if op in _COMPARE:
        return compare(vm, op, args[0], args[1])
    if op.endswith("="):
        return _in_place(vm, op[:-1], args[0], args[1])
    return binary(vm, op, args[0], args[1])


def _check_manager(vm: VM, value: Any) -> None:
    """with value: raises when the value is no context manager."""
    value = vm.force(value)
    if value is None or isinstance(value, Expr | ListObj | DictObj | tuple) or number_kind(value) or is_string(value):
        shown = exemplar(vm, value)

        def fail() -> None:
            with shown:
                pass

        raise vm.mimic(fail)


# --- kinds -----------------------------------------------------------------------------------------------


def is_known(value: Any) -> bool:
    """A plain Python value that Python's own operators can take."""
    if isinstance(value, tuple):
        return all(is_known(v) for v in value)
    return not isinstance(value, Expr | Obj | Ref | Iterator_ | Generator | Range | View) and (
        type(value).__module__ != "treadle.frontends.python.values"
    )


def number_kind(value: Any) -> str | None:
    """'int', 'float' or None; truth values count as integers."""
    if isinstance(value, Expr):
        return {x.INT: "int", x.BOOL: "int", x.REAL: "float"}.get(value.sort)
    if type(value) in (int, bool):
        return "int"
    return "float" if type(value) is float else None


def as_int(value: Any) -> Value:
    if isinstance(value, Expr) and value.sort is x.BOOL:
        return x.bool_to_int(value)
    return int(value) if isinstance(value, bool) else value


def as_real(value: Any) -> Value:
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise Unsupported("arithmetic of an unknown number with inf or nan")
        return Fraction(value)
    if isinstance(value, Expr) and value.sort is x.REAL:
        return value
    return x.to_real(as_int(value))


def is_string(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, Expr) and value.sort is x.STR)


def exemplar(vm: VM, value: Any) -> Any:
    """A plain value of the same type: Python's error messages name the type only."""
    value = vm.force(value)
    if isinstance(value, Expr):
        return {x.INT: 1, x.BOOL: True, x.REAL: 1.5, x.STR: "a"}[value.sort]
    if isinstance(value, ListObj):
        return []
    if isinstance(value, DictObj):
        return (frozenset() if value.frozen else set()) if value.keys_only else {}
    if isinstance(value, InstanceObj):
        bare = type(value.cls.__name__, (), {})
        bare.__module__, bare.__qualname__ = value.cls.__module__, value.cls.__qualname__
        return bare()
    if isinstance(value, FunctionObj):
        raise Unsupported("a function that is an input, used as something else")
    if isinstance(value, tuple):
        return tuple(exemplar(vm, v) for v in value)
    if isinstance(value, Range):
        return range(1)
    if isinstance(value, Generator):
        return iter([]) and (i for i in [0])
    if isinstance(value, Iterator_):
        return iter([])
    if isinstance(value, View):
        return getattr({}, value.kind)()
    if type(value).__module__ == "treadle.frontends.python.values":
        return exemplar
    return value


# --- truth -----------------------------------------------------------------------------------------------


def truth(vm: VM, value: Any) -> Value:
    """bool(value), as an expression when it is not known."""
    if isinstance(value, Ref) and not value.resolved and value.options:
        plain = all(o is t.NONE or (isinstance(o, t.Instance) and not _has_truth(o.cls)) for o in value.options)
        if plain:
            return not vm.is_none(value)
    value = vm.force(value)
    if isinstance(value, Expr):
        if value.sort is x.BOOL:
            return value
        if value.sort is x.STR:
            return x.gt(x.length(value), 0)
        return x.ne(value, Fraction(0) if value.sort is x.REAL else 0)
    if isinstance(value, ListObj | DictObj):
        return x.gt(value.size(), 0)
    if isinstance(value, InstanceObj):
        return _instance_truth(vm, value)
    if isinstance(value, Range):
        more = x.lt if value.step > 0 else x.gt
        return more(value.start, value.stop)
    if isinstance(value, View):
        return x.gt(value.source.size(), 0)
    if isinstance(value, tuple):
        return len(value) > 0
    try:
        return bool(value)
    except Exception as error:
        raise vm.host_error(error) from None


def _has_truth(cls: type) -> bool:
    from treadle.frontends.python.heirs import known_subclasses

    return any(hasattr(c, "__bool__") or hasattr(c, "__len__") for c in known_subclasses(cls))


def _instance_truth(vm: VM, value: InstanceObj) -> Value:
    from treadle.frontends.python import attributes

    holds = isinstance(value.payload, ListObj | DictObj | tuple | Expr | str | int | float)
    if holds and attributes.lookup(value.cls, "__bool__") is None:
        return truth(vm, value.payload)
    for name in ("__bool__", "__len__"):
        if attributes.lookup(value.cls, name) is not None:
            answer = vm.call(attributes.get(vm, value, name))
            return truth(vm, answer)
    return True


# --- equality and identity -------------------------------------------------------------------------------


def equal(vm: VM, a: Any, b: Any) -> Value:
    """a == b, as an expression when it is not known."""
    if a is b and not isinstance(a, float):
        a = vm.force(a)
        if not isinstance(a, InstanceObj) or _own_equality(a.cls) is None:
            return True
    if a is None and isinstance(b, Ref):
        return vm.is_none(b)
    if b is None and isinstance(a, Ref):
        return vm.is_none(a)
    if _by_identity(a) and _by_identity(b):
        answer = vm.heap.same(a, b)
        if answer is not NotImplemented:
            return answer
    a, b = vm.force(a), vm.force(b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj):
        return _instances_equal(vm, a, b)
    if isinstance(a, Obj) and a is b:
        return True
    left, right = number_kind(a), number_kind(b)
    if left and right:
        if not isinstance(a, Expr) and not isinstance(b, Expr):
            return bool(a == b)
        if left == right == "int":
            if isinstance(a, Expr) and isinstance(b, Expr) and a.sort is b.sort is x.BOOL:
                return x.eq(a, b)
            return x.eq(as_int(a), as_int(b))
        return x.eq(as_real(a), as_real(b))
    if is_string(a) and is_string(b):
        return x.eq(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        if len(a) != len(b):
            return False
        return _all_equal(vm, a, b)
    if isinstance(a, ListObj) and isinstance(b, ListObj):
        return _lists_equal(vm, a, b)
    if isinstance(a, DictObj) and isinstance(b, DictObj):
        return _dicts_equal(vm, a, b)
    if isinstance(a, Range) and isinstance(b, Range):
        raise Unsupported("comparing ranges of unknown size")
    if is_known(a) and is_known(b):
        try:
            return bool(a == b)
        except Exception as error:
            raise vm.host_error(error) from None
    return False


def _all_equal(vm: VM, left: Any, right: Any) -> Value:
    parts: list[Value] = []
    for number, (a, b) in enumerate(zip(left, right, strict=True), 1):
        part = equal(vm, a, b)
        if number < len(left):
            part = _identity_decided(vm, part)
        if part is False:
            return False
        parts.append(part)
    return x.and_(*parts)


def _identity_decided(vm: VM, part: Value) -> Value:
    """Python stops at the first answer, so what comes after is looked at only if identity leaves it open."""
    asks = isinstance(part, Expr) and any(v.sort is x.REF for v in part.vars)
    return vm.decide(part) if asks else part


def _lists_equal(vm: VM, a: ListObj, b: ListObj) -> Value:
    from treadle.frontends.python import sequences

    if not vm.decide(x.eq(a.size(), b.size())):
        return False
    known = b if b.items is not None else a
    if known.items is None:
        sequences.close(vm, known)
    count = len(known.items or ())
    return _all_equal(
        vm,
        [sequences.read(vm, a, i) for i in range(count)],
        [sequences.read(vm, b, i) for i in range(count)],
    )


def _dicts_equal(vm: VM, a: DictObj, b: DictObj) -> Value:
    from treadle.frontends.python import mappings

    if a.keys_only != b.keys_only or not vm.decide(x.eq(a.size(), b.size())):
        return False
    known, other = (b, a) if not b.open else (a, b)
    parts: list[Value] = []
    for key, value in mappings.entries(vm, known):
        found = mappings.find(vm, other, key)
        if found is None:
            return False
        if not a.keys_only:
            parts.append(equal(vm, value, found[1]))
    return x.and_(*parts)


def _own_equality(cls: type) -> Any:
    """The class's __eq__, unless it is object's identity."""
    # icontract wraps even what object has
    found: Any = inspect.unwrap(cls.__eq__)
    return None if found in (object.__eq__, BaseException.__eq__) else found


def _by_identity(value: Any) -> bool:
    """A reference to an object, not looked at yet, whose class leaves == to object."""
    from treadle.frontends.python.heirs import known_subclasses

    if not isinstance(value, Ref) or value.resolved or not value.options:
        return False
    classes = [o.cls if isinstance(o, t.Instance) else None for o in value.options if o is not t.NONE]
    return all(c is not None and all(_own_equality(heir) is None for heir in known_subclasses(c)) for c in classes)


def _instances_equal(vm: VM, a: Any, b: Any) -> Value:
    from treadle.frontends.python import attributes

    for one, other in ((b, a), (a, b)) if _right_first(vm, a, b, "__eq__", "__eq__") else ((a, b), (b, a)):
        if isinstance(one, InstanceObj) and _own_equality(one.cls) is not None:
            attributes.narrow(vm, one, "__eq__")
            if one.payload is not None and _own_equality(one.cls) in _PLAIN_EQUALITY:
                inner = other.payload if isinstance(other, InstanceObj) else other
                return equal(vm, one.payload, inner)
            answer = vm.call(attributes.get(vm, one, "__eq__"), other)
            if answer is not NotImplemented:
                return truth(vm, answer)
    return identical(vm, a, b)


def _right_first(vm: VM, a: Any, b: Any, method: str, mirror: str) -> bool:
    """Python asks the right operand of a comparison first when its class derives from the left one's."""
    from treadle.frontends.python import attributes

    if not isinstance(a, InstanceObj) or not isinstance(b, InstanceObj):
        return False
    if not any(c is not d and issubclass(c, d) for c in b.classes for d in a.classes):
        return False
    classes = {*a.classes, *b.classes}
    if any(len({attributes.lookup(c, name) for c in classes}) > 1 for name in (method, mirror)):
        for obj in (a, b):
            if len(obj.classes) > 1:
                vm.heap.split(obj, [(c,) for c in obj.classes])
    alone = len(a.classes) == len(b.classes) == 1
    return alone and a.cls is not b.cls and issubclass(b.cls, a.cls)


_PLAIN_EQUALITY = (tuple.__eq__, list.__eq__, dict.__eq__, set.__eq__, int.__eq__, str.__eq__, float.__eq__)


def identical(vm: VM, a: Any, b: Any) -> Value:
    """a is b"""
    if a is b:
        return True
    if b is None:
        return vm.is_none(a)
    if a is None:
        return vm.is_none(b)
    answer = vm.heap.same(a, b)
    if answer is not NotImplemented:
        return answer
    a, b = vm.force(a), vm.force(b)
    if isinstance(a, Obj) or isinstance(b, Obj):
        answer = vm.heap.same(a, b)
        return answer if answer is not NotImplemented else a is b
    if isinstance(a, Expr) or isinstance(b, Expr):
        same_kind = type(a) is type(b) or _sort(a) is _sort(b)
        return equal(vm, a, b) if same_kind else False
    if isinstance(a, int | str) and type(a) is type(b):
        return bool(a == b)
    return a is b


def _sort(value: Any) -> Any:
    try:
        return x.sort_of(value)
    except TypeError:
        return None


def contains(vm: VM, item: Any, container: Any) -> Value:
    """item in container"""
    from treadle.frontends.python import attributes, mappings, sequences
    from treadle.frontends.python.iteration import iterate

    container = vm.force(container)
    if is_string(container):
        item = vm.force(item)
        if not is_string(item):
            shown = exemplar(vm, item)
            raise vm.mimic(lambda: shown in "a")
        return x.contains(container, item)
    if isinstance(container, DictObj):
        mappings.check_key(vm, item)
        return mappings.find(vm, container, item) is not None
    if isinstance(container, View):
        if container.kind == "keys":
            return mappings.find(vm, container.source, item) is not None
        return _member(vm, item, mappings.view_items(vm, container))
    if isinstance(container, Range):
        return _in_range(vm, vm.force(item), container)
    if isinstance(container, InstanceObj):
        if attributes.lookup(container.cls, "__contains__") is not None and not (
            isinstance(container.payload, tuple | ListObj | DictObj)
        ):
            return truth(vm, vm.call(attributes.get(vm, container, "__contains__"), item))
        if isinstance(container.payload, tuple | ListObj | DictObj):
            return contains(vm, item, container.payload)
    if isinstance(container, tuple):
        return _member(vm, item, list(container))
    if isinstance(container, ListObj):
        return _member(vm, item, sequences.items(vm, container))
    if is_known(container) and hasattr(type(container), "__contains__"):
        item = vm.force(item)
        if is_known(item):
            try:
                return item in container
            except Exception as error:
                raise vm.host_error(error) from None
        if isinstance(container, bytes):
            raise Unsupported("an unknown value in bytes")
    if container is None or isinstance(container, Expr | int | float):
        shown, sought = exemplar(vm, container), exemplar(vm, item)
        raise vm.mimic(lambda: sought in shown)
    return _member(vm, item, vm.spread(iterate(vm, container)))


def _member(vm: VM, item: Any, values: list[Any]) -> Value:
    parts: list[Value] = []
    for number, value in enumerate(values, 1):
        part = equal(vm, value, item)
        if number < len(values):
            part = _identity_decided(vm, part)
        if part is True:
            return True
        parts.append(part)
    return x.or_(*parts)


def _in_range(vm: VM, item: Any, value: Range) -> Value:
    if number_kind(item) != "int":
        return False
    item = as_int(item)
    low, high = (value.start, value.stop) if value.step > 0 else (x.add(value.stop, 1), x.add(value.start, 1))
    inside = x.and_(x.ge(item, low), x.lt(item, high))
    if abs(value.step) != 1:
        inside = x.and_(inside, x.eq(x.mod(x.sub(item, value.start), abs(value.step)), 0))
    return inside


# --- unary -----------------------------------------------------------------------------------------------


def _unary(vm: VM, op: str, value: Any) -> Any:
    from treadle.frontends.python import attributes
    from treadle.frontends.python.iteration import returned

    if op == "truth":
        return truth(vm, value)
    if op == "not":
        return x.not_(truth(vm, value))
    if op == "returned":
        return returned(value)
    if op == "is sequence":
        return isinstance(vm.force(value), ListObj | tuple | Range)
    if op == "is mapping":
        value = vm.force(value)
        return isinstance(value, DictObj) and not value.keys_only
    value = vm.force(value)
    if isinstance(value, InstanceObj) and attributes.lookup(value.cls, f"__{op}__") is not None:
        return vm.call(attributes.get(vm, value, f"__{op}__"))
    kind = number_kind(value) if isinstance(value, Expr) else None
    if kind == "int":
        number = as_int(value)
        return number if op == "pos" else x.neg(number) if op == "neg" else x.sub(-1, number)
    if kind == "float" and op != "invert":
        return value if op == "pos" else x.rneg(value)
    shown = exemplar(vm, value)
    try:
        return HOST[op](shown if not is_known(value) else value)
    except Exception as error:
        raise vm.host_error(error) from None


# --- binary ----------------------------------------------------------------------------------------------


def binary(vm: VM, op: str, a: Any, b: Any) -> Any:
    from treadle.frontends.python import mappings, sequences, strings

    a, b = vm.force(a), vm.force(b)
    if is_known(a) and is_known(b):
        return _known(vm, op, a, b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj):
        return _dunder(vm, op, a, b)
    left, right = number_kind(a), number_kind(b)
    if left and right:
        both_bools = op in "&|^" and all(
            isinstance(v, bool) or (isinstance(v, Expr) and v.sort is x.BOOL) for v in (a, b)
        )
        if both_bools:
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
    if isinstance(a, DictObj | View) and isinstance(b, DictObj | View) and op in ("|", "&", "-", "^"):
        merged = mappings.combine(vm, op, a, b)
        if merged is not NotImplemented:
            return merged
    return _refused(vm, op, a, b)


def _known(vm: VM, op: str, a: Any, b: Any) -> Any:
    if op == "**" and isinstance(b, int) and isinstance(a, int) and abs(a) > 1 and b > 10_000:
        raise Unsupported("a very large power")
    if op in ("*", "<<") and isinstance(a, int | str) and isinstance(b, int) and b > 10_000_000:
        raise Unsupported("a very large value")
    try:
        return vm.lift(HOST[op](a, b))
    except Exception as error:
        raise vm.host_error(error) from None


def _refused(vm: VM, op: str, a: Any, b: Any) -> Any:
    """Python raises TypeError for these types; in its own words."""
    left, right = exemplar(vm, a), exemplar(vm, b)
    try:
        HOST[op](left, right)
    except Exception as error:
        raise vm.host_error(error) from None
    raise Unsupported(f"'{op}' on {type(left).__name__} and {type(right).__name__} with unknown contents")


def _dunder(vm: VM, op: str, a: Any, b: Any) -> Any:
    from treadle.frontends.python import attributes

    name = _DUNDER[op]
    tries = [(a, f"__{name}__", b), (b, f"__r{name}__", a)]
    if isinstance(a, InstanceObj) and isinstance(b, InstanceObj) and a.cls is not b.cls and issubclass(b.cls, a.cls):
        tries.reverse()
    for owner, method, other in tries:
        if isinstance(owner, InstanceObj) and attributes.lookup(owner.cls, method) is not None:
            if method.startswith("__r") and owner is b and isinstance(a, InstanceObj) and a.cls is b.cls:
                continue
            if owner.payload is not None and not _is_python(attributes.lookup(owner.cls, method)):
                continue
            answer = vm.call(attributes.get(vm, owner, method), other)
            if answer is not NotImplemented:
                return answer
    inner = [v.payload if isinstance(v, InstanceObj) and v.payload is not None else v for v in (a, b)]
    if inner[0] is not a or inner[1] is not b:
        result = binary(vm, op, *inner)
        source = a if isinstance(a, InstanceObj) else b
        if issubclass(source.cls, collections.deque) and isinstance(result, ListObj):
            from treadle.frontends.python import builtin_functions

            return builtin_functions._deque(vm, result, source.fields.get("maxlen"))
        return result
    return _refused(vm, op, a, b)


def _is_python(function: Any) -> bool:
    return hasattr(function, "__code__")


def _in_place(vm: VM, op: str, a: Any, b: Any) -> Any:
    from treadle.frontends.python import attributes, mappings, sequences

    a = vm.force(a)
    if isinstance(a, ListObj) and op == "+":
        sequences.extend(vm, a, b)
        return a
    if isinstance(a, ListObj) and op == "*":
        sequences.replace(vm, a, binary(vm, "*", a, b))
        return a
    if isinstance(a, DictObj) and op in ("|", "&", "-", "^") and not a.frozen:
        mappings.update_in_place(vm, op, a, vm.force(b))
        return a
    if isinstance(a, InstanceObj):
        method = f"__i{_DUNDER[op]}__"
        if attributes.lookup(a.cls, method) is not None:
            answer = vm.call(attributes.get(vm, a, method), b)
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
    zero: Value = Fraction(0) if isinstance(divisor, Fraction | Expr) and _sort(divisor) is x.REAL else 0
    if vm.decide(x.eq(divisor, zero)):
        one: Any = 1.5 if real else 1
        none: Any = 0.0 if real else 0
        raise vm.mimic(lambda: HOST[op](one, none))


def _integers(vm: VM, op: str, a: Value, b: Value) -> Any:
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
    if op == "&":
        for value, mask in ((a, b), (b, a)):
            if not isinstance(mask, Expr) and mask >= 0 and (mask & (mask + 1)) == 0:
                return x.mod(value, mask + 1)
    return _picked(vm, op, a, b)


def _power(vm: VM, a: Value, b: Value) -> Any:
    if not isinstance(b, Expr):
        if 0 <= b <= MOST_POWER:
            return x.power(a, b)
        if -MOST_POWER <= b < 0:
            zero_check(vm, "**", a, False)
            return x.rdiv(Fraction(1), x.to_real(x.power(a, -b)))
    return _picked(vm, "**", a, b)


def _picked(vm: VM, op: str, *args: Value) -> Any:
    """No expression for this operator: pick values and compute."""
    unknown = [a for a in args if isinstance(a, Expr)]
    values = iter(vm.path.pick(unknown, f"'{op}' on unknown values"))
    known = [next(values) if isinstance(a, Expr) else a for a in args]
    known = [float(v) if isinstance(v, Fraction) else v for v in known]
    return _known(vm, op, known[0], known[1])


def _reals(vm: VM, op: str, a: Any, b: Any) -> Any:
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
        result: Value = Fraction(1)
        for _ in range(int(b)):
            result = x.rmul(result, left)
        return result
    if op in ("**",):
        return _picked(vm, op, left, right)
    return _refused(vm, op, a, b)


# --- comparison ------------------------------------------------------------------------------------------


def compare(vm: VM, op: str, a: Any, b: Any) -> Any:
    """<, <=, >, >="""
    from treadle.frontends.python import mappings, sequences

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
        return _lexicographic(vm, op, sequences.items(vm, a), sequences.items(vm, b))
    if isinstance(a, DictObj | View) and isinstance(b, DictObj | View):
        answer = mappings.compare_sets(vm, op, a, b)
        if answer is not NotImplemented:
            return answer
    return _refused(vm, op, a, b)


def _lexicographic(vm: VM, op: str, a: list[Any], b: list[Any]) -> Any:
    for left, right in zip(a, b, strict=False):
        if not vm.decide(equal(vm, left, right)):
            return compare(vm, op, left, right)
    return HOST[op](len(a), len(b))


def _compare_instances(vm: VM, op: str, a: Any, b: Any) -> Any:
    from treadle.frontends.python import attributes

    mine, mirror = f"__{_COMPARE[op]}__", f"__{_COMPARE[_MIRROR[op]]}__"
    tries = [(a, mine, b), (b, mirror, a)]
    if _right_first(vm, a, b, mine, mirror):
        tries.reverse()
    for owner, method, other in tries:
        if isinstance(owner, InstanceObj) and _defines(owner.cls, method):
            answer = vm.call(attributes.get(vm, owner, method), other)
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
    from treadle.frontends.python import mappings

    mappings.store(vm, target, value, None)


def _match_argument(vm: VM, subject: Any, cls: Any, position: int) -> Any:
    from treadle.frontends.python import attributes

    if cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple):
        return subject
    names = getattr(cls, "__match_args__", ())
    if position >= len(names):
        message = f"{cls.__name__}() accepts {len(names)} positional sub-pattern{'s' * (len(names) != 1)}"
        raise vm.error(TypeError, f"{message} ({position + 1} given)")
    return attributes.get(vm, subject, names[position])


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


def _not_equal(vm: VM, a: Any, b: Any) -> Value:
    from treadle.frontends.python import attributes

    a_forced = vm.force(a) if not (b is None or isinstance(b, Ref)) else a
    if isinstance(a_forced, InstanceObj) and _is_python(attributes.lookup(a_forced.cls, "__ne__")):
        return truth(vm, vm.call(attributes.get(vm, a_forced, "__ne__"), b))
    return x.not_(equal(vm, a, b))
