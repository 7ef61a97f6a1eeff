"""Operators: `a + b`, `a == b`, `a += b`, each one operation on both operands, where the operands are looked at.

A comparison looks at everything in its operands, arithmetic at the operands themselves. What the operands' classes do
in rewritten code is seen by itself.
"""

from __future__ import annotations

import decimal
import operator
from collections.abc import Callable
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import known, without_gil
from treadle.threads.containers import container_base
from treadle.threads.hash_order import note_order
from treadle.threads.hooks import reach
from treadle.threads.hooks.calls import atomic_method, container_call
from treadle.threads.hooks.points import during, include
from treadle.threads.hooks.reach import CONTAINER, OBJECT, OWN, WINDOW, kind_of
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import INERT
from treadle.threads.strands import STATE, Strand
from treadle.threads.unasked import home_of

# Without `or`: "or_" and "and_" are how the operator module calls them.
ARITHMETIC: Final = ("add", "sub", "mul", "matmul", "truediv", "mod", "pow", "lshift", "rshift", "or_", "xor", "and_")
COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")


def _hook(name: str, deep: bool, called: str = "") -> Callable[[Any, Any], Any]:
    apply: Callable[[Any, Any], Any] = getattr(operator, called or name)

    def operate(left: Any, right: Any) -> Any:
        if type(left) in INERT and type(right) in INERT:
            return apply(left, right)
        strand = STATE.strand
        if strand is None or STATE.coasting:
            return apply(left, right)
        if type(left) in (str, bytes):
            note_order(strand, right)  # it becomes part of a text
        operations: list[Operation] = []
        _look(strand, operations, left, deep, f"__{name.rstrip('_')}__")
        _look(strand, operations, right, deep or type(left) in (str, bytes), f"__{name.rstrip('_')}__")
        return during(strand, operations, apply, left, right)

    return operate


def _look(strand: Strand, operations: list[Operation], value: Any, deep: bool, method: str) -> None:
    """Add what an operator looks at of one operand."""
    kind = type(value)
    if kind in INERT:
        return
    if kind is decimal.Decimal:  # is worked out by the context of the thread, which notes what happened
        if not deep:
            include(strand, operations, decimal.getcontext(), WRITE)
        return
    category = kind_of(kind)
    if category == OWN:
        code = getattr(kind, method, None)
        module = getattr(code, "__globals__", {}).get("__name__")
        if module is not None and (module not in REWRITTEN or reach.shown_natively(kind)):
            reach.everything(strand, operations, value, READ)
        return
    if category in (OBJECT, WINDOW):
        reach.everything(strand, operations, value, READ)
        if operations and not known.in_modules(home_of(kind), known.ATOMIC_NATIVE):
            strand.execution.assumed.add(f"{home_of(kind)}.{kind.__name__}.{method}")
    elif deep:
        reach.content(strand, operations, value, READ)
    elif category == CONTAINER:
        reach.look(strand, operations, value, READ)
    without_gil.note_method(strand, operations, kind, method, ())


OPERATORS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **{name: _hook(name, False) for name in (*ARITHMETIC, "floordiv")},
    **{name: _hook(name, True) for name in COMPARISONS},
}


def _augmentation(name: str) -> Callable[[Any, Any], Any]:
    """The operator `name` (as in `operator.iadd`) where it may change its left operand in place.

    When the operand's type does that in C, as the built-in containers do, it is a call of the operand's method like
    any other; when it does so in Python, that code is seen by itself.
    """
    apply: Callable[[Any, Any], Any] = getattr(operator, name)
    plain = _hook(name[1:] if name[1:] in OPERATORS else f"{name[1:]}_", False, name)
    method = f"__{name}__"

    def augment(old: Any, operand: Any) -> Any:
        kind = type(old)
        if STATE.strand is None or STATE.coasting or (kind in INERT and type(operand) in INERT):
            return apply(old, operand)
        implementation = getattr(kind, method, None)
        if implementation is None:
            return plain(old, operand)
        if getattr(implementation, "__globals__", {}).get("__name__") in REWRITTEN:
            return apply(old, operand)
        if name == "imul" and not hasattr(type(operand), "__index__"):
            return apply(old, operand)  # fails, and with a better message than the method's
        call = container_call if container_base(kind) is not None else atomic_method
        result = call(old, method, operand, treadle_via=None)
        return apply(old, operand) if result is NotImplemented else result

    return augment


INPLACE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    name: _augmentation(name)
    for name in ("iadd", "isub", "imul", "imatmul", "itruediv", "imod", "ipow", "ilshift", "irshift", "ior", "ixor")
    + ("iand", "ifloordiv")
}


def use_both(right: Any, left: Any) -> Any:
    """The right operand of a comparison in a chain, whose left one is looked at now."""
    strand = STATE.strand
    if strand is None or STATE.coasting or (type(left) in INERT and type(right) in INERT):
        return right
    operations: list[Operation] = []
    for value in (left, right):
        reach.content(strand, operations, value, READ)
    during(strand, operations, operator.is_, left, right)
    return right
