"""Messages to a logger: what is below its level touches nothing but the level."""

from __future__ import annotations

import logging

import treadle


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


def _logger() -> tuple[logging.Logger, _Heard]:
    logger, handler = logging.Logger("quiet", logging.WARNING), _Heard()
    logger.addHandler(handler)
    return logger, handler


def test_messages_below_the_level_of_a_logger_are_no_steps_between_threads() -> None:
    def test() -> None:
        logger, _ = _logger()
        treadle.parallel(lambda: logger.debug("one"), lambda: logger.log(logging.INFO, "two"))

    assert treadle.check(test, strategy="dpor").executions == 1


def test_whether_a_message_is_below_the_level_depends_on_who_sets_it_when() -> None:
    heard = set()

    def test() -> None:
        logger, handler = _logger()
        treadle.parallel(lambda: logger.setLevel(logging.DEBUG), lambda: logger.debug("one"))
        heard.add(tuple(handler.heard))

    treadle.check(test, strategy="dpor")
    assert heard == {(), ("one",)}


def test_whether_messages_are_disabled_depends_on_who_says_so_when() -> None:
    heard = set()

    def test() -> None:
        logger, handler = _logger()
        logger.setLevel(logging.DEBUG)
        logging.disable(logging.CRITICAL)
        treadle.parallel(lambda: logger.debug("one"), lambda: logging.disable(logging.NOTSET))  # first it is silent
        heard.add(tuple(handler.heard))

    try:
        result = treadle.check(test, strategy="dpor")
    finally:
        logging.disable(logging.NOTSET)
    assert heard == {(), ("one",)}
    assert result.verdict.is_pass  # the two are seen to conflict: otherwise the check of the pass finds the difference
