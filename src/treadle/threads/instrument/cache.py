"""Remembers compiled chunks on disk, in `.treadle/cache/` below the project's root.

An entry holds the plain and the rewritten code of one source. Its name is a hash of everything that the result
depends on, so an entry is never out of date, only unused. A cache that cannot be written, or an entry that cannot
be read, is as good as none: the chunk is compiled again.

Keeps: code is loaded only if this user's Treadle wrote it. A folder of a project may come from anybody (an archive, a
repository), so every entry is signed with a secret that is in the user's own folder and that only the user can read.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import marshal
import os
import stat
import sys
import tempfile
from os import urandom  # CPython's own: inside an execution the one of the module is not by chance
from pathlib import Path
from types import CodeType

from treadle.threads.instrument.marks import MARKS_VERSION
from treadle.threads.instrument.rewrite import REWRITER_VERSION

_MAGIC = b"treadle rewritten code, signed\n"
_SIZE = 32  # bytes of the secret, and of a signature


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
        secret = None if self.folder is None else _secret()
        if self.folder is None or secret is None:
            return None
        try:
            content = (self.folder / key).read_bytes()
            if not content.startswith(_MAGIC):
                return None
            signature, body = content[len(_MAGIC) : len(_MAGIC) + _SIZE], content[len(_MAGIC) + _SIZE :]
            if not hmac.compare_digest(signature, _signature(secret, key, body)):
                return None
            plain, rewritten = marshal.loads(body)
        except (OSError, ValueError, TypeError, EOFError):
            return None
        if isinstance(plain, CodeType) and isinstance(rewritten, CodeType):
            return plain, rewritten
        return None

    def save(self, key: str, plain: CodeType, rewritten: CodeType) -> None:
        secret = None if self.folder is None else _secret()
        if self.folder is None or secret is None:
            return
        body = marshal.dumps((plain, rewritten))
        content = _MAGIC + _signature(secret, key, body) + body
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


def _signature(secret: bytes, key: str, body: bytes) -> bytes:
    """An entry is signed together with its name: it cannot stand for another source."""
    return hmac.digest(secret, key.encode() + b"\0" + body, "sha256")


def _secret() -> bytes | None:
    """The secret of this user on this machine, made when there is none; None when it cannot be kept to oneself."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _kept(Path(home) / "treadle" / "key")


@functools.cache
def _kept(file: Path) -> bytes | None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), os.fdopen(os.open(file, _NEW, 0o600), "wb") as new:
            new.write(urandom(_SIZE))
        with file.open("rb") as known:
            facts = os.fstat(known.fileno())
            secret = known.read()
    except OSError:
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or stat.S_IMODE(facts.st_mode) & 0o077):
        return None
    return secret if len(secret) == _SIZE else None


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
