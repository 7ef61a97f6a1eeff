"""What code under test may not do to the world: one audit hook for every place that calls it.

Writes and deletions outside a scratch folder, processes, signals and the network are refused with `EffectRefused`; what
was refused is also kept, because a program may swallow the exception. Reading is allowed. Temporary files that the
program makes go to the scratch folder (`scratch_folder`). The hook is installed once in
a process and sleeps outside of `EffectGuard`. Extensions that raise no audit events are not seen.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType

from treadle.core.packages import import_runs

_NETWORK = (
    *("socket.connect", "socket.bind", "socket.send", "socket.getaddrinfo", "socket.gethostby"),
    *("urllib.", "http.", "ftplib.", "smtplib.", "poplib.", "imaplib.", "nntplib.", "telnetlib.", "webbrowser."),
)
_PROCESSES = (
    *("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.startfile", "pty."),
    *("os.kill", "signal.pthread_kill"),
)
_ENVIRONMENT = ("os.putenv", "os.unsetenv")
# pytest tells by it which test is running
_PYTEST = b"PYTEST_CURRENT_TEST"
_FILES = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    *("os.chown", "os.lchown", "os.chflags", "os.utime", "os.setxattr", "os.removexattr", "shutil.", "tempfile."),
    "sqlite3.connect",
)

# what an import writes, and where Treadle keeps what it compiles: neither is the program's doing
_OURS = frozenset({"__pycache__", ".treadle"})

# modules of the standard library that start processes to ask the system something, which changes nothing
_ASKING = frozenset({"ctypes.util", "platform", "uuid"})

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass(frozen=True, slots=True)
class WorldEffect:
    """What code under test would do to the world; its text are the words for it."""

    what: str
    network: bool = False

    def __str__(self) -> str:
        return self.what


class EffectRefused(PermissionError):
    """Code under test wanted to change the world."""

    effect: WorldEffect


def effect_of(event: str, args: tuple[object, ...], scratch: str = "") -> WorldEffect | None:
    """What an audit event would do to the world; None for what is harmless."""
    if event.startswith(_NETWORK):
        return WorldEffect(f"use the network ({event})", network=True)
    what = _local_effect(event, args, scratch)
    return WorldEffect(what) if what else None


def _local_effect(event: str, args: tuple[object, ...], scratch: str) -> str:
    if event.startswith(_PROCESSES):
        return f"start or stop a process ({event})"
    if event.startswith(_ENVIRONMENT):
        return "" if args[:1] == (_PYTEST,) else f"change the environment ({event})"
    if event == "open":
        return "" if not _writes(args) or _is_harmless(args[0], scratch) else f"write the file {_shown(args[0])}"
    if event.startswith(_FILES):
        paths = [part for part in args if isinstance(part, str | bytes | os.PathLike)]
        paths += [place for part in args if type(part) is int and os.path.isdir(place := _opened(part))]
        if paths and all(_is_harmless(path, scratch) for path in paths):
            return ""
        return f"change files ({event} {', '.join(map(_shown, paths))})".replace(" )", ")")
    return ""


def _writes(args: tuple[object, ...]) -> bool:
    mode, flags = (*args, None, None, None)[1:3]
    if isinstance(mode, str):
        return any(c in mode for c in "wax+")
    return isinstance(flags, int) and bool(flags & _WRITING)


def _is_harmless(path: object, scratch: str) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
        if import_runs("_write_atomic"):  # compiled code that is kept
            return True
        path = _opened(path) if isinstance(path, int) else ""
        if not path:
            return False  # the file of somebody else
    text = os.fsdecode(path)
    if text in (os.devnull, ":memory:"):
        return True
    place = os.path.realpath(text)
    if not _OURS.isdisjoint(place.split(os.sep)):
        return True
    return bool(scratch) and os.path.commonpath([place, os.path.realpath(scratch)]) == os.path.realpath(scratch)


def _opened(number: int) -> str:
    """The file or folder behind a number; '' where that cannot be told."""
    try:
        return os.readlink(f"/proc/self/fd/{number}")
    except OSError:
        return ""


def _shown(path: object) -> str:
    return repr(os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else path)


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder that code under test may write to, and where `tempfile` makes its files meanwhile."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory(prefix="treadle-", ignore_cleanup_errors=True) as folder:
        tempfile.tempdir = folder
        try:
            yield folder
        finally:
            tempfile.tempdir = before


class EffectGuard:
    """While it is open, effects outside the scratch folder are refused in this process; `refused` has what was."""

    # the innermost open guard
    _active: EffectGuard | None = None
    _installed = False

    def __init__(self, scratch: str = "", environment: bool = False) -> None:
        self.scratch = scratch
        # whether os.environ may be changed, which is this process's own
        self.environment = environment
        self.refused: list[WorldEffect] = []
        self._outer: EffectGuard | None = None

    def __enter__(self) -> EffectGuard:
        with contextlib.suppress(OSError):  # a full disk is told by whoever needs one
            tempfile.gettempdir()  # found out by writing, once
        if not EffectGuard._installed:
            EffectGuard._installed = True
            sys.addaudithook(_audit)
        self._outer, EffectGuard._active = EffectGuard._active, self
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        EffectGuard._active = self._outer


def _asks_the_system() -> bool:
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__") not in _ASKING:
        frame = frame.f_back
    return frame is not None


def _audit(event: str, args: tuple[object, ...]) -> None:
    guard = EffectGuard._active
    if guard is None:
        return
    EffectGuard._active = None  # looking at the paths may raise events of its own
    try:
        effect = effect_of(event, args, guard.scratch)
    finally:
        EffectGuard._active = guard
    if effect and not (guard.environment and event.startswith(_ENVIRONMENT)) and not _asks_the_system():
        guard.refused.append(effect)
        refused = EffectRefused(f"it would {effect}")
        refused.effect = effect
        raise refused
