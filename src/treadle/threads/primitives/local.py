"""threading.local: one set of attributes per strand.

CPython keeps them per OS thread, and all strands are one OS thread. Inside an execution `threading.local()` makes the
model below, which swaps its `__dict__` when another strand comes. A `threading.local` that was made outside, or by a
subclass that was defined outside, is C and cannot be replaced: `adopt_local` swaps its contents before each access
that rewritten code makes.
"""

from __future__ import annotations

import _thread
import gc
import weakref
from typing import Any

from treadle.threads import native_locals
from treadle.threads.carriers import in_thread_of, os_thread
from treadle.threads.primitives.inside import ADOPTED, at_end, here
from treadle.threads.primitives.locks import StandsFor
from treadle.threads.strands import AFTER_EXECUTION, STATE, Strand

RealLocal: Any = _thread._local
_get = object.__getattribute__
_set = object.__setattr__
_delete = object.__delattr__


class _Place:
    """Whose attributes a local holds just now, and those of all others."""

    __slots__ = ("arguments", "attributes", "of")

    def __init__(self, arguments: tuple[tuple[Any, ...], dict[str, Any]], of: Any, first: dict[str, Any]) -> None:
        self.arguments = arguments
        self.of = of
        self.attributes = {of: first}


# strand -> the locals that hold attributes of it
_HOLDING: dict[Any, list[weakref.ref[Any]]] = {}
AFTER_EXECUTION.append(_HOLDING.clear)


def forget(strand: Strand) -> None:
    """A strand has ended: its attributes die with it, as those of a thread do."""
    for reference in _HOLDING.pop(strand, ()):
        local = reference()
        if local is not None:
            place: _Place = _get(local, "_treadle_place")
            place.attributes.pop(strand, None)
            if place.of is strand:
                place.of = None
                _set(local, "__dict__", {})


def _here(self: Any) -> None:
    """Put the attributes of the running strand in place."""
    place: _Place = _get(self, "_treadle_place")
    strand: Any = STATE.strand or _thread.get_ident()
    if place.of is strand:
        return
    attributes = place.attributes.get(strand)
    place.of = strand
    if attributes is not None:
        _set(self, "__dict__", attributes)
        return
    place.attributes[strand] = attributes = {}
    _HOLDING.setdefault(strand, []).append(weakref.ref(self))
    _set(self, "__dict__", attributes)
    kind = type(self)
    if kind.__init__ is not object.__init__:  # CPython calls it once in every thread
        arguments, keywords = place.arguments
        kind.__init__(self, *arguments, **keywords)


class _WithPlace:
    __slots__ = ("__dict__", "__weakref__", "_treadle_place")


class Local(_WithPlace, metaclass=StandsFor):
    """What `threading.local` is while the patches are in place. Subclasses may be made of it anywhere."""

    real = RealLocal

    def __new__(cls, /, *args: Any, **kwargs: Any) -> Any:
        if here() is None and cls is Local:
            return RealLocal(*args, **kwargs)
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        self = object.__new__(cls)
        owner = STATE.strand or _thread.get_ident()
        place = _Place((args, kwargs), owner, _get(self, "__dict__"))
        _HOLDING.setdefault(owner, []).append(weakref.ref(self))
        _set(self, "_treadle_place", place)
        return self

    def __getattribute__(self, name: str) -> Any:
        _here(self)
        return _get(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__dict__":
            raise AttributeError(f"{type(self).__name__!r} object attribute '__dict__' is read-only")
        _here(self)
        _set(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name == "__dict__":
            raise AttributeError(f"{type(self).__name__!r} object attribute '__dict__' is read-only")
        _here(self)
        _delete(self, name)


Local.__name__ = Local.__qualname__ = "local"


class _Adopted:
    """A local of CPython's own inside an execution: everybody's attributes, and whose it shows in an OS thread."""

    __slots__ = ("attributes", "shown")

    def __init__(self, main: Strand, before: dict[str, Any]) -> None:
        self.attributes = {main: before}
        self.shown: dict[int, Strand] = {}


def adopt_local(local: Any, strand: Strand) -> Any:
    """Make a local of CPython's own show the attributes of the running strand; the main strand has what was there."""
    known = ADOPTED.get(id(local))
    if native_locals.are_exchanged():  # it shows them already, and what main had is put back
        if known is None:
            had = native_locals.with_those_of(strand.execution.strands[0], lambda: dict(vars(local)))
            ADOPTED[id(local)] = (local, None)
            at_end(lambda: _show(local, had))
        return local
    if known is None:
        before = in_thread_of(strand.execution.pool.hub, lambda: dict(vars(local)))
        adopted = _Adopted(strand.execution.strands[0], before)
        ADOPTED[id(local)] = (local, adopted)
        at_end(lambda: _show(local, before))
    else:
        adopted = known[1]
    thread = os_thread()
    of = adopted.shown.get(thread)
    if of is not strand:
        if of is not None:
            adopted.attributes[of] = dict(vars(local))
        adopted.shown[thread] = strand
        mine = adopted.attributes.get(strand)
        _show(local, mine or {})
        if mine is None and type(local).__init__ is not object.__init__:
            arguments, keywords = _made_with(local)
            type(local).__init__(local, *arguments, **keywords)
    return local


def _made_with(local: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What CPython hands to `__init__` in every thread. It shows that to the garbage collector alone.

    `local_traverse` of Modules/_threadmodule.c visits the type, the arguments, the keywords if there are any, and the
    dictionaries of the threads, in this order from 3.11 to 3.14; the slots of a subclass come before.
    """
    held = gc.get_referents(local)
    after = len(held) - held[::-1].index(type(local))
    arguments, first, *others = held[after:]
    return arguments, first if others and type(others[0]) is dict else {}


def _show(local: Any, attributes: dict[str, Any]) -> None:
    vars(local).clear()
    vars(local).update(attributes)
