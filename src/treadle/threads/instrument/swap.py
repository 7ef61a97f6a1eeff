"""Instruments live modules in place: every function made from a selected module runs its rewritten code.

While `instrumented(...)` is open, `function.__code__` of every function whose globals belong to a selected module
is the rewritten code, and modules imported meanwhile are rewritten as they come in. On leaving, every function
that runs rewritten code (also those made meanwhile) gets its plain code back. The hooks live in `builtins`, where
code copied to other globals finds them as well, and stay there: a generator suspended in rewritten code may still
go on after the end, and then the hooks do what plain Python does.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from treadle.core.errors import UsageError
from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.chunks import Chunk, chunk_of, is_up_to_date, plain_form
from treadle.threads.instrument.generated import rewritten_dataclass_method
from treadle.threads.instrument.importer import RewritingFinder
from treadle.threads.instrument.live import functions_of, reachable_functions
from treadle.threads.instrument.places import derived_hooks
from treadle.threads.instrument.relevance import related
from treadle.threads.instrument.restore import forget_fresh, remember_fresh
from treadle.threads.instrument.selection import ModuleSelection, file_of, module_of, never, unwrapped
from treadle.threads.unasked import globals_of

Subject = Callable[..., Any] | ModuleType | Iterable[ModuleType] | None

# The modules that run rewritten code now, by name, with the number of open instrumentations that want them to.
# The hooks ask it about every function that is called, so it is one dict that changes in place.
REWRITTEN: dict[str, int] = {}


@contextmanager
def instrumented(
    subject: Subject,
    selection: ModuleSelection,
    hooks: Mapping[str, Any],
    marked: bool = False,
    kept_in: Path | None = None,
) -> Iterator[None]:
    """Run the body with `subject` and every selected module rewritten. Nests; undone also when the body fails.

    What was rewritten is kept in the project `kept_in`, or else in the one that is selected.
    `marked` code also says where the interpreter looks at its eval breaker; the hooks must know its marks.
    """
    install_hooks(hooks)
    untouched = {str(getattr(hook, "__module__", "")) for hook in hooks.values()}
    cache = CodeCache(kept_in or selection.project_root, marked)
    instrumentation = _Instrumentation(selection, _modules_of(subject), untouched, cache)
    try:
        instrumentation.enter()
        _check_subject(subject)
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
    if callable(subject) or isinstance(subject, ModuleType):
        module = module_of(subject)
        return [] if module is None or never(module.__name__) else [module]
    return list(subject)


def _check_subject(subject: Subject) -> None:
    """A test whose own code could not be rewritten would pass for want of anything to see."""
    function = unwrapped(subject) if callable(subject) else None
    if not isinstance(function, FunctionType) or plain_form(function.__code__) is not None:
        return
    code = function.__code__
    home = getattr(sys.modules.get(function.__module__), "__file__", None)
    dressed_up = os.path.isfile(code.co_filename) and code.co_filename != home  # by a decorator that says otherwise
    if function.__module__ in REWRITTEN and not dressed_up:
        raise UsageError(
            f"the source of {code.co_qualname} ({code.co_filename}:{code.co_firstlineno}) cannot be found, "
            "so its shared accesses cannot be seen; put it into a file"
        )


class _Instrumentation:
    """One `with instrumented(...)`."""

    def __init__(
        self,
        selection: ModuleSelection,
        modules: list[ModuleType],
        untouched: set[str],
        cache: CodeCache,
    ) -> None:
        self.selection = selection
        self.untouched = untouched
        self.cache = cache
        self.modules = {module.__name__: module for module in modules}
        self.wanted: list[str] = []
        self.finder = RewritingFinder(selection, self.cache, self._importing)

    def enter(self) -> None:
        loaded = self.selection.loaded()
        selected = {name: module for name, module in loaded.items() if name not in self.untouched} | self.modules
        functions = functions_of(list(selected.values()))
        self.modules = related(selected, self.selection, functions) | self.modules
        _swap_in(functions, self.modules, self.cache)
        for name in self.modules:
            self._want(name)
        sys.meta_path.insert(0, self.finder)

    def _want(self, name: str) -> None:
        REWRITTEN[name] = REWRITTEN.get(name, 0) + 1
        self.wanted.append(name)

    @contextmanager
    def _importing(self, module: ModuleType) -> Iterator[None]:
        self.modules[module.__name__] = module
        self._want(module.__name__)
        yield
        # Decorators may have made functions meanwhile that are not in the source.
        made = [(function, module) for function in reachable_functions([module]) if _belongs(function, module)]
        _swap_in(made, self.modules, self.cache)
        remember_fresh(module)

    def leave(self) -> None:
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        done = []
        for name in self.wanted:
            REWRITTEN[name] -= 1
            if not REWRITTEN[name]:
                del REWRITTEN[name]
                done.append(self.modules[name])
                forget_fresh(self.modules[name])
        _swap_out(done)


def _swap_in(
    functions: list[tuple[FunctionType, ModuleType]], modules: dict[str, ModuleType], cache: CodeCache
) -> None:
    """Give every live function of `modules` its rewritten code; all of them or, on an error, none."""
    chosen = {id(module) for module in modules.values()}
    chunks: dict[tuple[int, str], Chunk | None] = {}
    swaps: list[tuple[FunctionType, CodeType]] = []
    for function, module in functions:
        code = function.__code__
        if id(module) not in chosen or plain_form(code) is not None:
            continue
        key = id(module), code.co_filename
        if key not in chunks:
            chunks[key] = _chunk(code, module, cache)
        chunk = chunks[key]
        rewritten = rewritten_dataclass_method(code, cache.marked)
        if rewritten is None and chunk is not None:
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
    if code.co_filename == "<string>":
        # many sources have this name, and the one that is known may be another: from 3.13 on, that of `python -c`
        return None
    plainly_loaded = type(globals_of(module).get("__loader__")) is SourceFileLoader
    if plainly_loaded and code.co_filename == file_of(module) and not is_up_to_date(module):
        raise UsageError(
            f"{code.co_filename} was edited after it was imported ({code.co_qualname} differs); run it in a new process"
        )
    return chunk.rewritten_form_at(code)


def _swap_out(modules: list[ModuleType]) -> None:
    """Give every live function of `modules` its plain code back."""
    for function, _ in functions_of(modules):
        plain = plain_form(function.__code__)
        if plain is not None:
            function.__code__ = plain


def _belongs(function: FunctionType, module: ModuleType) -> bool:
    return function.__globals__ is globals_of(module) or function.__module__ == module.__name__
