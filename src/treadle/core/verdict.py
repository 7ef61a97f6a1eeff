"""How a search ended, which ending is worse, and what it means outside: exit codes and exceptions. The only place.

Keeps: nothing but a pass exits with 0, and of several endings the worst one is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from treadle.core.errors import AskNeverAnsweredError, DeadlockError, LeakedActorsError, LivelockError, TreadleError

# What the process of a command says at its end.
EXIT_PASSED = 0
EXIT_FAILED = 1  # a failure was found
EXIT_WRONG_USE = 2  # something that its user can put right, or code that is not supported
EXIT_NOT_A_PASS = 3  # cut, or nothing to explore
EXIT_INTERNAL = 70  # a bug in Treadle
EXIT_CANNOT_WRITE = 74  # a process of ours has no place for its results
EXIT_INTERRUPTED = 130  # Ctrl-C before anything was found
EXIT_BROKEN_PIPE = 141  # nobody reads the output

# A failure that was found counts whatever else happened; what could not be looked at comes before what was cut.
_WORST_CODE_FIRST = (EXIT_FAILED, EXIT_INTERNAL, EXIT_WRONG_USE, EXIT_NOT_A_PASS, EXIT_PASSED)


class Verdict(Enum):
    """How a search ended, the worst first. Only the passes say something about the program as far as they went."""

    FAILED = "FAILED"  # a schedule breaks it, and was replayed
    CUT = "CUT"  # time or executions ran out first
    NOTHING_TO_EXPLORE = "NOTHING-TO-EXPLORE"  # one schedule, no conflict: an alarm, not a pass
    PASSED_WITHIN_BOUNDS = "PASSED-WITHIN-BOUNDS"  # every schedule within the bounds that were asked for
    PASSED_EXHAUSTIVE = "PASSED-EXHAUSTIVE"  # every schedule was run, up to equivalence

    @property
    def is_pass(self) -> bool:
        return self in (Verdict.PASSED_WITHIN_BOUNDS, Verdict.PASSED_EXHAUSTIVE)

    @property
    def exit_code(self) -> int:
        if self is Verdict.FAILED:
            return EXIT_FAILED
        return EXIT_PASSED if self.is_pass else EXIT_NOT_A_PASS


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on several tests or classes; that nothing was run is no pass either."""
    found = set(verdicts)
    return next((verdict for verdict in Verdict if verdict in found), Verdict.NOTHING_TO_EXPLORE)


def worst_exit_code(codes: Iterable[int], strict: bool = False) -> int:
    """The exit code for several parts of one command; with `--strict`, a part that is no pass fails."""
    found = set(codes) or {EXIT_NOT_A_PASS}
    if strict and EXIT_NOT_A_PASS in found:
        return EXIT_FAILED
    return next(code for code in _WORST_CODE_FIRST if code in found)


def exit_code_of(*, failed: bool, internal: bool = False, refused: bool = False, unfinished: bool = False) -> int:
    """The exit code of a command by what it met, for those that have no verdict."""
    met = {
        EXIT_FAILED: failed,
        EXIT_INTERNAL: internal,
        EXIT_WRONG_USE: refused,
        EXIT_NOT_A_PASS: unfinished,
        EXIT_PASSED: True,
    }
    return worst_exit_code(code for code, so in met.items() if so)


_EXCEPTION_FOR = {
    "deadlock": DeadlockError,
    "cycle of blocking gets": DeadlockError,
    "livelock": LivelockError,
    "ask never answered": AskNeverAnsweredError,
    "leaked actors": LeakedActorsError,
}


def exception_for(kind: str, message: str) -> TreadleError:
    """The exception that stands for a finding in which the program itself raised none."""
    known = _EXCEPTION_FOR.get(kind)
    return known(message) if known is not None else TreadleError(f"{kind}: {message}")
