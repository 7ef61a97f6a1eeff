"""On which builds of Python a failure can happen, and how that is said.

Whatever a build with the GIL can do, one without it and PyPy, which switch anywhere, can do as well. So a finding says
of each version of CPython with the GIL one of three things: it can, it cannot (every schedule it allows was run), or
that is not settled. Where more than the build decides, that is said as well: the code of the standard library that the
failure goes through may be another in another version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from treadle.core.json_form import NOT_IN_JSON, JsonForm

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
FREE_THREADED = ("3.13t", "3.14t")


@dataclass(frozen=True, slots=True)
class Builds(JsonForm):
    """Where a failure can happen. The three tuples share out the versions of CPython with the GIL."""

    possible: tuple[str, ...] = VERSIONS
    impossible: tuple[str, ...] = ()
    unsettled: tuple[str, ...] = ()
    # where the impossible ones would have to switch: "bank.py:7's read and write"
    between: str = field(default="", metadata=NOT_IN_JSON)
    why_unsettled: str = field(default="", metadata=NOT_IN_JSON)
    only_if: str = ""  # what must hold besides: "its functools.py does what that of CPython 3.11 does"
    on: str = ""  # all of it in words

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", self._said())

    def __str__(self) -> str:
        return self.on

    @property
    def everywhere(self) -> bool:
        return not self.impossible and not self.unsettled

    def _said(self) -> str:
        """`every build`, or where and where not."""
        if self.everywhere:
            return f"every build, if {self.only_if}" if self.only_if else "every build"
        places = [f"CPython {said(self.possible)} with the GIL"] if self.possible else []
        text = ", ".join([*places, f"free-threaded builds ({', '.join(FREE_THREADED)})", "PyPy"])
        if self.impossible:
            text += f"; not on CPython {said(self.impossible)} with the GIL"
            if self.between:
                text += f", which does not switch between {self.between}"
        if self.unsettled:
            text += f"; whether on CPython {said(self.unsettled)} with the GIL is not settled ({self.why_unsettled})"
        return f"{text}; all of this if {self.only_if}" if self.only_if else text


EVERY = Builds()


def not_asked(why: str, possible: tuple[str, ...] = ()) -> Builds:
    """Nobody looked on which versions with a GIL it can happen, but for those where it was seen."""
    return Builds(possible, (), tuple(version for version in VERSIONS if version not in possible), why_unsettled=why)


def said(versions: Sequence[str]) -> str:
    """`3.11`, `3.11 and 3.12`, `3.11 to 3.14`."""
    known = [VERSIONS.index(version) for version in versions]
    if len(known) > 2 and known[-1] - known[0] == len(known) - 1:
        return f"{versions[0]} to {versions[-1]}"
    return " and ".join(versions) if len(versions) < 3 else f"{', '.join(versions[:-1])} and {versions[-1]}"
