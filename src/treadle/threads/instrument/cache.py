"""Remembers compiled chunks on disk, in `.treadle/cache/` below the project's root.

An entry holds the plain and the rewritten code of one source. Its name is a hash of everything that the result
depends on, so an entry is never out of date, only unused. A cache that cannot be written, or an entry that cannot
be read, is as good as none: the chunk is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import sys
import tempfile
from pathlib import Path
from types import CodeType

from treadle.threads.instrument.marks import MARKS_VERSION
from treadle.threads.instrument.rewrite import REWRITER_VERSION

_MAGIC = b"treadle rewritten code\n"


class CodeCache:
    """The compiled chunks of one project; `marked` ones say where the interpreter can switch (see marks.py)."""

    def __init__(self, project_root: Path | None, marked: bool = False) -> None:
        self.marked = marked
        self.folder = None if project_root is None else project_root / ".treadle" / "cache"

    def key(self, source: bytes, filename: str, flavour: str) -> str:
        facts = (
            REWRITER_VERSION,
            sys.implementation.cache_tag,
            sys.hexversion,  # marshal and the compiler may differ between any two releases
            sys.flags.optimize,
            filename,
            flavour,
            self.marked and MARKS_VERSION,
        )
        return hashlib.sha256(repr(facts).encode() + b"\0" + source).hexdigest()

    def load(self, key: str) -> tuple[CodeType, CodeType] | None:
        if self.folder is None:
            return None
        try:
            content = (self.folder / key).read_bytes()
            if not content.startswith(_MAGIC):
                return None
            digest, body = content[len(_MAGIC) : len(_MAGIC) + 32], content[len(_MAGIC) + 32 :]
            if hashlib.sha256(body).digest() != digest:
                return None
            plain, rewritten = marshal.loads(body)
        except (OSError, ValueError, TypeError, EOFError):
            return None
        if isinstance(plain, CodeType) and isinstance(rewritten, CodeType):
            return plain, rewritten
        return None

    def save(self, key: str, plain: CodeType, rewritten: CodeType) -> None:
        if self.folder is None:
            return
        body = marshal.dumps((plain, rewritten))
        content = _MAGIC + hashlib.sha256(body).digest() + body
        temporary = None
        try:
            self._make_folder()
            # Written aside and then renamed: several processes (xdist) may save the same entry at once.
            handle, temporary = tempfile.mkstemp(dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, self.folder / key)
        except OSError:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def _make_folder(self) -> None:
        assert self.folder is not None
        if self.folder.is_dir():
            return
        self.folder.mkdir(parents=True)
        ignore = self.folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Made by treadle; nothing here needs to be kept.\n*\n")
