"""The hooks of executions in which nobody asks what is read and written: accesses happen as Python does them.

There is one thread, and its schedules are drawn, so nothing depends on what a step does. What models stand for (a real
lock, `time.sleep` imported by name) is replaced as ever; a loop that waits for something to change is not recognised
without its reads, so whoever comes to one is told that this program has to be seen.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import Any, Final

from treadle.threads import known, shapes
from treadle.threads.adopt import REPLACED, adopt
from treadle.threads.hooks import HOOKS, attributes, calls
from treadle.threads.hooks.operators import INPLACE, OPERATORS
from treadle.threads.hooks.variables import value_of
from treadle.threads.shapes import ADOPT, NOT_MODELLED, SHAPES, STATE_OF_MODEL, classify, is_modelled
from treadle.threads.strands import STATE
from treadle.threads.unasked import BUILTINS

_FunctionType: Final = types.FunctionType
_ModuleType: Final = types.ModuleType
_MODELLED: Final = frozenset({ADOPT, STATE_OF_MODEL})


def load(obj: Any, name: str) -> Any:
    """`obj.name`"""
    kind = type(obj)
    if kind in NOT_MODELLED or not is_modelled(kind) or _how(kind, name) not in _MODELLED:
        return getattr(obj, name)
    return attributes.load(obj, name)


def store(value: Any, obj: Any, name: str) -> None:
    """`obj.name = value`; what is set in a module is noted all the same, to be put back"""
    kind = type(obj)
    if kind is not _ModuleType and (kind in NOT_MODELLED or not is_modelled(kind) or _how(kind, name) not in _MODELLED):
        setattr(obj, name, value)
    else:
        attributes.store(value, obj, name)


def callee(obj: Any, name: str) -> Any:
    """The function in `obj.name(...)`"""
    kind = type(obj)
    if kind in NOT_MODELLED or not is_modelled(kind) or _how(kind, name) not in _MODELLED:
        called = getattr(obj, name)
        if type(called) is _FunctionType and STATE.strand is not None:
            return REPLACED.get(called, called)
        return function(called)
    return attributes.callee(obj, name)


def _how(kind: type, name: str) -> int:
    try:
        return SHAPES[kind][name]
    except KeyError:
        return classify(kind, name)


def function(called: Any) -> Any:
    """The function in `called(...)`: itself, or its model."""
    if STATE.strand is None:
        return called
    kind = type(called)
    if kind is _FunctionType or kind is type:
        return REPLACED.get(called) or _noted(called)
    if kind is types.MethodType:
        inner = called.__func__
        if type(inner) is _FunctionType:
            model = REPLACED.get(inner)
            return REPLACED.get(called, called) if model is None else types.MethodType(model, called.__self__)
        return called
    if kind in BUILTINS:
        owner = called.__self__
        if owner is None or type(owner) is types.ModuleType or isinstance(owner, type):
            return calls.STAND_INS.get(called) or REPLACED.get(called) or _noted(called)
        return getattr(adopt(owner), called.__name__) if isinstance(owner, shapes.ADOPTABLE) else called
    if isinstance(called, type):
        return REPLACED.get(called, called)
    return calls.function(called) if kind is functools.partial else called


def _noted(called: Any) -> Any:
    """What changes a setting of its module (`csv.field_size_limit`) is noted, to be put back."""
    if called in known.SETTERS and STATE.strand is not None:
        STATE.strand.execution.rebind(known.SETTINGS)
    return called


def _itself(value: Any) -> Any:
    return value


def _right(right: Any, left: Any) -> Any:
    return right


def _nothing(*arguments: Any) -> None:
    """A variable is read or written, or a function begins: nobody asks."""


def set_item(value: Any, obj: Any, key: Any) -> None:
    """`obj[key] = value`"""
    obj[key] = value


def inside(value: Any, container: Any) -> bool:
    """`value in container`"""
    return value in container


def set_global(value: Any, variables: dict[str, Any], name: str) -> None:
    variables[name] = value


def _spin() -> None:
    """A loop that waits begins, or goes round."""
    strand = STATE.strand
    if strand is not None:
        run: Any = strand.execution
        run.comes_to_spin()


UNSEEN_HOOKS: Final[dict[str, Any]] = HOOKS | {
    "_treadle_load": load,
    "_treadle_callee": callee,
    "_treadle_function": function,
    "_treadle_store": store,
    "_treadle_item": operator.getitem,
    "_treadle_set_item": set_item,
    "_treadle_del_item": operator.delitem,
    "_treadle_in": inside,
    "_treadle_global": value_of,
    "_treadle_constant": value_of,
    "_treadle_set_global": set_global,
    "_treadle_use_both": _right,
    "_treadle_spin": _spin,
    "_treadle_spin_start": _spin,
    **dict.fromkeys((f"_treadle_{name}" for name in ("use", "show", "match", "spread", "merge", "give")), _itself),
    **dict.fromkeys((f"_treadle_{name}" for name in ("iter", "iter_unpack", "star", "delegate")), _itself),
    **dict.fromkeys(
        (f"_treadle_{name}" for name in ("cell_read", "cell_write", "unbound", "called", "asked")), _nothing
    ),
    **{f"_treadle_{name}": getattr(operator, name) for name in (*OPERATORS, *INPLACE)},
}
