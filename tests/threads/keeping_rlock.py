"""A module that keeps its own reference to a factory of threading, taken long before any execution."""

from threading import RLock as _make
from typing import Any


def make_lock() -> Any:
    return _make()
