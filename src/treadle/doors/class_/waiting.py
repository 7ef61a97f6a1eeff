"""Threads whose calls may wait for ever: what a written test runs where some order of the calls leaves one waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from treadle.threads.unwinding import StrandEnd

# Seconds, in virtual time, which passes when nobody can go on: whoever has not ended then waits for ever.
_FOR_EVER = 1e9


class _Waits:
    def __repr__(self) -> str:
        return "WAITS"


# The result of a thread that waits for ever.
WAITS = _Waits()


def parallel_or_wait(*functions: Callable[[], Any]) -> list[Any]:
    """As `treadle.parallel`: the results, or the first exception. Nobody waits for a thread that waits for ever."""
    results: list[Any] = [WAITS] * len(functions)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            results[number] = functions[number]()
        except StrandEnd:
            raise
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_FOR_EVER)
    if errors:
        raise errors[0]
    return results
