"""Remembers compiled chunks on disk, in `.treadle/cache/` below the project's root.

An entry holds the plain and the rewritten code of one source. Its name is a hash of everything that the result
depends on, so an entry is never out of date, only unused. A cache that cannot be written, or an entry that cannot
be read, is as good as none: the chunk is compiled again.

Keeps: code is loaded only if this user's Treadle wrote it. A folder of a project may come from anybody (an archive, a
repository), so every entry is signed with a secret that is in the user's own folder and that only the user can read.
"""

from __future__ import annotations

import hashlib
import marshal
import sys
from pathlib import Path
from types import CodeType

from treadle.core.signed import SignedFiles
from treadle.threads.instrument.marks import MARKS_VERSION
from treadle.threads.instrument.rewrite import REWRITER_VERSION

_MAGIC = b"treadle rewritten code, signed\n"


class CodeCache:
    """The compiled chunks of one project; `marked` ones say where the interpreter can switch (see marks.py)."""

    def __init__(self, project_root: Path | None, marked: bool = False) -> None:
        self.marked = marked
        folder = None if project_root is None else project_root / ".treadle" / "cache"
        self._files = SignedFiles(folder, _MAGIC)

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
        body = self._files.load(key)
        try:
            plain, rewritten = marshal.loads(body) if body is not None else (None, None)
        except (ValueError, TypeError, EOFError):
            return None
        if isinstance(plain, CodeType) and isinstance(rewritten, CodeType):
            return plain, rewritten
        return None

    def save(self, key: str, plain: CodeType, rewritten: CodeType) -> None:
        self._files.save(key, marshal.dumps((plain, rewritten)))
