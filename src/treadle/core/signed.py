"""Files that only this user has written: compiled code and stopped campaigns, which are run or unpickled when read.

An entry is signed, together with its name, with a secret of this user on this machine: one that came with a checkout,
or was changed, is no entry. It is written as a whole or not at all. Without a secret that can be kept to oneself, or
without a folder, there are no entries.
"""

from __future__ import annotations

import contextlib
import functools
import hmac
import os
import stat
from os import urandom  # CPython's own: inside an execution the one of the module is not by chance
from pathlib import Path

from treadle.core.files import write_whole

_SIZE = 32  # bytes of the secret, and of a signature
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class SignedFiles:
    """The entries of a folder below `.treadle`; `magic` is how each begins."""

    def __init__(self, folder: Path | None, magic: bytes) -> None:
        self.folder = folder
        self._magic = magic

    def load(self, name: str) -> bytes | None:
        secret = None if self.folder is None else _secret()
        if self.folder is None or secret is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        signed = content.removeprefix(self._magic)
        if len(signed) == len(content) or len(signed) < _SIZE:
            return None
        signature, body = signed[:_SIZE], signed[_SIZE:]
        return body if hmac.compare_digest(signature, _signature(secret, name, body)) else None

    def save(self, name: str, body: bytes) -> bool:
        """Write an entry. False when that is not possible here."""
        secret = None if self.folder is None else _secret()
        if self.folder is None or secret is None:
            return False
        try:
            self._make_folder(self.folder)
            write_whole(self.folder / name, self._magic + _signature(secret, name, body) + body, lasting=False)
        except OSError:
            return False
        return True

    @staticmethod
    def _make_folder(folder: Path) -> None:
        if folder.is_dir():
            return
        folder.mkdir(parents=True)
        ignore = folder.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("# Made by treadle; nothing here needs to be kept.\n*\n")


def _signature(secret: bytes, name: str, body: bytes) -> bytes:
    """An entry is signed together with its name: it cannot stand for another."""
    return hmac.digest(secret, name.encode() + b"\0" + body, "sha256")


def _secret() -> bytes | None:
    """The secret of this user on this machine, made when there is none; None when it cannot be kept to oneself."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return kept_secret(Path(home) / "treadle" / "key")


@functools.cache
def kept_secret(file: Path) -> bytes | None:
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
