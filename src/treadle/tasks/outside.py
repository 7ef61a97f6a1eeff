"""What an event loop of an execution does not have: other hosts, pipes, processes. Refused by the line that asks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

from treadle.core.errors import Unsupported
from treadle.threads.detail import stack_of

OUTSIDE = {
    "a network connection": ("getnameinfo",),
    "a file descriptor": ("connect_read_pipe", "connect_write_pipe"),
    "a subprocess": ("subprocess_exec", "subprocess_shell"),
}


def refuse(run: Any, what: str) -> NoReturn:
    """End the execution: the line of the program that called asyncio uses `what`."""
    places = [place for place in stack_of(sys._getframe(1)) if "/asyncio/" not in place[0]]
    where = f"{places[0][0]}:{places[0][1]}" if places else "the test"
    error = Unsupported(
        f"{where} uses {what}, which no schedule controls; give the test something in its place that lives in memory"
    )
    run.failure = error  # whatever the program does with the exception
    raise error


def refused(what: str, method: str) -> Callable[..., Any]:
    """A method of the loop that refuses."""

    def refusing(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        refuse(self.execution, f"{what} of the real world (loop.{method})")

    refusing.__name__ = method
    return refusing
