"""The standard streams of a command, kept from the code under test.

Code under test runs inside the command for a while: it may close `sys.stdout`, put something else in its place, or
close the descriptor behind it. Copies of the descriptors wait at numbers that no program guesses; afterwards everything
is as it was.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO, TextIO

# Small numbers are what programs open, and what values that are tried look like.
_OUT_OF_REACH = 200
_STREAMS = ("stdin", "stdout", "stderr")


@contextlib.contextmanager
def silent_stdout() -> Iterator[None]:
    """What is printed inside goes nowhere: code that is run thousands of times prints as often, and what a command says
    on standard output is for machines as well."""
    with protected_streams(), open(os.devnull, "w", encoding="utf-8") as nowhere:
        if sys.stdout is not None:
            sys.stdout.flush()
        sys.stdout = nowhere
        with contextlib.suppress(OSError):
            os.dup2(nowhere.fileno(), 1)
        yield


@contextlib.contextmanager
def protected_streams() -> Iterator[None]:
    """On leaving, the three streams and their descriptors are those of before, whatever was done to them."""
    streams: list[TextIO | None] = [getattr(sys, name) for name in _STREAMS]
    copies = {number: copy for number in range(3) if (copy := _copy(number)) is not None}
    try:
        yield
    finally:
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)
        for number, (name, stream) in enumerate(zip(_STREAMS, streams, strict=True)):
            setattr(sys, name, _opened(number, stream) if stream is not None and stream.closed else stream)


def _opened(number: int, like: TextIO) -> IO[str]:
    return open(number, "r" if number == 0 else "w", encoding=like.encoding, errors=like.errors, closefd=False)


def _copy(number: int) -> int | None:
    """A copy of a descriptor, out of reach; None when it is not open."""
    try:
        if sys.platform == "win32":
            return os.dup(number)
        import fcntl  # not everywhere

        return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_REACH)
    except OSError:
        return None
