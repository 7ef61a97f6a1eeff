"""Files as shared state: which part of the location `files` a path is, and whether a test finds its files as they were.

A file is known by its name without the folders, because a test may have another folder in every execution (`tmp_path`):
files of one name in different folders are taken for one, which costs executions and loses nothing. A call that nobody
knows concerns all files.

What an execution does to files is put back at its end, as far as that is possible (`threads.kept_files`). Who looks at
a file first, once there are threads, and finds it unlike the first execution did, if the test writes to it, is not
given the same: the search goes on, and is no pass. An execution that then fails is refused, because what another one
left may be the reason, unless it has made the file itself, from nothing, and only something else is in it each time (a
key, a moment).
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable
from typing import Any, Final

from treadle.core.errors import Unsupported
from treadle.core.operation import READ, WRITE, Operation
from treadle.threads.kept_files import begin, keep
from treadle.threads.names import Named, is_private
from treadle.threads.primitives.inside import here
from treadle.threads.strands import AFTER_EXECUTION, Strand

FILES: Final = "files"
# Somebody works on the descriptors of files that never had a name, and not only on the file objects.
_UNNAMED: Final = "file without a name"

# Of a larger file the time of its last change is compared, not what is in it, unless this execution wrote it anew.
_LARGE = 1 << 16

_DRAWN: dict[str, str] = {}  # names that tempfile drew in this execution, and what they are called instead
_TOUCHED: set[str] = set()  # paths that this execution has touched since it has threads
_FOUND: dict[str, object] = {}  # path -> how the first execution that did so found it
_WRITTEN: set[str] = set()  # paths that executions wrote to
_WRITTEN_NOW: set[str] = set()  # paths that this one wrote to
_EMPTIED: set[str] = set()  # paths that this one wrote from the beginning, whatever was there
_ABSENT: set[str] = set()  # known paths behind which there was nothing when this execution began
_UNSTEADY: set[str] = set()  # names of files that executions make, each with something else in it
_LEFT: list[str] = []  # what is said of files that were found as another execution had left them


def forget() -> None:
    """Other executions begin, of another test."""
    begin()
    for kept in (_FOUND, _WRITTEN, _ABSENT, _UNSTEADY, _LEFT):
        kept.clear()


def unsteady() -> str:
    """Why the end of a search is no proof, where executions find something else in the same file."""
    if _LEFT:
        return _LEFT[0]
    return "" if not _UNSTEADY else f"what the test writes to {min(_UNSTEADY)} is not the same in every execution"


def left() -> Unsupported | None:
    """What a failure may come from that is no matter of schedules."""
    return Unsupported(_LEFT[0]) if _LEFT else None


def _end() -> None:
    if not (_DRAWN or _TOUCHED or _WRITTEN_NOW or _EMPTIED or _ABSENT or _FOUND):
        return  # as almost always
    for kept in (_DRAWN, _TOUCHED, _WRITTEN_NOW, _EMPTIED, _ABSENT):
        kept.clear()
    _ABSENT.update(path for path in _FOUND if not os.path.lexists(path))


AFTER_EXECUTION.append(_end)


def include(
    strand: Strand, operations: list[Operation], kind: int, path: Any, *, looks: bool = True, anew: bool = False
) -> None:
    """Add an access to what is behind a path; `looks`: what was there before decides what happens; `anew`: it is gone
    then."""
    text = _text(path)
    if text is None:
        include_all(strand, operations, kind)
        return
    if _is_unnamed(os.path.basename(text)):
        strand.execution.rebind(_UNNAMED)
    else:
        _compare(strand, text, kind, looks)
        if anew:
            _EMPTIED.add(os.path.abspath(text))
    if not _is_shared(strand):
        return
    rebound = strand.execution.rebound
    real = os.path.realpath(text)
    for name in dict.fromkeys((os.path.basename(text.rstrip(os.sep)), os.path.basename(real))):
        if name not in ("", ".", ".."):
            operations.append((kind, FILES, _stable(name)))
    for folder in os.path.dirname(real).split(os.sep):
        if folder and f"folder {folder}" in rebound:
            operations.append((READ, FILES, _stable(folder)))


def include_entry(strand: Strand, operations: list[Operation], path: Any) -> None:
    """Add that a file comes or goes: whoever lists the folder sees that."""
    text = _text(path)
    if text is not None and _is_shared(strand):
        folder = _stable(os.path.basename(os.path.dirname(os.path.realpath(text))))
        if f"list of {folder}" in strand.execution.rebound:
            operations.append((WRITE, FILES, f"{folder}/"))


def include_list(strand: Strand, operations: list[Operation], path: Any) -> None:
    """Add a look at which files a folder has. From then on a file that comes or goes changes that."""
    text = _text(path)
    if text is None:
        include_all(strand, operations, READ)
    elif _is_shared(strand):
        folder = _stable(os.path.basename(os.path.realpath(text)))
        strand.execution.rebind(f"list of {folder}")
        operations.append((READ, FILES, f"{folder}/"))


def include_folder(strand: Strand, path: Any) -> None:
    """A folder comes or goes: from then on, what is done to a file in it looks at that."""
    text = _text(path)
    if text is not None and _is_shared(strand):
        strand.execution.rebind(f"folder {os.path.basename(os.path.realpath(text))}")


def include_all(strand: Strand, operations: list[Operation], kind: int) -> None:
    """Add an access to files that nobody can name."""
    if _is_shared(strand):
        operations.append((kind, FILES, None))


def include_object(strand: Strand, operations: list[Operation], file: Any, kind: int) -> None:
    """Add what using an open file does to what is on the disk."""
    try:
        path, writes = file.name, file.writable()
    except (AttributeError, ValueError, OSError):  # in memory, or closed
        return
    if isinstance(path, int):
        path = path_of(path)
        if path is not None and _is_unnamed(os.path.basename(path)) and _UNNAMED not in strand.execution.rebound:
            return
    if path is not None and not str(path).startswith("<"):
        include(strand, operations, kind if writes else READ, path, looks=False)


def path_of(descriptor: int) -> str | None:
    """The file behind a descriptor; None for pipes, sockets and devices, and where nobody can say."""
    try:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return None
    return path if path.startswith("/") and not path.startswith("/dev/") else None


def _is_unnamed(name: str) -> bool:
    """Is it the number on the disk that Linux shows of a file that is in no folder, and never was?"""
    return name.startswith("#") and name.endswith(" (deleted)")


def keep_arguments(args: Iterable[Any]) -> None:
    """A call that nobody sees into may change what is behind the paths that it is given."""
    for one in args:
        if isinstance(one, (str, os.PathLike)):
            text = _text(one)
            if text:
                keep(os.path.abspath(text))


def is_pipe(file: Any) -> bool:
    """Is it the descriptor of a pipe, or the path of a named one?"""
    try:
        return stat.S_ISFIFO(os.stat(file).st_mode)
    except (OSError, TypeError, ValueError):
        return False


def _text(path: Any) -> str | None:
    """A path as text; None where it cannot be known."""
    if isinstance(path, int):
        return path_of(path)
    try:
        return os.fsdecode(path)
    except (TypeError, ValueError):
        return None


def _is_shared(strand: Strand) -> bool:
    places = strand.execution.modules
    named = places.get(FILES)
    if named is None:
        shared = strand.execution.shared
        named = places[FILES] = Named(FILES, strand.of_thread or strand, shared is None or FILES in shared)
    if not named.shared and not is_private(strand, named):
        strand.execution.reveal(named)
    return named.shared


# ---------------------------------------------------------------------- names that are the same in every execution


def _stable(name: str) -> str:
    if _is_unnamed(name):
        return _UNNAMED
    for drawn, called in _DRAWN.items():
        if drawn in name:
            return name.replace(drawn, called)
    process = str(os.getpid())
    return name.replace(process, "PID") if process in name else name


def _next_name(self: Any) -> str:
    """Each strand draws names of its own, the same in every execution of this process."""
    strand = here()
    if strand is None:
        return str(_real_next_name(self))
    called = strand.fresh("temporary")
    name = hashlib.blake2b(f"{os.getpid()} {called}".encode(), digest_size=4).hexdigest()
    _DRAWN[name] = called
    return name


_names: Any = tempfile._RandomNameSequence  # type: ignore[attr-defined]
_real_next_name = _names.__next__
PATCHES: list[tuple[Any, dict[str, Any]]] = [(_names, {"__next__": _next_name})]


# ---------------------------------------------------------------------- found as they were?


def _compare(strand: Strand, path: str, kind: int, looks: bool) -> None:
    path = os.path.abspath(path)
    if path not in _TOUCHED and len(strand.execution.strands) > 1:
        _TOUCHED.add(path)
        if looks:
            state = _state(path)
            if _FOUND.setdefault(path, state) != state and path in _WRITTEN:
                _note(path)
    if kind == WRITE:
        keep(path)
        _WRITTEN.add(path)
        _WRITTEN_NOW.add(path)


def _state(path: str) -> object:
    try:
        found = os.stat(path)
        if os.path.isdir(path):
            return "folder"
        if not os.path.isfile(path):
            return stat.S_IFMT(found.st_mode)  # a socket, a pipe, a device: there is nothing in it
        if found.st_size > _LARGE:
            return found.st_size, path not in _WRITTEN_NOW and found.st_mtime_ns
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read()).digest()
    except OSError as error:
        return error.errno


def _note(path: str) -> None:
    """There is something else in a file than in the first execution that looked."""
    if path in _ABSENT or path in _EMPTIED:
        _UNSTEADY.add(os.path.basename(path))
    elif not _LEFT:
        _LEFT.append(_left(path))


def _left(path: str) -> str:
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("treadle."):
        frame = frame.f_back
    where = "" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno} "
    return (
        f"{where}looks at the file {path}, which an execution before has changed in a way that is not put back: give "
        "the test a folder of its own for each execution (tmp_path), or let it take away at its end what it made"
    )
