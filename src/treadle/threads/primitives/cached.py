"""functools.cached_property: the cached value is an attribute of the instance, read and written like any other.

Its code is CPython's and not rewritten, yet it calls the program between looking for the value and keeping it: two
strands may both find nothing. On Python 3.11 it holds a lock meanwhile, one for all instances of the class.
"""

from __future__ import annotations

import functools
from typing import Any

from treadle.core.operation import WRITE
from treadle.threads.instrument.swap import REWRITTEN
from treadle.threads.names import is_private, meet, publish
from treadle.threads.primitives.inside import ADOPTED, here
from treadle.threads.primitives.locks import adopt_lock
from treadle.threads.strands import Strand

Real: Any = functools.cached_property
_real_get = Real.__get__


def get(self: Any, instance: Any, owner: Any = None) -> Any:
    strand = here()
    if strand is None or instance is None or self.attrname is None or not hasattr(instance, "__dict__"):
        return _real_get(self, instance, owner)
    if "functools" in REWRITTEN:  # its own code is seen
        return _real_get(self, instance, owner)
    cache = instance.__dict__
    name = self.attrname
    if name in cache:
        return cache[name]
    lock = getattr(self, "lock", None)
    if lock is None:
        return _make(self, instance, strand)
    made_before = id(lock) not in ADOPTED
    lock = adopt_lock(lock, strand)
    if made_before:
        lock.treadle_name = f"{type(instance).__qualname__}.{name} lock"
    with lock:
        return cache[name] if name in cache else _make(self, instance, strand)


def _make(self: Any, instance: Any, strand: Strand) -> Any:
    value = self.func(instance)
    if type(instance).__module__ in REWRITTEN:
        named = strand.execution.names.get(id(instance)) or meet(strand, instance)
        publish(strand, value)
        if not named.shared and not is_private(strand, named):
            strand.execution.reveal(named)
        if named.shared:
            strand.access(WRITE, named.name, self.attrname)
    instance.__dict__[self.attrname] = value
    return value


PATCHES = [(Real, {"__get__": get})]
