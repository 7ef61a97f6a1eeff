"""Processes: a program that starts one of its own (os.fork, multiprocessing) inside an execution is not supported, nor
one that ends the process it runs in (os._exit, os.abort) or makes it another program (os.exec...).

The child would go on as a copy of the scheduler; the end would be that of the search, without a verdict and with the
program's exit code. `subprocess` runs another program, which is fine (see `outside`).

multiprocessing.pool.ThreadPool has threads, and waits for them on a pipe: inside an execution it runs as it is, with a
modelled queue in the place of that pipe.
"""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

from treadle.core.errors import Unsupported
from treadle.threads.primitives import queues
from treadle.threads.primitives.inside import here
from treadle.threads.strands import Strand

_real_fork: Any = getattr(os, "fork", None)


def _refuse(strand: Strand, what: str) -> NoReturn:
    error = Unsupported(
        f"the program calls {what}: Treadle runs the threads of one process, and no other processes; "
        "use threads in this test, or put the call that starts the process behind something it can replace"
    )
    strand.execution.failure = error  # whatever the program does with the exception
    raise error


def fork() -> int:
    strand = here()
    if strand is not None:
        _refuse(strand, "os.fork()")
    return int(_real_fork())


def _ending(name: str) -> Any:
    """A function of os that ends this process, refused inside an execution."""
    real = getattr(os, name)

    def end(*args: Any) -> Any:
        if here() is not None:
            raise Unsupported(
                f"the program calls os.{name}(), which ends the whole process and the search with it; put the call "
                "behind something that the test can replace"
            )
        return real(*args)

    return end


_ENDINGS = {name: _ending(name) for name in ("_exit", "abort", "execv", "execve") if hasattr(os, name)}

# what to put in place of a name that was imported from os before
IMPORTED: dict[Any, Any] = {getattr(os, name): model for name, model in _ENDINGS.items()}
if _real_fork is not None:
    IMPORTED[_real_fork] = fork


def _start(real: Any) -> Any:
    def start(self: Any) -> None:
        strand = here()
        if strand is not None:
            _refuse(strand, f"{type(self).__name__}.start() of multiprocessing")
        real(self)

    return start


class _Notices:
    """In the place of the pipe by which a pool tells its handlers that something has changed."""

    _reader = None

    def __init__(self) -> None:
        notices = queues.SimpleQueue()
        self.put, self.get, self.empty = notices.put, notices.get, notices.empty


class _InMemory:
    """In the place of the context of a pool: where it has its pipe from."""

    SimpleQueue = _Notices


# Workers of a ThreadPool that is not told how many: the same on every machine, and more than one.
_WORKERS = 2


def _make_pool(real: Any) -> Any:
    def __init__(
        self: Any, processes: Any = None, initializer: Any = None, initargs: Any = (), *args: Any, **kwargs: Any
    ) -> None:
        strand = here()
        if strand is not None:
            self._state = None  # its finaliser asks
            if type(self).__name__ != "ThreadPool":
                _refuse(strand, f"{type(self).__name__}() of multiprocessing.pool")
            strand.execution.assumed.add("what a ThreadPool does inside")
            real(self, _WORKERS if processes is None else processes, initializer, initargs, context=_InMemory())
            return
        real(self, processes, initializer, initargs, *args, **kwargs)

    return __init__


def _wait_for_updates(real: Any) -> Any:
    def wait(sentinels: Any, notices: Any, timeout: float | None = None) -> None:
        if type(notices) is not _Notices:
            real(sentinels, notices, timeout)
            return
        notices.get()
        while not notices.empty():
            notices.get()

    return staticmethod(wait)


def patches() -> list[tuple[Any, dict[str, Any]]]:
    """As it stands now: multiprocessing is not imported for this."""
    found: list[tuple[Any, dict[str, Any]]] = [(os, dict(_ENDINGS))]
    if _real_fork is not None:
        found.append((os, {"fork": fork}))
    multiprocessing = sys.modules.get("multiprocessing.process")
    if multiprocessing is not None:
        process: Any = vars(multiprocessing)["BaseProcess"]
        found.append((process, {"start": _start(vars(process)["start"])}))
    pools = sys.modules.get("multiprocessing.pool")
    if pools is not None:
        pool: Any = vars(pools)["Pool"]
        waits = _wait_for_updates(vars(pool)["_wait_for_updates"].__func__)
        found.append((pool, {"__init__": _make_pool(vars(pool)["__init__"]), "_wait_for_updates": waits}))
    return found
