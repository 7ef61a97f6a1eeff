"""Runs a program plain and rewritten and says what a user could see of it: results, output, errors, lines."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import sys
import traceback
import warnings
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from tests.threads_instrument.passthrough import HOOKS
from treadle.threads.instrument import install_hooks
from treadle.threads.instrument.chunks import compile_chunk

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Seen:
    """What one run showed: `result` and `log` of the program, what it printed, and how it failed, line by line."""

    result: str
    log: str
    printed: str
    error: str
    lines: tuple[tuple[str, int | None], ...]


def run_both(source: str) -> tuple[Seen, Seen]:
    """Run `source` as a module, plain and rewritten, with hooks that do nothing more than Python."""
    install_hooks(HOOKS)
    filename = f"<program {next(_numbers)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    chunk = compile_chunk(source.encode(), filename)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = compile(source, filename, "exec", dont_inherit=True)
    return _run(plain, filename), _run(chunk.rewritten, filename)


def _run(code: CodeType, filename: str) -> Seen:
    module = ModuleType("program")
    variables: dict[str, Any] = vars(module)
    log: list[Any] = []
    variables["log"] = log
    error = ""
    lines: tuple[tuple[str, int | None], ...] = ()
    before = sys.modules.get("program")
    sys.modules["program"] = module
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            exec(code, variables)
    except BaseException as problem:
        error = f"{type(problem).__name__}: {problem}"
        lines = _lines(problem, filename)
    finally:
        if before is None:
            del sys.modules["program"]
        else:
            sys.modules["program"] = before
    return Seen(repr(variables.get("result")), repr(log), output.getvalue(), error, lines)


def _lines(problem: BaseException, filename: str) -> tuple[tuple[str, int | None], ...]:
    """The program's own part of the traceback, with the errors that caused it."""
    lines: list[tuple[str, int | None]] = []
    current: BaseException | None = problem
    while current is not None:
        frames = traceback.extract_tb(current.__traceback__)
        lines += [(frame.name, frame.lineno) for frame in frames if frame.filename == filename]
        lines.append((type(current).__name__, None))
        current = current.__cause__ or current.__context__
    return tuple(lines)
