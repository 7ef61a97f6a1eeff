"""The progress line of a search: executions, rate, and an estimate of what is left. On stderr, and only in a terminal.

Decides how often a search is looked at: `Progress` is called after executions as often as the search likes, and
redraws at most a few times a second, so that it costs nothing.
"""

from __future__ import annotations

import time
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from treadle.report.terminal import harmless

# Fast enough to look alive, slow enough not to matter.
_REDRAW = 0.2

# The clock of the machine: inside a search, the `time` module shows the virtual time of the program under test.
_now = time.perf_counter


class Progress:
    """One line that is redrawn in place. Use it as a context manager; call it with what the search knows."""

    def __init__(self, label: str, file: IO[str] | None = None) -> None:
        self.label = label
        self.console = Console(file=file, stderr=file is None, highlight=False)
        self.visible = self.console.is_terminal
        self._live: Live | None = None
        self._start = _now()
        self._next = 0.0

    def __enter__(self) -> Progress:
        if self.visible:
            self._live = Live(Text(harmless(self.label)), console=self.console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, executions: int, estimate: float | None = None, strategy: str = "") -> None:
        if self._live is None:
            return
        now = _now()
        if now < self._next:
            return
        self._next = now + _REDRAW
        text = describe(self.label, executions, now - self._start, estimate, strategy)
        self._live.update(Text(text, overflow="ellipsis", no_wrap=True), refresh=True)


class LineEnd:
    """Progress behind what somebody else has written on a line of the terminal, as far as there is room.

    The cursor goes back to where it was, so that the other goes on as if nothing had been there.
    """

    def __init__(self, file: IO[str], room: int) -> None:
        self._file = file
        self._room = room
        self._start = _now()
        self._next = self._start + 1.0  # most searches are over by then
        self._shown = False

    def __enter__(self) -> LineEnd:
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown:
            self._write("")
        self._file.close()

    def __call__(self, executions: int, estimate: float | None = None, strategy: str = "") -> None:
        now = _now()
        if now >= self._next:
            self._next = now + _REDRAW
            self._shown = True
            self._write(" " + describe("", executions, now - self._start, estimate, strategy))

    def _write(self, text: str) -> None:
        """Remember where the cursor is, write, erase what is behind, go back."""
        self._file.write(f"\x1b7{text[: self._room]}\x1b[K\x1b8")
        self._file.flush()


def describe(label: str, executions: int, seconds: float, estimate: float | None, strategy: str) -> str:
    """The line itself: `tests/test_x.py::test_y  dpor  1 200 executions  8 000/s  about 40 000 in all, 5 s left`."""
    rate = executions / seconds if seconds > 0 else 0.0
    parts = [harmless(label), strategy, many(executions, "execution"), f"{count(rate)}/s"]
    if estimate is not None and estimate > executions and rate:
        parts.append(f"about {count(estimate)} in all, {duration((estimate - executions) / rate)} left")
    return "  ".join(part for part in parts if part)


def count(number: float) -> str:
    """A number as people read it: thousands apart, and powers of ten once it is beyond counting."""
    if number >= 1e9:
        return f"10^{len(str(int(number))) - 1}"
    return f"{int(number):,}".replace(",", " ")


def many(number: int, noun: str, several: str = "") -> str:
    """`1 execution`, `1 200 executions`."""
    return f"{count(number)} {noun if number == 1 else several or f'{noun}s'}"


def duration(seconds: float) -> str:
    """A length of time in the largest unit that fits."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{count(seconds / size)} {unit}"
    return f"{int(seconds)} s" if seconds >= 1 or seconds == 0 else "1 s"
