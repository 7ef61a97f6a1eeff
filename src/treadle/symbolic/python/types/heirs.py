"""Which classes an input declared as C may really have: C and the subclasses that are known, if they can be made."""

from __future__ import annotations

import functools
import inspect
from typing import Any


def known_subclasses(cls: type) -> tuple[type, ...]:
    """The class itself first (unless abstract), then its loaded subclasses from the same top-level package."""
    key: Any = cls
    return _known_subclasses(key)


@functools.cache
def _known_subclasses(cls: Any) -> tuple[type, ...]:
    package = cls.__module__.partition(".")[0]
    found: dict[type, None] = {}

    def visit(c: type) -> None:
        if c in found or c.__module__.partition(".")[0] != package:
            return
        found[c] = None
        heirs: list[type] = type.__subclasses__(c)
        for sub in heirs:
            visit(sub)

    visit(cls)
    concrete = tuple(c for c in found if not inspect.isabstract(c) and not getattr(c, "_is_protocol", False))
    return concrete or (cls,)
