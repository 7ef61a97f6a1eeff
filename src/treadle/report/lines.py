"""Lines for a person: as wide as the terminal, with nothing in them that the terminal would obey.

Keeps: what is to be pasted into a shell is never broken into lines, and nothing is where nobody reads it as it comes
(a file, a pipe): there, one fact is one line.
"""

from __future__ import annotations

from typing import IO

from rich.console import Console
from rich.text import Text

from treadle.report.terminal import harmless

# By how much the second line of a sentence stands further in than the first.
_HANGING = 2


class Lines(Console):
    """A console that says sentences."""

    def __init__(self, file: IO[str] | None = None, *, width: int | None = None, stderr: bool = False) -> None:
        super().__init__(file=file, highlight=False, markup=False, emoji=False, width=width, stderr=stderr)

    def say(self, *parts: str | tuple[str, str], indent: int = 0, whole: bool = False) -> None:
        """One sentence of strings and of (text, style); `whole`: it must stay one line to be of use."""
        text = Text.assemble(*(harmless(one) if isinstance(one, str) else (harmless(one[0]), one[1]) for one in parts))
        margin = Text(" " * indent)
        if whole or not self.is_terminal or indent + len(text) <= self.width:
            self.print(margin + text, soft_wrap=True)
            return
        for number, line in enumerate(text.wrap(self, max(self.width - indent - _HANGING, 20))):
            line.rstrip()
            self.print(margin + Text(" " * _HANGING * (number > 0)) + line, soft_wrap=True)

    def table(self, text: str) -> None:
        """Lines that are laid out already."""
        for line in text.splitlines():
            self.say(line.rstrip(), indent=4 if line.strip() else 0, whole=True)
