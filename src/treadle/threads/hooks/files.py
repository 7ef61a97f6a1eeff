"""Functions that work on files by their paths: each is an access to those files (`threads.files`).

A call that the kernel does in one go is one operation. `Path.write_text` is two: others may see the file while it is
empty. Functions of `shutil` and their like are not looked into: they concern all files, and a pass names them.
"""

from __future__ import annotations

import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any, Final

from treadle.core.operation import READ, WRITE, Operation
from treadle.threads import files
from treadle.threads.hooks.calls import STAND_INS
from treadle.threads.hooks.points import during
from treadle.threads.strands import STATE, Strand

_Touches = Callable[[Strand, list[Operation], tuple[Any, ...], dict[str, Any]], None]
_Path: Final[Any] = pathlib.Path
# Models of functions that have a hook here.
_MODELS: Final[dict[Any, Any]] = {}
_PATH_NAMES: Final = ("path", "file", "src", "dst", "target", "other_path", "filename")


def _paths(args: tuple[Any, ...], kwargs: dict[str, Any], many: int) -> list[Any]:
    if any(kwargs.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd", "opener")):
        return [None] * many
    given = [*args[:many], *(kwargs[name] for name in _PATH_NAMES if name in kwargs)]
    return given[:many] if given else ["."]


def _looks(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for path in _paths(args, kwargs, 1):
        files.include(strand, operations, READ, path)


def _compares(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for path in _paths(args, kwargs, 2):
        files.include(strand, operations, READ, path)


def _lists(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for path in _paths(args, kwargs, 1):
        files.include(strand, operations, READ, path)
        files.include_list(strand, operations, path)


def _searches(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    files.include_all(strand, operations, READ)


def _changes(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    for path in _paths(args, kwargs, 1):
        files.include(strand, operations, WRITE, path)


def _makes(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """A file comes or goes."""
    for path in _paths(args, kwargs, 1):
        files.include(strand, operations, WRITE, path)
        files.include_entry(strand, operations, path)


def _makes_folder(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if kwargs.get("parents") or len(args) > 2:
        files.include_all(strand, operations, WRITE)
    _makes(strand, operations, args, kwargs)
    for path in _paths(args, kwargs, 1):
        files.include_folder(strand, path)
        if path is not None and os.path.isdir(path):  # it can be taken away if it is empty
            files.include_list(strand, operations, path)


def _moves(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    paths = _paths(args, kwargs, 2)
    if any(path is None or os.path.isdir(path) for path in paths):
        files.include_all(strand, operations, WRITE)
    for path in paths:
        files.include(strand, operations, WRITE, path)
        files.include_entry(strand, operations, path)


def _mode(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return kwargs.get("mode", args[1] if len(args) > 1 else "r")


def _writes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    mode = _mode(args, kwargs)
    return isinstance(mode, str) and not set(mode).isdisjoint("wxa")


def _opens(strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    mode = _mode(args, kwargs)
    path = _paths(args, kwargs, 1)[0]
    if not _writes(args, kwargs):
        files.include(strand, operations, READ, path)
    else:
        files.include(strand, operations, WRITE, path, looks="w" not in mode, anew="w" in mode)
        files.include_entry(strand, operations, path)


def _opens_descriptor(
    strand: Strand, operations: list[Operation], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    flags = kwargs.get("flags", args[1] if len(args) > 1 else 0)
    if flags & (os.O_CREAT | os.O_TRUNC):
        _makes(strand, operations, args, kwargs)
    else:
        _looks(strand, operations, args, kwargs)


_WRITERS: Final = (_changes, _makes, _makes_folder, _moves, _opens, _opens_descriptor)


def _hook(real: Any, touches: _Touches, whole: bool) -> Any:
    @functools.wraps(real)
    def call(*args: Any, **kwargs: Any) -> Any:
        strand = STATE.strand
        if strand is None or STATE.coasting:
            if strand is not None and touches in _WRITERS and (touches is not _opens or _writes(args, kwargs)):
                files.keep_arguments(_paths(args, kwargs, 2 if touches is _moves else 1))
            return real(*args, **kwargs)
        operations: list[Operation] = []
        touches(strand, operations, args, kwargs)
        result = during(strand, operations, _MODELS.get(real, real), *args, **kwargs)
        if whole:
            result = iter(list(result))
        if strand.detail:
            strand.execution.saw(result)
        return result

    return call


def _write(real: Any, kind: type, mode: str) -> Any:
    """`Path.write_text`: the file is made empty, and then written."""

    @functools.wraps(real)
    def write(self: Any, data: Any, *args: Any, **kwargs: Any) -> Any:
        strand = STATE.strand
        if strand is None or STATE.coasting or not isinstance(data, kind):
            if strand is not None:
                files.keep_arguments((self,))
            return real(self, data, *args, **kwargs)
        operations: list[Operation] = []
        files.include(strand, operations, WRITE, self, looks=False, anew=True)
        files.include_entry(strand, operations, self)
        if not files.is_pipe(self):  # there is nothing in it to be taken away
            during(strand, operations, _Path.open, self, mode).close()
        return during(strand, operations, real, self, data, *args, **kwargs)

    return write


_NAMES: Final[dict[_Touches, tuple[str, ...]]] = {
    _looks: (
        *("os.stat", "os.lstat", "os.access", "os.readlink", "os.path.exists", "os.path.lexists", "os.path.isfile"),
        *("os.path.isdir", "os.path.islink", "os.path.ismount", "os.path.getsize", "os.path.getmtime"),
        *("os.path.getatime", "os.path.getctime", "Path.exists", "Path.is_file", "Path.is_dir", "Path.is_symlink"),
        *("Path.is_mount", "Path.is_fifo", "Path.is_socket", "Path.is_block_device", "Path.is_char_device"),
        *("Path.stat", "Path.lstat", "Path.read_text", "Path.read_bytes", "Path.readlink", "Path.owner", "Path.group"),
    ),
    _compares: ("os.path.samefile", "Path.samefile"),
    _lists: ("os.listdir", "os.scandir", "Path.iterdir"),
    _searches: ("Path.glob", "Path.rglob", "Path.walk"),
    _changes: ("os.truncate", "os.utime", "os.chmod", "os.chown", "Path.chmod", "Path.lchmod"),
    _makes: ("os.remove", "os.unlink", "os.mkfifo", "os.mknod", "Path.unlink", "Path.touch"),
    _makes_folder: ("os.mkdir", "os.rmdir", "Path.mkdir", "Path.rmdir"),
    _moves: (
        *("os.rename", "os.replace", "os.link", "os.symlink", "Path.rename", "Path.replace", "Path.symlink_to"),
        "Path.hardlink_to",
    ),
    _opens: ("open", "Path.open"),
    _opens_descriptor: ("os.open",),
}
_LAZY: Final = ("Path.iterdir", "Path.glob", "Path.rglob", "Path.walk")


def _named(name: str) -> Any:
    if name == "open":
        return open
    owner, _, last = name.rpartition(".")
    return getattr({"os": os, "os.path": os.path, "Path": _Path}[owner], last, None)


for _touches, _names in _NAMES.items():
    for _name in _names:
        _real = _named(_name)
        if _real is not None:
            STAND_INS[_real] = _hook(_real, _touches, _name in _LAZY)
STAND_INS[_Path.write_text] = _write(_Path.write_text, str, "w")
STAND_INS[_Path.write_bytes] = _write(_Path.write_bytes, bytes, "wb")


def call_instead(real: Any, model: Any) -> None:
    """The hook of a function calls its model, and is that of the model, too, which may be found in its place."""
    _MODELS[real] = model
    STAND_INS[model] = STAND_INS[real]
