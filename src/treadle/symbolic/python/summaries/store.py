"""SummaryOptions kept between runs: one JSON file per function and kinds of arguments, below `.treadle/summaries/`.

A summary is good while everything that it was made from is the same: the definitions of the functions it runs and of
the classes it meets, the statements of their modules outside of functions, the values of the global names it reads,
the known subclasses of its inputs, the loop bound, Python, and Treadle. All of that is written beside the tree and
compared before it is used. A file that is damaged, or belongs to something else, is said and written anew; a folder
that cannot be written only costs the reuse.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import platform
import re
import sys
import sysconfig
from pathlib import Path
from typing import Any

from treadle import __version__
from treadle.core.files import write_whole
from treadle.symbolic import types as t
from treadle.symbolic.heap.objects import InstanceObj, UnknownRef
from treadle.symbolic.python.compile import source
from treadle.symbolic.python.summaries.json import SummaryReader, SummaryWriter, Unstorable, found_at, path_of
from treadle.symbolic.python.summaries.signatures import ConstantArgument, Signature, SummaryOptions
from treadle.symbolic.python.types.heirs import known_subclasses
from treadle.symbolic.python.values.values import FunctionValue
from treadle.symbolic.summary.tree import Force, ReadField, ReadItem, Split, Summary, WroteField

FORMAT = 4
FOLDER = Path(".treadle") / "summaries"
_LIBRARY = os.path.realpath(sysconfig.get_paths()["stdlib"])
_OWN = os.path.realpath(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))


class SummaryStore:
    """A folder of summaries."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder
        self.warnings: list[str] = []

    def load(self, owner: SummaryOptions, function: FunctionValue, signature: Signature) -> Summary | None:
        """The summary of an earlier run, if nothing has changed since."""
        try:
            key = _key(owner, function, signature)
            path = self._path(function, key)
            text = path.read_bytes()
        except (Unstorable, OSError):
            return None  # a folder that cannot be used is said when it is written
        try:
            written = _content(text)
            if written is None:
                return None  # of another version of Treadle
            if written["key"] != key:
                raise ValueError("it is the summary of something else")
            if not _unchanged(written["depends"]):
                return None
            return SummaryReader(written["summary"], _here).summary()
        except ValueError as error:
            why = "it is not JSON" if isinstance(error, json.JSONDecodeError | UnicodeDecodeError) else str(error)
            self._warn(f"{path} is damaged ({why}); the summary is made anew")
            return None

    def save(self, owner: SummaryOptions, function: FunctionValue, signature: Signature, summary: Summary) -> None:
        try:
            key = _key(owner, function, signature)
            content = {
                "key": key,
                "depends": _depends(summary),
                "summary": SummaryWriter(_relative).summary(summary),
            }
        except (Unstorable, source.NoSource):
            return
        path = self._path(function, key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            ignore = self.folder.parent / ".gitignore"
            if not ignore.exists():
                write_whole(ignore, "# Made by treadle; nothing here needs to be kept.\n*\n")
            write_whole(path, json.dumps({"format": FORMAT, "digest": _digest_of(content), "content": content}))
        except OSError as error:
            self._warn(f"{self.folder} cannot be written ({error.strerror}); summaries are not kept for the next run")

    def _path(self, function: FunctionValue, key: dict[str, object]) -> Path:
        name = re.sub(r"\W+", "-", f"{function.host.__module__}.{function.host.__qualname__}")
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:12]
        return self.folder / f"{name}-{digest}.json"

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def _content(text: bytes) -> dict[str, Any] | None:
    """What is in a file, as it was written: whoever uses it need not doubt it. None for another format."""
    written = json.loads(text.decode())
    if not isinstance(written, dict) or "format" not in written:
        raise ValueError("it is not a summary")
    if written["format"] != FORMAT:
        return None
    content: Any = written.get("content")
    if written.get("digest") != _digest_of(content):
        raise ValueError("it was changed since it was written")
    return dict(content)


def _digest_of(content: object) -> str:
    return _digest(json.dumps(content, sort_keys=True))


def _key(owner: SummaryOptions, function: FunctionValue, signature: Signature) -> dict[str, object]:
    """What the summary is of: the function, the kinds of its arguments, and the options that matter."""
    writer = SummaryWriter(_relative)
    kinds: list[object] = []
    for name, kind in signature:
        constant = isinstance(kind, ConstantArgument)
        kinds.append(
            [name, {"is": writer.value(kind.value)} if isinstance(kind, ConstantArgument) else writer.record(kind)]
        )
        if constant and writer.objects:
            raise Unstorable(name)
    stubs = owner.stubs.files if owner.stubs is not None else ()
    return {
        "function": path_of(function.host),
        "arguments": kinds,
        "k": owner.k,
        "allow_effects": owner.allow_effects,
        "stubs": [[file, hashlib.sha256(Path(file).read_bytes()).hexdigest()] for file in stubs],
        "treadle": __version__,
        "python": platform.python_version(),
    }


# --- what a summary was made from ------------------------------------------------------------------------


def _is_library(file: str) -> bool:
    real = os.path.realpath(file)
    return real.startswith((_LIBRARY + os.sep, _OWN + os.sep)) and "site-packages" not in real


@functools.cache
def _definitions(file: str) -> dict[str, tuple[int, int, str]]:
    """Top-level function or class of a file -> first line, last line, digest; '' stands for all that is outside."""
    tree, _ = source.tree_of(file)
    found: dict[str, tuple[int, int, str]] = {}
    outside: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[node.name] = (first, node.end_lineno or first, _digest(ast.dump(node)))
        else:
            outside.append(ast.dump(node))
    found[""] = (0, 0, _digest("\n".join(outside)))
    return found


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]


@functools.cache
def _module_of(file: str) -> str:
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == file and name != "__main__":
            return name
    raise Unstorable(file)


def _file_of(module: str) -> str:
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if file is None:
        raise ValueError(f"no module '{module}'")
    return str(file)


def _relative(file: str, line: int) -> list[Any]:
    """A line as the module, the definition around it, and its distance from the start of that."""
    module = _module_of(file)
    if _is_library(file):
        return [module, "", line]
    for name, (first, last, _) in _definitions(file).items():
        if name and first <= line <= last:
            return [module, name, line - first]
    raise Unstorable(f"line {line} of {file} is outside of every definition")


def _here(module: str, name: str, offset: int) -> tuple[str, int]:
    file = _file_of(module)
    return (file, offset) if not name else (file, _definitions(file)[name][0] + offset)


def _depends(summary: Summary) -> dict[str, Any]:
    definitions: dict[str, str] = {}
    for file, line, _ in summary.codes:
        if not _is_library(file):
            module, name, _ = _relative(file, line)
            for one in (name, ""):
                definitions[f"{module}:{one}"] = _definitions(file)[one][2]
    classes = _classes(summary)
    for cls in {base for one in classes for base in (*one.__mro__, *known_subclasses(one))}:
        home: str | None = getattr(sys.modules.get(cls.__module__), "__file__", None)
        if home is None or _is_library(home):
            continue
        name = cls.__qualname__.partition(".")[0]
        if name not in _definitions(home):
            raise Unstorable(cls.__qualname__)
        for one in (name, ""):
            definitions[f"{cls.__module__}:{one}"] = _definitions(home)[one][2]
    heirs = {path_of(c): sorted(path_of(h) for h in known_subclasses(c)) for c in classes}
    return {"definitions": definitions, "globals": summary.globals_read, "heirs": heirs}


def _unchanged(depends: dict[str, Any]) -> bool:
    for where, digest in depends["definitions"].items():
        module, _, name = where.partition(":")
        try:
            found = _definitions(_file_of(module))
        except (ValueError, source.NoSource):
            return False
        if name not in found or found[name][2] != digest:
            return False
    for where, told in depends["globals"].items():
        module, _, name = where.partition(":")
        if module not in sys.modules or fingerprint(getattr(sys.modules[module], name, None)) != told:
            return False
    try:
        return all(
            sorted(path_of(h) for h in known_subclasses(found_at(c))) == heirs for c, heirs in depends["heirs"].items()
        )
    except (ValueError, Unstorable):
        return False


def fingerprint(value: object) -> str:
    """A global value, as far as a function that reads it can depend on it."""
    if isinstance(value, int | str | float | bool | type(None) | bytes):
        return repr(value)
    name = getattr(value, "__qualname__", None)
    return f"{getattr(value, '__module__', '')}:{name}" if name else type(value).__qualname__


def _classes(summary: Summary) -> set[type]:
    """Every class that an input of the summary may have."""
    found: set[type] = set()

    def look(value: object) -> None:
        if isinstance(value, InstanceObj):
            found.update(value.classes)
        elif isinstance(value, UnknownRef):
            for option in value.options:
                look_type(option)
        elif isinstance(value, tuple):
            for part in value:
                look(part)

    def look_type(kind: t.Type | None) -> None:
        if isinstance(kind, t.Instance):
            found.add(kind.cls)
        elif isinstance(kind, t.ListOf | t.SetOf):
            look_type(kind.element)
        elif isinstance(kind, t.DictOf):
            look_type(kind.key)
            look_type(kind.value)

    for value in summary.formals.values():
        look(value)
    todo = [summary.root]
    while todo:
        node = todo.pop()
        todo.extend(node.children.values())
        if isinstance(node.event, ReadField | ReadItem):
            look(node.event.made)
        elif isinstance(node.event, Force):
            for value in node.event.made:
                look(value)
        elif isinstance(node.event, Split):
            found.update(c for group in node.event.groups for c in group)
        elif isinstance(node.event, WroteField):
            look(node.event.value)
        if node.leaf is not None:
            look((node.leaf.value, *node.leaf.made))
    return found
