"""Instruments live modules in place: every function made from a selected module runs its rewritten code.

While `instrumented(...)` is open, `function.__code__` of every function whose globals belong to a selected module
is the rewritten code, and modules imported meanwhile are rewritten as they come in. On leaving, every function
that runs rewritten code (also those made meanwhile) gets its plain code back. The hooks live in `builtins`, where
code copied to other globals finds them as well, and stay there: a generator suspended in rewritten code may still
go on after the end, and then the hooks do what plain Python does.
"""

from __future__ import annotations

import builtins
import gc
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from treadle.model.errors import UsageError
from treadle.runtime.instrument.cache import CodeCache
from treadle.runtime.instrument.chunks import Chunk, chunk_of, plain_form
from treadle.runtime.instrument.importer import RewritingFinder
from treadle.runtime.instrument.places import derived_hooks
from treadle.runtime.instrument.selection import Selection, never

Subject = Callable[..., Any] | ModuleType | Iterable[ModuleType] | None

# The modules that run rewritten code now, by name, with the number of open instrumentations that want them to.
# The hooks ask it about every function that is called, so it is one dict that changes in place.
REWRITTEN: dict[str, int] = {}


@contextmanager
def instrumented(subject: Subject, selection: Selection, hooks: Mapping[str, Any]) -> Iterator[None]:
    """Run the body with `subject` and every selected module rewritten. Nests; undone also when the body fails."""
    install_hooks(hooks)
    instrumentation = _Instrumentation(selection, _modules_of(subject))
    instrumentation.enter()
    try:
        yield
    finally:
        instrumentation.leave()


def rewritten_modules() -> list[str]:
    """The names of the modules that run rewritten code now."""
    return sorted(REWRITTEN)


def install_hooks(hooks: Mapping[str, Any]) -> None:
    """Make the hooks visible to rewritten code."""
    names = vars(builtins)
    if all(names.get(name) is hook for name, hook in hooks.items()):
        return
    names.update(hooks)
    names.update(derived_hooks(hooks))


def _modules_of(subject: Subject) -> list[ModuleType]:
    if subject is None:
        return []
    if isinstance(subject, ModuleType):
        return [subject]
    if callable(subject):
        name = getattr(inspect.unwrap(subject), "__module__", None)
        module = sys.modules.get(name or "")
        return [] if module is None or never(module.__name__) else [module]
    return list(subject)


class _Instrumentation:
    def __init__(self, selection: Selection, modules: list[ModuleType]) -> None:
        self.selection = selection
        self.cache = CodeCache(selection.project_root)
        self.modules = {module.__name__: module for module in modules}
        self.wanted: list[str] = []
        self.finder = RewritingFinder(selection, self.cache, self._imported)

    def enter(self) -> None:
        for name, module in list(sys.modules.items()):
            if isinstance(module, ModuleType) and self.selection.selects(name, file_of(module)):
                self.modules[name] = module
        _swap_in(self.modules.values(), self.cache)
        for name in self.modules:
            self._want(name)
        sys.meta_path.insert(0, self.finder)

    def _want(self, name: str) -> None:
        REWRITTEN[name] = REWRITTEN.get(name, 0) + 1
        self.wanted.append(name)

    def _imported(self, module: ModuleType, chunk: Chunk) -> None:
        """A module is being imported, rewritten, while this instrumentation is open."""
        self.modules[module.__name__] = module
        self._want(module.__name__)

    def leave(self) -> None:
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        done = []
        for name in self.wanted:
            REWRITTEN[name] -= 1
            if not REWRITTEN[name]:
                del REWRITTEN[name]
                done.append(self.modules[name])
        _swap_out(done)


def file_of(module: ModuleType) -> str | None:
    """`module.__file__`, without waking a module that is loaded lazily."""
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return file if isinstance(file, str) else None


def _swap_in(modules: Iterable[ModuleType], cache: CodeCache) -> None:
    """Give every live function of `modules` its rewritten code; all of them or, on an error, none."""
    owners = {id(vars(module)): module for module in modules}
    chunks: dict[tuple[int, str], Chunk | None] = {}
    swaps: list[tuple[FunctionType, CodeType]] = []
    for function in _functions(owners):
        code = function.__code__
        if plain_form(code) is not None:
            continue
        module = owners[id(function.__globals__)]
        key = id(function.__globals__), code.co_filename
        if key not in chunks:
            chunks[key] = _chunk(code, module, cache)
        chunk = chunks[key]
        if chunk is None:
            continue
        rewritten = chunk.rewritten_form(code) or _despite_differences(chunk, code, module)
        if rewritten is not None:
            swaps.append((function, rewritten))
    for function, rewritten in swaps:
        function.__code__ = rewritten


def _chunk(code: CodeType, module: ModuleType, cache: CodeCache) -> Chunk | None:
    try:
        return chunk_of(code.co_filename, module, cache)
    except SyntaxError as error:
        raise UsageError(
            f"{code.co_filename}:{error.lineno}: {error.msg}; the file was edited after it was imported"
        ) from error


def _despite_differences(chunk: Chunk, code: CodeType, module: ModuleType) -> CodeType | None:
    """The rewritten form of code that we would have compiled to something else."""
    if type(vars(module).get("__loader__")).__name__ == "SourceFileLoader" and code.co_filename == file_of(module):
        raise UsageError(
            f"{code.co_filename}: the file was edited after it was imported ({code.co_qualname} differs); "
            "run again in a new process"
        )
    return chunk.rewritten_form_at(code)


def _swap_out(modules: list[ModuleType]) -> None:
    """Give every live function of `modules` its plain code back."""
    if not modules:
        return
    for function in _functions({id(vars(module)) for module in modules}):
        plain = plain_form(function.__code__)
        if plain is not None:
            function.__code__ = plain


def _functions(globals_ids: Iterable[int]) -> Iterator[FunctionType]:
    """Every live function whose globals are among those of the given identities."""
    wanted = frozenset(globals_ids)
    return iter([f for f in gc.get_objects() if type(f) is FunctionType and id(f.__globals__) in wanted])
