"""What CPython keeps per OS thread, per strand: the attributes of every `threading.local` that is C.

All strands are greenlets of one OS thread, so code that is not rewritten (a library that keeps which locks its thread
holds) would see those of all strands in one. CPython finds them through the dictionary of the thread's state: its
entries are exchanged when another strand goes on. Main has those that were there, a new strand has none.

Where strands are OS threads, or the interpreter does not give that dictionary away, nothing is exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from treadle.threads.carriers import greenlet

try:
    import ctypes

    _state_of_thread: Any = ctypes.pythonapi.PyThreadState_GetDict
    _state_of_thread.restype, _state_of_thread.argtypes = ctypes.c_void_p, []
except (ImportError, AttributeError):  # another interpreter
    _state_of_thread = None

T = TypeVar("T")


class _Shown:
    """Whose entries are in the dictionary just now, and those of all others."""

    __slots__ = ("entries", "of", "others")

    def __init__(self) -> None:
        self.entries: dict[Any, Any] | None = None  # the dictionary itself; None: nothing is exchanged
        self.of: Any = None
        self.others: dict[Any, dict[Any, Any]] = {}


_SHOWN = _Shown()


def begin(main: Any) -> None:
    """An execution begins: what is there belongs to main."""
    if _state_of_thread is None or not greenlet.__module__.startswith("greenlet"):
        return
    address = _state_of_thread()
    _SHOWN.entries = ctypes.cast(address, ctypes.py_object).value if address else None
    _SHOWN.of = main


def show(strand: Any) -> None:
    """This strand goes on. A strand that is a task has what its thread has. Hardly one has anything."""
    shown = _SHOWN
    entries = shown.entries
    if entries is None:
        return
    of = strand.of_thread or strand
    if of is shown.of:
        return
    if entries:
        shown.others[shown.of] = dict(entries)
        entries.clear()
    if shown.others:
        entries.update(shown.others.pop(of, ()))
    shown.of = of


def end(main: Any) -> None:
    """The execution is over: what the others had goes with it."""
    if _SHOWN.entries is not None:
        show(main)
        _SHOWN.entries = None
    _SHOWN.of = None
    _SHOWN.others.clear()


def are_exchanged() -> bool:
    return _SHOWN.entries is not None


def with_those_of(strand: Any, ask: Callable[[], T]) -> T:
    """Ask something with what another strand has."""
    before = _SHOWN.of
    show(strand)
    try:
        return ask()
    finally:
        show(before)
