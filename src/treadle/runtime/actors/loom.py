"""The loom at message granularity: runs a test again and again, in steps of one message each.

Decides which actor libraries are put under control: those that are imported. Code is not rewritten, since memory is no
point here; the globals of the project's modules are put back after each execution all the same.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from types import ModuleType
from typing import Any

from treadle.model.errors import UsageError
from treadle.runtime.actors.messages import MessageExecution
from treadle.runtime.instrument.relevance import without_unrelated_tests
from treadle.runtime.instrument.selection import file_of
from treadle.runtime.loom import Loom

# library -> the module here that puts it under control
LIBRARIES = {"pykka": "treadle.runtime.actors.pykka", "thespian": "treadle.runtime.actors.thespian"}

# An execution of an actor program may be long: a message takes three operations or four.
MOST_STEPS = 200_000


class MessageLoom(Loom):
    """Runs executions of one test in steps of messages. Use as a context manager."""

    def __init__(
        self,
        test: Callable[[], Any],
        *,
        causal: bool = False,
        behaviours: tuple[str, ...] = (),
        most_steps: int = MOST_STEPS,
        **options: Any,
    ) -> None:
        if options.get("instrument"):
            raise UsageError(
                "--instrument looks into every access of a package, and message granularity looks at messages only; "
                "use --granularity accesses"
            )
        super().__init__(test, most_steps=most_steps, **options)
        self.causal = causal
        self.behaviours = behaviours

    def _instrument(self, stack: ExitStack) -> list[ModuleType]:
        for name, module in LIBRARIES.items():
            if name in sys.modules:
                stack.enter_context(importlib.import_module(module).controlled())
        selected = {
            name: module
            for name, module in list(sys.modules.items())
            if isinstance(module, ModuleType) and self.selection.selects(name, file_of(module))
        }
        return list(without_unrelated_tests(selected, self.selection).values())

    def _execution(self) -> Callable[..., MessageExecution]:
        return partial(self._make, MessageExecution)

    def _make(self, kind: type[MessageExecution], *arguments: Any) -> MessageExecution:
        run = kind(*arguments)
        run.causal, run.behaviours = self.causal, self.behaviours
        return run
