"""Treadle writes and runs the concurrency tests that people cannot write by hand.

The public names are loaded when they are first used, so that importing treadle costs nothing in a
program that is not being tested.
"""

from importlib import import_module
from typing import Any

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
    "Suite": "treadle.output.unit_suite",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "actors":  # treadle.actors.mailbox, after `import treadle` alone
        return import_module("treadle.actors")
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'treadle' has no attribute {name!r}")
