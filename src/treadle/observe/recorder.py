"""Runs tests or examples once and records how they use a package: `python -m treadle.observe.recorder OUT SECONDS ...`.

A profile function sees every call that crosses from the tests into the package, and its result. Objects that were seen
are kept alive until the end, so that none takes the place of another. What was recorded is written after each test and
at the end, so a suite that fails, hangs or is ended leaves what it had shown until then. Effects outside of a scratch
folder are refused.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import io
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from treadle.core.files import write_whole
from treadle.core.packages import is_within
from treadle.observe.effects import EffectGuard
from treadle.observe.recorded import MOST, Arguments, Expression, GivenArgument, RecordedUse, SeenCall
from treadle.observe.source_of import SourceWriter

# Objects that are kept, and calls of one object that make a sequence.
_MOST_OBJECTS = 4_000
_LONGEST_ORDER = 6
# Methods that are called without being written in a call or an operator.
_BY_PYTHON = frozenset({"__new__", "__del__", "__getattr__", "__getattribute__", "__setattr__", "__hash__", "__exit__"})


@dataclass(frozen=True)
class _Called:
    """A function of the package: its name, and its parameters without the object it is called on."""

    name: str
    parameters: list[inspect.Parameter]


class UseRecorder:
    """Sees the calls from tests into a package."""

    def __init__(self, packages: tuple[str, ...], folders: tuple[str, ...]) -> None:
        self.packages, self.folders = packages, folders
        self.recorded = RecordedUse()
        self._objects: dict[int, tuple[Any, Expression]] = {}
        self._orders: dict[int, list[SeenCall]] = {}
        self._waiting: dict[int, tuple[str, Arguments | None, Any]] = {}  # frame -> what it is a call of
        self._files: dict[str, bool] = {}
        self._signatures: dict[CodeType, _Called | None] = {}
        self._writer = SourceWriter(self._made, self.is_test, packages)

    def profile(self, frame: FrameType, event: str, value: Any) -> None:
        """What raises here would end the recording: a call that cannot be looked at is left out."""
        if self._files.get(frame.f_code.co_filename) is False or event not in ("call", "return"):
            return  # most events, soon
        with contextlib.suppress(Exception):
            if event == "call":
                caller = frame.f_back
                inside = caller is not None and self._inside(frame.f_code.co_filename)
                if inside and caller is not None and not self._inside(caller.f_code.co_filename):
                    self._entered(frame)
            elif event == "return" and id(frame) in self._waiting:
                self._left(frame, value)

    def is_test(self, module: str) -> bool:
        file = getattr(sys.modules.get(module), "__file__", None) or ""
        return module == "__main__" or any(file.startswith(folder) for folder in self.folders)

    def _inside(self, file: str) -> bool:
        known = self._files.get(file)
        if known is None:
            names = [n for n, m in list(sys.modules.items()) if getattr(m, "__file__", None) == file]
            known = self._files[file] = any(self._is_ours(name) for name in names)
        return known

    def _entered(self, frame: FrameType) -> None:
        code = frame.f_code
        if code not in self._signatures:
            self._signatures[code] = _called(code)
        called = self._signatures[code]
        if called is not None:
            first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
            self._waiting[id(frame)] = (called.name, self._arguments(frame, called.parameters), first)

    def _arguments(self, frame: FrameType, parameters: list[inspect.Parameter]) -> Arguments | None:
        """What was given, without the object itself; None when some of it cannot be written down."""
        found: list[GivenArgument] = []
        by_name = False
        for parameter in parameters:
            name = parameter.name
            value = frame.f_locals.get(name)
            if parameter.kind is parameter.VAR_POSITIONAL:
                given: list[tuple[str, Any]] = [("", one) for one in value or ()]
            elif parameter.kind is parameter.VAR_KEYWORD:
                given = list((value or {}).items())
            elif value is parameter.default:
                by_name = True
                continue
            else:
                named = by_name or parameter.kind is parameter.KEYWORD_ONLY
                given = [(name if named else "", value)]
            for word, one in given:
                source = self._writer.of(one)
                if source is None or (not word and any(other.name for other in found)):
                    return None
                found.append(GivenArgument(source, word))
        return tuple(found)

    def _made(self, value: Any) -> Expression | None:
        known = self._objects.get(id(value))
        return known[1] if known is not None and known[0] is value else None

    def _left(self, frame: FrameType, value: Any) -> None:
        name, arguments, first = self._waiting.pop(id(frame))
        if arguments is None:
            return
        home, _, path = name.partition(":")
        method = frame.f_code.co_name
        if method == "__init__":
            owner = self._writer.of(type(first))
            if owner is not None:
                self._keep(first, _call(owner, "", arguments))
            return
        kept = self.recorded.called.setdefault(name, [])
        if arguments not in kept and len(kept) < MOST:
            kept.append(arguments)
        if "." not in path:
            self._keep(value, _call(Expression(path, (f"from {home} import {path}",)), "", arguments))
            return
        if isinstance(first, type):
            receiver = self._writer.of(first)
        else:
            receiver = self._made(first)
            if receiver is not None:
                order = self._orders.setdefault(id(first), [])
                if len(order) < _LONGEST_ORDER:
                    order.append(SeenCall(method, arguments))
        if receiver is not None:
            self._keep(value, _call(receiver, f".{method}", arguments))

    def _keep(self, value: Any, expression: Expression) -> None:
        """How an object came into being, if it is one of the package or of a class derived from it."""
        kind = type(value)
        derived = [f"{base.__module__}:{base.__qualname__}" for base in kind.__mro__ if self._is_ours(base.__module__)]
        if not derived or id(value) in self._objects or len(self._objects) >= _MOST_OBJECTS:
            return
        if len(expression.source) > 300:
            return
        self._objects[id(value)] = (value, expression)
        for name in derived:
            kept = self.recorded.made.setdefault(name, [])
            if expression not in kept and len(kept) < MOST:
                kept.append(expression)

    def _is_ours(self, module: str) -> bool:
        return is_within(module, self.packages)

    def result(self) -> RecordedUse:
        """What was seen so far, with the calls of each object in their order."""
        for key, order in self._orders.items():
            if key in self._objects and order:
                for base in type(self._objects[key][0]).__mro__:
                    if self._is_ours(base.__module__):
                        kept = self.recorded.orders.setdefault(f"{base.__module__}:{base.__qualname__}", [])
                        if tuple(order) not in kept and len(kept) < MOST:
                            kept.append(tuple(order))
        self._orders.clear()
        return self.recorded


def _call(receiver: Expression, member: str, arguments: Arguments) -> Expression:
    words = [f"{one.name}={one.value.source}" if one.name else one.value.source for one in arguments]
    needs = dict.fromkeys([*receiver.needs, *(line for one in arguments for line in one.value.needs)])
    return Expression(f"{receiver.source}{member}({', '.join(words)})", tuple(needs))


def _called(code: CodeType) -> _Called | None:
    """The function that code belongs to, where its module offers it by name; not what Python calls by itself."""
    home = _module_of(code.co_filename)
    owner, raw = None, sys.modules.get(home)
    for part in code.co_qualname.split("."):
        owner, raw = raw, inspect.getattr_static(raw, part, None)
    function: Any = getattr(raw, "__func__", raw)
    function = inspect.unwrap(function) if callable(function) else None
    if getattr(function, "__code__", None) is not code or code.co_name in _BY_PYTHON:
        return None
    parameters = list(inspect.signature(function).parameters.values())
    bound = isinstance(owner, type) and not isinstance(raw, staticmethod)
    return _Called(f"{home}:{code.co_qualname}", parameters[1:] if bound else parameters)


def _module_of(file: str) -> str:
    return next((n for n, m in list(sys.modules.items()) if getattr(m, "__file__", None) == file), "")


# ---------------------------------------------------------------------- running


class _Plugin:
    """Tells pytest to record."""

    def __init__(self, recorder: UseRecorder, out: Path) -> None:
        self.recorder, self.out = recorder, out
        self.written = time.monotonic()

    def pytest_runtest_logfinish(self) -> None:
        if time.monotonic() - self.written > 1.0:
            self.written = time.monotonic()
            write_whole(self.out, self.recorder.result().to_json())


def record(out: Path, seconds: float, packages: tuple[str, ...], paths: list[Path]) -> None:
    """Run the tests, or import the files of examples, while recording."""
    folders = tuple(str(path if path.is_dir() else path.parent) for path in paths)
    recorder = UseRecorder(packages, folders)
    tempfile.tempdir = str(out.parent)  # all that is written is gone with this folder
    examples = [path for path in paths if path.name.startswith("treadle_examples")]
    with (
        _time_limit(seconds, recorder),
        _silent(),
        EffectGuard(str(out.parent), environment=True),  # pytest and fixtures set variables of this very process
        _recording(recorder.profile),
    ):
        for path in examples:
            _import(path, recorder)
        if len(examples) < len(paths):
            _run_pytest(recorder, out, [str(path) for path in paths if path not in examples])
    write_whole(out, recorder.result().to_json())


def _run_pytest(recorder: UseRecorder, out: Path, paths: list[str]) -> None:
    import pytest  # only here: examples need none

    words = ["-q", "-p", "no:cacheprovider", "-p", "no:treadle", "-o", "addopts=", "--continue-on-collection-errors"]
    try:
        code = int(pytest.main([*words, *paths], plugins=[_Plugin(recorder, out)]))
    except BaseException as error:
        recorder.recorded.problems.append(f"the tests ended with {type(error).__name__}: {error}"[:200])
        return
    if code not in (0, 5):
        recorder.recorded.problems.append(f"some of the tests fail when they are recorded (pytest says {code})")


def _import(path: Path, recorder: UseRecorder) -> None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        recorder.recorded.problems.append(f"an example ended with {type(error).__name__}: {error}"[:200])


@contextlib.contextmanager
def _recording(profile: Callable[..., Any]) -> Iterator[None]:
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@contextlib.contextmanager
def _time_limit(seconds: float, recorder: UseRecorder) -> Iterator[None]:
    """After so many seconds of work, or three times as many by the clock, the main thread is stopped."""

    def stop(*_: Any) -> None:
        recorder.recorded.problems.append(f"the tests were stopped after {seconds:g} s")
        raise KeyboardInterrupt

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, stop)
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_REAL, 3 * seconds)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


if __name__ == "__main__":
    place, limit, names, *given = sys.argv[1:]
    record(Path(place), float(limit), tuple(names.split(",")), [Path(one) for one in given])
    sys.stdout.flush()
    os._exit(0)  # threads that the tests left behind are nobody's affair
