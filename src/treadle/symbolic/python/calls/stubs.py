"""Stub files: which calls they answer, and how one of their cases is chosen.

A stub says what a function does whose code cannot be followed; the machine believes it, the real run of the tests
checks it. A file that cannot be used is the user's to correct: one sentence with the file and the line.
"""

from __future__ import annotations

import importlib
import inspect
import linecache
import os
import traceback
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treadle import stubs as written
from treadle.core.errors import UsageError
from treadle.core.files import from_here
from treadle.core.words import hint
from treadle.symbolic.ir.machine import Environment, Raised
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.machine import binding, classes
from treadle.symbolic.python.machine.vm import NOT_ANSWERED, VM
from treadle.symbolic.python.values.values import BuiltinMethod, FunctionValue, PyValue

FILE = "treadle_stubs.py"


@dataclass(frozen=True, slots=True)
class StubCase:
    """A guarded function for a real one."""

    name: str
    function: types.FunctionType
    when: types.FunctionType | None
    file: str
    line: int

    def __str__(self) -> str:
        return f"case '{self.function.__name__}' of the stub for '{self.name}' ({from_here(self.file)}:{self.line})"


@dataclass(slots=True)
class Stub:
    """All cases of one function."""

    name: str
    real: Any
    cases: list[StubCase] = field(default_factory=list)


class Stubs:
    """The stubs of an exploration, found by the function that is called."""

    def __init__(self, files: Sequence[str] = ()) -> None:
        self.files = tuple(files)
        self._found: dict[int, Stub] = {}
        for file in files:
            for case in _read(file):
                self._add(file, case)

    def __bool__(self) -> bool:
        return bool(self._found)

    def _add(self, file: str, case: written.Case) -> None:
        line = case.function.__code__.co_firstlineno
        where = f"{from_here(file)}:{line}"
        if not isinstance(case.target, str):
            raise UsageError(f'{where}: @case names a function as text, for example @case("package.module.function")')
        _check_guard(case, where)
        real = _real(case.target, where)
        stub = self._found.setdefault(id(real), Stub(case.target, real))
        when: Any = case.when
        function: Any = case.function
        stub.cases.append(StubCase(stub.name, function, when, file, line))

    def answer(self, vm: VM, function: PyValue, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
        """What the stub for this function says, or `NOT_ANSWERED`."""
        found = self._find(vm, function) if self._found else None
        if found is None:
            return NOT_ANSWERED
        stub, receiver = found
        return _first_that_holds(vm, stub, [*receiver, *args], named)

    def _find(self, vm: VM, function: PyValue) -> tuple[Stub, list[PyValue]] | None:
        """The stub that answers a call of this value, and the object if it is a bound method."""
        receiver: list[PyValue] = []
        if isinstance(function, FunctionValue):
            function = function.host
        elif isinstance(function, BuiltinMethod):
            receiver = [function.self]
            function = getattr(classes.python_type(vm, function.self), function.name, None)
        elif isinstance(function, types.BuiltinMethodType) and not isinstance(
            function.__self__, types.ModuleType | type | None
        ):
            receiver = [function.__self__]
            function = getattr(type(function.__self__), function.__name__, None)
        found = self._found.get(id(function))
        if found is None or found.real is not function:
            return None
        own = [case.function.__code__ for case in found.cases]
        if any(getattr(frame.function.host, "__code__", None) in own for frame in vm.frames):
            return None  # a case may call the real function itself
        return found, receiver


def _first_that_holds(vm: VM, stub: Stub, args: list[PyValue], named: dict[str, PyValue]) -> PyValue:
    """What the first case that holds says."""
    for case in stub.cases:
        function = binding.function_value(vm, case.function)
        env = Environment()
        try:
            binding.bind(vm, function, args, named, env)
        except Raised:
            raise CannotFollow(f"a call of '{stub.name}' with arguments that {case} does not take") from None
        if case.when is not None:
            given = {name: env[name] for name in inspect.signature(case.when).parameters}
            try:
                holds = vm.truth_of(vm.call_with(case.when, [], given))
            except Raised as raised:
                raise CannotFollow(f"the guard of {case} raises {raised.value.cls.__name__}") from None
            if not holds:
                continue
        vm.stub_cases[str(case)] = None
        return vm.call_with(case.function, args, named)
    raise CannotFollow(f"a call of '{stub.name}' for which no case of its stub holds ({from_here(stub.cases[0].file)})")


# --- reading a file --------------------------------------------------------------------------------------


def _read(file: str) -> list[written.Case]:
    shown = from_here(file)
    if not os.path.isfile(file):
        raise UsageError(f"no stub file '{shown}'")
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"'{shown}' cannot be read: {error}") from None
    _forget_older(file, text)
    module = types.ModuleType(_module_name(file))
    module.__file__ = file
    written._written.clear()
    try:
        exec(compile(text, file, "exec"), vars(module))
    except SyntaxError as error:
        raise UsageError(f"{from_here(error.filename or file)}:{error.lineno}: not Python: {error.msg}") from None
    except Exception as error:
        here = os.path.abspath(file)
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if os.path.abspath(f.filename) == here]
        raise UsageError(
            f"{shown}:{(lines or [1])[-1]}: the stub file fails: {type(error).__name__}: {error}"
        ) from None
    finally:
        found, written._written[:] = list(written._written), []
    if not found:
        raise UsageError(f"{shown}: no cases; write functions with @case(...) from treadle.stubs")
    return found


_texts: dict[str, str] = {}


def _forget_older(file: str, text: str) -> None:
    """A file that was edited since this process read it is parsed again."""
    if _texts.setdefault(file, text) != text:
        _texts[file] = text
        linecache.checkcache(file)
        source.tree_of.cache_clear()


def _module_name(file: str) -> str:
    return "treadle_stub_file_" + "".join(c if c.isalnum() else "_" for c in os.path.abspath(file))


def _check_guard(case: written.Case, where: str) -> None:
    name = case.function.__name__
    if not isinstance(case.function, types.FunctionType) or inspect.isgeneratorfunction(case.function):
        raise UsageError(f"{where}: '{name}': a case is a plain function")
    for function in (case.function, case.when):
        if function is None:
            continue
        if not isinstance(function, types.FunctionType):
            raise UsageError(f"{where}: the guard of '{name}' is not a function; write when=lambda n: n > 0")
        try:
            source.code_of(function.__code__)
        except source.NoSource as error:
            raise UsageError(f"{where}: '{name}': {error}") from None
    if case.when is not None:
        known = inspect.signature(case.function).parameters
        for parameter in inspect.signature(case.when).parameters:
            if parameter not in known:
                raise UsageError(
                    f"{where}: the guard of '{name}' asks for '{parameter}', which is not a parameter of '{name}'"
                )


def _real(name: str, where: str) -> object:
    """The function that a stub stands for."""
    parts = name.replace(":", ".").split(".")
    if not all(part.isidentifier() for part in parts):
        raise UsageError(f"{where}: '{name}' is no name of a function; write package.module.function")
    found: object = None
    for size in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError as error:
            if size == 1 and len(parts) <= 2:
                found, size = importlib.import_module("builtins"), 0
                if not hasattr(found, parts[0]):
                    raise UsageError(f"{where}: no module '{parts[0]}' for '{name}' ({error})") from None
            else:
                continue
        except Exception as error:
            raise UsageError(f"{where}: cannot import '{'.'.join(parts[:size])}': {error}") from None
        break
    else:
        raise UsageError(f"{where}: no module '{parts[0]}' for '{name}'")
    for part in parts[size:]:
        if not hasattr(found, part):
            near = hint(part, dir(found), "; without the real function no test can be run")
            raise UsageError(f"{where}: '{name}' does not exist: no '{part}' there{near}")
        found = getattr(found, part)
    if isinstance(found, types.MethodType):
        found = found.__func__
    if not callable(found):
        raise UsageError(f"{where}: '{name}' is not a function but a {type(found).__name__}")
    return found
