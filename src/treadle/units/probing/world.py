"""Whether a call asks for the time, for chance or for files: what it does today it need not do tomorrow.

Seen by a profiler, since most of these are compiled: calls by the package of the target itself, or by `random` and its
like on its behalf. What a library asks for its own sake (the time of a log record) does not count; of files, what an
import asks.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

_CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}
_DATES = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
_CHANCE = {"Random.random", "Random.getrandbits", "urandom", "uuid4", "uuid1", "token_bytes"}
_FILES = frozenset({
    *("stat", "lstat", "open", "open_code", "listdir", "scandir", "mkdir", "rmdir", "unlink", "remove", "rename"),
    *("replace", "getcwd", "access", "readlink", "chdir", "utime", "chmod", "link", "symlink", "truncate", "walk"),
})  # fmt: skip
_OF_FILES = ("posix", "nt", "io", "_io")
# what asks on behalf of its caller
_BETWEEN = ("random", "uuid", "secrets", "datetime", "_strptime")


@contextlib.contextmanager
def asking(package: str, asked: set[str]) -> Iterator[None]:
    """Adds 'clock', 'chance', 'files' and 'temporary' to the set when code of the package asks for them."""

    def look(frame: types.FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            if event == "call" and frame.f_globals.get("__name__") == "tempfile":
                asked.add("temporary")
            return
        name = getattr(function, "__qualname__", "")
        if name in _FILES and getattr(function, "__module__", "") in _OF_FILES and not _is_import(frame):
            asked.add("files")
        is_clock = name in _DATES or (name in _CLOCKS and getattr(function, "__module__", "") == "time")
        if not is_clock and name not in _CHANCE:
            return
        caller: types.FrameType | None = frame
        while caller is not None and caller.f_globals.get("__name__") in _BETWEEN:
            caller = caller.f_back
        if caller is not None and str(caller.f_globals.get("__name__")).partition(".")[0] == package:
            asked.add("clock" if is_clock else "chance")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(before)


def _is_import(frame: types.FrameType | None) -> bool:
    while frame is not None and not str(frame.f_globals.get("__name__")).startswith("importlib"):
        frame = frame.f_back
    return frame is not None
