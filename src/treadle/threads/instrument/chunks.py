"""Compiles a piece of source twice, as it is and rewritten, and says which code object became which.

A chunk is what one `co_filename` stands for: a module's file, a notebook cell, a doctest. The plain form is
compiled exactly as the import system (or pytest) compiled it, so that the code of a live function is found by
equality. That is also the proof that the source still is what runs: code that is not found was compiled from
something else.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from treadle.core.errors import InternalError
from treadle.core.parsing import parsed
from treadle.threads.instrument.cache import CodeCache
from treadle.threads.instrument.marks import mark
from treadle.threads.instrument.rewrite import rewrite
from treadle.threads.switching import Loops
from treadle.threads.unasked import globals_of

# The plain form of every rewritten code object that was ever made, by identity; the code objects are kept alive
# by the entry itself. Equality would not do: two files may hold equal functions.
_plain_forms: dict[int, tuple[CodeType, CodeType]] = {}


def plain_form(code: CodeType) -> CodeType | None:
    """What `code` was before it was rewritten; None if it is not rewritten code."""
    known = _plain_forms.get(id(code))
    return None if known is None else known[1]


def remember(rewritten: CodeType, plain: CodeType) -> None:
    _plain_forms[id(rewritten)] = rewritten, plain


class Chunk:
    """The two compiled forms of one source."""

    def __init__(self, filename: str, plain: CodeType, rewritten: CodeType) -> None:
        self.filename = filename
        self.rewritten = rewritten
        self._by_code: dict[CodeType, CodeType] = {}
        self._by_position: dict[tuple[str, int], list[CodeType]] = {}
        self._live: dict[int, tuple[CodeType, CodeType]] = {}
        for before, after in pair(plain, rewritten):
            self._by_code[before] = after
            self._by_position.setdefault(_position(before), []).append(after)
            remember(after, before)

    def pairs(self) -> Iterable[tuple[CodeType, CodeType]]:
        """Every code object of the source, plain and rewritten."""
        return self._by_code.items()

    def rewritten_form(self, code: CodeType) -> CodeType | None:
        """The rewritten form of live code that was compiled from this very source; None if it was not."""
        known = self._live.get(id(code))
        if known is not None:
            return known[1]
        after = self._by_code.get(code)
        if after is None and code.co_flags & inspect.CO_ITERABLE_COROUTINE:  # types.coroutine has set that
            after = self._by_code.get(code.replace(co_flags=code.co_flags & ~inspect.CO_ITERABLE_COROUTINE))
            after = after and after.replace(co_flags=after.co_flags | inspect.CO_ITERABLE_COROUTINE)
        if after is not None:
            self._remember(code, after)
        return after

    def rewritten_form_at(self, code: CodeType) -> CodeType | None:
        """The rewritten form of what stands where `code` stood: another tool changed the code on the way."""
        for after in self._by_position.get(_position(code), []):
            if _interface(after) == _interface(code):
                # A copy: it must lead back to `code`, and the original to what we compiled.
                copy = after.replace()
                self._remember(code, copy)
                return copy
        return None

    def _remember(self, live: CodeType, after: CodeType) -> None:
        self._live[id(live)] = live, after
        remember(after, live)


def _position(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _interface(code: CodeType) -> tuple[object, ...]:
    arguments = code.co_argcount + code.co_kwonlyargcount
    return (
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_varnames[:arguments],
        code.co_freevars,
    )


def pair(plain: CodeType, rewritten: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The code objects of two trees that come from the same source, side by side."""
    if plain.co_freevars != rewritten.co_freevars:
        raise InternalError(f"rewriting changed the closure of {_where(plain)}")
    yield plain, rewritten
    mine = [constant for constant in plain.co_consts if isinstance(constant, CodeType)]
    theirs = [constant for constant in rewritten.co_consts if isinstance(constant, CodeType)]
    if [_position(code) for code in mine] != [_position(code) for code in theirs]:
        raise InternalError(f"rewriting changed the inner functions of {_where(plain)}")
    for one, other in zip(mine, theirs, strict=True):
        yield from pair(one, other)


def _where(code: CodeType) -> str:
    return f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"


# -- compiling ----------------------------------------------------------------------------------------------


def is_pytest_loader(loader: object) -> bool:
    """Does `loader` rewrite assertions?"""
    pytest_rewrite = sys.modules.get("_pytest.assertion.rewrite")
    return pytest_rewrite is not None and isinstance(loader, pytest_rewrite.AssertionRewritingHook)


def compile_chunk(source: bytes, filename: str, loader: object = None, cache: CodeCache | None = None) -> Chunk:
    """Compile `source` as `loader` would (with pytest's assertions if it is pytest's), and rewritten."""
    key = "" if cache is None else cache.key(source, filename, _flavour(loader))
    codes = None if cache is None else cache.load(key)
    if codes is None:
        with warnings.catch_warnings():
            # What the compiler has to say about the source was said when it was compiled the first time.
            warnings.simplefilter("ignore")
            plain = compile(_parse(source, filename, loader), filename, "exec", dont_inherit=True)
            tree = rewrite(_parse(source, filename, loader))
            if cache is not None and cache.marked:
                tree = mark(tree, Loops(plain))
            codes = plain, compile(tree, filename, "exec", dont_inherit=True)
        if cache is not None:
            cache.save(key, *codes)
    return Chunk(filename, *codes)


def _parse(source: bytes, filename: str, loader: object) -> ast.Module:
    tree = parsed(source, filename)
    if is_pytest_loader(loader):
        from _pytest.assertion.rewrite import rewrite_asserts

        rewrite_asserts(tree, source, filename, _pytest_config(loader))
    return tree


def _pytest_config(loader: object) -> Any:
    return getattr(loader, "config", None)


def _flavour(loader: object) -> str:
    """What besides the source decides how pytest's loader compiles it."""
    if not is_pytest_loader(loader):
        return "plain"
    import pytest

    config = _pytest_config(loader)
    hooked = config is not None and config.getini("enable_assertion_pass_hook")
    return f"pytest {pytest.__version__} {hooked}"


_Stamp = tuple[object, ...]
_chunks: dict[tuple[str, bool, bool], tuple[_Stamp, Chunk]] = {}


def file_chunk(filename: str, loader: object, cache: CodeCache | None) -> Chunk:
    """The chunk of a source file as it is now."""
    status = os.stat(filename)
    stamp = (status.st_mtime_ns, status.st_size)
    return _known_chunk(filename, loader, cache, stamp) or _new_chunk(
        Path(filename).read_bytes(), filename, loader, cache, stamp
    )


def chunk_of(filename: str, module: ModuleType, cache: CodeCache | None) -> Chunk | None:
    """The chunk of a file, or of a source that only linecache knows; None if there is no source to be had."""
    loader = globals_of(module).get("__loader__") if "@pytest_ar" in globals_of(module) else None
    try:
        return file_chunk(filename, loader, cache)
    except (OSError, ValueError):
        pass
    source = "".join(linecache.getlines(filename, globals_of(module)))
    if not source:
        return None
    stamp = (source,)
    try:
        unsaved = CodeCache(None, cache is not None and cache.marked)
        return _known_chunk(filename, loader, unsaved, stamp) or _new_chunk(
            source.encode(), filename, loader, unsaved, stamp
        )
    except SyntaxError:
        return None  # not Python as it stands, such as a notebook cell with commands of its own


def _known_chunk(filename: str, loader: object, cache: CodeCache | None, stamp: _Stamp) -> Chunk | None:
    known = _chunks.get(_chunk_key(filename, loader, cache))
    return known[1] if known is not None and known[0] == stamp else None


def _new_chunk(source: bytes, filename: str, loader: object, cache: CodeCache | None, stamp: _Stamp) -> Chunk:
    chunk = compile_chunk(source, filename, loader, cache)
    _chunks[_chunk_key(filename, loader, cache)] = stamp, chunk
    return chunk


def _chunk_key(filename: str, loader: object, cache: CodeCache | None) -> tuple[str, bool, bool]:
    return filename, is_pytest_loader(loader), cache is not None and cache.marked


def is_up_to_date(module: ModuleType) -> bool:
    """Does the compiled file of `module` say that the source is still the one it was compiled from?"""
    spec = module.__spec__
    if spec is None or spec.cached is None or spec.origin is None:
        return False
    try:
        header = Path(spec.cached).read_bytes()[:16]
        status = os.stat(spec.origin)
    except OSError:
        return False
    # The header of a .pyc file: magic number, flags (0: checked by time and size), time, size.
    _, flags, time, size = (int.from_bytes(header[at : at + 4], "little") for at in (0, 4, 8, 12))
    return flags == 0 and (time, size) == (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
