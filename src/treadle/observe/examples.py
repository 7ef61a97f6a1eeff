"""Examples that a package brings with it: the code of its description and of its docstrings, as files that can be run.

Each text becomes one file, `treadle_examples_N.py`: imports, classes and functions as they are, every other statement
in a `try`, so that one that fails does not hide the next. Only statements are taken over; what they should print is not
looked at.
"""

from __future__ import annotations

import ast
import doctest
import importlib.metadata
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from treadle.core.packages import is_within

_FENCED = re.compile(r"^```\s*(?:py|python|pycon|python3)\b[^\n]*\n(.*?)^```", re.S | re.M)
_DIRECTIVE = re.compile(r"^\.\. code(?:-block)?:: *(?:python|pycon)[^\n]*\n\n((?:[ \t]+[^\n]*\n|\n)+)", re.M)
_MOST_FILES = 12
_DEFINES = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def write_examples(package: str, word: str, folder: Path) -> list[Path]:
    """The files with the examples that mention a word, in a folder."""
    written: list[Path] = []
    for text in _texts(package):
        source = _as_file(text, word)
        if source and len(written) < _MOST_FILES:
            written.append(folder / f"treadle_examples_{len(written)}.py")
            written[-1].write_text(source, encoding="utf-8")
    return written


def _texts(package: str) -> Iterator[str]:
    """The description of the distribution, and the docstrings of the modules that are loaded."""
    for name in importlib.metadata.packages_distributions().get(package.partition(".")[0], ()):
        told: Any = importlib.metadata.metadata(name)  # a message: its body, or in old forms a field of it
        yield str(told.get_payload() or told["Description"])
    for name, module in sorted(sys.modules.items()):
        if is_within(name, [package]):
            yield inspect.getdoc(module) or ""
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == name:
                    yield inspect.getdoc(value) or ""


def _as_file(text: str, word: str) -> str:
    """The statements of one text that can be parsed, if any of them speaks of the word."""
    lines: list[str] = []
    for statement in _statements(text):
        try:
            tree = ast.parse(statement)
        except SyntaxError:
            continue
        for node in tree.body:
            source = ast.unparse(node)
            if isinstance(node, _DEFINES):
                lines += [source, ""]
            else:
                lines += ["try:", textwrap.indent(source, "    "), "except Exception:", "    pass", ""]
    found = "\n".join(lines)
    return found if re.search(rf"\b{re.escape(word)}\b", found) else ""


def _statements(text: str) -> Iterator[str]:
    blocks = [*_FENCED.findall(text), *map(textwrap.dedent, _DIRECTIVE.findall(text))]
    for block in blocks or [text]:
        if ">>>" in block:
            try:
                yield from (example.source for example in doctest.DocTestParser().get_examples(block))
            except ValueError:
                continue
        elif blocks:
            yield block
