"""Threads in which a library waits in native code for its whole life, as gRPC's that polls.

Such a thread really runs, beside the strands, and its strand waits for its end, as for anything real. It outlives the
execution, and so does what its library made for it: the sockets of an execution that starts one are not closed.
"""

from __future__ import annotations

import _thread
import sys
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from types import FunctionType
from typing import Any

from treadle.core.operation import GET
from treadle.threads.primitives.outside import guard_of, keep_open
from treadle.threads.strands import Strand

_real_start = _thread.start_new_thread


def is_native(called: Any) -> bool:
    """Is it compiled code of an installed package? What that waits for, nobody sees."""
    called = getattr(called, "__func__", called)
    module = str(getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__)
    if type(called) is FunctionType or module.partition(".")[0] in sys.stdlib_module_names:
        return False
    return str(getattr(sys.modules.get(module), "__file__", None)).endswith(tuple(EXTENSION_SUFFIXES))


def run_beside(strand: Strand, call: Callable[[], object]) -> None:
    ended: list[bool] = []
    keep_open()

    def live() -> None:
        try:
            call()
        finally:
            ended.append(True)

    _real_start(live, ())
    strand.execution.assumed.add("a thread of native code (real)")
    strand.point(GET, guard_of(ended.__len__, "a thread of native code"))
