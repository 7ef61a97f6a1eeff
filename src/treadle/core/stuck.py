"""The end of a process that is stuck in a call in C which never looks up: no signal and no exception reaches it there.

The process that a person started waits for the one that works (`watched_over`). The one that works says again and again
by when it will have said so again (`end_after`). When it has not, a thread of CPython's own, which needs no interpreter
lock, writes down where it stands and ends it, and the other one tells that.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import re
import signal
import sys
from collections.abc import Callable

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_HANDED_ON = {signal.SIGINT, signal.SIGTERM} | ({signal.SIGHUP} if hasattr(signal, "SIGHUP") else set())
_descriptor = -1  # where the one that works writes its stack

Frame = tuple[str, int, str]  # file, line, function


def end_after(seconds: float) -> None:
    """Unless this is called again within these seconds, the process is ended; if somebody watches over it."""
    if _descriptor >= 0:
        faulthandler.dump_traceback_later(seconds, exit=True, file=_descriptor)


def never_mind() -> None:
    if _descriptor >= 0:
        faulthandler.cancel_dump_traceback_later()


def watched_over(tell: Callable[[list[Frame]], int]) -> None:
    """Return in a new process, which works; this one ends as that one does. `tell` says of a stack, innermost first,
    that the process was ended there, and gives the exit code."""
    global _descriptor
    if not sys.platform.startswith("linux"):
        return
    signals = {signal.SIGCHLD, *_HANDED_ON}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    here, _descriptor = os.pipe()
    parent, worker = os.getpid(), os.fork()
    if worker == 0:
        os.close(here)
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return
    os.close(_descriptor)
    status = _waited_for(worker, signals)
    with os.fdopen(here, encoding="utf-8", errors="replace") as written:
        frames = [(file, int(line), function) for file, line, function in _FRAME.findall(written.read())]
    if frames:
        code = tell(frames)
    elif os.WIFSIGNALED(status):
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if os.WTERMSIG(status) != signal.SIGKILL:  # which nobody can handle
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(parent, os.WTERMSIG(status))
        code = 128 + os.WTERMSIG(status)
    else:
        code = os.waitstatus_to_exitcode(status)
    os._exit(code)


def _waited_for(worker: int, signals: set[signal.Signals]) -> int:
    """How the worker ended. What is sent to this process alone is handed on; a terminal tells both."""
    while True:
        came = signal.sigwaitinfo(signals)
        if came.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(worker, os.WNOHANG | os.WUNTRACED)
            if ended and not os.WIFSTOPPED(status):
                return status
        elif came.si_code <= 0:  # from a process, not from the terminal
            os.kill(worker, came.si_signo)
