"""Files that a call finds and leaves, in a scratch folder that is empty before it and the current one during it.

A file that is there before the call is an input like any other, named by `FILE` and its path: its value is the text or
the bytes that it holds, None for a folder. What is there afterwards is part of what the call did.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

FILE = "/"

# what is put into a file first
_TEXTS = ("a\nb\n", "", "a,b\n1,2\n", '{"a": 1}')
_MOST_WORDS = 12
_MOST_FOUND = 20
_LONGEST = 40
# Code with one of these names may look at files.
_ASKING = frozenset({
    *("open", "exists", "isfile", "isdir", "is_file", "is_dir", "read_text", "read_bytes", "iterdir", "glob", "rglob"),
    *("listdir", "scandir", "walk", "stat", "getsize", "getmtime", "unlink", "rename", "rmtree"),
    *("copyfile", "copytree", "rmdir", "iglob", "lexists", "ZipFile", "TemporaryDirectory", "mkdtemp"),
})  # fmt: skip
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")
_LIKE_A_PATH = re.compile(r"path|file|fname|folder|dir(ectory)?$|^(src|dst|dest|destination)$")


def is_named_like_a_path(parameter: str) -> bool:
    return _LIKE_A_PATH.search(parameter.lower()) is not None


def asks_for_files(names: set[str]) -> bool:
    """Whether code with these names may look at files."""
    return not _ASKING.isdisjoint(names)


def plain_path(value: object) -> str:
    """The path that a value names below the current folder; '' if it names none."""
    text = str(value) if isinstance(value, str | PurePath) else ""
    return text if len(text) <= _LONGEST and _PLAIN_PATH.fullmatch(text) else ""


def contents(words: list[str]) -> list[str]:
    """What may stand in a file, with these words."""
    read = [word for word in words if word[:1] in ("{", "[")]
    lines = [f"{word}\n" for word in words if word and word not in read]
    return list(dict.fromkeys([*read, *_TEXTS, *lines[:_MOST_WORDS]]))


def make(path: str, content: Any) -> None:
    """Put a file there, or a folder for None."""
    place = Path(path)
    place.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        place.mkdir(exist_ok=True)
    elif isinstance(content, str):
        place.write_text(content, encoding="utf-8", newline="")
    else:
        place.write_bytes(content)


def emptied(folder: str) -> None:
    """Make a folder the current one, with nothing in it."""
    os.chdir(folder)
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.unlink(entry.path)


def found_in(folder: str) -> dict[str, bytes | None]:
    """What is there: a file's bytes, None for a folder; of very many, the first."""
    found: dict[str, bytes | None] = {}
    for path in _below(folder):
        if len(found) >= _MOST_FOUND:
            break
        name = os.path.relpath(path, folder)
        if os.path.isdir(path):
            found[name] = None
        elif os.path.isfile(path) and os.access(path, os.R_OK):
            with open(path, "rb") as stream:
                found[name] = stream.read()
    return found


def _below(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        inside = sorted(entries, key=lambda entry: entry.name)
    for entry in inside:
        yield entry.path
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
