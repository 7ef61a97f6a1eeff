"""On which event loop a coroutine test and its async fixtures run.

Inside an execution all of them share one loop, made anew for it: that of anyio's test runner when the test asks for
`anyio_backend`, that of pytest-asyncio's runner of function scope where that plugin is installed, an `asyncio.Runner`
of our own otherwise. Async fixtures that no other plugin takes are run here. Those of a wider scope are set up once,
outside all executions, on a real loop.

This file is the only one that knows names of pytest-asyncio and anyio.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from treadle.core.errors import Unsupported

_WIDER = ("class", "module", "package", "session")

# The runner of async fixtures of a wider scope, kept until pytest ends.
_OUTSIDE = pytest.StashKey[asyncio.Runner]()


class EventLoops:
    """The event loop of one execution of an item, made when it is first needed."""

    def __init__(self, item: pytest.Function) -> None:
        self.item = item
        self._runner: asyncio.Runner | None = None
        self._own: asyncio.Runner | None = None
        # of pytest-asyncio, where it is installed
        self._of_function = _definitions(item, "_function_scoped_runner")
        self._of_wider = [found for scope in _WIDER for found in _definitions(item, f"_{scope}_scoped_runner")]

    @contextmanager
    def of_this_execution(self) -> Iterator[None]:
        """Inside the `with` block, whoever asks for a loop gets that of this execution."""
        kept = [(one, one.cached_result, len(one._finalizers)) for one in self._of_wider]
        self._runner = None
        _RUNNING.append(self)
        try:
            with _anyio_from_scratch():
                yield
        finally:
            _RUNNING.pop()
            for definition, cached, finalizers in kept:
                definition.cached_result = cached
                del definition._finalizers[finalizers:]

    def close(self) -> None:
        """The execution came to its end: so do the tasks and generators that are left in its loop."""
        if self._own is not None:
            own, self._own = self._own, None
            own.close()

    def runner(self) -> asyncio.Runner:
        if self._runner is None:
            if self._of_function:
                self.item._request._fixture_defs.pop("_function_scoped_runner", None)  # that of an earlier execution
                self._runner = self.item._request.getfixturevalue("_function_scoped_runner")
            else:
                self._runner = self._own = asyncio.Runner()
            for definition in self._of_wider:  # a fixture may want the loop of a wider scope
                definition.cached_result = (self._runner, definition.cache_key(self.item._request), None)
        assert self._runner is not None
        return self._runner

    def run_test(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        """Call a coroutine function to its end."""
        __tracebackhide__ = True
        if "anyio_backend" not in self.item.funcargs:
            self.runner().run(function(**arguments))
            return
        plugin = sys.modules["anyio.pytest_plugin"]
        name, options = plugin.extract_backend_and_options(self.item.funcargs["anyio_backend"])
        if name != "asyncio":
            raise Unsupported(
                f"{self.item.nodeid} runs on {name}: Treadle controls asyncio alone; explore it with the backend "
                "'asyncio' (a fixture anyio_backend that returns 'asyncio', or the parameter [asyncio] of the test)"
            )
        with plugin.get_runner(name, options) as runner:
            runner.run_test(function, arguments)


def runs_on_its_own(item: pytest.Function) -> bool:
    """Does no plugin have a loop for this test?"""
    return "anyio_backend" not in item.fixturenames and not _definitions(item, "_function_scoped_runner")


# The executions under way: there is one, or none.
_RUNNING: list[EventLoops] = []


def _definitions(item: pytest.Function, name: str) -> list[Any]:
    return list(item.session._fixturemanager.getfixturedefs(name, item) or ())


@contextmanager
def _anyio_from_scratch() -> Iterator[None]:
    """anyio keeps one test runner; that of wider fixtures belongs to a real loop."""
    plugin: Any = sys.modules.get("anyio.pytest_plugin")
    names = ("_current_runner", "_runner_stack", "_runner_leases")
    if plugin is None or not all(hasattr(plugin, name) for name in names):
        yield
        return
    kept = {name: getattr(plugin, name) for name in names}
    for name, value in zip(names, (None, None, 0), strict=True):
        setattr(plugin, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(plugin, name, value)


# ---------------------------------------------------------------------- async fixtures


def synchronous(function: Any, request: Any) -> Any:
    """An async fixture that no other plugin takes, as a fixture that runs it."""
    generates = inspect.isasyncgenfunction(function)
    if inspect.ismethod(function) and request.instance is not None:  # the instance of this execution
        function = function.__func__.__get__(request.instance)
    runner = _RUNNING[-1].runner() if _RUNNING else _runner_outside(request.config)

    @functools.wraps(function)
    def run_fixture(*args: Any, **kwargs: Any) -> Any:
        if not generates:
            return runner.run(function(*args, **kwargs))
        generator = function(*args, **kwargs)
        value = runner.run(_next(generator))
        request.addfinalizer(lambda: runner.run(_finish(generator)))
        return value

    return run_fixture


async def _next(generator: Any) -> Any:
    return await anext(generator)


async def _finish(generator: Any) -> None:
    try:
        await anext(generator)
    except StopAsyncIteration:
        return
    raise RuntimeError("an async fixture yielded more than once")


def _runner_outside(config: pytest.Config) -> asyncio.Runner:
    runner = config.stash.get(_OUTSIDE, None)
    if runner is None:
        runner = config.stash[_OUTSIDE] = asyncio.Runner()
        config.add_cleanup(runner.close)
    return runner
