"""A path to a checked program: the file, the standard library, and the neighbours whose modules it imports."""

from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path

from treadle.abs.language.check import check
from treadle.abs.language.declare import Declared
from treadle.abs.language.errors import AbsSource
from treadle.abs.language.model import Program
from treadle.abs.language.parser import parse
from treadle.abs.language.syntax import Module
from treadle.core.errors import UsageError

_STDLIB = Path(__file__).with_name("stdlib")
_MODULE = re.compile(r"^\s*module\s+([A-Z][\w.]*)\s*;", re.MULTILINE)


@cache
def _parsed_library() -> bytes:
    """The library's syntax trees, packed: the checker fills them in, so every program needs its own."""
    files = sorted(_STDLIB.glob("*.abs"))
    return pickle.dumps([m for p in files for m in parse(AbsSource(f"<{p.name}>", p.read_text(encoding="utf-8")))])


def load(path: str | Path) -> Program:
    """The checked program of an ABS file; modules it imports are looked for in the files beside it."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from None
    modules = parse(AbsSource(str(path), text))
    if not modules:
        raise UsageError(f"{path} declares no module; an ABS text begins with 'module Name;'")
    return _checked(_with_neighbours(modules, path), path.name)


def loads(text: str, name: str = "<text>") -> Program:
    """The checked program of an ABS text."""
    return _checked(parse(AbsSource(name, text)), name)


def _with_neighbours(modules: list[Module], path: Path) -> list[Module]:
    """Add the modules that are imported and stand in another .abs file of the same folder."""
    beside: dict[str, Path] | None = None
    known = {m.name for m in modules} | {"ABS.StdLib"}
    todo = list(modules)
    while todo:
        for item in todo.pop().imports:
            wanted = [item.origin] if item.origin else [n.rpartition(".")[0] for n in item.names or ()]
            for name in wanted:
                if name in known or not name:
                    continue
                if beside is None:
                    beside = _modules_beside(path)
                if name in beside:
                    other = beside[name]
                    found = parse(AbsSource(str(other), other.read_text(encoding="utf-8")))
                    for module in found:
                        if module.name not in known:
                            module.main = None  # only the file that was named runs
                            known.add(module.name)
                            modules.append(module)
                            todo.append(module)
    return modules


def _modules_beside(path: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for other in sorted(path.parent.glob("*.abs")):
        if other != path and other.is_file():
            for name in _MODULE.findall(other.read_text(encoding="utf-8", errors="replace")):
                found.setdefault(name, other)
    return found


def _checked(modules: list[Module], title: str) -> Program:
    library: list[Module] = pickle.loads(_parsed_library())
    own = {m.name for m in modules}
    return check(Declared([*(m for m in library if m.name not in own), *modules], title))
