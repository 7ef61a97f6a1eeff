"""Python code that is not rewritten, run by a native call on shared objects: then the call is no single step.

`items.sort()` compares by `Fraction.__lt__`, a cache calls a function of a library: others may run meanwhile, and no
hook is there to let them. Executions that check a pass note it, so that the pass says so (`execution.assumed`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from treadle.threads import known
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.strands import Strand

# Their Python code runs in the place of native code, or belongs to no program.
_OURS = ("treadle", "threading", "queue", "concurrent", "asyncio", "_pytest", "pytest", "greenlet", "importlib")


def watching(strand: Strand, called: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Do the call, and note what it calls back."""
    if sys.getprofile() is not None:  # somebody else's
        return called(*args, **kwargs)
    here: FrameType | None = sys._getframe()
    itself = getattr(called, "__code__", None)  # of a model of Python code, such as Path.open

    def note(frame: FrameType, event: str, arg: object) -> None:
        if event != "call" or frame.f_back is not here or frame.f_code is itself:
            return
        if not _is_harmless(frame, called, args):
            name = getattr(called, "__qualname__", type(called).__name__)
            strand.execution.assumed.add(f"{_module(frame)}.{frame.f_code.co_qualname} inside {name}")

    sys.setprofile(note)
    try:
        return called(*args, **kwargs)
    finally:
        sys.setprofile(None)
        here = None  # or what the call was given would live on, in a cycle of its frame


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__") or "")


def _is_harmless(frame: FrameType, called: Callable[..., Any], args: tuple[Any, ...]) -> bool:
    module, name = _module(frame), frame.f_code.co_name
    if module in REWRITTEN or module.partition(".")[0] in _OURS or name == "__hash__":  # hashed before it is looked for
        return True
    container = args[0] if args and type(args[0]) is not type else None
    for one in (getattr(called, "__self__", None), container):
        if isinstance(one, (dict, set)):  # looks again after a comparison, and then does the whole
            return name == "__eq__" or (name == "__missing__" and known.reads(type(one), name))
    return False
