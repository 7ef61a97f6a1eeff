"""What went wrong with tasks in one execution: what asyncio would only have written to a log.

Findings: an exception in a callback, an exception that nobody retrieved, a task that was destroyed while it was
pending or whose loop was closed while it was, a coroutine that nobody awaited. A program that sets its own exception
handler is told instead, as always. What asyncio writes to its log in a plain run as well, which passes, is a warning.

Warnings: time that passed inside one step of a loop, which is a call that blocks all its tasks; a lock that nobody can
take any more after a cancellation.
"""

from __future__ import annotations

from typing import Any

from treadle.core import usual
from treadle.core.result import Finding
from treadle.tasks.kept_locks import MadeLock
from treadle.threads.outcome import is_usual


def findings(run: Any) -> list[Finding]:
    """What is wrong with an execution that came to its end, most important first."""
    return [] if run.stop_reason else [one for one in _complaints(run) if not is_usual(usual_name(one))]


def _complaints(run: Any) -> list[Finding]:
    found = [_told(context) for context in run.told]
    found += [Finding(_NEVER_FINISHED, f"{task}, and its loop was closed") for task in run.left_pending]
    found += [_unretrieved(future) for future in run.unretrieved]
    found += [Finding(_NEVER_AWAITED, f"coroutine {name} was never awaited") for name in run.unawaited]
    return found


_DESTROYED, _NEVER_FINISHED = "task destroyed", "task never finished"
_NEVER_AWAITED, _NEVER_RETRIEVED = "coroutine never awaited", "exception never retrieved"


def usual_name(finding: Finding) -> str:
    """What a plain run would call it (`core.usual`), if a finding is one of these; else nothing."""
    if finding.kind in (_DESTROYED, _NEVER_FINISHED):
        return usual.TASK_LEFT
    if finding.kind == _NEVER_AWAITED:
        return usual.NEVER_AWAITED
    if finding.exception is None:
        return ""
    if finding.kind == _NEVER_RETRIEVED:
        return usual.never_retrieved(finding.exception)
    return usual.in_callback(finding.exception) if finding.in_callback else ""


def warnings(run: Any) -> list[Finding]:
    as_usual = [
        Finding(f"{one.kind}, as in a plain run", f"{one.message}, of which asyncio only writes to its log")
        for one in _complaints(run)
        if is_usual(usual_name(one))
    ]
    return (
        as_usual
        + [
            Finding(
                "blocking call in the loop", f"{place} keeps the event loop from running for {round(seconds, 3):g} s"
            )
            for place, seconds in run.blocking.items()
        ]
        + [
            Finding("event loop replaced", f"{what} is replaced: the test runs on Treadle's own event loop")
            for what in sorted(run.replaced)
        ]
        + ([_kept(lock, run) for lock in run.made_locks if lock.is_held] if run.cancellations else [])
    )


def _kept(lock: MadeLock, run: Any) -> Finding:
    file, line = lock.place
    struck = "a timeout ran out"
    if run.cancelled is not None:
        places = [f" at {path}:{number}" for path, number, _ in run.cancelled.place[:1]]
        struck = f"{run.cancelled.name} was cancelled{''.join(places)}"
    message = f"the {lock.kind} made at {file}:{line} is still held at the end, after {struck}: nobody gives it back"
    return Finding("lock kept after a cancellation", message)


def _told(context: dict[str, Any]) -> Finding:
    message = str(context.get("message") or "unhandled exception in the event loop")
    error = context.get("exception")
    if message.startswith("Task was destroyed"):
        return Finding(_DESTROYED, f"{_name(context.get('task'))} was destroyed while it was pending")
    if "never retrieved" in message:
        return _unretrieved(context.get("task") or context.get("future"), error)
    if error is None:
        return Finding("event loop", message)
    return Finding("exception", f"{_error(error)} in a callback of the event loop", exception=error, in_callback=True)


def _unretrieved(future: Any, error: BaseException | None = None) -> Finding:
    error = future._exception if error is None else error
    message = f"{_error(error)} of {_name(future)} was never retrieved"
    return Finding(_NEVER_RETRIEVED, message, exception=error)


def _error(error: BaseException | None) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _name(future: Any) -> str:
    coroutine = getattr(future, "_coro", None)
    if coroutine is None:
        return "a future"
    given = future.get_name()
    return f"task {getattr(coroutine, '__qualname__', given) if given.startswith('Task-') else given}"
