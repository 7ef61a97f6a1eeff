"""What a method takes: parameters with their types, from signature, hints, docstring, and imports for types only."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import traceback
import types
import typing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

MISSING = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, its type (MISSING when nobody says), its default (MISSING when required)."""

    name: str
    type: Any
    default: Any = MISSING
    by_name: bool = False  # keyword-only
    any_number: bool = False  # *args

    @property
    def required(self) -> bool:
        return self.default is MISSING


def parameters_of_class(cls: type) -> tuple[Parameter, ...]:
    for name in ("__init__", "__new__"):
        function = inspect.getattr_static(cls, name)
        if isinstance(function, types.FunctionType | staticmethod):
            found = parameters_of(getattr(function, "__func__", function), skip_first=True)
            return found or ()
    return ()


def hints_of(function: Any) -> dict[str, Any]:
    """The types of parameters, as far as they can be found: one that cannot be evaluated costs only itself."""
    function = inspect.unwrap(function)
    try:
        return typing.get_type_hints(function)
    except Exception:
        pass
    names = {**_imported_for_types(getattr(function, "__module__", "")), **getattr(function, "__globals__", {})}
    found: dict[str, Any] = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        try:
            found[name] = eval(hint, names) if isinstance(hint, str) else hint
        except Exception:
            continue
    return found


@cache
def _imported_for_types(module: str) -> dict[str, Any]:
    """What a module imports only `if TYPE_CHECKING:`."""
    names: dict[str, Any] = {}
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (KeyError, OSError, TypeError, SyntaxError):
        return names
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for line in node.body:
                if isinstance(line, ast.Import | ast.ImportFrom):
                    _import_quietly(ast.unparse(line), module, names)
    return names


# Modules that had to come in first because others import each other in a ring: a written test needs them, too.
IMPORT_FIRST: list[str] = []


def _import_quietly(line: str, module: str, names: dict[str, Any]) -> None:
    """Modules that import each other come in whole when another one of the ring is imported first: try that."""
    for _ in range(2):
        try:
            exec(line, {"__package__": module.rpartition(".")[0], "__name__": module}, names)
            return
        except ImportError as error:
            frames = traceback.extract_tb(error.__traceback__)
            other = _module_at(frames[-1].filename, module) if frames else None
            if other is None:
                return
            try:
                importlib.import_module(other)
            except Exception:
                return
            if other not in IMPORT_FIRST:
                IMPORT_FIRST.append(other)
        except Exception:
            return


def _module_at(file: str, near: str) -> str | None:
    """The name of the module in a file of the same package."""
    package = sys.modules.get(near.partition(".")[0])
    for folder in getattr(package, "__path__", ()):
        if Path(file).is_relative_to(folder):
            inner = Path(file).relative_to(folder).with_suffix("").parts
            return ".".join([near.partition(".")[0], *(part for part in inner if part != "__init__")])
    return None


def load_mentioning(word: str, packages: tuple[str, ...], most: int = 20) -> None:
    """Import the modules of the packages whose source mentions a name: that is where its heirs are."""
    for package in packages:
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            for path in sorted(Path(folder).rglob("*.py")):
                inner = path.relative_to(folder).with_suffix("").parts
                name = ".".join([package, *(part for part in inner if part != "__init__")])
                if name in sys.modules or {"tests", "test", "__main__"} & set(inner) or most <= 0:
                    continue
                if word in path.read_text(encoding="utf-8", errors="replace"):
                    most -= 1
                    _import_quietly(f"import {name}", name, {})


def behind(function: Any) -> Any:
    """What a wrapper without functools.wraps hands its arguments on to: the one function that it closes over, where its
    own signature says nothing (`*args, **kwargs`, or an object and these)."""
    inner = inspect.unwrap(function) if callable(function) else function
    if not isinstance(inner, types.FunctionType):
        return function
    code = inner.__code__
    if code.co_argcount > 1 or code.co_kwonlyargcount or not code.co_flags & inspect.CO_VARARGS:
        return function
    cells = [_content(cell) for cell in inner.__closure__ or ()]
    found = [one for one in cells if isinstance(one, types.FunctionType)]
    return behind(found[0]) if len(found) == 1 and found[0] is not inner else function


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing is in it yet
        return None


def parameters_of(function: Any, skip_first: bool) -> tuple[Parameter, ...] | None:
    """The parameters that can be given; None when nobody can tell."""
    function = behind(function)
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return None
    hints = hints_of(function)
    told = documented_types(inspect.getdoc(function) or "")
    found = []
    for number, (name, parameter) in enumerate(signature.parameters.items()):
        if number == 0 and skip_first:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        kind = hints.get(name, told.get(name, MISSING))
        by_name = parameter.kind is parameter.KEYWORD_ONLY
        any_number = parameter.kind is parameter.VAR_POSITIONAL
        found.append(Parameter(name, kind, () if any_number else parameter.default, by_name, any_number))
    return tuple(found)


_NAMED_TYPES: dict[str, Any] = {
    "int": int, "integer": int, "float": float, "number": float, "str": str, "string": str, "bool": bool,
    "boolean": bool, "bytes": bytes, "list": list, "tuple": tuple, "dict": dict, "set": set,
    "callable": typing.Callable, "function": typing.Callable, "iterable": typing.Iterable, "sequence": list,
    "mapping": dict,
}  # fmt: skip

_DOC_TYPES = (
    re.compile(r":param\s+(?P<type>\w+)\s+(?P<name>\w+)\s*:"),
    re.compile(r":type\s+(?P<name>\w+)\s*:\s*(?P<type>\w+)"),
    re.compile(r"^\s*(?P<name>\w+)\s*\((?P<type>\w+)[^)]*\)\s*:", re.M),
    re.compile(r"^\s*(?P<name>\w+)\s+:\s+(?P<type>\w+)", re.M),
)


def documented_types(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pattern in _DOC_TYPES:
        for match in pattern.finditer(text):
            kind = _NAMED_TYPES.get(match["type"].lower())
            if kind is not None:
                found.setdefault(match["name"], kind)
    return found


def _builtin(*names: str) -> tuple[Parameter, ...]:
    return tuple(Parameter(name.rstrip("?"), MISSING, None if name.endswith("?") else MISSING) for name in names)


# Methods of containers written in C, which have no signature.
BUILTIN: dict[str, tuple[Parameter, ...]] = {
    "get": _builtin("key", "default?"),
    "pop": (),
    "setdefault": _builtin("key", "value"),
    "update": _builtin("mapping"),
    "clear": (),
    "popitem": (),
    "keys": (),
    "values": (),
    "items": (),
    "copy": (),
}
