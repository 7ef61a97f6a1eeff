"""What went wrong with tasks in one execution: what asyncio would only have written to a log.

Findings: an exception in a callback, an exception that nobody retrieved, a task that was destroyed while it was
pending or whose loop was closed while it was, a coroutine that nobody awaited. A program that sets its own exception
handler is told instead, as always.

Warnings: time that passed inside one step of a loop, which is a call that blocks all its tasks.
"""

from __future__ import annotations

from typing import Any

from treadle.core.result import Finding


def findings(run: Any) -> list[Finding]:
    """What is wrong with an execution that came to its end, most important first."""
    if run.stop_reason:
        return []
    found = [_told(context) for context in run.told]
    found += [Finding("task never finished", f"{task}, and its loop was closed") for task in run.left_pending]
    found += [_unretrieved(future) for future in run.unretrieved]
    found += [Finding("coroutine never awaited", f"coroutine {name} was never awaited") for name in run.unawaited]
    return found


def warnings(run: Any) -> list[Finding]:
    return [
        Finding("blocking call in the loop", f"{place} keeps the event loop from running for {round(seconds, 3):g} s")
        for place, seconds in run.blocking.items()
    ] + [
        Finding("event loop replaced", f"{what} is replaced: the test runs on Treadle's own event loop")
        for what in sorted(run.replaced)
    ]


def _told(context: dict[str, Any]) -> Finding:
    message = str(context.get("message") or "unhandled exception in the event loop")
    error = context.get("exception")
    if message.startswith("Task was destroyed"):
        return Finding("task destroyed", f"{_name(context.get('task'))} was destroyed while it was pending")
    if "never retrieved" in message:
        return _unretrieved(context.get("task") or context.get("future"), error)
    if error is None:
        return Finding("event loop", message)
    return Finding("exception", f"{_error(error)} in a callback of the event loop", exception=error)


def _unretrieved(future: Any, error: BaseException | None = None) -> Finding:
    error = future._exception if error is None else error
    message = f"{_error(error)} of {_name(future)} was never retrieved"
    return Finding("exception never retrieved", message, exception=error)


def _error(error: BaseException | None) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _name(future: Any) -> str:
    coroutine = getattr(future, "_coro", None)
    if coroutine is None:
        return "a future"
    given = future.get_name()
    return f"task {getattr(coroutine, '__qualname__', given) if given.startswith('Task-') else given}"
