"""Treadle writes and runs the concurrency tests that people cannot write by hand.

The public names are loaded when they are first used, so that importing treadle costs nothing in a
program that is not being tested.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same names for editors and type checkers
    from treadle import actors as actors
    from treadle.generate.class_.follow import follow as follow
    from treadle.generate.explore import check as check
    from treadle.generate.explore import replay as replay
    from treadle.generate.schedule.order import OrderNotKept as OrderNotKept
    from treadle.generate.schedule.order import order as order
    from treadle.generate.suite import explore as explore
    from treadle.generate.suite import parallel as parallel
    from treadle.model.assume import acyclic as acyclic
    from treadle.model.assume import assume as assume
    from treadle.model.assume import non_aliasing as non_aliasing
    from treadle.model.assume import non_sharing as non_sharing
    from treadle.model.errors import DeadlockError as DeadlockError
    from treadle.model.errors import LivelockError as LivelockError
    from treadle.model.errors import NothingToExplore as NothingToExplore
    from treadle.model.errors import UsageError as UsageError
    from treadle.model.result import Finding as Finding
    from treadle.model.result import Result as Result
    from treadle.model.result import Verdict as Verdict
    from treadle.output.unit_suite import Suite as Suite
    from treadle.output.unit_suite import unit as unit
    from treadle.runtime.actors.messages import handlers_changed as handlers_changed

__version__ = "0.1.0"

# name -> the module that defines it; each door adds its own row
_PUBLIC: dict[str, str] = {
    "check": "treadle.generate.explore",
    "explore": "treadle.generate.suite",
    "parallel": "treadle.generate.suite",
    "replay": "treadle.generate.explore",
    "follow": "treadle.generate.class_.follow",
    "order": "treadle.generate.schedule.order",
    "OrderNotKept": "treadle.generate.schedule.order",
    "handlers_changed": "treadle.runtime.actors.messages",
    "Result": "treadle.model.result",
    "Finding": "treadle.model.result",
    "Verdict": "treadle.model.result",
    "DeadlockError": "treadle.model.errors",
    "LivelockError": "treadle.model.errors",
    "NothingToExplore": "treadle.model.errors",
    "UsageError": "treadle.model.errors",
    "unit": "treadle.output.unit_suite",
    "assume": "treadle.model.assume",
    "non_aliasing": "treadle.model.assume",
    "non_sharing": "treadle.model.assume",
    "acyclic": "treadle.model.assume",
    "Suite": "treadle.output.unit_suite",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "actors":  # treadle.actors.mailbox, after `import treadle` alone
        return import_module("treadle.actors")
    if name in _PUBLIC:
        value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)  # found at once from now on
        return value
    raise AttributeError(f"module 'treadle' has no attribute {name!r}")
