"""Modules are rewritten as they are imported, and then are as if they had not been."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.importer import RewritingFinder
from treadle.threads.instrument.selection import ModuleSelection


def test_a_selected_module_is_loaded_rewritten_and_keeps_its_own_loader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "found_here.py").write_text("def f(o):\n    return o.x\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    entered: list[str] = []

    @contextmanager
    def around(module: ModuleType) -> Iterator[None]:
        entered.append(module.__name__)
        yield

    finder = RewritingFinder(ModuleSelection(tmp_path, (), frozenset()), CodeCache(None), around)
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    try:
        module = importlib.import_module("found_here")
        assert "_treadle_load" in module.f.__code__.co_names
        assert entered == ["found_here"]
        assert type(module.__loader__) is SourceFileLoader
        assert module.__spec__ is not None
        assert type(module.__spec__.loader) is SourceFileLoader
    finally:
        sys.modules.pop("found_here", None)


def test_what_is_not_selected_or_never_rewritten_is_left_to_who_found_it(tmp_path: Path) -> None:
    @contextmanager
    def around(module: ModuleType) -> Iterator[None]:
        yield

    finder = RewritingFinder(ModuleSelection(tmp_path, (), frozenset()), CodeCache(None), around)
    found = finder.find_spec("json")
    assert found is not None
    assert type(found.loader) is SourceFileLoader
    assert finder.find_spec("threading") is None
    assert finder.find_spec("no_such_module_anywhere") is None
