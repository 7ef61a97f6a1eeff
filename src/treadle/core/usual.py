"""Names for what goes wrong in a plain run as well, where it fails no test: pytest only warns of an exception that ends
a thread, and asyncio only logs what its exception handlers are told.

The plugin that runs a test as it is and the search that judges its executions must give the same thing the same name.
"""

from __future__ import annotations

from typing import Any

NEVER_AWAITED = "asyncio: a coroutine that was never awaited"
TASK_LEFT = "asyncio: a task that was left pending"


def type_name(error: BaseException) -> str:
    """What ends a thread."""
    return f"{type(error).__module__}.{type(error).__qualname__}"


def told_to_loop(context: dict[str, Any]) -> str:
    """What the exception handler of an event loop is told."""
    message, error = str(context.get("message") or ""), context.get("exception")
    if message.startswith("Task was destroyed"):
        return TASK_LEFT
    if isinstance(error, BaseException):
        return never_retrieved(error) if "never retrieved" in message else in_callback(error)
    return f"asyncio: {message}"


def never_retrieved(error: BaseException) -> str:
    return f"asyncio: never retrieved: {type_name(error)}"


def in_callback(error: BaseException) -> str:
    return f"asyncio: in a callback: {type_name(error)}"
