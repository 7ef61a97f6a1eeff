"""What a strand sees of its callers: the program's frames, and none of Treadle's."""

from __future__ import annotations

import inspect
import json
import logging
import sys
import threading
import traceback
import warnings
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest

import treadle


def callers() -> list[str]:
    frame, found = sys._getframe(1), []
    while frame is not None:
        found.append(frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return found


class Thing:
    def __add__(self, other: object) -> list[str]:
        return callers()

    def __getitem__(self, key: object) -> list[str]:
        return callers()

    @property
    def value(self) -> list[str]:
        return callers()


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def work() -> None:
    thing = Thing()
    assert callers() == ["work"]
    assert thing + 1 == ["__add__", "work"]
    assert thing["key"] == ["__getitem__", "work"]
    assert thing.value == ["value", "work"]
    assert sorted([2], key=lambda _: callers()) == [2]
    assert list(map(lambda _: callers(), [1])) == [["<lambda>", "work"]]  # noqa: C417  # called from C


def who_logs() -> None:
    log = logging.getLogger("tests.frames")
    kept = Kept()
    log.addHandler(kept)
    log.warning("something")
    log.removeHandler(kept)
    assert [(record.funcName, record.module) for record in kept.records] == [("who_logs", "test_frames")]


def stacks_and_names() -> None:
    assert [info.function for info in inspect.stack()] == ["stacks_and_names"]
    assert [summary.name for summary in traceback.extract_stack()] == ["stacks_and_names"]
    assert namedtuple("Pair", "left right").__module__ == __name__  # it asks for its caller
    frame: Any = inspect.currentframe()
    assert inspect.isframe(frame)
    assert inspect.getframeinfo(frame).function == "stacks_and_names"
    assert frame is sys._getframe()
    with pytest.raises(ValueError, match="deep enough"):
        sys._getframe(1)


def warned() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Warner()["key"]
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, sys._getframe().f_lineno - 1)]


class Warner:
    def __getitem__(self, key: str) -> None:
        warnings.warn("for the caller", stacklevel=2)


def written_tracebacks() -> None:
    try:
        json.loads("{", object_hook=len)
    except ValueError:
        text = traceback.format_exc()
    assert "test_frames" in text
    assert "treadle/threads" not in text


@pytest.mark.parametrize("body", [work, who_logs, stacks_and_names, warned, written_tracebacks])
def test_no_frame_of_treadle_is_seen(body: Callable[[], None]) -> None:
    def test() -> None:
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()

    result = treadle.check(test)
    assert not result.findings, result.findings[0].message
    assert sys._getframe().f_back is not None
