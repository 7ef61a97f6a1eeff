"""Rewrites modules as they are imported: a finder that asks the other finders and replaces the loader.

Only plain source files are taken over (also those that pytest would rewrite for its assertions); packages in zip
files, extension modules and namespace packages are left to whoever found them, and stay atomic.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.chunks import Chunk, file_chunk, is_pytest_loader
from treadle.threads.instrument.selection import ModuleSelection, never

# Entered while the body of an imported module runs.
AroundImport = Callable[[ModuleType], AbstractContextManager[object]]


class RewritingFinder:
    """Stands first on `sys.meta_path` while an instrumentation is open."""

    def __init__(self, selection: ModuleSelection, cache: CodeCache, around_import: AroundImport) -> None:
        self.selection = selection
        self.cache = cache
        self.around_import = around_import

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if never(name):
            return None
        for finder in sys.meta_path:
            if isinstance(finder, RewritingFinder):
                continue
            find_spec = getattr(finder, "find_spec", None)
            spec = None if find_spec is None else find_spec(name, path, target)
            if spec is not None:
                return self._taken_over(spec)
        return None

    def _taken_over(self, spec: ModuleSpec) -> ModuleSpec:
        loader = spec.loader
        if type(loader) is not SourceFileLoader and not is_pytest_loader(loader):
            return spec
        if spec.origin is not None and self.selection.selects(spec.name, spec.origin):
            spec.loader = RewritingLoader(spec.name, spec.origin, loader, self)
        return spec

    def invalidate_caches(self) -> None:
        """Nothing is remembered here."""


class RewritingLoader(importlib.machinery.SourceFileLoader):
    """Loads one module rewritten, then hands it back to the loader that it would have had."""

    def __init__(self, name: str, path: str, original: Any, finder: RewritingFinder) -> None:
        super().__init__(name, path)
        self.original = original
        self.finder = finder

    def _chunk(self) -> Chunk:
        return file_chunk(self.path, self.original, self.finder.cache)

    def get_code(self, fullname: str) -> CodeType:
        return self._chunk().rewritten

    def exec_module(self, module: ModuleType) -> None:
        chunk = self._chunk()
        module.__loader__ = self.original
        if module.__spec__ is not None:
            module.__spec__.loader = self.original
        with self.finder.around_import(module):
            exec(chunk.rewritten, vars(module))
