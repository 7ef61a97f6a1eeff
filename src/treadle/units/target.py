"""What the user pointed at: `pkg.mod:func`, `pkg.mod:Class.method`, `pkg.mod:Class`, a module or a package.

Every way a target can be wrong is one sentence here: no such module, no such name (did you mean), no source, a
coroutine, a compiled function.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import importlib
import importlib.util
import inspect
import os
import pkgutil
import sys
import types
from dataclasses import dataclass
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.packages import is_within
from treadle.core.parsing import mangle
from treadle.core.words import hint, nearest
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.contracts.conditions import as_written


@dataclass(slots=True)
class UnitTarget:
    """One function to write tests for."""

    text: str  # as the user would write it
    module: types.ModuleType
    function: Any  # types.FunctionType
    cls: type | None = None
    receiver: str = ""  # '', 'self', 'cls', 'new' (the constructor)
    is_property: bool = False
    decorated: Any = None  # what the tests call: the function with everything wrapped around it

    @property
    def name(self) -> str:
        return self.text.partition(":")[2]

    @property
    def file(self) -> str:
        return source.file_of(self.function.__code__)

    @property
    def line(self) -> int:
        return int(self.function.__code__.co_firstlineno)

    @property
    def is_generator(self) -> bool:
        return bool(inspect.isgeneratorfunction(self.function))

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.function)

    @property
    def is_context(self) -> bool:
        """A generator that is entered with `with`."""
        code = getattr(self.decorated, "__code__", None)
        return self.is_generator and code is not None and code.co_filename == contextlib.__file__

    def parameters(self) -> list[inspect.Parameter]:
        """The parameters a test gives values to: without self, * and **."""
        found = list(inspect.signature(self.function).parameters.values())
        if self.receiver:
            found = found[1:]
        return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]

    def rest(self) -> inspect.Parameter | None:
        """The parameter *args, if there is one."""
        found = inspect.signature(self.function).parameters.values()
        return next((p for p in found if p.kind is p.VAR_POSITIONAL), None)

    def body(self) -> tuple[int, int]:
        """First and last line of the statements, the docstring left out."""
        node = source.node_of(self.function.__code__)
        if not isinstance(node.body, list):
            return node.body.lineno, node.body.end_lineno or node.body.lineno
        statements = node.body
        if ast.get_docstring(node, clean=False) is not None and len(statements) > 1:
            statements = statements[1:]
        return statements[0].lineno, node.end_lineno or statements[0].lineno

    def span(self) -> tuple[int, int]:
        """First and last line of the definition."""
        node = source.node_of(self.function.__code__)
        return self.line, node.end_lineno or self.line


# Functions below a target whose text says something about its inputs, and how deep.
_MOST_FUNCTIONS = 12
_CALLS_DEEP = 3


def with_callees(function: types.FunctionType) -> list[types.FunctionType]:
    """A function and those of its package that it names, and they name, as far as is worth reading."""
    package = function.__module__.partition(".")[0]
    found = level = [function]
    for _ in range(_CALLS_DEEP - 1):
        named = [one.__globals__.get(name) for one in level for name in one.__code__.co_names]
        level = []
        for value in (inspect.unwrap(n) if callable(n) else None for n in named):
            if isinstance(value, types.FunctionType) and value not in (*found, *level):
                level += [value] if value.__module__.partition(".")[0] == package else []
        found = [*found, *level]
    return found[:_MOST_FUNCTIONS]


def load_module(name: str) -> types.ModuleType:
    """Import a module by name or path; the current directory comes first, as for pytest."""
    if name.endswith(".py") or os.sep in name:
        return _load_file(name)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and is_within(name, [error.name]):
            known = [module.name for module in pkgutil.iter_modules([os.getcwd()])]
            near = hint(name, known, "; run treadle where the module can be imported")
            raise UsageError(f"no module '{name}'{near}") from None
        raise UsageError(f"cannot import '{name}': {error}") from None
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot import '{name}': {type(error).__name__}: {error}") from None


def _load_file(path: str) -> types.ModuleType:
    full = os.path.abspath(path)
    if os.path.isfile(os.path.join(full, "__init__.py")):
        full = os.path.join(full, "__init__.py")
    if not os.path.isfile(full):
        raise UsageError(f"no file '{path}'")
    folder, base = os.path.split(full)
    parts = [base.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if parts[-1] == "__init__":
        parts.pop()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return load_module(".".join(parts))


def no_parameter(name: str, function: str, parameters: list[str]) -> str:
    """The sentence about a name that is none of a function's parameters."""
    near = nearest(name, parameters)
    meant = f" (did you mean '{near}'?)" if near else ""
    known = f"its parameters are {', '.join(parameters)}" if parameters else "it has no parameters"
    return f"'{name}' is not a parameter of '{function}'{meant}; {known}"


def resolve(text: str, left_out: list[str] | None = None) -> list[UnitTarget]:
    """The functions that a target on the command line means; `left_out` gets those of a module that cannot be one."""
    left_out = [] if left_out is None else left_out
    name, colon, inside = text.partition(":")
    if not name or (colon and not inside):
        raise UsageError(f"'{text}' is not a target; write pkg.mod:function, pkg.mod:Class.method or pkg.mod")
    module = load_module(name)
    if not inside:
        found = list(_module_targets(module, left_out))
        if hasattr(module, "__path__"):
            for info in pkgutil.walk_packages(module.__path__, module.__name__ + "."):
                if not info.name.rpartition(".")[2].startswith("__"):
                    found.extend(_module_targets(load_module(info.name), left_out))
        if not found:
            raise UsageError(f"'{name}' has no functions of its own to test")
        return found
    # one name for a target, whether its module was given by name or by file: what is remembered is found again
    return _named(f"{module.__name__}:{inside}", module, inside, left_out)


def _named(text: str, module: types.ModuleType, inside: str, left_out: list[str]) -> list[UnitTarget]:
    value: Any = module
    cls: type | None = None
    parts = inside.split(".")
    for i, part in enumerate(parts):
        if isinstance(value, type):
            cls = value
            raw = inspect.getattr_static(value, mangle(part, value.__name__), None)
        else:
            raw = getattr(value, part, None)
        if raw is None:
            where = ".".join([module.__name__, *parts[:i]])
            raise UsageError(f"'{where}' has no '{part}'{hint(part, dir(value))}")
        value = raw
    if isinstance(value, type):
        found = list(_class_targets(module, value, left_out))
        if not found:
            raise UsageError(left_out[-1] if left_out else f"the class '{inside}' has no methods of its own to test")
        return found
    left_out += _unasked(text, value)
    return [_target(text, module, cls, value, parts[-1])]


def _unasked(text: str, raw: Any) -> list[str]:
    """The code of a property that assigns or deletes: its tests are those of reading it."""
    written = [word for word, part in (("set", "fset"), ("deleted", "fdel")) if getattr(raw, part, None) is not None]
    what = " or ".join(written)
    advice = "point treadle unit at a function that does it"
    return [f"{text}: no test has it {what}; {advice}"] if isinstance(raw, property) and written else []


def _target(text: str, module: types.ModuleType, cls: type | None, raw: Any, name: str) -> UnitTarget:
    receiver, is_property = ("self" if cls is not None else ""), False
    function = raw
    if isinstance(raw, staticmethod):
        receiver, function = "", raw.__func__
    elif isinstance(raw, classmethod):
        receiver, function = "cls", raw.__func__
    elif isinstance(raw, property):
        function, is_property = raw.fget, True
    elif isinstance(raw, functools.cached_property):
        function, is_property = raw.func, True
    while isinstance(function, functools._lru_cache_wrapper):
        function = function.__wrapped__
    if isinstance(function, types.MethodType):
        receiver, cls = "cls", function.__self__ if isinstance(function.__self__, type) else type(function.__self__)
        function = function.__func__
    if name == "__init__":
        receiver = "new"
    shown = text.partition(":")[2] or name
    if not isinstance(function, types.FunctionType):
        if any(isinstance(vars(base).get("__call__"), types.FunctionType) for base in type(function).__mro__):
            kind = type(function).__qualname__
            raise UsageError(
                f"'{shown}' is not a function but a {kind} that can be called; point treadle unit at {kind}.__call__, "
                f"or at a function that calls it"
            )
        if callable(function):
            raise UsageError(
                f"'{shown}' is compiled code without Python source ({type(function).__name__}); "
                f"point treadle unit at Python code that calls it"
            )
        raise UsageError(f"'{shown}' is not a function but {type(function).__name__}")
    decorated = function
    wrapped = inspect.unwrap(function)
    if wrapped is not function and isinstance(wrapped, types.FunctionType):
        signature = inspect.signature(function, follow_wrapped=False)
        if all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
            function = wrapped
    try:
        source.code_of(function.__code__)
    except source.NoSource as error:
        raise UsageError(f"'{shown}' has no source to follow: {error}") from None
    return UnitTarget(text, module, function, cls, receiver, is_property, decorated)


def _module_targets(module: types.ModuleType, left_out: list[str]) -> list[UnitTarget]:
    """The module's own public functions, and the methods of its own public classes."""
    found: list[UnitTarget] = []
    classes: set[type] = set()
    for name, value in list(vars(module).items()):
        written = as_written(value) if isinstance(value, type) else value
        if name.startswith("_") or getattr(written, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type):
            if value not in classes:  # a class may have two names: make_option = Option
                classes.add(value)
                found.extend(_class_targets(module, value, left_out))
        elif isinstance(value, types.FunctionType | functools._lru_cache_wrapper):
            try:
                found.append(_target(f"{module.__name__}:{name}", module, None, value, name))
            except UsageError as error:
                left_out.append(f"{module.__name__}: {error}")
    return found


def _class_targets(module: types.ModuleType, cls: type, left_out: list[str]) -> list[UnitTarget]:
    found: list[UnitTarget] = []
    written = as_written(cls)
    special = _without_objects(cls)
    for name, raw in list(vars(written).items()):
        if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
            continue
        if name in ("__init_subclass__", "__class_getitem__", "__new__", "__hash__", "__repr__", "__str__"):
            continue
        if not isinstance(raw, types.FunctionType | staticmethod | classmethod | property | functools.cached_property):
            continue
        try:
            target = _target(f"{module.__name__}:{written.__qualname__}.{name}", module, cls, raw, name)
        except UsageError as error:
            if not _is_generated(raw):
                left_out.append(f"{module.__name__}: {error}")
            continue
        if target.file == module.__file__:  # not what a library wrote into the class
            found.append(target)
            left_out += _unasked(target.text, raw)
    if special and found:
        left_out.append(
            f"{module.__name__}:{written.__qualname__} is {special}: no unknown object of it can be made; "
            f"test a class derived from it, or a function that uses it"
        )
    return [] if special else found


def _is_generated(raw: Any) -> bool:
    """A method that a decorator wrote, such as the constructor of a dataclass."""
    code = getattr(getattr(raw, "__func__", raw), "__code__", None)
    return code is not None and code.co_filename.startswith("<")


def _without_objects(cls: type) -> str:
    """Why no unknown object of the class can be made; '' if one can."""
    if inspect.isabstract(cls):
        return "an abstract class"
    if getattr(cls, "_is_protocol", False):
        return "a protocol"
    kinds = {BaseException: "an exception", enum.Enum: "an enumeration"}
    return next((said for kind, said in kinds.items() if issubclass(cls, kind)), "")
