"""A path to a checked program: the file, the standard library, and the neighbours whose modules it imports."""

from __future__ import annotations

import os
import pickle
import re
from functools import cache
from pathlib import Path

from treadle.abs.language.check import check
from treadle.abs.language.declare import Declared
from treadle.abs.language.errors import AbsError, AbsSource
from treadle.abs.language.model import Program
from treadle.abs.language.names import OTHER_MODULES, STDLIB
from treadle.abs.language.parser import parse
from treadle.abs.language.syntax import Import, Module
from treadle.core.errors import UsageError

_STDLIB = Path(__file__).with_name("stdlib")
# what marks the folder that a project begins with
_PROJECT_MARKS = (".git", "pyproject.toml")
# More models than this in a project are not looked through for a module.
_MOST_MODELS = 5000
_MODULE = re.compile(r"^\s*module\s+([A-Z][\w.]*)\s*;", re.MULTILINE)


@cache
def _parsed_library() -> bytes:
    """The library's syntax trees, packed: the checker fills them in, so every program needs its own."""
    files = sorted(_STDLIB.glob("*.abs"))
    return pickle.dumps([m for p in files for m in parse(AbsSource(f"<{p.name}>", p.read_text(encoding="utf-8")))])


def _library() -> list[Module]:
    library: list[Module] = pickle.loads(_parsed_library())
    return library


def load(path: str | Path) -> Program:
    """The checked program of an ABS file; modules it imports are looked for in the files beside it."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from None
    return _checked(_with_neighbours(parse(AbsSource(str(path), text)), path), path.name)


def loads(text: str, name: str = "<text>") -> Program:
    """The checked program of an ABS text."""
    return _checked(parse(AbsSource(name, text)), name)


def _with_neighbours(modules: list[Module], path: Path) -> list[Module]:
    """Add the modules that are imported and stand in another .abs file: of the same folder, else of the project."""
    beside: dict[str, Path] | None = None
    project: dict[str, list[Path]] | None = None
    known = {m.name for m in modules} | {m.name for m in _library()}
    todo = list(modules)
    while todo:
        for item in todo.pop().imports:
            for name in _origins(item):
                if name in known or not name or name in OTHER_MODULES:
                    continue
                beside = _modules_beside(path) if beside is None else beside
                other = beside.get(name)
                if other is None:
                    project = _modules_of_the_project(path) if project is None else project
                    other = _nearest(project.get(name, []), path, item)
                if other is None:
                    continue
                for module in parse(AbsSource(str(other), other.read_text(encoding="utf-8"))):
                    if module.name not in known:
                        module.main = None  # only the file that was named runs
                        known.add(module.name)
                        modules.append(module)
                        todo.append(module)
    return modules


def _origins(item: Import) -> list[str]:
    """The modules that an import names."""
    return [item.origin] if item.origin else [n.rpartition(".")[0] for n in item.names or ()]


def _modules_beside(path: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    folders = [path.parent, *(Path(f) for f in os.environ.get("ABS_PATH", "").split(os.pathsep) if f)]
    for other in (file for folder in folders for file in sorted(folder.glob("*.abs"))):
        if other != path and other.is_file():
            for name in _declared(other):
                found.setdefault(name, other)
    return found


def _modules_of_the_project(path: Path) -> dict[str, list[Path]]:
    """Which files of the project declare a module; nothing for a model that is in no project."""
    folder = path.resolve().parent
    root = next((f for f in (folder, *folder.parents) if any((f / mark).exists() for mark in _PROJECT_MARKS)), None)
    found: dict[str, list[Path]] = {}
    if root is None:
        return found
    files = 0
    for where, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in (Path(where, name) for name in sorted(names) if name.endswith(".abs")):
            files += 1
            for module in _declared(file) if files <= _MOST_MODELS else ():
                found.setdefault(module, []).append(file)
    return found


def _nearest(files: list[Path], path: Path, item: Import) -> Path | None:
    """The file that shares most folders with the model; an error if there are two of them."""
    shared = [(len(os.path.commonpath([file.parent, path.resolve().parent])), file) for file in files]
    near = [file for length, file in shared if length == max(length for length, _ in shared)]
    if len(near) > 1:
        two = f"{near[0]} and {near[1]}"
        raise AbsError(f"more than one file declares this module: {two}; name the folder of one in ABS_PATH", item.at)
    return near[0] if near else None


def _declared(file: Path) -> list[str]:
    return _MODULE.findall(file.read_text(encoding="utf-8", errors="replace"))


def _checked(modules: list[Module], title: str) -> Program:
    own = {m.name for m in modules}
    needed = {STDLIB, *(name for m in modules for item in m.imports for name in _origins(item))} - own
    return check(Declared([*(m for m in _library() if m.name in needed), *modules], title))
