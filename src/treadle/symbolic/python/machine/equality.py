"""Truth, equality, identity and membership: Python's own rules on values known and unknown.

An answer is an expression where it is not known. Identity of objects is the heap's to tell; what Python would not look
at any more, because the answer is already clear, is not looked at here either.
"""

from __future__ import annotations

import enum
import inspect
import operator
import types
from fractions import Fraction
from typing import Any

from treadle.symbolic import types as t
from treadle.symbolic.expr import terms as x
from treadle.symbolic.expr.terms import Expr, Truth
from treadle.symbolic.heap.objects import DictObj, InstanceObj, ListObj, Obj, UnknownRef
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine import classes
from treadle.symbolic.python.machine.classes import own_method
from treadle.symbolic.python.machine.vm import VM
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.python.values import mappings, open_lists
from treadle.symbolic.python.values.kinds import (
    as_int,
    as_real,
    exemplar,
    is_int,
    is_known,
    is_string,
    is_truth_value,
    number_kind,
    refusal,
    sort_of,
)
from treadle.symbolic.python.values.values import DictView, PyValue, RangeValue

# --- truth -----------------------------------------------------------------------------------------------


def truth(vm: VM, value: PyValue) -> Truth:
    """bool(value), as an expression when it is not known."""
    if isinstance(value, UnknownRef) and not value.resolved and value.options:
        plain = all(o is t.NONE or (isinstance(o, t.Instance) and not has_truth(o.cls)) for o in value.options)
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
    if isinstance(value, RangeValue):
        more = x.lt if value.step > 0 else x.gt
        return more(value.start, value.stop)
    if isinstance(value, DictView):
        return x.gt(value.source.size(), 0)
    if isinstance(value, tuple):
        return len(value) > 0
    try:
        return bool(value)
    except Exception as error:
        raise vm.host_error(error) from None


def has_truth(cls: type) -> bool:
    return any(hasattr(c, "__bool__") or hasattr(c, "__len__") for c in known_subclasses(cls))


def _instance_truth(vm: VM, value: InstanceObj) -> Truth:
    holds = isinstance(value.payload, ListObj | DictObj | tuple | Expr | str | int | float)
    if holds and classes.special(vm, value, "__bool__") is None:
        return truth(vm, value.payload)
    own = own_method(vm, value, "__bool__")
    if own is not None:
        answer = vm.force(vm.call(own))
        if not is_truth_value(answer):
            name = type(exemplar(vm, answer)).__name__
            raise vm.error(TypeError, f"__bool__ should return bool, returned {name}")
        return truth(vm, answer)
    if own_method(vm, value, "__len__") is not None:
        return truth(vm, vm.call(len, value))
    return True


# --- equality and identity -------------------------------------------------------------------------------


def equal(vm: VM, a: PyValue, b: PyValue) -> Truth:
    """a == b, as an expression when it is not known."""
    if a is b and not isinstance(a, float):
        a = vm.force(a)
        if not isinstance(a, InstanceObj) or _own_equality(a.cls) is None:
            return True
    if a is None and isinstance(b, UnknownRef):
        return vm.is_none(b)
    if b is None and isinstance(a, UnknownRef):
        return vm.is_none(a)
    if _by_identity(a) and _by_identity(b):
        answer = vm.heap.same(a, b)
        if answer is not NotImplemented:
            return answer
    a, b = vm.force(a), vm.force(b)
    if isinstance(a, InstanceObj) or isinstance(b, InstanceObj):
        return _instances_equal(vm, a, b)
    if isinstance(a, ListObj) and isinstance(b, ListObj):
        a, b = vm.heap.settle(a), vm.heap.settle(b)
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
    if isinstance(a, RangeValue) and isinstance(b, RangeValue):
        raise CannotFollow("comparing ranges of unknown size")
    if is_known(a) and is_known(b):
        try:
            return bool(a == b)
        except Exception as error:
            raise vm.host_error(error) from None
    for one, other in ((a, b), (b, a)):
        # a Decimal and an unknown int, say
        if isinstance(one, Expr) and _compares_itself(other):
            [picked] = vm.path.pick([one], "'==' on unknown values")
            return equal(vm, float(picked) if isinstance(picked, Fraction) else picked, other)
    return False


def _compares_itself(value: PyValue) -> bool:
    """Whether a known value of another kind may be equal to a number or a text."""
    if not is_known(value) or isinstance(value, type | enum.Enum):
        return False
    kind = type(value)
    return kind is complex or (kind.__module__ != "builtins" and kind.__eq__ is not object.__eq__)


def same_or_equal(vm: VM, a: PyValue, b: PyValue) -> Truth:
    """a is b or a == b: how containers compare what they hold."""
    if _has_own_equality(vm, a) and _has_own_equality(vm, b) and vm.decide(identical(vm, a, b)):
        return True
    return equal(vm, a, b)


def _has_own_equality(vm: VM, value: PyValue) -> bool:
    """Whether an __eq__ that somebody wrote is asked; that of a dataclass says yes to the object itself."""
    value = vm.force(value)
    if not isinstance(value, InstanceObj):
        return False
    found = [_own_equality(cls) for cls in value.classes]
    return any(isinstance(own, types.FunctionType) and own.__code__.co_filename != "<string>" for own in found)


def _all_equal(vm: VM, left: Any, right: Any) -> Truth:
    parts: list[Truth] = []
    for number, (a, b) in enumerate(zip(left, right, strict=True), 1):
        part = same_or_equal(vm, a, b)
        if number < len(left):
            # Python stops at the first answer: what comes after is looked at only if identity leaves it open
            part = vm.heap.decided(part)
        if part is False:
            return False
        parts.append(part)
    return x.and_(*parts)


def _lists_equal(vm: VM, a: ListObj, b: ListObj) -> Truth:
    if not vm.decide(x.eq(a.size(), b.size())):
        return False
    known = b if b.items is not None else a
    if known.items is None:
        open_lists.close(vm, known)
    count = len(known.items or ())
    return _all_equal(
        vm,
        [open_lists.read(vm, a, i) for i in range(count)],
        [open_lists.read(vm, b, i) for i in range(count)],
    )


def _dicts_equal(vm: VM, a: DictObj, b: DictObj) -> Truth:
    if a.keys_only != b.keys_only or not vm.decide(x.eq(a.size(), b.size())):
        return False
    known, other = (b, a) if not b.open else (a, b)
    if a.ordered and b.ordered:  # in this order
        pairs = zip(mappings.entries(vm, known), mappings.entries(vm, other), strict=True)
        return x.and_(*(same_or_equal(vm, one, two) for one, two in pairs))
    parts: list[Truth] = []
    for key, value in mappings.entries(vm, known):
        found = mappings.find(vm, other, key)
        if found is None:
            return False
        if not a.keys_only:
            parts.append(same_or_equal(vm, value, found[1]))
    return x.and_(*parts)


def _own_equality(cls: type) -> PyValue:
    """The class's __eq__, unless it is object's identity."""
    # icontract wraps even what object has
    found: PyValue = inspect.unwrap(cls.__eq__)
    return None if found in (object.__eq__, BaseException.__eq__) else found


def _by_identity(value: PyValue) -> bool:
    """A reference to an object, not looked at yet, whose class leaves == to object."""
    if not isinstance(value, UnknownRef) or value.resolved or not value.options:
        return False
    classes = [o.cls if isinstance(o, t.Instance) else None for o in value.options if o is not t.NONE]
    return all(c is not None and all(_own_equality(heir) is None for heir in known_subclasses(c)) for c in classes)


def _instances_equal(vm: VM, a: PyValue, b: PyValue) -> Truth:
    for one, other in ((b, a), (a, b)) if right_first(vm, a, b, "__eq__", "__eq__") else ((a, b), (b, a)):
        if isinstance(one, InstanceObj) and _own_equality(one.cls) is not None:
            classes.narrow(vm, one, "__eq__")
            if one.payload is not None and _own_equality(one.cls) in _PLAIN_EQUALITY:
                inner = other.payload if isinstance(other, InstanceObj) else other
                return equal(vm, one.payload, inner)
            answer = vm.call(vm.attribute(one, "__eq__"), other)
            if answer is not NotImplemented:
                return truth(vm, answer)
    return identical(vm, a, b)


def right_first(vm: VM, a: PyValue, b: PyValue, method: str, mirror: str) -> bool:
    """Python asks the right operand of a comparison first when its class derives from the left one's."""
    if not isinstance(a, InstanceObj) or not isinstance(b, InstanceObj):
        return False
    if not any(c is not d and issubclass(c, d) for c in b.classes for d in a.classes):
        return False
    either = {*a.classes, *b.classes}
    if any(len({classes.lookup(c, name) for c in either}) > 1 for name in (method, mirror)):
        for obj in (a, b):
            if len(obj.classes) > 1:
                vm.heap.split(obj, [(c,) for c in obj.classes])
    alone = len(a.classes) == len(b.classes) == 1
    return alone and a.cls is not b.cls and issubclass(b.cls, a.cls)


_PLAIN_EQUALITY = (tuple.__eq__, list.__eq__, dict.__eq__, set.__eq__, int.__eq__, str.__eq__, float.__eq__)


def identical(vm: VM, a: PyValue, b: PyValue) -> Truth:
    """a is b"""
    if a is b:
        return True
    if b is None:
        return vm.is_none(a)
    if a is None:
        return vm.is_none(b)
    answer = vm.heap.same(a, b, looks=False)
    if answer is not NotImplemented:
        return answer
    a, b = vm.force(a), vm.force(b)
    if isinstance(a, Obj) or isinstance(b, Obj):
        answer = vm.heap.same(a, b)
        return answer if answer is not NotImplemented else a is b
    if isinstance(a, Expr) or isinstance(b, Expr):
        same_kind = type(a) is type(b) or sort_of(a) is sort_of(b)
        known = b if isinstance(a, Expr) else a
        if same_kind and not isinstance(known, Expr) and not _is_shared(known):
            if not vm.decide(equal(vm, a, b)):
                return False
            what = "a text" if isinstance(known, str) else "a number"
            raise CannotFollow(f"whether {what} is the very object {known!r}")
        return equal(vm, a, b) if same_kind else False
    if isinstance(a, int | str) and type(a) is type(b):
        return bool(a == b)
    return a is b


def _is_shared(value: PyValue) -> bool:
    """Whether Python has one object for all values that are equal to this number, or all literals of this text."""
    if not isinstance(value, str):
        return isinstance(value, int) and -5 <= value <= 256
    text = value
    return text.isascii() and (len(text) <= 1 or text.replace("_", "a").isalnum())


def contains(vm: VM, item: Any, container: Any) -> Truth:
    """item in container"""
    container = vm.force(container)
    if is_string(container):
        item = vm.force(item)
        if not is_string(item):
            raise refusal(vm, operator.contains, "a", item)
        return x.contains(container, item)
    if isinstance(container, DictObj):
        mappings.check_key(vm, item)
        return mappings.find(vm, container, item) is not None
    if isinstance(container, DictView):
        if container.kind == "keys":
            return mappings.find(vm, container.source, item) is not None
        return _member(vm, item, mappings.view_items(vm, container))
    if isinstance(container, RangeValue):
        return _in_range(vm.force(item), container)
    if isinstance(container, InstanceObj):
        if isinstance(container.payload, tuple | ListObj | DictObj):
            return contains(vm, item, container.payload)
        own = own_method(vm, container, "__contains__")
        if own is not None:
            return truth(vm, vm.call(own, item))
    if isinstance(container, tuple):
        return _member(vm, item, list(container))
    if isinstance(container, ListObj):
        return _member(vm, item, open_lists.items(vm, container))
    if is_known(container) and hasattr(type(container), "__contains__"):
        item = vm.force(item)
        if is_known(item):
            try:
                return item in container
            except Exception as error:
                raise vm.host_error(error) from None
        if isinstance(container, bytes):
            raise CannotFollow("an unknown value in bytes")
    if container is None or isinstance(container, Expr | int | float):
        raise refusal(vm, operator.contains, container, item)
    return _member(vm, item, vm.spread(vm.iterate(container)))


def _member(vm: VM, item: PyValue, values: list[PyValue]) -> Truth:
    parts: list[Truth] = []
    for number, value in enumerate(values, 1):
        part = same_or_equal(vm, value, item)
        if number < len(values):
            part = vm.heap.decided(part)
        if part is True:
            return True
        parts.append(part)
    return x.or_(*parts)


def _in_range(item: PyValue, value: RangeValue) -> Truth:
    if not is_int(item):
        return False
    item = as_int(item)
    low, high = (value.start, value.stop) if value.step > 0 else (x.add(value.stop, 1), x.add(value.start, 1))
    inside = x.and_(x.ge(item, low), x.lt(item, high))
    if abs(value.step) != 1:
        inside = x.and_(inside, x.eq(x.mod(x.sub(item, value.start), abs(value.step)), 0))
    return inside
