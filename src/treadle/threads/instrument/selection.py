"""Decides which modules are rewritten: the test's own, the project's own, and the packages that were named.

Everything else is atomic. Never rewritten, named or not, is what the runtime models or stands on.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

from treadle.core.errors import UsageError
from treadle.core.packages import is_within
from treadle.threads.unasked import globals_of, is_a

# Each with its reason; a name covers its submodules too.
NEVER: dict[str, str] = {
    "treadle": "the tool itself",
    "greenlet": "strands run on it",
    "threading": "modelled by the runtime",
    "_thread": "modelled by the runtime",
    "_threading_local": "modelled by the runtime",
    "queue": "modelled by the runtime",
    "_queue": "modelled by the runtime",
    "concurrent": "modelled by the runtime",
    "asyncio": "runs on the runtime's own event loop",
    "multiprocessing": "real processes are outside the runtime's control",
    "selectors": "runs on the runtime's own event loop",
    "time": "virtual inside an execution",
    "signal": "belongs to the real main thread",
    "contextvars": "kept per strand by the runtime",
    "_weakrefset": "used by threading, and called back by the garbage collector",
    "weakref": "called back by the garbage collector, at any moment",
    "builtins": "the language",
    "sys": "the language",
    "gc": "the language",
    "types": "used by the hooks",
    "operator": "used by the hooks",
    "abc": "isinstance of the hooks runs through it",
    "_py_abc": "isinstance of the hooks runs through it",
    "_collections_abc": "isinstance of the hooks runs through it",
    "ast": "used while rewriting",
    "importlib": "the import system",
    "zipimport": "the import system",
    "pkgutil": "the import system",
    "runpy": "the import system",
    "encodings": "the import system",
    "codecs": "the import system",
    "os": "real files and processes are outside the runtime's control",
    "posixpath": "the import system",
    "ntpath": "the import system",
    "genericpath": "the import system",
    "io": "real files are outside the runtime's control",
    "linecache": "used while explaining a failure",
    "tokenize": "used while explaining a failure",
    "traceback": "used while explaining a failure",
    "inspect": "used while explaining a failure",
    "warnings": "looks at the frames that call it",
    "pytest": "the test runner",
    "_pytest": "the test runner",
    "pluggy": "the test runner",
    "xdist": "the test runner",
    "execnet": "the test runner",
    "pytest_asyncio": "the test runner",
}

# Programs for Treadle to work on, which happen to come with it.
_EXAMPLES = "treadle.examples"

_ROOT_MARKS = ("pyproject.toml", "setup.cfg", "setup.py", ".git")

# Installed code that lives below a project's root is not the project's own.
INSTALLED_FOLDERS = frozenset({"site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", ".eggs"})


@dataclass(frozen=True)
class ModuleSelection:
    """Which modules are rewritten. `modules` are names that are rewritten wherever they live."""

    project_root: Path | None
    packages: tuple[str, ...] = ()
    modules: frozenset[str] = frozenset()
    _decided: dict[tuple[str, str], bool] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_decided", _decisions(self.project_root, self.packages, self.modules))

    @classmethod
    def for_test(
        cls, test: Callable[..., Any] | ModuleType | str | Path, packages: Iterable[str] = ()
    ) -> ModuleSelection:
        """The project that `test` belongs to (a function, a module or a path), and the named packages."""
        names = tuple(packages)
        for name in names:
            _check_package(name)
        if isinstance(test, str | Path):
            return cls(find_root(Path(test)), names)
        module = module_of(test)
        file = None if module is None else file_of(module)
        root = find_root(Path.cwd() if file is None else Path(file))
        return cls(root, names, frozenset() if module is None else frozenset({module.__name__}))

    def selects(self, name: str, file: str | None) -> bool:
        """Is the module `name`, which lives in `file`, rewritten?"""
        key = name, file or ""
        decision = self._decided.get(key)
        if decision is None:
            decision = self._decided[key] = self._decide(name, file)
        return decision

    def loaded(self) -> dict[str, ModuleType]:
        """The modules that are rewritten, as far as they are imported."""
        if self.project_root is None and not (self.packages or self.modules):
            return {}
        found = [(name, module) for name, module in list(sys.modules.items()) if is_a(module, ModuleType)]
        return {name: module for name, module in found if self.selects(name, file_of(module))}

    def names(self, name: str) -> bool:
        """Was the module asked for: as the test's own, or as part of a named package?"""
        return name in self.modules or is_within(name, self.packages)

    def _decide(self, name: str, file: str | None) -> bool:
        if never(name):
            return False
        if name in self.modules:
            return True
        if self.names(name):
            return file is None or file.endswith(".py")
        if file is None or not file.endswith(".py"):
            return False
        return self.project_root is not None and _is_own(file, self.project_root)


@functools.lru_cache(maxsize=64)
def _decisions(root: Path | None, packages: tuple[str, ...], modules: frozenset[str]) -> dict[tuple[str, str], bool]:
    """What was decided by equal selections: every check of a suite makes one anew."""
    return {}


def module_of(subject: Callable[..., Any] | ModuleType) -> ModuleType | None:
    """The module in which a test was written, behind its decorators."""
    if isinstance(subject, ModuleType):
        return subject
    subject = unwrapped(subject)
    if not isinstance(subject, FunctionType | type):
        subject = type(subject)
    return sys.modules.get(subject.__module__)


def unwrapped(subject: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind decorators, partial calls and bound methods."""
    while True:
        if isinstance(subject, functools.partial):
            subject = subject.func
        elif isinstance(subject, MethodType):
            subject = subject.__func__
        elif hasattr(subject, "__wrapped__"):
            subject = subject.__wrapped__
        else:
            return subject


def file_of(module: ModuleType) -> str | None:
    """`module.__file__`, without waking a module that is loaded lazily."""
    file = globals_of(module).get("__file__")
    return file if isinstance(file, str) else None


@functools.cache
def never(name: str) -> str | None:
    """Why a module is never rewritten; None if it may be."""
    if is_within(name, [_EXAMPLES]):
        return None
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        reason = NEVER.get(".".join(parts[:length]))
        if reason is not None:
            return reason
    return None


def find_root(path: Path) -> Path | None:
    """The nearest folder at or above `path` that looks like the root of a project, or else the folder of `path`."""
    path = path.absolute()
    start = path if path.is_dir() else path.parent
    for folder in (start, *start.parents):
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return folder
    return start


def _is_own(file: str, root: Path) -> bool:
    """Is `file` the project's, and neither installed below it nor part of an interpreter that lives there?"""
    if not _is_below(file, root):
        return False
    if INSTALLED_FOLDERS.intersection(Path(file).parts[len(root.parts) : -1]):
        return False
    return not any(_is_below(str(folder), root) and _is_below(file, folder) for folder in _interpreter_folders())


def _is_below(file: str, folder: Path) -> bool:
    return any(file.startswith(prefix.rstrip(os.sep) + os.sep) for prefix in {str(folder), os.path.realpath(folder)})


@functools.cache
def _interpreter_folders() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (*(Path(sysconfig.get_path(name)) for name in names), Path(sys.prefix) / "lib")


def _spec_of(name: str) -> importlib.machinery.ModuleSpec | None:
    """Where a package is found; also one that has replaced its own module by something that does not know."""
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    except (ImportError, ValueError, AttributeError):
        return None if "." in name else importlib.machinery.PathFinder.find_spec(name)


def _check_package(name: str) -> None:
    """`name` must be importable and have Python source."""
    reason = never(name)
    if reason is not None:
        raise UsageError(f"'{name}' cannot be instrumented: {reason}")
    spec = _spec_of(name)
    if spec is None and name in sys.modules:
        return  # it put something of its own in its place
    if spec is None:
        raise UsageError(f"cannot instrument '{name}': no package or module of that name is installed")
    if isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
        raise UsageError(f"cannot instrument '{name}': it is a C extension, which is atomic as it is")
    if spec.origin == "built-in":
        raise UsageError(f"cannot instrument '{name}': it is built into the interpreter, and atomic as it is")
    if isinstance(spec.loader, importlib.machinery.SourcelessFileLoader):
        raise UsageError(f"cannot instrument '{name}': only its compiled form is installed, without the source")
