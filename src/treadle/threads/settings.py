"""What is put back after an execution beside the state of rewritten modules (`instrument.restore`).

- What functions of the standard library set for everybody (`known.SETTERS`): read once, and written again when an
  execution may have set it.
- Variables of modules that are not rewritten, and attributes of their classes, which a strand was seen to bind, and
  what containers held that it found there.
"""

from __future__ import annotations

import calendar
import csv
import gc
import sys
import threading
import xml.etree.ElementTree
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from treadle.threads.instrument.records import CONTAINERS, MISSING, Dict, Record

_NAMESPACES: dict[str, str] = xml.etree.ElementTree._namespace_map  # type: ignore[attr-defined]


class _Setting(NamedTuple):
    read: Callable[[], Any]
    write: Callable[[Any], Any]


def _dialects() -> dict[str, Any]:
    return {name: csv.get_dialect(name) for name in csv.list_dialects()}


def _set_dialects(kept: dict[str, Any]) -> None:
    for name in csv.list_dialects():
        csv.unregister_dialect(name)
    for name, dialect in kept.items():
        csv.register_dialect(name, dialect)


def _set_namespaces(kept: dict[str, str]) -> None:
    _NAMESPACES.clear()
    _NAMESPACES.update(kept)


_SETTINGS = (
    _Setting(_dialects, _set_dialects),
    _Setting(csv.field_size_limit, csv.field_size_limit),
    _Setting(calendar.firstweekday, calendar.setfirstweekday),
    _Setting(_NAMESPACES.copy, _set_namespaces),
    _Setting(sys.getrecursionlimit, sys.setrecursionlimit),
    _Setting(sys.get_int_max_str_digits, sys.set_int_max_str_digits),
    _Setting(gc.get_threshold, lambda kept: gc.set_threshold(*kept)),
    _Setting(threading.stack_size, threading.stack_size),
)


class Settings:
    """As they are now; `restore` goes back to it."""

    def __init__(self) -> None:
        _bound.clear()
        _met.clear()
        self._kept = [setting.read() for setting in _SETTINGS]

    def restore(self) -> None:
        for setting, kept in zip(_SETTINGS, self._kept, strict=True):
            if setting.read() != kept:
                setting.write(kept)


class _Bound(NamedTuple):
    """A name of a module or class as it was, and how it is bound and unbound."""

    names: Mapping[str, Any]
    bind: Callable[[Any], Any]
    unbind: Callable[[], Any]
    before: Any


_bound: dict[tuple[int, str], _Bound] = {}


def variable_changes(variables: dict[str, Any], name: str) -> None:
    """A variable of a module that is not rewritten is about to be bound."""
    if (id(variables), name) not in _bound:
        bind, unbind = partial(variables.__setitem__, name), partial(variables.pop, name)
        _bound[id(variables), name] = _Bound(variables, bind, unbind, variables.get(name, MISSING))


def attribute_changes(cls: type, name: str) -> None:
    """An attribute of a class of such a module is."""
    if (id(cls), name) not in _bound:
        before = vars(cls).get(name, MISSING)
        _bound[id(cls), name] = _Bound(vars(cls), partial(setattr, cls, name), partial(delattr, cls, name), before)


class _Imported(Dict):
    """`sys.modules`: what was imported since stays."""

    def reset(self) -> None:
        for name in [name for name in self.holder if name not in self.copy]:
            if getattr(self.holder[name], "__spec__", None) is None:
                del self.holder[name]
        self.holder.update(self.copy)
        self.remember()


_RECORDS = dict(CONTAINERS)
# A copy of more than this in every execution would cost more than it is worth.
_LARGE = 10_000
# Whose containers are the runtime's own business.
_OWN = frozenset({"threading", "asyncio", "concurrent", "multiprocessing"})
_met: dict[int, Record] = {}


def container_met(module: str, container: Any) -> None:
    """A strand has found this in a module that is not rewritten, or in a class of it."""
    record = _RECORDS.get(type(container))
    if record is None or id(container) in _met or len(container) > _LARGE:
        return
    if module.partition(".")[0] not in _OWN:
        _met[id(container)] = (_Imported if container is sys.modules else record)(container)


def put_back() -> None:
    """What executions of this test have bound is bound as before, and what they have met holds what it did then."""
    for record in _met.values():
        if record.differs():
            record.reset()
    for key, (names, bind, unbind, before) in _bound.items():
        now = names.get(key[1], MISSING)
        if before is MISSING and now is not MISSING:
            unbind()
        elif now is not before:
            bind(before)
