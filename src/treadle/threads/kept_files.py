"""Files that an execution changes are put back at its end: the next one finds what this one found.

Whoever is about to write to a path, or to make, move or take away what is behind it, keeps what is there: a file of a
few megabytes, an empty place, or that there is a folder. A link, a larger file and what is in a folder are not kept,
nor what came or changed since the search began and was not put back: code that nobody sees has made it, perhaps in
this very execution (a temporary file that the test takes away). A folder that was not there goes if nothing is left
in it. What cannot be put back stays, and `threads.files` sees it.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from treadle.core.files import write_whole
from treadle.threads.strands import AFTER_EXECUTION

# A larger file is not kept, and nothing more once so much is.
_LARGE: Final = 1 << 22
_MOST: Final = 1 << 26
_NO_FILES: Final = ("/proc/", "/sys/", "/dev/")


@dataclass(frozen=True, slots=True)
class _Before:
    """What was behind a path: nothing, a folder, or a file."""

    found: os.stat_result | None
    content: bytes = b""


_KEPT: dict[str, _Before] = {}
_PUT_BACK: dict[str, int] = {}  # path -> when it was last changed, which was done here
_BEGUN = [0]
_clock = time.time_ns  # the real one
_TICK: Final = 20_000_000  # so much may the clock of a file system be behind, and more


def begin() -> None:
    """Executions of another test begin: what is changed from now on is changed by them."""
    _BEGUN[0] = _clock() - _TICK


def keep(path: str) -> None:
    """Remember what is behind an absolute path, unless this execution did before."""
    while path not in _KEPT and not path.startswith(_NO_FILES):
        before = _before(path)
        if before is None:
            return
        _KEPT[path] = before
        if before.found is not None:
            return
        path = os.path.dirname(path)  # which may be made together with it


def _before(path: str) -> _Before | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return _Before(None)
    except (OSError, ValueError):
        return None
    if found.st_ctime_ns > _BEGUN[0] and _PUT_BACK.get(path) != found.st_ctime_ns:
        return None
    if stat.S_ISDIR(found.st_mode):
        return _Before(found)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGE:
        return None
    if sum(len(before.content) for before in _KEPT.values()) > _MOST:
        return None
    try:
        with open(path, "rb") as file:
            return _Before(found, file.read())
    except OSError:
        return None


def _put_back() -> None:
    if not _KEPT:
        return  # as almost always
    kept = sorted(_KEPT.items(), key=lambda entry: len(entry[0]))
    _KEPT.clear()
    there = [(path, before) for path, before in kept if before.found is not None]
    absent = [(path, before) for path, before in reversed(kept) if before.found is None]  # what is in a folder first
    for path, before in absent + there:
        try:
            _restore(path, before)
        except OSError:
            pass  # then the next execution finds it so, and says it
    for path, _ in there:
        now = _now(path)
        if now is not None:
            _PUT_BACK[path] = now.st_ctime_ns


def _restore(path: str, before: _Before) -> None:
    now = _now(path)
    if before.found is None:
        if now is not None:
            (os.rmdir if stat.S_ISDIR(now.st_mode) else os.unlink)(path)
    elif stat.S_ISDIR(before.found.st_mode):
        if now is None:
            os.mkdir(path, stat.S_IMODE(before.found.st_mode))
    elif now is None or (now.st_mtime_ns, now.st_size) != (before.found.st_mtime_ns, before.found.st_size):
        _restore_file(path, before.found, before.content, now)
    elif now.st_mode != before.found.st_mode:
        os.chmod(path, stat.S_IMODE(before.found.st_mode))


def _restore_file(path: str, found: os.stat_result, content: bytes, now: os.stat_result | None) -> None:
    if not os.path.isdir(os.path.dirname(path)):
        return  # the folder went with the execution
    if now is not None and now.st_ino == found.st_ino and _begins_with(path, content):
        os.truncate(path, len(content))  # who has it open goes on to add to it
    else:
        write_whole(Path(path), content, lasting=False)
    os.chmod(path, stat.S_IMODE(found.st_mode))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _now(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _begins_with(path: str, content: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(content)) == content


AFTER_EXECUTION.append(_put_back)
