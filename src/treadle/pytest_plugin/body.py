"""One execution of a pytest test: what the search runs again and again.

Decides what "clean" means for a pytest test: its function-scoped fixtures are set up inside the execution and torn
down before it ends, a test class gets a new instance, parameters that are plain containers are copied, and output and
log records are those of the last execution alone. Fixtures of a wider scope are set up once, before the first one; but
those that start threads are set up by every execution, so that these are its strands.

This file is the only one that uses private names of pytest (the set-up state of an item and its fixture request).
"""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import io
import logging
import os
import shutil
import sys
import types
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from _pytest.logging import LogCaptureHandler
from _pytest.tmpdir import tmppath_result_key
from _pytest.unittest import TestCaseFunction

from treadle.core.errors import Unsupported, UsageError
from treadle.core.result import Result
from treadle.doors.explore.examples import Example, ExampleSearch, is_given
from treadle.doors.explore.replay import replay_elsewhere, without_untrusted
from treadle.pytest_plugin import WIDER
from treadle.pytest_plugin.left_threads import end_threads
from treadle.pytest_plugin.loops import EventLoops, runs_on_its_own
from treadle.threads.instrument.restore import Snapshot
from treadle.threads.instrument.selection import ModuleSelection

_CONTAINERS = (list, dict, set, bytearray)


class _PrintedText(io.TextIOWrapper):
    """What the test prints, kept; for who needs a real file (faulthandler, another process), the one it stands for."""

    treadle_location = "stdout"  # how it is called where a schedule is shown

    def __init__(self) -> None:
        self.kept = io.BytesIO()
        super().__init__(self.kept, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)

    def instead_of(self, stream: Any) -> None:
        self.fileno = stream.fileno  # type: ignore[method-assign]

    def getvalue(self) -> str:
        return self.kept.getvalue().decode("utf-8", "backslashreplace")

    def forget(self) -> None:
        if self.kept.tell():
            self.kept.seek(0)
            self.kept.truncate()


class _PrintedErrors(_PrintedText):
    treadle_location = "stderr"


class _Folders:
    """The folders that pytest makes for tests: an execution has those of the one before, and finds them new. Otherwise
    a thousand executions would leave a thousand, and files would have other names in each."""

    def __init__(self, config: pytest.Config) -> None:
        self.factory: Any = getattr(config, "_tmp_path_factory", None)
        self.begun = False

    def begin_anew(self) -> None:
        factory = self.factory
        numbers = getattr(factory, "_next_number", {})  # by older versions of pytest they are counted on disk
        made = factory is not None and factory._basetemp is not None
        if not self.begun:
            self.begun = True
            self.others = {entry.name for entry in os.scandir(factory._basetemp)} if made else set()
            self.numbers = dict(numbers)
            return
        numbers.clear()
        numbers.update(self.numbers)
        for entry in os.scandir(factory._basetemp) if made else ():
            if entry.name not in self.others and not entry.is_symlink():
                shutil.rmtree(entry.path, ignore_errors=True)


class Body:
    """The executions of one item. `run` is one execution; `output` is what the last one printed."""

    def __init__(self, item: pytest.Function) -> None:
        self.item = item
        self.given = _given(item)  # what Hypothesis made of the test
        self.example: Example | None = None  # whose arguments the next executions draw
        self.function = _function(item)
        self.is_async = inspect.iscoroutinefunction(self.function)
        self.stdout = _PrintedText()
        self.stderr = _PrintedErrors()
        self.anew = _has_fixtures_to_renew(item, renewed=True)
        self.loops = EventLoops(item)
        self.folders = _Folders(item.config)
        self.copied = {
            name: value
            for name, value in _parameters(item).items()
            if isinstance(value, _CONTAINERS) and _can_be_copied(value)
        }  # changed by one execution, they would be different for the next

    @contextmanager
    def redirected(self) -> Iterator[None]:
        """Keep the output of a thousand executions away from the person; the last one's is printed at the end."""
        out, err = sys.stdout, sys.stderr
        self.stdout.instead_of(out)
        self.stderr.instead_of(err)
        sys.stdout, sys.stderr = self.stdout, self.stderr
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, err
            out.write(self.stdout.getvalue())
            err.write(self.stderr.getvalue())

    def run(self) -> None:
        """Set up, call the test, tear down: all of it inside the execution."""
        __tracebackhide__ = True
        self._forget_output()
        self.folders.begin_anew()
        if not self.anew:
            self._call()
            return
        with self.loops.of_this_execution():
            marks = Marks(self.item)
            marks.own.append(self.loops.close)
            try:
                self._set_up()
                self._call()
            except BaseException:
                marks.tear_down_quietly()
                raise
            marks.tear_down()

    def each_example(self, explore: Callable[..., Result], options: dict[str, Any]) -> Result:
        """Every example of Hypothesis's, explored; fixtures are set up by every execution."""

        def one(example: Example, **more: Any) -> Result:
            self.example = example
            return explore(example=example.code, **options | more)

        fixtures = dict.fromkeys(self.item._fixtureinfo.argnames)
        known = self.item._fixtureinfo.name2fixturedefs
        for name in fixtures.keys() - _parameters(self.item).keys():
            if name in known and known[name][-1].scope == "function":
                raise Unsupported(
                    f"{self.item.nodeid}: the fixture '{name}' is one for each call of the test, and @given calls "
                    "it for each example; make the object inside the test, or let the fixture have a wider scope"
                )
        return ExampleSearch(self.given, one, options).run(*bound_to(self.item), **fixtures)

    def confirm(self, result: Result) -> None:
        """Replay what was found where its reader will: in a process of its own."""
        for finding in result.findings:
            replay_elsewhere(finding)
        without_untrusted(result)

    def _forget_output(self) -> None:
        for stream in (self.stdout, self.stderr):
            stream.forget()
        for handler in logging.getLogger().handlers:
            if isinstance(handler, LogCaptureHandler) and handler.records:
                handler.clear()

    def _set_up(self) -> None:
        item = self.item
        if item.cls is not None:
            for name in ("_instance", "_obj"):
                item.__dict__.pop(name, None)
            _ = item.obj  # makes the new instance, and pytest cuts tracebacks by it
        item._initrequest()
        item.stash.setdefault(tmppath_result_key, {})
        item._request._fillfixtures()

    def _call(self) -> None:
        __tracebackhide__ = True
        if self.example is None:
            self._call_with({})
            return
        with self.example.drawn() as drawn:
            self._call_with(drawn)

    def _call_with(self, drawn: dict[str, Any]) -> None:
        __tracebackhide__ = True
        item = self.item
        if isinstance(item, TestCaseFunction):
            run_test_case(item.instance, partial(self.function, **drawn) if drawn else self.function)
            return
        function = partial(self.function, *bound_to(item))
        arguments = self.arguments() | drawn
        if not self.is_async:
            function(**arguments)
        elif self.anew:
            self.loops.run_test(function, arguments)
        else:
            asyncio.run(function(**arguments))

    def arguments(self) -> dict[str, Any]:
        """What the test is called with."""
        arguments = {name: self.item.funcargs[name] for name in self.item._fixtureinfo.argnames}
        if self.copied:
            arguments |= {name: copy.deepcopy(value) for name, value in self.copied.items() if name in arguments}
        return arguments


def _can_be_copied(value: Any) -> bool:
    try:
        copy.deepcopy(value)
    except Exception:  # a module, a lock or a file in it
        return False
    return True


def bound_to(item: pytest.Function) -> tuple[Any, ...]:
    """What the test gets before its fixtures: its object, its class, or nothing."""
    if item.instance is None or item.cls is None:
        return ()
    kind = inspect.getattr_static(item.cls, item.originalname, None)
    if isinstance(kind, staticmethod):
        return ()
    return (item.cls,) if isinstance(kind, classmethod) else (item.instance,)


def _given(item: pytest.Function) -> Any:
    made = plain(item.function)
    return made if is_given(made) else None


def _function(item: pytest.Function) -> Any:
    """The test as its author wrote it."""
    given = _given(item)
    return plain(item.function if given is None else given.hypothesis.inner_test)


def plain(function: Any) -> Any:
    """The test itself, without the decorator that marks it for exploration (called, that would explore it)."""
    if _marks(function):
        return function.__wrapped__
    if is_given(function):  # it keeps the test apart
        return function
    inner = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
        if _marks(inner):
            raise UsageError(
                f"{function.__qualname__}: another decorator stands above @treadle.explore(); "
                "write @treadle.explore() first, above all others"
            )
    return function


def _marks(function: Any) -> bool:
    """Is this what `@treadle.explore()` made?"""
    return getattr(function, "__globals__", {}).get("__name__") == "treadle.doors.explore.decorator"


def run_test_case(case: unittest.TestCase, method: Callable[..., Any]) -> None:
    """One unittest method as the case itself runs it, with its set-up, tear-down and cleanups."""
    __tracebackhide__ = True
    setattr(case, case._testMethodName, types.MethodType(method, case))
    told = _CaseOutcome()
    case(told)  # type: ignore[arg-type]
    if told.skipped is not None:
        pytest.skip(told.skipped)
    if told.error is not None:
        raise told.error


class _CaseOutcome:
    """What a case tells of its run: the first error, or why it was skipped."""

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.skipped: str | None = None

    def addError(self, case: Any, raised: Any) -> None:
        error = raised[1]
        if not isinstance(error, Exception):  # the end of a strand, an outcome of pytest: no error of the test
            raise error
        self.error = self.error or error

    addFailure = addError

    def addSkip(self, case: Any, reason: str) -> None:
        self.skipped = reason

    def addUnexpectedSuccess(self, case: Any) -> None:
        self.error = AssertionError("Unexpected success")

    def startTest(self, *_: Any) -> None:
        """Nobody counts."""

    stopTest = addSuccess = addExpectedFailure = addDuration = startTest


def set_up_wider(item: pytest.Function) -> None:
    """Set up the fixtures that all executions share. Replaces `item.setup` of an explored test."""
    if isinstance(item, TestCaseFunction):
        item._explicit_tearDown = None
    before = _project_before(item)
    if _has_fixtures_to_renew(item):
        for name in item.fixturenames:
            definitions = item._fixtureinfo.name2fixturedefs.get(name)
            if definitions and definitions[-1].scope != "function":
                item.funcargs[name] = item._request.getfixturevalue(name)
    else:
        item._request._fillfixtures()
    if _ended_with_threads(item) and before is not None:
        before.restore()  # what they had set, they will set again
        gc.collect()  # which closes what nobody has any more: a server, at a port that it will ask for again


def _project_before(item: pytest.Function) -> Snapshot | None:
    """The state of the project's modules, if there are fixtures left to set up that may change it."""
    defined = [some[-1] for some in item._fixtureinfo.name2fixturedefs.values() if some]
    if all(one.scope == "function" or one.cached_result is not None for one in defined):
        return None
    return Snapshot(ModuleSelection.for_test(item.module).loaded().values())


def _ended_with_threads(item: pytest.Function) -> bool:
    """Tear down the fixtures of this test that started threads, which nobody controls: the first execution that asks
    for them sets them up, and so does each after it."""
    own = {id(definition) for some in item._fixtureinfo.name2fixturedefs.values() for definition in some}
    set_up = item.config.stash.get(WIDER, [])
    threaded = [pair for pair in set_up if pair[1] and id(pair[0]) in own and pair[0].cached_result is not None]
    for definition, _ in reversed(threaded):
        definition.finish(item._request)
    end_threads({ident for _, started in threaded for ident in started})
    return bool(threaded)


def _parameters(item: pytest.Function) -> dict[str, Any]:
    """The values that @pytest.mark.parametrize gives to the test itself."""
    callspec = getattr(item, "callspec", None)
    return dict(callspec.params) if callspec is not None else {}


def _has_fixtures_to_renew(item: pytest.Function, renewed: bool = False) -> bool:
    """Does the test use anything of function scope, or of a wider one that is set up by every execution (`renewed`)?
    Setting that up costs more than most executions."""
    if item.cls is not None or "request" in item.fixturenames:
        return True  # a new instance per execution; `request` can ask for any fixture while the test runs
    if inspect.iscoroutinefunction(_function(item)) and not runs_on_its_own(item):
        return True  # it asks for the runner of this execution, and a request gives it once
    parameters = _parameters(item)
    for name in item.fixturenames:
        definitions = item._fixtureinfo.name2fixturedefs.get(name)
        if not definitions:
            continue
        if definitions[-1].scope != "function":
            if renewed and definitions[-1].cached_result is None:
                return True
            continue
        # a parameter given directly to the test is kept by pytest as a fixture whose function pytest itself wrote
        if name in parameters and definitions[-1].func.__module__.startswith("_pytest."):
            continue
        return True
    return False


class Marks:
    """How many finalizers pytest had noted before an execution; what came since belongs to that execution."""

    def __init__(self, item: pytest.Function) -> None:
        stack = item.session._setupstate.stack
        self.own: list[Callable[[], object]] = stack[item][0]
        self.count = len(self.own)
        # asking again for a wider fixture that is there makes pytest note its end once more
        lists = [finalizers for node, (finalizers, _) in stack.items() if node is not item]
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            if definitions[-1].scope != "function":
                lists.append(getattr(definitions[-1], "_finalizers", []))
        self.wider = [(finalizers, len(finalizers)) for finalizers in lists]
        self.item = item
        self.set_up: list[tuple[Any, set[int]]] = item.config.stash.setdefault(WIDER, [])
        self.set_up_before = len(self.set_up)

    def tear_down(self) -> None:
        """Tear down what the execution set up; the first error is raised when all is done."""
        __tracebackhide__ = True
        first: BaseException | None = None
        while len(self.own) > self.count:
            try:
                self.own.pop()()
            except BaseException as error:
                first = first or error
        while len(self.set_up) > self.set_up_before:  # of a wider scope, but of this execution
            try:
                self.set_up.pop()[0].finish(self.item._request)
            except BaseException as error:
                first = first or error
        for finalizers, count in self.wider:
            del finalizers[count:]
        for definitions in self.item._fixtureinfo.name2fixturedefs.values():
            if definitions[-1].cached_result is None:  # what was cut off in its set-up knows of ends, and pytest minds
                definitions[-1]._finalizers.clear()
        if first is not None:
            raise first

    def tear_down_quietly(self) -> None:
        """The same after a failure, which is what the person has to see."""
        try:
            self.tear_down()
        except BaseException:
            pass
