"""Seeing the shared accesses of ordinary Python code: rewriting modules, and swapping the code of live ones."""

from __future__ import annotations

from treadle.threads.instrument.selection import ModuleSelection
from treadle.threads.instrument.swap import install_hooks, instrumented, rewritten_modules

__all__ = ["ModuleSelection", "install_hooks", "instrumented", "rewritten_modules"]
