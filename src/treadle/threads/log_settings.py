"""How logging is configured is put back after an execution: a server that is started configures it anew each time.

Loggers that an execution made stay, because modules keep them, but as `logging.getLogger` makes them; where it has also
imported modules, which may have set them up, only without their handlers. What happens to a handler that was there
before (its level, its formatter) is not put back.

Hardly an execution changes anything: that is seen in one look at all that the loggers refer to (`records`).
"""

from __future__ import annotations

import logging
import sys
from gc import get_referents
from typing import Any, NamedTuple

from treadle.threads.instrument.records import BOUNDARY, addresses

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


class LogSettings:
    """As they are now; `restore` goes back to it."""

    def __init__(self) -> None:
        self._kept = {logger: _told(logger) for logger in _loggers()}
        self._handlers = list(_OWN._handlerList)
        self._named = dict(_OWN._handlers)
        self._disabled = logging.root.manager.disable
        self._modules = len(sys.modules)
        self._look()

    def _look(self) -> None:
        """Remember what everything refers to that is put back."""
        manager = logging.root.manager
        self._referring: list[object] = [manager, vars(manager), manager.loggerDict]
        for logger in _loggers():
            # from 3.13 on what is in the dictionary may be kept in its owner
            self._referring += [logger, vars(logger), logger.handlers, BOUNDARY, logger.filters]
        self._referring += [_OWN._handlerList, BOUNDARY, _OWN._handlers.data]
        self._addresses = addresses(get_referents(*self._referring))

    def restore(self) -> None:
        if addresses(get_referents(*self._referring)) == self._addresses and len(sys.modules) == self._modules:
            return
        self._put_back()
        self._look()

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
