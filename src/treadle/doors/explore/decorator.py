"""Exploring from inside a test suite: the decorator, what it raises, and the threads of a test in one line."""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from treadle.core.errors import NothingToExplore, UsageError
from treadle.core.operation import WAIT
from treadle.core.result import Result
from treadle.core.settings import check_values
from treadle.core.verdict import Verdict, exception_for
from treadle.doors.explore.check import check, target_of
from treadle.doors.explore.examples import Example, ExampleSearch, is_given
from treadle.threads.names import announce
from treadle.threads.strands import STATE, current
from treadle.threads.unwinding import StrandEnd

F = TypeVar("F", bound=Callable[..., Any])


@overload
def explore(test: F, **options: Any) -> F: ...
@overload
def explore(test: None = None, **options: Any) -> Callable[[F], F]: ...
def explore(test: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a test to be run under every schedule: `@treadle.explore()` or `@treadle.explore(strategy="dpor")`.

    Under pytest the plugin explores it; called directly, without arguments, it explores itself and raises.
    """
    _check_names(options)
    check_values(options, "@treadle.explore")

    def mark(function: Any) -> Any:
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(mark(function.__func__))

        @functools.wraps(function)
        def explored(*args: Any, **kwargs: Any) -> Any:
            if current() is not None:  # something explores us already
                return function(*args, **kwargs)
            if is_given(function) and not args and not kwargs:
                raise_for(check_examples(function, options))
                return None
            if args or kwargs:  # whoever made the arguments cannot make them anew for every execution
                warnings.warn(f"{function.__name__} ran once: only the pytest plugin can explore it", stacklevel=2)
                return function(*args, **kwargs)
            raise_for(check(function, source=function, **options))
            return None

        explored.treadle_options = options  # type: ignore[attr-defined]
        return explored

    return mark if test is None else mark(test)


def check_examples(given: Any, options: dict[str, Any]) -> Result:
    """Explore every example that Hypothesis draws for a test that needs nothing else."""
    test = given.hypothesis.inner_test
    current_example: list[Example] = []

    def run() -> None:
        with current_example[0].drawn() as arguments:
            test(**arguments)

    def one(example: Example, **more: Any) -> Result:
        current_example[:] = [example]
        return check(run, source=test, target=target_of(test), example=example.code, **options | more)

    return ExampleSearch(given, one, options).run()


def _check_names(options: Iterable[str]) -> None:
    known = set(inspect.signature(check).parameters) - {
        "test",
        "progress",
        "target",
        "source",
        "example",
        "builds",
        "kept",
    }
    for name in options:
        if name not in known:
            raise UsageError(f"explore has no option {name!r}; there are: {', '.join(sorted(known))}")


def raise_for(result: Result) -> None:
    """Turn a result into what a test does: return when it passed, raise what the failing schedule raised."""
    if result.verdict is Verdict.NOTHING_TO_EXPLORE:
        raise NothingToExplore(result.reason)
    if not result.findings:
        return
    finding = result.findings[0]
    error = finding.exception if finding.exception is not None else exception_for(finding.kind, finding.message)
    where = f"on: {finding.builds}\n" if finding.builds is not None else ""
    error.add_note(f"{finding.explanation}\n\n{result.reason}\n{where}replay: treadle replay '{finding.replay}'")
    raise error


def parallel(*callables: Callable[..., Any], args: Sequence[Any] = ()) -> list[Any]:
    """Run callables in threads of their own, wait for all of them, and raise the first exception among them."""
    calls = [_Call(function, args) for function in callables]
    strand = current()
    if strand is not None:  # the same as below, without the Thread objects that nobody asks for
        spawn = strand.execution.spawn
        for call in calls:
            announce(strand, call.function)
            announce(strand, tuple(args))
        for started in [spawn(None, call) for call in calls]:
            strand.point(WAIT, started)
    else:
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for call in calls:
        if call.error is not None:
            raise call.error
    return [call.result for call in calls]


class _Call:
    """One call of `parallel`, and what came of it."""

    __slots__ = ("args", "error", "function", "result")

    def __init__(self, function: Callable[..., Any], args: Sequence[Any]) -> None:
        self.function = function
        self.args = args
        self.result: Any = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.result = STATE.seen.function(self.function)(*self.args)
        except StrandEnd:
            raise
        except BaseException as error:
            self.error = error
