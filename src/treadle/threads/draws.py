"""Where a value was drawn that is not the same in two executions: that line is named, not those that it had effects on.

A call into code that is not rewritten is a draw when it was given the same as in another execution along the same
choices, and returned something else. So is going through a set whose order is another, a text with an address in it,
and the next value of an iterator that was there before the execution: nobody puts it back. What comes after the first
draw may be given something else, and is not blamed.

Objects that look alike are told apart by numbers: in the order in which they were made or met, and never in that of a
set.
"""

from __future__ import annotations

import collections
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
from treadle.threads.unasked import BUILTINS


class NotedCall(NamedTuple):
    place: str  # file and line
    what: str
    given: Hashable
    got: Hashable

    def __str__(self) -> str:
        return f"{self.place} ({self.what})"


# The calls of each strand, in its order.
CallLog = dict[str, list[NotedCall]]
# Was an object there before the execution?
IsLasting = Callable[[Any], bool]

_LISTS = (list, tuple, dict, collections.deque)
_TOLD_BY_VALUE = frozenset({int, str, bytes, float, complex, bool, type(None)})
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


class Notes:
    """What the calls of one execution were given, and what they returned."""

    def __init__(self, lasts: IsLasting) -> None:
        self.calls: CallLog = {}
        self.lasts = lasts
        self._numbers: dict[int, int] = {}
        self._keep: list[Any] = []  # so that no address comes twice

    def clear(self) -> None:
        self.calls = {}
        self._numbers.clear()
        self._keep.clear()

    def add(self, frame: types.FrameType, what: str, given: Hashable, got: Hashable) -> None:
        strand = STATE.strand
        if strand is not None:
            place = "{}:{}".format(*place_of(frame))
            self.calls.setdefault(strand.treadle_name, []).append(NotedCall(place, what, given, got))

    def meet(self, value: Any) -> Hashable:
        """Which objects these are, in numbers: those that nobody has met get one now."""
        return self._each(value, self._number)

    def met(self, value: Any) -> Hashable:
        """Which objects these are, of those that were met before."""
        return self._each(value, self._known)

    def order(self, value: Any) -> Hashable:
        """In which order the items of a set come."""
        return tuple((fingerprint(one), self._known(one)) for one in value)

    def _each(self, value: Any, number: Callable[[Any], int | None]) -> Hashable:
        if isinstance(value, (set, frozenset)):
            return tuple(sorted(self._known(one) or 0 for one in value))
        if isinstance(value, _LISTS) and not _is_large(value):
            return tuple(number(one) for one in list(value))
        return number(value)

    def _known(self, value: Any) -> int | None:
        return self._numbers.get(id(value))

    def _number(self, value: Any) -> int | None:
        if type(value) in _TOLD_BY_VALUE:
            return None
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self._numbers) + 1
            self._keep.append(value)
        return self._numbers[id(value)]


@contextmanager
def noting_calls(lasts: IsLasting = lambda _: False) -> Iterator[Notes]:
    """Executions inside the `with` block note what calls that are not rewritten return."""
    notes = Notes(lasts)
    hooks = dict(HOOKS)
    for name in ("_treadle_function", "_treadle_callee"):
        hooks[name] = _around_call(HOOKS[name], notes)
    for name in _ORDERED:
        hooks[name] = _before(HOOKS[name], notes, _note_order)
    hooks["_treadle_show"] = _before(HOOKS["_treadle_show"], notes, _note_text)
    hooks["_treadle_mod"] = _before(HOOKS["_treadle_mod"], notes, _note_formatted)
    with installed(hooks):
        yield notes


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


def _around_call(hook: Callable[..., Any], notes: Notes) -> Callable[..., Any]:
    def noted(*args: Any) -> Any:
        called = hook(*args)
        if STATE.strand is None:
            return called
        if isinstance(called, type):
            return functools.partial(_made, notes, called)
        if not _is_foreign(called) and called is not STAND_INS[next]:
            return called

        def around(*call_args: Any, **kwargs: Any) -> Any:
            if called is STAND_INS[next] and not notes.lasts(call_args[0]):
                return called(*call_args, **kwargs)
            inner = called.args if type(called) is functools.partial else (called,)
            given = fingerprint((inner, [_owner(one) for one in inner], call_args, kwargs))
            which = tuple(notes.meet(one) for one in (*inner, *call_args, *kwargs.values()))
            result = called(*call_args, **kwargs)
            got = fingerprint(result) if not _is_large(result) else len(result)
            if isinstance(result, os.stat_result):  # as a tuple it has whole seconds only
                got = got, result.st_mtime_ns
            elif result is None or hasattr(type(result), "__next__"):  # the sets that it was given are gone through
                sets = (one for one in call_args if isinstance(one, (set, frozenset)))
                got = got, *(notes.order(one) for one in sets), *(notes.met(one) for one in inner)
            notes.add(sys._getframe(1), _name(inner), (given, which), (got, notes.met(result)))
            return result

        return around

    return noted


def _made(treadle_notes: Notes, treadle_class: Any, /, *args: Any, **kwargs: Any) -> Any:
    """An object of the program: it has a number from now on."""
    made = treadle_class(*args, **kwargs)
    treadle_notes.meet(made)
    return made


def _owner(called: Any) -> Any:
    """The object of a bound method: `text.encode` is given the text."""
    owner = getattr(called, "__self__", None)
    return None if isinstance(owner, types.ModuleType) else owner


def _is_large(result: Any) -> bool:
    return isinstance(result, (*_LISTS, set, frozenset)) and len(result) > _LARGE


def _is_foreign(called: Any) -> bool:
    function = called.__func__ if type(called) is types.MethodType else called
    return type(called) in (functools.partial, *BUILTINS) or id(function) in _LOOKING_OUTSIDE


def _name(inner: tuple[Any, ...]) -> str:
    if len(inner) > 1 and isinstance(inner[1], str):  # an object and the name of its method
        return f"{type(inner[0]).__name__}.{inner[1]}"
    for real in (id, next):
        if inner[0] is STAND_INS[real]:
            return real.__name__
    real = getattr(inner[0], "__wrapped__", inner[0])
    module = getattr(real, "__module__", "") or ""
    name = str(getattr(real, "__qualname__", type(real).__name__))
    return name if module in ("", "builtins") else f"{module}.{name}"


def _before(hook: Callable[..., Any], notes: Notes, note: Callable[..., None]) -> Callable[..., Any]:
    def noted(value: Any, *more: Any) -> Any:
        note(notes, sys._getframe(1), value, *more)
        return hook(value, *more)

    return noted


def _note_order(notes: Notes, frame: types.FrameType, value: Any, *_: Any) -> None:
    if isinstance(value, (set, frozenset)):
        notes.add(frame, "the order of a set", (fingerprint(value), notes.meet(value)), notes.order(value))


def _note_text(notes: Notes, frame: types.FrameType, value: Any) -> None:
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__:
        notes.add(frame, f"the address of a {kind.__name__}", kind.__name__, id(value))


def _note_formatted(notes: Notes, frame: types.FrameType, text: Any, values: Any) -> None:
    if isinstance(text, (str, bytes)):
        for value in values if type(values) is tuple else (values,):
            _note_text(notes, frame, value)
