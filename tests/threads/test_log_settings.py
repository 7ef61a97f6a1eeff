"""A program that configures logging does so in each execution, and finds it as it was before the first."""

from __future__ import annotations

import io
import logging
import logging.config
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest

import treadle
from treadle.threads.instrument.restore import Snapshot
from treadle.threads.log_settings import LogSettings

_CONFIGURATION: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"written": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}},
    "loggers": {"tests.server": {"handlers": ["written"], "level": "INFO", "propagate": False}},
}


def _server() -> None:
    """As servers do that are started in a thread: handlers that exist are closed, and others are made."""
    logging.config.dictConfig(_CONFIGURATION)
    logger = logging.getLogger("tests.server")
    threads = [threading.Thread(target=logger.info, args=("started",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(logger.handlers) == 1


def test_a_server_that_configures_logging_is_the_same_in_each_execution() -> None:
    there = logging.StreamHandler(io.StringIO())  # it is closed by the first execution, if it is forgotten then
    result = treadle.check(_server)
    assert result.verdict.name.startswith("PASSED"), result
    kept: Any = logging
    assert any(handler() is there for handler in kept._handlerList)


def test_handlers_and_levels_are_those_of_before_in_each_execution() -> None:
    before = list(logging.root.handlers), logging.root.level, logging.root.manager.disable
    known = logging.getLogger("tests.known")
    known.setLevel(logging.WARNING)

    def main() -> None:
        assert known.level == logging.WARNING
        assert not known.handlers
        assert logging.root.manager.disable == before[2]
        fresh = logging.getLogger("tests.made_inside")
        assert not fresh.handlers
        for logger in (known, fresh, logging.root):
            logger.addHandler(logging.StreamHandler(io.StringIO()))
            logger.setLevel(logging.DEBUG)
        logging.disable(logging.CRITICAL)
        threading.Thread(target=known.info, args=("heard",)).start()

    result = treadle.check(main)
    assert not result.findings, result
    assert (list(logging.root.handlers), logging.root.level, logging.root.manager.disable) == before


def test_what_an_import_does_to_its_own_logger_stays() -> None:
    """Libraries give theirs a handler that does nothing, once, when they are imported."""
    settings = LogSettings()
    library = logging.getLogger("tests.imported_inside")
    nothing = logging.NullHandler()
    library.addHandler(nothing)
    library.addHandler(logging.StreamHandler(io.StringIO()))
    settings.reset()
    assert library.handlers == [nothing]


def test_a_logger_that_an_execution_makes_is_new_in_the_next_one() -> None:
    def main() -> None:
        mine = logging.getLogger("tests.made_and_changed_inside")
        assert mine.level == logging.NOTSET
        threads = [threading.Thread(target=mine.setLevel, args=(logging.ERROR,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = treadle.check(main)
    assert result.verdict.name.startswith("PASSED"), result


def test_the_level_that_an_import_gives_its_logger_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = LogSettings()
    monkeypatch.setitem(sys.modules, "tests.sets_a_level", types.ModuleType("tests.sets_a_level"))
    library = logging.getLogger("tests.sets_a_level")
    library.setLevel(logging.ERROR)
    settings.reset()
    assert library.level == logging.ERROR
    library.setLevel(logging.DEBUG)  # by the next execution
    settings.reset()
    assert library.level == logging.ERROR


@pytest.mark.parametrize(
    "change",
    [
        lambda logger: logger.addHandler(logging.NullHandler()),
        lambda logger: logger.addFilter(logging.Filter()),
        lambda logger: logger.setLevel(logging.ERROR),
        lambda logger: setattr(logger, "propagate", False),
        lambda logger: setattr(logger, "disabled", True),
        lambda logger: setattr(logger, "handlers", [logging.NullHandler()]),
        lambda logger: logging.disable(logging.ERROR),
    ],
)
def test_every_change_of_a_known_logger_is_noticed(change: Callable[[logging.Logger], object]) -> None:
    known = logging.getLogger("tests.changed_in_one_way")
    before = list(known.handlers), list(known.filters), known.level, known.propagate, known.disabled
    disabled = logging.root.manager.disable
    snapshot = Snapshot([], LogSettings())
    for _ in range(2):
        change(known)
        snapshot.restore()
        assert (known.handlers, known.filters, known.level, known.propagate, known.disabled) == before
        assert logging.root.manager.disable == disabled
