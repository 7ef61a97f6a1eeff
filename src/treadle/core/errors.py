"""Every error Treadle raises on purpose: one base class, one class per cause.

`UsageError` is the user's to put right and is shown as one sentence; `InternalError` is ours and says so.
"""

from __future__ import annotations


class TreadleError(Exception):
    """Base of everything Treadle raises on purpose."""


class UsageError(TreadleError):
    """Wrong use: a missing file, a wrong name, an option that makes no sense. One sentence, exit code 2."""


class Unsupported(UsageError):
    """The code under test does something that Treadle cannot handle; names the place and the way out."""


class NoSuchModule(UsageError):
    """Somebody named a module that there is not."""


class MissingExtra(UsageError):
    """An optional part of Treadle is not installed."""

    _EXTRA = {"z3": "unit", "coverage": "unit", "lark": "abs", "hypothesis": "class"}
    _EXTRA |= {"pykka": "pykka", "thespian": "thespian"}
    _FOR_COMMAND = {"unit": "unit", "actor": "abs", "run": "abs", "class": "class"}

    @classmethod
    def from_import(cls, what: str, error: ModuleNotFoundError) -> MissingExtra:
        missing = (error.name or "").partition(".")[0]
        extra = cls._FOR_COMMAND.get(what.partition(" ")[0]) or cls._EXTRA.get(missing)
        needs = f"'{what}' needs {missing}, which is not installed"
        if missing not in cls._EXTRA:
            return cls(f"{needs}; run: pip install {missing}")
        return cls(f"{needs}; run, in the folder of Treadle: pip install '.[{extra}]'")


class InternalError(TreadleError):
    """A bug in Treadle itself."""

    def __str__(self) -> str:
        return f"internal error in Treadle, please report it: {super().__str__()}"


class DeadlockError(TreadleError):
    """In the schedule that was found no strand can go on. The explanation and the replay command are its notes."""


class LivelockError(TreadleError):
    """In the schedule that was found strands go on for ever without getting anywhere."""


class AskNeverAnsweredError(TreadleError):
    """In the schedule that was found somebody waits for a reply that cannot come any more."""


class LeakedActorsError(TreadleError):
    """In the schedule that was found the test is over and actors still run: the process would not end."""


class NothingToExplore(TreadleError):
    """The test has one schedule only, so that its passing would say nothing about concurrency."""
