"""What CPython keeps per OS thread, per strand: the attributes of every `threading.local` that is C.

All strands are greenlets of one OS thread, so code that is not rewritten (a library that keeps which locks its thread
holds) would see those of all strands in one. CPython finds them through the dictionary of the thread's state: its
entries are exchanged when another strand goes on. Main has those that were there, a new strand has none.

An entry points into its `threading.local` and does not keep it alive. CPython takes the entries of one that dies out of
the states of all threads; those that are put aside here it does not know, so each is put back only while the object
lives that it was made for: another at the same address has the same key.

Where strands are OS threads, or the interpreter does not give that dictionary away, nothing is exchanged.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from gc import disable, enable, isenabled
from typing import Any, TypeVar

from treadle.threads.carriers import greenlet

try:
    import ctypes

    _state_of_thread: Any = ctypes.pythonapi.PyThreadState_GetDict
    _state_of_thread.restype, _state_of_thread.argtypes = ctypes.c_void_p, []
except (ImportError, AttributeError):  # another interpreter
    _state_of_thread = None

_EXCHANGES = _state_of_thread is not None and greenlet.__module__.startswith("greenlet")

T = TypeVar("T")

# How the key of an entry begins; the address of its `threading.local` follows.
_KEY = "thread.local."


class _Shown:
    """Whose entries are in the dictionary just now, and those of all others."""

    __slots__ = ("dictionary", "entries", "hub", "made_for", "of", "others")

    def __init__(self) -> None:
        self.entries: dict[Any, Any] | None = None  # the dictionary itself; None: nothing is exchanged
        self.of: Any = None
        # the dictionary of the thread that this greenlet belongs to, which stays the same one: asking for it takes long
        self.hub: Any = None
        self.dictionary: dict[Any, Any] | None = None
        # strand -> key -> the entry, and a weak reference to what it was made for
        self.others: dict[Any, dict[str, tuple[Any, weakref.ref[Any]]]] = {}
        self.made_for: dict[str, weakref.ref[Any]] = {}  # by key


_SHOWN = _Shown()


def begin(main: Any) -> None:
    """An execution begins: what is there belongs to main."""
    if not _EXCHANGES:
        return
    hub = main.execution.pool.hub
    if _SHOWN.hub is not hub:
        address = _state_of_thread()
        _SHOWN.dictionary = ctypes.cast(address, ctypes.py_object).value if address else None
        _SHOWN.hub = hub if address else None
    _SHOWN.entries = _SHOWN.dictionary
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
        shown.others[shown.of] = _taken_out(entries)
    if shown.others:
        for key, (entry, made_for) in shown.others.pop(of, _NOTHING).items():
            if made_for() is not None:
                entries[key] = entry
    shown.of = of


def _taken_out(entries: dict[Any, Any]) -> dict[str, tuple[Any, weakref.ref[Any]]]:
    """The collector must not come meanwhile: with a `threading.local` that it ends, entries go that are to be taken."""
    collects = isenabled()
    disable()
    try:
        return {
            key: (entries.pop(key), _made_for(key))
            for key in list(entries)
            if type(key) is str and key.startswith(_KEY)
        }
    finally:
        if collects:
            enable()


_NOTHING: dict[str, tuple[Any, weakref.ref[Any]]] = {}


def _made_for(key: str) -> weakref.ref[Any]:
    """The `threading.local` of an entry that CPython has now: it is alive."""
    known = _SHOWN.made_for.get(key)
    if known is None or known() is None:
        known = _SHOWN.made_for[key] = weakref.ref(ctypes.cast(int(key[len(_KEY) :], 16), ctypes.py_object).value)
    return known


def end(main: Any) -> None:
    """The execution is over: what the others had goes with it."""
    shown = _SHOWN
    if shown.entries is not None:
        if shown.of is not main:
            show(main)
        shown.entries = None
    shown.of = None
    if shown.others or shown.made_for:
        shown.others.clear()
        shown.made_for.clear()


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
