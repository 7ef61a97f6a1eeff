"""Shared by the tests of this folder: explore a program of tests/programs without writing anything."""

from __future__ import annotations

import ast
import importlib
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from treadle.units.explore import ExploredTarget, Session
from treadle.units.options import UnitOptions
from treadle.units.target import resolve

PROGRAMS = Path(__file__).parent.parent / "programs"


def load(name: str) -> types.ModuleType:
    if str(PROGRAMS) not in sys.path:
        sys.path.insert(0, str(PROGRAMS))
    return importlib.import_module(name)


def explored(target: str, **options: Any) -> ExploredTarget:
    """Without a limit on time: a busy machine finds the same."""
    load(target.partition(":")[0])
    [found] = resolve(target)
    return Session(found, UnitOptions(**{"seconds": 1e9, "summaries": False, **options})).explore()


def trace(function: Callable[..., Any], args: Iterable[Any]) -> tuple[tuple[int, ...], Counter[Any]]:
    """The lines a call passes in its own file, and the most rounds of each while loop."""
    file = function.__code__.co_filename
    loops = [n for n in ast.walk(ast.parse(Path(file).read_text())) if isinstance(n, ast.While)]
    # first line of a loop's body -> those of the loops inside, which start again with each of its rounds
    bodies = {
        n.body[0].lineno: [i.body[0].lineno for s in n.body for i in ast.walk(s) if isinstance(i, ast.While)]
        for n in loops
    }
    most: Counter[Any] = Counter()
    lines: list[int] = []
    rounds: Counter[Any] = Counter()

    def local(frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            lines.append(frame.f_lineno)
            if frame.f_lineno in bodies:
                key = (id(frame), frame.f_lineno)
                rounds[key] += 1
                most[key] = max(most[key], rounds[key])
                for inner in bodies[frame.f_lineno]:
                    rounds[(id(frame), inner)] = 0
        elif event == "exception":
            lines.append(-frame.f_lineno)
        return local

    def start(frame: types.FrameType, event: str, arg: Any) -> Any:
        return local if frame.f_code.co_filename == file else None

    sys.settrace(start)
    try:
        function(*args)
    except Exception:
        pass
    finally:
        sys.settrace(None)
    return tuple(lines), most
