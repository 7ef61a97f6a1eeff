"""The program did something else than when it first ran along the same choices, and how that is said."""

from __future__ import annotations

from treadle.core.operation import Operation, location, verb


class Diverged(Exception):
    """The program did not do what it did before along the same choices."""

    def __init__(self, step: int, strand: str, expected: Operation, found: Operation | None, place: str = "") -> None:
        super().__init__(step, strand, expected, found)
        self.step, self.strand, self.expected, self.found = step, strand, expected, found
        self.expected_place = ""  # file and line of what was expected, when somebody finds out
        self.place = place  # file and line of what came instead

    def __str__(self) -> str:
        found = "it has ended or cannot go on" if self.found is None else _say(self.found, self.place)
        expected = _say(self.expected, self.expected_place)
        return f"step {self.step}: {self.strand} {expected} when first run, but now {found}"


def _say(op: Operation, place: str) -> str:
    return f"{verb(op)} {location(op)}".rstrip() + (f" ({place})" if place else "")
