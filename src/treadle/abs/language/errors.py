"""How an error in an ABS file is shown: the sentence, the place, the line of text and a caret below it.

Every error of the front end is an `AbsError`; a construct of ABS that Treadle knows and does not execute is an
`AbsUnsupported`, whose sentence names the construct.
"""

from __future__ import annotations

from dataclasses import dataclass

from treadle.core.errors import Unsupported, UsageError


@dataclass(frozen=True, slots=True)
class AbsSource:
    """One ABS text and the name it is shown under."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class AbsPlace:
    """A position in a source: line and column count from one."""

    source: AbsSource
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    def shown(self, sentence: str) -> str:
        """`file:line:column: sentence`, the line itself, and a caret below the column."""
        lines = self.source.text.splitlines()
        text = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        gutter = f"{self.line:>5} | "
        before = "".join("\t" if char == "\t" else " " for char in text[: self.column - 1])
        return f"{self}: {sentence}\n{gutter}{text}\n{' ' * (len(gutter) - 2)}| {before}^"


class AbsError(UsageError):
    """A mistake in an ABS text: syntax, name or type."""

    def __init__(self, sentence: str, place: AbsPlace) -> None:
        super().__init__(place.shown(sentence))
        self.sentence = sentence
        self.place = place


class SeveralAbsErrors(AbsError):
    """More than one mistake, each with its place."""

    def __init__(self, errors: list[AbsError]) -> None:
        first, most = errors[0], _MOST_ERRORS
        super().__init__(first.sentence, first.place)
        self.errors = errors
        left = f"\n... and {len(errors) - most} more errors" if len(errors) > most else ""
        self.args = ("\n".join(str(error) for error in errors[:most]) + left,)


# More errors than this are rarely worth reading at once.
_MOST_ERRORS = 20


def together(found: list[AbsError]) -> AbsError:
    """One error for all: itself when it is the only one, or when the model cannot be executed anyway."""
    errors = [one for error in found for one in (error.errors if isinstance(error, SeveralAbsErrors) else [error])]
    refused = [error for error in errors if isinstance(error, AbsUnsupported)]
    if refused or len(errors) == 1:
        return (refused or errors)[0]
    return SeveralAbsErrors(errors)


class AbsUnsupported(AbsError, Unsupported):
    """Correct ABS that Treadle does not execute: Timed ABS, deltas, product lines and the like."""


def unsupported(construct: str, place: AbsPlace) -> AbsUnsupported:
    """The one wording for everything that is ABS but is not executed here."""
    return AbsUnsupported(f"{construct} is not supported by Treadle; leave it out of the model", place)
