"""Writing files: as a whole or not at all, and never over what a person has written. One policy for every door.

A file that Treadle writes for people ends with a seal, a digest of everything above it. A file whose seal fits was
written by Treadle and touched by nobody, so it may be replaced; any other file belongs to its author and is replaced
only when that is asked for.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from treadle.core.errors import UsageError

_SEAL = "written by treadle, unedited: "
_SEALED = re.compile(r"\n\n(?:#|//|<!--) (?:written by treadle|treadle unit), unedited: ([0-9a-f]{16})(?: -->)?\n?\Z")
_COMMENTS = {".abs": ("// ", ""), ".dot": ("// ", ""), ".svg": ("<!-- ", " -->"), ".html": ("<!-- ", " -->")}


def from_here(path: str) -> str:
    """A path as a person here writes it: relative to this folder when it is below."""
    near = os.path.relpath(path) if os.path.isabs(path) else path
    return path if near.startswith(os.pardir) else near


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """The new content of a file, safe on the disk beside it."""

    part: Path
    path: Path

    def publish(self) -> None:
        os.replace(self.part, self.path)

    def discard(self) -> None:
        """Throw away what has not taken its place; nothing happens when it has."""
        try:
            self.part.unlink(missing_ok=True)
        except OSError:
            pass


def prepare(path: Path, content: str | bytes, lasting: bool = True) -> PreparedFile:
    """Write the new content of a file beside it, to be put in its place later; nothing is left behind on an error.

    What need not be `lasting` is not waited for until it is on the disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    real = Path(os.path.realpath(path))  # a link stays a link
    prepared = PreparedFile(real.with_name(f".{real.name}.{os.getpid()}.part"), real)
    try:
        with prepared.part.open("wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            if lasting:
                os.fsync(stream.fileno())  # a full disk may be noticed only then
    except BaseException as error:
        prepared.discard()
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, str(prepared.part)):
            raise OSError(error.errno, error.strerror, str(path)) from error  # the file that a person knows
        raise
    return prepared


def write_whole(path: Path, content: str | bytes, lasting: bool = True) -> None:
    """Write a file as a whole or not at all."""
    prepared = prepare(path, content, lasting)
    try:
        prepared.publish()
    finally:
        prepared.discard()


def seal(text: str, suffix: str = ".py") -> str:
    """The text with its digest as the last line, a comment of the language that the suffix names."""
    start, end = _COMMENTS.get(suffix, ("# ", ""))
    return f"{text}\n\n{start}{_SEAL}{_digest(text)}{end}\n"


def is_unedited(content: str) -> bool:
    """Is this a text that was sealed and not changed since?"""
    found = _SEALED.search(content)
    return found is not None and found[1] == _digest(content[: found.start()])


def without_seal(content: str) -> str:
    """The text above the seal, whether that still fits or not."""
    return _SEALED.sub("", content)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_may_write(path: Path, option: str, force: bool = False, also: str = "") -> None:
    """Raise `UsageError` unless a file may be written: there is none, it is ours and unedited, or it is asked for.

    `option` is the one that names another file, `also` another way out. To be called before a search, whose findings
    must not wait for an answer, and again by whoever writes.
    """
    if path.is_dir():
        raise UsageError(f"'{path}' is a folder; {option} names a file")
    if not path.exists() or force:
        return
    if not is_unedited(path.read_text(encoding="utf-8", errors="replace")):
        raise UsageError(
            f"'{path}' exists and was edited by hand, or was not written by treadle; pass {also}--force to replace it, "
            f"or {option} for another file"
        )


def write_sealed(path: Path, text: str, option: str, force: bool = False) -> None:
    """Write a file for people, if its place is free or ours."""
    check_may_write(path, option, force)
    write_whole(path, seal(text, path.suffix))
