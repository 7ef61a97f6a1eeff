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
from types import FunctionType, ModuleType
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.packages import is_within
from treadle.core.result import Finding
from treadle.messages import oracles
from treadle.messages.execution import MessageExecution
from treadle.messages.imports import imported_by
from treadle.messages.journal import HandlerFailure
from treadle.tasks.loom import as_function
from treadle.threads.execution import Execution
from treadle.threads.instrument.selection import ModuleSelection, file_of, module_of
from treadle.threads.loom import Loom
from treadle.threads.unasked import globals_of, home_of, is_a
from treadle.threads.watchdog import ReallyBlocked

# library -> the module here that puts it under control
LIBRARIES = {"pykka": "treadle.messages.pykka", "thespian": "treadle.messages.thespian"}

# What messages may overtake each other; the first is the default of the doors.
DELIVERIES = ("mailbox", "causal", "promised")

# An execution of an actor program may be long: a message takes three operations or four.
MOST_STEPS = 200_000
# Seconds without an operation once a handler was seen that does not end: then it is only shown again.
_SECOND_PATIENCE = 3.0


def uses_actors(source: Any) -> bool:
    """Does the text of the test's module, or of a module of the project that it imports, name an actor library?

    Wherever it does: an import inside a function counts, and the library is imported here, so that it is under control
    when the test imports it.
    """
    found = imported_by(module_of(source), ModuleSelection.for_test(source))
    if "treadle.actors.mailbox" in found:
        return True
    libraries = [name for name in LIBRARIES if any(is_within(one, [name]) for one in found)]
    for name in libraries:
        try:
            importlib.import_module(name)
        except ImportError:
            return False
    return bool(libraries)


class MessageLoom(Loom):
    """Runs executions of one test in steps of messages. Use as a context manager."""

    def __init__(
        self,
        test: Callable[[], Any],
        *,
        source: Any = None,
        delivery: str = "promised",
        holding: bool = True,
        behaviours: tuple[str, ...] = (),
        queues: bool = False,
        most_steps: int = MOST_STEPS,
        **options: Any,
    ) -> None:
        if options.get("instrument"):
            raise UsageError(
                "--instrument looks into every access of a package, and message granularity looks at messages only; "
                "use --granularity accesses"
            )
        if delivery not in DELIVERIES:
            raise UsageError(f"delivery must be {' or '.join(map(repr, DELIVERIES))}, not {delivery!r}")
        super().__init__(as_function(test), source=test if source is None else source, most_steps=most_steps, **options)
        self.coasts = False  # messages are what its steps are: all of them are looked at
        self.queues = queues  # is each queue of the program a mailbox, without being told?
        self.delivery = delivery
        self.holding = holding  # messages wait that cannot come now; without it the execution is impossible
        self.behaviours = behaviours
        self.orders: list[Any] = []  # what the next executions have to keep

    def __enter__(self) -> MessageLoom:
        super().__enter__()
        return self

    def _instrument(self, stack: ExitStack) -> list[ModuleType]:
        if "asyncio" in sys.modules:
            stack.enter_context(importlib.import_module("treadle.messages.queues").controlled())
        for name, module in LIBRARIES.items():
            if name in sys.modules:
                stack.enter_context(importlib.import_module(module).controlled())
        return own_modules(module_of(self.source), self.selection)

    def _control(self, stack: ExitStack) -> None:
        super()._control(stack)
        if self.queues:
            own = self.selection.selects
            stack.enter_context(importlib.import_module("treadle.messages.queues").unasked(own))
            if "anyio.streams.memory" in sys.modules:
                stack.enter_context(importlib.import_module("treadle.messages.memory_streams").unasked(own))

    def _execution(self) -> Callable[..., MessageExecution]:
        return partial(self._make, MessageExecution)

    def judge(self, run: Execution) -> list[Finding]:
        return oracles.judge(run)

    def _blocked(self, run: Execution, blocked: ReallyBlocked) -> None:
        """A handler that does not end is a failure of its actor."""
        assert isinstance(run, MessageExecution)
        handling = run.stuck_in  # the library may have caught what was thrown, and have gone on to other messages
        if handling is None or handling.message is None:
            raise blocked
        run.journal.failures.append(HandlerFailure(handling.actor, blocked, handling.message, False))
        for strand in run.people:
            if strand.exception is blocked:
                strand.exception = None  # told as the failure of the handler
        self.watch.patience = min(self.watch.patience, _SECOND_PATIENCE)

    def possible(self, run: Execution) -> bool:
        return not getattr(run, "impossible", False)

    def leftovers(self, run: Execution) -> list[Finding]:
        return oracles.warnings(run)

    def _make(self, kind: type[MessageExecution], *arguments: Any) -> MessageExecution:
        run = kind(*arguments)
        run.delivery, run.holding, run.behaviours = self.delivery, self.holding, self.behaviours
        run.orders = list(self.orders)
        return run


def own_modules(test: ModuleType | None, selection: ModuleSelection) -> list[ModuleType]:
    """The project's modules that the globals of the test's module lead to: their globals are put back."""
    found: dict[str, ModuleType] = {}
    pending = [test] if test is not None else []
    while pending:
        module = pending.pop()
        if module.__name__ in found or not selection.selects(module.__name__, file_of(module)):
            continue
        found[module.__name__] = module
        for value in list(globals_of(module).values()):
            name = value.__name__ if type(value) is ModuleType else home_of(type(value))
            if is_a(value, type):
                name = home_of(value)
            elif type(value) is FunctionType:
                name = str(value.__module__)
            reached = sys.modules.get(name)
            if reached is not None and is_a(reached, ModuleType):
                pending.append(reached)
    return list(found.values())
