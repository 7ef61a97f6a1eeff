"""Treadle writes and runs the concurrency tests that people cannot write by hand.

The public names are loaded when they are first used, so that importing treadle costs nothing in a
program that is not being tested.

PYTEST_DONT_REWRITE: pytest would warn that it cannot, and where warnings are errors nothing would run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for editors and type checkers
    from treadle import actors as actors
    from treadle.core.assume import acyclic as acyclic
    from treadle.core.assume import assume as assume
    from treadle.core.assume import non_aliasing as non_aliasing
    from treadle.core.assume import non_sharing as non_sharing
    from treadle.core.errors import AskNeverAnsweredError as AskNeverAnsweredError
    from treadle.core.errors import DeadlockError as DeadlockError
    from treadle.core.errors import LeakedActorsError as LeakedActorsError
    from treadle.core.errors import LivelockError as LivelockError
    from treadle.core.errors import NothingToExplore as NothingToExplore
    from treadle.core.errors import UsageError as UsageError
    from treadle.core.result import Finding as Finding
    from treadle.core.result import Result as Result
    from treadle.core.result import Verdict as Verdict
    from treadle.doors.class_.follow import follow as follow
    from treadle.doors.explore.check import check as check
    from treadle.doors.explore.decorator import explore as explore
    from treadle.doors.explore.decorator import parallel as parallel
    from treadle.doors.explore.replay import replay as replay
    from treadle.doors.unit.suite import Suite as Suite
    from treadle.doors.unit.suite import unit as unit
    from treadle.messages.execution import handlers_changed as handlers_changed
    from treadle.messages.order import OrderNotKept as OrderNotKept
    from treadle.messages.order import order as order
    from treadle.tasks.choices import choose as choose
    from treadle.threads.primitives.clock import pass_time as pass_time

__version__ = "0.1.0"

# name -> the module that defines it; each door adds its own row
_PUBLIC: dict[str, str] = {
    "check": "treadle.doors.explore.check",
    "explore": "treadle.doors.explore.decorator",
    "parallel": "treadle.doors.explore.decorator",
    "replay": "treadle.doors.explore.replay",
    "follow": "treadle.doors.class_.follow",
    "choose": "treadle.tasks.choices",
    "pass_time": "treadle.threads.primitives.clock",
    "order": "treadle.messages.order",
    "OrderNotKept": "treadle.messages.order",
    "handlers_changed": "treadle.messages.execution",
    "Result": "treadle.core.result",
    "Finding": "treadle.core.result",
    "Verdict": "treadle.core.result",
    "AskNeverAnsweredError": "treadle.core.errors",
    "DeadlockError": "treadle.core.errors",
    "LeakedActorsError": "treadle.core.errors",
    "LivelockError": "treadle.core.errors",
    "NothingToExplore": "treadle.core.errors",
    "UsageError": "treadle.core.errors",
    "unit": "treadle.doors.unit.suite",
    "assume": "treadle.core.assume",
    "non_aliasing": "treadle.core.assume",
    "non_sharing": "treadle.core.assume",
    "acyclic": "treadle.core.assume",
    "Suite": "treadle.doors.unit.suite",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "actors":  # treadle.actors.mailbox, after `import treadle` alone
        return import_module("treadle.actors")
    if name in _PUBLIC:
        value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)  # found at once from now on
        return value
    raise AttributeError(f"module 'treadle' has no attribute {name!r}")
