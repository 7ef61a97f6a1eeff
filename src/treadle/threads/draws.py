"""Where a value was drawn that is not the same in two executions: that line is named, not those that it had effects on.

A call into code that is not rewritten is a draw when it was given the same as in another execution along the same
choices, and returned something else. So is going through a set whose order is another, and a text with an address in
it. What comes after the first draw may be given something else, and is not blamed.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from treadle.threads.detail import place_of
from treadle.threads.fine import installed
from treadle.threads.fingerprint import fingerprint
from treadle.threads.hooks import HOOKS
from treadle.threads.hooks.calls import STAND_INS
from treadle.threads.strands import STATE


class NotedCall(NamedTuple):
    place: str  # file and line
    what: str
    given: Hashable
    got: Hashable

    def __str__(self) -> str:
        return f"{self.place} ({self.what})"


# The calls of each strand, in its order.
CallLog = dict[str, list[NotedCall]]

# Of a container with more items only their number is compared.
_LARGE = 1_000
# Stand-ins for functions whose results others decide: files and addresses.
_LOOKING_OUTSIDE = {id(hook) for real, hook in STAND_INS.items() if real is id or hasattr(hook, "__wrapped__")}
_ORDERED = (
    "_treadle_iter",
    "_treadle_iter_unpack",
    "_treadle_spread",
    "_treadle_merge",
    "_treadle_star",
    "_treadle_delegate",
)


@contextmanager
def noting_calls() -> Iterator[CallLog]:
    """Executions inside the `with` block note what calls that are not rewritten return."""
    log: CallLog = {}
    hooks = dict(HOOKS)
    for name in ("_treadle_function", "_treadle_callee"):
        hooks[name] = _around_call(HOOKS[name], log)
    for name in _ORDERED:
        hooks[name] = _before(HOOKS[name], log, _note_order)
    hooks["_treadle_show"] = _before(HOOKS["_treadle_show"], log, _note_text)
    hooks["_treadle_mod"] = _before(HOOKS["_treadle_mod"], log, _note_formatted)
    with installed(hooks):
        yield log


def draws(one: CallLog, other: CallLog) -> list[NotedCall]:
    """The calls that returned something else although they were given the same."""
    found = []
    for strand, calls in one.items():
        for mine, theirs in zip(calls, other.get(strand, []), strict=False):
            if mine[:2] != theirs[:2]:
                break
            if mine.given == theirs.given and mine.got != theirs.got:
                found.append(mine)
    return found


def _note(log: CallLog, frame: types.FrameType, what: str, given: Hashable, got: Hashable) -> None:
    strand = STATE.strand
    if strand is not None:
        log.setdefault(strand.treadle_name, []).append(NotedCall("{}:{}".format(*place_of(frame)), what, given, got))


def _around_call(hook: Callable[..., Any], log: CallLog) -> Callable[..., Any]:
    def noted(*args: Any) -> Any:
        called = hook(*args)
        if STATE.strand is None or not _is_foreign(called):
            return called

        def around(*call_args: Any, **kwargs: Any) -> Any:
            inner = called.args if type(called) is functools.partial else (called,)
            given = fingerprint((inner, [_owner(one) for one in inner], call_args, kwargs))
            result = called(*call_args, **kwargs)
            got = fingerprint(result) if not _is_large(result) else len(result)
            if isinstance(result, os.stat_result):  # as a tuple it has whole seconds only
                got = got, result.st_mtime_ns
            elif hasattr(type(result), "__next__"):  # it will go through the sets that it was given
                got = got, *(_order(one) for one in call_args if isinstance(one, (set, frozenset)))
            _note(log, sys._getframe(1), _name(inner), given, got)
            return result

        return around

    return noted


def _owner(called: Any) -> Any:
    """The object of a bound method: `text.encode` is given the text."""
    owner = getattr(called, "__self__", None)
    return None if isinstance(owner, types.ModuleType) else owner


def _is_large(result: Any) -> bool:
    return type(result) in (list, dict, set, tuple) and len(result) > _LARGE


def _is_foreign(called: Any) -> bool:
    function = called.__func__ if type(called) is types.MethodType else called
    return type(called) in (functools.partial, types.BuiltinFunctionType) or id(function) in _LOOKING_OUTSIDE


def _name(inner: tuple[Any, ...]) -> str:
    if len(inner) > 1 and isinstance(inner[1], str):  # an object and the name of its method
        return f"{type(inner[0]).__name__}.{inner[1]}"
    if inner[0] is STAND_INS[id]:
        return "id"
    real = getattr(inner[0], "__wrapped__", inner[0])
    module = getattr(real, "__module__", "") or ""
    name = str(getattr(real, "__qualname__", type(real).__name__))
    return name if module in ("", "builtins") else f"{module}.{name}"


def _before(hook: Callable[..., Any], log: CallLog, note: Callable[..., None]) -> Callable[..., Any]:
    def noted(value: Any, *more: Any) -> Any:
        note(log, sys._getframe(1), value, *more)
        return hook(value, *more)

    return noted


def _note_order(log: CallLog, frame: types.FrameType, value: Any, *_: Any) -> None:
    if isinstance(value, (set, frozenset)):
        _note(log, frame, "the order of a set", fingerprint(value), _order(value))


def _note_text(log: CallLog, frame: types.FrameType, value: Any) -> None:
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__:
        _note(log, frame, f"the address of a {kind.__name__}", kind.__name__, id(value))


def _note_formatted(log: CallLog, frame: types.FrameType, text: Any, values: Any) -> None:
    if isinstance(text, (str, bytes)):
        for value in values if type(values) is tuple else (values,):
            _note_text(log, frame, value)


def _order(value: Any) -> Hashable:
    return tuple(fingerprint(one) for one in value)
