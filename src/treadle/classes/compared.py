"""What a user of a class can compare of the values that its methods hand out.

Plain values count by equality, objects that define none by their class, and which of them are the same object: two
threads that get one connection, or two where every order of the calls gives one, see that. Written tests compare with
the same functions, so that whatever was seen can be written down.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Collection, Hashable, Sequence
from typing import Any

from treadle.core.words import has_address, without_addresses
from treadle.threads.fingerprint import digest, fingerprint, is_iterator

# A longer text is not read in a test.
_LONGEST_LITERAL = 200
# Known by their names, not by which object they are.
_BY_NAME = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type(None))


def as_compared(value: Any, shared: Any = None, without: Collection[str] = ()) -> Hashable:
    """A value as plain data, as far as a user could compare it; `shared` is the object under test."""
    if is_iterator(value) and value is not shared:
        return ("iterator", type(value).__name__)
    if type(value) is str:
        return without_addresses(value)  # the address of an object is another one each time
    return fingerprint(value, without, {id(shared): "sout"}, outside=True)


def literal(value: Any) -> str | None:
    """The value as source text, if it can be written down so that it is equal to itself."""
    try:
        text = repr(value)
        if has_address(text):
            return None
        return text if len(text) < _LONGEST_LITERAL and ast.literal_eval(text) == value else None
    except Exception:
        return None


def told(value: Any, shared: Any = None, without: Collection[str] = ()) -> str:
    """A value as text that is the same in every process: its source, or its class and a digest of what can be seen."""
    text = literal(value)
    return text if text is not None else f"<{type(value).__name__} {digest(as_compared(value, shared, without))[:8]}>"


def same_objects(values: Sequence[Any]) -> tuple[int, ...]:
    """For each value that only `is` tells from others like it, the place of the first that is it; -1 for the rest."""
    places: dict[int, int] = {}
    return tuple(places.setdefault(id(v), n) if _by_identity(v) else -1 for n, v in enumerate(values))


def _by_identity(value: Any) -> bool:
    kind: Any = type(value)
    return kind.__eq__ is object.__eq__ and not isinstance(value, _BY_NAME) and not is_iterator(value)
