"""What reaches outside the program: refused before it runs, and stopped while it runs, unless that is allowed."""

from __future__ import annotations

import contextlib
import pathlib
import sys
import types
from collections.abc import Iterator

from treadle.observe.effects import EffectGuard, EffectRefused
from treadle.symbolic.path import CannotFollow
from treadle.symbolic.python.machine.vm import VM


class OutsideEffect(Exception):
    """Real code wanted to touch the world."""


# Modules whose functions reach outside the process or whose answer changes from call to call.
_EFFECTS = {
    "os": "uses the operating system",
    "posix": "uses the operating system",
    "nt": "uses the operating system",
    "socket": "uses the network",
    "_socket": "uses the network",
    "subprocess": "starts a process",
    "shutil": "changes files",
    "tempfile": "makes files",
    "pathlib": "uses the file system",
    "urllib.request": "uses the network",
    "http.client": "uses the network",
    "sqlite3": "opens a database",
    "threading": "starts threads",
    "_thread": "uses threads",
    "multiprocessing": "starts processes",
    "asyncio": "runs an event loop",
    "signal": "handles signals",
    "random": "is random",
    "secrets": "is random",
    "uuid": "is random",
    "time": "reads the clock",
    "ctypes": "runs foreign code",
    "_ctypes": "runs foreign code",
    "webbrowser": "opens a browser",
    "select": "waits for files",
}
_PURE = {
    "os": {"fspath", "fsencode", "fsdecode", "getenv"},
    "posix": {"fspath"},
    "_thread": {"allocate_lock", "lock", "RLock"},
    "random": {"Random"},
    "pathlib": {"PurePath", "PurePosixPath", "PureWindowsPath", *dir(pathlib.PurePath)} - {"__new__", "__init__"},
    "time": {"gmtime", "strftime", "struct_time", "mktime", "asctime", "strptime"},
}
# What these give without so many arguments is the time of day.
_NOW = {"gmtime": 1, "asctime": 1, "strftime": 2}
# A function that mentions these asks the machine it runs on.
ASKING = frozenset(
    {
        *("environ", "environb", "getcwd", "getcwdb", "stat", "lstat", "listdir", "scandir", "uname", "open"),
        *("abspath", "realpath", "_joinrealpath", "iglob", "getlines"),  # which do
    }
)
# Of these modules only the named functions count.
_ONLY = {"uuid": {"uuid1", "uuid4", "getnode"}, "threading": {"Thread", "start", "Timer", "join"}}
_EFFECT_NAMES = {
    *("open", "input", "exec", "eval", "compile", "__import__", "breakpoint", "exit", "quit"),
    *("now", "today", "utcnow"),
}


def check_effect(vm: VM, function: object, given: int = 9) -> None:
    """Refuse what reaches outside, before it runs; with so many arguments."""
    if vm.allow_effects or function is None:
        return
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", "")
    if module is None:
        owner = getattr(function, "__self__", None)
        if isinstance(owner, types.ModuleType):
            module = owner.__name__
        elif owner is not None:
            module = type(owner).__module__
    if _reads_input(getattr(function, "__self__", None), name):
        raise CannotFollow(f"'sys.stdin.{name}' waits for input; pass --allow-effects to run it")
    reason = _EFFECTS.get(str(module))
    limited = _ONLY.get(str(module))
    if limited is not None and name not in limited:
        return
    if reason is not None and (
        name not in _PURE.get(str(module), ()) or (module == "time" and given < _NOW.get(name, 0))
    ):
        raise CannotFollow(f"'{module}.{name}' {reason}; pass --allow-effects to run it")
    if name in _EFFECT_NAMES and module in ("builtins", "_io", "io", "datetime", "_sitebuiltins", None):
        raise CannotFollow(f"'{name}' reaches outside the program; pass --allow-effects to run it")


def _reads_input(owner: object, name: str) -> bool:
    inputs = [s for s in (sys.stdin, sys.__stdin__) if s is not None]
    inputs += [s.buffer for s in inputs if hasattr(s, "buffer")]
    return any(owner is s for s in inputs) and (name.startswith("read") or name in ("__next__", "__iter__"))


@contextlib.contextmanager
def no_effects(vm: VM) -> Iterator[None]:
    """While real code runs, what the list of modules did not foresee is stopped."""
    if vm.allow_effects:
        yield
        return
    guard = EffectGuard()
    with guard:
        try:
            yield
        except EffectRefused as refused:
            raise OutsideEffect(f"would {refused.effect}") from None
    if guard.refused:  # the code has swallowed it
        raise OutsideEffect(f"would {guard.refused[0]}")
