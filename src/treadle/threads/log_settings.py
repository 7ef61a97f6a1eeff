"""How logging is configured is put back after an execution: a server that is started configures it anew each time.

Loggers that an execution made stay, because modules keep them, but as `logging.getLogger` makes them; where it has also
imported modules, which may have set them up, only without their handlers. What happens to a handler that was there
before (its level, its formatter) is not put back.

Hardly an execution changes anything: that is seen in one look at all that the loggers refer to, together with the state
of the program (`records`).
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from treadle.threads.instrument.records import BOUNDARY, Record, Referents

_OWN: Any = logging  # names with an underscore are its own, and the same in every version


class _Logger(NamedTuple):
    """What a logger was told, by anybody."""

    handlers: tuple[logging.Handler, ...]
    filters: tuple[Any, ...]
    level: int
    propagate: bool
    disabled: bool


_NEW = _Logger((), (), logging.NOTSET, True, False)


def _told(logger: logging.Logger) -> _Logger:
    return _Logger(tuple(logger.handlers), tuple(logger.filters), logger.level, logger.propagate, logger.disabled)


def _loggers() -> list[logging.Logger]:
    made = list(logging.root.manager.loggerDict.values())
    return [logging.root, *(one for one in made if isinstance(one, logging.Logger))]


class LogSettings(Record):
    """As they are now."""

    __slots__ = ("_disabled", "_handlers", "_kept", "_modules", "_named", "_referents")
    views = ()

    def __init__(self) -> None:
        super().__init__(logging)
        self._kept = {logger: _told(logger) for logger in _loggers()}
        self._handlers = list(_OWN._handlerList)
        self._named = dict(_OWN._handlers)
        self._disabled = logging.root.manager.disable
        self._modules = len(sys.modules)
        self._referents = Referents(self.referring())

    def referring(self) -> Iterable[object]:
        manager = logging.root.manager
        found: list[object] = [manager, vars(manager), manager.loggerDict]
        for logger in _loggers():
            # from 3.13 on what is in the dictionary may be kept in its owner
            found += [logger, vars(logger), logger.handlers, BOUNDARY, logger.filters]
        return [*found, _OWN._handlerList, BOUNDARY, _OWN._handlers.data]

    def differs(self) -> bool:
        return not self._referents.are_the_same()

    def reset(self) -> None:
        """Also to be called when modules were imported, before another execution."""
        self._put_back()
        self._referents = Referents(self.referring())

    def _put_back(self) -> None:
        changed = False
        imported, self._modules = len(sys.modules) != self._modules, len(sys.modules)
        for logger in _loggers():
            kept, told = self._kept.get(logger), _told(logger)
            if kept is None:
                handlers = tuple(one for one in told.handlers if type(one) is logging.NullHandler)
                kept = (told if imported else _NEW)._replace(handlers=handlers)
                if imported:
                    self._kept[logger] = kept
            if told != kept:
                changed = True
                logger.handlers[:], logger.filters[:] = kept.handlers, kept.filters
                logger.level, logger.propagate, logger.disabled = kept.level, kept.propagate, kept.disabled
        if logging.root.manager.disable != self._disabled:
            changed = True
            logging.root.manager.disable = self._disabled
        if _OWN._handlerList != self._handlers:  # what is closed at exit
            _OWN._handlerList[:] = self._handlers
        if dict(_OWN._handlers) != self._named:
            _OWN._handlers.clear()
            _OWN._handlers.update(self._named)
        if changed:
            _OWN.root.manager._clear_cache()
